//! A start of a mixture of experts: a random split of the rows, then a few steps of EM.
//!
//! The first split is by the nearest of K rows, in input and target, with a random weight of the
//! inputs. A step fits each expert's mean by ridge regression with its rows' responsibilities
//! `r_k`, its log sd by their mean square residual or, at last, smoothed log residuals, the gates by
//! a regression of `log(r_k / r_K)`, and then takes new responsibilities, `r_k ~ w_k N(y; mu_k, sd_k)`.
//! The start is a draw given the last of these regressions.

use super::product::LOG_NOISE;
use super::smoother::Smoother;
use super::{Starter, spread, uniform};
use crate::math::ROWS;
use crate::model::Role;

/// Steps of EM.
const EM_STEPS: usize = 20;

/// The last steps have log sds that vary; before, they would hold a bad split fast.
const LAST_STEPS: usize = 5;

/// What no responsibility is below, so that its logarithm is tame.
const SMALLEST_RESPONSIBILITY: f64 = 0.02;

/// The noise of a log ratio of responsibilities about the gate: near that of one 0-1 label, seen
/// through a logit.
const GATE_NOISE: f64 = 2.0;

/// One expert's regressions and what they say at the rows.
struct Part {
    mean: Smoother,
    noise: Smoother,
    /// None for the last expert, whose gate is zero.
    gate: Option<Smoother>,
    mu: Vec<f64>,
    log_sd: Vec<f64>,
    log_w: Vec<f64>,
    share: Vec<f64>,
}

impl Starter {
    /// Replace the coefficients in `q`, whose hyperparameters are set.
    pub(super) fn mixture(&self, q: &mut [f64], normal: &mut dyn FnMut() -> f64) -> Option<()> {
        let (experts, n) = (self.posterior.model().experts(), self.y.len());
        let nearest = self.split(normal);
        let mut parts = Vec::new();
        for k in 0..experts {
            parts.push(Part {
                mean: self.smoother(Role::Mu, k, q)?,
                noise: self.smoother(Role::LogSd, k, q)?,
                gate: if k + 1 < experts { self.smoother(Role::Gate, k, q) } else { None },
                mu: Vec::new(),
                log_sd: vec![(0.3 * spread(&self.y)).max(self.floor()).ln(); n],
                log_w: vec![0.0; n],
                share: nearest.iter().map(|expert| f64::from(*expert == k)).collect(),
            });
        }
        for round in 0..EM_STEPS {
            let last = parts[experts - 1].share.clone();
            for part in &mut parts {
                self.fit(part, &last, round + LAST_STEPS >= EM_STEPS)?;
            }
            self.share_out(&mut parts);
        }
        for (k, part) in parts.iter_mut().enumerate() {
            let Part { mean, noise, gate, .. } = part;
            let all =
                [(Role::Mu, Some(mean)), (Role::LogSd, Some(noise)), (Role::Gate, gate.as_mut())];
            for (role, smoother) in all.into_iter().filter_map(|(role, s)| Some((role, s?))) {
                smoother.draw(normal)?;
                self.put(role, k, smoother.theta(), q);
            }
        }
        Some(())
    }

    /// Which expert each row begins with.
    fn split(&self, normal: &mut dyn FnMut() -> f64) -> Vec<usize> {
        let (rows, n) = (&self.posterior.data().rows, self.y.len());
        let inputs = rows.inputs();
        let column = |i: usize| (0..n).map(move |r| rows.block(r / ROWS)[i][r % ROWS]);
        let mut columns: Vec<Vec<f64>> = (0..inputs).map(|i| column(i).collect()).collect();
        let weight = normal().exp() / (inputs as f64).sqrt();
        columns.push(self.y.clone());
        for (i, column) in columns.iter_mut().enumerate() {
            let factor = if i < inputs { weight } else { 1.0 };
            let scale = factor / spread(column).max(f64::MIN_POSITIVE);
            column.iter_mut().for_each(|v| *v *= scale);
        }
        let pick = |u: f64| ((u * n as f64) as usize).min(n - 1);
        let experts = self.posterior.model().experts();
        let centres: Vec<usize> = (0..experts).map(|_| pick(uniform(normal))).collect();
        let distance =
            |r: usize, c: usize| columns.iter().map(|v| (v[r] - v[c]).powi(2)).sum::<f64>();
        let nearest = |r: usize| {
            let all = centres.iter().map(|c| distance(r, *c)).enumerate();
            all.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k)
        };
        (0..n).map(nearest).collect()
    }

    /// The regressions of one expert, given the responsibilities, and `last` those of the last.
    fn fit(&self, part: &mut Part, last: &[f64], varying: bool) -> Option<()> {
        let Part { mean, noise, gate, mu, log_sd, log_w, share } = part;
        mean.fit(&self.y, |n| share[n].sqrt() * (-log_sd[n]).exp())?;
        *mu = mean.values();
        if varying {
            noise.fit(&self.log_residuals(mu), |n| share[n].sqrt() / LOG_NOISE)?;
            *log_sd = noise.values();
        } else {
            let square = |(n, share): (usize, &f64)| share * (self.y[n] - mu[n]).powi(2);
            let square: f64 = share.iter().enumerate().map(square).sum();
            // An expert without rows keeps the sd that it has.
            let all = share.iter().sum::<f64>();
            if all > 1.0 {
                log_sd.fill((square / all).sqrt().max(self.floor()).ln());
            }
        }
        let Some(gate) = gate else { return Some(()) };
        let ratio = |(share, last): (&f64, &f64)| {
            (share.max(SMALLEST_RESPONSIBILITY) / last.max(SMALLEST_RESPONSIBILITY)).ln()
        };
        let logs: Vec<f64> = share.iter().zip(last).map(ratio).collect();
        gate.fit(&logs, |_| 1.0 / GATE_NOISE)?;
        *log_w = gate.values();
        Some(())
    }

    /// New responsibilities.
    fn share_out(&self, parts: &mut [Part]) {
        for (n, y) in self.y.iter().enumerate() {
            let log = |p: &Part| {
                let z = (y - p.mu[n]) * (-p.log_sd[n]).exp();
                p.log_w[n] - p.log_sd[n] - 0.5 * z * z
            };
            let logs: Vec<f64> = parts.iter().map(log).collect();
            let top = logs.iter().fold(f64::MIN, |a, b| a.max(*b));
            let sum: f64 = logs.iter().map(|l| (l - top).exp()).sum();
            for (part, log) in parts.iter_mut().zip(logs) {
                part.share[n] = (log - top).exp() / sum;
            }
        }
    }
}
