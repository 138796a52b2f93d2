//! Figures: drawn as shapes, written whole as SVG or PNG.

mod axis;
mod forest;

use std::path::Path;

use anyhow::{anyhow, bail};
use gpfuse_io::atomic::atomic_write;
use kuva::RasterBackend;
use kuva::backend::svg::SvgBackend;
pub use kuva::render::render::Scene;

pub use axis::Bar;
pub use forest::{Kind, Row, forest};

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

/// Write a drawing.
pub fn write(path: &Path, format: Format, scene: &Scene) -> anyhow::Result<()> {
    let bytes = match format {
        Format::Svg => SvgBackend::new().with_pretty(true).render_scene(scene).into_bytes(),
        Format::Png => RasterBackend::new()
            .with_scale(PIXELS)
            .render_scene(scene)
            .map_err(|e| anyhow!("`{}`: cannot be drawn: {e}: try .svg", path.display()))?,
    };
    atomic_write(path, |out| out.write_all(&bytes))?;
    Ok(())
}
