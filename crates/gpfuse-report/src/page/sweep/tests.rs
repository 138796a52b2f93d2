use super::synthetic::sweep;
use super::*;
use crate::page::document::{Block, Section};
use crate::page::html;

fn section<'a>(page: &'a Page, id: &str) -> &'a Section {
    page.document.sections.iter().find(|s| s.id == id).unwrap_or_else(|| panic!("no `{id}`"))
}

fn figures(section: &Section) -> Vec<&str> {
    let mut ids = Vec::new();
    for block in &section.blocks {
        if let Block::Figure(figure) = block {
            ids.push(figure.id.as_str());
        }
    }
    ids
}

#[test]
fn every_part_of_a_sweep_has_its_section() {
    let page = page(&sweep(), Names::new());
    let ids: Vec<&str> = page.document.sections.iter().map(|s| s.id).collect();
    let wanted = ["summary", "figures", "ours", "forest", "sensitivity", "tables"];
    assert_eq!(&ids[..6], wanted);
    assert_eq!(&ids[6..], ["convergence", "settings", "reproduce"]);
    assert_eq!(figures(section(&page, "figures")), ["study-experts", "study-size"]);
    assert_eq!(figures(section(&page, "ours")), ["study-ours"]);
    assert_eq!(figures(section(&page, "sensitivity")), ["study-range-30-2"]);
    assert_eq!(figures(section(&page, "forest")), ["forest-rff"]);
    assert_eq!(page.drawings.len(), 5);
}

/// A figure that has a name of its own is called by it, and is kept under it.
#[test]
fn figures_can_have_names_of_their_own() {
    let names = Names::from([("study-size".into(), ("fig-2b".into(), "Fig. 2b".into()))]);
    let page = page(&sweep(), names);
    assert_eq!(figures(section(&page, "figures")), ["study-experts", "fig-2b"]);
    assert_eq!(page.drawings[1].0, "fig-2b");
    assert!(html(&page.document).contains("Fig. 2b"));
}

/// The words have the numbers of the ledger.
#[test]
fn the_summary_counts() {
    let sweep = sweep();
    let page = page(&sweep, Names::new());
    let text = format!("{:?}", section(&page, "summary"));
    let (done, planned) = (sweep.folder.rows.len(), sweep.folder.rows.len() + 1);
    assert!(text.contains(&format!("{done} cells finished of {planned}")), "{text}");
    assert!(text.contains("1 failed and has no score"), "{text}");
    let passed = sweep.folder.rows.iter().filter(|r| r.passed == Some(true)).count();
    assert!(text.contains(&format!("pass in {passed} of {done} runs")), "{text}");
    let best = "RFF: best is het with M = 10, with a mean NLPD of 0.640 ± 0.014 over 5 splits";
    assert!(text.contains(best), "{text}");
    // MoGPE has 1 - 0.15 with three experts, in every split 0.25 more than het.
    assert!(text.contains("0.250 ± 0.000 lower than the next method, MoGPE"), "{text}");
}

/// Every link leads somewhere on the page.
#[test]
fn links_lead_somewhere() {
    let page = page(&sweep(), Names::new());
    let text = html(&page.document);
    let targets: Vec<&str> =
        text.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(page.document.sections.iter().all(|section| targets.contains(&section.id)));
    for target in targets {
        assert!(text.contains(&format!("id=\"{target}\"")), "{target}");
    }
}

/// A sweep that has only failed, or nothing at all, still has a page.
#[test]
fn a_sweep_without_scores() {
    let mut empty = sweep();
    for row in &mut empty.folder.rows {
        (row.nlpd, row.error) = (None, "no".into());
    }
    assert!(html(&page(&empty, Names::new()).document).contains("have no score"));
    empty.folder.rows.clear();
    assert!(html(&page(&empty, Names::new()).document).ends_with("</html>\n"));
}
