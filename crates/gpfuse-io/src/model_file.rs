//! A fitted model as one netCDF-4 file that ArviZ opens as it is.
//!
//! Groups `posterior`, `sample_stats`, `log_likelihood`, `observed_data` and `constant_data`
//! follow ArviZ's schema; the group `gpfuse` holds what prediction needs besides the draws.
//! Parameters are stored on their natural scale (`mu_var`, `mu_ell`, ...).

mod bases;
mod draws;
mod experts;
mod rows;
mod weights;

use std::path::Path;
use std::sync::Arc;

use gpfuse::Columns;
use gpfuse::fit::{FitSettings, Fitted, KEPT_LOG_LIKELIHOODS, Kept};
use gpfuse::infer::{Draws, Stat};
use gpfuse::model::layout::Part;
use gpfuse::model::{Kind, Role};
use gpfuse::scale::{Affine, Scaler};

use crate::nc::{Data, Group, NcError, Tree, Var};
use crate::words::{in_one_line, show_path};

/// Why a model file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// The file itself: missing, cut short, altered, foreign, newer, or not writable.
    #[error("{0}")]
    File(String),
    /// The file is whole but does not hold a model that can be used.
    #[error("`{path}`: {problem}: fit the model again")]
    Content {
        /// The file.
        path: String,
        /// What is wrong.
        problem: String,
    },
}

impl From<NcError> for ModelFileError {
    fn from(e: NcError) -> Self {
        ModelFileError::File(in_one_line(&e.to_string()))
    }
}

/// Write a fit, with the rows that the posterior is about, which ArviZ shows beside it.
pub fn save(path: &Path, fitted: &Fitted) -> Result<(), ModelFileError> {
    let tree = tree(fitted).map_err(|problem| content(path, &problem))?;
    Ok(tree.write(path)?)
}

/// What [`save`] writes, or what is wrong with it.
pub fn tree(fitted: &Fitted) -> Result<Tree, String> {
    let mut groups = vec![posterior(fitted), sample_stats(&fitted.draws)];
    // It can always be computed again.
    if fitted.rows.len() * fitted.draws.len() <= KEPT_LOG_LIKELIHOODS {
        groups.push(log_likelihood(fitted).map_err(|e| e.to_string())?);
    }
    groups.extend(rows::write(&fitted.data));
    groups.push(own_group(fitted).map_err(|e| e.to_string())?);
    Ok(Tree { groups })
}

/// Read a fit back.
pub fn load(path: &Path) -> Result<Fitted, ModelFileError> {
    let tree = Tree::read(path)?;
    read(&tree).map_err(|problem| content(path, &problem))
}

fn content(path: &Path, problem: &str) -> ModelFileError {
    ModelFileError::Content { path: show_path(path), problem: problem.into() }
}

fn var(name: &str, dims: &[&str], data: Data) -> Var {
    let dims = dims.iter().map(|d| (*d).to_string()).collect();
    Var { name: name.into(), dims, data, attrs: Vec::new() }
}

/// The target's name as that of a variable, which has no slash and is no coordinate's.
fn variable(target: &str) -> String {
    let name = target.replace('/', "_");
    if ["chain", "draw", "row"].contains(&name.as_str()) { name + "_" } else { name }
}

/// A coordinate that counts from 0.
fn index(name: &str, size: usize) -> Var {
    var(name, &[name], Data::I64((0..size as i64).collect()))
}

fn group(name: &str, dims: &[(&str, usize)], vars: Vec<Var>) -> Group {
    let dims = dims.iter().map(|(d, n)| ((*d).to_string(), *n)).collect();
    Group { name: name.into(), dims, attrs: Vec::new(), vars }
}

/// A group over chains and draws, with their coordinates.
fn sampled(name: &str, draws: &Draws, dims: &[(&str, usize)], vars: Vec<Var>) -> Group {
    let all = [&[("chain", draws.chains().len()), ("draw", draws.per_chain())], dims].concat();
    let coordinates = all[..2].iter().map(|(d, n)| index(d, *n));
    let mut group = group(name, &all, coordinates.chain(vars).collect());
    group.attrs = vec![
        ("inference_library".into(), "gpfuse".into()),
        ("inference_library_version".into(), env!("CARGO_PKG_VERSION").into()),
    ];
    group
}

