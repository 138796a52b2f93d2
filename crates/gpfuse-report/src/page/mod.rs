//! Pages: a sweep or a model as one HTML file that needs no network.

pub mod document;
mod html;
pub mod model;
pub mod number;
pub mod sweep;

use std::collections::BTreeMap;
use std::path::Path;
use std::thread::{Builder, ScopedJoinHandle};

use anyhow::Context;
use gpfuse_io::atomic::{WriteError, atomic_write};

pub use html::{Html, html};

use crate::figure::{self, Format, Scene};
use document::{Block, Document, Figure};

/// A page and the drawings on it.
#[derive(Debug)]
pub struct Page {
    /// Its words, tables and figures.
    pub document: Document,
    /// Each drawing with the stem of its files.
    pub drawings: Vec<(String, Scene)>,
}

impl Page {
    /// Write the page, and its drawings as SVG and PNG into a folder, which is made if it does not
    /// exist. The page comes last: where it is, all is.
    pub fn write(&self, out: &Path, figures: Option<&Path>) -> anyhow::Result<()> {
        let text = html(&self.document);
        if let Some(folder) = figures {
            std::fs::create_dir_all(folder).map_err(|e| WriteError::new(folder, &e))?;
            self.draw(folder)?;
        }
        atomic_write(out, |file| file.write_all(text.as_bytes()))?;
        Ok(())
    }

    /// Drawing pixels takes longer than all else, and each drawing is its own.
    fn draw(&self, folder: &Path) -> anyhow::Result<()> {
        let one = |(stem, scene): &(String, Scene)| -> anyhow::Result<()> {
            figure::write(&folder.join(format!("{stem}.svg")), Format::Svg, scene)?;
            figure::write(&folder.join(format!("{stem}.png")), Format::Png, scene)
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let share = self.drawings.len().div_ceil(cores).max(1);
        std::thread::scope(|scope| {
            let parts = self.drawings.chunks(share);
            let work = |part: &[(String, Scene)]| part.iter().try_for_each(one);
            let start =
                |part| Builder::new().spawn_scoped(scope, move || work(part)).map_err(|_| part);
            let workers: Vec<_> = parts.map(start).collect();
            let end = |worker: Result<ScopedJoinHandle<'_, _>, _>| match worker {
                Ok(worker) => {
                    worker.join().unwrap_or_else(|_| anyhow::bail!("a figure could not be drawn"))
                }
                // Where the system refuses a thread, this one draws.
                Err(part) => work(part),
            };
            // All threads are joined: a scope panics itself if a panicked thread was not.
            let outcomes: Vec<anyhow::Result<()>> = workers.into_iter().map(end).collect();
            outcomes.into_iter().collect::<anyhow::Result<()>>()
        })
        .with_context(|| format!("figures in `{}`", folder.display()))
    }
}

/// Figures whose page gives them another id and name, by the id that they would have.
pub type Names = BTreeMap<String, (String, String)>;

/// The drawings of a page, collected as they are shown.
#[derive(Debug, Default)]
pub struct Album {
    /// Those with names of their own.
    pub names: Names,
    /// Each with the stem of its files.
    pub drawings: Vec<(String, Scene)>,
}

impl Album {
    /// Keep a drawing, and show it.
    pub fn show(
        &mut self,
        id: &str,
        name: &str,
        caption: impl Into<String>,
        scene: Scene,
    ) -> Block {
        let called = self.names.get(id);
        let (id, name) = called.map_or((id, name), |(id, name)| (id.as_str(), name.as_str()));
        let svg = Html::drawing(&scene, name);
        self.drawings.push((id.into(), scene));
        Block::Figure(Figure { id: id.into(), name: name.into(), caption: caption.into(), svg })
    }
}
