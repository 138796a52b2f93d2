//! Finds the wanted columns in a header.

use super::error::TableError;
use crate::words::show;

/// Positions of the wanted columns in the header, in the order wanted.
pub(super) fn select(
    path: &str,
    header: &[String],
    wanted: Option<&[&str]>,
) -> Result<Vec<usize>, TableError> {
    let unnamed = header.iter().position(String::is_empty).filter(|_| wanted.is_none());
    let sorted = sorted(header);
    let pairs = sorted.windows(2).map(|pair| (pair[0], pair[1]));
    let twice = pairs.filter(|&(a, b)| header[a] == header[b]).min_by_key(|&(_, second)| second);
    if let Some(column) = unnamed
        && twice.is_none_or(|(_, second)| column < second)
    {
        return Err(TableError::Unnamed { path: path.to_owned(), column: column + 1 });
    }
    if let Some((first, second)) = twice {
        let (path, name) = (path.to_owned(), show(&header[first]));
        return Err(TableError::Duplicate { path, name, first: first + 1, second: second + 1 });
    }
    let Some(wanted) = wanted else { return Ok((0..header.len()).collect()) };
    let find = |name: &&str| match sorted.binary_search_by(|&i| header[i].as_str().cmp(name)) {
        Ok(at) => Ok(sorted[at]),
        Err(_) => Err(TableError::no_column(path, header, name)),
    };
    wanted.iter().map(find).collect()
}

/// The positions of the columns that have a name, by name and then from the left. Of a wide header
/// this takes less than a map would.
fn sorted(header: &[String]) -> Vec<usize> {
    let mut sorted = Vec::with_capacity(header.len());
    sorted.extend((0..header.len()).filter(|&i| !header[i].is_empty()));
    sorted.sort_unstable_by_key(|&i| (header[i].as_str(), i));
    sorted
}

impl TableError {
    /// A header has no such column; it may have one of a similar name.
    pub fn no_column(path: &str, header: &[String], name: &str) -> TableError {
        const LISTED: usize = 10;
        let named = || header.iter().filter(|known| !known.is_empty());
        let near = named()
            .map(|known| (distance(&known.to_lowercase(), &name.to_lowercase()), known))
            .min_by_key(|(distance, _)| *distance)
            // Every other letter is near a single letter.
            .filter(|(distance, known)| {
                let length = name.chars().count().max(known.chars().count());
                *distance <= if length > 1 { (length / 3).max(1) } else { 0 }
            });
        let hint = near.map(|(_, known)| format!(" (did you mean `{}`?)", show(known)));
        let said = ["mean_", "sd_", "lpd_"].into_iter().find_map(|kind| name.strip_prefix(kind));
        let hint = hint.or(said.map(|expert| {
            format!(
                " (what expert `{}` says about each row, which every table needs)",
                show(expert)
            )
        }));
        let mut known: Vec<String> =
            named().take(LISTED).map(|known| format!("`{}`", show(known))).collect();
        let more = named().count().saturating_sub(LISTED);
        if more > 0 {
            known.push(format!("and {more} more"));
        }
        TableError::NoColumn {
            path: path.to_owned(),
            name: show(name),
            hint: hint.unwrap_or_default(),
            known: known.join(", "),
        }
    }
}

/// Edit distance (insert, delete, replace) of two names.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
