//! Laws of the classical fusion rules.
#![allow(clippy::unwrap_used)]

mod common;

use common::case::normals;
use common::{close, tolerance};
use gpfuse::Predictions;
use gpfuse::baseline::{ENTROPY_FLOOR, Learned, Prior, Rule, StackingSet, TEMPERATURE};
use gpfuse::metrics::evaluate;

const PRIOR: Prior = Prior { mean: 0.4, var: 6.0 };

/// The rules whose result is a mixture of the experts.
const MIXTURES: [Rule; 6] = [
    Rule::LinearPool,
    Rule::Stacking,
    Rule::PseudoBma,
    Rule::PseudoBmaPlus,
    Rule::Bma,
    Rule::BestExpert,
];

/// Experts narrower than the prior, of different skill, and outcomes.
struct Case {
    mean: Vec<Vec<f64>>,
    sd: Vec<Vec<f64>>,
    y: Vec<f64>,
    evidence: Vec<f64>,
}

impl Case {
    fn new(experts: usize, rows: usize, seed: u64) -> Case {
        let mut normal = normals(seed);
        let y: Vec<f64> = (0..rows).map(|_| 1.5 * normal()).collect();
        let mut expert = |k: usize| -> (Vec<f64>, Vec<f64>) {
            let off = 0.3 + 0.3 * k as f64;
            let mean = y.iter().map(|y| y + off * normal()).collect();
            (mean, (0..rows).map(|_| (off * (0.3 * normal()).exp()).min(2.0)).collect())
        };
        let (mean, sd) = (0..experts).map(&mut expert).unzip();
        let evidence = (0..experts).map(|k| -40.0 - 0.7 * k as f64).collect();
        Case { mean, sd, y, evidence }
    }

    fn predictions(&self) -> Predictions {
        Predictions::new(self.mean.clone(), self.sd.clone()).unwrap()
    }

    fn learn(&self, rule: Rule) -> Learned {
        let experts = self.predictions();
        let set = StackingSet::new(&experts, &self.y, PRIOR).unwrap();
        rule.learn(&set.with_evidence(&self.evidence).unwrap().with_seed(5)).unwrap()
    }

    /// The same with its experts in the order `order`.
    fn reordered(&self, order: &[usize]) -> Case {
        let pick = |all: &[Vec<f64>]| order.iter().map(|k| all[*k].clone()).collect();
        let evidence = order.iter().map(|k| self.evidence[*k]).collect();
        Case { mean: pick(&self.mean), sd: pick(&self.sd), y: self.y.clone(), evidence }
    }

    /// `1/n sum_i log sum_k w_k p_k(y_i)`.
    fn stacking_score(&self, weights: &[f64]) -> f64 {
        let density = |i: usize| -> f64 {
            let part = |k: usize| weights[k] * log_normal(self, k, i, self.y[i]).exp();
            (0..weights.len()).map(part).sum()
        };
        (0..self.y.len()).map(|i| density(i).ln()).sum::<f64>() / self.y.len() as f64
    }
}

fn log_normal(case: &Case, k: usize, row: usize, y: f64) -> f64 {
    let (m, s) = (case.mean[k][row], case.sd[k][row]);
    -0.5 * ((y - m) / s).powi(2) - s.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
}

#[test]
fn names_are_read_back() {
    for rule in Rule::ALL {
        assert_eq!(rule.name().parse::<Rule>().unwrap(), rule);
        assert_eq!(serde_json::to_string(&rule).unwrap(), format!("\"{rule}\""));
    }
    assert!("psis".parse::<Rule>().unwrap_err().to_string().contains("linear-pool, poe"));
}

#[test]
fn constant_weights_lie_on_the_simplex() {
    for (experts, rows) in [(1, 1), (2, 1), (3, 40), (6, 15)] {
        let case = Case::new(experts, rows, 1);
        for rule in Rule::ALL {
            let Some(weights) = case.learn(rule).weights() else { continue };
            close(rule.name(), weights.iter().sum(), 1.0, tolerance::LAW);
            assert!(weights.len() == experts && weights.iter().all(|w| *w >= 0.0), "{rule}");
        }
    }
}

