//! The number of experts that is chosen, and what a monitor hears meanwhile.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Mutex;

use gpfuse::infer::{self, Forecast, Monitor, Phase};
use gpfuse::random::{Purpose, stream};
use gpfuse::settings::{Given, Style};
use gpfuse::{Data, FitSettings, Fitted, Method, fit_with};
use rand_distr::{Distribution, StandardNormal};

const ROWS: usize = 120;

/// Rows of one input with `f(x, coin) + 0.1 e`.
fn rows(seed: u64, f: impl Fn(f64, bool) -> f64) -> Data {
    let mut rng = stream(seed, Purpose::Simulate, 0);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let x: Vec<f64> = (0..ROWS).map(|i| 4.0 * i as f64 / ROWS as f64 - 2.0).collect();
    let y = x.iter().map(|x| f(*x, normal() > 0.0) + 0.1 * normal()).collect();
    Data::new(x, 1).unwrap().with_target(y).unwrap()
}

/// Two branches, each row on one of them.
fn branches(seed: u64) -> Data {
    rows(seed, |x, up| if up { 1.0 + 0.3 * x } else { -1.0 + 0.3 * x })
}

fn smooth(seed: u64) -> Data {
    rows(seed, |x, _| (1.5 * x).sin())
}

#[derive(Default)]
struct Heard {
    phases: Mutex<Vec<Phase>>,
    forecasts: Mutex<Vec<Forecast>>,
}

impl Monitor for Heard {
    fn phase(&self, phase: Phase) {
        self.phases.lock().unwrap().push(phase);
    }

    fn wants_forecast(&self) -> bool {
        true
    }

    fn expect(&self, forecast: &Forecast) {
        self.forecasts.lock().unwrap().push(*forecast);
    }
}

fn fitted(data: &Data, method: Method, monitor: &dyn Monitor) -> Fitted {
    let sampler = infer::Settings {
        chains: 2,
        warmup: Some(50),
        draws: Some(50),
        ..infer::Settings::default()
    };
    let settings = FitSettings { method, choose_experts: true, sampler, ..FitSettings::default() };
    fit_with(data, &settings, monitor).unwrap()
}

/// What is chosen for other seeds, for the rates of false failures below: `cargo test --release --test
/// experts_auto -- --ignored --nocapture`. A product has one mode everywhere, so that no number of experts
/// is right for it on two branches.
#[test]
#[ignore = "a study of many seeds"]
fn choices() {
    for seed in 0..8 {
        for (name, data) in [("branches", branches(seed)), ("smooth", smooth(seed))] {
            for method in [Method::Mogpe, Method::Pogpe] {
                let chosen = fitted(&data, method, &infer::Quiet).chosen.unwrap();
                let each = chosen.tried.iter().map(|t| {
                    let sums = [t.behind, t.behind_se.unwrap_or(0.0)].map(|v| v * ROWS as f64);
                    format!("{:.1} ({:.1})", sums[0], sums[1])
                });
                let each = each.collect::<Vec<String>>().join(", ");
                println!("{name} {method} seed {seed}: {}; nats behind: {each}", chosen.experts);
            }
        }
    }
}

/// By `choices`, mogpe takes exactly two experts for each of the seeds 0 to 7, and one is behind by 178 nats
/// with an error below 10: other seeds are not expected to fail.
#[test]
fn two_branches_need_two_experts() {
    let heard = Heard::default();
    let fitted = fitted(&branches(1), Method::Mogpe, &heard);
    let chosen = fitted.chosen.unwrap();
    assert!(chosen.experts >= 2, "{chosen:?}");
    assert_eq!((fitted.settings.experts, fitted.settings.choose_experts), (chosen.experts, false));
    assert_eq!(fitted.model.experts(), chosen.experts);
    assert!(!chosen.tried[0].as_good(), "{chosen:?}");
    let phases = heard.phases.into_inner().unwrap();
    let tried = (1..=chosen.tried.len()).map(Phase::Trying);
    let rest = [Phase::Starts, Phase::Chains, Phase::Judging];
    assert_eq!(phases, tried.chain(rest).collect::<Vec<Phase>>());
    let forecasts = heard.forecasts.into_inner().unwrap();
    // Short runs are not foretold; the others before their starting points are sought, and from these.
    assert_eq!(forecasts.len(), 2);
    assert!(forecasts[0].seconds.is_finite() && forecasts[0].seconds > 0.0);
    let Forecast { chains, warmup, draws, most_draws, parameters, .. } = forecasts[0];
    assert_eq!([chains, warmup, draws, most_draws], [2, 50, 50, 50]);
    assert_eq!(parameters, fitted.model.dim());
}

/// By `choices`, of the seeds 0 to 7 mogpe takes one expert for all, and pogpe for all but seed 1, where three
/// are ahead by 0.9 nats in all with an error of 0.7: about one seed in eight would fail for pogpe. Seed 5 is
/// one of the others.
#[test]
fn one_smooth_function_needs_one() {
    let mixture = fitted(&smooth(1), Method::Mogpe, &infer::Quiet).chosen.unwrap();
    assert_eq!(mixture.experts, 1, "{mixture:?}");
    let fitted = fitted(&smooth(5), Method::Pogpe, &infer::Quiet);
    let chosen = fitted.chosen.unwrap();
    assert_eq!((chosen.experts, chosen.method), (1, Method::Pogpe), "{chosen:?}");
    // One expert has no gate.
    assert_eq!(fitted.settings.method, Method::Het);
}

#[test]
fn auto_is_a_word_of_front_ends() {
    let settle = |pairs: &[(&str, serde_json::Value)]| {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_string(), value.clone()));
        let given = Given::read(pairs, Style::SettingsFile)?;
        given.settle(&FitSettings::default(), &["x".to_string()])
    };
    let auto = settle(&[("experts", "auto".into())]).unwrap().settings;
    assert!(auto.choose_experts);
    let shown = auto.flat(&["x".to_string()]);
    assert!(shown.iter().any(|(s, v)| s.name == "experts" && v == "auto"));
    assert!(!settle(&[("experts", 2.into())]).unwrap().settings.choose_experts);
    assert!(settle(&[("experts", "some".into())]).is_err());
    let stacked = settle(&[("experts", "auto".into()), ("method", "bhs".into())]).unwrap();
    let error = stacked.settings.check().unwrap_err().to_string();
    assert!(error.contains("mogpe") && error.contains("pogpe"), "{error}");
    let het = settle(&[("experts", "auto".into()), ("method", "het".into())]).unwrap();
    assert_eq!(het.unused.len(), 1);
    // What is not chosen is written as before.
    let written = serde_json::to_value(FitSettings::default()).unwrap();
    assert!(written.get("choose_experts").is_none());
}
