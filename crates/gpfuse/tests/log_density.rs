//! Experts by their log density of the target alone.
#![allow(clippy::unwrap_used)]

use gpfuse::fit::Scored;
use gpfuse::infer;
use gpfuse::random::{Purpose, stream};
use gpfuse::{Data, FitSettings, Fitted, LogDensity, Method, Predictions, fit};
use rand::RngExt;
use rand_distr::StandardNormal;

/// `rows` of a noisy wave with two experts, the first right above 0 and the second below.
struct Table {
    x: Vec<f64>,
    y: Vec<f64>,
    mean: Vec<Vec<f64>>,
    sd: Vec<Vec<f64>>,
}

fn table(rows: usize, seed: u64) -> Table {
    let mut rng = stream(seed, Purpose::Simulate, 1);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    let x: Vec<f64> = (0..rows).map(|_| normal()).collect();
    let y = x.iter().map(|x| 5.0 + 3.0 * (2.0 * x).sin() + 0.3 * normal()).collect();
    let wave = |off: f64| {
        move |x: &f64| 5.0 + 3.0 * (2.0 * x).sin() + if off * x > 0.0 { 1.0 } else { 0.0 }
    };
    let mean = vec![x.iter().map(wave(-1.0)).collect(), x.iter().map(wave(1.0)).collect()];
    Table { x, y, mean, sd: vec![vec![0.3; rows], vec![0.4; rows]] }
}

impl Table {
    fn rows(&self) -> Data {
        Data::new(self.x.clone(), 1).unwrap().with_target(self.y.clone()).unwrap()
    }

    fn normal(&self) -> Data {
        let said = Predictions::new(self.mean.clone(), self.sd.clone()).unwrap();
        self.rows().with_experts(names(), said).unwrap()
    }

    /// The log densities of the same experts.
    fn logs(&self) -> Vec<Vec<f64>> {
        let half_log = 0.5 * (2.0 * std::f64::consts::PI).ln();
        let one = |(mean, sd): (&Vec<f64>, &Vec<f64>)| {
            let each = self.y.iter().zip(mean.iter().zip(sd));
            each.map(|(y, (m, s))| -0.5 * ((y - m) / s).powi(2) - s.ln() - half_log).collect()
        };
        self.mean.iter().zip(&self.sd).map(one).collect()
    }

    fn said(&self, logs: Vec<Vec<f64>>) -> Data {
        self.rows().with_experts(names(), LogDensity::new(logs).unwrap()).unwrap()
    }
}

fn names() -> Vec<String> {
    vec!["a".into(), "b".into()]
}

fn fused(data: &Data) -> Fitted {
    let sampler =
        infer::Settings { chains: 2, warmup: Some(100), draws: Some(100), ..Default::default() };
    fit(data, &FitSettings { method: Method::Bhs, sampler, ..FitSettings::default() }).unwrap()
}

fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{a}, {b}");
    }
}

