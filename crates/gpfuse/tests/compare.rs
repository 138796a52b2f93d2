//! Laws of a comparison: what it does not depend on, and what each entry must hold.
#![allow(clippy::unwrap_used)]

use gpfuse::baseline::{Prior, Rule, StackingSet};
use gpfuse::compare::{Audience, Comparison, Contestant, Scored, compare};
use gpfuse::diagnose::Combine;
use gpfuse::experts::{self, Assignment, Partition};
use gpfuse::fit::{CheckedFit, FitSettings, fit};
use gpfuse::infer::{self, Monitor, Quiet};
use gpfuse::model::Method;
use gpfuse::random::{Purpose, stream};
use gpfuse::{Data, Predictions, Result};
use rand::RngExt;
use rand_distr::StandardNormal;

const ROWS: usize = 40;

/// Short chains: the laws hold for any.
fn settings(experts: usize) -> CheckedFit {
    let sampler = infer::Settings {
        chains: 2,
        warmup: Some(50),
        draws: Some(50),
        max_depth: 4,
        candidates: 1,
        start_steps: 10,
        ..Default::default()
    };
    let (partition, hold_out) = (Partition::Random, Some(0.5));
    let expert = experts::Settings { partition, hold_out, ..Default::default() };
    FitSettings { experts, expert, size: Some(6), sampler, ..Default::default() }.check().unwrap()
}

fn normals(seed: u64) -> impl FnMut() -> f64 {
    let mut rng = stream(seed, Purpose::Simulate, 1);
    move || rng.sample(StandardNormal)
}

fn data(x: &[f64], y: &[f64]) -> Result<Data> {
    Data::new(x.to_vec(), 1)?.with_target(y.to_vec())
}

/// A noisy wave, in a unit of the target.
fn rows(seed: u64, unit: f64) -> Data {
    let mut normal = normals(seed);
    let x: Vec<f64> = (0..ROWS).map(|i| i as f64 * 0.1).collect();
    let y: Vec<f64> = x.iter().map(|x| unit * ((2.0 * x).sin() + 0.2 * normal())).collect();
    data(&x, &y).unwrap()
}

fn run(
    train: &Data,
    test: Option<&Data>,
    experts: usize,
    contestants: &[Contestant],
) -> Comparison {
    compare(train, test, &settings(experts), contestants, &Quiet).unwrap()
}

fn find(comparison: &Comparison, contestant: Contestant) -> &Scored {
    comparison.scored().find(|(who, _)| *who == contestant).unwrap().1
}

/// Every contestant with and without test rows: all succeed, in order, with what the way of
/// scoring gives. Again, alone or in other company, each gets the same numbers.
#[test]
fn neither_repetition_nor_company_changes_a_score() {
    let (train, test) = (rows(1, 1.0), rows(2, 1.0));
    let some = ["pbhs-plain", "gp", "mogpe", "pseudo-bma-plus"].map(|n| n.parse().unwrap());
    for test in [Some(&test), None] {
        let all = run(&train, test, 2, &Contestant::all());
        assert_eq!(
            (all.scored().count(), all.left_out, all.interrupted),
            (20, test.is_none(), false)
        );
        assert_eq!(all.rows, if test.is_some() { ROWS } else { ROWS / 2 });
        let nlpd: Vec<f64> = all.scored().map(|(_, s)| s.nlpd.value).collect();
        assert!(nlpd.is_sorted() && nlpd.iter().all(|v| v.is_finite()), "{nlpd:?}");
        for (place, (who, scored)) in all.scored().enumerate() {
            let gap = scored.difference.unwrap();
            assert!((gap.mean - (nlpd[place] - nlpd[0])).abs() < 1e-12, "{who}");
            assert_eq!(scored.losses.len(), all.rows);
            assert_eq!(scored.scores.is_some(), test.is_some(), "{who}");
            let sampled = !matches!(who, Contestant::Rule(_) | Contestant::SingleGp);
            assert_eq!(scored.convergence.is_some(), sampled, "{who}");
            assert_eq!(scored.trust.is_some(), sampled && test.is_none(), "{who}");
        }
        let again = run(&train, test, 2, &some);
        assert_eq!(again.scored().count(), some.len());
        for (who, scored) in again.scored() {
            assert_eq!(scored.losses, find(&all, who).losses, "{who}");
            assert_eq!(scored.nlpd, find(&all, who).nlpd, "{who}");
        }
    }
}

/// A target in a unit that is u times smaller has densities u times smaller: every NLPD moves
/// by `ln u`. With u a power of two the scaled data, and so the draws, are the same.
#[test]
fn units_move_every_nlpd_by_their_logarithm() {
    for with_test in [true, false] {
        let at = |unit: f64| {
            let test = rows(4, unit);
            run(&rows(3, unit), with_test.then_some(&test), 3, &Contestant::all())
        };
        let (one, other) = (at(1.0), at(1024.0));
        for (who, scored) in other.scored() {
            let moved = scored.nlpd.value - find(&one, who).nlpd.value;
            assert!((moved - 1024.0_f64.ln()).abs() < 1e-6, "{who}: {moved}");
        }
        assert_eq!(other.scored().count(), 20);
    }
}

