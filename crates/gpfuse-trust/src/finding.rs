//! What a study found: a claim, the target and the result beside each other.

use serde::{Deserialize, Serialize};

/// Whether a target was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The result meets the target.
    Met,
    /// It does not.
    Missed,
    /// It was not tested; the note says why.
    NotRun,
    /// There is no target: the result is only told.
    Told,
}

/// One row of the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What is claimed, in a few words.
    pub claim: String,
    /// What must be found, with its unit.
    pub target: String,
    /// What was found, with its unit.
    pub result: String,
    /// Whether the one meets the other.
    pub outcome: Outcome,
    /// How it was tested, and how often the test fails by chance.
    pub note: String,
}

impl Finding {
    /// A finding that is met or missed.
    pub fn new(
        claim: impl Into<String>,
        target: impl Into<String>,
        result: impl Into<String>,
        met: bool,
    ) -> Finding {
        Finding {
            claim: claim.into(),
            target: target.into(),
            result: result.into(),
            outcome: if met { Outcome::Met } else { Outcome::Missed },
            note: String::new(),
        }
    }

    /// What could not be tested here, and why.
    pub fn not_run(
        claim: impl Into<String>,
        target: impl Into<String>,
        why: impl Into<String>,
    ) -> Finding {
        Finding {
            claim: claim.into(),
            target: target.into(),
            result: "not run".into(),
            outcome: Outcome::NotRun,
            note: why.into(),
        }
    }

    /// What is worth knowing and no target.
    pub fn told(
        claim: impl Into<String>,
        target: impl Into<String>,
        result: impl Into<String>,
    ) -> Finding {
        Finding { outcome: Outcome::Told, ..Finding::new(claim, target, result, true) }
    }

    /// The same with a note.
    pub fn with(mut self, note: impl Into<String>) -> Finding {
        self.note = note.into();
        self
    }
}

/// A number with two or three digits that matter, as in a table.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if !(1e-3..1e4).contains(&size) => format!("{value:.1e}"),
        size => {
            let digits = (1 - size.log10().floor() as i32).max(0) as usize;
            format!("{value:.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        let written: Vec<String> =
            [0.0, 0.5, -0.0123, 4.2e-8, 1.0, 99.6, 12_345.0].map(short).into();
        assert_eq!(written, ["0", "0.50", "-0.012", "4.2e-8", "1.0", "100", "1.2e4"]);
    }
}
