//! What is declared about settings is what they are, and what is given becomes settings.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use gpfuse::Error;
use gpfuse::experts::{self, Partition};
use gpfuse::fit::{BasisChoice, FitSettings};
use gpfuse::model::Method;
use gpfuse::settings::{Advice, Bounds, Form, Given, Message, Style, all, find};
use serde_json::{Value, json};

fn inputs(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("x{i}")).collect()
}

fn given(pairs: Value) -> Given {
    Given::read(pairs.as_object().unwrap().clone(), Style::Python).unwrap()
}

fn settled(pairs: Value, count: usize) -> FitSettings {
    given(pairs).settle(&FitSettings::default(), &inputs(count)).unwrap().settings
}

/// Every leaf of the written settings is declared, and every declaration has its leaf.
#[test]
fn declarations_are_the_settings() {
    let written = serde_json::to_value(FitSettings::default()).unwrap();
    let mut leaves = Vec::new();
    for (key, value) in written.as_object().unwrap() {
        match key.as_str() {
            section @ ("expert" | "sampler") => {
                leaves.extend(value.as_object().unwrap().keys().map(|k| (section, k.as_str())));
            }
            key => leaves.push(("", key)),
        }
    }
    // Threads are no part of what is written.
    leaves.push(("sampler", "threads"));
    let mut declared: Vec<(&str, &str)> =
        all().iter().filter(|s| s.section != "alias").map(|s| (s.section, s.key)).collect();
    leaves.sort_unstable();
    declared.sort_unstable();
    assert_eq!(declared, leaves);
    for setting in all() {
        assert_eq!(find(setting.name), Some(setting), "two are called {}", setting.name);
        assert!(setting.help.len() > 5 && setting.help.ends_with('.'), "{}", setting.name);
        let default = setting.value_in(&FitSettings::default());
        if !default.is_null() && setting.form != Form::InputLists {
            setting.check(&default).unwrap();
        }
        if let Form::Choice(names) = setting.form {
            assert!(names.len() > 1, "{}", setting.name);
        }
    }
    assert_eq!(find("max_depth").unwrap().bounds, Bounds::From(1.0, 20.0));
}

/// A bound holds for the field and for what is given, and is named in both.
#[test]
fn bounds_are_those_of_the_declaration() {
    for setting in all() {
        let beyond = match setting.bounds {
            Bounds::None => continue,
            Bounds::From(_, high) | Bounds::Between(_, high) | Bounds::Above(_, high) => high + 1.0,
        };
        let whole = matches!(setting.form, Form::Whole | Form::Count);
        let value = if whole { json!(beyond as u64) } else { json!(beyond) };
        let found = given(json!({ "partition": "random", "method": "bhs" }));
        let mut found = found.settle(&FitSettings::default(), &inputs(1)).unwrap().settings;
        let mut written = serde_json::to_value(&found).unwrap();
        let part =
            if setting.section.is_empty() { &mut written } else { &mut written[setting.section] };
        part[setting.key] = value;
        found = serde_json::from_value(written).unwrap();
        match found.check().unwrap_err() {
            Error::Setting { name, .. } => assert_eq!(name, setting.name),
            other => panic!("{}: {other}", setting.name),
        }
    }
}

#[test]
fn what_is_given_implies_what_uses_it() {
    let basis = |pairs: Value, count: usize| settled(pairs, count).basis;
    assert_eq!(basis(json!({}), 3), BasisChoice::Auto);
    assert_eq!(basis(json!({ "frequencies": 30 }), 1), BasisChoice::Rff);
    assert_eq!(basis(json!({ "size": 40 }), 3), BasisChoice::Hilbert);
    assert_eq!(basis(json!({ "size": 40 }), 4), BasisChoice::Auto);
    assert_eq!(basis(json!({ "size": 40, "scheme": "iid" }), 1), BasisChoice::Rff);
    assert_eq!(basis(json!({ "size": 40, "basis": "eigen" }), 1), BasisChoice::Eigen);
    let expert = |pairs: Value| settled(pairs, 2).expert;
    let along = expert(json!({ "along": "x1" }));
    assert_eq!((along.partition, along.along), (Partition::Contiguous, 1));
    assert_eq!(expert(json!({ "along": 1, "partition": "random" })).partition, Partition::Random);
    for lists in [json!(["x1", "x0,x1"]), json!([["x1"], [0, 1]])] {
        let settings = expert(json!({ "expert_inputs": lists }));
        assert_eq!(
            (settings.partition, settings.inputs),
            (Partition::Inputs, vec![vec![1], vec![0, 1]])
        );
    }
    assert_eq!(settled(json!({}), 1), FitSettings::default());
}

#[test]
fn wrong_values_are_refused_by_name() {
    let cases = [
        (json!({ "chains": "four" }), "setting `chains`: `four` is no whole number"),
        (json!({ "chains": 4.5 }), "setting `chains`: 4.5 is no whole number"),
        (json!({ "kernel": "cubic" }), "setting `kernel`: `cubic` is unknown: use one of `rbf`"),
        (json!({ "box": "wide" }), "setting `box`: `wide` is no number"),
        (json!({ "plain": 1 }), "setting `plain`: 1 is not true or false"),
        (json!({ "along": 2 }), "setting `along`: there is no input 2 (from 0): use `x0`, `x1`"),
        (json!({ "expert_inputs": [["z"]] }), "there is no input `z`"),
        (json!({ "omega": 3 }), "setting `omega`: 3 is no list of frequencies"),
        (json!({ "priors": { "mu": { "length": 1 } } }), "unknown field `length`"),
        (json!({ "chain": 4 }), "unknown key `chain`, expected one of `scaling`"),
    ];
    for (pairs, words) in cases {
        let read = Given::read(pairs.as_object().unwrap().clone(), Style::Python);
        let error = match read.and_then(|g| g.settle(&FitSettings::default(), &inputs(2))) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{pairs} was taken"),
        };
        assert!(error.contains(words), "{error}: no `{words}`");
    }
    let mut odd = Given::default();
    odd.set_number("target_accept", f64::NAN);
    let error = odd.settle(&FitSettings::default(), &inputs(1)).unwrap_err().to_string();
    assert_eq!(error, "setting `target_accept`: NaN must lie between 0.1 and 0.9999");
}

