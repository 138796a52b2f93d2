//! What all simulations of a study share, and how one of them is run.

use std::sync::Arc;
use std::time::Instant;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::CheckedCalibrate;
use super::quantities::{PLACES, Quantities, names};
use super::simulation::{Simulation, rank};
use crate::diagnose::ess_bulk;
use crate::fit::draws;
use crate::infer::{ChainDraws, Draws, Monitor, Stat};
use crate::model::{Given, Model, Observed, Posterior};
use crate::predict::{Predictive, Predictor};
use crate::random::{Purpose, stream};
use crate::rows::Rows;
use crate::scale::Affine;
use crate::{Error, Result};

/// Inputs lie within this of 0, about as standardised ones do.
const INPUT_REACH: f64 = 1.5;

/// Standard deviation of the log of a given expert's standard deviation.
const SPREAD: f64 = 0.5;

/// A model at fixed inputs. For `bhs` and `pbhs` the predictions of the experts are fixed as well:
/// numbers that are drawn once from the seed, since the model does not ask where they come from.
#[derive(Debug, Clone)]
pub struct Study {
    settings: CheckedCalibrate,
    model: Arc<Model>,
    x: Vec<f64>,
    given: Option<Given>,
    given_at_places: Option<Given>,
    names: Vec<String>,
}

/// What a stream of random numbers of a simulation is for.
#[derive(Debug, Clone, Copy)]
enum Part {
    Truth,
    Sampler,
    Ties,
}

/// Parameters, and targets that were drawn from the model with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// The parameters, in the sampling space.
    pub q: Vec<f64>,
    /// The targets at the study's inputs.
    pub y: Vec<f64>,
}

impl Study {
    /// The study of some settings.
    pub fn new(settings: CheckedCalibrate) -> Result<Study> {
        let n = settings.rows;
        let place = |i: usize| INPUT_REACH * (2.0 * (i as f64 + 0.5) / n as f64 - 1.0);
        let x: Vec<f64> = (0..n).map(place).collect();
        let model = Arc::new(settings.fit.model(settings.fit.bases(&x, 1)?)?);
        let mut rng = stream(settings.fit.sampler.seed, Purpose::Calibrate, 0);
        let mut predictions = |rows: usize| -> Result<Option<Given>> {
            if model.learned() {
                return Ok(None);
            }
            let mut normals = |scale: f64| -> Vec<Vec<f64>> {
                let mut row = || scale * Distribution::<f64>::sample(&StandardNormal, &mut rng);
                (0..model.experts()).map(|_| (0..rows).map(|_| row()).collect()).collect()
            };
            let (mean, mut sd) = (normals(1.0), normals(SPREAD));
            sd.iter_mut().flatten().for_each(|v| *v = v.exp());
            Given::new(&mean, &sd).map(Some)
        };
        let (given, given_at_places) = (predictions(n)?, predictions(PLACES.len())?);
        let names = names(&model);
        Ok(Study { settings, model, x, given, given_at_places, names })
    }

