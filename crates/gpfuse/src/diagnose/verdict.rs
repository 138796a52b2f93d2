//! Diagnostics in plain words: what is wrong, what it means, what to try.

use super::{Combine, Diagnostics, Quantity};
use crate::basis::Basis;
use crate::infer::{self, Draws, FIRST_DRAWS, MOST_DRAWS, Sampler};
use crate::model::Model;
use crate::settings::Message;

/// Above this R-hat, chains are taken to disagree (Vehtari and others, 2021).
pub const RHAT_BAR: f64 = 1.01;
/// Below this effective sample size, quantiles and R-hat itself are not to be trusted.
pub const ESS_BAR: f64 = 400.0;
/// Below this E-BFMI, the sampler cannot follow the energy (Betancourt, 2016).
pub const EBFMI_BAR: f64 = 0.3;
/// Above this share of trajectories cut by the depth limit, a deeper tree pays.
pub const SATURATED_BAR: f64 = 0.1;

/// Above this median R-hat, chains are taken to sit in different modes, which more draws do not join.
pub const MODES_BAR: f64 = 1.1;
/// Up to one divergence in so many draws is no sign of a part that is missed.
pub const DRAWS_PER_DIVERGENCE: usize = 500;

/// Mean acceptances to try where trajectories diverge: the first that is above the one in use.
const SMALLER_STEPS: [f64; 2] = [0.95, 0.99];

/// Trees are not made deeper than this.
const DEEPEST: usize = 14;

/// What was set or chosen, so that advice is new and possible for the model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    /// Whether there is anything to sample.
    sampled: bool,
    warmup: usize,
    chains: usize,
    /// The mean acceptance that was aimed at.
    accept: f64,
    /// A deeper tree, if there is one worth trying.
    deeper: Option<usize>,
    /// Whether chains can be weighed that are not.
    stack: bool,
    /// Whether the Hilbert basis is another, and has few enough inputs.
    hilbert: bool,
    /// Whether the chains went on by themselves for as long as that helped.
    went_on: bool,
    /// What the number of the basis' functions is called, if it can be set.
    functions: Option<&'static str>,
    /// Whether somebody stopped the chains.
    interrupted: bool,
}

impl Setup {
    /// Of a model that was sampled with some settings.
    pub(crate) fn new(
        model: &Model,
        draws: &Draws,
        sampler: &infer::Settings,
        how: Combine,
    ) -> Setup {
        let rff = matches!(model.basis(), Basis::Rff(_));
        let nuts = sampler.sampler == Sampler::Nuts;
        let deeper = (sampler.max_depth + 2).min(DEEPEST);
        Setup {
            sampled: true,
            warmup: sampler.warmup_draws(),
            chains: sampler.chains,
            accept: draws.aim().unwrap_or(sampler.acceptance()),
            deeper: Some(deeper).filter(|deeper| nuts && *deeper > sampler.max_depth),
            stack: how != Combine::Stack,
            interrupted: draws.interrupted(),
            hilbert: rff && model.basis().inputs() <= 2,
            went_on: sampler.draws.is_none() && draws.per_chain() > FIRST_DRAWS,
            functions: match model.basis() {
                Basis::Hilbert(_) => Some("size"),
                Basis::Rff(_) => Some("frequencies"),
                Basis::Eigen(_) => model.common().map(|_| "functions"),
            },
        }
    }

    /// The same of a model that was sampled or not.
    pub(crate) fn about(self, sampled: bool) -> Setup {
        Setup { sampled, ..self }
    }

    /// A mean acceptance above the one that was aimed at, if there is one worth trying.
    fn smaller_step(&self) -> Option<f64> {
        SMALLER_STEPS.into_iter().find(|accept| *accept > self.accept)
    }
}

impl Diagnostics {
    /// Whether nothing is wrong.
    pub fn passed(&self) -> bool {
        self.warnings.is_empty()
    }

    /// What is not settled yet.
    fn unsettled(&self) -> impl Iterator<Item = &Quantity> {
        self.quantities.iter().filter(|q| !q.settled())
    }

    /// Whether everything is settled.
    pub(super) fn settled(&self) -> bool {
        self.unsettled().next().is_none()
    }

    /// Whether anything has an R-hat.
    fn has_rhat(&self) -> bool {
        self.quantities.iter().any(|q| !q.rhat_max.is_nan())
    }

    /// The quantity with the largest R-hat, of the unsettled ones that have one.
    pub(super) fn worst_rhat(&self) -> Option<&Quantity> {
        let known = self.unsettled().filter(|q| !q.rhat_max.is_nan());
        known.max_by(|a, b| a.rhat_max.total_cmp(&b.rhat_max))
    }

