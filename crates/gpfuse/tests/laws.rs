//! Laws of the models and pools that hold whatever the numbers are.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::case::{Case, On, Recipe, normals};
use common::dual::constants;
use common::{close, tolerance};
use gpfuse::basis::eigen::{Decomposition, Pilot};
use gpfuse::basis::{Basis, Hilbert};
use gpfuse::infer::{ChainDraws, Density, Draws, Stat};
use gpfuse::kernel::Kernel;
use gpfuse::math::Lanes;
use gpfuse::math::simd::Level;
use gpfuse::model::{Bases, Kind, Method, Model, Observed, Posterior, Priors, Role};
use gpfuse::pool::{ExpertBlock, Pool};
use gpfuse::predict::Predictor;
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed};

/// Few cases and the same ones each time: the laws hold to rounding, so that there is no
/// false-failure rate beyond that of these cases.
fn config() -> ProptestConfig {
    let failures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/laws.proptest-regressions");
    ProptestConfig {
        cases: 32,
        rng_seed: RngSeed::Fixed(20_240),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(failures))),
        ..ProptestConfig::default()
    }
}

fn logp(posterior: &mut Posterior, q: &[f64]) -> (f64, Vec<f64>) {
    let mut grad = vec![0.0; q.len()];
    (posterior.logp(q, &mut grad).unwrap(), grad)
}

fn pointwise(posterior: &mut Posterior, q: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; posterior.rows()];
    posterior.pointwise(q, &mut out);
    out
}

fn log_normal(y: f64, mu: f64, sd: f64) -> f64 {
    let z = (y - mu) / sd;
    -0.5 * z * z - sd.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
}

/// A small model on each of the bases in turn.
fn any_basis(method: Method, seed: u64) -> Recipe {
    let basis = [On::Rff, On::Hilbert, On::Eigen][seed as usize % 3];
    Recipe { basis, ..Recipe::small(method, seed) }
}

/// The parameters with expert `order[k]` in the place of expert k; banks with fewer GPs than
/// experts (a softmax gate) keep what `order` leaves in place.
fn relabelled(model: &Model, q: &[f64], order: &[usize]) -> Vec<f64> {
    let mut out = q.to_vec();
    for part in &model.layout().parts {
        for k in 0..part.count {
            let (to, from) = (part.offset + k * part.width, part.offset + order[k] * part.width);
            out[to..to + part.width].copy_from_slice(&q[from..from + part.width]);
        }
    }
    out
}