/// Settings that are written out by name and given again are the same where they have an effect.
#[test]
fn settings_come_back_from_their_names() {
    let expert = experts::Settings {
        partition: Partition::Contiguous,
        along: 1,
        hold_out: Some(0.3),
        ..experts::Settings::default()
    };
    let cases = [
        FitSettings::default(),
        FitSettings { method: Method::Het, size: Some(12), box_factor: 3.0, ..Default::default() },
        FitSettings { method: Method::Pbhs, plain: true, expert, ..Default::default() },
        FitSettings { basis: BasisChoice::Rff, frequencies: 7, ..Default::default() },
    ];
    for settings in cases {
        let pairs = settings.flat(&inputs(2)).into_iter().map(|(s, v)| (s.flag(), v));
        let again = Given::read(pairs, Style::SettingsFile).unwrap();
        let again = again.settle(&FitSettings::default(), &inputs(2)).unwrap();
        assert!(again.unused.is_empty(), "{:?}", again.unused);
        let basis = settings.basis;
        let hilbert = settings.size.is_some() && basis == BasisChoice::Auto;
        let basis = if hilbert { BasisChoice::Hilbert } else { basis };
        assert_eq!(again.settings, FitSettings { basis, ..settings });
    }
}

/// The library names settings, and leaves it to the front ends to spell flags. Whole command lines
/// may stand in files and pages: they are what the program is told, not advice about a setting.
#[test]
fn no_text_of_the_library_has_a_flag() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut seen = 0;
    for name in ["gpfuse", "gpfuse-io", "gpfuse-report"] {
        let mut folders = vec![crates.join(name).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") {
                    seen += 1;
                    check(&path);
                }
            }
        }
    }
    assert!(seen > 50, "{seen} files");
}

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    // Tests of the front ends' words stand behind the code.
    let code = text.split("#[cfg(test)]").next().unwrap();
    for (at, line) in code.lines().enumerate() {
        let comment = line.trim_start().starts_with("//");
        let command = ["gpfuse ", "--features", "var(--"].iter().any(|word| line.contains(word));
        let styled = path.ends_with("settings/advice.rs") || line.contains("\" --data {data}\"");
        let flag = line.match_indices("--").any(|(i, _)| {
            let before = line[..i].chars().next_back();
            let after = line[i + 2..].chars().next();
            after.is_some_and(|c| c.is_ascii_lowercase())
                && before.is_none_or(|c| " (`\"".contains(c))
        });
        assert!(comment || command || styled || !flag, "{}:{}: {line}", path.display(), at + 1);
    }
}

fn message() -> Message {
    Message::new("not mixed: try more draws")
        .advise("warmup", 1000)
        .advise("draws", 1000)
        .say(", the Hilbert basis")
        .advise("basis", "hilbert")
        .say(" or longer trajectories")
        .mention("max_depth")
}

#[test]
fn advice_is_said_in_three_ways() {
    let start = "not mixed: try more draws (";
    let cases = [
        (
            Style::CommandLine,
            "--warmup 1000 --draws 1000), the Hilbert basis (--basis hilbert) or longer \
             trajectories (--max-depth)",
        ),
        (
            Style::Python,
            "warmup=1000, draws=1000), the Hilbert basis (basis=\"hilbert\") or longer \
             trajectories (max_depth)",
        ),
        (
            Style::SettingsFile,
            "warmup = 1000, draws = 1000), the Hilbert basis (basis = \"hilbert\") or longer \
             trajectories (max-depth)",
        ),
    ];
    for (style, words) in cases {
        assert_eq!(message().render(style), format!("{start}{words}"));
    }
    let flag = Advice { setting: "rao_blackwell".into(), value: Some(false.into()) };
    assert_eq!(flag.render(Style::CommandLine), "without --rao-blackwell");
    assert_eq!(flag.render(Style::Python), "rao_blackwell=False");
}

#[test]
fn messages_and_the_texts_of_old_files_are_read() {
    let text = serde_json::to_string(&message()).unwrap();
    assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message());
    let old: Message = serde_json::from_str("\"use --draws 500\"").unwrap();
    assert_eq!(old.render(Style::Python), "use --draws 500");
    let odd: Message =
        serde_json::from_str(r#"{"text":"é","advice":[{"at":1,"setting":"draws"}]}"#).unwrap();
    assert_eq!(odd.render(Style::Python), "é (draws)");
}

#[test]
fn settings_in_backticks_are_flags_on_the_command_line() {
    let text = "stretches along an input (`along`), or `x`";
    assert_eq!(Style::CommandLine.rewrite(text), "stretches along an input (--along), or `x`");
    assert_eq!(Style::Python.rewrite(text), text);
}
