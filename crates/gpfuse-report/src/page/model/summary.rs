//! A model in words, with the numbers.

use gpfuse::Fitted;
use gpfuse::basis::Basis;
use gpfuse::experts::Expert;
use gpfuse::fit::Experts;
use gpfuse::infer::Sampler;
use gpfuse::model::Method;
use gpfuse::settings::Style;

use super::Model;
use crate::page::document::{Block, Section};
use crate::page::number::{count, list, measured};

/// What the model is, how it predicts, and how far its chains can be trusted.
pub(super) fn summary(model: &Model<'_>) -> Section {
    let fitted = model.fitted;
    let mut section = Section::new("summary", "Summary").with(Block::text(made(fitted)));
    if let Some((path, scores)) = model.scored {
        section = section.with(Block::text(format!(
            "On the {} of `{}` its mean negative log predictive density (NLPD) is {} nats per \
             row; the error is that over rows.",
            count(scores.rows(), "row"),
            path.display(),
            measured(scores.nlpd().value, scores.nlpd().se)
        )));
    }
    section = section.with(Block::text(trust(fitted)));
    let warnings = &fitted.diagnostics.warnings;
    if !warnings.is_empty() {
        section = section.with(Block::List {
            items: warnings.iter().map(|w| sentence(&w.render(Style::SettingsFile))).collect(),
        });
    }
    if let Some(found) = &fitted.diagnostics.combined {
        section = section.with(Block::text(sentence(&found.words)));
    }
    section
}

/// The names of the inputs.
pub(super) fn inputs(fitted: &Fitted) -> String {
    list(&fitted.inputs().iter().map(|name| format!("`{name}`")).collect::<Vec<String>>())
}

/// What a method is.
fn method(method: Method) -> &'static str {
    match method {
        Method::Bhs => {
            "BHS, a mixture of experts that were there first, with weights learned after"
        }
        Method::Pbhs => {
            "P-BHS, a product of experts that were there first, with weights learned after"
        }
        Method::Mogpe => "MoGPE, a mixture of GP experts learned with their weights",
        Method::Pogpe => "PoGPE, a product of GP experts learned with their weights",
        Method::Het => "het, one GP with a GP for its noise",
        Method::Gp => "one exact GP on all rows",
        _ => "a classical rule that fuses experts that were there first",
    }
}

fn made(fitted: &Fitted) -> String {
    if !fitted.settings.method.is_sampled() {
        return format!(
            "The method `{}` is {}. It predicts `{}` from {}, and learned from {}. Nothing is approximated, and \
             nothing is sampled.",
            fitted.settings.method,
            method(fitted.settings.method),
            fitted.target(),
            inputs(fitted),
            count(fitted.rows.len(), "row")
        );
    }
    let kernel = fitted.model.basis().kernel();
    let basis = match fitted.model.basis() {
        Basis::Rff(b) => format!("{} random frequencies", b.frequencies()),
        Basis::Hilbert(b) => {
            let sizes: Vec<String> = b.sizes().iter().map(usize::to_string).collect();
            format!("a Hilbert basis of {} functions", sizes.join(" x "))
        }
        Basis::Eigen(few) => match fitted.model.common() {
            Some(common) => format!(
                "{} eigenfunctions of a pilot GP for the mean that the experts share and {} for all else",
                common.features() - 1,
                few.functions()
            ),
            None => format!("{} eigenfunctions of a pilot GP", few.functions()),
        },
    };
    let whose = match &fitted.experts {
        Experts::Learned => String::new(),
        Experts::Trained(all) => {
            let gps = all.iter().filter_map(Expert::gp);
            let rows: Vec<String> = gps.map(|(gp, _)| gp.rows().to_string()).collect();
            let mut neighbours: Vec<usize> =
                all.iter().filter_map(Expert::nearest).map(|(gp, _)| gp.neighbours()).collect();
            let nearest = neighbours.len();
            neighbours.sort_unstable();
            neighbours.dedup();
            let neighbours: Vec<String> = neighbours.iter().map(usize::to_string).collect();
            let trees = if rows.len() + nearest < all.len() { " and boosted trees" } else { "" };
            match fitted.settings.expert.held_out() {
                Some(_) => format!(
                    " The experts are exact GPs, trained on {} rows of their own.",
                    list(&rows)
                ),
                None if nearest > 0 => format!(
                    " The experts are {} that predict a row from the {} nearest training rows, {} on some of \
                     the rows{trees}; their weights were learned from what they say about {} that were left \
                     out.",
                    count(nearest, "GP"),
                    neighbours.join(" or "),
                    count(rows.len(), "exact GP"),
                    count(fitted.rows.len(), "row")
                ),
                None => format!(
                    " The experts are {}{trees}, trained on all rows; their weights were learned from \
                     what they say about rows that were left out.",
                    count(rows.len(), "exact GP")
                ),
            }
        }
        Experts::Named(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!(" The experts were made elsewhere: {}.", list(&names))
        }
    };
    let written = match fitted.model.basis() {
        few if few.features() == 1 => "Its weights are constant".into(),
        Basis::Eigen(few) if few.is_linear() => "Its gates are linear in the scaled inputs".into(),
        _ => format!("The {kernel} kernel is written with {basis}"),
    };
    format!(
        "The method is {}. It predicts `{}` from {} with {}, and learned from {}. {written}, \
         which makes {} parameters.{whose}",
        method(fitted.settings.method),
        fitted.target(),
        inputs(fitted),
        count(fitted.model.experts(), "expert"),
        count(fitted.rows.len(), "row"),
        fitted.model.dim()
    )
}

fn trust(fitted: &Fitted) -> String {
    let d = &fitted.diagnostics;
    if !fitted.settings.method.is_sampled() {
        return "There are no chains to judge.".into();
    }
    if fitted.settings.sampler.sampler == Sampler::Map || d.quantities.is_empty() {
        return "The model is a single point of its posterior: there are no chains to judge."
            .into();
    }
    let verdict = match d.passed() {
        true => "All diagnostics pass.",
        false => "The diagnostics do not pass; what is wrong, and what to try:",
    };
    let worst = d.quantities.iter().map(|q| q.rhat_max).filter(|r| r.is_finite());
    let rhat = worst.reduce(f64::max).map_or(String::new(), |r| format!("R-hat {r:.3} at worst, "));
    let least = d.quantities.iter().map(|q| q.ess_bulk_min.min(q.ess_tail_min));
    let ess = least.filter(|e| e.is_finite()).reduce(f64::min);
    let ess = ess.map_or(String::new(), |e| format!("at least {e:.0} effective draws, "));
    format!(
        "{} of {} were kept {}: {rhat}{ess}{}. {verdict}",
        count(d.chains, "chain"),
        count(d.draws, "draw"),
        fitted.settings.sampler.warmup_words(),
        count(d.divergences, "divergence"),
    )
}

/// Words as a sentence: with a capital and a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map_or(String::new(), |c| c.to_uppercase().collect());
    let stop = if words.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}
