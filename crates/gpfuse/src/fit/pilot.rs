//! The pilot of a fit with many inputs: an exact GP that says how smooth the target is in each input, the
//! basis made from it, and the coordinates in which its posterior is standard normal.
//!
//! 1. Of the kernels the one whose GP predicts rows left out best, on some of the rows (`gp`); then the
//!    lengthscales on more of them.
//! 2. Eigenfunctions of that GP's covariance for the mean that the experts share, as many as the evidence asks
//!    for (`size`), and few at twice the lengthscales for log sds, gates and contrasts.
//! 3. The noise of each row, by a few rounds of regression (`noise`), which says how well the rows know
//!    each coefficient ([`Coordinates`]).

mod noise;
mod size;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use noise::Noise;

use super::{CheckedFit, GateChoice};
use crate::basis::eigen::{Decomposition, Pilot};
use crate::basis::{Basis, Eigen};
use crate::gp::{self, Gp, some_rows};
use crate::halt::go_on;
use crate::infer::Monitor;
use crate::kernel::Kernel;
use crate::model::coordinates::{Coordinates, Knowledge};
use crate::model::{Bases, Model, least_variance};
use crate::parallel::parallel;
use crate::rows::Rows;
use crate::{Error, Result};

/// The most rows that kernels are compared on.
const COMPARED_ROWS: usize = 500;
/// The most rows that the lengthscales are found on.
const REFINED_ROWS: usize = 1500;
/// Steps of the climb with more rows.
const REFINING_STEPS: usize = 15;
/// The most landmarks of the shared mean's functions.
const LANDMARKS: usize = 1500;
/// The most landmarks of all other functions.
const FEW_LANDMARKS: usize = 400;
/// Functions of log sds, gates and contrasts.
const FEW_FUNCTIONS: usize = 40;
/// How much longer the lengthscales of these are.
const STRETCH: f64 = 2.0;
/// The variance of a log sd that the coordinates take for usual.
const LOG_SD_VAR: f64 = 0.5;

/// The log sd of the noise where no pilot was fitted.
const ASSUMED_LOG_SD: f64 = -1.0;

/// What a model of many inputs stands on.
#[derive(Debug, Clone)]
pub(crate) struct Ground {
    pub(crate) bases: Bases,
    knowledge: Option<Arc<(Knowledge, Knowledge)>>,
}

impl From<Basis> for Ground {
    fn from(basis: Basis) -> Ground {
        Ground { bases: basis.into(), knowledge: None }
    }
}

impl Ground {
    /// For weights that no input changes; `first` is any point.
    pub(crate) fn constant(settings: &CheckedFit, first: &[f64]) -> Ground {
        Basis::Eigen(Eigen::constant(settings.kernel.unwrap_or_default(), first, 0.0)).into()
    }

    /// For weights that need no pilot, of which `first` is any point: those of rules, constant ones, and linear ones.
    pub(crate) fn simple(settings: &CheckedFit, first: &[f64]) -> Option<Ground> {
        match settings.gate {
            _ if !settings.method.is_sampled() => Some(Ground::constant(settings, first)),
            GateChoice::Constant => Some(Ground::constant(settings, first)),
            GateChoice::Linear => {
                let kernel = settings.kernel.unwrap_or_default();
                Some(Basis::Eigen(Eigen::linear(kernel, first.len())).into())
            }
            GateChoice::Auto | GateChoice::Gp => None,
        }
    }

    /// The coordinates of a model on these bases, if it has a pilot that knows any.
    pub(crate) fn coordinates(&self, model: &Model) -> Option<Coordinates> {
        let (common, log_sd) = self.knowledge.as_deref()?;
        model.common().map(|_| Coordinates::new(model, common, log_sd))
    }

    /// Eigenfunctions for the gates of experts of which `gp` is one, on the scaled rows `x`.
    pub(crate) fn of_expert(gp: &Gp, x: &[f64], inputs: usize, seed: u64) -> Result<Ground> {
        Ok(Basis::Eigen(log_sds(gp, &Rows::new(x, inputs)?, seed)?.basis).into())
    }

    /// Eigenfunctions for the scaled rows `x` with targets `y`.
    pub(crate) fn pilot(
        x: &[f64],
        inputs: usize,
        y: &[f64],
        settings: &CheckedFit,
        monitor: &dyn Monitor,
    ) -> Result<Ground> {
        let (gp, noise) = find(x, inputs, y, settings, monitor)?;
        let hyper = gp.hyper().clone();
        let rows = Rows::new(x, inputs)?;
        let seed = settings.sampler.seed;
        let few = noise.basis.clone();
        if !settings.method.learns_experts() {
            return Ok(Basis::Eigen(few).into());
        }
        let fine = Pilot { kernel: gp.kernel(), var: hyper.var, ell: hyper.ell };
        let chosen = landmarks(rows.len(), LANDMARKS, seed);
        let all = Decomposition::new(fine, &rows, &chosen)?;
        let target: Vec<f64> = y.iter().map(|y| y - hyper.mean).collect();
        let some: Vec<f64> = chosen.iter().map(|r| target[*r]).collect();
        let at = few.at(&rows).0;
        let variances: Vec<f64> = (0..rows.len()).map(|r| noise.variance(&at, r)).collect();
        let functions = settings.functions.unwrap_or_else(|| {
            let logs = variances.iter().map(|v| v.ln()).sum::<f64>();
            let usual = (logs / rows.len() as f64).exp();
            let enough = size::choose(all.values(), &all.along(&some), usual);
            enough.min(size::limit(rows.len()))
        });
        go_on(monitor)?;
        let fine = all.leading(functions, hyper.mean);
        let floor = least_variance(few.level());
        let (fine, common) = noise::orthogonal(fine, &rows, &variances, floor, &target)?;
        let bases = Bases { common: Some(Basis::Eigen(fine)), others: Basis::Eigen(few) };
        Ok(Ground { bases, knowledge: Some(Arc::new((common, noise.knowledge()))) })
    }
}

