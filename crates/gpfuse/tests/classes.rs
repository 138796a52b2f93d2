//! Experts by their probabilities of classes.
#![allow(clippy::unwrap_used)]

use gpfuse::infer::{self, Sampler};
use gpfuse::random::{Purpose, stream};
use gpfuse::scale::Scaling;
use gpfuse::{Classes, Data, FitSettings, Fitted, LogDensity, Method, fit};
use rand::RngExt;

const CLASSES: usize = 3;

/// Rows of three classes with two experts, the first knowing above 0 and the second below; what they say by expert,
/// class and row.
fn table(rows: usize, seed: u64) -> (Vec<f64>, Vec<f64>, Vec<Vec<f64>>) {
    let mut rng = stream(seed, Purpose::Simulate, 2);
    let mut uniform = || rng.random::<f64>();
    let x: Vec<f64> = (0..rows).map(|_| 4.0 * uniform() - 2.0).collect();
    let y: Vec<f64> = (0..rows).map(|_| (3.0 * uniform()).floor()).collect();
    let mut said = vec![Vec::new(); 2 * CLASSES];
    for (x, y) in x.iter().zip(&y) {
        for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
            let sure = 0.3 + 0.5 * uniform();
            for c in 0..CLASSES {
                let knows = if c as f64 == *y { sure } else { 0.5 * (1.0 - sure) };
                said[k * CLASSES + c].push(if sign * x > 0.0 { knows } else { 1.0 / 3.0 });
            }
        }
    }
    (x, y, said)
}

fn rows(x: &[f64], y: &[f64]) -> Data {
    Data::new(x.to_vec(), 1).unwrap().with_target(y.to_vec()).unwrap()
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(ToString::to_string).collect()
}

fn data(x: &[f64], y: &[f64], said: &[Vec<f64>]) -> Data {
    let classes = Classes::new(names(&["red", "green", "blue"]), said).unwrap();
    rows(x, y).with_experts(names(&["a", "b"]), classes).unwrap()
}

fn fused(data: &Data, method: Method, sampler: Sampler) -> Fitted {
    let sampler = infer::Settings {
        sampler,
        chains: 2,
        warmup: Some(100),
        draws: Some(100),
        ..Default::default()
    };
    let scaling = Scaling::None;
    fit(data, &FitSettings { method, sampler, scaling, ..FitSettings::default() }).unwrap()
}

