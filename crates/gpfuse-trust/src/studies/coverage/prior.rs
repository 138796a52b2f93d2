//! Truths from the model's own prior: coverage is then exact, whatever the truth.

use gpfuse::calibrate::{Settings, Study as Calibration};
use gpfuse::infer::{ChainDraws, Draws, Quiet, Stat};
use gpfuse::model::{Given, Method};
use gpfuse::predict::{Predictive, Predictor};
use gpfuse::random::{Purpose, stream};
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::covered::Covered;
use super::{NEW_TARGETS, new_stream};
use crate::Run;

/// New inputs lie where the rows do.
const INPUT_REACH: f64 = 1.5;

/// The model of a method as `gpfuse sbc` has it, with fewer draws: an interval wants fewer than a
/// rank, which is one of a hundred.
pub(super) fn study(method: Method, run: &Run) -> anyhow::Result<Calibration> {
    let mut settings = Settings::default();
    (settings.fit.method, settings.fit.sampler.seed) = (method, run.seed + 2);
    (settings.fit.sampler.warmup, settings.fit.sampler.draws) =
        (Some(200), Some(run.size(400, 500)));
    Ok(Calibration::new(settings.check()?)?)
}

/// Data set `number`: parameters from the prior, rows and new targets from the model with them.
pub(super) fn covered(study: &Calibration, number: u64) -> gpfuse::Result<Covered> {
    let truth = study.truth(number)?;
    let draws = study.sample(number, &truth, &Quiet)?;
    let model = study.model();
    let mut rng = new_stream(study.settings().fit.sampler.seed, number);
    let x: Vec<f64> =
        (0..NEW_TARGETS).map(|_| INPUT_REACH * (2.0 * rng.random::<f64>() - 1.0)).collect();
    let rows = Rows::new(&x, 1)?;
    // What given experts say is fixed before the truth is drawn, and any numbers will do.
    let mut numbers = |scale: f64| -> Vec<Vec<f64>> {
        let mut each = || scale * Distribution::<f64>::sample(&StandardNormal, &mut rng);
        (0..model.experts()).map(|_| (0..NEW_TARGETS).map(|_| each()).collect()).collect()
    };
    let (mean, mut sd) = (numbers(1.0), numbers(0.5));
    sd.iter_mut().flatten().for_each(|v| *v = v.exp());
    let given = if model.learned() { None } else { Some(Given::new(&mean, &sd)?) };
    let one = ChainDraws { values: truth.q, stats: vec![Stat::default()] };
    let one = Draws::new(model.dim(), 1, vec![one])?;
    let seed = rng.random::<u64>();
    let truth = Predictor::new(model.clone(), &one, Affine::IDENTITY);
    let y = truth.at(&rows, given.as_ref()).blocks(1, |block| {
        let mut rng = stream(seed, Purpose::Simulate, block.first as u64);
        (0..block.len())
            .map(|r| Ok(block.row(r)?.sample(&mut rng)))
            .collect::<gpfuse::Result<Vec<_>>>()
    })?;
    let y = y.into_iter().collect::<gpfuse::Result<Vec<_>>>()?.concat();
    let found = Predictor::new(model.clone(), &draws, Affine::IDENTITY);
    let pit = found.at(&rows, given.as_ref()).blocks(1, |block| {
        let at = |r: usize| Ok(block.row(r)?.pit(y[block.first + r]));
        (0..block.len()).map(at).collect::<gpfuse::Result<Vec<_>>>()
    })?;
    Ok(Covered::of(&pit.into_iter().collect::<gpfuse::Result<Vec<_>>>()?.concat()))
}
