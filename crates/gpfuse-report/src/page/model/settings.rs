//! The settings of a model as a settings file, and how to fit it again.

use gpfuse::fit::{BasisChoice, Experts, FitSettings};
use gpfuse::model::Method;
use serde_json::{Map, Value};

use super::Model;
use crate::page::document::{Block, Section};
use crate::page::sweep::reproduce::quoted;

/// All settings, in the form that `--settings` reads.
pub(super) fn settings(model: &Model<'_>) -> Section {
    let fitted = &model.fitted;
    let mut section = Section::new("settings", "Settings")
        .with(Block::text("All settings of the fit, in the form that `--settings` reads."))
        .with(Block::code("Settings file", file(&fitted.settings, &model.fitted.inputs())));
    if fitted.settings.omega.is_some() {
        let words = "The frequencies were given in a table, which `--omega` names.";
        section = section.with(Block::text(words));
    }
    section
}

/// Versions and commands.
pub(super) fn reproduce(model: &Model<'_>) -> Section {
    let fitted = model.fitted;
    let command = match fitted.experts {
        Experts::Named(_) => "stack",
        _ => "fit",
    };
    let path = model.path.display().to_string();
    let inputs: Vec<&str> = fitted.inputs().iter().map(String::as_str).collect();
    let mut lines = vec![
        format!(
            "gpfuse {command} TRAIN.csv --target {} --inputs {} --settings settings.toml --out {}",
            quoted(&fitted.target()),
            quoted(&inputs.join(",")),
            quoted(&path)
        ),
        format!("gpfuse report {}", quoted(&path)),
    ];
    if let Some((data, _)) = model.scored {
        let data = quoted(&data.display().to_string());
        lines[1] += &format!(" --data {data}");
        lines.push(format!("gpfuse evaluate {} {data}", quoted(&path)));
    }
    let words = format!(
        "With the settings above as `settings.toml` and the table that the model was fitted to as \
         `TRAIN.csv`. This page was made by gpfuse {}; the same version and settings give the same \
         draws on any number of threads.",
        env!("CARGO_PKG_VERSION")
    );
    Section::new("reproduce", "How to reproduce")
        .with(Block::text(words))
        .with(Block::code("Commands", lines.join("\n")))
}

/// The settings with the names that the flags have.
fn file(settings: &FitSettings, inputs: &[String]) -> String {
    let mut all = match serde_json::to_value(settings) {
        Ok(Value::Object(all)) => all,
        _ => Map::new(),
    };
    let mut out = Map::new();
    let stacking = !settings.method.learns_experts();
    let mut put = |from: &Map<String, Value>, key: &str, to: &str| {
        if let Some(value) = from.get(key).filter(|v| !v.is_null()) {
            out.insert(to.into(), value.clone());
        }
    };
    let rff = settings.basis == BasisChoice::Rff;
    for key in [
        "method",
        "experts",
        "plain",
        "basis",
        "frequencies",
        "scheme",
        "size",
        "box",
        "kernel",
        "normalise",
        "density",
        "scaling",
        "combine",
    ] {
        let unused = (key == "experts" && settings.method == Method::Het)
            || (["frequencies", "scheme"].contains(&key) && !rff)
            || (key == "size" && rff);
        if !unused {
            put(&all, key, key);
        }
    }
    if let Some(Value::Object(sampler)) = all.remove("sampler") {
        sampler.keys().for_each(|key| put(&sampler, key, &key.replace('_', "-")));
    }
    if let (true, Some(Value::Object(mut own))) = (stacking, all.remove("expert")) {
        let name = |at: &Value| {
            let input = at.as_u64().and_then(|i| inputs.get(i as usize));
            input.cloned().unwrap_or_default()
        };
        let contiguous = own.get("partition").and_then(Value::as_str) == Some("contiguous");
        let along = own.get("along").map(name).filter(|_| contiguous);
        own.insert("along".into(), along.map_or(Value::Null, Value::String));
        let lists = own.get("inputs").and_then(Value::as_array).filter(|l| !l.is_empty());
        let lists = lists.map(|lists| {
            let list = |l: &Value| l.as_array().into_iter().flatten().map(name).collect::<Vec<_>>();
            Value::Array(lists.iter().map(|l| Value::String(list(l).join(","))).collect())
        });
        own.insert("inputs".into(), lists.unwrap_or(Value::Null));
        for (key, to) in [
            ("partition", "partition"),
            ("along", "along"),
            ("hold_out", "hold-out"),
            ("kernel", "expert-kernel"),
            ("objective", "expert-objective"),
            ("inputs", "expert-inputs"),
        ] {
            put(&own, key, to);
        }
    }
    let line = |(key, value): (&String, &Value)| format!("{key} = {value}\n");
    let mut text: String = out.iter().map(line).collect();
    if let Some(Value::Object(priors)) = all.remove("priors") {
        for (name, table) in &priors {
            if let Value::Object(table) = table {
                text += &format!("\n[priors.{name}]\n");
                text += &table.iter().filter(|(_, v)| !v.is_null()).map(line).collect::<String>();
            }
        }
    }
    text
}
