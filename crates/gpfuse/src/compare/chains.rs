//! Contestants that are sampled: the methods of this crate.

use std::sync::Arc;
use std::time::Instant;

use super::entry::Judged;
use super::field::Field;
use super::{Contestant, Convergence, Scored, Trust};
use crate::diagnose::{ChainLoo, log_likelihoods, loo, relative_efficiency};
use crate::fit::{Fitted, fit_with};
use crate::infer::Monitor;
use crate::model::Posterior;
use crate::settings::Message;
use crate::{Error, Result};

/// With so few draws no k-hat is good, and the scores are those of rows that were kept.
const TOO_FEW_DRAWS: usize = 10;

/// Fit and score a method.
pub(super) fn run(
    field: &Field<'_>,
    contestant: Contestant,
    monitor: &dyn Monitor,
) -> Result<Scored> {
    let settings = field.settings_of(contestant)?;
    let begun = Instant::now();
    let (fitted, before) = if contestant.needs_experts() {
        let shared = field.experts()?;
        (shared.trained.stack(&settings, monitor)?, shared.train_seconds)
    } else {
        (fit_with(field.train, &settings, monitor)?, 0.0)
    };
    if fitted.draws.interrupted() {
        return Err(Error::Sampling("stopped before all draws were made".into()));
    }
    let (fit_seconds, begun) = (before + begun.elapsed().as_secs_f64(), Instant::now());
    let judged = match field.test {
        Some(test) => Judged::Test(Box::new(fitted.evaluate(test)?)),
        None => left_out(field, &fitted)?,
    };
    let mut scored = Scored::new(judged, fit_seconds, begun.elapsed().as_secs_f64())?;
    scored.convergence = Some(Convergence::of(&fitted.diagnostics));
    scored.notes.extend(field.test.and_then(|test| fitted.warn_outside(test)));
    scored.notes.extend(scored.trust.and_then(|trust| doubt(trust, scored.losses.len())));
    Ok(scored)
}

/// Leave-one-out scores by Pareto-smoothed importance sampling, in the user's units: with the
/// target scaled by s, `log p(y) = log p(y / s) - log s`.
fn left_out(field: &Field<'_>, fitted: &Fitted) -> Result<Judged> {
    let count = fitted.draws.len();
    if count <= TOO_FEW_DRAWS {
        let problem = format!(
            "rows cannot be left out with {count} draws: use more than {TOO_FEW_DRAWS}, or give test rows"
        );
        return Err(Error::Sampling(problem.into()));
    }
    let learned = fitted.settings.method.learns_experts();
    let (data, rows) = if learned {
        (fitted.observed(field.train)?, field.left_out.clone())
    } else {
        // All the rows that the weights were learned from.
        (field.experts()?.trained.observed(&fitted.settings)?, (0..field.left_out.len()).collect())
    };
    let posterior = Posterior::new(fitted.model.clone(), Arc::new(data))?;
    let threads = field.settings.sampler.threads;
    let (draws, scale) = (&fitted.draws, fitted.scaler.target.scale);
    if let Some(weights) = draws.weights() {
        // The weights are taken as given: what they have learned from a row left out is little.
        let scores = ChainLoo::of(&posterior, draws, &rows, scale, threads)?;
        let used = draws.used().into_iter().map(|c| Trust::of(&scores.each()[c]));
        return Ok(Judged::LeftOut(scores.mixed(weights), used.reduce(Trust::worse)));
    }
    let all: Vec<&[f64]> = draws.iter().collect();
    let log_lik = log_likelihoods(&posterior, &all, &rows, scale, threads)?;
    let efficiency = relative_efficiency(&log_lik, rows.len(), draws.chains().len(), threads)?;
    let scores = loo(&log_lik, rows.len(), &efficiency, threads)?;
    let trust = Trust::of(&scores);
    Ok(Judged::LeftOut(scores.pointwise, Some(trust)))
}

/// Leave-one-out scores that cannot be trusted.
fn doubt(trust: Trust, rows: usize) -> Option<Message> {
    let Trust { worst_khat, good_khat, bad_rows } = trust;
    let worst = worst_khat.map_or("without a value".into(), |k| format!("{k:.2}"));
    (bad_rows > 0).then(|| {
        Message::new(format!(
            "{bad_rows} of {rows} rows have a k-hat above {good_khat:.2} (worst: {worst}): its \
             leave-one-out scores are not to be trusted there, and as a rule too good. Use more \
             draws"
        ))
        .mention("draws")
        .say(", or give test rows")
    })
}
