//! What a run is, in a few lines of text: two runs with the same lines end in the same bytes.

use std::collections::BTreeMap;
use std::fmt::Write;

use gpfuse::fit::FitSettings;
use gpfuse::math::simd::Level;
use serde::Serialize;
use serde_json::Value;

use crate::words::{in_one_line, setting};

/// What stands above the lines.
const HEAD: &str = "# What the run of this checkpoint is; only the same run goes on from here.\n";

/// All that the result of a run depends on, a line `name = value` each. Threads and the names of
/// files are not among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Run(BTreeMap<String, String>);

impl Run {
    /// A run of this version on this machine with these settings.
    pub fn new(settings: &FitSettings) -> Run {
        let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
        // Rounding depends on the instruction set, and the logarithms of the system on the rest.
        let machine = format!("{arch} {os} {}", Level::detect().name());
        Run(BTreeMap::new())
            .with("version", &env!("CARGO_PKG_VERSION"))
            .with("machine", &machine)
            .with("settings", settings)
    }

    /// The same with more that it depends on; what has parts becomes a line for each.
    pub fn with(mut self, name: &str, value: &impl Serialize) -> Run {
        // What cannot be written as text never equals another run.
        let value = serde_json::to_value(value).unwrap_or(Value::from("unknown"));
        self.put(name, &value);
        self
    }

    fn put(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(parts) => {
                parts.iter().for_each(|(part, value)| self.put(&format!("{name}.{part}"), value));
            }
            _ => {
                self.0.insert(name.into(), value.to_string());
            }
        }
    }

    /// The lines.
    pub(super) fn text(&self) -> String {
        let mut text = String::from(HEAD);
        for (name, value) in &self.0 {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name} = {value}");
        }
        text
    }

    /// A sign of the lines.
    pub(super) fn sum(&self) -> u64 {
        crc32fast::hash(self.text().as_bytes()).into()
    }

    /// The first difference of the run of a text and this one, in words: version, machine and data
    /// before settings.
    pub(super) fn difference(&self, there: &str) -> Option<String> {
        let there: BTreeMap<&str, &str> =
            there.lines().filter_map(|line| line.split_once(" = ")).collect();
        let mut all: Vec<&str> = self.0.keys().map(String::as_str).collect();
        all.extend(there.keys().filter(|name| !self.0.contains_key(**name)));
        let rank = |name: &str| match name {
            "version" => 0,
            "machine" => 1,
            _ if name.starts_with("settings.") => 3,
            _ => 2,
        };
        all.sort_by_key(|name| rank(name));
        let differs = |name: &&&str| there.get(**name).copied() != self.0.get(**name).map(|v| &**v);
        let name = *all.iter().find(differs)?;
        let (old, new) =
            (setting(there.get(name).copied()), setting(self.0.get(name).map(|v| &**v)));
        let label = name.strip_prefix("settings.").unwrap_or(name);
        // The name may come from the file, and have line breaks.
        Some(in_one_line(&format!("`{label}` is {old} there and {new} here")))
    }
}