/// A mixture learns the same from the probabilities of all classes as from the log probability of the target. The seed
/// is fixed.
#[test]
fn a_mixture_of_classes_is_one_of_log_densities() {
    let (x, y, said) = table(80, 1);
    let log = |k: usize| {
        y.iter().enumerate().map(|(r, c)| said[k * CLASSES + *c as usize][r].ln()).collect()
    };
    let logs = LogDensity::new(vec![log(0), log(1)]).unwrap();
    let by_log = rows(&x, &y).with_experts(names(&["a", "b"]), logs).unwrap();
    let by_class = data(&x, &y, &said);
    let [a, b] = [&by_class, &by_log].map(|data| fused(data, Method::Bhs, Sampler::Nuts));
    let weights = |fitted: &Fitted, data: &Data| -> Vec<f64> {
        let all = fitted.predict(data).unwrap().weights(0.9).unwrap();
        all.iter().flatten().map(|e| e.weight.mean).collect()
    };
    for (a, b) in weights(&a, &by_class).iter().zip(weights(&b, &by_log)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    let [a, b] = [a.predict(&by_class).unwrap(), b.predict(&by_log).unwrap()];
    for (a, b) in a.log_density().unwrap().iter().zip(b.log_density().unwrap()) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

/// At one point in the place of draws, probabilities of all classes are those of the pool at the weights there, sum to
/// one, and are what the log likelihood and the scores are made of.
#[test]
fn probabilities_are_those_of_the_pool() {
    let (x, y, mut said) = table(60, 2);
    // A veto of an expert that counts.
    for c in 0..CLASSES {
        said[c][0] = f64::from(c == 0);
    }
    for method in [Method::Bhs, Method::Pbhs] {
        let data = data(&x, &y, &said);
        let fitted = fused(&data, method, Sampler::Map);
        let found = fitted.predict(&data).unwrap();
        let log_p = found.outcomes().unwrap().log_p();
        let weights = found.weights(0.9).unwrap();
        let seen = fitted.log_likelihood().unwrap();
        let (mut nlpd, mut brier, mut right) = (0.0, 0.0, 0.0);
        for row in 0..60 {
            let w: Vec<f64> = weights[row].iter().map(|e| e.weight.mean).collect();
            let least = if method == Method::Bhs { 1e-15_f64 } else { 0.01 / 3.0 };
            let raised = |k: usize| -> Vec<f64> {
                let own = (0..CLASSES).map(|c| said[k * CLASSES + c][row].max(least));
                let sum: f64 = own.clone().sum();
                own.map(|p| p / sum).collect()
            };
            let (a, b) = (raised(0), raised(1));
            let pooled: Vec<f64> = (0..CLASSES)
                .map(|c| match method {
                    Method::Bhs => w[0] * a[c] + w[1] * b[c],
                    _ => a[c].powf(w[0]) * b[c].powf(w[1]),
                })
                .collect();
            let total: f64 = pooled.iter().sum();
            let p: Vec<f64> = pooled.iter().map(|p| p / total).collect();
            for (p, found) in p.iter().zip(&log_p[row * CLASSES..]) {
                assert!(
                    (p - found.exp()).abs() < 1e-12,
                    "{method}, row {row}: {p} {}",
                    found.exp()
                );
            }
            let own = y[row] as usize;
            assert!((seen[row] - p[own].ln()).abs() < 1e-9, "{method}, row {row}");
            nlpd -= p[own].ln() / 60.0;
            brier += (0..CLASSES).map(|c| (p[c] - f64::from(c == own)).powi(2)).sum::<f64>() / 60.0;
            right += f64::from(p.iter().all(|p| *p <= p_of(&log_p, row, own))) / 60.0;
        }
        let scores = found.log_scores().unwrap();
        for (score, book) in
            [(scores.nlpd, nlpd), (scores.brier.unwrap(), brier), (scores.accuracy.unwrap(), right)]
        {
            assert!((score.value - book).abs() < 1e-9, "{method}: {} {book}", score.value);
        }
    }
}

fn p_of(log_p: &[f64], row: usize, class: usize) -> f64 {
    log_p[row * CLASSES + class].exp() * (1.0 + 1e-12)
}

/// Each expert counts where it knows, and the fusion beats both. The seed is fixed.
#[test]
fn experts_count_where_they_know() {
    let (x, y, said) = table(200, 3);
    for method in [Method::Bhs, Method::Pbhs] {
        let fitted = fused(&data(&x, &y, &said), method, Sampler::Nuts);
        let worth = fitted.worth.as_ref().unwrap();
        assert!(worth.best_expert().unwrap().above > 0.1, "{method}: {}", worth.words());
        // Weights need no more than inputs. In a product an expert without an opinion does no harm, whatever its
        // weight.
        let at = Data::new(vec![-1.5, 1.5], 1).unwrap();
        let found = fitted.predict(&at).unwrap().weights(0.9).unwrap();
        let share = |row: usize| found[row][0].weight.mean - found[row][1].weight.mean;
        assert!(method == Method::Pbhs || (share(0) < -0.5 && share(1) > 0.5), "{found:?}");
        let all = fitted.predict(&at).unwrap().outcomes().unwrap_err().to_string();
        assert!(
            all.contains("give what a, b say about these rows, each a probability of each class"),
            "{all}"
        );
    }
}

#[test]
fn what_cannot_be_fused_has_words() {
    let (x, mut y, said) = table(40, 4);
    let good = data(&x, &y, &said);
    let fitted = fused(&good, Method::Pbhs, Sampler::Map);
    assert!(fitted.says_outcomes());
    y[4] = 3.0;
    let odd = data(&x, &y, &said);
    let words = "row 5: the target is 3: it must be the number of a class, from 0 to 2";
    let settings = |method| FitSettings { method, ..FitSettings::default() };
    for found in [
        fit(&odd, &settings(Method::Pbhs)).unwrap_err(),
        fitted.predict(&odd).unwrap().log_scores().unwrap_err(),
    ] {
        assert!(found.to_string().contains(words), "{found}");
    }
    let found = fit(&good, &settings(Method::Rbcm)).unwrap_err().to_string();
    assert!(found.contains("use bhs"), "{found}");
    let found = fitted.predict(&good).unwrap().mean().unwrap_err().to_string();
    assert!(found.contains("no mean, sd, quantile or sample"), "{found}");
    let others = Classes::new(names(&["red", "blue", "green"]), &said).unwrap();
    let others = rows(&x, &[0.0; 40]).with_experts(names(&["a", "b"]), others).unwrap();
    let found = fitted.predict(&others).unwrap_err().to_string();
    assert!(
        found.contains("the classes are red, blue, green") && found.contains("red, green, blue"),
        "{found}"
    );
}
