//! What the fits look like, from the models that a sweep has kept.

use std::path::Path;

use gpfuse::sweep::Key;
use gpfuse_io::ledger::Folder;

use super::input::{Kept, Sweep, basis_name};
use crate::figure::{self, Band, Predictive};
use crate::page::Album;
use crate::page::document::{Block, Section};

/// Experts and weights, draws, and the predictions of all kept models, for each basis.
pub(super) fn first(sweep: &Sweep, album: &mut Album) -> Option<Section> {
    let words = "From models that the sweep has kept. Weights have 90 % intervals. Experts and draws \
                 are those of the kept model with experts of its own that scores best.";
    let mut section = Section::new("fits", "What the fits look like").with(Block::text(words));
    let before = section.blocks.len();
    for basis in sweep.bases() {
        section = section.with_all(panels(sweep, &basis, &ranked(sweep, &basis), album));
    }
    (section.blocks.len() > before).then_some(section)
}

/// The score of a cell; one without counts as the worst.
fn score(folder: &Folder, key: &Key) -> f64 {
    let row = folder.rows.iter().find(|row| row.key == *key);
    row.and_then(|row| row.scored()).unwrap_or(f64::INFINITY)
}

/// The model files of a sweep, those with the best scores first.
pub fn models(folder: &Folder) -> Vec<(&Key, &Path)> {
    let mut all: Vec<(&Key, &Path)> =
        folder.models.iter().map(|(key, path)| (key, path.as_path())).collect();
    all.sort_by(|a, b| score(folder, a.0).total_cmp(&score(folder, b.0)));
    all
}

/// The kept models of a basis, the best first.
pub(super) fn ranked<'a>(sweep: &'a Sweep, basis: &str) -> Vec<&'a Kept> {
    let mut on: Vec<&Kept> = sweep.kept.iter().filter(|k| k.key.basis == basis).collect();
    on.sort_by(|a, b| score(&sweep.folder, &a.key).total_cmp(&score(&sweep.folder, &b.key)));
    on
}

fn panels(sweep: &Sweep, basis: &str, on: &[&Kept], album: &mut Album) -> Vec<Block> {
    let (mut out, name) = (Vec::new(), basis_name(basis));
    let shown = on.iter().find(|k| k.view.draws.is_some() && k.view.experts.is_some());
    if let Some(kept) = shown.or(on.iter().find(|k| k.view.experts.is_some())) {
        let who = who(sweep, &kept.key);
        let view = kept.view.clone().called(&sweep.label(&kept.key.arm));
        if let Some(plot) = &view.experts {
            let caption = format!(
                "{who}: the experts' means with one standard deviation above, their weights with \
                 90 % intervals below."
            );
            let scene = figure::experts(plot);
            let (id, name) =
                (format!("fit-experts-{basis}"), format!("Experts and weights, {name}"));
            out.push(album.show(&id, &name, caption, scene));
        }
        if let Some(plot) = &view.draws {
            let caption = format!("{who}: draws of the experts' means, as wide as their weights.");
            let scene = figure::draws(plot);
            let (id, name) = (format!("fit-draws-{basis}"), format!("Draws, {name}"));
            out.push(album.show(&id, &name, caption, scene));
        }
    }
    if let Some(plot) = together(sweep, on) {
        let heat = on.iter().find(|k| heated(k)).map_or(String::new(), |k| {
            format!(" Behind the data the predictive density of {}.", who(sweep, &k.key))
        });
        let caption = format!(
            "The data, and each method's point prediction with its {:.0} % interval.{heat}",
            100.0 * plot.level
        );
        let scene = figure::predictive(&plot);
        let (id, name) = (format!("fit-predictions-{basis}"), format!("Predictions, {name}"));
        out.push(album.show(&id, &name, caption, scene));
    }
    out
}

fn heated(kept: &Kept) -> bool {
    kept.view.predictive.as_ref().is_some_and(|p| p.density.is_some())
}

pub(super) fn who(sweep: &Sweep, key: &Key) -> String {
    let label = sweep.label(&key.arm);
    if key.experts > 1 { format!("{label} with K = {}", key.experts) } else { label }
}

/// The predictions of all models in one figure, with the density of the best.
fn together(sweep: &Sweep, on: &[&Kept]) -> Option<Predictive> {
    let all: Vec<(&Kept, &Predictive)> =
        on.iter().filter_map(|k| Some((*k, k.view.predictive.as_ref()?))).collect();
    let mut out = all.first()?.1.clone();
    let same = |p: &Predictive| p.x == out.x && p.level == out.level;
    let methods: Vec<Band> = all
        .iter()
        .filter(|(_, p)| same(p))
        .filter_map(|(k, p)| Some(Band { name: who(sweep, &k.key), ..p.methods.first()?.clone() }))
        .collect();
    out.density = all.iter().find_map(|(_, p)| p.density.clone());
    out.methods = methods;
    out.labels.title = "Predictions of the kept models".into();
    Some(out)
}
