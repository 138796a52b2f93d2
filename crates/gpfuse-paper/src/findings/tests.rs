use gpfuse::model::Method;
use gpfuse::sweep::Key;

use super::*;

fn row(arm: &str, size: usize, experts: usize, split: usize, nlpd: f64) -> Finished {
    let (data, arm, basis) = ("paper".into(), String::from(arm), "rff".into());
    let key = Key { data, arm: arm.clone(), basis, size, experts, split, seed: 0 };
    Finished { nlpd: Some(nlpd), method: arm, ..Finished::unscored(key, Method::Het) }
}

/// A sweep with the mean scores of `score`, the same differences in every split but for a little.
fn sweep(score: impl Fn(&str, usize, usize) -> f64) -> Vec<Finished> {
    let mut rows = Vec::new();
    for split in 0..5 {
        // Hard splits are hard for all; the rest differs by less than any finding.
        let noise = |i: usize| 0.3 * split as f64 + 0.001 * ((7 * i + 3 * split) % 5) as f64;
        for (i, arm) in ARMS.into_iter().enumerate() {
            let ks: &[usize] = if arm == "het" { &[1] } else { &[2, 3, 4, 5] };
            for (j, k) in ks.iter().enumerate() {
                rows.push(row(arm, 30, *k, split, score(arm, 30, *k) + noise(i + j)));
            }
            for size in [10, 20, 40, 50] {
                let k = if arm == "het" { 1 } else { 2 };
                rows.push(row(arm, size, k, split, score(arm, size, k) + noise(i + size)));
            }
        }
    }
    rows
}

/// What the paper's figures show.
fn as_published(arm: &str, size: usize, k: usize) -> f64 {
    let (k, m) = (k as f64, size as f64);
    match arm {
        "bhs" => 1.2 + 0.05 * k,
        "pbhs" => 1.1 + 0.05 * k,
        "mogpe" => 1.0 - 0.1 * (k - 2.0) - 0.01 * (m - 30.0),
        "pogpe" => 1.02 - 0.03 * (k - 2.0) - 0.01 * (m - 30.0),
        _ => 1.1 - 0.01 * (m - 30.0),
    }
}

fn verdicts(rows: &[Finished]) -> Vec<Verdict> {
    findings(rows, "paper", "rff", 0.25).iter().map(|finding| finding.verdict).collect()
}

#[test]
fn what_the_paper_shows_is_seen() {
    assert_eq!(verdicts(&sweep(as_published)), [Verdict::Seen; 6]);
}

/// The opposite of every score turns what is seen into what is not.
#[test]
fn the_opposite_is_not_seen() {
    let found = verdicts(&sweep(|arm, size, k| -as_published(arm, size, k)));
    assert_eq!(found, [Verdict::NotSeen; 6]);
}

/// One method of two is part of a finding.
#[test]
fn half_a_finding_is_partly_seen() {
    let found = verdicts(&sweep(|arm, size, k| match arm {
        "pogpe" => as_published(arm, size, 2),
        _ => as_published(arm, size, k),
    }));
    assert_eq!(found[0], Verdict::Partly);
    assert_eq!(found[1], Verdict::Seen);
}

#[test]
fn a_sweep_without_the_cells_tests_nothing() {
    assert_eq!(verdicts(&[]), [Verdict::Untested; 6]);
    let rows = sweep(as_published);
    let one: Vec<Finished> = rows.iter().filter(|r| r.key.split == 0).cloned().collect();
    assert_eq!(verdicts(&one), [Verdict::Untested; 6]);
    let mut failed = rows;
    for row in failed.iter_mut().filter(|r| r.key.arm == "pbhs" && r.key.experts == 3) {
        row.error = "no".into();
    }
    let found = verdicts(&failed);
    assert_eq!(found[2], Verdict::Untested);
    // A name alone is no method.
    let mut other = sweep(as_published);
    for row in other.iter_mut().filter(|r| r.key.arm == "bhs") {
        row.method = "mogpe".into();
    }
    assert_eq!(verdicts(&other)[2], Verdict::Untested);
    assert_eq!(found[0], Verdict::Seen);
}
