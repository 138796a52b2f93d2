//! The page of a sweep.

mod closer;
mod figures;
mod forest;
mod groups;
mod input;
mod kept;
pub(super) mod reproduce;
mod summary;
#[cfg(test)]
mod synthetic;
mod tables;
mod verdicts;

pub use input::{Kept, Sweep};
pub use kept::models;

use super::document::Document;
use super::number::count;
use super::{Album, Page};

/// Make the page of a sweep.
pub fn page(sweep: &Sweep) -> Page {
    let mut album = Album::default();
    let mut sections = vec![summary::summary(sweep), verdicts::verdicts(sweep)];
    sections.extend(kept::first(sweep, &mut album));
    sections.extend(closer::closer(sweep, &mut album));
    sections.push(figures::paper(sweep, &mut album));
    sections.extend(figures::ours(sweep, &mut album));
    sections.extend(forest::forests(sweep, &mut album));
    sections.extend(figures::sensitivity(sweep, &mut album));
    sections.push(tables::tables(sweep));
    sections.push(reproduce::convergence(sweep));
    sections.push(reproduce::settings(sweep));
    sections.push(reproduce::reproduce(sweep));
    sections.retain(|section| !section.blocks.is_empty());
    let document = Document {
        title: format!("Sweep: {}", sweep.folder.file.name),
        under: format!(
            "{} in `{}`",
            count(sweep.folder.rows.len(), "finished cell"),
            sweep.folder.path.display()
        ),
        sections,
    };
    Page { document, drawings: album.drawings }
}

#[cfg(test)]
mod tests;
