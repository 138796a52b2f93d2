//! From a sweep file to its cells.

use std::collections::{BTreeMap, HashSet};

use anyhow::{anyhow, bail};
use gpfuse::basis::frequencies::Scheme;
use gpfuse::fit::BasisChoice;
use gpfuse::scale::Scaling;
use gpfuse::sweep::{Cell, Key};
use gpfuse_io::sweep_file::{Arm, SweepFile, line_of};

use super::Written;
use super::source::Set;
use crate::args::FitOptions;

/// What a study says, or the command line: no arm has a say in it.
const TAKEN: [(&str, &str); 8] = [
    ("method", "give it to each [[arm]]"),
    ("experts", "give `experts` to the [[study]]"),
    ("basis", "give it to the [[study]]"),
    ("size", "give `sizes` to the [[study]]"),
    ("frequencies", "give `sizes` to the [[study]]"),
    ("omega", "only frozen data bring their own frequencies"),
    ("seed", "give `seeds` to the [[study]]"),
    ("threads", "use the flag --threads"),
];

/// All cells, sorted by their keys.
pub(super) fn cells(
    file: &SweepFile,
    sets: &BTreeMap<String, Set>,
    written: &Written,
) -> anyhow::Result<Vec<Cell>> {
    let kept: HashSet<Key> = file.keep.iter().map(|keep| keep.key()).collect();
    let mut options = BTreeMap::new();
    for arm in &file.arm {
        let own = self::options(file, arm).map_err(|e| in_arm(written, &arm.name, &e))?;
        options.insert(arm.name.as_str(), own);
    }
    let mut cells = Vec::new();
    for key in file.keys() {
        let (Some(options), Some(set)) = (options.get(key.arm.as_str()), sets.get(&key.data))
        else {
            bail!("the cell {key} has no arm or no data");
        };
        let keep = kept.contains(&key);
        let arm = key.arm.clone();
        let cell = cell(key, options.clone(), set, keep);
        cells.push(cell.map_err(|e| in_arm(written, &arm, &e))?);
    }
    Ok(cells)
}

/// Trouble with an arm names its line, and settings as they are typed.
fn in_arm(written: &Written, arm: &str, error: &anyhow::Error) -> anyhow::Error {
    let line = line_of(&written.text, arm).map_or(String::new(), |line| format!(", line {line}"));
    let path = written.path.display();
    anyhow!("sweep file `{path}`{line}: arm `{arm}`: {}", crate::message(error))
}

/// The options of an arm over those that all share.
fn options(file: &SweepFile, arm: &Arm) -> anyhow::Result<FitOptions> {
    let mut all = file.fit.clone();
    all.extend(arm.fit.clone());
    if let Some((name, cure)) = TAKEN.iter().find(|(name, _)| all.contains_key(*name)) {
        bail!("setting `{name}`: does not belong here: {cure}");
    }
    let options: FitOptions = all.try_into().map_err(|e: toml::de::Error| {
        anyhow!("{}", e.message().lines().collect::<Vec<_>>().join(", "))
    })?;
    Ok(FitOptions { method: Some(arm.method), ..options })
}

fn cell(key: Key, mut options: FitOptions, set: &Set, keep: bool) -> anyhow::Result<Cell> {
    options.experts = Some(key.experts);
    options.seed = Some(key.fit_seed());
    // Threads are the sweep's to give; one is in every range.
    options.threads = Some(1);
    let mut omega = None;
    match key.basis.as_str() {
        "rff" => {
            options.basis = Some(BasisChoice::Rff);
            options.frequencies = Some(key.size);
            omega = set.frozen.as_ref().map(|f| f.omega(key.split, key.size)).transpose()?;
        }
        basis => {
            let hilbert = basis == "hilbert";
            options.basis = Some(if hilbert { BasisChoice::Hilbert } else { BasisChoice::Exact });
            options.size = hilbert.then_some(key.size);
            // It is about frequencies, which there are none of here.
            options.scheme = None::<Scheme>;
        }
    }
    if set.frozen.is_some() {
        match options.scaling {
            None | Some(Scaling::None) => options.scaling = Some(Scaling::None),
            Some(_) => bail!("setting `scaling`: frozen data are used as they are: use none"),
        }
    }
    let settings = options.check(set.table.inputs(), omega)?;
    let split = &set.splits[key.split];
    let (mut train, mut test) = (split.train.clone(), split.test.clone());
    let mut given = None;
    if let Some(frozen) = set.frozen.as_ref().filter(|_| !settings.method.learns_experts()) {
        let rows = set.table.len();
        let stacked = frozen.stacked(key.experts, key.split, &split.test, rows)?;
        (train, test, given) = (stacked.train, stacked.test, Some(stacked.given));
    }
    Ok(Cell { key, settings, table: set.table.clone(), train, test, given, keep })
}
