//! The continuous ranked probability score of a mixture.

use super::Mixture;
use super::sums;

/// Up to this many components the double sum is the cheapest way.
const PAIRS: usize = 128;

/// Nodes of the Gauss-Kronrod rule G7K15 in `[0, 1]`, with the Kronrod and the Gauss weights
/// (Kronrod 1964; QUADPACK's qk15).
const KRONROD: [(f64, f64, f64); 8] = [
    (0.991_455_371_120_812_6, 0.022_935_322_010_529_224, 0.0),
    (0.949_107_912_342_758_5, 0.063_092_092_629_978_56, 0.129_484_966_168_869_7),
    (0.864_864_423_359_769_1, 0.104_790_010_322_250_19, 0.0),
    (0.741_531_185_599_394_4, 0.140_653_259_715_525_92, 0.279_705_391_489_276_64),
    (0.586_087_235_467_691_1, 0.169_004_726_639_267_9, 0.0),
    (0.405_845_151_377_397_2, 0.190_350_578_064_785_4, 0.381_830_050_505_118_9),
    (0.207_784_955_007_898_47, 0.204_432_940_075_298_9, 0.0),
    (0.0, 0.209_482_141_084_727_82, 0.417_959_183_673_469_4),
];

struct Panel {
    low: f64,
    high: f64,
    integral: f64,
    error: f64,
}

impl Panel {
    fn new(f: &impl Fn(f64) -> f64, low: f64, high: f64) -> Self {
        let (center, half) = (0.5 * (low + high), 0.5 * (high - low));
        let (mut kronrod, mut gauss) = (0.0, 0.0);
        for (x, k, g) in KRONROD {
            let v = if x == 0.0 { f(center) } else { f(center - half * x) + f(center + half * x) };
            kronrod += k * v;
            gauss += g * v;
        }
        Self { low, high, integral: half * kronrod, error: half * (kronrod - gauss).abs() }
    }
}

impl Mixture<'_> {
    /// The continuous ranked probability score of the outcome `y`, in the units of y; smaller
    /// is better. `E|X - y| - E|X - X'|/2` in closed form,
    /// `sum_i w_i A(y - m_i, s_i^2) - 1/2 sum_ij w_i w_j A(m_i - m_j, s_i^2 + s_j^2)` with
    /// `A(m, s^2) = m (2 Phi(m/s) - 1) + 2 s phi(m/s)` (Grimit et al. 2006, Q. J. R. Meteorol.
    /// Soc. 132, 2925). Of many components, the double sum comes from the characteristic
    /// function or, for narrow components far apart, as the integral of `F (1 - F)`; either is
    /// within 1e-10 of its value, and kept for further outcomes.
    pub fn crps(&self, y: f64) -> f64 {
        if y.is_infinite() {
            return f64::INFINITY;
        }
        let half = *self.half_distance.get_or_init(|| {
            // A pass of the double sum costs about as much as an evaluation of F.
            let passes = self.len() / 2;
            let many = self.len() > PAIRS;
            let quick = if many { self.half_distance_spectrum() } else { None };
            quick
                .or_else(|| if many { self.half_distance_integral(passes) } else { None })
                .unwrap_or_else(|| self.half_distance_pairs())
        });
        self.distance(y) - half
    }

    /// The mean distance of a draw from `y`.
    pub(crate) fn distance(&self, y: f64) -> f64 {
        sums::distance_sum(self.level, self.parts(), y)
    }

    /// Half the mean distance of two draws from the characteristic function; None if narrow
    /// components far apart need too fine a grid.
    fn half_distance_spectrum(&self) -> Option<f64> {
        let layers = self.layers();
        let half = || {
            let spectrum = self.spectrum(&layers);
            0.5 * spectrum.distance(&spectrum, &layers)
        };
        layers.enough.then(half)
    }

    /// Half the mean distance of two draws by the double sum.
    fn half_distance_pairs(&self) -> f64 {
        let parts = self.parts();
        let mut sum = 0.0;
        for i in 0..self.len() {
            let before = sums::Parts {
                weight: &parts.weight[..i],
                mean: &parts.mean[..i],
                sd: &parts.sd[..i],
                inv_sd: &parts.inv_sd[..i],
            };
            let distance = sums::pair_sum(self.level, before, self.mean[i], self.sd[i]);
            let with_itself = parts.weight[i] * self.sd[i] / std::f64::consts::PI.sqrt();
            sum += parts.weight[i] * (distance + with_itself);
        }
        sum
    }

    /// Half the mean distance of two draws as the integral of `F (1 - F)`; None if components
    /// of very different widths need more than `most` evaluations.
    fn half_distance_integral(&self, most: usize) -> Option<f64> {
        let f = |y| {
            let cdf = sums::cdf_sum(self.level, self.parts(), y, 1.0);
            cdf * (1.0 - cdf).max(0.0)
        };
        // Beyond 8 standard deviations of every component lies less than 1e-16 of the spread.
        let [low, high] = sums::range(self.level, self.parts(), -8.0, 8.0);
        let (mean, sd) = (self.mean(), self.variance().sqrt());
        let by_moments = [low, mean - 2.0 * sd, mean, mean + 2.0 * sd, high];
        // Where a few wide components lie beside many narrow ones, F may rise between two points of a
        // rule and be the same on both sides: no rule knows what it has not seen. Two that begin at
        // other places must agree.
        let [a, b, c] = self.quantiles(&[0.25, 0.5, 0.75])[..] else { return None };
        let one = adaptive(&f, &by_moments, most)?;
        let other = adaptive(&f, &[low, a, b, c, high], most)?;
        ((one - other).abs() <= 1e-9 * one).then_some(one)
    }
}

