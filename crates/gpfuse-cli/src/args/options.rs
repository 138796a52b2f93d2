//! The library's settings as flags, and the settings file, which has the same keys.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Context, anyhow};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use gpfuse::calibrate;
use gpfuse::fit::FitSettings;
use gpfuse::named::meant;
use gpfuse::settings::{AUTO, Form, Given, Group, Setting, Style, all};
use serde::de::DeserializeOwned;
use toml::Spanned;

pub(super) const KERNELS: [&str; 4] = ["rbf", "matern12", "matern32", "matern52"];

/// Some names, which may be typed in any case, with or without dashes.
#[derive(Clone)]
pub(super) struct Names(Vec<&'static str>);

impl Names {
    pub(super) fn new(names: impl IntoIterator<Item = &'static str>) -> Names {
        Names(names.into_iter().collect())
    }
}

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        typed: &OsStr,
    ) -> Result<String, clap::Error> {
        let known = typed.to_str().and_then(|word| meant(self.0.iter().copied(), word));
        let names = PossibleValuesParser::new(&self.0);
        names.parse_ref(command, arg, known.map_or(typed, OsStr::new))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}

/// A flag whose values are the serde names of a type's variants.
pub(super) fn named<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    Names::new(names.iter().copied()).try_map(|name| {
        serde_json::from_value::<T>(serde_json::Value::String(name)).map_err(|e| e.to_string())
    })
}

/// The settings that every fitting command shares, as they were typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct FitOptions {
    pub(crate) given: Given,
}

/// The settings of `gpfuse sbc`.
#[derive(Debug, Clone, Default)]
pub(crate) struct SbcOptions {
    pub(crate) given: Given,
}

/// The settings that a calibration study takes from those of a fit.
const STUDIED: [&str; 18] = [
    "method",
    "experts",
    "plain",
    "basis",
    "frequencies",
    "size",
    "kernel",
    "normalise",
    "density",
    "metric",
    "chains",
    "warmup",
    "draws",
    "max_depth",
    "target_accept",
    "start",
    "seed",
    "threads",
];

