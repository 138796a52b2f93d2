//! The robust log-linear pool: the product of the experts over a noise floor, with tails and a
//! part of the linear pool.
//!
//! `tau = sum_k exp(t_k)` and `m = sum_k tau_k mu_k / tau` as in the log-linear pool, but
//! `t_k = log w_k - 2 log sd_k - 2 g a_k`, `a_k` the difference of `log sd_k` to its mean over the
//! experts: with the temper g above 0, where one expert is surer than the others it counts for more
//! than its precision, as in a gPoE with entropy weights. Experts that are too sure of themselves
//! make `1/tau` as small as they like; the floor s holds variances up, `v = 1/tau + s^2`. Some rows lie [`TAIL_WIDTH`] times as far
//! out, and where experts disagree their product may be wrong altogether, so
//! `p(y) = a N(y; m, v) + b N(y; m, TAIL_WIDTH^2 v) + c sum_k N(y; mu_k, v_k) / K`, `v_k = sd_k^2 + s^2`,
//! with shares `(a, b, c)` proportional to `(1, e^tail, e^blend)`.
//!
//! With `L = log v`, `rho = 1 / (tau v)`, `z^2 = (y - m)^2 / v`, the responsibilities `A`, `B`,
//! `C_k` of the components and `f = A + B / TAIL_WIDTH^2`: `dL = (f z^2 - A - B) / 2`,
//! `dm = f (y - m) / v`; with `dL/dlog tau = -rho`, `dL/dlog s = 2 (1 - rho)`, `p_k = tau_k / tau`,
//! `d t_k = p_k ((mu_k - m) dm - rho dL)`. The linear part adds, with `z_k^2 = (y - mu_k)^2 / v_k`,
//! `r_k = sd_k^2 / v_k` and `g_k = C_k (z_k^2 - 1) / 2`:
//! `d mu_k = p_k dm + C_k (y - mu_k) / v_k`,
//! `d log_sd_k = -2 d t_k - 2 g (d t_k - mean_j d t_j) + 2 r_k g_k`, `d g = -2 sum_k a_k d t_k`,
//! `d log_w_k = d t_k`, `d log s = 2 (1 - rho) dL + sum_k 2 (1 - r_k) g_k`,
//! `d tail = B - b`, `d blend = sum_k C_k - c`.

use super::{Components, ExpertBlock, softmax_kernel};
use crate::math::simd::{Level, vectorised};
use crate::math::{HALF_LN_TWO_PI, Lanes, ROWS, exp, fma, ln};

/// How many times as wide as the product its tails are.
const TAIL_WIDTH: f64 = 4.0;

/// Beyond this many standard deviations the log density stays where it is.
const FARTHEST_Z: f64 = 1e150;

vectorised! {
    pub(super) fn log_density = log_density_kernel(
        y: &Lanes, experts: &ExpertBlock, log_density: &mut Lanes, d: &mut ExpertBlock,
    );
}

/// The logarithms of the shares of product, tails and linear pool.
#[inline(always)]
fn log_shares<const FMA: bool>(tail: f64, blend: f64) -> [f64; 3] {
    let top = tail.max(blend).max(0.0);
    let sum = exp::<FMA>(-top) + exp::<FMA>(tail - top) + exp::<FMA>(blend - top);
    let total = top + ln::<FMA>(sum);
    [-total, tail - total, blend - total]
}

/// The logarithm of `e^log_var + s^2`, and the share of the first in it.
#[inline(always)]
fn over_floor<const FMA: bool>(log_var: f64, log_floor: f64) -> (f64, f64) {
    let floor = 2.0 * log_floor;
    let (top, low) = if log_var > floor { (log_var, floor) } else { (floor, log_var) };
    let total = top + ln::<FMA>(1.0 + exp::<FMA>(low - top));
    (total, exp::<FMA>(log_var - total))
}

