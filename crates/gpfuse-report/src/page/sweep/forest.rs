//! All methods at one number of experts and one size of the basis, side by side.

use gpfuse_io::sweep_file::Vary;

use super::groups::{Group, groups};
use super::input::{Sweep, basis_name, size_name};
use crate::figure::{self, Bar, Kind, Row};
use crate::page::Album;
use crate::page::document::{Block, Section};
use crate::page::number::count;

/// A forest plot for each basis with two methods or more.
pub(super) fn forests(sweep: &Sweep, album: &mut Album) -> Option<Section> {
    let words = "All methods at the size and the number of experts that most of them have scores \
                 for, in the order of their differences to the best. Errors are standard errors \
                 over splits, corrected for the rows that splits share. Differences are taken \
                 split by split on the same rows, so that they say more than two means and their \
                 errors do.";
    let section = Section::new("forest", "All methods side by side").with(Block::text(words));
    let all = groups(&sweep.folder.rows);
    let figures: Vec<Block> =
        sweep.bases().iter().filter_map(|basis| forest(sweep, &all, basis, album)).collect();
    (!figures.is_empty()).then(|| section.with_all(figures))
}

/// The groups of the main data on a basis, of arms that are not there for several data sets alone,
/// and where there is a study of the number of experts, at its sizes.
fn candidates<'a, 'r>(sweep: &Sweep, all: &'a [Group<'r>], basis: &str) -> Vec<&'a Group<'r>> {
    let main = sweep.main_data();
    let study = sweep.folder.file.study.iter().find(|s| {
        s.basis == basis && s.vary == Vary::Experts && s.data == [main] && !s.sizes.is_empty()
    });
    let sized = |g: &&Group<'_>| study.is_none_or(|s| s.sizes.contains(&g.key.size));
    let fits = |g: &&Group<'_>| {
        g.key.data == main && g.key.basis == basis && sweep.studied(basis, &g.key.arm)
    };
    all.iter().filter(fits).filter(sized).collect()
}

/// The groups at the size and the number of experts that the most arms have scores for, by the
/// number of scores where there are several. One GP belongs to every number of experts.
fn common<'a, 'r>(on: &[&'a Group<'r>]) -> Option<(usize, usize, Vec<&'a Group<'r>>)> {
    let at = |size: usize, k: usize| -> Vec<&'a Group<'r>> {
        let here = |g: &&&Group<'_>| g.key.size == size && (g.single() || g.key.experts == k);
        on.iter().filter(here).copied().collect()
    };
    let worth = |(size, k): &(usize, usize)| {
        let scores: Vec<usize> = at(*size, *k).iter().map(|g| g.scores().len()).collect();
        (scores.iter().filter(|n| **n > 0).count(), scores.iter().sum::<usize>())
    };
    let places = on.iter().filter(|g| !g.single()).map(|g| (g.key.size, g.key.experts));
    // The first of equals.
    let (size, k) = places.rev().max_by_key(worth)?;
    Some((size, k, at(size, k)))
}

/// The method whose least lead over any other, on the splits that both have, is the largest. Means
/// over different splits would not do: some splits are harder than others.
fn best<'a, 'r>(here: &[&'a Group<'r>], ratio: f64) -> Option<&'a Group<'r>> {
    let lead = |g: &'a Group<'r>| {
        let others = here.iter().filter(|other| other.key != g.key);
        let leads = others.filter_map(|other| Some(g.gap(other, ratio)?.value));
        Some((g, leads.reduce(f64::min)?))
    };
    Some(here.iter().filter_map(|g| lead(g)).max_by(|a, b| a.1.total_cmp(&b.1))?.0)
}