/// The bases of a pilot that is assumed and not found, for a study in which there is no target yet: unit
/// variance and lengthscales, and a noise of [`ASSUMED_LOG_SD`].
pub(crate) fn assumed(x: &[f64], inputs: usize, settings: &CheckedFit) -> Result<Bases> {
    let rows = Rows::new(x, inputs)?;
    let (kernel, functions) =
        (settings.kernel.unwrap_or_default(), settings.functions.unwrap_or(8));
    let made = |stretch: f64, level: f64| {
        let pilot = Pilot { kernel, var: 1.0, ell: vec![stretch; inputs] };
        let some = landmarks(rows.len(), FEW_LANDMARKS, settings.sampler.seed);
        let basis =
            Decomposition::new(pilot, &rows, &some)?.leading(functions.min(FEW_FUNCTIONS), level);
        let at = basis.at(&rows).0;
        basis.orthogonal(&at, &vec![1.0; rows.len()]).map(|(basis, _)| Basis::Eigen(basis))
    };
    Ok(Bases { common: Some(made(1.0, 0.0)?), others: made(STRETCH, ASSUMED_LOG_SD)? })
}

/// Which rows are landmarks: all, or some of many.
fn landmarks(rows: usize, most: usize, seed: u64) -> Vec<usize> {
    if rows <= most { (0..rows).collect() } else { some_rows(rows, most, seed) }
}

/// The GP whose kernel predicts rows left out best, and the noise of rows under it.
fn find(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<(Gp, Noise)> {
    let (n, seed, threads) = (y.len(), settings.sampler.seed, settings.sampler.threads);
    let pick = |most: usize| {
        let rows = landmarks(n, most, seed);
        let x: Vec<f64> =
            rows.iter().flat_map(|r| &x[r * inputs..(r + 1) * inputs]).copied().collect();
        let y: Vec<f64> = rows.iter().map(|r| y[*r]).collect();
        (x, y)
    };
    let kernels = match settings.kernel {
        Some(kernel) => vec![kernel],
        None => Kernel::ALL.to_vec(),
    };
    let with = |kernel, steps| {
        gp::Settings { kernel, starts: 2, steps, seed, threads: 1, ..gp::Settings::default() }
            .check()
    };
    let (some, targets) = pick(COMPARED_ROWS);
    let rows = Rows::new(&some, inputs)?;
    let done = AtomicUsize::new(0);
    monitor.part(0, kernels.len());
    let found = parallel(kernels.len(), threads, |i| {
        let even = gp::fit_with(&some, inputs, &targets, &with(kernels[i], 100)?, monitor)?;
        let mut noise = log_sds(&even, &rows, seed)?;
        let gp = noise.rounds(even, &rows, &with(kernels[i], REFINING_STEPS)?, monitor)?;
        monitor.part(done.fetch_add(1, Ordering::Relaxed) + 1, kernels.len());
        Ok((gp.leave_one_out_score(), gp, noise))
    })?;
    let found = found.into_iter().collect::<Result<Vec<(f64, Gp, Noise)>>>()?;
    let best = found.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let nothing =
        || Error::Data("no pilot GP could be fitted: look at the scale of the data".into());
    let (_, near, known) = best.ok_or_else(nothing)?;
    if n <= COMPARED_ROWS {
        return Ok((near, known));
    }
    let (more, targets) = pick(REFINED_ROWS);
    let rows = Rows::new(&more, inputs)?;
    let steps = with(near.kernel(), REFINING_STEPS)?;
    let at = known.basis.at(&rows).0;
    let near = known.refine(&near, &more, &targets, &at, &steps, monitor)?;
    let mut noise = log_sds(&near, &rows, seed)?;
    let gp = noise.rounds(near, &rows, &steps, monitor)?;
    Ok((gp, noise.for_rows(n)))
}

/// Functions for the log sds of rows about that of a GP, with lengthscales as much longer as its own.
fn log_sds(gp: &Gp, rows: &Rows, seed: u64) -> Result<Noise> {
    let hyper = gp.hyper();
    let ell = hyper.ell.iter().map(|ell| STRETCH * ell).collect();
    let pilot = Pilot { kernel: gp.kernel(), var: 1.0, ell };
    let all = Decomposition::new(pilot, rows, &landmarks(rows.len(), FEW_LANDMARKS, seed))?;
    let basis = all.leading(FEW_FUNCTIONS, 0.5 * hyper.noise.ln());
    let at = basis.at(rows).0;
    let (basis, few) = basis.orthogonal(&at, &vec![1.0; rows.len()])?;
    Ok(Noise::even(basis, few))
}
