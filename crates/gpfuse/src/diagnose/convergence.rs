//! Convergence diagnostics of Markov chains: R-hat, effective sample sizes, Monte Carlo error
//! and the energy fraction of missing information.
//!
//! Definitions follow Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization,
//! folding, and localization: an improved R-hat for assessing convergence of MCMC", Bayesian
//! Analysis 16 (2021) 667–718 (arXiv:1903.08008), in the form ArviZ 0.23 computes them.
//!
//! Chains are one slice of draws each. No chains, fewer than four draws, unequal lengths or a
//! non-finite draw make every function return NaN. A parameter that never moves has R-hat NaN
//! (0 / 0) and effective sample sizes equal to the number of draws, as in ArviZ: what that
//! means is for the caller to decide.

use crate::math::ndtri;

/// Below four draws a half chain has no variance.
const MIN_DRAWS: usize = 4;
/// A range below this counts as constant; ArviZ's threshold, the decimal resolution of a double.
const RESOLUTION: f64 = 1e-15;

/// Rank-normalised split R-hat, the larger of the bulk and the folded one.
///
/// Each chain is halved, the draws are replaced by normal scores of their pooled ranks, and
/// with `n` draws per half, `W` the mean variance within halves and `B` `n` times the variance
/// of their means, R-hat = √((B / W + n - 1) / n). The folded version does the same to
/// |draw - median|, which reveals chains that differ in scale (Vehtari et al. 2021).
///
/// NaN for a single chain and where all draws are equal; +∞ where every half is stuck at a
/// value of its own.
pub fn rhat(chains: &[&[f64]]) -> f64 {
    let Some(halves) = Halves::of(chains).filter(|_| chains.len() >= 2) else {
        return f64::NAN;
    };
    let bulk = halves.normal_scores().potential_scale_reduction();
    let median = halves.median();
    let folded = halves.map(|x| (x - median).abs()).normal_scores().potential_scale_reduction();
    // Not f64::max: folding a symmetric two-valued parameter leaves a constant, whose NaN must
    // yield to the bulk value, while a NaN bulk must stand.
    if folded > bulk { folded } else { bulk }
}

/// Effective sample size for the bulk: that of the mean of the rank-normalised split chains.
///
/// See [`ess_mean`] for the estimator and [`rhat`] for the normalisation.
pub fn ess_bulk(chains: &[&[f64]]) -> f64 {
    Halves::of(chains).map_or(f64::NAN, |halves| halves.normal_scores().ess())
}

/// Effective sample size for the tails: the smaller of those of the indicators
/// `draw <= q` with `q` the 5 % and the 95 % quantile of all draws (R's type 7).
///
/// See [`ess_mean`] for the estimator.
pub fn ess_tail(chains: &[&[f64]]) -> f64 {
    let Some(halves) = Halves::of(chains) else { return f64::NAN };
    // The quantiles are of all draws, the middle one of an odd chain included.
    let sorted = sorted(&chains.concat());
    let ess_at = |p| {
        let q = quantile(&sorted, p);
        halves.map(|x| f64::from(u8::from(x <= q))).ess()
    };
    let (low, high) = (ess_at(0.05), ess_at(0.95));
    if high < low { high } else { low }
}

/// Effective sample size for the mean, from the split chains as they are.
///
/// With `m` half chains of `n` draws the size is `m n / τ`, where τ = -1 + 2 Σ ρ(t) over the
/// lags of Geyer's initial monotone sequence, at least 1 / log10(m n), and ρ(t) combines the
/// autocovariances of all halves with the variance between them (Vehtari et al. 2021; Geyer,
/// "Practical Markov chain Monte Carlo", Statistical Science 7 (1992) 473–483).
pub fn ess_mean(chains: &[&[f64]]) -> f64 {
    Halves::of(chains).map_or(f64::NAN, |halves| halves.ess())
}

