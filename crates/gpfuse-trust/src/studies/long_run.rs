//! Long chains, with their warm-up, on densities whose moments and quantiles are known.

use anyhow::anyhow;
use gpfuse::diagnose::{ess_mean, mcse_mean};
use gpfuse::infer::{Draws, Metric, Quiet, Sampler, Settings, Start, sample};

use crate::finding::short;
use crate::known::{Known, View};
use crate::study::none;
use crate::zscore::{mean, threshold};
use crate::{Finding, Run, Study};

pub(super) const STUDY: Study = Study {
    name: "long_run",
    title: "Long chains have the right moments",
    about: "Long chains with a warm-up that adapts step size and mass matrix, from starts three times \
            as far out as the density reaches, on densities whose means, variances and quantiles are \
            known exactly. Each difference is put beside its Monte Carlo standard error.",
    run,
    figures: none,
};

/// A sound sampler fails with about this probability, on all densities together.
const RATE: f64 = 1e-6;

/// Probabilities at which distribution functions are compared.
const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

const CHAINS: usize = 4;

/// How much further out than draws the starts are.
const OUT: f64 = 3.0;

const DENSITIES: usize = 6;

/// The result of one comparison.
struct Test {
    name: String,
    z: f64,
    size: f64,
}

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let densities: [(&str, Known); DENSITIES] = [
        ("normal, sd 3", Known::normal(3.0)),
        ("five correlated normals", Known::five()),
        ("funnel, sd 0.7", Known::Funnel(0.7)),
        ("two near modes", Known::Pair(1.5)),
        ("logistic", Known::Logistic),
        ("Student, 5 degrees", Known::Student),
    ];
    let draws = run.size(2000, 30_000);
    densities.into_iter().map(|(name, known)| density(name, &known, draws, run)).collect()
}

/// All samplers on one density.
fn density(name: &str, known: &Known, draws: usize, run: &Run) -> anyhow::Result<Finding> {
    let mut tests = Vec::new();
    for (called, sampler) in [("NUTS", Sampler::Nuts), ("HMC", Sampler::Hmc)] {
        for (matrix, metric) in [("diagonal", Metric::Diagonal), ("low rank", Metric::LowRank)] {
            let settings = Settings {
                sampler,
                metric,
                chains: CHAINS,
                warmup: Some(1000),
                draws: Some(draws),
                hmc_depth: 4,
                target_accept: Some(0.9),
                start: Start::Prior,
                seed: run.seed,
                threads: run.threads,
                ..Settings::default()
            };
            let start = |normal: &mut dyn FnMut() -> f64| -> Vec<f64> {
                known.draw(normal).into_iter().map(|v| OUT * v).collect()
            };
            let drawn = sample(known, &start, &settings.check()?, &Quiet)?;
            for view in known.views() {
                tests.extend(compare(&format!("{called}, {matrix}"), &view, &drawn));
            }
        }
    }
    let limit = threshold(RATE, DENSITIES * tests.len());
    let nothing = || anyhow!("nothing was compared");
    let largest = tests.iter().max_by(|a, b| a.z.total_cmp(&b.z)).ok_or_else(nothing)?;
    let least = tests.iter().min_by(|a, b| a.size.total_cmp(&b.size)).ok_or_else(nothing)?;
    let wanted = if run.short { 500.0 } else { 10_000.0 };
    let result = format!(
        "largest |z| {} ({}); smallest effective size {:.0} ({})",
        short(largest.z),
        largest.name,
        least.size,
        least.name
    );
    let target = format!("every |z| below {}; every effective size above {wanted}", short(limit));
    let met = largest.z < limit && least.size > wanted;
    Ok(Finding::new(name, target, result, met).with(format!(
        "{} means, variances and probabilities of NUTS and HMC with both mass matrices, {CHAINS} \
         chains of {draws} draws each; a sound sampler fails on one of {DENSITIES} densities with a \
         probability of about {RATE:e}, were the means exactly normal and their standard errors known",
        tests.len()
    )))
}

/// What draws say of a view, beside what is true.
fn compare(of: &str, view: &View, draws: &Draws) -> Vec<Test> {
    let values: Vec<f64> = draws.iter().map(&view.of).collect();
    let test = |what: String, exact: f64, f: &dyn Fn(f64) -> f64| {
        let all: Vec<f64> = values.iter().map(|v| f(*v)).collect();
        let chains = draws.by_chain(&all);
        let z = (mean(&all) - exact).abs() / mcse_mean(&chains);
        let z = if z.is_nan() { f64::INFINITY } else { z };
        Test { name: format!("{of}: {what} of {}", view.name), z, size: ess_mean(&chains) }
    };
    let mut out = Vec::new();
    if let Some((centre, variance)) = view.law.moments() {
        out.push(test("mean".into(), centre, &|v| v));
        out.push(test("variance".into(), variance, &|v| (v - centre).powi(2)));
    }
    for level in LEVELS {
        let below = |v: f64| f64::from(u8::from(view.law.cdf(v) < level));
        out.push(test(format!("probability {level}"), level, &below));
    }
    out
}

#[cfg(test)]
mod tests {
    use gpfuse::infer::ChainDraws;
    use gpfuse::infer::Stat;
    use gpfuse::random::{Purpose, stream};
    use rand_distr::{Distribution, StandardNormal};

    use super::*;

    /// Independent draws whose standard deviation is `sd` instead of 1.
    fn largest(sd: f64) -> f64 {
        let chain = |number: u64| {
            let mut rng = stream(4, Purpose::Chain, number);
            let values =
                (0..5000).map(|_| sd * Distribution::<f64>::sample(&StandardNormal, &mut rng));
            ChainDraws { values: values.collect(), stats: vec![Stat::default(); 5000] }
        };
        let draws = Draws::new(1, 5000, (0..4).map(chain).collect()).unwrap();
        let views = Known::normal(1.0).views();
        let tests = views.iter().flat_map(|view| compare("draws", view, &draws));
        tests.map(|test| test.z).fold(0.0, f64::max)
    }

    /// Draws that are 10 % too wide are caught; right ones pass, and fail with a probability of
    /// about 1e-6.
    #[test]
    fn a_wrong_variance_is_caught() {
        let limit = threshold(RATE, 7);
        assert!(largest(1.0) < limit && largest(1.1) > limit);
    }
}