/// The dimensions of a part, chain and draw first.
fn dims_of(part: &Part) -> Vec<&'static str> {
    let (count, feature) = match part.role {
        Some(Role::Gate) => ("gate", "feature"),
        Some(Role::Contrast) => ("contrast", "feature"),
        Some(Role::Common) => ("common", "common_feature"),
        _ => ("expert", "feature"),
    };
    match part.kind {
        Kind::Var => vec!["chain", "draw", count],
        Kind::Ell => vec!["chain", "draw", count, "input"],
        Kind::Theta => vec!["chain", "draw", count, feature],
        Kind::Scale => vec!["chain", "draw", "expert"],
        Kind::Floor | Kind::Tail | Kind::Blend | Kind::Temper => vec!["chain", "draw"],
    }
}

fn posterior(fitted: &Fitted) -> Group {
    let Fitted { model, draws, .. } = fitted;
    let layout = model.layout();
    let gates = layout.bank(Role::Gate).map_or(0, |b| b.count);
    let label = |n: usize| Data::Str((1..=n).map(|k| k.to_string()).collect());
    let (inputs, features) = (fitted.inputs(), model.basis().features());
    let mut vars = vec![
        var("expert", &["expert"], Data::Str(fitted.expert_names())),
        var("gate", &["gate"], label(gates)),
        var("input", &["input"], Data::Str(inputs.to_vec())),
        index("feature", features),
    ];
    let mut dims = vec![
        ("expert", model.experts()),
        ("gate", gates),
        ("input", inputs.len()),
        ("feature", features),
    ];
    if let Some(common) = model.common() {
        let contrasts = layout.bank(Role::Contrast).map_or(0, |b| b.count);
        vars.push(var("contrast", &["contrast"], label(contrasts)));
        vars.extend([index("common", 1), index("common_feature", common.features())]);
        dims.extend([
            ("contrast", contrasts),
            ("common", 1),
            ("common_feature", common.features()),
        ]);
    }
    for part in &layout.parts {
        let range = part.offset..part.offset + part.count * part.width;
        let natural = |v: &f64| part.kind.natural(*v);
        let values = draws.iter().flat_map(|q| q[range.clone()].iter().map(natural)).collect();
        vars.push(var(&part.name, &dims_of(part), Data::F64(values)));
    }
    sampled("posterior", draws, &dims, vars)
}