/// Monte Carlo standard error of the mean: the standard deviation of all draws over the square
/// root of [`ess_mean`].
pub fn mcse_mean(chains: &[&[f64]]) -> f64 {
    let ess = ess_mean(chains);
    if ess.is_nan() { f64::NAN } else { (variance(&chains.concat()) / ess).sqrt() }
}

/// Estimated Bayesian fraction of missing information of one chain's energies.
///
/// The mean of (E(i) - E(i-1))² over the sample variance of E (Betancourt, "Diagnosing
/// suboptimal cotangent disintegrations in Hamiltonian Monte Carlo", arXiv:1604.00695); values
/// below about 0.3 point to poor exploration of the energies. NaN for fewer than two energies,
/// constant ones, or a non-finite one.
pub fn ebfmi(energy: &[f64]) -> f64 {
    if energy.len() < 2 || energy.iter().any(|e| !e.is_finite()) {
        return f64::NAN;
    }
    let squares: f64 = energy.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    squares / (energy.len() - 1) as f64 / variance(energy)
}

/// Chains cut in two, so that a drift within a chain shows as a difference between halves.
struct Halves {
    /// The halves one after the other; the middle draw of an odd chain is left out.
    draws: Vec<f64>,
    /// Draws in each half, at least two.
    len: usize,
}

impl Halves {
    /// The halves of valid chains; `None` where no diagnostic is defined.
    fn of(chains: &[&[f64]]) -> Option<Self> {
        let n = chains.first()?.len();
        let valid = |c: &&[f64]| c.len() == n && c.iter().all(|x| x.is_finite());
        if n < MIN_DRAWS || !chains.iter().all(valid) {
            return None;
        }
        let len = n / 2;
        let draws = chains.iter().flat_map(|c| [&c[..len], &c[n - len..]]).flatten().copied();
        Some(Self { draws: draws.collect(), len })
    }

    fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.draws.chunks_exact(self.len)
    }

    fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { draws: self.draws.iter().map(|&x| f(x)).collect(), len: self.len }
    }

    fn median(&self) -> f64 {
        let sorted = sorted(&self.draws);
        // Always even: every chain gives two halves.
        let upper = sorted.len() / 2;
        (sorted[upper - 1] + sorted[upper]) / 2.0
    }

    /// Draws replaced by Φ⁻¹((r - 3/8) / (S + 1/4)), `r` their average rank among all `S`
    /// (Blom 1958).
    fn normal_scores(&self) -> Self {
        let size = self.draws.len();
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_unstable_by(|&i, &j| self.draws[i].total_cmp(&self.draws[j]));
        let mut draws = vec![0.0; size];
        let mut below = 0;
        for tied in order.chunk_by(|&i, &j| self.draws[i] == self.draws[j]) {
            let rank = below as f64 + (tied.len() + 1) as f64 / 2.0;
            let score = ndtri((rank - 0.375) / (size as f64 + 0.25));
            tied.iter().for_each(|&i| draws[i] = score);
            below += tied.len();
        }
        Self { draws, len: self.len }
    }

    /// Plain R-hat of the halves as they are.
    fn potential_scale_reduction(&self) -> f64 {
        let n = self.len as f64;
        let means: Vec<f64> = self.iter().map(mean).collect();
        let variances: Vec<f64> = self.iter().map(variance).collect();
        let (between, within) = (n * variance(&means), mean(&variances));
        ((between / within + n - 1.0) / n).sqrt()
    }

    /// Effective sample size of the mean, see [`ess_mean`].
    fn ess(&self) -> f64 {
        let size = self.draws.len() as f64;
        let (low, high) = self
            .draws
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
        if high - low < RESOLUTION {
            return size;
        }
        let correlations = Correlations::of(self);
        if !correlations.total.is_finite() {
            return f64::NAN;
        }
        // ArviZ's floor: antithetic chains are credited with at most size · log10(size) draws.
        size / correlations.time().max(1.0 / libm::log10(size))
    }
}

