//! The figures of a sweep: its studies, those of arms that are ours, and several data sets.

use gpfuse_io::sweep_file::{Study, Vary};

use super::groups::{Group, groups};
use super::input::{Sweep, basis_name, full_title, holds, placed, size_name, title};
use crate::figure::{self, BoxPlot, Labels, Series};
use crate::page::Album;
use crate::page::document::{Block, Section};
use crate::page::number::{self, count};

/// What links to the figure of a study.
pub fn figure_id(study: &Study) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("study-{}", study.name.chars().map(plain).collect::<String>())
}

/// Whether a study has anything to show.
pub fn shown(sweep: &Sweep, study: &Study) -> bool {
    sweep.folder.rows.iter().any(|row| holds(study, &row.key) && row.scored().is_some())
}

/// A study whose arms are all ours.
fn all_ours(sweep: &Sweep, study: &Study) -> bool {
    study.arms.iter().all(|arm| sweep.ours(arm))
}

/// The figures against the number of experts and the size of the basis.
pub(super) fn studies(sweep: &Sweep, album: &mut Album) -> Section {
    let studies =
        sweep.folder.file.study.iter().filter(|s| s.data.len() == 1 && !all_ours(sweep, s));
    let words = "Boxes show the median and the quartiles over splits, whiskers the least and the \
                 largest value. The line is het, one GP with input-dependent noise, and its band \
                 the quartiles. Point at a mark, or reach it with Tab and the arrow keys, to see \
                 its numbers.";
    Section::new("figures", "NLPD against experts and basis size")
        .with(Block::text(words))
        .with_all(studies.filter(|s| shown(sweep, s)).map(|s| study(sweep, s, album)))
}

/// Arms that are ours beside the others.
pub(super) fn ours(sweep: &Sweep, album: &mut Album) -> Option<Section> {
    let studies: Vec<&Study> = sweep
        .folder
        .file
        .study
        .iter()
        .filter(|s| s.data.len() == 1 && all_ours(sweep, s) && shown(sweep, s))
        .collect();
    let words = "Hatched boxes are ours. The other methods stand beside them, on the same rows.";
    (!studies.is_empty()).then(|| {
        Section::new("ours", "Our own variants")
            .with(Block::text(words))
            .with_all(studies.into_iter().map(|s| study(sweep, s, album)))
    })
}

fn study(sweep: &Sweep, study: &Study, album: &mut Album) -> Block {
    let all = groups(&sweep.folder.rows);
    let beside = all_ours(sweep, study);
    let theirs = |arm: &str| !sweep.ours(arm) && sweep.studied(&study.basis, arm);
    let listed = |arm: &str| study.arms.iter().any(|a| a == arm) || (beside && theirs(arm));
    let here: Vec<&Group<'_>> =
        all.iter().filter(|g| placed(study, g.key, g.single()) && listed(&g.key.arm)).collect();
    let is_line = |arm: &str| !sweep.ours(arm) && single(&here, arm);
    let arms = order(sweep, &here);
    let x = |g: &Group<'_>| match study.vary {
        Vary::Experts => g.key.experts as f64,
        Vary::Size => g.key.size as f64,
    };
    let series = |arm: &String| series(sweep, &here, arm, x);
    let basis = basis_name(&study.basis);
    let axis = match study.vary {
        Vary::Experts => "number of experts K".into(),
        Vary::Size => format!("{basis}: {}", size_name(&study.basis)),
    };
    let boxes: Vec<Series> = arms.iter().filter(|arm| !is_line(arm)).map(series).collect();
    let mut line = arms.iter().find(|arm| is_line(arm)).map(series);
    // One GP has no place of its own among numbers of experts.
    let places = boxes.iter().flat_map(|s| &s.groups).map(|g| g.x);
    if let (Vary::Experts, Some(line), Some(x)) = (study.vary, &mut line, places.reduce(f64::min)) {
        line.groups.iter_mut().for_each(|g| g.x = x);
    }
    let name = full_title(study, None);
    let plot =
        BoxPlot { labels: Labels::new(&name, &axis, "NLPD (nats per row)"), series: boxes, line };
    let caption = caption(study, &here);
    album.show(&figure_id(study), &name, caption, figure::boxes(&plot))
}

