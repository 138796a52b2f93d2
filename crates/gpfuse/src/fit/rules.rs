//! The classical rules as fitted models.
//!
//! A rule with constant weights is a mixture of experts on a basis of a constant alone, with one point in the place of
//! draws. A rule that makes one normal density of all experts is the model of one expert, which says that density.

use std::borrow::Cow;

use super::{About, CheckedFit, Experts};
use crate::baseline::{Prior, StackingSet};
use crate::data::Said;
use crate::experts::Expert;
use crate::infer::Draws;
use crate::infer::map::Point;
use crate::model::{Kind, Method, Model};
use crate::settings::Message;
use crate::{Error, Result};

/// The least probability of a class in a product, as a part of an even guess. An expert that counts, as a forest does,
/// says 0 of what it has not seen, and does not mean "never": in a product this would be a veto.
const LEAST_IN_PRODUCT: f64 = 0.01;

/// The least log weight, of an expert without any: its exponential is a number above 0.
const LEAST: f64 = -700.0;

/// What the model of a method sees where experts say something: of some rules, their one density; of classes in a
/// product, nothing that is all but impossible. `y` are the targets that the weights are learned from, on the scale of
/// what is said.
pub(super) fn seen<'a>(method: Method, said: &'a Said, y: &[f64]) -> Result<Cow<'a, Said>> {
    if let (Method::Pbhs, Said::Classes(all)) = (method, said) {
        let least = LEAST_IN_PRODUCT / all.names().len() as f64;
        return Ok(Cow::Owned(all.at_least(least).into()));
    }
    let rule = method.rule().filter(|rule| rule.makes_one());
    let Some((rule, said)) = rule.zip(said.normal()) else { return Ok(Cow::Borrowed(said)) };
    let one = rule.with_prior(said.experts(), Prior::of(y)?).fuse(said)?.one()?;
    Ok(Cow::Owned(one.into()))
}

/// What a rule learns, as the one point of its model; of one exact GP, nothing.
pub(super) fn point(model: &Model, about: &About, settings: &CheckedFit) -> Result<Draws> {
    let mut q = vec![0.0; model.dim()];
    let rule = settings.method.rule().filter(|rule| !rule.makes_one());
    if let Some((rule, said)) = rule.zip(about.predictions.as_ref().and_then(Said::normal)) {
        let y: Vec<f64> = about.data.y()?.iter().map(|v| about.scaler.target.apply(*v)).collect();
        let set = StackingSet::new(said, &y, Prior::of(&y)?)?.with_seed(settings.sampler.seed);
        let evidence = evidence(&about.experts);
        if rule.needs_evidence() && evidence.is_none() {
            let problem = "bma needs the marginal likelihood of every expert, which trees and experts made elsewhere \
                           have not: use pseudo-bma, or experts that are GPs";
            return Err(Error::setting(
                "method",
                Message::new(problem).advise("partition", "kernels"),
            ));
        }
        let set = evidence.as_deref().map_or(Ok(set), |all| set.with_evidence(all))?;
        let learned = rule.learn(&set)?;
        let weights = learned.log_weights().unwrap_or_default();
        // A gate is its first coefficient, and that of the last expert is 0.
        let last = weights.last().copied().unwrap_or(0.0).max(LEAST);
        let theta = model.layout().parts.iter().find(|part| part.kind == Kind::Theta);
        for (k, weight) in theta.iter().flat_map(|part| weights.iter().take(part.count).enumerate())
        {
            q[theta.map_or(0, |part| part.offset + k * part.width)] = weight.max(LEAST) - last;
        }
    }
    Ok(Draws::single(Point { q, logp: 0.0 }))
}

/// The log marginal likelihoods of experts, where all are exact GPs.
fn evidence(experts: &Experts) -> Option<Vec<f64>> {
    let Experts::Trained(all) = experts else { return None };
    all.iter().map(Expert::gp).map(|gp| gp.map(|(gp, _)| gp.log_marginal())).collect()
}
