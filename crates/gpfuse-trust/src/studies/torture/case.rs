//! One hard model, drawn by its number: a table, settings, and predictions of experts.

use gpfuse::basis::frequencies::Scheme;
use gpfuse::diagnose::Combine;
use gpfuse::experts::{self, Partition};
use gpfuse::fit::{BasisChoice, DensityChoice};
use gpfuse::infer::{Metric, Sampler, Settings, Start};
use gpfuse::kernel::Kernel;
use gpfuse::model::{BankPrior, Priors};
use gpfuse::random::{Purpose, stream};
use gpfuse::scale::Scaling;
use gpfuse::{Data, FitSettings, Fitted, Method, Predictions, fit};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::numbers::{chance, column, in_units, normal, one, power};

/// Means and standard deviations by expert and row.
type Given = (Vec<Vec<f64>>, Vec<Vec<f64>>);

/// A model and its data.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) settings: FitSettings,
    pub(super) inputs: usize,
    /// Row-major.
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// Of experts made elsewhere.
    given: Option<Given>,
}

impl Case {
    /// Model `number` of a seed.
    pub(super) fn draw(seed: u64, number: u64) -> Case {
        let rng = &mut stream(seed, Purpose::Simulate, number);
        let n = if chance(rng, 0.5) { rng.random_range(1..=12) } else { rng.random_range(2..=60) };
        let few = chance(rng, 0.6);
        let inputs = if few { rng.random_range(1..=3) } else { rng.random_range(1..=50) };
        let columns: Vec<Vec<f64>> = (0..inputs).map(|_| column(rng, n)).collect();
        let mut x: Vec<f64> = (0..n).flat_map(|r| columns.iter().map(move |c| c[r])).collect();
        let noise = power(rng, -8.0, 1.0);
        let shape = (0..n).map(|r| (r as f64 / 3.0).sin() + noise * normal(rng)).collect();
        let mut y = in_units(rng, shape);
        if chance(rng, 0.2) {
            // Rows again, with the same target or their own.
            let keeps_target = chance(rng, 0.5);
            for r in 1..n {
                let of = rng.random_range(0..r);
                x.copy_within(of * inputs..(of + 1) * inputs, r * inputs);
                y[r] = if keeps_target { y[r] } else { y[of] };
            }
        }
        if chance(rng, 0.01) {
            let at = rng.random_range(0..x.len());
            x[at] = one(rng, &[f64::NAN, f64::INFINITY, f64::MAX, -f64::MAX]);
        }
        if chance(rng, 0.01) {
            let at = rng.random_range(0..n);
            y[at] = one(rng, &[f64::NAN, f64::NEG_INFINITY, f64::MAX, -f64::MAX]);
        }
        let settings = settings(rng, inputs, n);
        let elsewhere = !settings.method.learns_experts() && chance(rng, 0.7);
        let given = elsewhere.then(|| made_up(rng, settings.experts, &y));
        Case { settings, inputs, x, y, given }
    }

    /// Rows with these inputs, and with what experts made elsewhere say at some rows of the table.
    pub(super) fn at(&self, x: Vec<f64>, rows: &[usize]) -> gpfuse::Result<Data> {
        let data = Data::new(x, self.inputs)?;
        let Some((mean, sd)) = &self.given else { return Ok(data) };
        let pick = |all: &[Vec<f64>]| -> Vec<Vec<f64>> {
            all.iter().map(|expert| rows.iter().map(|r| expert[*r]).collect()).collect()
        };
        let predictions = Predictions::new(pick(mean), pick(sd))?;
        let names = (0..predictions.experts()).map(|k| format!("expert{k}")).collect();
        data.with_experts(names, predictions)
    }

    /// Fit it as a user does.
    pub(super) fn fit(&self) -> gpfuse::Result<Fitted> {
        let all: Vec<usize> = (0..self.y.len()).collect();
        let data = self.at(self.x.clone(), &all)?.with_target(self.y.clone())?;
        fit(&data, &self.settings)
    }
}

