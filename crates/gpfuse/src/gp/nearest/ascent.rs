//! Hyperparameters by stochastic ascent on the density of rows that are left out.
//!
//! The objective is the mean log density of rows, each given its nearest others. Random rows are a sample of it:
//! each step takes some of them, and Adam (Kingma and Ba, *Adam: a method for stochastic optimization*, 2015)
//! goes along the gradient, with steps that end at zero by half a cosine. Whatever the number of rows of the
//! table, it costs the same. Neighbours are looked for again now and then, as they depend on the lengthscales.

use super::local::{Around, Room};
use super::neighbourhoods::Neighbourhoods;
use crate::gp::hyper::Hyper;
use crate::gp::starts::some_rows;
use crate::gp::{Mean, Settings, fit};
use crate::math::WIDTH;
use crate::parallel::parallel_with;
use crate::random::{Purpose, stream};
use crate::scale::Scaler;
use crate::{Error, Result};

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Rows of the exact GP whose hyperparameters the ascent begins at.
const FIRST_ROWS: usize = 1500;
/// Rows of which each step takes some.
const POOL: usize = 2048;
/// Rows of a step.
const BATCH: usize = 256;
/// Rows whose gradients are summed in one job: their order is fixed, whatever the number of threads.
const JOB: usize = 32;
/// Steps.
const STEPS: usize = 240;
/// Steps after which neighbours are looked for again.
const REFRESHED: usize = 60;
/// Steps with few neighbours of each row, and how many these are; the last steps have more, which cost more.
const FEW: (usize, usize) = (180, 64);
/// Neighbours of a row in the last steps.
const MANY: usize = 256;
/// The first step in each logarithm.
const RATE: f64 = 0.05;
/// Decay of the gradient's mean, and of the mean of its square.
const DECAY: (f64, f64) = (0.9, 0.98);
/// Bounds of `var`, each `ell` and `noise`, in units of the data.
const BOUNDS: [(f64, f64); 3] = [(1e-5, 1e5), (1e-3, 1e5), (1e-10, 1e2)];

/// The rows of the exact GP at whose hyperparameters the ascent begins, of a table of so many.
pub fn first_rows(rows: usize, seed: u64) -> Vec<usize> {
    some_rows(rows, FIRST_ROWS.min(rows), seed)
}

