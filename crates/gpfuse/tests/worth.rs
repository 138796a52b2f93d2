//! Whether weights depend on the inputs, what a fusion is worth, and the rounding of a target.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use gpfuse::basis::{Basis, Hilbert};
use gpfuse::fit::{GateChoice, Scored};
use gpfuse::infer::{self, ChainDraws, Density, Draws, Stat};
use gpfuse::kernel::Kernel;
use gpfuse::model::{Method, Model, Observed, Posterior, Priors};
use gpfuse::random::{Purpose, stream};
use gpfuse::{Data, FitSettings, Fitted, Predictions, fit};
use rand::RngExt;
use rand_distr::StandardNormal;

const ROWS: usize = 160;

/// Two experts of a noisy wave; the first is off by `left` below 0, the second by `right` above it.
fn stacked(left: f64, right: f64, seed: u64) -> Data {
    let mut rng = stream(seed, Purpose::Simulate, 1);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    let x: Vec<f64> = (0..ROWS).map(|i| 4.0 * i as f64 / ROWS as f64 - 2.0).collect();
    let wave: Vec<f64> = x.iter().map(|x| (2.0 * x).sin()).collect();
    let y = wave.iter().map(|w| w + 0.1 * normal()).collect();
    let off = |by: f64, here: fn(f64) -> bool| -> Vec<f64> {
        let each = x.iter().zip(&wave);
        each.map(|(x, w)| if here(*x) { w + by } else { *w }).collect()
    };
    let mean = vec![off(left, |x| x < 0.0), off(right, |x| x >= 0.0)];
    let said = Predictions::new(mean, vec![vec![0.1; ROWS]; 2]).unwrap();
    let data = Data::new(x, 1).unwrap().with_target(y).unwrap();
    data.with_experts(vec!["a".into(), "b".into()], said).unwrap()
}

fn fused(data: &Data, method: Method, gate: GateChoice) -> Fitted {
    let sampler =
        infer::Settings { chains: 2, warmup: Some(150), draws: Some(100), ..Default::default() };
    fit(data, &FitSettings { method, gate, sampler, ..FitSettings::default() }).unwrap()
}

/// Where each expert is right on one half, weights depend on the input, and that is worth a lot. The seed
/// is fixed, so that chance has no part in it.
#[test]
fn experts_that_are_right_somewhere_get_weights_by_input() {
    let data = stacked(0.5, -0.5, 1);
    for method in [Method::Bhs, Method::Pbhs] {
        let found = fused(&data, method, GateChoice::Auto);
        let worth = found.worth.as_ref().unwrap();
        assert_eq!(worth.fitted().unwrap().what, Scored::ByInput, "{method}");
        assert!(worth.line(&Scored::Constant).unwrap().above > 0.1, "{method}: {worth:?}");
        assert!(worth.best_expert().unwrap().above > 0.1, "{method}: {worth:?}");
        assert!(found.model.basis().features() > 1);
    }
}

/// The fusion that is fitted is the one of the two that predicts rows left out better, every line is that far above
/// it as it says, and asking for one kind of weights gives it.
#[test]
fn the_better_kind_of_weights_is_taken() {
    for seed in 1..4 {
        let data = stacked(0.3, 0.3, seed);
        let found = fused(&data, Method::Pbhs, GateChoice::Auto);
        let worth = found.worth.as_ref().unwrap();
        let fitted = worth.fitted().unwrap();
        for line in &worth.lines {
            assert!((line.above - (line.nlpd - fitted.nlpd)).abs() < 1e-9, "{line:?}");
        }
        let kinds = [Scored::Constant, Scored::ByInput].map(|what| worth.line(&what).unwrap().nlpd);
        assert_eq!(fitted.nlpd, kinds[0].min(kinds[1]));
        assert_eq!(found.model.basis().features() == 1, fitted.what == Scored::Constant);
        for (gate, what) in
            [(GateChoice::Gp, Scored::ByInput), (GateChoice::Constant, Scored::Constant)]
        {
            let asked = fused(&data, Method::Pbhs, gate);
            assert_eq!(asked.worth.unwrap().fitted().unwrap().what, what);
        }
    }
}

/// The logit of linear weights is a line, which rises where the first expert is the better one on the right; and it is
/// what it is worth that is said. The seed is fixed, so that chance has no part in it.
#[test]
fn linear_weights_have_logits_on_a_line() {
    let data = stacked(0.5, -0.5, 1);
    let sampler = infer::Settings { sampler: infer::Sampler::Map, chains: 1, ..Default::default() };
    let (method, gate) = (Method::Bhs, GateChoice::Linear);
    let settings = FitSettings { method, gate, sampler, ..FitSettings::default() };
    let mode = fit(&data, &settings).unwrap();
    let rows = mode.predict(&data).unwrap().weights(0.9).unwrap();
    let logits: Vec<f64> =
        rows.iter().map(|row| (row[0].weight.mean / row[1].weight.mean).ln()).collect();
    let slope = logits[1] - logits[0];
    assert!(slope > 0.01, "{slope}");
    for pair in logits.windows(2) {
        assert!((pair[1] - pair[0] - slope).abs() < 1e-9, "{slope}, {pair:?}");
    }
    for method in [Method::Bhs, Method::Pbhs] {
        let found = fused(&data, method, GateChoice::Linear);
        let worth = found.worth.unwrap();
        assert_eq!(worth.fitted().unwrap().what, Scored::Linear);
        assert!(worth.words().contains("gates that are linear"), "{}", worth.words());
        assert!(worth.line(&Scored::Equal).unwrap().above > 0.1, "{method}: {worth:?}");
    }
}

