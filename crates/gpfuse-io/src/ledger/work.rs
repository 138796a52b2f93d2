//! What differs between ledgers, and the settings that one belongs to.

use std::hash::Hash;
use std::io::ErrorKind;
use std::path::Path;

use super::{LedgerError, SETTINGS};
use crate::atomic::atomic_write;
use crate::words::{show, show_path};

/// A kind of work: how its rows are written, and which settings they belong to.
pub trait Work {
    /// A finished piece.
    type Row;
    /// What tells it from all others.
    type Key: Eq + Hash;
    /// What the work was told.
    type Settings;

    /// What the work is, in messages.
    const NAME: &'static str;
    /// The file of the rows.
    const FILE: &'static str;
    /// Folders for other files of the work.
    const FOLDERS: &'static [&'static str] = &[];
    /// What stands above the settings.
    const HEAD: &'static str;

    /// What tells a row from all others.
    fn key(row: &Self::Row) -> Self::Key;

    /// What messages call the piece of a row.
    fn called(row: &Self::Row) -> String;

    /// The first line, its end included; empty where there is none.
    fn header(&self) -> Vec<u8> {
        Vec::new()
    }

    /// A row as a line, its end included.
    fn write(&self, row: &Self::Row) -> Vec<u8>;

    /// The row of a line, or what is wrong with it.
    fn read(&self, line: &[u8]) -> Result<Self::Row, String>;

    /// Settings from the text of their file.
    fn parse(text: &str, path: &Path) -> Result<Self::Settings, LedgerError>;

    /// Settings as text.
    fn text(settings: &Self::Settings) -> Result<String, String>;

    /// The version of gpfuse among the settings.
    fn version(settings: &Self::Settings) -> Option<&str>;

    /// The first difference of two settings but for the version, in words: `here` is the second.
    fn difference(there: &Self::Settings, here: &Self::Settings) -> Option<String>;

    /// How to go on with the settings of a folder.
    fn go_on(folder: &str) -> String;
}

/// The settings of a folder as text and as they are, if it has any.
pub(super) fn settings<W: Work>(
    folder: &Path,
) -> Result<Option<(String, W::Settings)>, LedgerError> {
    let path = folder.join(SETTINGS);
    let text = match std::fs::read_to_string(&path) {
        // Where a file has the place of the folder, there is no work either.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        other => other.map_err(|e| LedgerError::read(&path, &e))?,
    };
    let settings = W::parse(&text, &path)?;
    Ok(Some((text, settings)))
}

/// Refuse a folder of other settings or of another version.
pub(super) fn same<W: Work>(
    folder: &Path,
    there: &W::Settings,
    here: &W::Settings,
) -> Result<(), LedgerError> {
    let path = show_path(folder);
    if W::version(there) != W::version(here) {
        let name = |settings| W::version(settings).map_or("an unknown version".into(), show);
        return Err(LedgerError::Version { path, there: name(there), here: name(here) });
    }
    match W::difference(there, here) {
        Some(difference) => {
            let again = W::go_on(&path);
            Err(LedgerError::Other { path, name: W::NAME, difference, again })
        }
        None => Ok(()),
    }
}

pub(super) fn write_settings<W: Work>(
    folder: &Path,
    settings: &W::Settings,
) -> Result<(), LedgerError> {
    let path = folder.join(SETTINGS);
    let text =
        W::text(settings).map_err(|e| LedgerError::write(&path, &std::io::Error::other(e)))?;
    Ok(atomic_write(&path, |out| write!(out, "{}{text}", W::HEAD))?)
}
