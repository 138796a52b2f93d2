//! The paper's data: the rows of a split, and what its frozen experts say there.

use gpfuse::metrics::Scores;
use gpfuse::{Data, FitSettings, Fitted, Method, Predictions, fit};

use crate::csv::Csv;
use crate::study::project;

/// Splits of the data into training and test rows.
pub(super) const SPLITS: usize = 5;

/// Experts that are frozen, and that are learned.
const EXPERTS: usize = 3;

/// Rows, with the predictions of experts where these are given.
pub(super) struct Problem(Data);

impl Problem {
    /// The training rows of a split for a method, or its test rows.
    pub(super) fn read(method: Method, split: usize, test: bool) -> anyhow::Result<Problem> {
        let folder = project().join("bench/paper");
        let data = Csv::read(&folder.join("data.csv"))?;
        if method.learns_experts() {
            let rows = data.only(&format!("test{split}"), if test { "1" } else { "0" })?;
            return Ok(Problem(Data::new(rows.numbers("x")?, 1)?.with_target(rows.numbers("y")?)?));
        }
        let frozen = Csv::read(&folder.join(format!("experts_K{EXPERTS}.csv")))?
            .only("split", &split.to_string())?
            .only("role", if test { "test" } else { "stack" })?;
        let (x, y, rows) = (data.numbers("x")?, data.numbers("y")?, frozen.numbers("row")?);
        let at = |v: &[f64]| rows.iter().map(|row| v[*row as usize]).collect();
        let of = |name: &str| -> anyhow::Result<Vec<Vec<f64>>> {
            (1..=EXPERTS).map(|k| frozen.numbers(&format!("{name}{k}"))).collect()
        };
        let names = (1..=EXPERTS).map(|k| format!("expert{k}")).collect();
        let data = Data::new(at(&x), 1)?.with_target(at(&y))?;
        Ok(Problem(data.with_experts(names, Predictions::new(of("mean")?, of("sd")?)?)?))
    }

    /// Fit these rows, as `gpfuse fit` and `gpfuse stack` do.
    pub(super) fn fit(&self, settings: &FitSettings) -> gpfuse::Result<Fitted> {
        fit(&self.0, settings)
    }

    /// Score a fit on these rows.
    pub(super) fn score(&self, fitted: &Fitted) -> gpfuse::Result<Scores> {
        fitted.evaluate(&self.0)
    }
}