#[test]
fn permuting_experts_permutes_weights_and_nothing_else() {
    let (case, order) = (Case::new(4, 30, 2), [2, 0, 3, 1]);
    let moved = case.reordered(&order);
    for rule in Rule::ALL {
        let (a, b) = (case.learn(rule), moved.learn(rule));
        if let (Some(w), Some(v)) = (a.weights(), b.weights()) {
            (0..4).for_each(|k| close(rule.name(), v[k], w[order[k]], tolerance::STACKING));
        }
        let (a, b) = (a.fuse(&case.predictions()).unwrap(), b.fuse(&moved.predictions()).unwrap());
        for row in 0..30 {
            let (a, b) = (a.row(row).unwrap(), b.row(row).unwrap());
            close(rule.name(), b.mean(), a.mean(), tolerance::STACKING);
            close(rule.name(), b.log_density(0.7), a.log_density(0.7), tolerance::STACKING);
        }
    }
}

/// Moments by the law of total variance, and the variance again by quadrature of the density.
#[test]
fn mixtures_keep_the_variance_between_experts() {
    let case = Case::new(3, 25, 3);
    for rule in MIXTURES {
        let learned = case.learn(rule);
        let (w, fused) = (learned.weights().unwrap(), learned.fuse(&case.predictions()).unwrap());
        for row in 0..25 {
            let found = fused.row(row).unwrap();
            let mean: f64 = (0..3).map(|k| w[k] * case.mean[k][row]).sum();
            let within: f64 = (0..3).map(|k| w[k] * case.sd[k][row].powi(2)).sum();
            let between: f64 = (0..3).map(|k| w[k] * (case.mean[k][row] - mean).powi(2)).sum();
            close(rule.name(), found.mean(), mean, tolerance::LAW);
            close(rule.name(), found.variance(), within + between, tolerance::LAW);
            // Equal steps are exact for what falls off as fast as a normal density.
            let step = 0.01;
            let nodes = (-3000..=3000).map(|i| mean + step * f64::from(i));
            let square = |y: f64| (y - mean).powi(2) * found.log_density(y).exp() * step;
            let by_nodes: f64 = nodes.map(square).sum();
            close(rule.name(), found.variance(), by_nodes, tolerance::SCORE);
        }
    }
}

/// The fused density is `prod_k p_k^b_k p_0^(1 - sum b)` up to a constant, for the committees;
/// without the prior for the products.
#[test]
fn products_are_products_of_densities() {
    let case = Case::new(3, 20, 4);
    let log_prior = |y: f64| -0.5 * (y - PRIOR.mean).powi(2) / PRIOR.var;
    for rule in
        [Rule::Poe, Rule::GpoeUniform, Rule::GpoeEntropy, Rule::GpoeSoftmax, Rule::Bcm, Rule::Rbcm]
    {
        let fused = case.learn(rule).fuse(&case.predictions()).unwrap();
        assert_eq!(fused.clamped(), 0);
        for row in 0..20 {
            let vars: Vec<f64> = (0..3).map(|k| case.sd[k][row].powi(2)).collect();
            let mut powers: Vec<f64> = match rule {
                Rule::Poe | Rule::Bcm | Rule::GpoeUniform => vec![1.0; 3],
                Rule::GpoeSoftmax => {
                    vars.iter().map(|v| (-TEMPERATURE * v / PRIOR.var).exp()).collect()
                }
                _ => vars.iter().map(|v| (0.5 * (PRIOR.var / v).ln()).max(ENTROPY_FLOOR)).collect(),
            };
            let total: f64 = powers.iter().sum();
            if matches!(rule, Rule::GpoeUniform | Rule::GpoeEntropy | Rule::GpoeSoftmax) {
                powers.iter_mut().for_each(|b| *b /= total);
            }
            let rest = match rule {
                Rule::Bcm | Rule::Rbcm => 1.0 - total,
                _ => 0.0,
            };
            let product = |y: f64| -> f64 {
                let term = |k: usize| powers[k] * log_normal(&case, k, row, y);
                (0..3).map(term).sum::<f64>() + rest * log_prior(y)
            };
            let density = fused.row(row).unwrap();
            for (a, b) in [(-1.0, 2.0), (0.3, 0.9), (5.0, 0.0)] {
                let found = density.log_density(a) - density.log_density(b);
                close(rule.name(), found, product(a) - product(b), tolerance::SCORE);
            }
        }
    }
}

/// One expert alone is what every rule returns, but the robust committee, which tempers it.
#[test]
fn a_single_expert_is_returned() {
    let case = Case::new(1, 12, 5);
    for rule in Rule::ALL {
        let fused = case.learn(rule).fuse(&case.predictions()).unwrap();
        for row in 0..12 {
            let (found, sd) = (fused.row(row).unwrap(), case.sd[0][row]);
            let (mut mean, mut var) = (case.mean[0][row], sd * sd);
            if rule == Rule::Rbcm {
                let b = 0.5 * (PRIOR.var / var).ln();
                let tau = b / var + (1.0 - b) / PRIOR.var;
                mean = (b * mean / var + (1.0 - b) * PRIOR.mean / PRIOR.var) / tau;
                var = 1.0 / tau;
            }
            close(rule.name(), found.mean(), mean, tolerance::LAW);
            close(rule.name(), found.variance(), var, tolerance::LAW);
        }
    }
}

