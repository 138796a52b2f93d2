//! How experts become one density: the linear pool (a mixture), the log-linear pool (a product)
//! and its robust form, each with its value, its adjoints and its fused components.
//!
//! A pool sees a block of rows: for each expert k the mean `mu`, the log standard deviation
//! `log_sd` and the log weight `log_w`; for the robust pool also its floor and
//! odds. Of experts that say how probable outcomes are, it sees these log probabilities instead (`outcomes.rs`).
//! To add a pool, write its file and give it a line in each `match` here.

mod linear;
mod log_linear;
mod outcomes;
mod robust;

use serde::{Deserialize, Serialize};

use crate::math::simd::Level;
use crate::math::{Lanes, ROWS, exp, ln};

/// The rule that fuses the experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// `sum_k w_k N(mu_k, sd_k^2)`, weights on the simplex.
    Linear,
    /// `prod_k N(mu_k, sd_k^2)^w_k`, normalised; weights positive.
    LogLinear,
    /// The same over a noise floor, with tails and a part of the linear pool.
    Robust,
}

/// The experts on one block of rows: K lanes each.
#[derive(Debug, Clone)]
pub struct ExpertBlock {
    /// Means.
    pub mu: Vec<Lanes>,
    /// Log standard deviations.
    pub log_sd: Vec<Lanes>,
    /// Log weights.
    pub log_w: Vec<Lanes>,
    /// Where experts say how probable outcomes are, their log probabilities, expert after expert of the first
    /// outcome, the target's, then of the next; else nothing.
    pub log_p: Vec<Lanes>,
    /// The robust pool's noise floor, as the log of its standard deviation.
    pub floor: Lanes,
    /// The log odds of the robust pool's tails against its product.
    pub tail: Lanes,
    /// The log odds of the robust pool's linear part against its product.
    pub blend: Lanes,
    /// How much more than its precision says the robust pool trusts the surest expert.
    pub temper: Lanes,
}

impl ExpertBlock {
    /// Room for `experts` experts.
    pub fn new(experts: usize) -> ExpertBlock {
        let lanes = || vec![Lanes::splat(0.0); experts];
        let none = Lanes::splat(0.0);
        ExpertBlock {
            mu: lanes(),
            log_sd: lanes(),
            log_w: lanes(),
            log_p: Vec::new(),
            floor: none,
            tail: none,
            blend: none,
            temper: none,
        }
    }

    /// The number of experts.
    pub fn experts(&self) -> usize {
        self.mu.len()
    }
}

/// The fused density of one block of rows as Gaussian components.
#[derive(Debug, Clone)]
pub struct Components {
    /// Log weights of the components; they sum to one over the components of a row.
    pub log_weight: Vec<Lanes>,
    /// Their means.
    pub mean: Vec<Lanes>,
    /// Their standard deviations.
    pub sd: Vec<Lanes>,
}

impl Pool {
    /// How many components the fused density of `experts` experts has.
    pub fn components(self, experts: usize) -> usize {
        match self {
            Pool::Linear => experts,
            Pool::LogLinear => 1,
            Pool::Robust => 2 + experts,
        }
    }

    /// The log density of `y` per row, and its derivatives with respect to the experts.
    pub fn log_density(
        self,
        level: Level,
        y: &Lanes,
        experts: &ExpertBlock,
        log_density: &mut Lanes,
        d: &mut ExpertBlock,
    ) {
        match self {
            Pool::Linear if !experts.log_p.is_empty() => {
                outcomes::mixed(level, experts, log_density, d)
            }
            _ if !experts.log_p.is_empty() => outcomes::multiplied(level, experts, log_density, d),
            Pool::Linear => linear::log_density(level, y, experts, log_density, d),
            Pool::LogLinear => log_linear::log_density(level, y, experts, log_density, d),
            Pool::Robust => robust::log_density(level, y, experts, log_density, d),
        }
    }

    /// The log probability of each outcome, of experts that say how probable outcomes are.
    pub(crate) fn outcomes(self, level: Level, experts: &ExpertBlock, out: &mut [Lanes]) {
        match self {
            Pool::Linear => outcomes::of_mixture(level, experts, out),
            Pool::LogLinear | Pool::Robust => outcomes::of_product(level, experts, out),
        }
    }

    /// The fused density of each row.
    pub fn fuse(self, level: Level, experts: &ExpertBlock, out: &mut Components) {
        match self {
            Pool::Linear => linear::fuse(level, experts, out),
            Pool::LogLinear => log_linear::fuse(level, experts, out),
            Pool::Robust => robust::fuse(level, experts, out),
        }
    }

    /// Room for the components of `experts` experts.
    pub fn room(self, experts: usize) -> Components {
        let lanes = || vec![Lanes::splat(0.0); self.components(experts)];
        Components { log_weight: lanes(), mean: lanes(), sd: lanes() }
    }
}

/// Replace `v` by `exp(v - logsumexp(v))` over its lanes, row by row, and leave the logsumexp
/// in `total`.
#[inline(always)]
pub(crate) fn softmax_kernel<const FMA: bool>(v: &mut [Lanes], total: &mut Lanes) {
    if let [only] = v {
        (*total, *only) = (*only, Lanes::splat(1.0));
        return;
    }
    // Not minus infinity: a row of which every weight underflowed must not become NaN.
    let mut top = Lanes::splat(-1e300);
    for v in v.iter() {
        for r in 0..ROWS {
            top[r] = if v[r] > top[r] { v[r] } else { top[r] };
        }
    }
    let mut sum = Lanes::splat(0.0);
    for v in v.iter_mut() {
        for r in 0..ROWS {
            v[r] = exp::<FMA>(v[r] - top[r]);
            sum[r] += v[r];
        }
    }
    for r in 0..ROWS {
        total[r] = top[r] + ln::<FMA>(sum[r]);
        sum[r] = 1.0 / sum[r];
    }
    for v in v.iter_mut() {
        for r in 0..ROWS {
            v[r] *= sum[r];
        }
    }
}

/// Replace `v` by `v - logsumexp(v)` over its lanes, row by row.
#[inline(always)]
pub(crate) fn log_softmax_kernel<const FMA: bool>(v: &mut [Lanes]) {
    let mut top = Lanes::splat(f64::MIN);
    for v in v.iter() {
        for r in 0..ROWS {
            top[r] = if v[r] > top[r] { v[r] } else { top[r] };
        }
    }
    let mut sum = Lanes::splat(0.0);
    for v in v.iter() {
        for r in 0..ROWS {
            sum[r] += exp::<FMA>(v[r] - top[r]);
        }
    }
    for r in 0..ROWS {
        sum[r] = top[r] + ln::<FMA>(sum[r]);
    }
    for v in v.iter_mut() {
        for r in 0..ROWS {
            v[r] -= sum[r];
        }
    }
}