/// Shares `p_k` into `share`, `log tau` into `log_tau`, the fused mean into `mean`, and the mean of
/// the experts' `log_sd` into `level`.
#[inline(always)]
fn product<const FMA: bool>(
    experts: &ExpertBlock,
    share: &mut [Lanes],
    log_tau: &mut Lanes,
    mean: &mut Lanes,
    level: &mut Lanes,
) {
    let per = 1.0 / experts.experts() as f64;
    *level = Lanes::splat(0.0);
    for log_sd in &experts.log_sd {
        for r in 0..ROWS {
            level[r] = fma::<FMA>(per, log_sd[r], level[r]);
        }
    }
    for (k, t) in share.iter_mut().enumerate() {
        for r in 0..ROWS {
            let log_sd = experts.log_sd[k][r];
            let tempered = fma::<FMA>(experts.temper[r], log_sd - level[r], log_sd);
            t[r] = fma::<FMA>(-2.0, tempered, experts.log_w[k][r]);
        }
    }
    softmax_kernel::<FMA>(share, log_tau);
    *mean = Lanes::splat(0.0);
    for (k, p) in share.iter().enumerate() {
        for r in 0..ROWS {
            mean[r] = fma::<FMA>(p[r], experts.mu[k][r], mean[r]);
        }
    }
}

/// How many standard deviations `y` is from `mean`.
#[inline(always)]
fn distance(y: f64, mean: f64, per_sd: f64) -> f64 {
    ((y - mean) * per_sd).clamp(-FARTHEST_Z, FARTHEST_Z)
}

#[inline(always)]
fn log_density_kernel<const FMA: bool>(
    y: &Lanes,
    experts: &ExpertBlock,
    log_density: &mut Lanes,
    d: &mut ExpertBlock,
) {
    let none = Lanes::splat(0.0);
    let (mut log_tau, mut mean, mut level) = (none, none, none);
    product::<FMA>(experts, &mut d.log_w, &mut log_tau, &mut mean, &mut level);
    let (mut narrow, mut wide, mut top) = (none, none, none);
    // Logarithms: the variance of the product, and the shares of tails and linear pool.
    let (mut log_var, mut tails, mut linear) = (none, none, none);
    let log_count = (experts.experts() as f64).ln();
    for r in 0..ROWS {
        let (log_v, _) = over_floor::<FMA>(-log_tau[r], experts.floor[r]);
        let z = distance(y[r], mean[r], exp::<FMA>(-0.5 * log_v));
        let [a, b, c] = log_shares::<FMA>(experts.tail[r], experts.blend[r]);
        (log_var[r], tails[r], linear[r]) = (log_v, b, c);
        narrow[r] = fma::<FMA>(-0.5 * z, z, a - 0.5 * log_v);
        wide[r] =
            fma::<FMA>(-0.5 / (TAIL_WIDTH * TAIL_WIDTH) * z, z, b - 0.5 * log_v - TAIL_WIDTH.ln());
        top[r] = if narrow[r] > wide[r] { narrow[r] } else { wide[r] };
    }
    for k in 0..experts.experts() {
        let (mu, log_sd, q) = (&experts.mu[k], &experts.log_sd[k], &mut d.mu[k]);
        // Until its derivative takes the place.
        let log_v = &mut d.log_sd[k];
        for r in 0..ROWS {
            (log_v[r], _) = over_floor::<FMA>(2.0 * log_sd[r], experts.floor[r]);
            let z = distance(y[r], mu[r], exp::<FMA>(-0.5 * log_v[r]));
            q[r] = fma::<FMA>(-0.5 * z, z, linear[r] - log_count - 0.5 * log_v[r]);
            top[r] = if q[r] > top[r] { q[r] } else { top[r] };
        }
    }
    // Responsibilities: of the product, its tails, and each expert.
    let mut sum = none;
    for r in 0..ROWS {
        narrow[r] = exp::<FMA>(narrow[r] - top[r]);
        wide[r] = exp::<FMA>(wide[r] - top[r]);
        sum[r] = narrow[r] + wide[r];
    }
    for q in d.mu.iter_mut() {
        for r in 0..ROWS {
            q[r] = exp::<FMA>(q[r] - top[r]);
            sum[r] += q[r];
        }
    }
    let (mut pull, mut push) = (none, none);
    for r in 0..ROWS {
        log_density[r] = top[r] + ln::<FMA>(sum[r]) - HALF_LN_TWO_PI;
        sum[r] = 1.0 / sum[r];
        let (near, far) = (narrow[r] * sum[r], wide[r] * sum[r]);
        let rho = exp::<FMA>(-log_tau[r] - log_var[r]);
        let per_sd = exp::<FMA>(-0.5 * log_var[r]);
        let z = distance(y[r], mean[r], per_sd);
        let f = fma::<FMA>(far, 1.0 / (TAIL_WIDTH * TAIL_WIDTH), near);
        let slope = 0.5 * fma::<FMA>(f * z, z, -(near + far));
        pull[r] = f * z * per_sd;
        push[r] = -rho * slope;
        d.floor[r] = 2.0 * (1.0 - rho) * slope;
        d.tail[r] = far - exp::<FMA>(tails[r]);
        d.blend[r] = 1.0 - near - far - exp::<FMA>(linear[r]);
    }
    d.temper = none;
    let mut all = none;
    for k in 0..experts.experts() {
        let (mu, log_sd) = (&experts.mu[k], &experts.log_sd[k]);
        let (d_mu, d_log_sd, d_log_w) = (&mut d.mu[k], &mut d.log_sd[k], &mut d.log_w[k]);
        for r in 0..ROWS {
            let (p, responsibility) = (d_log_w[r], d_mu[r] * sum[r]);
            let log_v = d_log_sd[r];
            let share = exp::<FMA>(2.0 * log_sd[r] - log_v);
            let per_sd = exp::<FMA>(-0.5 * log_v);
            let z = distance(y[r], mu[r], per_sd);
            let slope = responsibility * fma::<FMA>(z, z, -1.0);
            d_mu[r] = fma::<FMA>(p, pull[r], responsibility * z * per_sd);
            d_log_w[r] = p * fma::<FMA>(pull[r], mu[r] - mean[r], push[r]);
            d_log_sd[r] = fma::<FMA>(share, slope, -2.0 * d_log_w[r]);
            d.floor[r] = fma::<FMA>(1.0 - share, slope, d.floor[r]);
            d.temper[r] = fma::<FMA>(-2.0 * d_log_w[r], log_sd[r] - level[r], d.temper[r]);
            all[r] += d_log_w[r];
        }
    }
    let per = 1.0 / experts.experts() as f64;
    for (d_log_sd, d_log_w) in d.log_sd.iter_mut().zip(&d.log_w) {
        for r in 0..ROWS {
            let apart = d_log_w[r] - per * all[r];
            d_log_sd[r] = fma::<FMA>(-2.0 * experts.temper[r], apart, d_log_sd[r]);
        }
    }
}

