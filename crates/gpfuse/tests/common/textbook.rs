//! The models as a textbook states them, row by row and number by number, over [`Dual`]s:
//! slow, plain, and sharing nothing with the library but the names of the choices.

use std::f64::consts::PI;

use gpfuse::basis::eigen::Parts;
use gpfuse::kernel::Kernel;
use gpfuse::model::{Method, Priors};

use super::dual::{Dual, constant};

/// The functions that a GP is a sum of.
#[derive(Debug, Clone)]
pub(crate) enum Functions {
    /// Cosines and sines of these frequencies.
    Rff { omega: Vec<Vec<f64>> },
    /// Products of sines on a box.
    Hilbert { centre: Vec<f64>, half_width: Vec<f64>, sizes: Vec<usize> },
    /// A constant and combinations of covariances with landmarks.
    Eigen(Parts),
}

/// Means and standard deviations of given experts, by expert and row.
pub(crate) type Predictions = (Vec<Vec<f64>>, Vec<Vec<f64>>);

/// A model and its data.
#[derive(Debug, Clone)]
pub(crate) struct Textbook {
    pub(crate) method: Method,
    pub(crate) normalised: bool,
    pub(crate) robust: bool,
    pub(crate) experts: usize,
    pub(crate) kernel: Kernel,
    pub(crate) functions: Functions,
    /// Of the mean that learned experts share, where they share one.
    pub(crate) common: Option<Functions>,
    pub(crate) priors: Priors,
    pub(crate) x: Vec<Vec<f64>>,
    pub(crate) y: Vec<f64>,
    pub(crate) given: Option<Predictions>,
}

/// An expert at one input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expert {
    pub(crate) mu: Dual,
    pub(crate) log_sd: Dual,
    pub(crate) log_w: Dual,
}

/// One GP with its parameters in their natural units.
struct Gp {
    mean: f64,
    ell: Vec<Dual>,
    /// Features' coefficients, scales included.
    coef: Vec<Dual>,
    var: Dual,
}

/// The banks of one point of the sampling space.
pub(crate) struct Banks {
    mu: Vec<Gp>,
    /// The shared mean, if there is one, and what the experts differ by.
    common: Vec<Gp>,
    contrast: Vec<Gp>,
    log_sd: Vec<Gp>,
    gate: Vec<Gp>,
    /// Log scales of the experts, log floor, log odds of tails and linear pool.
    calibration: Vec<Dual>,
    pub(crate) log_prior: Dual,
}

/// The spectral density of a kernel of variance `var`, with its closed form for one and two
/// inputs (for the Matern kernels `2^d pi^(d/2) Gamma(nu + d/2) (2 nu)^nu / Gamma(nu)`, written
/// out).
fn spectral_density(kernel: Kernel, var: Dual, ell: &[Dual], w: &[f64]) -> Dual {
    let scaled: Dual = ell.iter().zip(w).map(|(l, w)| (*l * *w).square()).sum();
    let volume = ell.iter().fold(var, |a, l| a * *l);
    if kernel == Kernel::Rbf {
        let each = (2.0 * PI).sqrt();
        return volume * each.powi(w.len() as i32) * (-(scaled * 0.5)).exp();
    }
    let (df, front) = match (kernel, w.len()) {
        (Kernel::Matern12, 1) => (1.0, 2.0),
        (Kernel::Matern12, 2) => (1.0, 2.0 * PI),
        (Kernel::Matern32, 1) => (3.0, 12.0 * 3.0_f64.sqrt()),
        (Kernel::Matern32, 2) => (3.0, 18.0 * PI * 3.0_f64.sqrt()),
        (Kernel::Matern52, 1) => (5.0, 400.0 / 3.0 * 5.0_f64.sqrt()),
        (Kernel::Matern52, 2) => (5.0, 250.0 * PI * 5.0_f64.sqrt()),
        other => panic!("no closed form for {other:?}"),
    };
    // The power nu + d/2 is a half of df + d, a whole number.
    let root = (constant(df) + scaled).sqrt();
    let power = (0..df as usize + w.len()).fold(constant(1.0), |a, _| a * root);
    volume * front / power
}