/// Experts that agree: pools, normalised products and the barycentre return what they say;
/// the product counts it K times, the committees K times beyond the prior.
#[test]
fn equal_experts_have_the_limit_of_each_rule() {
    let one = Case::new(1, 12, 6);
    let case = Case { evidence: vec![-3.0; 4], ..one.reordered(&[0; 4]) };
    for rule in Rule::ALL {
        let learned = case.learn(rule);
        if let Some(weights) = learned.weights().filter(|_| rule != Rule::BestExpert) {
            weights.iter().for_each(|w| close(rule.name(), *w, 0.25, tolerance::LAW));
        }
        let fused = learned.fuse(&case.predictions()).unwrap();
        for row in 0..12 {
            let (mean, var) = (case.mean[0][row], case.sd[0][row].powi(2));
            let b = 0.5 * (PRIOR.var / var).ln();
            let precision = match rule {
                Rule::Poe => 4.0 / var,
                Rule::Bcm => 4.0 / var - 3.0 / PRIOR.var,
                Rule::Rbcm => 4.0 * b / var + (1.0 - 4.0 * b) / PRIOR.var,
                _ => 1.0 / var,
            };
            let found = fused.row(row).unwrap();
            close(rule.name(), found.variance(), 1.0 / precision, tolerance::LAW);
            if !matches!(rule, Rule::Bcm | Rule::Rbcm) {
                close(rule.name(), found.mean(), mean, tolerance::LAW);
            }
        }
    }
}

/// Experts wider than the prior: the committee machine falls back on the prior's precision and
/// says at how many rows, the robust one leaves such experts out.
#[test]
fn wide_experts_are_clamped_and_counted() {
    let wide = Case {
        mean: vec![vec![1.0, 1.0, 5.0], vec![-2.0, 3.0, 0.5]],
        sd: vec![vec![9.0, 0.5, 1e9], vec![3.0, 9.0, 2.5]],
        y: vec![0.0, 1.0, 0.5],
        evidence: vec![0.0, 0.0],
    };
    let bcm = wide.learn(Rule::Bcm).fuse(&wide.predictions()).unwrap();
    // In rows 1 and 3 both experts are wider than the prior.
    assert_eq!(bcm.clamped(), 2);
    for row in [0, 2] {
        close("prior's variance", bcm.row(row).unwrap().variance(), PRIOR.var, tolerance::LAW);
    }
    let rbcm = wide.learn(Rule::Rbcm).fuse(&wide.predictions()).unwrap();
    assert_eq!(rbcm.clamped(), 0);
    close("nothing but the prior", rbcm.row(0).unwrap().mean(), PRIOR.mean, tolerance::LAW);
    for row in 0..3 {
        assert!(rbcm.row(row).unwrap().variance() <= PRIOR.var * (1.0 + tolerance::LAW));
    }
    for rule in Rule::ALL.into_iter().filter(|rule| *rule != Rule::Bcm) {
        assert_eq!(wide.learn(rule).fuse(&wide.predictions()).unwrap().clamped(), 0, "{rule}");
    }
}

#[test]
fn extreme_experts_give_finite_scores() {
    let scales = [1e-12, 1e-6, 1.0, 1e6, 1e12, 1e-75, 1e75];
    let pairs: Vec<(f64, f64)> =
        scales.iter().flat_map(|a| scales.iter().map(|b| (*a, *b))).collect();
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let rows = first.len();
    for mean in [0.0, 1.0, -1e12] {
        let case = Case {
            mean: vec![vec![mean; rows], vec![0.5; rows]],
            sd: vec![first.clone(), second.clone()],
            y: (0..rows).map(|i| i as f64 / rows as f64).collect(),
            evidence: vec![-1e300, 1e300],
        };
        for rule in Rule::ALL {
            let learned = case.learn(rule);
            let fused = learned.fuse(&case.predictions()).unwrap();
            let scores = evaluate(&fused, &case.y, 1).unwrap();
            assert!(scores.losses.iter().flatten().all(|l| l.is_finite()), "{rule}, mean {mean}");
            let weights = learned.weights().unwrap_or_default();
            assert!(weights.iter().all(|w| (0.0..=1.0 + 1e-12).contains(w)), "{rule}: {weights:?}");
        }
    }
}

