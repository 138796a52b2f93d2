//! Draws of a posterior by the density that the settings choose: of all parameters, or without the
//! coefficients of the means, which are drawn afterwards.

use std::sync::Arc;

use rand_distr::{Distribution, StandardNormal};

use super::CheckedFit;
use crate::basis::Basis;
use crate::diagnose::{Patience, diagnose};
use crate::experts::MOST_EXACT_ROWS;
use crate::infer::{self, Draws, Laplace, Monitor, Sampler, Start, sample_while};
use crate::model::coordinates::{Coordinates, Piloted};
use crate::model::{Collapsed, Model, Posterior, Starter};
use crate::pool::Pool;
use crate::random::{Purpose, stream};
use crate::settings::Message;
use crate::{Error, Result};

/// Sample `posterior`. Where the settings leave the number of draws open, chains go on while the
/// diagnostics say that this helps.
pub fn draws(posterior: &Posterior, settings: &CheckedFit, monitor: &dyn Monitor) -> Result<Draws> {
    draws_in(posterior, None, settings, monitor)
}

/// The same in the coordinates of a pilot, where there is one.
pub(super) fn draws_in(
    posterior: &Posterior,
    coordinates: Option<Arc<Coordinates>>,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Draws> {
    let model = posterior.model();
    if let Some(coordinates) = coordinates {
        return piloted(posterior, coordinates, settings, monitor);
    }
    if settings.collapses(model, posterior.rows()) {
        return collapsed(posterior, settings, monitor);
    }
    let (threads, dim) = (settings.sampler().threads, model.dim());
    if has_mode(model, settings)
        && let Some(density) = Laplace::new(posterior.clone(), vec![0.0; dim], threads, monitor)?
    {
        return about_mode(posterior, &density, settings, monitor);
    }
    let starter = starter(posterior, settings)?;
    let first = |normal: &mut dyn FnMut() -> f64| match &starter {
        Some(starter) => starter.draw(normal),
        None => model.prior_draw(normal),
    };
    let sampler = settings.sampler();
    let more = going_on(posterior, sampler.threads, |draws| Ok(draws.clone()));
    sample_while(posterior, &first, sampler, monitor, more)
}

/// Whether the weights of given experts are sampled in coordinates of their mode.
fn has_mode(model: &Model, settings: &CheckedFit) -> bool {
    let fixed = !model.learned() && !matches!(model.basis(), Basis::Rff(_));
    let sampler = settings.sampler();
    let auto = sampler.sampler == Sampler::Nuts && sampler.start == Start::Auto;
    fixed && auto && model.dim() <= MOST_COORDINATES
}

/// The sampler's settings where what is left open depends on the model and on the number of rows: about a mode that
/// thousands of rows make narrow, a mass matrix has more to learn.
pub(super) fn usual(posterior: &Posterior, settings: &CheckedFit) -> infer::Checked {
    match has_mode(posterior.model(), settings) && posterior.rows() <= MOST_EXACT_ROWS {
        true => settings.sampler().warming_up(WARMUP_OF_WEIGHTS),
        false => settings.sampler().clone(),
    }
}

/// Judges draws, which `natural` turns into parameters: whether the chains should go on. Weights that are learned
/// from thousands of rows have one round: they are known too well for more draws to change a prediction, and
/// another round takes minutes.
fn going_on<'a>(
    posterior: &'a Posterior,
    threads: usize,
    natural: impl Fn(&Draws) -> Result<Draws> + 'a,
) -> impl FnMut(&Draws) -> Result<bool> + 'a {
    let mut patience = Patience::default();
    let once = !posterior.model().learned() && posterior.rows() > MOST_EXACT_ROWS;
    move |draws| Ok(!once && patience.goes_on(&diagnose(posterior, &natural(draws)?, threads)?))
}

