//! Figures: drawn as shapes, written whole as SVG or PNG.

mod axis;
mod boxes;
mod calibration;
mod chains;
mod draws;
mod effects;
mod experts;
mod forest;
mod frame;
mod ink;
mod predictive;
mod ranks;
mod scale;
mod series;

use std::path::Path;

use anyhow::{anyhow, bail};
use gpfuse_io::atomic::atomic_write;
use kuva::RasterBackend;
use kuva::backend::svg::SvgBackend;
pub use kuva::render::render::Scene;

pub use axis::Bar;
pub use boxes::{BoxPlot, Group, Series, boxes};
pub use calibration::{Calibration, calibration};
pub use chains::{Chains, rank, trace};
pub use draws::{Drawn, Draws, draws};
pub use effects::{Effect, Effects, effects};
pub use experts::{Experts, experts, weights};
pub use forest::{Kind, Row, forest};
pub use predictive::{Heat, Predictive, predictive};
pub use ranks::{RankPanel, Ranks, ranks};
pub(crate) use scale::{most, quantile, short};
pub use series::{Band, Labels, Quantity};

/// Pixels of a PNG for each unit of the drawing.
const PIXELS: f32 = 2.0;

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

/// A drawing as SVG, which grows and shrinks with the room that a page gives it.
pub fn svg(scene: &Scene) -> String {
    let text = SvgBackend::new().with_pretty(true).render_scene(scene);
    let view = format!("<svg viewBox=\"0 0 {} {}\" ", scene.width, scene.height);
    text.replacen("<svg ", &view, 1)
}

/// Write a drawing.
pub fn write(path: &Path, format: Format, scene: &Scene) -> anyhow::Result<()> {
    let bytes = match format {
        Format::Svg => svg(scene).into_bytes(),
        Format::Png => RasterBackend::new()
            .with_scale(PIXELS)
            .render_scene(scene)
            .map_err(|e| anyhow!("`{}`: cannot be drawn: {e}: try .svg", path.display()))?,
    };
    atomic_write(path, |out| out.write_all(&bytes))?;
    Ok(())
}