/// All are scored at the same rows in the same order: one that no contestant can foresee is the
/// worst of each.
#[test]
fn left_out_rows_are_the_stacking_rows() {
    let rows = rows(5, 1.0);
    let (x, mut y) = (rows.x().to_vec(), rows.y().unwrap().to_vec());
    let stacking =
        Assignment::draw(Partition::Random, &x, ROWS, 2, Some(0.5), 0, 0).unwrap().stacking;
    for place in [2, 13] {
        let kept = y[stacking[place]];
        y[stacking[place]] = 40.0;
        let all = run(&data(&x, &y).unwrap(), None, 2, &Contestant::all());
        y[stacking[place]] = kept;
        for (who, scored) in all.scored() {
            let losses = &scored.losses;
            let worst = (0..losses.len()).max_by(|a, b| losses[*a].total_cmp(&losses[*b]));
            assert_eq!(worst, Some(place), "{who}: {losses:?}");
        }
    }
}

/// Weighted chains are scored by their mixture, which does at least as well on the rows left out
/// as the best of them alone: to the tenth of a nat that a chain without weight may cost, shared
/// by the rows.
#[test]
fn weighted_chains_are_at_least_as_good_as_the_best() {
    let rows = rows(8, 1.0);
    let stacked = FitSettings { combine: Combine::Stack, ..(*settings(2)).clone() };
    for (name, method) in [("bhs", Method::Bhs), ("pbhs", Method::Pbhs)] {
        let all = compare(&rows, None, &stacked, &[name.parse().unwrap()], &Quiet).unwrap();
        let scored = find(&all, name.parse().unwrap());
        assert!(scored.trust.is_some());
        let settings = FitSettings { method, ..stacked.clone() };
        let chains = fit(&rows, &settings).unwrap().diagnostics.combined.unwrap();
        let best = chains.chains.iter().map(|c| c.elpd).fold(f64::MIN, f64::max);
        let least = best - 0.11 / all.rows as f64;
        assert!(-scored.nlpd.value >= least, "{} below {best}", -scored.nlpd.value);
    }
}

/// What cannot run is an entry with its reason; the others run.
#[test]
fn a_failure_is_an_entry() {
    let (train, test) = (rows(6, 1.0), rows(7, 1.0));
    let few = ["bhs", "het", "linear-pool", "gp"].map(|n| n.parse().unwrap());
    let reason = |all: &Comparison, name: &str| {
        let entry = all.entries.iter().find(|e| e.contestant.name() == name).unwrap();
        entry.outcome.as_ref().unwrap_err().to_string()
    };
    let one = run(&train, Some(&test), 1, &few);
    assert_eq!((one.entries.len(), one.scored().count()), (4, 3));
    assert_eq!(one.entries[3].contestant.name(), "bhs");
    assert!(reason(&one, "bhs").contains("one expert has no weights to learn"));
    // Two rows to each expert at least.
    let many = run(&train, Some(&test), 30, &few);
    assert_eq!((many.entries.len(), many.scored().count()), (4, 2));
    assert!(reason(&many, "linear-pool").contains("use fewer experts"));
}

/// The density of a row under a mode that has seen it is no leave-one-out score.
#[test]
fn a_mode_leaves_no_row_out() {
    let rows = rows(11, 1.0);
    let sampler = infer::Settings { sampler: infer::Sampler::Map, ..settings(2).sampler.clone() };
    let settings = FitSettings { sampler, ..(*settings(2)).clone() };
    let het = ["het".parse().unwrap()];
    let scored = compare(&rows, Some(&rows), &settings, &het, &Quiet).unwrap();
    assert!(scored.entries[0].outcome.is_ok());
    let left_out = compare(&rows, None, &settings, &het, &Quiet).unwrap();
    let error = left_out.entries[0].outcome.as_ref().unwrap_err().to_string();
    assert!(error.contains("with 1 draws"), "{error}");
}

#[test]
fn what_nobody_can_use_is_refused() {
    let rows = rows(8, 1.0);
    let settings = settings(2);
    let het = [Contestant::Method(gpfuse::model::Method::Het)];
    let refused = |train: &Data, test: &Data| {
        compare(train, Some(test), &settings, &het, &Quiet).unwrap_err().to_string()
    };
    let (untold, wider) = (Data::new(rows.x().to_vec(), 1), Data::new(vec![0.0; ROWS], 2));
    let wider = wider.unwrap().with_target(vec![0.0; ROWS / 2]).unwrap();
    let untold = untold.unwrap();
    assert!(refused(&untold, &rows).contains("the target `y` is not with the rows"));
    assert!(refused(&rows, &untold).contains("test rows: the target `y` is not with the rows"));
    assert!(refused(&rows, &wider).contains("test rows: inputs: expected 1 columns, found 2"));
    let refuse =
        |who: &[Contestant]| compare(&rows, None, &settings, who, &Quiet).unwrap_err().to_string();
    assert!(refuse(&[]).contains("name at least one"));
    assert!(refuse(&[het[0], het[0]]).contains("`het` stands twice"));
    let unknown = "hat".parse::<Contestant>().unwrap_err().to_string();
    assert!(unknown.contains("unknown method `hat`") && unknown.contains("pbhs-plain"));
}

