//! Figures: plain structs to one list of shapes, and that to SVG or to pixels.

mod axis;
mod boxes;
mod calibration;
mod chains;
mod colour;
mod draws;
mod effects;
mod experts;
mod font;
mod forest;
mod frame;
mod heat;
mod outcomes;
mod pair;
mod pixels;
mod predictive;
mod ranks;
mod scene;
mod series;
mod svg;

use std::path::Path;

use anyhow::{Context, bail};
use gpfuse_io::atomic::atomic_write;

pub(crate) use axis::{brief, most, quantile, short};
pub use boxes::{BoxPlot, Group, Series, boxes};
pub use calibration::{Calibration, calibration};
pub use chains::{Chains, rank, trace};
pub use draws::{Drawn, Draws, draws};
pub use effects::{Effect, Effects, effects};
pub use experts::{Experts, experts, weights};
pub use forest::{Bar, Kind, Row, forest};
pub use heat::Heat;
pub use outcomes::{Outcomes, levels, observed};
pub use pair::{Pairs, pairs};
pub use predictive::{Predictive, predictive};
pub use ranks::{RankPanel, Ranks, ranks};
pub use scene::Scene;
pub use series::{Band, Labels, Quantity};
pub use svg::svg;
pub(crate) use svg::{escaped, inline};

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Shapes as text.
    Svg,
    /// Pixels.
    Png,
}

impl Format {
    /// By the end of a file's name.
    pub fn of(path: &Path) -> anyhow::Result<Format> {
        let end = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        match end.as_str() {
            "svg" => Ok(Format::Svg),
            "png" => Ok(Format::Png),
            _ => bail!("`{}` is no kind of figure: end its name in .svg or .png", path.display()),
        }
    }
}

/// Write a drawing.
pub fn write(path: &Path, format: Format, scene: &Scene) -> anyhow::Result<()> {
    let bytes = match format {
        Format::Svg => svg(scene).into_bytes(),
        Format::Png => pixels::png(scene)
            .with_context(|| format!("`{}`: too large for pixels: try .svg", path.display()))?,
    };
    atomic_write(path, |out| out.write_all(&bytes))?;
    Ok(())
}
