//! The name of a column as a file has it, made fit to be asked for and written again.

use super::TableError;

/// The name of column `i`, counted from 0, of the table at `path`.
pub(super) fn name(path: &str, i: usize, text: &str) -> Result<String, TableError> {
    // A NUL means text in UTF-16, and others no text at all.
    if let Some(odd) = text.chars().find(|c| c.is_control() && !c.is_whitespace()) {
        let (path, character) = (path.to_owned(), odd.escape_debug().to_string());
        return Err(TableError::HeaderControl { path, column: i + 1, character });
    }
    // A byte-order mark that was written twice is not a part of the name either.
    let around = |c: char| c.is_whitespace() || c == '\u{feff}';
    Ok(text.trim_matches(around).to_owned())
}
