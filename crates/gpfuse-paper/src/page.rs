//! The paper's findings, each with what the sweep says about it.

use gpfuse::sweep::{Claim, Contrast, Panel, Verdict, claims};

use gpfuse_io::sweep_file::{Study, Vary};

use super::input::{Sweep, basis_name, places};
use crate::page::document::{self, Block, Found, Section};
use crate::page::number::measured;

/// The findings, for each basis, with the figure behind each.
pub(super) fn verdicts(sweep: &Sweep) -> Section {
    let data = sweep.main_data();
    let found: Vec<(String, Vec<Claim>)> = sweep
        .bases()
        .into_iter()
        .map(|basis| {
            let all = claims(&sweep.folder.rows, data, &basis, sweep.ratio());
            (basis, all)
        })
        .collect();
    let count = found.first().map_or(0, |(_, all)| all.len());
    let one = |i: usize| document::Claim {
        says: found[0].1[i].claim.into(),
        found: found.iter().map(|(basis, all)| said(sweep, basis, &all[i])).collect(),
    };
    let words = "Each finding is a list of contrasts of mean test NLPD that are above zero where \
                 it holds, in nats per row. Each is tested over splits with Student's one-sided \
                 test, with standard errors corrected for the rows that splits share (Nadeau and \
                 Bengio, 2003). A finding is seen if all of its contrasts are surely above zero \
                 (p < 0.05 each), partly seen if some are and none is surely below, not seen \
                 otherwise, and not tested where cells are missing. The sixth is what the paper \
                 says beside its five.";
    Section::new("claims", "The paper's findings")
        .with(Block::text(words))
        .with(Block::Verdicts { claims: (0..count).map(one).collect() })
}

fn said(sweep: &Sweep, basis: &str, claim: &Claim) -> Found {
    let (verdict, class) = match claim.verdict {
        Verdict::Seen => ("seen", "seen"),
        Verdict::Partly => ("partly seen", "unclear"),
        Verdict::NotSeen => ("not seen", "not-seen"),
        Verdict::Untested => ("not tested", "unclear"),
    };
    let tests = match claim.contrasts.is_empty() {
        true => vec!["the sweep does not have the cells".into()],
        false => claim.contrasts.iter().map(contrast).collect(),
    };
    let vary = match claim.panel {
        Panel::Experts => Vary::Experts,
        Panel::Size => Vary::Size,
    };
    let study = panel(sweep, basis, vary);
    Found {
        basis: basis_name(basis),
        verdict,
        class,
        tests,
        figure: study.map(super::figures::id),
        figure_name: study.map(|study| super::figures::name(sweep, study)),
    }
}

/// The study that a panel of the paper is drawn from: the one with the most places.
fn panel<'a>(sweep: &'a Sweep, basis: &str, vary: Vary) -> Option<&'a Study> {
    let on_main = |s: &&Study| s.data.iter().any(|d| d == sweep.main_data());
    let fits = sweep.folder.file.study.iter().filter(|s| s.basis == basis && s.vary == vary);
    fits.filter(on_main).filter(|s| super::figures::shown(sweep, s)).rev().max_by_key(|s| places(s))
}

/// `BHS less P-BHS, K = 2: 0.12 ± 0.03, p = 0.004`.
fn contrast(c: &Contrast) -> String {
    let p = match c.p {
        Some(p) if p < 0.001 => ", p\u{a0}<\u{a0}0.001".into(),
        Some(p) if p > 0.999 => ", p\u{a0}>\u{a0}0.999".into(),
        Some(p) => format!(", p\u{a0}=\u{a0}{p:.3}"),
        None => ", one split: no test".into(),
    };
    format!("{}: {}{p}", c.what, measured(c.mean, c.se))
}