/// Gauss-Kronrod quadrature over the panels between `cuts`, the worst one halved until the
/// error of the Gauss rule is 1e-9 of the integral, which leaves the Kronrod rule's well below
/// 1e-10; None after `most` evaluations.
fn adaptive(f: &impl Fn(f64) -> f64, cuts: &[f64], most: usize) -> Option<f64> {
    let ordered = cuts.windows(2).filter(|w| w[0] < w[1]);
    let mut panels: Vec<Panel> = ordered.map(|w| Panel::new(f, w[0], w[1])).collect();
    // Each halving takes two panels of 15 evaluations.
    for _ in 0..most / 30 {
        let integral: f64 = panels.iter().map(|p| p.integral).sum();
        let error: f64 = panels.iter().map(|p| p.error).sum();
        if error <= 1e-9 * integral {
            return Some(integral);
        }
        let worst =
            (0..panels.len()).max_by(|a, b| panels[*a].error.total_cmp(&panels[*b].error))?;
        let Panel { low, high, .. } = panels.swap_remove(worst);
        let middle = 0.5 * (low + high);
        panels.push(Panel::new(f, low, middle));
        panels.push(Panel::new(f, middle, high));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// Components whose widths spread by `exp(spread)`.
    fn random(n: usize, spread: f64, seed: u64) -> Mixture<'static> {
        let mut rng = crate::random::stream(seed, crate::random::Purpose::Predict, 0);
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let log_weight: Vec<f64> = (0..n).map(|_| normal()).collect();
        let mean: Vec<f64> = (0..n).map(|_| normal()).collect();
        let sd: Vec<f64> = (0..n).map(|_| (spread * normal()).exp()).collect();
        Mixture::new(log_weight, mean, sd).unwrap()
    }

    #[test]
    fn all_ways_agree() {
        for (seed, (n, spread)) in
            [(1, 0.0), (2, 1.0), (40, 0.2), (300, 0.2), (700, 0.5), (300, 1.0), (50, 3.0)]
                .into_iter()
                .enumerate()
        {
            let mixture = random(n, spread, seed as u64);
            let pairs = mixture.half_distance_pairs();
            let integral = mixture.half_distance_integral(100_000).unwrap();
            assert!((pairs / integral - 1.0).abs() < 1e-9, "{n} {spread}: {pairs} {integral}");
            let spectrum = mixture.half_distance_spectrum();
            assert!(spectrum.is_some(), "{n} {spread}");
            let error = spectrum.map_or(0.0, |half| (half / pairs - 1.0).abs());
            assert!(error < 1e-11, "{n} {spread}: {error:e}");
        }
    }

    /// Widths of 1e-60 to 1e60 and beyond, also below the rounding of the means.
    #[test]
    fn widths_of_all_sizes_have_a_score() {
        for seed in 0..20 {
            for unit in [1e-60, 1.0, 1e60] {
                let wild = random(300, 60.0, seed);
                let sd: Vec<f64> =
                    wild.sd.iter().map(|sd| (unit * sd).clamp(1e-149, 1e149)).collect();
                let wild = Mixture::new(vec![0.0; 300], wild.mean.to_vec(), sd).unwrap();
                let score = wild.crps(wild.mean());
                let exact = wild.distance(wild.mean()) - wild.half_distance_pairs();
                let error = (score - exact).abs() / wild.distance(wild.mean());
                assert!(error < 1e-9, "{seed} {unit}: {score} {exact}");
                // The rough distances of a Monte Carlo error.
                let layers = wild.layers();
                let spectrum = wild.spectrum(&layers);
                assert!(spectrum.distance(&spectrum, &layers).is_finite(), "{seed} {unit}");
            }
        }
    }

    #[test]
    fn quadrature_is_exact_and_gives_up_when_told() {
        let bump = |x: f64| (-0.5 * x * x).exp();
        let exact = (2.0 * std::f64::consts::PI).sqrt();
        assert!((adaptive(&bump, &[-9.0, 0.3, 9.5], 600).unwrap() / exact - 1.0).abs() < 1e-12);
        // A narrow component makes a step in F.
        let step = |x: f64| bump(x) * (1.0 + 0.5 * (1e3 * x).tanh());
        assert!(adaptive(&step, &[-9.0, 0.3, 9.5], 60).is_none());
    }
}