/// How a statistic is stored: its name in ArviZ's schema, and how to get and set it.
struct StatField(&'static str, fn(&Stat) -> f64, fn(&mut Stat, f64));

const STATS: [StatField; 6] = [
    StatField("lp", |s| s.lp, |s, v| s.lp = v),
    StatField("energy", |s| s.energy, |s, v| s.energy = v),
    StatField("acceptance_rate", |s| s.accept, |s, v| s.accept = v),
    StatField("step_size", |s| s.step_size, |s, v| s.step_size = v),
    StatField("tree_depth", |s| s.depth as f64, |s, v| s.depth = v as usize),
    StatField("n_steps", |s| s.steps as f64, |s, v| s.steps = v as usize),
];

fn sample_stats(draws: &Draws) -> Group {
    let stats = || draws.chains().iter().flat_map(|c| &c.stats);
    let dims = ["chain", "draw"];
    let mut vars: Vec<Var> = STATS
        .iter()
        .map(|StatField(name, get, _)| var(name, &dims, Data::F64(stats().map(get).collect())))
        .collect();
    let flags = |f: fn(&Stat) -> bool| Data::Bool(stats().map(f).collect());
    vars.push(var("diverging", &dims, flags(|s| s.diverging)));
    vars.push(var("reached_max_treedepth", &dims, flags(|s| s.saturated)));
    vars.extend(weights::write(draws));
    sampled("sample_stats", draws, &[], vars)
}

/// The log likelihood of each row and draw, in the user's units.
fn log_likelihood(fitted: &Fitted) -> gpfuse::Result<Group> {
    let (rows, values) = (fitted.data.len(), fitted.log_likelihood()?);
    let vars = vec![
        index("row", rows),
        var(&variable(fitted.target()), &["chain", "draw", "row"], Data::F64(values.to_vec())),
    ];
    Ok(sampled("log_likelihood", &fitted.draws, &[("row", rows)], vars))
}

fn own_group(fitted: &Fitted) -> serde_json::Result<Group> {
    let Fitted { settings, scaler, model, diagnostics, .. } = fitted;
    let text = |name: &str, text: String| var(name, &[], Data::Str(vec![text]));
    let d = scaler.inputs.len();
    let per_input = |f: fn(&Affine) -> f64| Data::F64(scaler.inputs.iter().map(f).collect());
    let mut dims = vec![("input", d)];
    let mut vars = vec![
        text("version", env!("CARGO_PKG_VERSION").into()),
        text("settings", serde_json::to_string(settings)?),
        text("diagnostics", serde_json::to_string(diagnostics)?),
        text("target", fitted.target().into()),
        var("input", &["input"], Data::Str(fitted.inputs().to_vec())),
        var("input_shift", &["input"], per_input(|a| a.shift)),
        var("input_scale", &["input"], per_input(|a| a.scale)),
        var("target_shift", &[], Data::F64(vec![scaler.target.shift])),
        var("target_scale", &[], Data::F64(vec![scaler.target.scale])),
    ];
    if let Some(columns) = fitted.data.columns() {
        vars.push(text("columns", serde_json::to_string(columns)?));
    }
    if let Some(chosen) = &fitted.chosen {
        vars.push(text("chosen", serde_json::to_string(chosen)?));
    }
    if let Some(worth) = &fitted.worth {
        vars.push(text("worth", serde_json::to_string(worth)?));
    }
    if let Some(step) = fitted.resolution {
        vars.push(var("resolution", &[], Data::F64(vec![step])));
    }
    bases::write(model, &mut dims, &mut vars);
    experts::write(fitted, &mut dims, &mut vars);
    Ok(group("gpfuse", &dims, vars))
}

/// A group's variables by name and kind, with errors that name them.
struct Reader<'a>(&'a Group);

impl<'a> Reader<'a> {
    fn of(tree: &'a Tree, name: &str) -> Result<Reader<'a>, String> {
        tree.group(name).map(Reader).ok_or(format!("has no group `{name}`"))
    }

    fn data(&self, name: &str) -> Result<&'a Data, String> {
        let var = self.0.vars.iter().find(|v| v.name == name);
        var.map(|v| &v.data).ok_or(format!("has no `{}/{name}`", self.0.name))
    }

    /// The size of a dimension.
    fn size(&self, name: &str) -> Result<usize, String> {
        let found = self.0.dims.iter().find(|d| d.0 == name);
        found.map(|d| d.1).ok_or(format!("has no dimension `{}/{name}`", self.0.name))
    }

    fn numbers(&self, name: &str) -> Result<&'a [f64], String> {
        match self.data(name)? {
            Data::F64(v) => Ok(v),
            _ => Err(format!("`{}/{name}` does not hold numbers", self.0.name)),
        }
    }

    /// Whole numbers that count something.
    fn counts(&self, name: &str) -> Result<Vec<usize>, String> {
        let wrong = || format!("`{}/{name}` does not hold whole numbers from 0", self.0.name);
        match self.data(name)? {
            Data::I64(v) => v.iter().map(|n| usize::try_from(*n).map_err(|_| wrong())).collect(),
            _ => Err(wrong()),
        }
    }

    fn flags(&self, name: &str) -> Result<&'a [bool], String> {
        match self.data(name)? {
            Data::Bool(v) => Ok(v),
            _ => Err(format!("`{}/{name}` does not hold true or false", self.0.name)),
        }
    }

    fn texts(&self, name: &str) -> Result<&'a [String], String> {
        match self.data(name)? {
            Data::Str(v) => Ok(v),
            _ => Err(format!("`{}/{name}` does not hold text", self.0.name)),
        }
    }

    fn text(&self, name: &str) -> Result<&'a str, String> {
        let first = self.texts(name)?.first();
        first.map(String::as_str).ok_or(format!("`{}/{name}` is empty", self.0.name))
    }

    fn number(&self, name: &str) -> Result<f64, String> {
        let first = self.numbers(name)?.first().copied();
        first.ok_or(format!("`{}/{name}` is empty", self.0.name))
    }
}

