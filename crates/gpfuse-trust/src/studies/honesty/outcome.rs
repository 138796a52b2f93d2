//! One run: what the diagnostics say of it, and its score; a line of the record.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use gpfuse::fit::FitSettings;
use gpfuse::infer;
use gpfuse::model::Method;

use super::paper::Problem;
use crate::csv::Csv;

const HEADER: &str = "method,split,seed,nlpd,mcse,rhat_max,ess_min,divergences,ebfmi_min,saturated,\
                      steps,seconds,warnings";

/// A run with the diagnostics' verdict.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) method: Method,
    pub(super) split: usize,
    pub(super) seed: u64,
    /// The test score and its Monte Carlo error.
    pub(super) nlpd: f64,
    pub(super) mcse: f64,
    /// The worst of all quantities that do not depend on labels.
    pub(super) rhat_max: f64,
    pub(super) ess_min: f64,
    pub(super) divergences: f64,
    pub(super) ebfmi_min: f64,
    pub(super) saturated: f64,
    pub(super) steps: f64,
    pub(super) seconds: f64,
    /// How many things the diagnostics say are wrong.
    pub(super) warnings: f64,
}

impl Outcome {
    /// Fit a split with the defaults but for the sampler's length.
    pub(super) fn of(
        method: Method,
        split: usize,
        sampler: infer::Settings,
    ) -> anyhow::Result<Outcome> {
        let seed = sampler.seed;
        let settings = FitSettings { method, sampler, ..FitSettings::default() }.check()?;
        let begun = Instant::now();
        let fitted = Problem::read(method, split, false)?.fit(&settings)?;
        let scores = Problem::read(method, split, true)?.score(&fitted)?;
        let found = &fitted.diagnostics;
        let sizes = found.quantities.iter().map(|q| q.ess_bulk_min.min(q.ess_tail_min));
        Ok(Outcome {
            method,
            split,
            seed,
            nlpd: scores.nlpd.value,
            mcse: scores.nlpd.mcse.unwrap_or(f64::NAN),
            rhat_max: found.quantities.iter().map(|q| q.rhat_max).fold(f64::NAN, f64::max),
            ess_min: sizes.fold(f64::NAN, f64::min),
            divergences: found.divergences as f64,
            ebfmi_min: found.ebfmi_min.unwrap_or(f64::NAN),
            saturated: found.saturated,
            steps: found.steps,
            seconds: begun.elapsed().as_secs_f64(),
            warnings: found.warnings.len() as f64,
        })
    }

    /// Whether the diagnostics say that nothing is wrong.
    pub(super) fn passed(&self) -> bool {
        self.warnings == 0.0
    }

    /// Whether a number crosses the bar that the documents give for it.
    pub(super) fn beyond_a_bar(&self) -> bool {
        let bars = self.rhat_max <= 1.01 && self.ess_min >= 400.0 && self.divergences == 0.0;
        !(bars && self.ebfmi_min >= 0.3 && self.saturated <= 0.1)
    }

    /// The runs of a record, none if there is no file.
    pub(super) fn recorded(path: &Path) -> anyhow::Result<Vec<Outcome>> {
        if !path.exists() {
            return Ok(Vec::new());
        }
        let csv = Csv::read(path)?;
        let names: Vec<&str> = HEADER.split(',').skip(1).collect();
        let columns = names.iter().map(|n| csv.numbers(n)).collect::<anyhow::Result<Vec<_>>>()?;
        let row = |(i, method): (usize, &&str)| {
            let mut cells = columns.iter().map(|column| column[i]);
            let mut next = || cells.next().unwrap_or(f64::NAN);
            Ok(Outcome {
                method: method.parse()?,
                split: next() as usize,
                seed: next() as u64,
                nlpd: next(),
                mcse: next(),
                rhat_max: next(),
                ess_min: next(),
                divergences: next(),
                ebfmi_min: next(),
                saturated: next(),
                steps: next(),
                seconds: next(),
                warnings: next(),
            })
        };
        csv.texts("method")?.iter().enumerate().map(row).collect()
    }

    /// Append the run to a record.
    pub(super) fn append(&self, path: &Path) -> anyhow::Result<()> {
        let new = !path.exists();
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if new {
            writeln!(file, "{HEADER}")?;
        }
        writeln!(
            file,
            "{},{},{},{:.5},{:.5},{:.4},{:.0},{},{:.3},{:.4},{:.1},{:.1},{}",
            self.method,
            self.split,
            self.seed,
            self.nlpd,
            self.mcse,
            self.rhat_max,
            self.ess_min,
            self.divergences,
            self.ebfmi_min,
            self.saturated,
            self.steps,
            self.seconds,
            self.warnings
        )?;
        Ok(())
    }
}
