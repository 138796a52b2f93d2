//! What somebody says about a fit, and the settings that it comes to.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{AUTO, Only, Setting, Style, all, find};
use crate::basis::hilbert;
use crate::fit::{BasisChoice, FitSettings};
use crate::model::{Method, Priors};
use crate::{Error, Result};

/// Settings that were given, by name; what is not here has its default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Given(BTreeMap<&'static str, Value>);

/// Settings, and those given that have no effect on them.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The settings, not checked yet.
    pub settings: FitSettings,
    /// What was given without effect.
    pub unused: Vec<Unused>,
}

/// A setting that was given and has no effect.
#[derive(Debug, Clone, Copy)]
pub struct Unused {
    /// The setting.
    pub setting: &'static Setting,
    method: Method,
    basis: BasisChoice,
}

impl Unused {
    /// Whether another basis would use it, and not another method.
    pub fn on_basis(&self) -> bool {
        matches!(self.setting.only, Only::Basis(_))
    }

    /// What to tell whoever gave it.
    pub fn render(&self, style: Style) -> String {
        let why = match self.setting.only {
            Only::Basis(of) => match self.basis {
                BasisChoice::Auto => format!("is for the {} basis, not for these inputs", word(of)),
                basis => format!("is for the {} basis, not for {}", word(of), word(basis)),
            },
            Only::Partition(of) if self.method.fuses() => {
                format!("is for the partition {}", word(of))
            }
            _ => format!("is not for {}", self.method),
        };
        let name = style.name(self.setting.name);
        format!("setting `{name}`: {why}: it has no effect, leave it out")
    }
}

/// A value as it is written in files.
fn word(value: impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().into()
}

impl Given {
    /// Read settings under the names of a style: keys of a settings file, or Python's.
    ///
    /// # Errors
    /// If there is no such setting, or its value has another form.
    pub fn read(pairs: impl IntoIterator<Item = (String, Value)>, style: Style) -> Result<Given> {
        let mut given = Given::default();
        for (name, value) in pairs {
            let Some(setting) = all().iter().find(|s| style.name(s.name) == name) else {
                let known: Vec<String> =
                    all().iter().map(|s| format!("`{}`", style.name(s.name))).collect();
                let problem = format!("unknown key `{name}`, expected one of {}", known.join(", "));
                return Err(Error::setting("settings", problem));
            };
            let value = setting.tidy(value);
            // A table of frequencies is for whoever reads files.
            setting.check(&value)?;
            given.0.insert(setting.name, value);
        }
        Ok(given)
    }

    /// Give a setting a value; a name that no setting has is passed over.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        if let Some(setting) = find(name) {
            self.0.insert(setting.name, setting.tidy(value.into()));
        }
    }

    /// Give a setting a number, which need not be finite: it is refused later, by its bounds.
    pub fn set_number(&mut self, name: &str, number: f64) {
        match number.is_finite() {
            true => self.set(name, number),
            false => self.set(name, number.to_string()),
        }
    }

    /// The value that was given.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Take a value back.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// The names of what was given, in the order in which settings are shown.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        all().iter().map(|s| s.name).filter(|name| self.0.contains_key(name))
    }

    /// These, and where they say nothing those.
    pub fn or(mut self, other: Given) -> Given {
        for (name, value) in other.0 {
            self.0.entry(name).or_insert(value);
        }
        self
    }

    /// The settings for a table with these inputs, with those of `base` where nothing was given.
    /// What a setting implies is decided here: frequencies ask for the basis that has them, an input
    /// to follow for stretches along it, a number of experts for rows that are divided among them.
    ///
    /// # Errors
    /// If a value has another form or names an input that is not there.
    pub fn settle(&self, base: &FitSettings, inputs: &[String]) -> Result<Settled> {
        let mut all = serde_json::to_value(base).map_err(|e| unwritable(&e))?;
        let mut put = |setting: &Setting, value: Value| {
            let part =
                if setting.section.is_empty() { &mut all } else { &mut all[setting.section] };
            part[setting.key] = value;
        };
        for (name, value) in &self.0 {
            let Some(setting) = find(name) else { continue };
            setting.check(value)?;
            let value = match *name {
                "along" => number(setting.name, value, inputs)?.into(),
                "expert_inputs" => lists(setting.name, value, inputs)?,
                "priors" => {
                    let read = serde_json::from_value::<Priors>(value.clone());
                    let problem = |e: serde_json::Error| Error::setting("priors", e.to_string());
                    serde_json::to_value(read.map_err(problem)?).map_err(|e| unwritable(&e))?
                }
                // A number of its own, which stands beside the one that is not used then.
                "experts" if value == AUTO => continue,
                "no_scale" => continue,
                _ => value.clone(),
            };
            put(setting, value);
        }
        if self.get("no_scale").and_then(Value::as_bool) == Some(true) {
            find("scaling").into_iter().for_each(|scaling| put(scaling, "none".into()));
        }
        let learned = base.method.learns_experts();
        let method = self.get("method").and_then(|name| name.as_str()?.parse::<Method>().ok());
        if self.get("partition").is_none() {
            let mut implied = vec![("along", "contiguous"), ("expert_inputs", "inputs")];
            if !method.map_or(learned, Method::learns_experts) {
                implied.push(("experts", "random"));
            }
            if let Some((_, value)) = implied.iter().find(|(name, _)| self.get(name).is_some()) {
                find("partition").into_iter().for_each(|s| put(s, (*value).into()));
            }
        }
        let mut settings: FitSettings = serde_json::from_value(all).map_err(|e| unwritable(&e))?;
        if let Some(experts) = self.get("experts") {
            settings.choose_experts = experts == AUTO;
        }
        if !self.0.contains_key("threads") {
            settings.sampler.threads = base.sampler.threads;
        }
        let rff = ["frequencies", "scheme", "omega"].iter().any(|n| self.0.contains_key(n));
        let (size, functions) = (settings.size, settings.functions);
        settings.basis = settings.basis.implied(rff, size, functions, inputs.len());
        let unused = self.unused(base, &settings, inputs.len());
        Ok(Settled { settings, unused })
    }

    /// What was given without effect: a value that is the default changes nothing anyway.
    fn unused(&self, base: &FitSettings, settings: &FitSettings, inputs: usize) -> Vec<Unused> {
        let basis = match settings.basis {
            BasisChoice::Auto if inputs <= 2 => BasisChoice::Hilbert,
            BasisChoice::Auto => BasisChoice::Eigen,
            basis => basis,
        };
        let mut out = Vec::new();
        for setting in self.names().filter_map(find) {
            let partition = settings.expert.partition;
            let works = setting.only.holds(settings.method, |of| of == basis, partition);
            let auto = setting.name == "experts" && settings.choose_experts;
            if !works && (auto || setting.value_in(base) != setting.value_in(settings)) {
                out.push(Unused { setting, method: settings.method, basis });
            }
        }
        out
    }
}

