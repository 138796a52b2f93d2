//! The page of the paper's sweep: its findings, each with what the sweep says about it, and its
//! figures by their numbers.

use gpfuse_io::sweep_file::{Study, Vary};
use gpfuse_report::page::document::{self, Block, Found, Section};
use gpfuse_report::page::sweep::{self, Sweep, basis_name, figure_id, places, shown};
use gpfuse_report::page::{Names, Page};

use crate::protocol::is_quick;
use crate::{Contrast, Finding, Panel, Verdict, findings};

/// What the page of any sweep does not say, by its section.
const NOTES: [(&str, &str); 2] = [
    (
        "ours",
        "Ours are other ways to start, to combine chains or to write the same posterior, and the \
         robust form of P-BHS.",
    ),
    ("sensitivity", "The paper does not say over which range its inputs lie."),
];

/// What the page of the small sweep says first, above its summary and its findings.
const TOO_SMALL: &str = "This is the small version (`gpfuse paper --quick`): it has too few rows, splits and draws to \
                         tell whether a finding holds, and shows that all of it runs. To tell, run `gpfuse paper`.";

/// Make the page of the paper's sweep: that of any sweep, with the findings after the summary.
pub fn page(sweep: &Sweep) -> Page {
    let names = names(sweep);
    let verdicts = verdicts(sweep, &names);
    let mut page = sweep::page(sweep, names);
    for (id, words) in NOTES {
        let sections = page.document.sections.iter_mut();
        for section in sections.filter(|section| section.id == id) {
            section.blocks.insert(0, Block::text(words));
        }
    }
    page.document.sections.insert(1, verdicts);
    if is_quick(&sweep.folder.file) {
        for section in page.document.sections.iter_mut().take(2) {
            section.blocks.insert(0, Block::text(TOO_SMALL));
        }
    }
    page
}

/// The figures that the paper has too: Fig. 1 from the kept models, Fig. 2 from the studies.
fn names(sweep: &Sweep) -> Names {
    let mut names = Names::new();
    for basis in sweep.bases() {
        for (panel, figure) in [("a", "experts"), ("b", "draws"), ("c", "predictions")] {
            let name = format!("Fig. 1{panel}, {}", basis_name(&basis));
            names.insert(format!("fit-{figure}-{basis}"), (format!("fig-1{panel}-{basis}"), name));
        }
    }
    for study in &sweep.folder.file.study {
        let paper = study.arms.iter().any(|arm| !sweep.ours(arm));
        if paper && places(study) > 1 && study.data.len() == 1 {
            let panel = if study.vary == Vary::Experts { "a" } else { "b" };
            let (id, basis) = (figure_id(study), basis_name(&study.basis));
            names.insert(id.clone(), (id, format!("Fig. 2{panel}, {basis}")));
        }
    }
    names
}

/// The findings, for each basis, with the figure behind each.
fn verdicts(sweep: &Sweep, names: &Names) -> Section {
    let (data, rows) = (sweep.main_data(), &sweep.folder.rows);
    let found: Vec<(String, Vec<Finding>)> = sweep
        .bases()
        .into_iter()
        .map(|basis| {
            let all = findings(rows, data, &basis, sweep.ratio());
            (basis, all)
        })
        .collect();
    let count = found.first().map_or(0, |(_, all)| all.len());
    let one = |i: usize| document::Claim {
        says: found[0].1[i].says.into(),
        found: found.iter().map(|(basis, all)| verdict(sweep, names, basis, &all[i])).collect(),
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

fn verdict(sweep: &Sweep, names: &Names, basis: &str, finding: &Finding) -> Found {
    let (verdict, class) = match finding.verdict {
        Verdict::Seen => ("seen", "seen"),
        Verdict::Partly => ("partly seen", "unclear"),
        Verdict::NotSeen => ("not seen", "not-seen"),
        Verdict::Untested => ("not tested", "unclear"),
    };
    let tests = match finding.contrasts.is_empty() {
        true => vec!["the sweep does not have the cells".into()],
        false => finding.contrasts.iter().map(contrast).collect(),
    };
    let vary = match finding.panel {
        Panel::Experts => Vary::Experts,
        Panel::Size => Vary::Size,
    };
    let figure = panel(sweep, basis, vary).and_then(|study| names.get(&figure_id(study)));
    let (figure, figure_name) = figure.cloned().unzip();
    Found { basis: basis_name(basis), verdict, class, tests, figure, figure_name }
}

/// The study that a panel of the paper is drawn from: the one with the most places.
fn panel<'a>(sweep: &'a Sweep, basis: &str, vary: Vary) -> Option<&'a Study> {
    let on_main = |s: &&Study| s.data.iter().any(|d| d == sweep.main_data());
    let fits = sweep.folder.file.study.iter().filter(|s| s.basis == basis && s.vary == vary);
    fits.filter(on_main).filter(|s| shown(sweep, s)).rev().max_by_key(|s| places(s))
}

