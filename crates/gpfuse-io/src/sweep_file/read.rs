//! Reads and writes the settings file of a sweep.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::SweepFile;
use crate::words::{first_line, in_one_line, show_path};

/// Why a settings file of a sweep cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("sweep file `{path}`{place}: {problem}")]
pub struct SweepFileError {
    path: String,
    place: String,
    problem: String,
}

impl SweepFileError {
    pub(super) fn new(path: &Path, line: Option<usize>, problem: String) -> SweepFileError {
        let place = line.map_or(String::new(), |line| format!(", line {line}"));
        // It holds names from the file, which may have line breaks.
        let problem = in_one_line(&problem);
        SweepFileError { path: show_path(path), place, problem }
    }
}

impl SweepFile {
    /// Read and check a file.
    pub fn read(path: &Path) -> Result<SweepFile, SweepFileError> {
        let text = std::fs::read_to_string(path).map_err(|e| {
            let problem = format!("{}: check the path", first_line(&e.to_string()));
            SweepFileError::new(path, None, problem)
        })?;
        SweepFile::parse(&text, path)
    }

    /// Read and check a text; `path` is what messages call it.
    pub fn parse(text: &str, path: &Path) -> Result<SweepFile, SweepFileError> {
        let file: SweepFile = toml::from_str(text).map_err(|e| {
            let line = e.span().map(|span| line_at(text, span.start));
            let problem = e.message().lines().collect::<Vec<_>>().join(", ");
            SweepFileError::new(path, line, problem)
        })?;
        file.check()
            .map_err(|(name, problem)| SweepFileError::new(path, line_of(text, &name), problem))?;
        Ok(file)
    }

    /// The file as text.
    pub fn text(&self) -> Result<String, String> {
        toml::to_string(self).map_err(|e| e.to_string())
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    text.get(..offset).unwrap_or_default().matches('\n').count() + 1
}

/// The line of an arm, study or data set, for messages about its contents.
pub fn line_of(text: &str, name: &str) -> Option<usize> {
    #[derive(Deserialize)]
    struct Places {
        #[serde(default)]
        data: std::collections::BTreeMap<Spanned<String>, toml::Value>,
        #[serde(default)]
        arm: Vec<Spanned<toml::Table>>,
        #[serde(default)]
        study: Vec<Spanned<toml::Table>>,
    }
    let places: Places = toml::from_str(text).ok()?;
    let named = |table: &&Spanned<toml::Table>| {
        table.get_ref().get("name").and_then(toml::Value::as_str) == Some(name)
    };
    let list = places.arm.iter().chain(&places.study).find(named).map(|t| t.span().start);
    let data = places.data.keys().find(|key| key.get_ref() == name).map(|key| key.span().start);
    list.or(data).map(|offset| line_at(text, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = 's'\n[data.d]\nsimulate = {}\n\n[[arm]]\nname = 'a'\n\
        method = 'pbhs'\nplain = true\n\n[[study]]\nname = 't'\ndata = ['d']\narms = ['a']\n\
        basis = 'rff'\nsizes = [5]\nexperts = [2]\n";

    fn error(text: &str) -> String {
        SweepFile::parse(text, Path::new("s.toml")).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_reads_back() {
        let file = SweepFile::parse(TEXT, Path::new("s.toml")).unwrap();
        let text = file.text().unwrap();
        assert_eq!(SweepFile::parse(&text, Path::new("s.toml")).unwrap(), file, "{text}");
        assert_eq!(file.arm[0].fit["plain"].as_bool(), Some(true));
    }

    #[test]
    fn errors_name_file_line_and_cure() {
        let cases = [
            ("basis = 'rff'", "basis = 'rbf'", "line 10: study `t`: `basis` is `rbf`: use rff"),
            ("sizes = [5]", "sizes = []", "line 10: study `t`: `sizes` is empty"),
            ("'a']", "'b']", "line 10: study `t`: `arms` names `b`, which is not there: use a"),
            ("'d']", "\"r\\nge\"]", r"study `t`: `data` names `r\nge`, which is not there: use d"),
            ("basis = 'rff'", "basis = \"r\\tff\"", r"`basis` is `r\tff`: use rff"),
            ("'pbhs'", "'pb'", "line 7: unknown variant"),
            ("experts = [2]", "expert = [2]", "line 16: unknown field `expert`"),
            ("simulate = {}", "", "line 2: data `d`: give one of"),
            ("simulate = {}", "simulate = { m = 1 }", "line 3: unknown field `m`"),
            ("name = 'a'", "name = 'a/b'", "arm `a/b` is no name"),
            ("simulate = {}", "simulate = {}\nsplits = 0", "`splits` is 0: use 1 to 1000"),
            ("[data.d]", "[data.d", "line 2: "),
        ];
        for (from, to, words) in cases {
            let error = error(&TEXT.replacen(from, to, 1));
            assert!(error.starts_with("sweep file `s.toml`, line "), "{error}");
            assert!(error.contains(words) && error.lines().count() == 1, "{error}: no `{words}`");
        }
        let many = format!("experts = {:?}\nseeds = {:?}", [2; 2000], [7; 2000]);
        let error_of_many = error(&TEXT.replacen("experts = [2]", &many, 1));
        assert!(error_of_many.contains("20000000 cells: use up to 1000000"), "{error_of_many}");
        let keep = "[[keep]]\ndata = 'd'\narm = 'a'\nbasis = 'rff'\nsize = 6\nexperts = 2\n";
        assert!(error(&format!("{TEXT}{keep}")).contains("no study has this cell"));
        let keep = keep.replacen("'d'", "\"a\\nb\"", 1);
        assert_eq!(error(&format!("{TEXT}{keep}")).lines().count(), 1);
    }
}