/// Stops after the first contestant.
struct Impatient;

impl Monitor for Impatient {
    fn cancelled(&self) -> bool {
        true
    }
}

impl Audience for Impatient {
    fn begin(&self, contestant: Contestant) -> Box<dyn Monitor + '_> {
        if contestant.name() == "poe" { Box::new(Impatient) } else { Box::new(Quiet) }
    }
}

#[test]
fn what_is_finished_is_kept() {
    let some = ["linear-pool", "poe", "bcm", "gp"].map(|n| n.parse().unwrap());
    let all = compare(&rows(9, 1.0), None, &settings(2), &some, &Impatient).unwrap();
    assert!(all.interrupted && all.entries.len() == 4 && all.scored().count() == 2);
    let last = all.entries[3].outcome.as_ref().unwrap_err().to_string();
    assert!(last.contains("stopped before its turn"), "{last}");
}

/// The score of each row under weights learned from the others, by the rules' definitions: for
/// the constant weights of stacking by a search over a fine grid. In some of the cases leaving a
/// row out must move the weights, or the test could not fail.
#[test]
fn rules_are_left_out_as_by_hand() {
    for rule in [Rule::Stacking, Rule::PseudoBma, Rule::BestExpert, Rule::LinearPool] {
        let moved = (10..16).map(|seed| left_out_by_hand(rule, seed)).fold(0.0, f64::max);
        assert_eq!(moved > 1e-3, rule.learns(), "{rule}: {moved}");
    }
}

/// Check a rule on random rows of two experts; how far leaving a row out moved the weights.
fn left_out_by_hand(rule: Rule, seed: u64) -> f64 {
    let (n, mut normal) = (9, normals(seed));
    let y: Vec<f64> = (0..n).map(|_| normal()).collect();
    let mut table = |of: &dyn Fn(f64) -> f64| -> Vec<Vec<f64>> {
        (0..2).map(|_| (0..n).map(|_| of(normal())).collect()).collect()
    };
    let (mean, sd) = (table(&|v| 0.7 * v), table(&|v| (0.3 * v).exp()));
    let experts = Predictions::new(mean.clone(), sd.clone()).unwrap();
    let set = StackingSet::new(&experts, &y, Prior::of(&y).unwrap()).unwrap();
    let density = |k: usize, i: usize| {
        let z = (y[i] - mean[k][i]) / sd[k][i];
        (-0.5 * z * z).exp() / sd[k][i] / (2.0 * std::f64::consts::PI).sqrt()
    };
    let pool = |w: f64, i: usize| (w * density(0, i) + (1.0 - w) * density(1, i)).ln();
    let found = rule.leave_one_out(&set, 2).unwrap();
    let whole = rule.learn(&set).unwrap().weights().unwrap()[0];
    let check = |i: usize| {
        let others = || (0..n).filter(move |j| *j != i);
        let gap: f64 = others().map(|j| (density(0, j) / density(1, j)).ln()).sum();
        let f = |w: f64| others().map(|j| pool(w, j)).sum::<f64>();
        let grid = (0..=10_000).map(|step| f64::from(step) / 1e4);
        let w = match rule {
            Rule::Stacking => grid.max_by(|a, b| f(*a).total_cmp(&f(*b))).unwrap(),
            Rule::PseudoBma => 1.0 / (1.0 + (-gap).exp()),
            Rule::BestExpert => f64::from(u8::from(gap > 0.0)),
            _ => 0.5,
        };
        let by_hand = pool(w, i);
        assert!((found[i] - by_hand).abs() < 1e-3, "{rule}, row {i}: {} {by_hand}", found[i]);
        (w - whole).abs()
    };
    (0..n).map(check).fold(0.0, f64::max)
}

#[test]
fn a_single_row_cannot_be_left_out_of_what_is_learned() {
    let one = Predictions::new(vec![vec![0.0]], vec![vec![1.0]]).unwrap();
    let set = StackingSet::new(&one, &[0.5], Prior { mean: 0.0, var: 1.0 }).unwrap();
    assert!(Rule::Poe.leave_one_out(&set, 1).is_ok());
    let error = Rule::Stacking.leave_one_out(&set, 1).unwrap_err().to_string();
    assert!(error.contains("its only stacking row"), "{error}");
}
