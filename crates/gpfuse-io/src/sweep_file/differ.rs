//! What is different between the settings of two sweeps.

use toml::{Table, Value};

use super::SweepFile;
use crate::words::{in_one_line, setting};

/// The first difference of two sweeps' settings, in words: `here` is the second.
///
/// Neither the path of a table matters, as long as it holds the same, nor the version.
pub fn difference(there: &SweepFile, here: &SweepFile) -> Option<String> {
    let plain = |file: &SweepFile| {
        let mut file = SweepFile { version: None, ..file.clone() };
        for source in file.data.values_mut().filter(|source| source.digest.is_some()) {
            for path in [&mut source.table, &mut source.frozen].into_iter().flatten() {
                path.clear();
            }
        }
        Table::try_from(file)
    };
    match (plain(there), plain(here)) {
        (Ok(there), Ok(here)) => tables("", &there, &here),
        _ => Some("they cannot be compared".into()),
    }
}

/// The first difference of two tables at a place of the settings, in words.
pub(crate) fn tables(place: &str, there: &Table, here: &Table) -> Option<String> {
    let names = there.keys().chain(here.keys().filter(|name| !there.contains_key(*name)));
    names.into_iter().find_map(|name| {
        let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        values(&place, there.get(name), here.get(name))
    })
}

fn values(place: &str, there: Option<&Value>, here: Option<&Value>) -> Option<String> {
    match (there, here) {
        (Some(Value::Table(there)), Some(Value::Table(here))) => tables(place, there, here),
        (Some(Value::Array(there)), Some(Value::Array(here))) if of_tables(there, here) => {
            let longest = there.len().max(here.len());
            (0..longest).find_map(|i| {
                let name = there.get(i).or(here.get(i)).and_then(|v| v.get("name")?.as_str());
                let label = name.map_or_else(|| (i + 1).to_string(), String::from);
                values(&format!("{place} {label}"), there.get(i), here.get(i))
            })
        }
        _ if there == here => None,
        _ => {
            let difference = format!("`{place}` is {} there and {} here", show(there), show(here));
            // It holds names from the file, which may have line breaks.
            Some(in_one_line(&difference))
        }
    }
}

fn of_tables(a: &[Value], b: &[Value]) -> bool {
    a.iter().chain(b).all(Value::is_table)
}

/// A value in one short line.
fn show(value: Option<&Value>) -> String {
    match value {
        Some(Value::Table(_)) => "given".into(),
        _ => setting(value.map(Value::to_string).as_deref()),
    }
}