    /// The names of the quantities that are ranked.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The settings.
    pub fn settings(&self) -> &CheckedCalibrate {
        &self.settings
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The randomness of a part of simulation `number`.
    fn stream(&self, number: u64, part: Part) -> ChaCha8Rng {
        let index = (number + 1) << 2 | part as u64;
        stream(self.settings.fit.sampler.seed, Purpose::Calibrate, index)
    }

    /// The truth of simulation `number`: parameters from the prior, targets from the model with them.
    pub fn truth(&self, number: u64) -> Result<Truth> {
        let mut rng = self.stream(number, Part::Truth);
        let q = self.model.prior_draw(|| StandardNormal.sample(&mut rng));
        let y = self.targets(&q, &mut rng)?;
        Ok(Truth { q, y })
    }

    /// Targets at the study's inputs, drawn from the model with the parameters `q`.
    pub fn targets(&self, q: &[f64], rng: &mut ChaCha8Rng) -> Result<Vec<f64>> {
        let one = ChainDraws { values: q.to_vec(), stats: vec![Stat::default()] };
        let draws = Draws::new(q.len(), 1, vec![one])?;
        let predictor = Predictor::new(self.model.clone(), &draws, Affine::IDENTITY);
        let rows = Rows::new(&self.x, 1)?;
        let seed = rng.random::<u64>();
        let blocks = predictor.at(&rows, self.given.as_ref()).blocks(1, |block| {
            // A stream of each block's own: the blocks may come in any order.
            let mut rng = stream(seed, Purpose::Simulate, block.first as u64);
            (0..block.len()).map(|r| Ok(block.row(r)?.sample(&mut rng))).collect::<Result<Vec<_>>>()
        })?;
        Ok(blocks.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// The posterior of the model given targets.
    pub fn posterior(&self, y: &[f64]) -> Result<Posterior> {
        let data = Observed::new(&self.x, 1, y)?;
        let data = match &self.given {
            Some(given) => data.given_by(given.clone()),
            None => data,
        };
        Posterior::new(self.model.clone(), Arc::new(data))
    }

    /// The quantities that are ranked, in the order of [`Study::names`], of parameters and targets.
    pub fn measure(&self, q: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        Ok(self.quantities(&self.posterior(y)?, y)?.of(q))
    }

    /// What is ranked, for given targets. The log density at a new input is that of the nearest
    /// row's target: any function of data and parameters may be ranked, and this one asks whether
    /// the prediction near a row is right.
    fn quantities(&self, posterior: &Posterior, y: &[f64]) -> Result<Quantities> {
        let nearest = |place: &f64| {
            let apart = |i: &usize| (self.x[*i] - place).abs();
            let best = (0..self.x.len()).min_by(|a, b| apart(a).total_cmp(&apart(b)));
            best.map_or(0.0, |i| y[i])
        };
        let at: Vec<f64> = PLACES.iter().map(nearest).collect();
        Quantities::new(posterior.clone(), &at, self.given_at_places.clone())
    }

    /// Rank the truth of simulation `number` among draws that are said to be of its posterior:
    /// those of `found`, thinned.
    pub fn rank(&self, number: u64, truth: &Truth, found: &Draws) -> Result<Simulation> {
        let posterior = self.posterior(&truth.y)?;
        let mut quantities = self.quantities(&posterior, &truth.y)?;
        let truths = quantities.of(&truth.q);
        if let Some(i) = truths.iter().position(|v| !v.is_finite()) {
            let problem = format!("{} of the true parameters is {}", self.names[i], truths[i]);
            return Err(Error::Sampling(problem.into()));
        }
        let mut traces = vec![Vec::with_capacity(found.len()); truths.len()];
        for q in found.iter() {
            let drawn = quantities.of(q);
            traces.iter_mut().zip(drawn).for_each(|(trace, value)| trace.push(value));
        }
        let (thin, mut rng) = (self.settings.thin, self.stream(number, Part::Ties));
        let ranks = truths.iter().zip(&traces).map(|(truth, trace)| {
            let chains = trace.chunks(found.per_chain());
            let kept = chains.flat_map(|c| c.iter().skip(thin - 1).step_by(thin).copied());
            rank(*truth, kept, &mut rng)
        });
        let ranks = ranks.collect();
        let sizes = traces.iter().map(|trace| ess_bulk(&found.by_chain(trace)));
        let ess = sizes.filter(|ess| ess.is_finite()).reduce(f64::min);
        let stats = found.chains().iter().flat_map(|chain| &chain.stats);
        let divergences = stats.filter(|stat| stat.diverging).count();
        Ok(Simulation { number, ranks, ess, divergences, ..Simulation::default() })
    }

    /// Sample the posterior given the targets of a truth, on one thread.
    pub fn sample(&self, number: u64, truth: &Truth, monitor: &dyn Monitor) -> Result<Draws> {
        let mut fit = (*self.settings.fit).clone();
        let mut rng = self.stream(number, Part::Sampler);
        (fit.sampler.seed, fit.sampler.threads) = (rng.random(), 1);
        draws(&self.posterior(&truth.y)?, &fit.check()?, monitor)
    }

    /// Run simulation `number`. What goes wrong is in its error; none if the monitor stopped it.
    pub fn run(&self, number: u64, monitor: &dyn Monitor) -> Option<Simulation> {
        let begun = Instant::now();
        let outcome = self.truth(number).and_then(|truth| {
            let found = self.sample(number, &truth, monitor)?;
            if found.interrupted() {
                return Ok(None);
            }
            self.rank(number, &truth, &found).map(Some)
        });
        let seconds = begun.elapsed().as_secs_f64();
        match outcome {
            Ok(done) => done.map(|done| Simulation { seconds, ..done }),
            // Chains that were stopped did not fail.
            Err(_) if monitor.cancelled() => None,
            Err(e) => {
                let error = e.to_string();
                Some(Simulation { number, seconds, error, ..Simulation::default() })
            }
        }
    }
}
