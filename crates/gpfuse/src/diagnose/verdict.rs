//! Diagnostics in plain words: what is wrong, what it means, what to try.

use super::{Diagnostics, Quantity};

/// Above this R-hat, chains are taken to disagree (Vehtari and others, 2021).
pub const RHAT_BAR: f64 = 1.01;
/// Below this effective sample size, quantiles and R-hat itself are not to be trusted.
pub const ESS_BAR: f64 = 400.0;
/// Below this E-BFMI, the sampler cannot follow the energy (Betancourt, 2016).
pub const EBFMI_BAR: f64 = 0.3;
/// Above this share of trajectories cut by the depth limit, a deeper tree pays.
pub const SATURATED_BAR: f64 = 0.1;

impl Diagnostics {
    /// Whether nothing is wrong.
    pub fn passed(&self) -> bool {
        self.warnings.is_empty()
    }

    /// One sentence or two for each thing that is wrong.
    pub(super) fn verdict(&self) -> Vec<String> {
        let mut out = Vec::new();
        if self.chains * self.draws == 1 {
            return vec![
                "a single point, such as the posterior mode, leaves out the uncertainty of the \
                 parameters and has no Monte Carlo error. Use --sampler nuts and more draws"
                    .into(),
            ];
        }
        let worst = |key: fn(&Quantity) -> f64| {
            let known = self.quantities.iter().filter(move |q| !key(q).is_nan());
            known.max_by(move |a, b| key(a).total_cmp(&key(b)))
        };
        match worst(|q| q.rhat_max) {
            None if self.chains == 1 => out.push(
                "one chain cannot show whether it found the whole posterior: use 4 chains \
                 (--chains 4)"
                    .into(),
            ),
            Some(q) if q.rhat_max > RHAT_BAR => {
                let weighted = self.combined.as_ref().is_some_and(|c| !c.alike());
                let apart = if q.rhat_median > 1.1 && weighted {
                    "the chains sit in different modes; each has its weight, which the error bars \
                     printed take as given. Try the Hilbert basis (--basis hilbert) if it is \
                     another, more chains or longer trajectories (--max-depth)"
                        .to_string()
                } else if q.rhat_median > 1.1 {
                    "the chains sit in different modes; their average is still a prediction, and \
                     the error bars printed include the disagreement. Try the Hilbert basis \
                     (--basis hilbert) if it is another, weights for the chains (--combine \
                     stack), more chains or longer trajectories (--max-depth)"
                        .to_string()
                } else {
                    let more = (2 * self.draws).max(1000);
                    format!(
                        "the chains have not mixed fully. Try more warm-up and draws (--warmup \
                         {more} --draws {more})"
                    )
                };
                // A little above the bar is not the bar.
                let digits = if q.rhat_max < RHAT_BAR + 0.0005 { 5 } else { 3 };
                out.push(format!(
                    "R-hat of the {} is {:.digits$} at worst, {:.digits$} in the median (should be \
                     below {RHAT_BAR}): {apart}",
                    q.name, q.rhat_max, q.rhat_median
                ));
            }
            None => out.push(format!(
                "{} draws per chain are too few to judge convergence: use 500 (--draws 500)",
                self.draws
            )),
            _ => {}
        }
        if let Some(q) = worst(|q| -q.ess_bulk_min.min(q.ess_tail_min)) {
            let (least, all) = (q.ess_bulk_min.min(q.ess_tail_min), self.chains * self.draws);
            if least < ESS_BAR {
                out.push(format!(
                    "{all} draws are worth only {least:.0} independent ones for the {} \
                     (should be {ESS_BAR} or more): use more draws (--draws {})",
                    q.name,
                    (2 * self.draws).max(1000)
                ));
            }
        }
        if self.divergences > 0 {
            let ending = if self.divergences == 1 { "y" } else { "ies" };
            out.push(format!(
                "{} diverging trajector{ending} after warm-up: the draws may miss a narrow part \
                 of the posterior. Try a smaller step (--target-accept 0.95)",
                self.divergences,
            ));
        }
        if let Some(e) = self.ebfmi_min.filter(|e| *e < EBFMI_BAR) {
            out.push(format!(
                "E-BFMI is {e:.2} (should be above {EBFMI_BAR}): the sampler explores the energy \
                 slowly. Try more draws, or fewer features (--size, --frequencies)"
            ));
        }
        if self.saturated > SATURATED_BAR {
            out.push(format!(
                "{:.0} % of the trajectories were cut by the depth limit: a deeper tree \
                 (--max-depth) costs time and mixes better",
                100.0 * self.saturated
            ));
        }
        out
    }
}
