//! Settings, each declared once: from the declaration come the field, its default and its bounds
//! here, the flag of the program, the key of the settings file and the parameter in Python.
//!
//! A declaration is a field in a `settings!` block of `fit`, `infer` or `experts`. Its doc comment
//! is the help that every front end shows; names of settings stand in backticks there.

mod advice;
mod given;
mod names;

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::Value;

pub use advice::{Advice, Message, Placed, Style};
pub use given::{Given, Settled, Unused};
pub(crate) use names::Typed;

use crate::experts::Partition;
use crate::fit::{BasisChoice, FitSettings};
use crate::model::Method;
use crate::named::meant;
use crate::{Error, Result};

/// The methods that learn weights for experts that are there first.
pub(crate) const STACKED: &[Method] = &[Method::Bhs, Method::Pbhs];

/// Under which heading a setting stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// How the table is used.
    Data,
    /// The method and its experts.
    Experts,
    /// What stands for the GPs.
    Basis,
    /// How draws are made.
    Sampling,
}

/// How values of a setting are written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A whole number, 0 or more.
    Whole,
    /// A whole number, 1 or more, or auto.
    Count,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// An input, by its name or its number from 0.
    Input,
    /// A list of inputs for each expert.
    InputLists,
    /// Base frequencies, or on the command line the table that has them.
    Frequencies,
    /// Prior scales by their names.
    Priors,
    /// A fixed mean, or a learned one.
    Mean,
}

/// The word for a number that is chosen from the data.
pub const AUTO: &str = "auto";

/// Which numbers are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bounds {
    /// All.
    None,
    /// From the first to the second.
    From(f64, f64),
    /// Above the first, below the second.
    Between(f64, f64),
    /// Above the first, up to the second.
    Above(f64, f64),
}

impl Bounds {
    /// Refuse a number out of bounds, which is shown as `text`.
    fn check(self, name: &'static str, number: f64, text: &str) -> Result<()> {
        let (inside, problem) = match self {
            Bounds::None => return Ok(()),
            Bounds::From(low, high) => (
                number >= low && number <= high,
                format!("{text} is out of range: use {low} to {high}"),
            ),
            Bounds::Between(low, high) => {
                (number > low && number < high, format!("{text} must lie between {low} and {high}"))
            }
            Bounds::Above(low, high) => (
                number > low && number <= high,
                format!("{text} must lie above {low}, up to {high}"),
            ),
        };
        if inside { Ok(()) } else { Err(Error::setting(name, problem)) }
    }
}

/// Where a setting has an effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Only {
    /// Everywhere.
    Always,
    /// With these methods.
    Methods(&'static [Method]),
    /// With methods and rules that fuse experts that are there first.
    Fusing,
    /// With those, and one exact GP.
    Trained,
    /// With methods that have a number of experts.
    Several,
    /// On this basis.
    Basis(BasisChoice),
    /// With experts that differ in this way.
    Partition(Partition),
}

impl Only {
    /// Whether there is an effect with a method, on a basis and with a partition.
    fn holds(
        self,
        method: Method,
        basis: impl Fn(BasisChoice) -> bool,
        partition: Partition,
    ) -> bool {
        match self {
            Only::Always => true,
            Only::Methods(methods) => methods.contains(&method),
            Only::Fusing => method.fuses(),
            Only::Trained => method.fuses() || method == Method::Gp,
            Only::Several => method.fuses() || matches!(method, Method::Mogpe | Method::Pogpe),
            Only::Basis(of) => basis(of),
            Only::Partition(of) => method.fuses() && of == partition,
        }
    }
}

/// What is declared about a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Its name, which Python has too; the flag and the key have `-` for `_`.
    pub name: &'static str,
    /// The part of the fit's settings that has it: "", "expert" or "sampler".
    pub section: &'static str,
    /// Its key there, in model files.
    pub key: &'static str,
    /// Under which heading it stands.
    pub group: Group,
    /// Whether the short help leaves it out.
    pub rare: bool,
    /// How its values are written.
    pub form: Form,
    /// What a value is called in the help; nothing for words and flags.
    pub value_name: &'static str,
    /// Which numbers are allowed.
    pub bounds: Bounds,
    /// Where it has an effect.
    #[serde(skip)]
    pub only: Only,
    /// What happens where it is not given, if its default does not say so by itself.
    pub unless_given: &'static str,
    /// What it does.
    pub help: String,
}

