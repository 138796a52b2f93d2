//! Truths that are not from the prior: the paper's generator, and a wave with growing noise.

use gpfuse::infer;
use gpfuse::simulate::Simulate;
use gpfuse::{Data, FitSettings, Method, fit};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::covered::Covered;
use super::{NEW_TARGETS, new_stream};

/// Training rows of a data set.
const ROWS: usize = 120;

/// Where data come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The paper's mixture of three GP experts, with functions five times as long.
    Paper,
    /// `sin(2 x + phase)` with noise from 0.05 to 0.5 along the input.
    Wave,
}

impl Source {
    pub(super) const ALL: [Source; 2] = [Source::Paper, Source::Wave];

    pub(super) fn name(self) -> &'static str {
        match self {
            Source::Paper => "the paper's generator",
            Source::Wave => "a wave with growing noise",
        }
    }

    /// Inputs and targets, in no order.
    fn draw(self, seed: u64, number: u64) -> gpfuse::Result<(Vec<f64>, Vec<f64>)> {
        let n = ROWS + NEW_TARGETS;
        let mut rng = new_stream(seed, number);
        if self == Source::Wave {
            let phase = std::f64::consts::TAU * rng.random::<f64>();
            let x: Vec<f64> = (0..n).map(|_| 4.0 * rng.random::<f64>() - 2.0).collect();
            let noise = |x: f64| 0.05 + 0.45 * (x + 2.0) / 4.0;
            let mut z = || Distribution::<f64>::sample(&StandardNormal, &mut rng);
            let y = x.iter().map(|x| (2.0 * x + phase).sin() + noise(*x) * z()).collect();
            return Ok((x, y));
        }
        let settings = Simulate {
            n,
            mean_lengthscale: 1.0,
            gate_lengthscale: 2.5,
            log_sd_lengthscale: 2.5,
            sorted: false,
            seed: rng.random(),
            ..Simulate::default()
        };
        let data = settings.run()?;
        Ok((data.x, data.y))
    }
}

/// Fit data set `number` with the defaults but for a small basis and short chains, and predict its
/// new rows.
pub(super) fn covered(
    method: Method,
    source: Source,
    seed: u64,
    number: u64,
) -> gpfuse::Result<Covered> {
    let (x, y) = source.draw(seed, number)?;
    let sampler = infer::Settings {
        chains: 2,
        warmup: Some(150),
        draws: Some(150),
        max_depth: 5,
        candidates: 2,
        start_steps: 40,
        seed: number,
        threads: 1,
        ..infer::Settings::default()
    };
    let settings = FitSettings { method, size: Some(30), sampler, ..FitSettings::default() };
    let all = Data::new(x, 1)?.with_target(y)?;
    let (rows, new): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|row| *row < ROWS);
    let (fitted, new) = (fit(&all.pick(&rows)?, &settings)?, all.pick(&new)?);
    let y = new.y()?;
    let pit = fitted.predict(&new)?.on_threads(1).each(|row, density| density.pit(y[row]))?;
    Ok(Covered::of(&pit).by(fitted.diagnostics.passed()))
}