fn forest(sweep: &Sweep, all: &[Group<'_>], basis: &str, album: &mut Album) -> Option<Block> {
    let (size, k, here) = common(&candidates(sweep, all, basis))?;
    let (ratio, name) = (sweep.ratio(), basis_name(basis));
    let most = here.iter().map(|g| g.scores().len()).max().filter(|n| *n > 0)?;
    let best = best(&here, ratio)?;
    let bars = |g: &Group<'_>| {
        let (mean, gap) = (g.mean(ratio)?, best.gap(g, ratio)?);
        Some([
            Bar { centre: mean.value, half: mean.se.unwrap_or(0.0) },
            Bar { centre: gap.value, half: 2.0 * gap.se.unwrap_or(0.0) },
        ])
    };
    let row = |g: &&Group<'_>| {
        let label = sweep.bare_label(&g.key.arm);
        let few = match g.scores().len() {
            n if n > 0 && n < most => format!(" ({})", count(n, "split")),
            _ => String::new(),
        };
        let kind = match (sweep.ours(&g.key.arm), g.single()) {
            (true, _) => Kind::Ours,
            (_, true) => Kind::Single,
            _ => Kind::Method,
        };
        Row { label: label + &few, kind, bars: bars(g) }
    };
    // Not failed, but on no split that the best has: there is no difference to show.
    let (mut sorted, apart): (Vec<_>, Vec<_>) =
        here.into_iter().partition(|g| g.scores().is_empty() || bars(g).is_some());
    let place = |g: &Group<'_>| match bars(g) {
        _ if g.key == best.key => f64::NEG_INFINITY,
        Some(bars) => bars[1].centre,
        None => f64::INFINITY,
    };
    sorted.sort_by(|a, b| place(a).total_cmp(&place(b)));
    let rows: Vec<Row> = sorted.iter().map(row).collect();
    if rows.iter().filter(|row| row.bars.is_some()).count() < 2 {
        return None;
    }
    let sized = if size > 0 { format!(", {size} {}", size_name(basis)) } else { String::new() };
    let title = format!("NLPD with K = {k}, {name}{sized} (lower is better)");
    let panels =
        ["NLPD, \u{b1} 1 standard error", "difference to the best, \u{b1} 2 standard errors"];
    let caption = format!(
        "Every method with K = {k} on `{}`{sized}; a single GP has no K. Means are over {}, or as \
         many as the label says; differences to {} are over the splits that both have.{}",
        sweep.main_data(),
        count(most, "split"),
        sweep.label(&best.key.arm),
        match apart.len() {
            0 => String::new(),
            n => format!(" Left out, as there are none: {}.", count(n, "method")),
        }
    );
    let scene = figure::forest(&title, panels, "nats per row", "", &rows);
    Some(album.show(&format!("forest-{basis}"), &format!("All methods, {name}"), caption, scene))
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::sweep;
    use super::*;

    /// K = 3 has one arm more than K = 2: that of ours. One GP is there as well.
    #[test]
    fn the_common_place_has_the_most_arms() {
        let sweep = sweep();
        let all = groups(&sweep.folder.rows);
        let (size, k, here) = common(&candidates(&sweep, &all, "rff")).unwrap();
        assert_eq!((size, k), (30, 3));
        let arms: Vec<&str> = here.iter().map(|g| g.key.arm.as_str()).collect();
        assert_eq!(arms, ["het", "bhs", "mogpe", "mogpe-ours"]);
    }

    /// Marks say the numbers: the standard deviation of the splits' scores is `0.02 sqrt(2.5)`, and
    /// its factor `sqrt(1 / 5 + 0.25)`; het is the best, in every split 0.25 below MoGPE.
    #[test]
    fn marks_say_means_and_differences() {
        let mut album = Album::default();
        forests(&sweep(), &mut album).unwrap();
        assert_eq!(album.drawings[0].0, "forest-rff");
        let text = figure::svg(&album.drawings[0].1);
        assert_eq!(text.matches("class=\"mark dot\"").count(), 8);
        let half = 0.02 * 2.5_f64.sqrt() * 0.45_f64.sqrt();
        let ends = format!("0.6400 ({:.4} to {:.4})", 0.64 - half, 0.64 + half);
        assert!(text.contains(&format!("het: NLPD, \u{b1} 1 standard error {ends}")), "{text}");
        let gap = "MoGPE: difference to the best, \u{b1} 2 standard errors 0.2500";
        assert!(text.contains(gap), "{text}");
    }

    /// On the splits it has, one with fewer of them can be the best: here those are the hardest, so
    /// that its mean is not the lowest.
    #[test]
    fn the_best_is_found_split_by_split() {
        let score = |arm: &str, split: usize, value: f64| {
            super::super::synthetic::finished("paper", arm, "rff", 30, 3, split, Some(value))
        };
        let mut rows: Vec<_> = (0..5).map(|s| score("a", s, 0.5 * s as f64)).collect();
        rows.extend([score("b", 3, 1.4), score("b", 4, 1.8)]);
        rows.extend((0..5).map(|s| score("c", s, 3.0)));
        let all = groups(&rows);
        let here: Vec<&Group<'_>> = all.iter().collect();
        assert_eq!(best(&here, 0.25).unwrap().key.arm, "b");
        assert!(best(&here[..1], 0.25).is_none());
    }

    /// A label with fewer splits says so, and one method alone is no forest.
    #[test]
    fn few_splits_are_said() {
        let mut sweep = sweep();
        let here = |row: &gpfuse::sweep::Finished, arm: &str| {
            row.key.arm == arm && row.key.data == "paper" && row.key.split > 1
        };
        sweep.folder.rows.retain(|row| !here(row, "mogpe-ours"));
        let mut album = Album::default();
        forests(&sweep, &mut album).unwrap();
        assert!(figure::svg(&album.drawings[0].1).contains("stacked chains (2 splits): NLPD"));
        sweep.folder.rows.retain(|row| row.key.arm == "mogpe" && row.key.data == "paper");
        assert!(forests(&sweep, &mut Album::default()).is_none());
    }
}
