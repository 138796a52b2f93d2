//! The best of the kept models on each basis, looked at more closely.

use super::input::{Kept, Sweep, basis_name};
use super::kept::{ranked, who};
use crate::figure;
use crate::page::Album;
use crate::page::document::{Block, Section};
use crate::page::number::count;

/// Weights, calibration, traces and ranks of the best kept model on each basis.
pub(super) fn closer(sweep: &Sweep, album: &mut Album) -> Option<Section> {
    let words = "For each basis the kept model with the lowest NLPD. Calibration is at the test \
                 rows of its split; the chains are shown by quantities that relabelling the \
                 experts does not change.";
    let mut section = Section::new("closer", "A closer look").with(Block::text(words));
    let before = section.blocks.len();
    for basis in sweep.bases() {
        let on = ranked(sweep, &basis);
        // One GP has no weights, even where it is the best.
        if let Some(kept) = on.iter().find(|k| k.view.experts.is_some()) {
            section = section.with_all(weights(sweep, &basis, kept, album));
        }
        if let Some(kept) = on.first() {
            section = section.with_all(judged(sweep, &basis, kept, album));
        }
    }
    (section.blocks.len() > before).then_some(section)
}

/// `MoGPE with K = 3, split 0 of ` and the data.
fn whose(sweep: &Sweep, kept: &Kept) -> String {
    let key = &kept.key;
    format!("{}, split {} of `{}`", who(sweep, key), key.split, key.data)
}

fn weights(sweep: &Sweep, basis: &str, kept: &Kept, album: &mut Album) -> Option<Block> {
    let (plot, name) = (kept.view.experts.as_ref()?, basis_name(basis));
    let title = format!("Weights of the experts of {}", sweep.label(&kept.key.arm));
    let caption = format!(
        "{}: the weight of each expert against the input, with 90 % intervals.",
        whose(sweep, kept)
    );
    let scene = figure::weights(plot, &title);
    Some(album.show(
        &format!("closer-weights-{basis}"),
        &format!("Weights, {name}"),
        caption,
        scene,
    ))
}

fn judged(sweep: &Sweep, basis: &str, kept: &Kept, album: &mut Album) -> Vec<Block> {
    let (whose, name) = (whose(sweep, kept), basis_name(basis));
    let view = kept.view.clone().called(&sweep.label(&kept.key.arm));
    let mut out = Vec::new();
    let mut add = |stem: &str, what: &str, says: String, scene| {
        let (id, title) = (format!("closer-{stem}-{basis}"), format!("{what}, {name}"));
        out.push(album.show(&id, &title, format!("{whose}: {says}"), scene));
    };
    if let Some(plot) = &view.calibration {
        let says = format!(
            "left, the PIT of its {}, flat where the predictive density is right; right, the share \
             of them inside central intervals against what it should be.",
            count(plot.pit.len(), "test row")
        );
        add("calibration", "Calibration", says, figure::calibration(plot));
    }
    if let Some(plot) = &view.chains {
        let says = "the chains draw by draw. Those that agree overlap.";
        add("trace", "Traces", says.into(), figure::trace(plot));
        let says = "the ranks of each chain's draws among those of all chains, flat where the \
                    chains agree.";
        add("rank", "Ranks", says.into(), figure::rank(plot));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::sweep;
    use super::*;
    use crate::figure::{Calibration, Chains, Experts, Quantity};
    use crate::view::View;

    /// A kept model of split 0 with this arm.
    fn kept(arm: &str, experts: usize) -> Kept {
        let sweep = sweep();
        let mut rows = sweep.folder.rows.iter().map(|row| &row.key);
        let is = |k: &&gpfuse::sweep::Key| {
            k.data == "paper" && k.arm == arm && k.size == 30 && k.experts == experts
        };
        let chains = vec![vec![1.0, 2.0, 3.0], vec![2.0, 1.0, 3.0]];
        let quantities = vec![Quantity { name: "log joint density".into(), chains }];
        let view = View {
            experts: (experts > 1).then(Experts::default),
            calibration: Some(Calibration { title: String::new(), pit: vec![0.2, 0.7] }),
            chains: Some(Chains { title: String::new(), quantities }),
            ..View::default()
        };
        Kept { key: rows.find(is).unwrap().clone(), view }
    }

    fn shown(sweep: &Sweep) -> Vec<(String, String)> {
        let section = closer(sweep, &mut Album::default()).unwrap();
        let figures = section.blocks.into_iter().filter_map(|block| match block {
            Block::Figure(figure) => Some((figure.id, figure.caption)),
            _ => None,
        });
        figures.collect()
    }

    /// The best is shown, whatever the order of the files, and the captions say which it is.
    #[test]
    fn the_best_model_is_looked_at() {
        let mut sweep = sweep();
        assert!(closer(&sweep, &mut Album::default()).is_none());
        sweep.kept = vec![kept("bhs", 3), kept("mogpe", 3)];
        let found = shown(&sweep);
        let ids: Vec<&str> = found.iter().map(|f| f.0.as_str()).collect();
        let wanted =
            ["closer-weights-rff", "closer-calibration-rff", "closer-trace-rff", "closer-rank-rff"];
        assert_eq!(ids, wanted);
        let whose = "MoGPE with K = 3, split 0 of `paper`: ";
        assert!(found.iter().all(|f| f.1.starts_with(whose)), "{found:?}");
        assert!(found[1].1.contains("2 test rows"), "{found:?}");
    }

    /// One GP has no weights: those of the next are shown, and said to be its.
    #[test]
    fn weights_are_those_of_experts() {
        let mut sweep = sweep();
        sweep.kept = vec![kept("mogpe", 3), kept("het", 1)];
        let found = shown(&sweep);
        assert!(found[0].1.starts_with("MoGPE with K = 3,"), "{found:?}");
        assert!(found.len() == 4 && found[1..].iter().all(|f| f.1.starts_with("het, ")));
    }
}