impl Functions {
    fn features(&self) -> usize {
        match self {
            Functions::Rff { omega } => 2 * omega.len(),
            Functions::Hilbert { sizes, .. } => sizes.iter().product(),
            Functions::Eigen(parts) => parts.centre.len() + 1,
        }
    }

    /// The indices `j_i = 1..size_i` of a Hilbert function; the last input's runs fastest.
    fn index(sizes: &[usize], j: usize) -> Vec<usize> {
        let after = |i: usize| sizes[i + 1..].iter().product::<usize>();
        (0..sizes.len()).map(|i| j / after(i) % sizes[i] + 1).collect()
    }

    /// The factor of each coefficient.
    fn scales(&self, kernel: Kernel, var: Dual, ell: &[Dual]) -> Vec<Dual> {
        match self {
            Functions::Rff { omega } => {
                vec![(var * (1.0 / omega.len() as f64)).sqrt(); 2 * omega.len()]
            }
            Functions::Hilbert { half_width, sizes, .. } => (0..self.features())
                .map(|j| {
                    let index = Functions::index(sizes, j);
                    let pairs = index.iter().zip(half_width);
                    let w: Vec<f64> = pairs.map(|(j, l)| PI * *j as f64 / (2.0 * l)).collect();
                    spectral_density(kernel, var, ell, &w).sqrt()
                })
                .collect(),
            Functions::Eigen(parts) => {
                let mut scales = vec![var.sqrt(); parts.centre.len() + 1];
                scales[0] = constant(1.0);
                scales
            }
        }
    }

    /// How many lengthscales a GP has.
    fn lengthscales(&self, inputs: usize) -> usize {
        if matches!(self, Functions::Eigen(_)) { 0 } else { inputs }
    }

    /// What GPs vary about.
    fn level(&self) -> f64 {
        if let Functions::Eigen(parts) = self { parts.level } else { 0.0 }
    }

    /// The features of a GP at `x`, without their scales.
    fn at(&self, x: &[f64], gp: &Gp) -> Vec<Dual> {
        let ell = &gp.ell;
        match self {
            // Linear in the inputs.
            Functions::Eigen(parts) if parts.landmarks.is_empty() => {
                let each = x.iter().map(|v| constant(v / (x.len() as f64).sqrt()));
                [constant(1.0)].into_iter().chain(each).collect()
            }
            Functions::Eigen(parts) => {
                let psi = eigenfunctions(parts, x);
                let phi = psi.iter().zip(&parts.centre).map(|(psi, c)| constant(psi - c));
                [constant(1.0)].into_iter().chain(phi).collect()
            }
            Functions::Rff { omega } => {
                let phase = |w: &Vec<f64>| -> Dual {
                    (0..x.len()).map(|i| constant(x[i] * w[i]) / ell[i]).sum()
                };
                let phases: Vec<Dual> = omega.iter().map(phase).collect();
                let sines = phases.iter().map(|a| a.sin());
                phases.iter().map(|a| a.cos()).chain(sines).collect()
            }
            Functions::Hilbert { centre, half_width, sizes } => (0..self.features())
                .map(|j| {
                    let index = Functions::index(sizes, j);
                    let one = |i: usize| {
                        let (l, c) = (half_width[i], centre[i]);
                        let a = PI * index[i] as f64 * (x[i] - c + l) / (2.0 * l);
                        a.sin() / l.sqrt()
                    };
                    constant((0..x.len()).map(one).product())
                })
                .collect(),
        }
    }
}

/// The covariance at a scaled distance.
pub(crate) fn covariance(kernel: Kernel, r: f64) -> f64 {
    match kernel {
        Kernel::Rbf => (-0.5 * r * r).exp(),
        Kernel::Matern12 => (-r).exp(),
        Kernel::Matern32 => (1.0 + 3.0_f64.sqrt() * r) * (-3.0_f64.sqrt() * r).exp(),
        Kernel::Matern52 => {
            (1.0 + 5.0_f64.sqrt() * r + 5.0 / 3.0 * r * r) * (-5.0_f64.sqrt() * r).exp()
        }
    }
}

