//! One run: fit with default settings, score at the test rows.

use std::time::Instant;

use gpfuse::fit::{FitSettings, fit};
use gpfuse::gp::{self, Gp};
use gpfuse::infer;
use gpfuse::kernel::Kernel;
use gpfuse::metrics::evaluate;
use gpfuse::model::Method;
use gpfuse::predict::Fused;
use gpfuse::scale::{Scaler, Scaling};
use gpfuse::{Data, Result};

use super::line::Line;

/// What to fit and where to score it.
pub(crate) struct Problem {
    pub(crate) train: Data,
    pub(crate) test: Data,
    /// Which test rows have the inputs of a training row.
    pub(crate) twins: Vec<bool>,
    pub(crate) seed: u64,
}

/// The name of the lines of a single GP.
pub(crate) fn gp_name(kernel: Kernel) -> String {
    format!("gp-{kernel}")
}

/// The single GP whose kernel predicts the training rows best, each left out in turn.
pub(crate) const GP_LOO: &str = "gp-loo";

impl Problem {
    /// Fit a method; the line says what came of it.
    pub(crate) fn fit(&self, method: Method, line: Line) -> Line {
        let mut line = self.described(line);
        if let Err(e) = self.fit_into(method, &mut line) {
            line.put("error", e);
        }
        line
    }

    fn fit_into(&self, method: Method, line: &mut Line) -> Result<()> {
        let sampler = infer::Settings { seed: self.seed, ..Default::default() };
        let begun = Instant::now();
        let fitted = fit(&self.train, &FitSettings { method, sampler, ..Default::default() })?;
        let scores = fitted.evaluate(&self.test)?;
        line.put("seconds", format!("{:.3}", begun.elapsed().as_secs_f64()));
        line.put_scores(&scores, fitted.scaler.target.scale, &self.twins);
        if let Some(common) = fitted.model.common() {
            line.put("functions", common.features() - 1);
        }
        let found = &fitted.diagnostics;
        if let Some(row) = found.quantities.iter().find(|q| q.name == "log likelihood of a row") {
            line.put_number("rhat_max", row.rhat_max);
            line.put_number("rhat_median", row.rhat_median);
            line.put_number("ess_min", row.ess_bulk_min);
        }
        line.put("divergences", found.divergences);
        line.put_number("steps", found.steps);
        line.put("warnings", found.warnings.len());
        let coarse = |text: &str| text.contains("coarse") || text.contains("the basis resolves");
        line.put("coarse", u8::from(found.warnings.iter().any(|w| coarse(&w.text))));
        Ok(())
    }

    /// Fit a single GP with each kernel. The lines are those of the kernels, then that of the kernel
    /// which leave-one-out chooses, with the seconds of all.
    pub(crate) fn fit_gps(&self, line: impl Fn(&str) -> Line) -> Vec<Line> {
        let begun = Instant::now();
        let mut lines = Vec::new();
        let mut best: Option<(f64, Line)> = None;
        for kernel in Kernel::ALL {
            let mut line = self.described(line(&gp_name(kernel)));
            match self.gp_into(kernel, &mut line) {
                Ok(gp) => {
                    let score = gp.leave_one_out_score();
                    if best.as_ref().is_none_or(|(known, _)| score > *known) {
                        best = Some((score, line.clone()));
                    }
                }
                Err(e) => line.put("error", e),
            }
            lines.push(line);
        }
        let mut chosen = match best {
            Some((_, line)) => line,
            None => {
                let mut none = self.described(line(GP_LOO));
                none.put("error", "no kernel could be fitted");
                none
            }
        };
        chosen.put("method", GP_LOO);
        chosen.put("seconds", format!("{:.3}", begun.elapsed().as_secs_f64()));
        lines.push(chosen);
        lines
    }

    /// On scaled rows, so that the scores are in units of the targets' standard deviation.
    fn gp_into(&self, kernel: Kernel, line: &mut Line) -> Result<Gp> {
        let (inputs, y) = (self.train.inputs().len(), self.train.y()?);
        let settings = gp::Settings { kernel, seed: self.seed, ..Default::default() }.check()?;
        let begun = Instant::now();
        let scaler = Scaler::fit(Scaling::Standard, self.train.x(), inputs, y)?;
        let scaled = |y: &[f64]| y.iter().map(|v| scaler.target.apply(*v)).collect::<Vec<f64>>();
        let gp = gp::fit(&scaler.scale_inputs(self.train.x()), inputs, &scaled(y), &settings)?;
        let at_test = gp.predict(&scaler.scale_inputs(self.test.x()), true)?;
        let fused = Fused::normal(at_test.mean, at_test.sd)?;
        let scores = evaluate(&fused, &scaled(self.test.y()?), settings.threads)?;
        line.put("seconds", format!("{:.3}", begun.elapsed().as_secs_f64()));
        line.put_scores(&scores, 1.0, &self.twins);
        Ok(gp)
    }

    fn described(&self, mut line: Line) -> Line {
        line.put("rows", self.train.len());
        line.put("inputs", self.train.inputs().len());
        line
    }
}