/// The fit in a tree, or what is wrong with it in one line.
pub fn read(tree: &Tree) -> Result<Fitted, String> {
    // It may hold texts from the file, which may have line breaks.
    assemble(tree).map_err(|problem| in_one_line(&problem))
}

fn assemble(tree: &Tree) -> Result<Fitted, String> {
    let group = Reader::of(tree, "gpfuse")?;
    bases::refuse_exact(&group)?;
    let json = |name: &str, e: serde_json::Error| format!("`gpfuse/{name}`: {e}");
    let settings: FitSettings =
        serde_json::from_str(group.text("settings")?).map_err(|e| json("settings", e))?;
    settings.clone().check().map_err(|e| format!("`gpfuse/settings`: {e}"))?;
    let diagnostics =
        serde_json::from_str(group.text("diagnostics")?).map_err(|e| json("diagnostics", e))?;
    let has = |name: &str| group.data(name).is_ok();
    // Only where the number of experts was chosen.
    let chosen = match has("chosen") {
        true => serde_json::from_str(group.text("chosen")?).map_err(|e| json("chosen", e))?,
        false => None,
    };
    // Only where the inputs are not columns of numbers as they stand.
    let columns = match has("columns") {
        true => Some(
            serde_json::from_str::<Columns>(group.text("columns")?)
                .map_err(|e| json("columns", e))?,
        ),
        false => None,
    };
    // Only of given experts.
    let worth = match has("worth") {
        true => serde_json::from_str(group.text("worth")?).map_err(|e| json("worth", e))?,
        false => None,
    };
    // Only of a rounded target.
    let resolution = match has("resolution") {
        true => Some(group.number("resolution")?),
        false => None,
    };
    if resolution.is_some_and(|step| !(step.is_finite() && step > 0.0)) {
        return Err("`gpfuse/resolution` is not a positive number".into());
    }
    let inputs = group.texts("input")?.to_vec();
    let pairs = group.numbers("input_shift")?.iter().zip(group.numbers("input_scale")?);
    let scaler = Scaler {
        inputs: pairs.map(|(shift, scale)| Affine { shift: *shift, scale: *scale }).collect(),
        target: Affine {
            shift: group.number("target_shift")?,
            scale: group.number("target_scale")?,
        },
    };
    let usable = |a: &Affine| a.shift.is_finite() && a.scale.is_finite() && a.scale > 0.0;
    if scaler.inputs.len() != inputs.len()
        || !scaler.inputs.iter().chain([&scaler.target]).all(usable)
    {
        return Err("its scaler does not fit its inputs".into());
    }
    let bases = bases::read(&group, &settings, inputs.len())?;
    let model = settings.model(bases).map_err(|e| e.to_string())?;
    let model = model.rounded(gpfuse::resolution::variance(resolution, scaler.target.scale));
    let draws = draws::read(tree, &model)?;
    let target = group.text("target")?.to_string();
    let (experts, rows) = experts::read(tree, &group, model.learned(), inputs.len(), &target)?;
    let given = experts.count().unwrap_or(0);
    let said = experts::read_said(&group, given, rows.len())?.map(Arc::new);
    let data = Arc::new(rows::read(tree, inputs, columns, &target)?);
    if data.len() != rows.len() {
        return Err("its training rows do not fit their numbers".into());
    }
    let (model, kept) = (Arc::new(model), Kept::default());
    Ok(Fitted {
        settings,
        scaler,
        model,
        draws,
        diagnostics,
        experts,
        rows,
        data,
        said,
        resolution,
        chosen,
        worth,
        kept,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_spell_control_characters_out() {
        let text = r#"{"method": "a\n\u001bb"}"#.to_string();
        let settings = var("settings", &[], Data::Str(vec![text]));
        let tree = Tree { groups: vec![group("gpfuse", &[], vec![settings])] };
        let error = read(&tree).unwrap_err();
        assert!(error.contains(r"`a\n\u{1b}b`"), "{error:?}");
        assert!(!error.contains(char::is_control), "{error:?}");
    }
}