/// The scores of an arm, each group at its place on the axis.
fn series(
    sweep: &Sweep,
    groups: &[&Group<'_>],
    arm: &str,
    x: impl Fn(&Group<'_>) -> f64,
) -> Series {
    let of_arm = groups.iter().filter(|g| g.key.arm == arm);
    Series {
        name: sweep.bare_label(arm),
        ours: sweep.ours(arm),
        groups: of_arm.map(|g| figure::Group { x: x(g), values: g.scores() }).collect(),
    }
}

/// Whether all groups of an arm have one expert by their nature.
fn single(groups: &[&Group<'_>], arm: &str) -> bool {
    groups.iter().filter(|g| g.key.arm == arm).all(|g| g.single())
}

/// The arms of some groups, in the order of the settings.
fn order(sweep: &Sweep, groups: &[&Group<'_>]) -> Vec<String> {
    let found = |name: &String| groups.iter().any(|g| g.key.arm == *name);
    let mut arms: Vec<String> =
        sweep.folder.file.arm.iter().map(|a| a.name.clone()).filter(|name| found(name)).collect();
    for group in groups {
        if !arms.contains(&group.key.arm) {
            arms.push(group.key.arm.clone());
        }
    }
    arms
}

fn caption(study: &Study, groups: &[&Group<'_>]) -> String {
    let splits = groups.iter().map(|g| g.scores().len()).max().unwrap_or(0);
    let missing: usize = groups.iter().map(|g| g.failed()).sum();
    let fixed = match (study.vary, &study.sizes[..], &study.experts[..]) {
        (Vary::Experts, [size], _) if *size > 0 => {
            format!(" at {size} {}", size_name(&study.basis))
        }
        (Vary::Size, _, [k]) => format!(" with K = {k}"),
        _ => String::new(),
    };
    let missing = match missing {
        0 => String::new(),
        n => format!(
            " {} failed and {} left out.",
            count(n, "cell"),
            if n == 1 { "is" } else { "are" }
        ),
    };
    let data = number::list(&study.data.iter().map(|d| format!("`{d}`")).collect::<Vec<_>>());
    format!("{} on {data}{fixed}, {} at most.{missing}", title(study), count(splits, "split"))
}

/// How the scores depend on the range of the inputs.
pub(super) fn sensitivity(sweep: &Sweep, album: &mut Album) -> Option<Section> {
    let studies: Vec<&Study> =
        sweep.folder.file.study.iter().filter(|s| s.data.len() > 1 && shown(sweep, s)).collect();
    let ranged = |study: &&Study| study.data.iter().all(|name| sweep.range(name).is_some());
    let (heading, words) = match studies.iter().all(ranged) {
        true => (
            "Sensitivity to the input range",
            "The same generator is run over several ranges of the inputs: a wider one holds more \
             turns of every function for the same number of rows.",
        ),
        false => ("Several data sets", "The same methods on several data sets, side by side."),
    };
    let mut section = Section::new("sensitivity", heading).with(Block::text(words));
    let all = groups(&sweep.folder.rows);
    for study in &studies {
        for size in &study.sizes {
            for k in &study.experts {
                section = section.with(ranges(sweep, study, &all, *size, *k, album));
            }
        }
    }
    (!studies.is_empty()).then_some(section)
}

fn ranges(
    sweep: &Sweep,
    study: &Study,
    all: &[Group<'_>],
    size: usize,
    k: usize,
    album: &mut Album,
) -> Block {
    let here: Vec<&Group<'_>> = all
        .iter()
        .filter(|g| holds(study, g.key) && g.key.size == size && (g.key.experts == k || g.single()))
        .collect();
    let range = |name: &str| sweep.range(name);
    let width = |name: &str| range(name).map(|(low, high)| high - low);
    let known = study.data.iter().all(|name| width(name).is_some());
    let place = |name: &String| match known {
        true => width(name).unwrap_or_default(),
        false => study.data.iter().position(|d| d == name).map_or(0.0, |i| (i + 1) as f64),
    };
    let arms = order(sweep, &here);
    let series = |arm: &String| series(sweep, &here, arm, |g| place(&g.key.data));
    let heading = full_title(study, Some(format!("K = {k}")));
    let axis = if known { "width of the input range" } else { "data set" };
    let plot = BoxPlot {
        labels: Labels::new(&heading, axis, "NLPD (nats per row)"),
        series: arms.iter().map(series).collect(),
        line: None,
    };
    let told = study.data.iter().map(|name| match range(name) {
        Some((low, high)) if known => format!("{}: [{low}, {high}]", high - low),
        _ => format!("{}: `{name}`", place(name)),
    });
    let told = told.collect::<Vec<String>>().join("; ");
    let id = format!("{}-{size}-{k}", figure_id(study));
    album.show(&id, &heading, format!("Places on the axis: {told}."), figure::boxes(&plot))
}