/// Sample `posterior` in coordinates, and turn every draw into parameters. A pilot that knows where the
/// posterior is makes short runs from several points needless.
fn piloted(
    posterior: &Posterior,
    coordinates: Arc<Coordinates>,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Draws> {
    let (model, sampler) = (posterior.model(), settings.sampler());
    let density = Piloted::new(posterior.clone(), coordinates.clone());
    let from_pilot = matches!(sampler.start, Start::Auto | Start::Data);
    let first = |normal: &mut dyn FnMut() -> f64| {
        let q = model.prior_draw(&mut *normal);
        if from_pilot { coordinates.start(q, normal) } else { coordinates.of(&q) }
    };
    let straight = if from_pilot { sampler.starting_there() } else { sampler.clone() };
    let natural = |draws: &Draws| {
        let parameters = |_: usize, z: &[f64]| Ok(density.parameters(z));
        draws.mapped(model.dim(), sampler.threads, |_| parameters)
    };
    let more = going_on(posterior, sampler.threads, natural);
    let draws = sample_while(&density, &first, &straight.accepting(ACCEPTED), monitor, more)?;
    natural(&draws)
}

/// Sample the weights of given experts in coordinates of their mode, from points of Laplace's approximation,
/// and turn every draw into parameters.
fn about_mode(
    posterior: &Posterior,
    density: &Laplace<Posterior>,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Draws> {
    let (model, sampler) = (posterior.model(), settings.sampler());
    let first = |normal: &mut dyn FnMut() -> f64| density.draw(normal);
    let natural = |draws: &Draws| {
        let parameters = |_: usize, z: &[f64]| Ok(density.parameters(z));
        draws.mapped(model.dim(), sampler.threads, |_| parameters)
    };
    let straight = usual(posterior, settings).starting_there().accepting(ACCEPTED_OF_WEIGHTS);
    let more = going_on(posterior, sampler.threads, natural);
    let draws = sample_while(density, &first, &straight, monitor, more)?;
    natural(&draws)
}

/// The mean acceptance in the coordinates of a pilot, where none is asked for: steps half as long as usual,
/// which the few low-noise corners of such posteriors need.
const ACCEPTED: f64 = 0.9;

/// With more parameters, such as those of two inputs on a Hilbert basis, coordinates of the mode cost more than they
/// gain: each gradient takes two products with a matrix of that size.
const MOST_COORDINATES: usize = 500;

/// The same about the mode of weights for given experts, where the variances of gates make a funnel: on the tables of
/// `bench/tables`, 0.9 left up to one divergence in 70 draws, and this next to none at hardly more steps.
const ACCEPTED_OF_WEIGHTS: f64 = 0.95;

/// The warm-up there, where none is asked for: scales are known from the start, and what is left to find is a step size.
const WARMUP_OF_WEIGHTS: usize = 200;

/// Where starting points come from, if not from the prior.
fn starter(posterior: &Posterior, settings: &CheckedFit) -> Result<Option<Starter>> {
    let model = posterior.model();
    let mixture = model.learned() && model.pool() == Pool::Linear && model.experts() > 1;
    let wanted = match settings.sampler().start {
        Start::Auto => mixture && matches!(model.basis(), Basis::Rff(_)),
        start => start == Start::Data,
    };
    wanted.then(|| Starter::new(posterior)).transpose()
}

/// Sample the collapsed density of `posterior` and complete every draw, from a stream of each
/// chain's own. The mode is completed with the mean of the coefficients, which is also their mode.
fn collapsed(posterior: &Posterior, settings: &CheckedFit, monitor: &dyn Monitor) -> Result<Draws> {
    let (model, sampler) = (posterior.model(), settings.sampler());
    let density = Collapsed::new(posterior.clone())?;
    let starter = starter(posterior, settings)?;
    let first = |normal: &mut dyn FnMut() -> f64| match &starter {
        Some(starter) => density.shorten(&starter.draw(normal)),
        None => density.shorten(&model.prior_draw(normal)),
    };
    let mode = sampler.sampler == Sampler::Map;
    let complete = |draws: &Draws| {
        draws.mapped(model.dim(), sampler.threads, |chain| {
            let mut density = density.clone();
            let mut rng = stream(sampler.seed, Purpose::Conditional, chain as u64);
            let mut normal = move || if mode { 0.0 } else { StandardNormal.sample(&mut rng) };
            move |i: usize, h: &[f64]| {
                density.complete(h, &mut normal).ok_or_else(|| {
                    let (chain, draw) = (chain + 1, i + 1);
                    let words = format!(
                        "chain {chain}, draw {draw}: the coefficients of its means cannot be had: \
                         sample all parameters"
                    );
                    Error::Sampling(Message::new(words).advise("density", "plain"))
                })
            }
        })
    };
    let more = going_on(posterior, sampler.threads, complete);
    let draws = sample_while(&density, &first, sampler, monitor, more)?;
    complete(&draws)
}
