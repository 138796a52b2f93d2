//! Contestants without chains: the classical rules, and one exact GP.

use std::time::Instant;

use super::Scored;
use super::entry::Judged;
use super::field::Field;
use crate::baseline::{Prior, Rule, StackingSet};
use crate::experts::{self, Assignment, Expert, Lesson, Partition, train};
use crate::infer::Monitor;
use crate::metrics::evaluate;
use crate::predict::Fused;
use crate::{Error, Result};

/// The most rows that the single GP is fitted to.
const LARGEST_SINGLE_GP: usize = 3000;

/// Learn and score a rule.
pub(super) fn rule(field: &Field<'_>, rule: Rule) -> Result<Scored> {
    let (shared, sampler) = (field.experts()?, &field.settings.sampler);
    let begun = Instant::now();
    let y = field.targets(&shared.trained.rows)?;
    // On the model's scale, so that they do not depend on the user's units.
    let evidence = shared.trained.experts.iter().map(|e| e.gp().map(|(gp, _)| gp.log_marginal()));
    let evidence: Option<Vec<f64>> = evidence.collect();
    let set = StackingSet::new(&shared.stacking, &y, Prior::of(field.train.y()?)?)?;
    let set = set.with_seed(sampler.seed);
    let set = evidence.as_deref().map_or(Ok(set), |evidence| set.with_evidence(evidence))?;
    let learned = rule.learn(&set)?;
    let fit_seconds = shared.train_seconds + begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let (judged, clamped) = match (field.test, &shared.test) {
        (Some(test), Some(predictions)) => {
            let fused = learned.fuse(predictions)?;
            let scores = evaluate(&fused, test.y()?, sampler.threads)?;
            (Judged::Test(Box::new(scores)), fused.clamped())
        }
        _ => {
            let left_out = rule.leave_one_out(&set, sampler.threads)?;
            (Judged::LeftOut(left_out, None), learned.fuse(&shared.stacking)?.clamped())
        }
    };
    let predict_seconds = shared.predict_seconds + begun.elapsed().as_secs_f64();
    let mut scored = Scored::new(judged, fit_seconds, predict_seconds)?;
    if clamped > 0 {
        let rows = scored.losses.len();
        let words = format!(
            "at {clamped} of {rows} rows its precision fell below the prior's and was replaced by it"
        );
        scored.notes.push(words.into());
    }
    if rule.needs_evidence() && field.settings.expert.partition.shares() {
        scored.notes.push(
            "its experts were trained on different rows, so that their marginal likelihoods are \
             of different data and its weights mean little"
                .into(),
        );
    }
    Ok(scored)
}

/// Fit and score one exact GP on all training rows, made as the experts are. Rows are left out
/// at hyperparameters that have seen them.
pub(super) fn single_gp(field: &Field<'_>, monitor: &dyn Monitor) -> Result<Scored> {
    let n = field.train.len();
    if n > LARGEST_SINGLE_GP {
        let problem =
            format!("{n} rows take too long for one exact GP: give {LARGEST_SINGLE_GP} or fewer");
        return Err(Error::Data(problem));
    }
    let (sampler, begun) = (&field.settings.sampler, Instant::now());
    let all = Assignment { experts: vec![(0..n).collect()], stacking: vec![0] };
    let (partition, inputs) = (Partition::Random, Vec::new());
    let settings = experts::Settings { partition, inputs, ..field.settings.expert.clone() };
    let (x, scaler, seed) = (&field.scaled.x, &field.scaled.scaler, sampler.seed);
    let twins: Vec<usize> = (0..n).collect();
    let lesson = Lesson { x, inputs: scaler.inputs.len(), y: &field.scaled.y, twins: &twins };
    let (experts, _) = train(&lesson, &all, &settings, seed, sampler.threads, monitor)?;
    let Some((gp, _)) = experts.first().and_then(Expert::gp) else {
        return Err(Error::Worker("there is no GP".into()));
    };
    let (fit_seconds, begun) = (begun.elapsed().as_secs_f64(), Instant::now());
    let normal = |mean: &[f64], sd: &[f64]| {
        let mean = mean.iter().map(|m| scaler.target.restore(*m)).collect();
        Fused::normal(mean, sd.iter().map(|s| s * scaler.target.scale).collect())
    };
    let judged = match field.test {
        Some(test) => {
            let at_test = gp.predict(&scaler.scale_inputs(test.x()), true)?;
            let fused = normal(&at_test.mean, &at_test.sd)?;
            Judged::Test(Box::new(evaluate(&fused, test.y()?, sampler.threads)?))
        }
        None => {
            let all = gp.leave_one_out();
            let (mean, sd): (Vec<f64>, Vec<f64>) = field.left_out.iter().map(|r| all[*r]).unzip();
            let (fused, y) = (normal(&mean, &sd)?, field.targets(&field.left_out)?);
            let each = |row: usize| Ok(fused.row(row)?.log_density(y[row]));
            Judged::LeftOut((0..y.len()).map(each).collect::<Result<Vec<f64>>>()?, None)
        }
    };
    Scored::new(judged, fit_seconds, begun.elapsed().as_secs_f64())
}