/// An ascent that is under way. It stops where neighbours are to be looked for again, and goes on with them.
#[derive(Debug, Clone)]
pub struct Ascent {
    settings: Settings,
    units: Scaler,
    pool: Vec<usize>,
    rng: ChaCha8Rng,
    /// Places in the pool that this round has not taken yet.
    order: Vec<usize>,
    step: usize,
    q: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Ascent {
    /// From the exact GP on [`first_rows`] of a table of so many rows; `units` are those of all of them.
    ///
    /// # Errors
    /// If that GP cannot be fitted.
    pub fn new(
        rows: usize,
        (x, y): (&[f64], &[f64]),
        units: Scaler,
        settings: &Settings,
    ) -> Result<Ascent> {
        let gp = fit(x, units.inputs.len(), y, &settings.clone().check()?)?;
        let mut rng = stream(settings.seed, Purpose::Ascent, 0);
        let mut all: Vec<usize> = (0..rows).collect();
        let pool = all.partial_shuffle(&mut rng, POOL).0.to_vec();
        let q = coordinates(gp.hyper(), &units);
        let none = vec![0.0; q.len()];
        let settings = settings.clone();
        let (first, second) = (none.clone(), none);
        Ok(Ascent { settings, units, pool, rng, order: Vec::new(), step: 0, q, first, second })
    }

    /// The rows of which it needs the neighbours.
    pub fn rows(&self) -> &[usize] {
        &self.pool
    }

    /// How many neighbours of each it needs now, its twins apart; none at its end.
    pub fn neighbours(&self) -> Option<usize> {
        match self.step {
            step if step < FEW.0 => Some(FEW.1),
            step if step < STEPS => Some(MANY),
            _ => None,
        }
    }

    /// Where it is.
    pub fn hyper(&self) -> Hyper {
        restored(&self.q, &self.units)
    }

    /// Go on until neighbours are to be looked for again; `around` are the rows with those under the present
    /// lengthscales.
    ///
    /// # Errors
    /// If these are other rows, or some of them cannot be told apart.
    pub fn climb(&mut self, around: &Neighbourhoods) -> Result<()> {
        if around.rows() != self.pool.len() {
            return Err(Error::Shape {
                what: "neighbourhoods".into(),
                expected: self.pool.len().to_string(),
                found: around.rows().to_string(),
            });
        }
        let steps = self.step..STEPS.min(self.step + REFRESHED);
        self.step = steps.end;
        steps.into_iter().try_for_each(|step| self.climb_once(around, step))
    }

    fn climb_once(&mut self, around: &Neighbourhoods, step: usize) -> Result<()> {
        let (d, size) = (self.units.inputs.len(), self.pool.len());
        if self.order.len() < BATCH.min(size) {
            self.order = (0..size).collect();
            self.order.shuffle(&mut self.rng);
        }
        let batch = self.order.split_off(self.order.len().saturating_sub(BATCH));
        let mut grad = gradient(around, &self.hyper(), &batch, &self.settings)?;
        grad[d + 2] *= match self.settings.mean {
            Mean::Learned => self.units.target.scale,
            Mean::Fixed(_) => 0.0,
        };
        let rate = RATE * 0.5 * (1.0 + (std::f64::consts::PI * step as f64 / STEPS as f64).cos());
        let t = (step + 1) as i32;
        let Ascent { q, first, second, .. } = self;
        for i in 0..q.len() {
            first[i] = DECAY.0 * first[i] + (1.0 - DECAY.0) * grad[i];
            second[i] = DECAY.1 * second[i] + (1.0 - DECAY.1) * grad[i] * grad[i];
            let mean = first[i] / (1.0 - DECAY.0.powi(t));
            let square = second[i] / (1.0 - DECAY.1.powi(t));
            q[i] += rate * mean / (square.sqrt() + 1e-8);
        }
        let bounded = |q: &mut f64, (low, high): (f64, f64)| *q = q.clamp(low.ln(), high.ln());
        bounded(&mut q[0], BOUNDS[0]);
        q[1..=d].iter_mut().for_each(|q| bounded(q, BOUNDS[1]));
        bounded(&mut q[d + 1], BOUNDS[2]);
        Ok(())
    }
}

/// `log var`, each `log ell`, `log noise` and the mean, in units of the data.
fn coordinates(hyper: &Hyper, units: &Scaler) -> Vec<f64> {
    let square = units.target.scale.powi(2);
    let ell = hyper.ell.iter().zip(&units.inputs).map(|(ell, unit)| ell / unit.scale);
    let logs = [hyper.var / square].into_iter().chain(ell).chain([hyper.noise / square]);
    logs.map(f64::ln).chain([units.target.apply(hyper.mean)]).collect()
}

fn restored(q: &[f64], units: &Scaler) -> Hyper {
    let (last, square) = (q.len() - 1, units.target.scale.powi(2));
    Hyper {
        mean: units.target.restore(q[last]),
        var: square * q[0].exp(),
        ell: q[1..last - 1].iter().zip(&units.inputs).map(|(q, u)| u.scale * q.exp()).collect(),
        noise: square * q[last - 1].exp(),
    }
}

/// The gradient of the mean log density of a batch.
fn gradient(
    around: &Neighbourhoods,
    hyper: &Hyper,
    batch: &[usize],
    settings: &Settings,
) -> Result<Vec<f64>> {
    let (size, all) = (hyper.ell.len() + 3, usize::MAX);
    let most = batch.iter().map(|q| around.around(*q, all).1.len()).max().unwrap_or(0);
    let room = || Room::new(settings.kernel, hyper, &around.table, most);
    let jobs = batch.len().div_ceil(JOB);
    let parts = parallel_with(jobs, settings.threads, room, |room, job| {
        let mut grad = vec![0.0; size];
        for part in batch[job * JOB..batch.len().min((job + 1) * JOB)].chunks(WIDTH) {
            let rows: Vec<Around<'_>> = part.iter().map(|q| around.around(*q, all)).collect();
            room.add_gradient(&rows, part.iter().map(|q| around.target(*q)), &mut grad)?;
        }
        Ok(grad)
    })?;
    let mut grad = vec![0.0; size];
    for part in parts {
        let part: Vec<f64> = part?;
        grad.iter_mut().zip(part).for_each(|(g, p)| *g += p / batch.len() as f64);
    }
    Ok(grad)
}