/// The eigenfunctions at `x`, before they are centred.
pub(crate) fn eigenfunctions(parts: &Parts, x: &[f64]) -> Vec<f64> {
    let (d, ell) = (x.len(), &parts.pilot.ell);
    let landmarks = parts.landmarks.len() / d;
    let mut k = Vec::new();
    for m in 0..landmarks {
        let gap = |i: usize| x[i] / ell[i] - parts.landmarks[m * d + i];
        let r = (0..d).map(|i| gap(i) * gap(i)).sum::<f64>().sqrt();
        k.push(parts.pilot.var * covariance(parts.pilot.kernel, r));
    }
    let one = |j: usize| (0..landmarks).map(|m| parts.projection[j * landmarks + m] * k[m]).sum();
    (0..parts.centre.len()).map(one).collect()
}

/// The variance that eigenfunctions leave out at `x`.
pub(crate) fn left_out(parts: &Parts, x: &[f64]) -> f64 {
    let kept: f64 = eigenfunctions(parts, x).iter().map(|psi| psi * psi).sum();
    (parts.pilot.var - kept).max(0.0)
}

/// Entry (k, i) of Helmert's matrix: column i has the first i + 1 experts against the next one.
fn helmert(k: usize, i: usize) -> f64 {
    let count = (i + 1) as f64;
    let norm = (count + count * count).sqrt();
    match k {
        k if k <= i => 1.0 / norm,
        k if k == i + 1 => -count / norm,
        _ => 0.0,
    }
}

/// Log density of `v ~ HalfNormal(s)` in `q = ln v`, which adds the Jacobian `q`.
fn log_half_normal(q: Dual, s: f64) -> Dual {
    constant((2.0 / (s * (2.0 * PI).sqrt())).ln()) - (q.exp() * (1.0 / s)).square() * 0.5 + q
}

/// Log density of a normal variable.
fn log_normal(y: f64, mu: Dual, log_sd: Dual) -> Dual {
    let z = (constant(y) - mu) / log_sd.exp();
    -(z.square() * 0.5) - log_sd - constant(0.5 * (2.0 * PI).ln())
}

/// `ln sum exp`, with the largest term taken out.
fn log_sum_exp(v: &[Dual]) -> Dual {
    let top = v.iter().map(|v| v.value).fold(f64::NEG_INFINITY, f64::max);
    v.iter().map(|v| (*v - constant(top)).exp()).sum::<Dual>().ln() + constant(top)
}

impl Textbook {
    fn learned(&self) -> bool {
        matches!(self.method, Method::Mogpe | Method::Pogpe | Method::Het)
    }

    fn log_linear(&self) -> bool {
        matches!(self.method, Method::Pbhs | Method::Pogpe)
    }

    fn softmax(&self) -> bool {
        !self.log_linear() || self.normalised
    }

    /// Numbers in a point of the sampling space.
    pub(crate) fn dim(&self) -> usize {
        let gates = if self.softmax() { self.experts - 1 } else { self.experts };
        let functions = if self.learned() { 2 * self.experts } else { 0 };
        let extra = if self.robust { self.experts + 4 } else { 0 };
        let each = |f: &Functions| 1 + f.lengthscales(self.x[0].len()) + f.features();
        // One of the means is the shared one.
        let (shared, common) = self.common.as_ref().map_or((0, 0), |f| (1, each(f)));
        common + (functions + gates - shared) * each(&self.functions) + extra
    }

