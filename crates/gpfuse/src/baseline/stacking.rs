//! Stacking with constant weights: the linear pool that predicts the stacking set best.
//!
//! Maximise `f(w) = 1/n sum_i log sum_k w_k p_k(y_i)` over the simplex (Yao, Vehtari, Simpson and
//! Gelman, Bayesian Analysis 13 (2018) 917-1007). f is concave, and since it grows by `log c`
//! when w is multiplied by c, maximising `f(w) - sum_k w_k` over `w >= 0` gives the same w. That
//! is done by a primal-dual interior-point method (Nocedal and Wright, Numerical Optimization,
//! 2nd edition, chapter 19): with the gradient g and minus the Hessian H of f, slacks s of
//! `1 - g = s` and `w_k s_k = t` with t going to 0, a Newton step solves
//!
//! `(H + diag(s / w)) dw = g - 1 + t / w`, `ds = (t - s dw) / w - s`.
//!
//! At normalised weights `max_k g_k - 1` bounds how far f is from its maximum, so that the
//! result carries its own proof.
//!
//! A Dirichlet prior of w adds `(lambda - 1) sum_k log w_k` to the sum over rows. It is as good as
//! `lambda - 1` more rows for each expert that this expert alone can explain: f stays a mean of
//! logs, and all of the above holds.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

/// Done when f is proved to be this close to its maximum.
const GAP: f64 = 1e-13;
/// Far more than it takes.
const STEPS: usize = 200;
/// The next t, as a part of the present mean of `w_k s_k`.
const CENTRING: f64 = 0.1;
/// How far a step may go towards the boundary.
const STEP_SHARE: f64 = 0.995;

/// The log weights, from the log scores by expert and row.
pub(crate) fn log_weights(log_scores: &[Vec<f64>]) -> Vec<f64> {
    maximise(&densities(log_scores), 0.0).0.iter().map(|w| w.ln()).collect()
}

/// The weights with a Dirichlet prior of concentration `lambda >= 1`, from the log scores by
/// expert and row. Above 1 they are unique: experts that cannot be told apart share alike.
pub(crate) fn weights(log_scores: &[Vec<f64>], lambda: f64) -> Vec<f64> {
    maximise(&densities(log_scores), lambda - 1.0).0
}

/// Densities by row and expert, the largest of each row 1: a factor per row does not move the
/// maximum.
fn densities(log_scores: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let row = |i: usize| {
        let top = log_scores.iter().map(|scores| scores[i]).fold(f64::NEG_INFINITY, f64::max);
        log_scores.iter().map(|scores| (scores[i] - top).exp()).collect()
    };
    (0..log_scores[0].len()).map(row).collect()
}

/// The weights of the maximum with `extra` rows of its own for each expert, and how far f may be
/// from it.
fn maximise(p: &[Vec<f64>], extra: f64) -> (Vec<f64>, f64) {
    let experts = p[0].len();
    let mut w = vec![1.0 / experts as f64; experts];
    let mut s = vec![1.0; experts];
    let mut best = (w.clone(), f64::INFINITY);
    for _ in 0..STEPS {
        let (g, mut h) = derivatives(p, extra, &w);
        let total: f64 = w.iter().sum();
        let gap = g.iter().copied().fold(f64::NEG_INFINITY, f64::max) * total - 1.0;
        if gap < best.1 {
            best = (w.iter().map(|w| w / total).collect(), gap);
        }
        let t = CENTRING * w.iter().zip(&s).map(|(w, s)| w * s).sum::<f64>() / experts as f64;
        if gap <= GAP {
            break;
        }
        (0..experts).for_each(|k| h[(k, k)] += s[k] / w[k]);
        // It fails only where rounding is all that is left to gain.
        let Ok(factor) = h.llt(Side::Lower) else { break };
        let dw = factor.solve(Mat::from_fn(experts, 1, |k, _| g[k] - 1.0 + t / w[k]));
        let dw: Vec<f64> = (0..experts).map(|k| dw[(k, 0)]).collect();
        let ds: Vec<f64> = (0..experts).map(|k| (t - s[k] * dw[k]) / w[k] - s[k]).collect();
        step(&mut w, &dw);
        step(&mut s, &ds);
    }
    best
}

/// The gradient of f and minus its Hessian: the means over rows of `r_k` and of `r_k r_l`, with
/// `r_k = p_k / sum_j w_j p_j`; in a row of its own an expert has `r_k = 1 / w_k`, the others 0.
fn derivatives(p: &[Vec<f64>], extra: f64, w: &[f64]) -> (Vec<f64>, Mat<f64>) {
    let experts = w.len();
    let n = p.len() as f64 + extra * experts as f64;
    let (mut g, mut h) = (vec![0.0; experts], Mat::zeros(experts, experts));
    for p in p {
        let mixture: f64 = p.iter().zip(w).map(|(p, w)| p * w).sum();
        let r: Vec<f64> = p.iter().map(|p| p / mixture).collect();
        for k in 0..experts {
            g[k] += r[k] / n;
            for l in 0..=k {
                h[(k, l)] += r[k] * r[l] / n;
            }
        }
    }
    for k in 0..experts {
        g[k] += extra / w[k] / n;
        h[(k, k)] += extra / (w[k] * w[k]) / n;
    }
    (g, h)
}

/// Go along `d`, not quite to where an entry of `v` becomes 0.
fn step(v: &mut [f64], d: &[f64]) {
    let room = v.iter().zip(d).filter(|(_, d)| **d < 0.0).map(|(v, d)| -v / d);
    let length = room.fold(f64::INFINITY, f64::min);
    let length = (STEP_SHARE * length).min(1.0);
    v.iter_mut().zip(d).for_each(|(v, d)| *v += length * d);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// Many shapes, steep ones and more experts than rows among them; the bound is the proof.
    #[test]
    fn the_maximum_is_reached() {
        let mut worst = 0.0_f64;
        let mut rng = stream(1, Purpose::Simulate, 7);
        for case in 0..400 {
            let (experts, n) = ([1, 2, 3, 5, 12][case % 5], [1, 2, 7, 60, 300][case / 5 % 5]);
            let steep = [0.01, 1.0, 10.0, 1000.0][case / 25 % 4];
            let mut score = || steep * rng.sample::<f64, _>(StandardNormal);
            let scores: Vec<Vec<f64>> =
                (0..experts).map(|_| (0..n).map(|_| score()).collect()).collect();
            let (w, gap) = maximise(&densities(&scores), [0.0, 0.001, 2.0][case / 100 % 3]);
            worst = worst.max(gap);
            assert!(gap <= 1e-10, "{experts} experts, {n} rows, {steep}: {gap:e}");
            assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12 && w.iter().all(|w| *w >= 0.0));
        }
        println!("worst gap {worst:e}");
    }
}
