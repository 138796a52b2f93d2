//! Diagnostics in plain words: what is wrong, what it means, what to try.

use super::{Diagnostics, Quantity};
use crate::settings::Message;

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
    pub(super) fn verdict(&self) -> Vec<Message> {
        let mut out = Vec::new();
        if self.chains * self.draws == 1 {
            return vec![
                Message::new(
                    "a single point, such as the posterior mode, leaves out the uncertainty of the \
                     parameters and has no Monte Carlo error. Use a sampler",
                )
                .advise("sampler", "nuts")
                .say(" and more draws"),
            ];
        }
        let worst = |key: fn(&Quantity) -> f64| {
            let known = self.quantities.iter().filter(move |q| !key(q).is_nan());
            known.max_by(move |a, b| key(a).total_cmp(&key(b)))
        };
        match worst(|q| q.rhat_max) {
            None if self.chains == 1 => out.push(
                Message::new("one chain cannot show whether it found the whole posterior: use 4")
                    .advise("chains", 4),
            ),
            Some(q) if q.rhat_max > RHAT_BAR => {
                let weighted = self.combined.as_ref().is_some_and(|c| !c.alike());
                // A value a little above the bar must not be shown as the bar itself.
                let digits = if q.rhat_max < RHAT_BAR + 0.0005 { 5 } else { 3 };
                let start = Message::new(format!(
                    "R-hat of the {} is {:.digits$} at worst, {:.digits$} in the median (should be \
                     below {RHAT_BAR}): ",
                    q.name, q.rhat_max, q.rhat_median
                ));
                out.push(if q.rhat_median <= 1.1 {
                    let more = (2 * self.draws).max(1000);
                    start
                        .say("the chains have not mixed fully. Try more warm-up and draws")
                        .advise("warmup", more)
                        .advise("draws", more)
                } else {
                    let apart = start.say("the chains sit in different modes; ");
                    let apart = apart.say(match weighted {
                        true => "each has its weight, which the error bars printed take as given",
                        false => {
                            "their average is still a prediction, and the error bars printed \
                             include the disagreement"
                        }
                    });
                    let apart = apart.say(". Try the Hilbert basis").advise("basis", "hilbert");
                    let apart = apart.say(" if it is another");
                    let apart = match weighted {
                        true => apart,
                        false => apart.say(", weights for the chains").advise("combine", "stack"),
                    };
                    apart.say(", more chains or longer trajectories").mention("max_depth")
                });
            }
            None => out.push(
                Message::new(format!(
                    "{} draws per chain are too few to judge convergence: use 500",
                    self.draws
                ))
                .advise("draws", 500),
            ),
            _ => {}
        }
        if let Some(q) = worst(|q| -q.ess_bulk_min.min(q.ess_tail_min)) {
            let (least, all) = (q.ess_bulk_min.min(q.ess_tail_min), self.chains * self.draws);
            if least < ESS_BAR {
                let words = format!(
                    "{all} draws are worth only {least:.0} independent ones for the {} \
                     (should be {ESS_BAR} or more): use more draws",
                    q.name
                );
                out.push(Message::new(words).advise("draws", (2 * self.draws).max(1000)));
            }
        }
        if self.divergences > 0 {
            let ending = if self.divergences == 1 { "y" } else { "ies" };
            let words = format!(
                "{} diverging trajector{ending} after warm-up: the draws may miss a narrow part \
                 of the posterior. Try a smaller step",
                self.divergences,
            );
            out.push(Message::new(words).advise("target_accept", 0.95));
        }
        if let Some(e) = self.ebfmi_min.filter(|e| *e < EBFMI_BAR) {
            let words = format!(
                "E-BFMI is {e:.2} (should be above {EBFMI_BAR}): the sampler explores the energy \
                 slowly. Try more draws, or fewer features"
            );
            out.push(Message::new(words).mention("size").mention("frequencies"));
        }
        if self.saturated > SATURATED_BAR {
            let words = format!(
                "{:.0} % of the trajectories were cut by the depth limit: a deeper tree",
                100.0 * self.saturated
            );
            let words = Message::new(words).mention("max_depth");
            out.push(words.say(" costs time and mixes better"));
        }
        out
    }
}