    /// Read the banks from a point, each as log var, log ell, theta, and add up their priors.
    pub(crate) fn banks(&self, q: &[Dual]) -> Banks {
        let d = self.x[0].len();
        let learned = if self.learned() { self.experts } else { 0 };
        let gates = if self.softmax() { self.experts - 1 } else { self.experts };
        let gate_mean = if self.softmax() { 0.0 } else { -(self.experts as f64).ln() };
        let (mut rest, mut log_prior) = (q, constant(0.0));
        let mut take = |count: usize| {
            let (head, tail) = rest.split_at(count);
            rest = tail;
            head.to_vec()
        };
        let mut bank = |count: usize,
                        mean: f64,
                        prior: gpfuse::model::BankPrior,
                        functions: &Functions|
         -> Vec<Gp> {
            let (d, features) = (functions.lengthscales(d), functions.features());
            let (var, ell, theta) = (take(count), take(count * d), take(count * features));
            for q in &var {
                log_prior = log_prior + log_half_normal(*q, prior.var);
            }
            for q in &ell {
                log_prior = log_prior + log_half_normal(*q, prior.ell);
            }
            for t in &theta {
                log_prior = log_prior + log_normal(0.0, *t, constant(0.0));
            }
            let gp = |k: usize| {
                let ell: Vec<Dual> = ell[k * d..(k + 1) * d].iter().map(|l| l.exp()).collect();
                let scales = functions.scales(self.kernel, var[k].exp(), &ell);
                let theta = &theta[k * features..(k + 1) * features];
                let coef = scales.iter().zip(theta).map(|(s, t)| *s * *t).collect();
                Gp { mean, ell, coef, var: var[k].exp() }
            };
            (0..count).map(gp).collect()
        };
        let (mut mu, mut common, mut contrast) = (Vec::new(), Vec::new(), Vec::new());
        match &self.common {
            Some(functions) => {
                common = bank(1, functions.level(), self.priors.mu, functions);
                contrast = bank(learned - 1, 0.0, self.priors.mu, &self.functions);
            }
            None => mu = bank(learned, 0.0, self.priors.mu, &self.functions),
        }
        let level = self.functions.level();
        let log_sd = bank(learned, level, self.priors.log_sd, &self.functions);
        let mut gate_prior = self.priors.gate;
        if self.robust {
            gate_prior.ell *= 2.0 * (d as f64).sqrt();
        }
        let gate = bank(gates, gate_mean, gate_prior, &self.functions);
        let calibration = rest.to_vec();
        if let [log_scale @ .., floor, tail, blend, temper] = calibration.as_slice() {
            let prior = self.priors.calibration;
            for q in log_scale {
                log_prior = log_prior + log_normal(0.0, *q, constant(prior.scale.ln()));
            }
            log_prior = log_prior + log_half_normal(*floor, prior.floor);
            log_prior = log_prior + log_normal(prior.tail.ln(), *tail, constant(0.0));
            log_prior = log_prior + log_normal(prior.blend.ln(), *blend, constant(1.5_f64.ln()));
            let sd = constant((2.0 * prior.temper).ln());
            log_prior = log_prior + log_normal(prior.temper, *temper, sd);
        }
        let expected = if self.robust { self.experts + 4 } else { 0 };
        assert_eq!(calibration.len(), expected);
        Banks { mu, common, contrast, log_sd, gate, calibration, log_prior }
    }

    /// The experts at `x`; `row` says which prediction of given experts is meant.
    pub(crate) fn experts_at(&self, banks: &Banks, x: &[f64], row: usize) -> Vec<Expert> {
        let on = |functions: &Functions, gp: &Gp| -> Dual {
            let features = functions.at(x, gp);
            let sum: Dual = gp.coef.iter().zip(&features).map(|(c, f)| *c * *f).sum();
            sum + constant(gp.mean)
        };
        let at = |gp: &Gp| on(&self.functions, gp);
        let mut log_w: Vec<Dual> = banks.gate.iter().map(at).collect();
        if self.softmax() {
            log_w.push(constant(0.0));
            let total = log_sum_exp(&log_w);
            log_w.iter_mut().for_each(|w| *w = *w - total);
        }
        let one = |k: usize| match &self.given {
            Some((mean, sd)) => Expert {
                mu: constant(mean[k][row]),
                log_sd: match self.robust {
                    true => constant(sd[k][row].ln()) + banks.calibration[k],
                    false => constant(sd[k][row].ln()),
                },
                log_w: log_w[k],
            },
            None if self.common.is_some() => self.sharing(k, banks, x, log_w[k], &on),
            None => Expert { mu: at(&banks.mu[k]), log_sd: at(&banks.log_sd[k]), log_w: log_w[k] },
        };
        (0..self.experts).map(one).collect()
    }