/// A mixture knows no more of normal experts than their log densities: weights, worth and predictions are those of
/// means and sds, and so are the Monte Carlo errors. The seed is fixed.
#[test]
fn normal_experts_by_their_log_density_are_the_same() {
    let (train, test) = (table(90, 1), table(70, 2));
    let [by_mean, by_log] = [train.normal(), train.said(train.logs())].map(|data| fused(&data));
    let weights = |fitted: &Fitted, data: &Data| -> Vec<f64> {
        let all = fitted.predict(data).unwrap().weights(0.9).unwrap();
        all.iter().flatten().flat_map(|e| [e.weight.mean, e.weight.low, e.weight.high]).collect()
    };
    let new = test.said(test.logs());
    let expected = weights(&by_mean, &test.normal());
    assert!(expected.iter().any(|w| *w < 0.2) && expected.iter().any(|w| *w > 0.8));
    close(&weights(&by_log, &new), &expected);
    // They need no more than inputs.
    close(&weights(&by_log, &Data::new(test.x.clone(), 1).unwrap()), &expected);
    let (found, known) = (by_log.worth.as_ref().unwrap(), by_mean.worth.as_ref().unwrap());
    assert_eq!(found.fitted().unwrap().what, Scored::ByInput);
    for (a, b) in found.lines.iter().zip(&known.lines) {
        assert_eq!(a.what, b.what);
        close(&[a.nlpd, a.above, a.se.unwrap()], &[b.nlpd, b.above, b.se.unwrap()]);
    }
    let (a, b) = (by_log.predict(&new).unwrap(), test.normal());
    let b = by_mean.predict(&b).unwrap();
    close(&a.log_density().unwrap(), &b.log_density().unwrap());
    let (a, b) = (a.log_scores().unwrap(), b.evaluate().unwrap());
    assert_eq!(a.rows, 70);
    for (a, b) in [(a.nlpd.value, b.nlpd.value), (a.nlpd.se.unwrap(), b.nlpd.se.unwrap())] {
        close(&[a], &[b]);
    }
    // A difference of small numbers.
    assert!((a.nlpd.mcse.unwrap() - b.nlpd.mcse.unwrap()).abs() < 1e-9);
}

/// Densities that underflow, and experts that hold the target of a row impossible, are no trouble: whoever holds
/// half of the rows impossible is trusted at the others alone.
#[test]
fn what_is_impossible_counts_as_that() {
    let train = table(80, 3);
    let logs = |far: f64| {
        let at = |x: &f64, right: bool| if right == (*x > 0.0) { -1.0 } else { far };
        [true, false].map(|right| train.x.iter().map(|x| at(x, right)).collect()).to_vec()
    };
    for far in [-2000.0, f64::NEG_INFINITY] {
        let fitted = fused(&train.said(logs(far)));
        let new = Data::new(vec![-1.5, 1.5], 1).unwrap();
        let weights = fitted.predict(&new).unwrap().weights(0.9).unwrap();
        assert!(weights[0][1].weight.mean > 0.8 && weights[1][0].weight.mean > 0.8, "{weights:?}");
        let worth = fitted.worth.as_ref().unwrap();
        assert!(worth.lines.iter().all(|line| line.nlpd.is_finite() && line.above.is_finite()));
        let known = new.with_experts(
            names(),
            LogDensity::new(vec![vec![far, -1.0], vec![-1.0, far]]).unwrap(),
        );
        let found = fitted.predict(&known.unwrap()).unwrap().log_density().unwrap();
        assert!(found.iter().all(|log| (-1.3..=-1.0).contains(log)), "{found:?}");
    }
}

/// What log densities cannot tell is refused, with what can be had instead.
#[test]
fn what_cannot_be_known_is_refused() {
    let train = table(40, 4);
    let data = train.said(train.logs());
    let settings = FitSettings { method: Method::Pbhs, ..FitSettings::default() };
    let problem = fit(&data, &settings).unwrap_err().to_string();
    assert!(problem.contains("use bhs"), "{problem}");
    let fitted = fused(&data);
    let rows = Data::new(train.x.clone(), 1).unwrap().with_target(train.y.clone()).unwrap();
    let bare = fitted.predict(&rows).unwrap();
    let full = fitted.predict(&data).unwrap();
    let errors = [
        (full.mean().unwrap_err(), "no mean, sd, quantile or sample"),
        (full.quantiles(&[0.5]).unwrap_err(), "ask for log densities and weights"),
        (full.evaluate().unwrap_err(), "no mean"),
        (fitted.left_out(1).unwrap_err(), "no mean of a row"),
        (
            bare.log_density().unwrap_err(),
            "give what a, b say about these rows, each a log density",
        ),
        (fitted.predict(&train.normal()).unwrap_err(), "said a log density for each row"),
        (fused(&train.normal()).predict(&data).unwrap_err(), "said a mean and an sd"),
    ];
    for (error, words) in errors {
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(fitted.evaluate_experts(&data, 1).unwrap(), []);
    assert_eq!(fitted.log_likelihood().unwrap().len(), 40 * 200);
}