/// Constant weights do not depend on the input.
#[test]
fn constant_weights_are_constant() {
    let data = stacked(0.5, -0.5, 1);
    let found = fused(&data, Method::Bhs, GateChoice::Constant);
    let prediction = found.predict(&data).unwrap();
    let rows = prediction.weights(0.9).unwrap();
    for k in 0..2 {
        assert!(rows.iter().all(|row| (row[k].weight.mean - rows[0][k].weight.mean).abs() < 1e-12));
    }
}

/// With the rounding of the target in it, the log density still has the gradient it says, and no component of a
/// fused density is narrower than the rounding.
#[test]
fn rounding_is_part_of_the_density_and_its_gradient() {
    let data = stacked(0.5, -0.5, 1);
    let (x, y) = (data.x(), data.y().unwrap());
    let said = data.predictions().unwrap().normal().unwrap();
    let observed = Observed::new(x, 1, y).unwrap().with_given(said.mean(), said.sd()).unwrap();
    let observed = Arc::new(observed);
    let rounding = 0.04;
    for method in [Method::Bhs, Method::Pbhs] {
        let basis = Hilbert::for_data(Kernel::Rbf, x, 1, Some(6), 1.5).unwrap();
        let model = Model::new(method, 2, Basis::Hilbert(basis), Priors::default()).unwrap();
        let model = if method == Method::Pbhs { model.robust() } else { model };
        let model = Arc::new(model.rounded(rounding));
        let mut posterior = Posterior::new(model.clone(), observed.clone()).unwrap();
        let mut rng = stream(5, Purpose::Simulate, 2);
        for _ in 0..20 {
            let q = model.prior_draw(|| rng.sample(StandardNormal));
            let mut grad = vec![0.0; q.len()];
            posterior.logp(&q, &mut grad).unwrap();
            for i in 0..q.len() {
                let mut at = |by: f64| {
                    let (mut q, mut grad) = (q.clone(), vec![0.0; q.len()]);
                    q[i] += by;
                    posterior.logp(&q, &mut grad).unwrap()
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                let room = 1e-5 * (1.0 + slope.abs().max(grad[i].abs()));
                assert!((slope - grad[i]).abs() < room, "{method}, {i}: {slope}, {}", grad[i]);
            }
        }
    }
    // Experts that hit every row with next to no sd: the density stays as wide as the step of a half.
    let whole: Vec<f64> = y.iter().map(|y| (2.0 * y).round() / 2.0).collect();
    let exact = Predictions::new(vec![whole.clone(); 2], vec![vec![1e-6; ROWS]; 2]).unwrap();
    let names = vec!["a".into(), "b".into()];
    let data = Data::new(x.to_vec(), 1).unwrap().with_target(whole).unwrap();
    let data = data.with_experts(names, exact).unwrap();
    for method in [Method::Bhs, Method::Pbhs] {
        let found = fused(&data, method, GateChoice::Auto);
        assert_eq!(found.resolution, Some(0.5));
        let least = 0.5 / 12f64.sqrt();
        let sds = found.predict(&data).unwrap().sd().unwrap();
        assert!(sds.iter().all(|sd| *sd >= least * (1.0 - 1e-9)), "{method}: {sds:?}");
    }
}

/// An expert that is right at every row of a target without a resolution leaves a density that is a number.
#[test]
fn an_expert_that_is_right_everywhere_is_no_trouble() {
    let data = stacked(0.0, 0.0, 1);
    let y = data.y().unwrap().to_vec();
    let exact = Predictions::new(vec![y.clone(); 2], vec![vec![1e-3; ROWS]; 2]).unwrap();
    let data = Data::new(data.x().to_vec(), 1).unwrap().with_target(y).unwrap();
    let data = data.with_experts(vec!["a".into(), "b".into()], exact).unwrap();
    let found = fused(&data, Method::Pbhs, GateChoice::Auto);
    let scores = found.evaluate(&data).unwrap();
    assert!(scores.nlpd.value.is_finite(), "{:?}", scores.nlpd);
}

/// Draws of the posterior agree on which expert is right where, and those of the prior do not: of 100 independent ones
/// the estimate of the share that they agree on, which is 0, has a standard deviation of about 0.02. The seeds are fixed,
/// so that chance has no part in it.
#[test]
fn draws_of_the_prior_agree_on_nothing() {
    let data = stacked(0.5, -0.5, 1);
    let of = |fitted: &Fitted| fitted.weight_effects(&data, &[0], 0.9, 2).unwrap().unwrap();
    for method in [Method::Bhs, Method::Pbhs] {
        let found = fused(&data, method, GateChoice::Gp);
        let known = of(&found);
        assert!(known.agreed > 0.7 && known.spread > 0.2, "{method}: {known:?}");
        // The first expert is off below 0.
        let curve = &known.inputs[0].curves[0];
        assert!(curve[0].mean < 0.35 && curve[curve.len() - 1].mean > 0.65, "{method}: {curve:?}");
        let mut rng = stream(5, Purpose::Simulate, 2);
        let draw = |_| found.model.prior_draw(|| rng.sample(StandardNormal));
        let values = (0..100).flat_map(draw).collect();
        let chain = ChainDraws { values, stats: vec![Stat::default(); 100] };
        let draws = Draws::new(found.model.dim(), 100, vec![chain]).unwrap();
        let unknown = of(&found.with_draws(draws));
        assert!(unknown.agreed < 0.1 && unknown.words().contains("hardly differ"), "{unknown:?}");
    }
    let constant = of(&fused(&data, Method::Pbhs, GateChoice::Constant));
    assert!(constant.constant && constant.words().contains("weights are constant"));
}