/// Experts that know the target, or are far from it; their standard deviations are equal, tiny,
/// huge, or any.
fn made_up(rng: &mut ChaCha8Rng, experts: usize, y: &[f64]) -> Given {
    let finite = |v: f64| if v.is_finite() { v } else { 0.0 };
    let spread = y.iter().fold(0.0, |a: f64, v| a.max(finite(*v).abs())).max(1e-300);
    let (away, equal) = (power(rng, -6.0, 3.0), power(rng, -6.0, 3.0));
    let kind = rng.random_range(0..5);
    let mut mean = vec![Vec::new(); experts];
    let mut sd = mean.clone();
    for k in 0..experts {
        for y in y {
            mean[k].push(finite(*y) + spread * away * normal(rng));
            sd[k].push(match kind {
                0 => spread * equal,
                1 => spread * power(rng, -40.0, -6.0),
                2 => spread * power(rng, 6.0, 40.0),
                3 => power(rng, -60.0, 60.0),
                _ => spread * power(rng, -3.0, 1.0),
            });
        }
    }
    if chance(rng, 0.01) {
        sd[0][0] = one(rng, &[0.0, -1.0, f64::NAN, f64::INFINITY]);
    }
    (mean, sd)
}

/// Settings of any kind that a fit of a fraction of a second may have.
fn settings(rng: &mut ChaCha8Rng, inputs: usize, n: usize) -> FitSettings {
    use BasisChoice::{Auto, Eigen, Hilbert, Rff};
    let method = one(rng, &Method::SAMPLED);
    let fixed = if inputs <= 2 { Hilbert } else { Rff };
    let basis = one(rng, &[Auto, Rff, fixed, fixed, Eigen]);
    let basis = if chance(rng, 0.01) { Hilbert } else { basis };
    let gaussian = matches!(method, Method::Pogpe | Method::Het) && basis != Eigen;
    let collapsed = if gaussian { chance(rng, 0.5) } else { chance(rng, 0.01) };
    let partition = match rng.random_range(0..4) {
        0 => Partition::Kmeans,
        1 => Partition::Contiguous,
        2 => Partition::Kernels,
        _ => Partition::Random,
    };
    let learned = method.learns_experts();
    let experts = if learned || n < 12 { rng.random_range(1..=4) } else { rng.random_range(1..=3) };
    let experts = if !learned { experts.max(2) } else { experts };
    FitSettings {
        method,
        experts: if chance(rng, 0.01) { 70 } else { experts },
        expert: experts::Settings { partition, ..experts::Settings::default() },
        plain: chance(rng, 0.5),
        basis,
        frequencies: rng.random_range(1..=20),
        scheme: one(rng, &Scheme::ALL),
        functions: chance(rng, 0.3).then(|| rng.random_range(1..=30)),
        size: chance(rng, 0.7).then(|| rng.random_range(1..=12)),
        box_factor: if chance(rng, 0.2) { 1.0 + power(rng, -6.0, 1.9) } else { 1.3 },
        kernel: chance(rng, 0.9).then(|| one(rng, &Kernel::ALL)),
        normalise: chance(rng, 0.3),
        density: if collapsed { DensityChoice::Collapsed } else { DensityChoice::Auto },
        scaling: one(rng, &[Scaling::Standard, Scaling::Standard, Scaling::Unit, Scaling::None]),
        priors: priors(rng),
        sampler: sampler(rng),
        combine: one(rng, &[Combine::Auto, Combine::Stack, Combine::Equal]),
        ..FitSettings::default()
    }
}

fn priors(rng: &mut ChaCha8Rng) -> Priors {
    if chance(rng, 0.8) {
        return Priors::default();
    }
    let mut bank = || BankPrior { var: power(rng, -3.0, 2.0), ell: power(rng, -3.0, 3.0) };
    let (mu, log_sd, gate) = (bank(), bank(), bank());
    Priors { mu, log_sd, gate, ..Priors::default() }
}

/// A handful of draws, by every way to them.
fn sampler(rng: &mut ChaCha8Rng) -> Settings {
    Settings {
        sampler: if chance(rng, 0.1) {
            one(rng, &[Sampler::Hmc, Sampler::Map])
        } else {
            Sampler::Nuts
        },
        metric: if chance(rng, 0.1) { Metric::LowRank } else { Metric::Diagonal },
        chains: rng.random_range(1..=2),
        warmup: Some(10),
        draws: Some(rng.random_range(1..=6)),
        max_depth: 2,
        hmc_depth: 2,
        start: one(rng, &[Start::Prior, Start::Prior, Start::Auto, Start::Map, Start::Data]),
        candidates: rng.random_range(1..=2),
        start_steps: 5,
        seed: rng.random::<u32>().into(),
        threads: 1,
        ..Settings::default()
    }
}
