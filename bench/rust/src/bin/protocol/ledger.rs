//! A file of finished runs, a line each, to which the next is appended.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use super::frozen::Outcome;

/// Unless `path` holds a line that begins with `key`, run and append one.
pub(crate) fn once(
    path: &Path,
    header: &str,
    key: &str,
    run: impl FnOnce() -> Outcome<String>,
) -> Outcome<()> {
    let done = std::fs::read_to_string(path).unwrap_or_default();
    if done.lines().any(|line| line.starts_with(key)) {
        return Ok(());
    }
    let row = format!("{key}{}", run()?);
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    if done.is_empty() {
        writeln!(file, "{header}")?;
    }
    writeln!(file, "{row}")?;
    eprintln!("{row}");
    Ok(())
}