/// Experts of one row: mean, log sd, log weight.
fn experts(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<[f64; 3]>> {
    prop::collection::vec([-3.0..3.0, -2.0..2.0, -4.0..4.0], count)
}

/// A block of which every row has these experts.
fn block(experts: &[[f64; 3]]) -> ExpertBlock {
    let mut block = ExpertBlock::new(experts.len());
    for (k, e) in experts.iter().enumerate() {
        block.mu[k] = Lanes::splat(e[0]);
        block.log_sd[k] = Lanes::splat(e[1]);
        block.log_w[k] = Lanes::splat(e[2]);
    }
    block
}

fn log_density(pool: Pool, y: f64, experts: &[[f64; 3]]) -> f64 {
    let mut out: Lanes = Lanes::splat(f64::NAN);
    let mut adjoint = ExpertBlock::new(experts.len());
    pool.log_density(Level::detect(), &Lanes::splat(y), &block(experts), &mut out, &mut adjoint);
    assert!(out.iter().all(|v| *v == out[0]), "equal rows have equal densities");
    out[0]
}

/// Mean and standard deviation of the log-linear pool.
fn fused(experts: &[[f64; 3]]) -> (f64, f64) {
    let mut room = Pool::LogLinear.room(experts.len());
    Pool::LogLinear.fuse(Level::detect(), &block(experts), &mut room);
    assert_eq!(room.log_weight[0][0], 0.0);
    (room.mean[0][0], room.sd[0][0])
}

/// The experts with their weights brought to a sum of one.
fn on_simplex(mut experts: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
    let total: f64 = experts.iter().map(|e| e[2].exp()).sum();
    experts.iter_mut().for_each(|e| e[2] -= total.ln());
    experts
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn permuting_experts_of_a_product_changes_nothing(
        seed in 0_u64..10_000,
        order in Just([0, 1, 2, 3]).prop_shuffle(),
    ) {
        let case = Case::new(Recipe { experts: 4, ..Recipe::small(Method::Pogpe, seed) });
        let (value, grad) = logp(&mut case.posterior(), &case.q);
        let q = relabelled(&case.model, &case.q, &order);
        let (permuted, permuted_grad) = logp(&mut case.posterior(), &q);
        close("log density", permuted, value, tolerance::LAW);
        // The gradient moves with the labels.
        let grad = relabelled(&case.model, &grad, &order);
        for (a, b) in permuted_grad.iter().zip(&grad) {
            close("gradient", *a, *b, tolerance::GRADIENT);
        }
    }

    #[test]
    fn permuting_experts_of_a_mixture_but_the_last_changes_nothing(
        seed in 0_u64..10_000,
        order in Just([0, 1, 2]).prop_shuffle(),
    ) {
        let case = Case::new(Recipe { experts: 4, ..Recipe::small(Method::Mogpe, seed) });
        let order: Vec<usize> = order.into_iter().chain([3]).collect();
        let value = logp(&mut case.posterior(), &case.q).0;
        let q = relabelled(&case.model, &case.q, &order);
        close("log density", logp(&mut case.posterior(), &q).0, value, tolerance::LAW);
    }

    #[test]
    fn permuting_given_experts_with_their_gates_changes_nothing(
        seed in 0_u64..10_000,
        order in Just([0, 1, 2]).prop_shuffle(),
    ) {
        let case = Case::new(any_basis(Method::Pbhs, seed));
        let (mean, sd) = case.textbook.given.clone().unwrap();
        let pick = |v: &[Vec<f64>]| order.iter().map(|k| v[*k].clone()).collect::<Vec<_>>();
        let x = case.textbook.x.concat();
        let data = Observed::new(&x, 1, &case.textbook.y).unwrap();
        let data = data.with_given(&pick(&mean), &pick(&sd)).unwrap();
        let mut other = Posterior::new(case.model.clone(), Arc::new(data)).unwrap();
        let q = relabelled(&case.model, &case.q, &order);
        let value = logp(&mut case.posterior(), &case.q).0;
        close("log density", logp(&mut other, &q).0, value, tolerance::LAW);
    }

    #[test]
    fn equal_experts_are_one_expert_whatever_the_gates(
        seed in 0_u64..10_000,
        product in any::<bool>(),
        mu in -3.0..3.0,
        sd in 0.1..5.0,
        stretch in 0.0..30.0,
    ) {
        let method = if product { Method::Pbhs } else { Method::Bhs };
        let case = Case::new(Recipe { normalised: product, ..any_basis(method, seed) });
        let n = case.textbook.y.len();
        let data = Observed::new(&case.textbook.x.concat(), 1, &case.textbook.y).unwrap();
        let data = data.with_given(&vec![vec![mu; n]; 3], &vec![vec![sd; n]; 3]).unwrap();
        let mut posterior = Posterior::new(case.model.clone(), Arc::new(data)).unwrap();
        let q: Vec<f64> = case.q.iter().map(|v| v.signum() * v.abs().min(2.0) * stretch).collect();
        for (found, y) in pointwise(&mut posterior, &q).iter().zip(&case.textbook.y) {
            close("row", *found, log_normal(*y, mu, sd), tolerance::LAW);
        }
    }

    #[test]
    fn one_stacked_expert_is_that_expert(seed in 0_u64..10_000) {
        let case = Case::new(Recipe { experts: 1, ..any_basis(Method::Bhs, seed) });
        prop_assert_eq!(case.model.dim(), 0);
        let (mean, sd) = case.textbook.given.clone().unwrap();
        let rows = pointwise(&mut case.posterior(), &[]);
        for (r, found) in rows.iter().enumerate() {
            let expected = log_normal(case.textbook.y[r], mean[0][r], sd[0][r]);
            close("row", *found, expected, tolerance::LAW);
        }
        close("total", logp(&mut case.posterior(), &[]).0, rows.iter().sum(), tolerance::LAW);
    }

    #[test]
    fn a_mixture_of_one_learned_expert_is_het(seed in 0_u64..10_000) {
        let mixture = Case::new(Recipe { experts: 1, ..any_basis(Method::Mogpe, seed) });
        let het = Case::new(any_basis(Method::Het, seed));
        prop_assert_eq!(&mixture.q, &het.q);
        let (a, b) = (
            logp(&mut mixture.posterior(), &mixture.q),
            logp(&mut het.posterior(), &het.q),
        );
        prop_assert_eq!(a, b);
    }

    /// So is a product of one whose weight is one: its gate's prior is all that it adds.
    #[test]
    fn a_normalised_product_of_one_learned_expert_is_het(seed in 0_u64..10_000) {
        let recipe = Recipe { experts: 1, normalised: true, ..any_basis(Method::Pogpe, seed) };
        let (product, het) = (Case::new(recipe), Case::new(any_basis(Method::Het, seed)));
        let (a, b) = (
            logp(&mut product.posterior(), &product.q),
            logp(&mut het.posterior(), &het.q),
        );
        close("log density", a.0, b.0, tolerance::LAW);
    }

    #[test]
    fn a_common_factor_of_the_weights_multiplies_the_precision(
        all in experts(1..6),
        c in -20.0..20.0_f64,
        y in -5.0..5.0,
    ) {
        let shifted: Vec<[f64; 3]> = all.iter().map(|e| [e[0], e[1], e[2] + c]).collect();
        let ((m, sd), (m2, sd2)) = (fused(&all), fused(&shifted));
        close("mean", m2, m, tolerance::LAW);
        close("log sd", sd2.ln(), sd.ln() - 0.5 * c, tolerance::LAW);
        // The textbook's precision and mean.
        let tau: Vec<f64> = all.iter().map(|e| (e[2] - 2.0 * e[1]).exp()).collect();
        let total: f64 = tau.iter().sum();
        let mean = tau.iter().zip(&all).map(|(t, e)| t * e[0]).sum::<f64>() / total;
        close("textbook mean", m, mean, tolerance::LAW);
        close("textbook log sd", sd.ln(), -0.5 * total.ln(), tolerance::LAW);
        for (experts, m, sd) in [(&all, m, sd), (&shifted, m2, sd2)] {
            let found = log_density(Pool::LogLinear, y, experts);
            close("log density", found, log_normal(y, m, sd), tolerance::LAW);
        }
    }

    #[test]
    fn experts_without_weight_do_not_count(
        mut all in experts(2..6),
        keep in any::<prop::sample::Index>(),
        lost in 60.0..2000.0_f64,
        y in -5.0..5.0,
    ) {
        let keep = keep.index(all.len());
        for (k, e) in all.iter_mut().enumerate() {
            e[2] = if k == keep { 0.0 } else { -lost };
        }
        let alone = log_normal(y, all[keep][0], all[keep][1].exp());
        // A lost expert still multiplies its weight by the ratio of its density, or precision,
        // to the one kept. Precisions differ by exp(8) at most and densities by exp(4) where
        // the one kept is not itself nothing, so that exp(-60) loses.
        close("product", log_density(Pool::LogLinear, y, &all), alone, tolerance::LAW);
        if alone > -20.0 {
            close("mixture", log_density(Pool::Linear, y, &all), alone, tolerance::LAW);
        }
    }

    #[test]
    fn a_mixture_lies_between_its_experts(all in experts(1..6), y in -8.0..8.0) {
        let all = on_simplex(all);
        let found = log_density(Pool::Linear, y, &all);
        let each = all.iter().map(|e| log_normal(y, e[0], e[1].exp()));
        let low = each.clone().fold(f64::INFINITY, f64::min);
        let high = each.fold(f64::NEG_INFINITY, f64::max);
        let slack = tolerance::LAW * found.abs().max(1.0);
        prop_assert!(low - slack <= found && found <= high + slack, "{low} {found} {high}");
    }

    /// A product of experts lies within the range of the experts' means, and with weights on
    /// the simplex its precision lies within the range of theirs.
    #[test]
    fn a_product_lies_between_its_experts(all in experts(1..6)) {
        let all = on_simplex(all);
        let (m, sd) = fused(&all);
        let range = |i: usize| {
            let v = all.iter().map(move |e| e[i]);
            (v.clone().fold(f64::INFINITY, f64::min), v.fold(f64::NEG_INFINITY, f64::max))
        };
        let ((a, b), (c, d)) = (range(0), range(1));
        prop_assert!(a - tolerance::LAW <= m && m <= b + tolerance::LAW);
        prop_assert!(c - tolerance::LAW <= sd.ln() && sd.ln() <= d + tolerance::LAW);
    }

    /// Averaged over draws, and in every draw; the mixture then normalises nothing away.
    #[test]
    fn weights_on_the_simplex_sum_to_one(seed in 0_u64..10_000, stretch in 0.1..100.0) {
        for (method, normalised) in
            [(Method::Bhs, false), (Method::Mogpe, false), (Method::Pbhs, true), (Method::Pogpe, true)]
        {
            let case = Case::new(Recipe { normalised, rows: 9, ..any_basis(method, seed) });
            // Gates may be as steep as they like.
            let mut steep = case.q.clone();
            let parts = case.model.layout().parts.iter();
            for part in parts.filter(|p| p.role == Some(Role::Gate) && p.kind == Kind::Theta) {
                let range = part.offset..part.offset + part.count * part.width;
                steep[range].iter_mut().for_each(|t| *t *= stretch);
            }
            let chain = ChainDraws {
                values: [&case.q[..], &steep].concat(),
                stats: vec![Stat::default(); 2],
            };
            let draws = Draws::new(case.model.dim(), 2, vec![chain]).unwrap();
            let predictor = Predictor::new(case.model.clone(), &draws, Affine::IDENTITY);
            let given = case.given();
            let rows = &case.data.rows;
            let experts = predictor.experts(rows, given.as_ref(), 0.5, 1).unwrap();
            for row in experts.chunks(case.model.experts()) {
                let total: f64 = row.iter().map(|e| e.weight.mean).sum();
                close("weights", total, 1.0, tolerance::LAW);
            }
            for block in predictor.fused(rows, given.as_ref(), 1, |b| {
                (0..b.len()).map(|r| b.row(r).unwrap().cdf(1e140)).collect::<Vec<f64>>()
            }).unwrap() {
                block.iter().for_each(|p| close("mass", *p, 1.0, tolerance::LAW));
            }
        }
    }

    #[test]
    fn predictions_are_averages_over_draws(
        seed in 0_u64..10_000,
        shift in -10.0..10.0,
        scale in 0.1..10.0,
    ) {
        for method in Method::SAMPLED {
            // More rows than a block holds.
            let case = Case::new(Recipe { rows: 70, ..any_basis(method, seed) });
            let (dim, per_chain) = (case.model.dim(), 3);
            let mut normal = normals(seed + 1);
            let chain = |_| ChainDraws {
                values: (0..per_chain * dim).map(|_| 0.6 * normal()).collect(),
                stats: vec![Stat::default(); per_chain],
            };
            let draws = Draws::new(dim, per_chain, (0..2).map(chain).collect()).unwrap();
            let predictor = Predictor::new(case.model.clone(), &draws, Affine { shift, scale });
            let given = case.given();
            let blocks = predictor.fused(&case.data.rows, given.as_ref(), 2, |b| {
                let row = |r: usize| {
                    let m = b.row(r).unwrap();
                    [m.mean(), m.variance(), m.log_density(shift), m.cdf(shift)]
                };
                (0..b.len()).map(row).collect::<Vec<_>>()
            });
            let found: Vec<[f64; 4]> = blocks.unwrap().concat();
            prop_assert_eq!(found.len(), 70);
            let book = &case.textbook;
            let banks: Vec<_> = draws.iter().map(|q| book.banks(&constants(q))).collect();
            for (row, found) in found.iter().enumerate() {
                let (mut first, mut second, mut density) = (0.0, 0.0, 0.0);
                for banks in &banks {
                    let experts = book.experts_at(banks, &book.x[row], row);
                    for [w, m, sd] in book.components(banks, &experts) {
                        let (m, sd, w) = (shift + scale * m, scale * sd, w / draws.len() as f64);
                        first += w * (m - shift);
                        second += w * ((m - shift).powi(2) + sd * sd);
                        density += w * log_normal(shift, m, sd).exp();
                    }
                }
                close("mean", found[0], shift + first, tolerance::SCORE);
                close("variance", found[1], second - first * first, tolerance::SCORE);
                close("log density", found[2], density.ln(), tolerance::SCORE);
                prop_assert!((0.0..=1.0).contains(&found[3]));
            }
        }
    }
}

/// The likelihood is a sum over rows, whether features are kept (up to 2^18 numbers) or made
/// anew per block.
#[test]
fn rows_add_up_with_and_without_a_cache() {
    let functions = 60;
    let n = 5000;
    assert!(n * functions > 1 << 18 && n * 3 / 4 * functions < 1 << 18);
    let basis = Hilbert::new(Kernel::Matern32, vec![0.0], vec![4.0], vec![functions]).unwrap();
    rows_add_up(Basis::Hilbert(basis), n);
}

/// So many eigenfunctions that a reverse pass takes two blocks, and what they leave out.
#[test]
fn rows_add_up_on_eigenfunctions() {
    let mut normal = normals(4);
    let x: Vec<f64> = (0..450).map(|_| normal()).collect();
    let (rows, all) = (Rows::new(&x, 1).unwrap(), (0..450).collect::<Vec<_>>());
    let eigen = |kernel: Kernel, functions: usize| {
        let pilot = Pilot { kernel, var: 1.3, ell: vec![0.4] };
        let found = Decomposition::new(pilot, &rows, &all).unwrap().leading(functions, -0.4);
        assert_eq!(found.functions(), functions);
        Basis::Eigen(found)
    };
    let common = eigen(Kernel::Matern12, 400);
    assert_eq!(common.span(), 2);
    rows_add_up(Bases { common: Some(common), others: eigen(Kernel::Matern52, 9) }, 1100);
}

/// With rows in four parts, `f(all) + f(A) = f(all but B) + f(A and B)`.
fn rows_add_up(bases: impl Into<Bases>, n: usize) {
    let model = Arc::new(Model::new(Method::Pogpe, 2, bases, Priors::default()).unwrap());
    let mut normal = normals(3);
    let x: Vec<f64> = (0..n).map(|_| normal().clamp(-3.5, 3.5)).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin() + 0.3 * normal()).collect();
    let q: Vec<f64> = (0..model.dim()).map(|_| 0.4 * normal()).collect();
    // Quarter A is the first, B the last two.
    let value = |keep: &dyn Fn(usize) -> bool| {
        let pick = |v: &[f64]| (0..n).filter(|i| keep(*i)).map(|i| v[i]).collect::<Vec<f64>>();
        let data = Arc::new(Observed::new(&pick(&x), 1, &pick(&y)).unwrap());
        logp(&mut Posterior::new(model.clone(), data).unwrap(), &q)
    };
    let quarter = |i: usize| 4 * i / n;
    let all = value(&|_| true);
    let a = value(&|i| quarter(i) == 0);
    let not_b = value(&|i| quarter(i) < 2);
    let a_and_b = value(&|i| quarter(i) != 1);
    close("log density", all.0 + a.0, not_b.0 + a_and_b.0, tolerance::LAW);
    for i in 0..q.len() {
        close("gradient", all.1[i] + a.1[i], not_b.1[i] + a_and_b.1[i], tolerance::GRADIENT);
    }
}
