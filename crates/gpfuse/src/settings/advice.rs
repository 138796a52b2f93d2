//! What to change, as data: each front end says it in its own words.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who reads a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `--max-depth 12`.
    CommandLine,
    /// `max_depth=12`.
    Python,
    /// `max-depth = 12`, a line of the settings file.
    SettingsFile,
}

impl Style {
    /// What stands between two pieces of advice.
    fn between(self) -> &'static str {
        match self {
            Style::CommandLine => " ",
            Style::Python | Style::SettingsFile => ", ",
        }
    }

    /// The name of a setting, as it is written after `setting` in an error.
    pub fn name(self, setting: &str) -> String {
        match self {
            Style::CommandLine | Style::SettingsFile => setting.replace('_', "-"),
            Style::Python => setting.replace('-', "_"),
        }
    }

    /// A setting where it stands in a sentence.
    pub fn setting(self, setting: &str) -> String {
        match self {
            Style::CommandLine => format!("--{}", self.name(setting)),
            Style::Python | Style::SettingsFile => self.name(setting),
        }
    }

    /// A text with every setting in backticks written in this style; other words in backticks stay.
    pub fn rewrite(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for (at, part) in text.split('`').enumerate() {
            match super::find(part) {
                Some(setting) if at % 2 == 1 && self == Style::CommandLine => {
                    out += &self.setting(setting.name);
                }
                _ if at % 2 == 1 => out += &format!("`{part}`"),
                _ => out += part,
            }
        }
        out
    }
}

/// A setting, and the value to give it where one can be named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The name of the setting.
    pub setting: String,
    /// Its new value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

impl Advice {
    /// The advice in words.
    pub fn render(&self, style: Style) -> String {
        let name = style.setting(&self.setting);
        let word = |value: &Value| match value {
            Value::String(word) => word.clone(),
            other => other.to_string(),
        };
        match (style, &self.value) {
            (_, None) => name,
            (Style::CommandLine, Some(Value::Bool(true))) => name,
            (Style::CommandLine, Some(Value::Bool(false))) => format!("without {name}"),
            (Style::CommandLine, Some(value)) => format!("{name} {}", word(value)),
            (Style::Python, Some(Value::Bool(on))) => {
                format!("{name}={}", if *on { "True" } else { "False" })
            }
            (Style::Python, Some(value)) => format!("{name}={value}"),
            (Style::SettingsFile, Some(value)) => format!("{name} = {value}"),
        }
    }
}

/// A message without the names of settings, and the advice that belongs at places of it.
///
/// Model files of version 0.1.0 hold warnings as text alone, which is read as a message without
/// advice.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Message {
    /// What is wrong, what it means, what to try.
    pub text: String,
    /// The advice, in the order of the places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Placed>,
}

/// Advice at a place of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// After how many bytes of the text it stands.
    pub at: usize,
    /// What to change.
    #[serde(flatten)]
    pub advice: Advice,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Text(String),
    Message {
        text: String,
        #[serde(default)]
        advice: Vec<Placed>,
    },
}

impl From<Stored> for Message {
    fn from(stored: Stored) -> Message {
        match stored {
            Stored::Text(text) => text.into(),
            Stored::Message { text, advice } => Message { text, advice },
        }
    }
}

impl From<String> for Message {
    fn from(text: String) -> Message {
        Message { text, advice: Vec::new() }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Message {
        text.to_string().into()
    }
}

impl Message {
    /// Words, to which advice can be added.
    pub fn new(text: impl Into<String>) -> Message {
        text.into().into()
    }

    /// With more words.
    pub fn say(mut self, text: &str) -> Message {
        self.text += text;
        self
    }

    /// With the advice to give a setting a value.
    pub fn advise(self, setting: &str, value: impl Into<Value>) -> Message {
        self.placed(setting, Some(value.into()))
    }

    /// With the advice to change a setting.
    pub fn mention(self, setting: &str) -> Message {
        self.placed(setting, None)
    }

    fn placed(mut self, setting: &str, value: Option<Value>) -> Message {
        let advice = Advice { setting: setting.into(), value };
        self.advice.push(Placed { at: self.text.len(), advice });
        self
    }

    /// The message with its advice in parentheses: `use more draws (--draws 1000)`.
    pub fn render(&self, style: Style) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        for group in self.advice.chunk_by(|a, b| a.at == b.at) {
            // A place that a file makes up is taken as the end of the text.
            let words = self.text.get(done..group[0].at);
            out += words.unwrap_or_else(|| &self.text[done..]);
            done = if words.is_some() { group[0].at } else { self.text.len() };
            let all: Vec<String> = group.iter().map(|p| p.advice.render(style)).collect();
            out += &format!(" ({})", all.join(style.between()));
        }
        out + &self.text[done..]
    }
}

/// With the names that settings have in Rust and Python.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Python))
    }
}