/// Autocorrelations of several chains around their common mean.
struct Correlations {
    /// The chains, one after the other, each less its own mean.
    centred: Vec<f64>,
    /// Draws in each chain.
    len: usize,
    /// Mean unbiased variance within the chains.
    within: f64,
    /// The variance of the target, within and between chains.
    total: f64,
}

impl Correlations {
    fn of(halves: &Halves) -> Self {
        let len = halves.len;
        let means: Vec<f64> = halves.iter().map(mean).collect();
        let centred: Vec<f64> =
            halves.iter().zip(&means).flat_map(|(c, m)| c.iter().map(move |x| x - m)).collect();
        let mut correlations = Self { centred, len, within: 0.0, total: 0.0 };
        let biased = correlations.covariance(0);
        correlations.within = biased * len as f64 / (len as f64 - 1.0);
        correlations.total = biased + variance(&means);
        correlations
    }

    /// Mean over the chains of the (biased, hence positive semidefinite) autocovariance.
    fn covariance(&self, lag: usize) -> f64 {
        let products = self.centred.chunks_exact(self.len).map(|c| dot(&c[lag..], c));
        products.sum::<f64>() / self.centred.len() as f64
    }

    fn at(&self, lag: usize) -> f64 {
        1.0 - (self.within - self.covariance(lag)) / self.total
    }

    /// Integrated autocorrelation time τ by Geyer's initial monotone sequence.
    ///
    /// Sums of neighbouring pairs ρ(2k) + ρ(2k+1) are positive and decreasing for a reversible
    /// chain; the sum ends where noise breaks the first property and each pair is capped by
    /// the one before to restore the second. Lags past the end are never computed. Of the pair
    /// that ends the sequence the even lag still counts once, which lowers the bias.
    fn time(&self) -> f64 {
        let (mut even, mut odd) = (1.0, self.at(1));
        let (mut sum, mut cap) = (0.0, f64::INFINITY);
        let mut lag = 1;
        while lag + 3 < self.len && even + odd > 0.0 {
            cap = cap.min(even + odd);
            sum += cap;
            (even, odd) = (self.at(lag + 1), self.at(lag + 2));
            lag += 2;
        }
        let last = if even > 0.0 || even + odd >= 0.0 { even } else { 0.0 };
        -1.0 + 2.0 * sum + last
    }
}

/// Σ a(i) b(i) over the shorter length, in lanes the compiler can vectorise.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let n = a.len().min(b.len());
    let (a, a_rest) = a[..n].as_chunks::<LANES>();
    let (b, b_rest) = b[..n].as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (x, y) in a.iter().zip(b) {
        for k in 0..LANES {
            lanes[k] += x[k] * y[k];
        }
    }
    lanes.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f64>()
}

/// The mean, taken from the first value so that equal values have exactly that mean and no
/// rounding passes for variance.
fn mean(x: &[f64]) -> f64 {
    let Some(&origin) = x.first() else { return f64::NAN };
    origin + x.iter().map(|x| x - origin).sum::<f64>() / x.len() as f64
}

/// Unbiased sample variance.
pub(super) fn variance(x: &[f64]) -> f64 {
    let mean = mean(x);
    x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (x.len() as f64 - 1.0)
}

fn sorted(x: &[f64]) -> Vec<f64> {
    let mut sorted = x.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Type 7 quantile of at least two sorted values.
///
/// The operations are SciPy's `mquantiles` one by one: the indicator `draw <= quantile` turns
/// on the last bit where the quantile falls on a draw.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let n = sorted.len() as f64;
    let position = n * p + (1.0 - p);
    let k = position.clamp(1.0, n - 1.0).floor();
    let gamma = (position - k).clamp(0.0, 1.0);
    let k = k as usize;
    (1.0 - gamma) * sorted[k - 1] + gamma * sorted[k]
}
