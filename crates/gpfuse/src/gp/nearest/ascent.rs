//! Hyperparameters by stochastic ascent on the density of rows that are left out.
//!
//! The objective is the mean log density of rows, each given its nearest others. Random rows are a sample of it:
//! each step takes some of them, and Adam (Kingma and Ba, *Adam: a method for stochastic optimization*, 2015)
//! goes along the gradient, with steps that end at zero by half a cosine. Whatever the number of rows of the
//! table, it costs the same. Neighbours are looked for again now and then, as they depend on the lengthscales.

use super::Table;
use super::local::{Around, Room};
use super::search::{Index, Near};
use super::without;
use crate::Result;
use crate::gp::hyper::Hyper;
use crate::gp::{Mean, Settings};
use crate::math::WIDTH;
use crate::parallel::parallel_with;
use crate::random::{Purpose, stream};
use crate::scale::{Scaler, Scaling};

use rand::seq::SliceRandom;

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

/// The hyperparameters at which the ascent from `hyper` ends.
pub(super) fn climb(
    table: &Table,
    twins: &[usize],
    hyper: Hyper,
    settings: &Settings,
) -> Result<Hyper> {
    let d = table.inputs;
    let mut rng = stream(settings.seed, Purpose::Ascent, 0);
    let mut rows: Vec<usize> = (0..table.y.len()).collect();
    let (pool, _) = rows.partial_shuffle(&mut rng, POOL);
    let units = Scaler::fit(Scaling::Standard, &table.x, d, &table.y)?;
    let mut q = coordinates(&hyper, &units);
    let (mut first, mut second) = (vec![0.0; q.len()], vec![0.0; q.len()]);
    let (mut near, mut order) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        let hyper = restored(&q, &units);
        if step % REFRESHED == 0 {
            let index = Index::new(&table.x, &hyper.ell);
            let count = if step < FEW.0 { FEW.1 } else { MANY };
            near = without(table, &index, pool, twins, count, settings.threads)?;
        }
        if order.len() < BATCH.min(pool.len()) {
            order = (0..pool.len()).collect();
            order.shuffle(&mut rng);
        }
        let batch = order.split_off(order.len().saturating_sub(BATCH));
        let mut grad = gradient(table, &hyper, pool, &near, &batch, settings)?;
        grad[d + 2] *= match settings.mean {
            Mean::Learned => units.target.scale,
            Mean::Fixed(_) => 0.0,
        };
        let rate = RATE * 0.5 * (1.0 + (std::f64::consts::PI * step as f64 / STEPS as f64).cos());
        let t = (step + 1) as i32;
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
    }
    Ok(restored(&q, &units))
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
    table: &Table,
    hyper: &Hyper,
    pool: &[usize],
    near: &[Vec<Near>],
    batch: &[usize],
    settings: &Settings,
) -> Result<Vec<f64>> {
    let most = batch.iter().map(|at| near[*at].len()).max().unwrap_or(0);
    let room = || Room::new(settings.kernel, hyper, table, most);
    let jobs = batch.len().div_ceil(JOB);
    let parts = parallel_with(jobs, settings.threads, room, |room, job| {
        let mut grad = vec![0.0; table.inputs + 3];
        for part in batch[job * JOB..batch.len().min((job + 1) * JOB)].chunks(WIDTH) {
            let rows: Vec<Around<'_>> =
                part.iter().map(|at| (table.row(pool[*at]), &near[*at][..])).collect();
            room.add_gradient(&rows, part.iter().map(|at| table.y[pool[*at]]), &mut grad)?;
        }
        Ok(grad)
    })?;
    let mut grad = vec![0.0; table.inputs + 3];
    for part in parts {
        let part: Vec<f64> = part?;
        grad.iter_mut().zip(part).for_each(|(g, p)| *g += p / batch.len() as f64);
    }
    Ok(grad)
}
