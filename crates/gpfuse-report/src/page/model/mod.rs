//! The page of a model.

mod choice;
mod convergence;
mod inputs;
mod parameters;
mod scores;
mod settings;
mod summary;
mod worth;

use std::path::Path;

use gpfuse::Fitted;
use gpfuse::metrics::{Measured, Scores};

use super::document::{Block, Document, Section};
use super::{Album, Page};
use crate::view::View;

/// What the page of a model is made from.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a> {
    /// Its file, as typed.
    pub path: &'a Path,
    /// The model.
    pub fitted: &'a Fitted,
    /// What its figures show.
    pub view: &'a View,
    /// A table with targets, as typed, and the scores there.
    pub scored: Option<(&'a Path, &'a Measured)>,
    /// The scores there of each expert alone, where the experts are given.
    pub experts: &'a [(String, Scores)],
}

/// Make the page of a model.
pub fn page(model: &Model<'_>) -> Page {
    let mut album = Album::default();
    let mut sections = vec![summary::summary(model)];
    sections.extend(scores::scores(model));
    sections.extend(model.fitted.worth.as_ref().map(worth::worth));
    sections.extend(model.fitted.chosen.as_ref().map(choice::choice));
    sections.extend(inputs::inputs(model));
    sections.push(figures(model, &mut album));
    if model.fitted.settings.method.is_sampled() {
        sections.push(parameters::parameters(model.fitted));
        sections.push(convergence::convergence(model.fitted));
    }
    sections.push(settings::settings(model));
    sections.push(settings::reproduce(model));
    let name = model.path.file_name().unwrap_or_default().to_string_lossy();
    let document = Document {
        title: format!("Model: {name}"),
        under: format!("`{}` from {}", model.fitted.target(), summary::inputs(model.fitted)),
        sections,
    };
    Page { document, drawings: album.drawings }
}

fn figures(model: &Model<'_>, album: &mut Album) -> Section {
    let mut section = Section::new("figures", "Figures").with(Block::text(
        "Point at a mark, or reach it with Tab and the arrow keys, to see its numbers.",
    ));
    for (stem, scene) in model.view.figures() {
        let (name, caption) = told(stem);
        let rows = match stem {
            "observed" | "calibration" | "levels" => format!(" {}", model.view.judged),
            _ => String::new(),
        };
        section = section.with(album.show(stem, name, format!("{caption}{rows}"), scene));
    }
    if !model.view.omitted.is_empty() {
        section = section.with(Block::List { items: model.view.omitted.clone() });
    }
    section
}

/// The name of a figure, and what it shows.
fn told(stem: &str) -> (&'static str, &'static str) {
    match stem {
        "experts" => (
            "Experts and weights",
            "Each expert's mean with one standard deviation above; below, how much each is \
             trusted, with 90 % intervals.",
        ),
        "draws" => (
            "Draws of the experts",
            "Posterior draws of the experts' means. A line is as wide as the expert's weight \
             there.",
        ),
        "predictive" => (
            "Prediction",
            "The training rows, the point prediction with its interval, and behind them the \
             predictive density: the stronger its shade, the larger it is.",
        ),
        "weights" => (
            "Weights",
            "The weights of the experts with 90 % intervals; with several inputs their shares in the weight, \
             averaged over the other inputs of the rows.",
        ),
        "pair" => (
            "Weights along two inputs",
            "The share of each expert in the weight along the two inputs that move it most, averaged over the others. \
             Where there are no dots, there are no data: shares there say little.",
        ),
        "observed" => (
            "Predicted and observed",
            "Left, each target against its prediction. Right, what the prediction leaves, and its mean over rows of \
             about the same prediction: away from 0, predictions of that level are too low (above) or too high.",
        ),
        "levels" => (
            "Calibration by level",
            "Left, the share of rows inside central intervals, by the level of the prediction. Right, the mean PIT: \
             0.5 where targets lie about their predictions evenly.",
        ),
        "slices" => {
            ("Slices", "The prediction along each input, with the others at their medians.")
        }
        "partial" => (
            "Partial effects",
            "The prediction along each input, averaged over the other inputs of the rows.",
        ),
        "calibration" => (
            "Calibration",
            "Left, the PIT of the rows: flat where the predictive density is right. Right, the \
             share of rows inside central intervals against what it should be. A calibrated \
             prediction stays in the bands at each place in 95 of 100 cases.",
        ),
        "trace" => (
            "Traces",
            "Quantities that relabelling the experts does not change, draw by draw. Chains that \
             agree overlap.",
        ),
        "rank" => (
            "Ranks",
            "The ranks of each chain's draws among those of all chains: flat where the chains \
             agree.",
        ),
        _ => ("Figure", ""),
    }
}