    /// Expert `k` of those that share a mean: what they differ by is in units of the usual noise `e^level`,
    /// and their noise has what the functions of the mean leave out and a tenth of the usual noise
    /// besides their own.
    fn sharing(
        &self,
        k: usize,
        banks: &Banks,
        x: &[f64],
        log_w: Dual,
        on: &dyn Fn(&Functions, &Gp) -> Dual,
    ) -> Expert {
        let Some(functions @ Functions::Eigen(parts)) = &self.common else {
            panic!("no shared mean")
        };
        let (usual, common) = (self.functions.level().exp(), &banks.common[0]);
        let mut mu = on(functions, common);
        for (i, gp) in banks.contrast.iter().enumerate() {
            mu = mu + on(&self.functions, gp) * (usual * helmert(k, i));
        }
        let own = (on(&self.functions, &banks.log_sd[k]) * 2.0).exp();
        let variance =
            own + common.var * left_out(parts, x) + constant(0.1 * usual * (0.1 * usual));
        Expert { mu, log_sd: variance.ln() * 0.5, log_w }
    }

    /// The fused density as components: weight, mean, standard deviation.
    pub(crate) fn components(&self, banks: &Banks, experts: &[Expert]) -> Vec<[f64; 3]> {
        if self.robust {
            let parts = self.robust_parts(banks, experts).into_iter();
            return parts.map(|[w, m, log_sd]| [w.value, m.value, log_sd.value.exp()]).collect();
        }
        if self.log_linear() {
            let (m, log_tau) = fuse(experts);
            return vec![[1.0, m.value, (-0.5 * log_tau.value).exp()]];
        }
        let one = |e: &Expert| [e.log_w.value.exp(), e.mu.value, e.log_sd.value.exp()];
        experts.iter().map(one).collect()
    }

    /// The robust product: weight, mean and log standard deviation of its components.
    fn robust_parts(&self, banks: &Banks, experts: &[Expert]) -> Vec<[Dual; 3]> {
        let [.., floor, tail, blend, temper] = banks.calibration.as_slice() else {
            panic!("no calibration")
        };
        let level = experts.iter().map(|e| e.log_sd).sum::<Dual>() * (1.0 / experts.len() as f64);
        let tempered = |e: &Expert| {
            let log_sd = e.log_sd + *temper * (e.log_sd - level);
            Expert { log_sd, ..*e }
        };
        let (m, log_tau) = fuse(&experts.iter().map(tempered).collect::<Vec<_>>());
        let over = |variance: Dual| (variance + (*floor * 2.0).exp()).ln() * 0.5;
        let log_sd = over((-log_tau).exp());
        let total = constant(1.0) + tail.exp() + blend.exp();
        let mut parts = vec![
            [constant(1.0) / total, m, log_sd],
            [tail.exp() / total, m, log_sd + constant(4.0_f64.ln())],
        ];
        let each = blend.exp() / total * (1.0 / experts.len() as f64);
        parts.extend(experts.iter().map(|e| [each, e.mu, over((e.log_sd * 2.0).exp())]));
        parts
    }

    /// The log likelihood of each row.
    pub(crate) fn pointwise(&self, banks: &Banks) -> Vec<Dual> {
        let one = |row: usize| {
            let experts = self.experts_at(banks, &self.x[row], row);
            let y = self.y[row];
            if self.robust {
                let parts = self.robust_parts(banks, &experts).into_iter();
                let joint = parts.map(|[w, m, log_sd]| w.ln() + log_normal(y, m, log_sd));
                return log_sum_exp(&joint.collect::<Vec<_>>());
            }
            if self.log_linear() {
                let (m, log_tau) = fuse(&experts);
                return log_normal(y, m, -(log_tau * 0.5));
            }
            let joint = |e: &Expert| e.log_w + log_normal(y, e.mu, e.log_sd);
            log_sum_exp(&experts.iter().map(joint).collect::<Vec<_>>())
        };
        (0..self.y.len()).map(one).collect()
    }

    /// The log joint density of `q` and the data.
    pub(crate) fn log_joint(&self, q: &[Dual]) -> Dual {
        let banks = self.banks(q);
        banks.log_prior + self.pointwise(&banks).into_iter().sum()
    }
}

/// Mean and log precision of the product of the experts' densities, each to its weight.
pub(crate) fn fuse(experts: &[Expert]) -> (Dual, Dual) {
    let tau: Vec<Dual> = experts.iter().map(|e| (e.log_w - e.log_sd * 2.0).exp()).collect();
    let total: Dual = tau.iter().copied().sum();
    let mean: Dual = tau.iter().zip(experts).map(|(t, e)| *t * e.mu).sum();
    (mean / total, total.ln())
}
