//! One run: what the diagnostics say of it, and its score; a line of the record.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use gpfuse::diagnose::{
    DRAWS_PER_DIVERGENCE, EBFMI_BAR, ESS_BAR, Quantity, RHAT_BAR, SATURATED_BAR,
};
use gpfuse::fit::FitSettings;
use gpfuse::infer;
use gpfuse::model::Method;

use super::paper::Problem;
use crate::csv::Csv;

/// Divergences of four chains with 500 draws each that are passed over.
pub(super) const DIVERGENCE_BAR: usize = 4 * infer::FIRST_DRAWS / DRAWS_PER_DIVERGENCE;

const HEADER: &str = "method,split,seed,nlpd,mcse,rhat_max,ess_min,divergences,ebfmi_min,saturated,\
                      steps,seconds,warnings,unsettled";

/// A run with the diagnostics' verdict.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) method: Method,
    pub(super) split: usize,
    pub(super) seed: u64,
    /// The test score.
    pub(super) nlpd: f64,
    /// Its Monte Carlo error.
    pub(super) mcse: f64,
    /// The worst R-hat of the quantities that do not depend on labels; NaN where one has none.
    pub(super) rhat_max: f64,
    /// The smallest of their effective sample sizes; NaN where one has none.
    pub(super) ess_min: f64,
    pub(super) divergences: f64,
    pub(super) ebfmi_min: f64,
    pub(super) saturated: f64,
    pub(super) steps: f64,
    pub(super) seconds: f64,
    /// How many things the diagnostics say are wrong.
    pub(super) warnings: f64,
    /// How many quantities are not settled; NaN in records from before that was asked.
    pub(super) unsettled: f64,
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
        let size = |q: &Quantity| worst([q.ess_bulk_min, q.ess_tail_min], f64::min);
        let sizes = found.quantities.iter().map(size);
        Ok(Outcome {
            method,
            split,
            seed,
            nlpd: scores.nlpd.value,
            mcse: scores.nlpd.mcse.unwrap_or(f64::NAN),
            rhat_max: worst(found.quantities.iter().map(|q| q.rhat_max), f64::max),
            ess_min: worst(sizes, f64::min),
            divergences: found.divergences as f64,
            ebfmi_min: found.ebfmi_min.unwrap_or(f64::NAN),
            saturated: found.saturated,
            steps: found.steps,
            seconds: begun.elapsed().as_secs_f64(),
            warnings: found.warnings.len() as f64,
            unsettled: found.quantities.iter().filter(|q| !q.settled()).count() as f64,
        })
    }

    /// Whether the diagnostics say that nothing is wrong.
    pub(super) fn passed(&self) -> bool {
        self.warnings == 0.0
    }

    /// Whether R-hat is not known to be within its bar, where something is not settled. What is constant by design, the weight of a
    /// single expert, is not among the quantities: one without a number was to have one.
    pub(super) fn rhat_beyond(&self) -> bool {
        self.unsettled != 0.0 && (self.rhat_max.is_nan() || self.rhat_max > RHAT_BAR)
    }

    /// Whether the effective sample size is not known to reach its bar, where something is not settled.
    pub(super) fn ess_beyond(&self) -> bool {
        self.unsettled != 0.0 && (self.ess_min.is_nan() || self.ess_min < ESS_BAR)
    }

    /// Whether too many trajectories were cut by the depth limit.
    pub(super) fn cut(&self) -> bool {
        self.saturated.is_nan() || self.saturated > SATURATED_BAR
    }

    /// Whether a number crosses the bar that the diagnostics have for it.
    pub(super) fn beyond_a_bar(&self) -> bool {
        let slow = self.ebfmi_min.is_nan() || self.ebfmi_min < EBFMI_BAR;
        let diverged = self.divergences.is_nan() || self.divergences > DIVERGENCE_BAR as f64;
        self.rhat_beyond() || self.ess_beyond() || diverged || slow || self.cut()
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
                unsettled: next(),
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
            "{},{},{},{:.5},{:.5},{:.4},{:.0},{},{:.3},{:.4},{:.1},{:.1},{},{}",
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
            self.warnings,
            self.unsettled
        )?;
        Ok(())
    }
}

/// The worst of some numbers, NaN where there is none or one is NaN.
fn worst(values: impl IntoIterator<Item = f64>, worse: fn(f64, f64) -> f64) -> f64 {
    let of = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { worse(a, b) };
    values.into_iter().reduce(of).unwrap_or(f64::NAN)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A run with a score and its error, well within every bar.
    pub(in super::super) fn good(method: Method, seed: u64, nlpd: f64, mcse: f64) -> Outcome {
        Outcome {
            method,
            split: 0,
            seed,
            nlpd,
            mcse,
            rhat_max: 1.0,
            ess_min: 1000.0,
            divergences: 0.0,
            ebfmi_min: 1.0,
            saturated: 0.0,
            steps: 15.0,
            seconds: 1.0,
            warnings: 0.0,
            unsettled: f64::NAN,
        }
    }

    #[test]
    fn what_is_not_a_number_is_worst_and_beyond_its_bar() {
        assert_eq!(worst([1.0, 3.0, 2.0], f64::max), 3.0);
        assert!(worst([1.0, f64::NAN, 2.0], f64::max).is_nan() && worst([], f64::min).is_nan());
        let run = good(Method::Bhs, 0, 1.0, 0.1);
        assert!(!run.beyond_a_bar());
        for bad in [
            Outcome { rhat_max: f64::NAN, ..run.clone() },
            Outcome { rhat_max: RHAT_BAR + 1e-9, ..run.clone() },
            Outcome { ess_min: f64::NAN, ..run.clone() },
            Outcome { ess_min: ESS_BAR - 1.0, ..run.clone() },
            Outcome { divergences: DIVERGENCE_BAR as f64 + 1.0, ..run.clone() },
            Outcome { ebfmi_min: f64::NAN, ..run.clone() },
            Outcome { saturated: 2.0 * SATURATED_BAR, ..run.clone() },
            Outcome { rhat_max: 1.04, unsettled: 1.0, ..run.clone() },
        ] {
            assert!(bad.beyond_a_bar(), "{bad:?}");
        }
        assert!(!Outcome { rhat_max: 1.04, unsettled: 0.0, ..run }.beyond_a_bar());
    }
}
