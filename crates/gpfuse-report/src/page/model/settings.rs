//! The settings of a model as a settings file, and how to fit it again.

use gpfuse::fit::{Experts, FitSettings};
use serde_json::Value;

use super::Model;
use crate::page::document::{Block, Section};
use crate::page::sweep::reproduce::quoted;

/// All settings, in the form of a settings file.
pub(super) fn settings(model: &Model<'_>) -> Section {
    let fitted = &model.fitted;
    let mut section = Section::new("settings", "Settings")
        .with(Block::text("All settings of the fit, in the form of a settings file."))
        .with(Block::code("Settings file", file(&fitted.settings, model.fitted.inputs())));
    if fitted.settings.omega.is_some() {
        let words = "The frequencies were given in a table, which the setting `omega` names.";
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
    let inputs = fitted.columns().names();
    let mut lines = vec![
        format!(
            "gpfuse {command} TRAIN.csv --target {} --inputs {} --settings settings.toml --out {}",
            quoted(fitted.target()),
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

/// The settings under the keys of a settings file.
fn file(settings: &FitSettings, inputs: &[String]) -> String {
    let line = |key: &str, value: &Value| format!("{key} = {value}\n");
    let (mut text, mut tables) = (String::new(), String::new());
    for (setting, value) in settings.flat(inputs) {
        match value {
            // Frequencies are in a table of their own.
            _ if setting.name == "omega" => {}
            Value::Object(priors) => {
                for (name, table) in &priors {
                    tables += &format!("\n[{}.{name}]\n", setting.flag());
                    let scales = table.as_object().into_iter().flatten();
                    tables.extend(scales.map(|(key, value)| line(key, value)));
                }
            }
            value => text += &line(&setting.flag(), &value),
        }
    }
    text + &tables
}
