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

pub use figures::{figure_id, shown};
pub use input::{Kept, Sweep, basis_name, places};
pub use kept::models;

use super::document::Document;
use super::number::count;
use super::{Album, Names, Page};

/// Make the page of a sweep, some of whose figures may have names of their own.
pub fn page(sweep: &Sweep, names: Names) -> Page {
    let mut album = Album { names, ..Album::default() };
    let mut sections = vec![summary::summary(sweep)];
    sections.extend(kept::first(sweep, &mut album));
    sections.extend(closer::closer(sweep, &mut album));
    sections.push(figures::studies(sweep, &mut album));
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