impl BasisChoice {
    /// The choice that goes with settings of one basis, where none was made.
    pub(crate) fn implied(
        self,
        rff: bool,
        size: Option<usize>,
        functions: Option<usize>,
        inputs: usize,
    ) -> BasisChoice {
        let boxed = size.is_some() && inputs <= hilbert::INPUT_LIMIT;
        match self {
            BasisChoice::Auto if rff => BasisChoice::Rff,
            BasisChoice::Auto if functions.is_some() => BasisChoice::Eigen,
            BasisChoice::Auto if boxed => BasisChoice::Hilbert,
            choice => choice,
        }
    }
}

fn unwritable(error: &serde_json::Error) -> Error {
    Error::setting("settings", error.to_string())
}

/// The number of an input that is given by its name or number.
fn number(setting: &'static str, value: &Value, inputs: &[String]) -> Result<usize> {
    let known = || inputs.iter().map(|i| format!("`{i}`")).collect::<Vec<_>>().join(", ");
    let (found, shown) = match value {
        Value::String(name) => {
            let name = name.trim();
            (inputs.iter().position(|input| input == name), format!("`{name}`"))
        }
        other => {
            let at = other.as_u64().and_then(|at| usize::try_from(at).ok());
            (at.filter(|at| *at < inputs.len()), format!("{other} (from 0)"))
        }
    };
    found.ok_or_else(|| {
        Error::setting(setting, format!("there is no input {shown}: use {}", known()))
    })
}

/// The numbers of the inputs that the levels of a category have, where that is what is named.
fn of_category(value: &Value, inputs: &[String]) -> Vec<usize> {
    let Some(name) = value.as_str().map(str::trim) else { return Vec::new() };
    let level = |input: &String| input.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    let levels = (0..inputs.len()).filter(|at| level(&inputs[*at]));
    if inputs.iter().any(|input| input == name) { Vec::new() } else { levels.collect() }
}

/// The numbers of the inputs of each expert: lists, or texts with commas.
fn lists(setting: &'static str, value: &Value, inputs: &[String]) -> Result<Value> {
    let mut out = Vec::new();
    for list in value.as_array().into_iter().flatten() {
        let chosen: Vec<Value> = match list {
            Value::String(names) => names.split(',').map(Value::from).collect(),
            Value::Array(listed) => listed.clone(),
            other => vec![other.clone()],
        };
        let chosen = chosen.iter().map(|input| match of_category(input, inputs) {
            all if all.is_empty() => number(setting, input, inputs).map(|one| vec![one]),
            all => Ok(all),
        });
        out.push(chosen.collect::<Result<Vec<Vec<usize>>>>()?.concat());
    }
    serde_json::to_value(out).map_err(|e| unwritable(&e))
}

impl FitSettings {
    /// All settings by name that have an effect, with inputs by their names: as given, they make
    /// the same settings again. Threads and what is not set are left out.
    pub fn flat(&self, inputs: &[String]) -> Vec<(&'static Setting, Value)> {
        let mut out = Vec::new();
        let name = |at: &usize| inputs.get(*at).cloned().unwrap_or_else(|| at.to_string());
        for setting in all() {
            let on = |of| [of, BasisChoice::Auto].contains(&self.basis);
            let works = setting.only.holds(self.method, on, self.expert.partition);
            // Beside an open choice of the basis, frequencies would ask for RFF.
            let asks =
                ["frequencies", "scheme"].contains(&setting.name) && self.basis != BasisChoice::Rff;
            let value = match setting.name {
                "along" => Value::from(name(&self.expert.along)),
                "expert_inputs" => {
                    let list = |l: &Vec<usize>| l.iter().map(name).collect::<Vec<_>>();
                    self.expert.inputs.iter().map(list).collect()
                }
                "experts" if self.choose_experts => AUTO.into(),
                _ => setting.value_in(self),
            };
            let none = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            if works && !asks && !none {
                out.push((setting, value));
            }
        }
        out
    }
}
