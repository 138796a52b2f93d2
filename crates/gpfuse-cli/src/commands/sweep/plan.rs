//! From a sweep file to its cells.

use std::collections::{BTreeMap, HashSet};

use anyhow::{anyhow, bail};
use gpfuse::fit::FitSettings;
use gpfuse::settings::Given;
use gpfuse::sweep::{Cell, Key};
use gpfuse_io::sweep_file::{Arm, SweepFile, line_of};
use serde_json::Value;

use super::Written;
use super::source::Set;
use crate::args::read;

/// Settings that no arm can have, each with where it is set instead.
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
    let mut arms = BTreeMap::new();
    for arm in &file.arm {
        let settings = given(file, arm).map_err(|e| in_arm(written, &arm.name, &e))?;
        arms.insert(arm.name.as_str(), settings);
    }
    let mut cells = Vec::new();
    for key in file.keys() {
        let (Some(given), Some(set)) = (arms.get(key.arm.as_str()), sets.get(&key.data)) else {
            bail!("the cell {key} has no arm or no data");
        };
        let keep = kept.contains(&key);
        let arm = key.arm.clone();
        let cell = cell(key, given.clone(), set, keep);
        cells.push(cell.map_err(|e| in_arm(written, &arm, &e))?);
    }
    Ok(cells)
}

/// Errors of an arm name its line, and settings as they are typed.
fn in_arm(written: &Written, arm: &str, error: &anyhow::Error) -> anyhow::Error {
    let line = line_of(&written.text, arm).map_or(String::new(), |line| format!(", line {line}"));
    let path = written.path.display();
    anyhow!("sweep file `{path}`{line}: arm `{arm}`: {}", crate::message(error))
}

/// The settings of an arm over those that all share.
fn given(file: &SweepFile, arm: &Arm) -> anyhow::Result<Given> {
    let mut all = file.fit.clone();
    all.extend(arm.fit.clone());
    if let Some((name, cure)) = TAKEN.iter().find(|(name, _)| all.contains_key(*name)) {
        bail!("setting `{name}`: does not belong here: {cure}");
    }
    let mut given = read(all).map_err(|problem| anyhow!(problem))?;
    given.set("method", arm.method.name());
    Ok(given)
}

fn cell(key: Key, mut given: Given, set: &Set, keep: bool) -> anyhow::Result<Cell> {
    given.set("experts", key.experts);
    given.set("seed", key.fit_seed());
    // The sweep decides about threads when the cell runs; any valid number will do here.
    given.set("threads", 1);
    given.set("basis", key.basis.as_str());
    match key.basis.as_str() {
        "rff" => {
            given.set("frequencies", key.size);
            if let Some(frozen) = &set.frozen {
                given.set("omega", frozen.omega(key.split, key.size)?);
            }
        }
        basis => {
            if basis == "hilbert" {
                given.set("size", key.size);
            }
            // The scheme draws frequencies, and these bases have none.
            given.remove("scheme");
        }
    }
    if set.frozen.is_some() {
        match given.get("scaling").and_then(Value::as_str) {
            None | Some("none") => given.set("scaling", "none"),
            Some(_) => bail!("setting `scaling`: frozen data are used as they are: use none"),
        }
    }
    // Arms are for several bases: what has no effect on one of them has one on another.
    let inputs = set.table.inputs();
    let mut settings = given.settle(&FitSettings::default(), inputs)?.settings;
    // Cells have the same number of draws, or they could not be compared.
    settings.sampler.draws = Some(settings.sampler.first_draws());
    let settings = settings.check()?;
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
