//! Ranks of a chain's values among independent ones, and how far their means are off.

use anyhow::{anyhow, ensure};
use gpfuse::diagnose::{ess_mean, mcse_mean};

use super::simulate::Columns;
use crate::zscore::{batch_error, mean, threshold};

/// A sound sampler fails with about this probability, in all that is compared of a method.
pub(super) const RATE: f64 = 1e-6;

/// What is compared of each function's ranks `u`, which are uniform: the mean of a function of them.
struct Test {
    name: &'static str,
    of: fn(f64) -> f64,
    mean: f64,
    variance: f64,
}

const TESTS: [Test; 2] = [
    Test { name: "rank of", of: |u| u, mean: 0.5, variance: 1.0 / 12.0 },
    Test { name: "spread of", of: |u| (u - 0.5).abs(), mean: 0.25, variance: 1.0 / 48.0 },
];

/// What was found.
#[derive(Debug, Clone)]
pub(super) struct Compared {
    /// How many functions of parameters and data were compared.
    pub(super) functions: usize,
    /// No |z| may be as large.
    pub(super) threshold: f64,
    /// The largest |z|, and of what.
    pub(super) largest: (String, f64),
    /// The smallest effective sample size, and of what.
    pub(super) least: (String, f64),
    /// The largest factor between standard errors by batch means and by autocorrelations.
    pub(super) agreement: f64,
}

/// The share of sorted `reference` values below `value`; those equal to it count half.
fn rank(reference: &[f64], value: f64) -> f64 {
    let below = reference.partition_point(|r| *r < value);
    let upto = reference.partition_point(|r| *r <= value);
    (below + upto) as f64 / (2.0 * reference.len() as f64)
}

/// Compare chains with independent draws of the same functions.
///
/// With `n` independent draws the mean over a chain of a function `h` of the ranks is off by
/// the chain's Monte Carlo error and, to first order, by that of the mean of `h` over the
/// independent draws: `z = (mean - E h) / sqrt(mcse^2 + Var h / n)`. Of two estimates of the chain's
/// error, by autocorrelations and by batch means, the larger is taken: one that is too small would
/// see differences where there are none.
pub(super) fn compare(
    names: &[String],
    mut reference: Columns,
    chains: &[Columns],
    batches: usize,
) -> anyhow::Result<Compared> {
    let mut found: Vec<(String, f64, f64, f64)> = Vec::new();
    for (f, name) in names.iter().enumerate() {
        let sorted = &mut reference[f];
        let all = sorted.iter().chain(chains.iter().flat_map(|chain| &chain[f]));
        ensure!(all.copied().all(|v| !v.is_nan()), "{name} is no number");
        sorted.sort_unstable_by(f64::total_cmp);
        let ranks: Columns =
            chains.iter().map(|c| c[f].iter().map(|v| rank(sorted, *v)).collect()).collect();
        for test in TESTS {
            let traces: Columns =
                ranks.iter().map(|r| r.iter().map(|u| (test.of)(*u)).collect()).collect();
            let slices: Vec<&[f64]> = traces.iter().map(Vec::as_slice).collect();
            let (error, size) = (mcse_mean(&slices), ess_mean(&slices));
            let by_batches = batch_error(&slices, batches);
            let spread = error.max(by_batches).hypot((test.variance / sorted.len() as f64).sqrt());
            let z = (mean(&traces.concat()) - test.mean).abs() / spread;
            let factor = by_batches / error;
            found.push((format!("{} {name}", test.name), z, size, factor.max(factor.recip())));
        }
    }
    // No number at all would be the worst of all.
    let worst = |v: f64| if v.is_nan() { f64::INFINITY } else { v };
    let largest = found.iter().max_by(|a, b| worst(a.1).total_cmp(&worst(b.1)));
    let least = found.iter().min_by(|a, b| worst(a.2).total_cmp(&worst(b.2)));
    let nothing = || anyhow!("nothing was compared");
    Ok(Compared {
        functions: names.len(),
        threshold: threshold(RATE, found.len()),
        largest: largest.map(|t| (t.0.clone(), worst(t.1))).ok_or_else(nothing)?,
        least: least.map(|t| (t.0.clone(), t.2)).ok_or_else(nothing)?,
        agreement: found.iter().map(|t| worst(t.3)).fold(1.0, f64::max),
    })
}
