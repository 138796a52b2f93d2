//! The paper's data: the rows of a split, and what its frozen experts say there.

use gpfuse::baseline::Predictions;
use gpfuse::fit::{CheckedFit, Fitted, fit, stack};
use gpfuse::infer::Quiet;
use gpfuse::metrics::Scores;
use gpfuse::model::Method;

use crate::csv::Csv;
use crate::study::project;

/// Splits of the data into training and test rows.
pub(super) const SPLITS: usize = 5;

/// Experts that are frozen, and that are learned.
const EXPERTS: usize = 3;

/// Rows, with the predictions of experts where these are given.
pub(super) struct Problem {
    x: Vec<f64>,
    y: Vec<f64>,
    said: Option<Predictions>,
}

impl Problem {
    /// The training rows of a split for a method, or its test rows.
    pub(super) fn read(method: Method, split: usize, test: bool) -> anyhow::Result<Problem> {
        let folder = project().join("bench/paper");
        let data = Csv::read(&folder.join("data.csv"))?;
        if method.learns_experts() {
            let own = data.only(&format!("test{split}"), if test { "1" } else { "0" })?;
            return Ok(Problem { x: own.numbers("x")?, y: own.numbers("y")?, said: None });
        }
        let frozen = Csv::read(&folder.join(format!("experts_K{EXPERTS}.csv")))?
            .only("split", &split.to_string())?
            .only("role", if test { "test" } else { "stack" })?;
        let (x, y, rows) = (data.numbers("x")?, data.numbers("y")?, frozen.numbers("row")?);
        let at = |v: &[f64]| rows.iter().map(|row| v[*row as usize]).collect();
        let of = |name: &str| -> anyhow::Result<Vec<Vec<f64>>> {
            (1..=EXPERTS).map(|k| frozen.numbers(&format!("{name}{k}"))).collect()
        };
        let said = Some(Predictions::new(of("mean")?, of("sd")?)?);
        Ok(Problem { x: at(&x), y: at(&y), said })
    }

    /// Fit these rows, as `gpfuse fit` and `gpfuse stack` do.
    pub(super) fn fit(&self, settings: &CheckedFit) -> gpfuse::Result<Fitted> {
        let Some(said) = &self.said else { return fit(&self.x, 1, &self.y, settings, &Quiet) };
        let names = (1..=EXPERTS).map(|k| format!("expert{k}")).collect();
        stack(&self.x, 1, &self.y, names, said, settings, &Quiet)
    }

    /// Score a fit on these rows.
    pub(super) fn score(&self, fitted: &Fitted) -> gpfuse::Result<Scores> {
        fitted.evaluate(&self.x, self.said.as_ref(), &self.y)
    }
}