    /// The unsettled quantity with the smallest effective sample size, and that size.
    pub(super) fn least_ess(&self) -> Option<(&Quantity, f64)> {
        let all = self.unsettled().map(|q| (q, q.ess_bulk_min.min(q.ess_tail_min)));
        all.filter(|(_, ess)| !ess.is_nan()).max_by(|a, b| b.1.total_cmp(&a.1))
    }

    /// One sentence or two for each thing that is wrong.
    pub(super) fn verdict(&self, setup: &Setup) -> Vec<Message> {
        let mut out = Vec::new();
        if !setup.sampled {
            return out;
        }
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
        // Chains that went on until a doubling of their draws was of no use.
        let stuck = setup.went_on && self.draws < MOST_DRAWS;
        let apart = self.worst_rhat().is_some_and(|q| q.rhat_max > RHAT_BAR);
        let modes = self.worst_rhat().is_some_and(|q| q.rhat_median > MODES_BAR);
        match self.worst_rhat() {
            None if self.has_rhat() => {}
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
                out.push(if q.rhat_median <= MODES_BAR {
                    let warmup = (2 * setup.warmup).max(1000);
                    match stuck {
                        false => start
                            .say("the chains have not mixed fully. Try more warm-up and draws")
                            .advise("warmup", warmup)
                            .advise("draws", (2 * self.draws).max(1000)),
                        true => start
                            .say(
                                "the chains have not mixed fully, and more draws of them were of no use. Try \
                                 more warm-up",
                            )
                            .advise("warmup", warmup)
                            .say(", more chains")
                            .advise("chains", 2 * setup.chains),
                    }
                } else {
                    let apart = start.say("the chains sit in different modes; ");
                    let apart = apart.say(match weighted {
                        true => "each has its weight, which the error bars printed take as given",
                        false => {
                            "their average is still a prediction, and the error bars printed \
                             include the disagreement"
                        }
                    });
                    let mut apart = apart.say(". Try ");
                    if setup.hilbert {
                        apart = apart.say("the Hilbert basis").advise("basis", "hilbert").say(", ");
                    }
                    if self.combined.is_none() && setup.stack {
                        apart = apart.say("weights for the chains").advise("combine", "stack");
                        apart = apart.say(", ");
                    }
                    apart.say("more chains").advise("chains", 2 * setup.chains)
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
        let few =
            self.least_ess().filter(|(_, least)| *least < ESS_BAR && !(modes || stuck && apart));
        if let Some((q, least)) = few {
            let words = format!(
                "{} draws are worth only {least:.0} independent ones for the {} \
                 (should be {ESS_BAR} or more): use more draws",
                self.chains * self.draws,
                q.name
            );
            out.push(Message::new(words).advise("draws", (2 * self.draws).max(1000)));
        }
        let all = self.chains * self.draws;
        if self.divergences > all / DRAWS_PER_DIVERGENCE {
            let words = Message::new(format!(
                "{} of {all} trajectories diverged after the warm-up ({:.1} %): the draws may miss a \
                 narrow part of the posterior",
                self.divergences,
                100.0 * self.divergences as f64 / all as f64
            ));
            out.push(match setup.smaller_step() {
                Some(accept) => words.say(". Try a smaller step").advise("target_accept", accept),
                None => words.say(
                    ". No smaller step is left to try: trust the mean and the central intervals as far as scores \
                     on new rows bear them out, and neither the far tails nor the parameters",
                ),
            });
        }
        if let Some(e) = self.ebfmi_min.filter(|e| *e < EBFMI_BAR) {
            let words = format!(
                "E-BFMI is {e:.2} (should be above {EBFMI_BAR}): the sampler explores the energy \
                 slowly. Try more draws"
            );
            let words = Message::new(words).advise("draws", (2 * self.draws).max(1000));
            out.push(match setup.functions {
                Some(name) => words.say(", or fewer functions").mention(name),
                None => words,
            });
        }
        if self.saturated > SATURATED_BAR {
            let words = Message::new(format!(
                "{:.0} % of the trajectories were cut by the depth limit",
                100.0 * self.saturated
            ));
            out.push(match setup.deeper {
                Some(deeper) => words
                    .say(": a deeper tree")
                    .advise("max_depth", deeper)
                    .say(" costs time and mixes better"),
                None => words.say(
                    ". Deeper trees are not worth their time: trust what R-hat and the effective sample sizes \
                     say about these draws",
                ),
            });
        }
        if setup.interrupted && !out.is_empty() {
            let words = "the chains were stopped before they had the draws that they were to have, and those they have \
                         do not pass the diagnostics: let the fit run to its end";
            return vec![Message::new(words)];
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Style;

    fn found(rhat_median: f64, divergences: usize) -> Diagnostics {
        let quantity = Quantity {
            name: "it".into(),
            rhat_max: rhat_median,
            rhat_median,
            ess_bulk_min: 900.0,
            ess_bulk_median: 900.0,
            ess_tail_min: 900.0,
            error_max: 2.0,
        };
        Diagnostics {
            chains: 4,
            draws: 500,
            quantities: vec![quantity],
            divergences,
            ebfmi_min: Some(1.0),
            saturated: 0.0,
            steps: 7.0,
            combined: None,
            warnings: Vec::new(),
        }
    }

    fn words(found: &Diagnostics, target_accept: f64, hilbert: bool) -> Vec<String> {
        let setup = Setup { accept: target_accept, hilbert, ..SETUP };
        found.verdict(&setup).iter().map(|m| m.render(Style::Python)).collect()
    }

    const SETUP: Setup = Setup {
        sampled: true,
        warmup: 800,
        chains: 4,
        accept: 0.8,
        deeper: None,
        interrupted: false,
        stack: true,
        hilbert: true,
        went_on: false,
        functions: None,
    };

    #[test]
    fn few_divergences_are_counted_and_not_warned_of() {
        assert!(words(&found(1.0, 4), 0.8, true).is_empty());
        let told = words(&found(1.0, 5), 0.8, true);
        assert!(told[0].starts_with("5 of 2000 trajectories diverged after the warm-up (0.2 %)"));
        // Of few draws one is too many.
        let few = Diagnostics { chains: 2, draws: 40, ..found(1.0, 1) };
        assert_eq!(words(&few, 0.8, true).len(), 1);
    }

    #[test]
    fn what_is_known_well_enough_is_not_warned_of() {
        let with = |rhat: f64, ess: f64, error_max: f64| {
            let mut found = found(rhat, 0);
            found.quantities[0].ess_bulk_min = ess;
            found.quantities[0].error_max = error_max;
            words(&found, 0.8, true).len()
        };
        assert_eq!(with(1.04, 100.0, 0.9), 0);
        // R-hat and the effective size, and R-hat alone.
        assert_eq!((with(1.04, 100.0, 1.1), with(1.06, 900.0, 0.9)), (2, 1));
        assert_eq!((with(1.04, 900.0, f64::NAN), with(1.0, 399.0, f64::NAN)), (1, 1));
    }

    #[test]
    fn advice_is_new() {
        for (set, advice) in [
            (0.8, Some("target_accept=0.95")),
            (0.95, Some("target_accept=0.99")),
            (0.97, Some("target_accept=0.99")),
            (0.99, None),
            (0.999, None),
        ] {
            let told = &words(&found(1.0, 9), set, true)[0];
            match advice {
                Some(advice) => assert!(told.contains(advice), "{told}"),
                None => assert!(told.contains("No smaller step is left to try: trust"), "{told}"),
            }
        }
        let told = &words(&found(1.05, 0), 0.8, true)[0];
        assert!(told.contains("warmup=1600, draws=1000"), "{told}");
        // Where the chains went on by themselves for as long as that helped, more draws are no advice.
        let mut found = Diagnostics { draws: 1000, ..found(1.05, 0) };
        found.quantities[0].ess_bulk_min = 100.0;
        let told = found.verdict(&Setup { went_on: true, ..SETUP });
        let told: Vec<String> = told.iter().map(|m| m.render(Style::Python)).collect();
        assert!(
            told.len() == 1 && told[0].ends_with("(warmup=1600), more chains (chains=8)"),
            "{told:?}"
        );
        let mut modes = super::tests::found(2.0, 0);
        // Nor do more draws join modes.
        modes.quantities[0].ess_bulk_min = 5.0;
        assert_eq!(words(&modes, 0.8, true).len(), 1);
        let (with, without) = (words(&modes, 0.8, true), words(&modes, 0.8, false));
        assert!(with[0].contains("Try the Hilbert basis (basis=\"hilbert\"), weights"), "{with:?}");
        assert!(without[0].contains("Try weights for the chains"), "{without:?}");
        assert!(!without[0].contains("ilbert"), "{without:?}");
        // What was stopped is to go on first.
        let stopped = Setup { interrupted: true, ..SETUP };
        let told = modes.verdict(&stopped);
        assert!(told.len() == 1 && told[0].to_string().contains("let the fit run to its end"));
        assert!(super::tests::found(1.0, 0).verdict(&stopped).is_empty());
    }
}