macro_rules! flags_of {
    ($type:ident, $settings:expr, $defaults:expr) => {
        impl Args for $type {
            fn augment_args(command: Command) -> Command {
                let defaults = serde_json::to_value($defaults).unwrap_or_default();
                $settings.fold(command, |command, setting| match flag(setting, &defaults) {
                    Some(flag) => command.arg(flag),
                    None => command,
                })
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for $type {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                let mut given = Given::default();
                $settings.for_each(|setting| take(setting, matches, &mut given));
                Ok($type { given })
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

flags_of!(FitOptions, all().iter(), FitSettings::default());
flags_of!(
    SbcOptions,
    all().iter().filter(|s| STUDIED.contains(&s.name)),
    calibrate::Settings::default().fit
);

/// The flag of a setting; there is none for what only the settings file has.
fn flag(setting: &'static Setting, defaults: &serde_json::Value) -> Option<Arg> {
    let heading = match setting.group {
        Group::Data => "Data",
        Group::Experts => "Experts",
        Group::Basis => "Basis",
        Group::Sampling => "Sampling",
    };
    let help = Style::CommandLine.rewrite(&setting.help);
    // The short help is the first words, and which values there are.
    let ends = [". ", "; ", ", "].iter().filter_map(|end| help.find(end)).min();
    let start = help[..ends.unwrap_or(help.len())].trim_end_matches('.');
    let (short, values) = match setting.form {
        Form::Choice(names) => {
            let names = names.join(", ");
            (format!("{start}: {names}"), format!(" [possible values: {names}]"))
        }
        _ => (start.to_string(), String::new()),
    };
    let default = format!("[default: {}]", setting.default_words(defaults));
    let arg = Arg::new(setting.name)
        .long(setting.flag())
        .help(format!("{short} {default}"))
        .long_help(format!("{} {default}{values}", help.trim_end_matches('.')))
        .help_heading(heading)
        .hide_possible_values(true)
        .hide_short_help(setting.rare);
    let arg = match setting.value_name {
        "" => arg.value_name(setting.name.to_uppercase()),
        name => arg.value_name(name),
    };
    Some(match setting.form {
        Form::Whole => arg.value_parser(value_parser!(u64)),
        Form::Count => arg.value_parser(count),
        Form::Number => arg.value_parser(value_parser!(f64)),
        Form::Choice(names) => arg.value_parser(Names::new(names.iter().copied())),
        Form::Input | Form::Frequencies => arg,
        Form::InputLists => arg.action(ArgAction::Append),
        Form::Flag => {
            let arg = arg.num_args(0..=1).default_missing_value("true").value_name("BOOL");
            arg.value_parser(value_parser!(bool))
        }
        Form::Priors | Form::Mean => return None,
    })
}

/// A whole number, or auto.
fn count(text: &str) -> Result<serde_json::Value, String> {
    match text {
        AUTO => Ok(AUTO.into()),
        number => match number.parse::<u64>() {
            Ok(number) => Ok(number.into()),
            Err(e) => Err(format!("{e}: use a whole number or {AUTO}")),
        },
    }
}

/// What was typed for a setting.
fn take(setting: &'static Setting, matches: &ArgMatches, given: &mut Given) {
    let name = setting.name;
    match setting.form {
        Form::Count => {
            let value = matches.get_one::<serde_json::Value>(name);
            value.into_iter().for_each(|v| given.set(name, v.clone()));
        }
        Form::Whole => matches.get_one::<u64>(name).into_iter().for_each(|v| given.set(name, *v)),
        Form::Number => {
            matches.get_one::<f64>(name).into_iter().for_each(|v| given.set_number(name, *v));
        }
        Form::Flag => matches.get_one::<bool>(name).into_iter().for_each(|v| given.set(name, *v)),
        Form::InputLists => {
            if let Some(lists) = matches.get_many::<String>(name) {
                given.set(name, lists.cloned().collect::<Vec<String>>());
            }
        }
        Form::Choice(_) | Form::Input | Form::Frequencies => {
            let text = matches.get_one::<String>(name);
            text.into_iter().for_each(|v| given.set(name, v.as_str()));
        }
        Form::Priors | Form::Mean => {}
    }
}

impl FitOptions {
    /// These settings, completed by those of a settings file.
    pub(crate) fn with_file(&self, path: Option<&Path>) -> anyhow::Result<Given> {
        let Some(path) = path else { return Ok(self.given.clone()) };
        let name = path.display();
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("settings file `{name}`: check the path"))?;
        let wrong = |offset: usize, problem: String| {
            let line = text.get(..offset).unwrap_or_default().matches('\n').count() + 1;
            anyhow!("settings file `{name}`, line {line}: {problem}")
        };
        let file: BTreeMap<Spanned<String>, toml::Value> = toml::from_str(&text).map_err(|e| {
            let problem = e.message().lines().collect::<Vec<_>>().join(", ");
            wrong(e.span().map_or(0, |span| span.start), problem)
        })?;
        let mut given = self.given.clone();
        for (key, value) in file {
            let at = key.span().start;
            let one = read([(key.into_inner(), value)]).map_err(|problem| wrong(at, problem))?;
            given = given.or(one);
        }
        Ok(given)
    }
}

/// Settings from the keys of a settings file, or what is wrong with them.
pub(crate) fn read(
    pairs: impl IntoIterator<Item = (String, toml::Value)>,
) -> Result<Given, String> {
    let pairs = pairs.into_iter().map(|(key, value)| {
        // JSON has no NaN and no infinity: they become null, which no setting takes.
        (key, serde_json::to_value(value).unwrap_or_default())
    });
    Given::read(pairs, Style::SettingsFile).map_err(|error| match error {
        gpfuse::Error::Setting { name: "settings", problem } => problem.text,
        other => other.render(Style::SettingsFile),
    })
}