/// A setting of every day.
pub(crate) fn common(group: Group) -> Setting {
    Setting {
        name: "",
        section: "",
        key: "",
        group,
        rare: false,
        form: Form::Flag,
        value_name: "",
        bounds: Bounds::None,
        only: Only::Always,
        unless_given: "",
        help: String::new(),
    }
}

/// A setting that the short help leaves out.
pub(crate) fn rare(group: Group) -> Setting {
    Setting { rare: true, ..common(group) }
}

impl Setting {
    /// With another name than its field has.
    pub(crate) fn named(mut self, name: &'static str) -> Setting {
        self.name = name;
        self
    }

    /// With another key in files than its field has.
    pub(crate) fn keyed(mut self, key: &'static str) -> Setting {
        self.key = key;
        self
    }

    /// With a word for its value.
    pub(crate) fn value(mut self, name: &'static str) -> Setting {
        self.value_name = name;
        self
    }

    /// With values from `low` to `high`.
    pub(crate) fn from(mut self, low: f64, high: f64) -> Setting {
        self.bounds = Bounds::From(low, high);
        self
    }

    /// With other bounds.
    pub(crate) fn bounds(mut self, bounds: Bounds) -> Setting {
        self.bounds = bounds;
        self
    }

    /// With an effect in some cases only.
    pub(crate) fn only(mut self, only: Only) -> Setting {
        self.only = only;
        self
    }

    /// With values of another form than its field has.
    pub(crate) fn form(mut self, form: Form) -> Setting {
        self.form = form;
        self
    }

    /// With what happens where it is not given.
    pub(crate) fn unless_given(mut self, words: &'static str) -> Setting {
        self.unless_given = words;
        self
    }

    /// With what its field says: `of` has its name, section and help.
    pub(crate) fn of(self, of: [&'static str; 3], form: Form) -> Setting {
        let [field, section, help] = of;
        let or = |given: &'static str, other| if given.is_empty() { other } else { given };
        let key = or(self.key, field);
        Setting {
            name: or(self.name, key),
            section,
            key,
            // A declared form wins over that of the type.
            form: if self.form == Form::Flag { form } else { self.form },
            help: help.trim().to_string(),
            ..self
        }
    }

    /// Refuse a value out of bounds.
    pub(crate) fn within<T: Typed>(&self, field: &'static str, value: &T) -> Result<()> {
        let name = [self.name, self.key, field].into_iter().find(|n| !n.is_empty());
        match value.number() {
            Some((number, text)) => self.bounds.check(name.unwrap_or(field), number, &text),
            None => Ok(()),
        }
    }

    /// The flag, without its dashes, and the key of the settings file.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Its value in some settings, as in files; null where there is none.
    pub fn value_in(&self, settings: &FitSettings) -> Value {
        self.value_of(&serde_json::to_value(settings).unwrap_or_default())
    }

    /// Its value in settings that are written already.
    pub fn value_of(&self, written: &Value) -> Value {
        let part = if self.section.is_empty() { written } else { &written[self.section] };
        part[self.key].clone()
    }

    /// What it is in `written` settings where nothing is given, in words.
    pub fn default_words(&self, written: &Value) -> String {
        match self.value_of(written) {
            // A number that stands there is used, also where the default is to choose one.
            Value::Number(number) => number.to_string().trim_end_matches(".0").into(),
            _ if !self.unless_given.is_empty() => self.unless_given.into(),
            Value::String(word) => word,
            value => value.to_string(),
        }
    }

    /// A word as it is declared, where it was written in another case or with other dashes.
    pub fn tidy(&self, value: Value) -> Value {
        match (self.form, value.as_str()) {
            (Form::Choice(names), Some(word)) => {
                meant(names.iter().copied(), word).map_or(value, Value::from)
            }
            _ => value,
        }
    }

    /// Refuse a value of another form.
    pub fn check(&self, value: &Value) -> Result<()> {
        let refuse = |what: String| {
            let shown = value.as_str().map_or_else(|| value.to_string(), |v| format!("`{v}`"));
            Err(Error::setting(self.name, format!("{shown} is {what}")))
        };
        let texts = |list: &Value| list.as_array().is_some_and(|all| !all.is_empty());
        match self.form {
            Form::Whole if !value.is_u64() => refuse("no whole number: use 0, 1, 2, ...".into()),
            Form::Count if !(value.is_u64() || value == AUTO) => {
                refuse("no whole number and not auto: use 1, 2, 3, ... or auto".into())
            }
            Form::Number => match (value.as_f64(), value.as_str().map(str::parse::<f64>)) {
                (Some(number), _) => self.bounds.check(self.name, number, &number.to_string()),
                // Numbers that JSON cannot hold come as text.
                (_, Some(Ok(number))) if !number.is_finite() => {
                    self.bounds.check(self.name, number, &number.to_string())
                }
                _ => refuse("no number: use one".into()),
            },
            Form::Flag if !value.is_boolean() => refuse("not true or false".into()),
            Form::Choice(names) if !value.as_str().is_some_and(|v| names.contains(&v)) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                refuse(format!("unknown: use one of {}", names.join(", ")))
            }
            Form::Input if !(value.is_string() || value.is_u64()) => {
                refuse("no input: use its name, or its number from 0".into())
            }
            Form::InputLists if !texts(value) => refuse("no list of lists of inputs".into()),
            Form::Frequencies if !(value.is_array() || value.is_string()) => {
                refuse("no list of frequencies".into())
            }
            Form::Priors if !value.is_object() => refuse("no table of prior scales".into()),
            _ => Ok(()),
        }
    }
}