/// `BHS less P-BHS, K = 2: 0.12 ± 0.03, p = 0.004`.
fn contrast(c: &Contrast) -> String {
    let p = match c.p {
        Some(p) if p < 0.001 => ", p\u{a0}<\u{a0}0.001".into(),
        Some(p) if p > 0.999 => ", p\u{a0}>\u{a0}0.999".into(),
        Some(p) => format!(", p\u{a0}=\u{a0}{p:.3}"),
        None => ", one split: no test".into(),
    };
    format!("{}: {}{p}", c.what, c.mean.shown())
}

#[cfg(test)]
mod tests {
    use gpfuse::model::Method;
    use gpfuse::sweep::Finished;
    use gpfuse_io::ledger::Folder;
    use gpfuse_report::page::html;

    use super::*;
    use crate::Protocol;

    /// The paper's sweep with scores that get better with more experts, and with no kept model.
    fn sweep() -> Sweep {
        let file = Protocol::default().file().unwrap();
        let row = |key: &gpfuse::sweep::Key| {
            let arm = file.arm(&key.arm).map_or(Method::Het, |arm| arm.method);
            let nlpd = 1.0 - 0.1 * key.experts as f64 + 0.01 * (key.split * key.experts) as f64;
            Finished { nlpd: Some(nlpd), ..Finished::unscored(key.clone(), arm) }
        };
        let rows = file.keys().iter().map(row).collect();
        let (path, settings) = ("runs/paper".into(), crate::TEXT.into());
        let (data, models, version) = (Default::default(), Default::default(), String::new());
        Sweep {
            folder: Folder { path, settings, file, version, rows, data, models },
            kept: Vec::new(),
        }
    }

    #[test]
    fn findings_stand_after_the_summary_with_their_figures() {
        let page = page(&sweep());
        let ids: Vec<&str> = page.document.sections.iter().map(|s| s.id).collect();
        assert_eq!(&ids[..3], ["summary", "claims", "figures"]);
        let Block::Verdicts { claims } = &page.document.sections[1].blocks[1] else {
            panic!("no verdicts");
        };
        assert_eq!(claims.len(), 6);
        let bases: Vec<&str> = claims[0].found.iter().map(|f| f.basis.as_str()).collect();
        assert_eq!(bases, ["RFF", "Hilbert"]);
        let first = &claims[0].found[0];
        assert_eq!(first.verdict, "seen");
        assert_eq!(first.figure_name.as_deref(), Some("Fig. 2a, RFF"));
        let by_size = claims[4].found[1].figure_name.as_deref();
        assert_eq!(by_size, Some("Fig. 2b, Hilbert"));
        let text = html(&page.document);
        for figure in claims.iter().flat_map(|claim| &claim.found).map(|f| f.figure.as_ref()) {
            let figure = figure.unwrap();
            assert!(text.contains(&format!("href=\"#{figure}\"")), "no link to {figure}");
            assert!(text.contains(&format!("id=\"{figure}\"")), "no {figure}");
        }
        assert!(text.contains("Fig. 2b, RFF"));
        assert!(text.contains("does not say over which range its inputs lie"));
        assert!(text.contains("the robust form of P-BHS"));
    }
}