/// No weights score higher than those of stacking: not another rule's, not an expert alone, not
/// those on the way to it.
#[test]
fn stacking_is_the_best_of_all_constant_weights() {
    for seed in 0..20 {
        let case = Case::new(4, 30, 100 + seed);
        let weights = case.learn(Rule::Stacking).weights().unwrap();
        let best = case.stacking_score(&weights);
        let alone = (0..4).map(|k| (0..4).map(|l| f64::from(k == l)).collect::<Vec<f64>>());
        let others = MIXTURES.iter().filter_map(|rule| case.learn(*rule).weights());
        for other in alone.chain(others) {
            for share in [1.0, 0.1, 1e-3, 1e-5] {
                let between: Vec<f64> =
                    (0..4).map(|k| weights[k] + share * (other[k] - weights[k])).collect();
                assert!(case.stacking_score(&between) <= best + 1e-13, "seed {seed}");
            }
        }
    }
}

/// The softmaxes are what they say; the bootstrap of a single row is no bootstrap.
#[test]
fn averages_weigh_by_their_scores() {
    let case = Case::new(3, 6, 8);
    let total = |k: usize| (0..6).map(|i| log_normal(&case, k, i, case.y[i])).sum::<f64>();
    let pseudo = case.learn(Rule::PseudoBma).weights().unwrap();
    let bma = case.learn(Rule::Bma).weights().unwrap();
    for k in 1..3 {
        let ratio = (pseudo[k] / pseudo[0]).ln();
        close("pseudo-BMA", ratio, total(k) - total(0), tolerance::LAW);
        close("BMA", (bma[k] / bma[0]).ln(), -0.7 * k as f64, tolerance::LAW);
    }
    let plus = case.learn(Rule::PseudoBmaPlus).weights().unwrap();
    assert_eq!(plus, case.learn(Rule::PseudoBmaPlus).weights().unwrap());
    assert!((plus[0] - pseudo[0]).abs() > 1e-3, "the bootstrap moves the weights");
    let single = Case::new(3, 1, 9);
    let [a, b] = [Rule::PseudoBma, Rule::PseudoBmaPlus].map(|r| single.learn(r).weights().unwrap());
    (0..3).for_each(|k| close("one row", b[k], a[k], tolerance::LAW));
}

#[test]
fn bad_input_is_named() {
    let one = || vec![vec![1.0, 2.0], vec![3.0, 4.0]];
    let with = |value: f64| vec![vec![1.0, 2.0], vec![3.0, value]];
    let good = Predictions::new(one(), one()).unwrap();
    let set = || StackingSet::new(&good, &[0.0, 1.0], PRIOR).unwrap();
    let three = Predictions::new(vec![vec![0.0]; 3], vec![vec![1.0]; 3]).unwrap();
    let flat = Prior { mean: 0.0, var: 0.0 };
    let errors = [
        (Predictions::new(with(f64::NAN), one()).unwrap_err(), "expert 2, row 2: mean is NaN"),
        (Predictions::new(one(), with(0.0)).unwrap_err(), "expert 2, row 2: sd is 0"),
        (Predictions::new(one(), with(f64::INFINITY)).unwrap_err(), "sd is inf"),
        (Predictions::new(one(), vec![vec![1.0; 2]]).unwrap_err(), "2 means, 1 sds"),
        (Predictions::new(one(), vec![vec![1.0; 2], vec![1.0]]).unwrap_err(), "2 and 1 rows"),
        (Predictions::new(vec![], vec![]).unwrap_err(), "at least one"),
        (StackingSet::new(&good, &[0.0], PRIOR).unwrap_err(), "expected 2, one per row"),
        (StackingSet::new(&good, &[0.0, f64::NAN], PRIOR).unwrap_err(), "row 2: target is NaN"),
        (StackingSet::new(&good, &[0.0, 1.0], flat).unwrap_err(), "prior of the target"),
        (Prior::of(&[]).unwrap_err(), "prior of the target"),
        (set().with_evidence(&[1.0]).unwrap_err(), "one per expert"),
        (set().with_evidence(&[1.0, f64::NAN]).unwrap_err(), "expert 2: log marginal"),
        (Rule::Bma.learn(&set()).unwrap_err(), "bma needs"),
        (Rule::Poe.learn(&set()).unwrap().fuse(&three).unwrap_err(), "expected 2 experts"),
    ];
    for (error, expected) in errors {
        assert!(error.to_string().contains(expected), "{error}");
    }
}