/// All settings of a fit, in the order in which they are shown.
pub fn all() -> &'static [Setting] {
    static ALL: LazyLock<Vec<Setting>> = LazyLock::new(|| {
        let mut all = crate::infer::Settings::declared();
        all.extend(FitSettings::declared());
        let mut after = |name: &str, more: Vec<Setting>| {
            let at = all.iter().position(|s| s.name == name).map_or(0, |at| at + 1);
            all.splice(at..at, more);
        };
        after("experts", crate::experts::Settings::declared());
        after("scaling", vec![no_scale()]);
        all.sort_by_key(|setting| setting.group as usize);
        all
    });
    &ALL
}

/// The settings of one exact GP, which only Python and Rust have.
pub fn of_gp() -> Vec<Setting> {
    crate::gp::Settings::declared()
}

/// Another name for a value of `scaling`.
fn no_scale() -> Setting {
    let help = "Do not scale the data: the same as none for `scaling`.";
    rare(Group::Data).unless_given("false").of(["no_scale", "alias", help], Form::Flag)
}

/// The setting of that name.
pub fn find(name: &str) -> Option<&'static Setting> {
    all().iter().find(|setting| setting.name == name)
}

/// Declares settings: a struct of its own, with the field, default, bounds and help of each.
///
/// ```text
/// /// Help, for the documentation and for all front ends.
/// [serde(rename = "box")]                // attributes of the field, if any
/// box_factor: f64 = 2.0, common(Basis).bounds(Bounds::Above(1.0, 100.0));
/// ```
///
/// A field without a declaration is a struct of settings of its own.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $name:ident in $section:literal {
            $(
                $(#[doc = $help:literal])+
                $([$($attribute:tt)+])?
                $field:ident: $type:ty = $default:expr $(, $setting:expr)?;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $(
                $(#[doc = $help])+
                $(#[$($attribute)+])?
                pub $field: $type,
            )+
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default),+ }
            }
        }

        impl $name {
            /// What is declared about these settings.
            pub(crate) fn declared() -> Vec<$crate::settings::Setting> {
                let mut all = Vec::new();
                $(
                    let _of = [stringify!($field), $section, concat!($($help),+)];
                    $(all.push($setting.of(_of, <$type as $crate::settings::Typed>::form()));)?
                )+
                all
            }

            /// Refuse a number out of its bounds; the first is the error.
            fn within_bounds(&self) -> $crate::Result<()> {
                $($($setting.within(stringify!($field), &self.$field)?;)?)+
                Ok(())
            }
        }
    };
}

pub(crate) use settings;