vectorised! {
    fn fuse_into = fuse_kernel(experts: &ExpertBlock, share: &mut [Lanes], out: &mut Components);
}

#[inline(always)]
fn fuse_kernel<const FMA: bool>(experts: &ExpertBlock, share: &mut [Lanes], out: &mut Components) {
    let none = Lanes::splat(0.0);
    let (mut log_tau, mut mean, mut level) = (none, none, none);
    product::<FMA>(experts, share, &mut log_tau, &mut mean, &mut level);
    let log_count = (experts.experts() as f64).ln();
    // Each expert's share of the linear pool.
    let mut each = none;
    for r in 0..ROWS {
        let (log_v, _) = over_floor::<FMA>(-log_tau[r], experts.floor[r]);
        let [a, b, c] = log_shares::<FMA>(experts.tail[r], experts.blend[r]);
        let sd = exp::<FMA>(0.5 * log_v);
        (out.log_weight[0][r], out.log_weight[1][r]) = (a, b);
        (out.sd[0][r], out.sd[1][r]) = (sd, TAIL_WIDTH * sd);
        each[r] = c - log_count;
    }
    (out.mean[0], out.mean[1]) = (mean, mean);
    for k in 0..experts.experts() {
        out.mean[2 + k] = experts.mu[k];
        out.log_weight[2 + k] = each;
        let (log_sd, sd) = (&experts.log_sd[k], &mut out.sd[2 + k]);
        for r in 0..ROWS {
            // `sqrt(sd_k^2 + s^2)` by the larger of both, so that no square is out of range.
            let (expert, floor) = (log_sd[r], experts.floor[r]);
            let (top, low) = if expert > floor { (expert, floor) } else { (floor, expert) };
            sd[r] = exp::<FMA>(top) * (1.0 + exp::<FMA>(2.0 * (low - top))).sqrt();
        }
    }
}

pub(super) fn fuse(level: Level, experts: &ExpertBlock, out: &mut Components) {
    let mut share = vec![Lanes::splat(0.0); experts.experts()];
    fuse_into(level, experts, &mut share, out);
}
