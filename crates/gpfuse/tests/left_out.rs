//! What a sampled model says about its rows without them, against leave-one-out scores and itself.
#![allow(clippy::unwrap_used)]

use gpfuse::diagnose::{loo, relative_efficiency};
use gpfuse::fit::LeftOut;
use gpfuse::infer;
use gpfuse::model::Method;
use gpfuse::{Data, FitSettings, Fitted, fit};

const ROWS: usize = 30;

fn fitted(method: Method, draws: usize) -> Fitted {
    let x: Vec<f64> = (0..ROWS).map(|i| i as f64 * 0.1).collect();
    let y: Vec<f64> = x.iter().map(|x| 10.0 + 3.0 * (2.0 * x).sin() + (37.0 * x).cos()).collect();
    let data = Data::new(x, 1).unwrap().with_target(y).unwrap();
    let sampler = infer::Settings {
        chains: 2,
        warmup: Some(50),
        draws: Some(draws),
        max_depth: 5,
        candidates: 1,
        start_steps: 10,
        ..Default::default()
    };
    let settings = FitSettings { method, experts: 2, size: Some(6), sampler, ..Default::default() };
    fit(&data, &settings).unwrap()
}

fn close(ours: &[f64], theirs: &[f64], within: f64) {
    assert_eq!(ours.len(), theirs.len());
    let apart = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < within, "{apart}: {ours:?} {theirs:?}");
}

#[test]
fn draws_are_weighted_as_in_leave_one_out_scores() {
    for method in [Method::Het, Method::Mogpe, Method::Pogpe, Method::Bhs, Method::Pbhs] {
        let fitted = fitted(method, 100);
        let LeftOut { mean, sd, pit, khat, good_k } = fitted.left_out(1).unwrap();
        assert!(pit.iter().all(|p| (0.0..=1.0).contains(p)) && pit.iter().any(|p| *p < 0.5));
        let log_lik = fitted.log_likelihood().unwrap();
        let efficiency = relative_efficiency(&log_lik, ROWS, 2, 1).unwrap();
        let scores = loo(&log_lik, ROWS, &efficiency, 1).unwrap();
        close(&khat, &scores.khat, 1e-6);
        assert_eq!(good_k, scores.good_k);
        // In the units of the target, and on any number of threads.
        assert!(mean.iter().all(|m| (5.0..15.0).contains(m)), "{mean:?}");
        assert!(sd.iter().all(|s| (0.1..10.0).contains(s)), "{sd:?}");
        let again = fitted.left_out(2).unwrap();
        assert_eq!((again.mean, again.sd, again.pit, again.khat), (mean, sd, pit, khat));
    }
}

/// Each row pulls the fit towards its target, and is farther from what is said without it.
#[test]
fn rows_are_farther_from_what_is_said_without_them() {
    let fitted = fitted(Method::Het, 200);
    let (within, y) = (fitted.predict(&fitted.data).unwrap().mean().unwrap(), fitted.data.y());
    let left_out = fitted.left_out(1).unwrap().mean;
    let y = y.unwrap();
    let error = |said: &[f64]| said.iter().zip(y).map(|(m, y)| (m - y).abs()).sum::<f64>();
    assert!(error(&left_out) > error(&within));
}

#[test]
fn a_chain_without_weight_says_nothing() {
    let fitted = fitted(Method::Het, 100);
    let first = vec![fitted.draws.chains()[0].clone()];
    let one = fitted.clone().with_draws(infer::Draws::new(fitted.draws.dim(), 100, first).unwrap());
    let weighted = fitted.draws.clone().weighted(&[1.0, 0.0]).unwrap();
    let both = fitted.with_draws(weighted);
    let (one, both) = (one.left_out(1).unwrap(), both.left_out(1).unwrap());
    close(&one.mean, &both.mean, 1e-10);
    close(&one.sd, &both.sd, 1e-10);
    assert_eq!((one.khat.clone(), one.good_k), (both.khat, both.good_k));
}

#[test]
fn what_cannot_be_left_out_is_refused() {
    let few = fitted(Method::Het, 5).left_out(1).unwrap_err().to_string();
    assert!(few.contains("cannot be left out with 10 draws: use more than 10"), "{few}");
    let mut given = fitted(Method::Bhs, 50);
    given.said = None;
    let unknown = given.left_out(1).unwrap_err().to_string();
    assert!(unknown.contains("an earlier version wrote: fit it again"), "{unknown}");
}
