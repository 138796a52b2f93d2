//! A density with exact starts, and the laws that one transition must conserve.

use gpfuse::fit::BasisChoice;
use gpfuse::model::{Method, Posterior, Prior};
use rand_distr::{Distribution, StandardNormal};

use crate::joint::{draw, on, prior_draw, small, views};
use crate::known::{Known, View};
use crate::tune::Start;

/// What is tested.
pub(super) struct Case<D> {
    pub(super) name: String,
    pub(super) start: Start<D>,
    pub(super) views: Vec<View>,
    /// The largest step size that is tried: with a longer one, a jump across the whole density
    /// would be shorter than a step.
    pub(super) widest: f64,
    /// A scale for each parameter, by which the kernel's steps are multiplied; ones where there is none.
    pub(super) scales: Vec<f64>,
}

impl<D> Case<D> {
    /// The same by a kernel with scales.
    pub(super) fn scaled(self, scales: &[f64]) -> Case<D> {
        Case { scales: scales.to_vec(), ..self }
    }
}

impl Case<Known> {
    pub(super) fn known(name: &str, known: Known) -> Case<Known> {
        let views = known.views();
        let widest = match &known {
            Known::Normal(factor) => 0.9 * factor[0][0],
            Known::Logistic => 1.5,
            _ => 1.0,
        };
        let start: Start<Known> = Box::new(move |rng| {
            Ok((known.draw(&mut || StandardNormal.sample(rng)), known.clone()))
        });
        Case { name: name.into(), start, views, widest, scales: Vec::new() }
    }
}

impl Case<Prior> {
    /// The prior of a method.
    pub(super) fn prior(method: Method, seed: u64) -> anyhow::Result<Case<Prior>> {
        let model = small(method, seed)?.model().clone();
        let views = views(&model);
        let start: Start<Prior> =
            Box::new(move |rng| Ok((prior_draw(&model, rng), Prior::new(model.clone()))));
        Ok(Case {
            name: format!("prior of {method}"),
            start,
            views,
            widest: 1.0,
            scales: Vec::new(),
        })
    }
}

impl Case<Posterior> {
    /// The posterior of a method given data that were drawn with the start, which is an exact
    /// draw of it; over all data its parameters have the laws of the prior.
    pub(super) fn posterior(
        method: Method,
        basis: BasisChoice,
        seed: u64,
    ) -> anyhow::Result<Case<Posterior>> {
        let study = on(basis, method, seed)?;
        let views = views(study.model());
        let start: Start<Posterior> = Box::new(move |rng| {
            let truth = draw(&study, rng)?;
            let posterior = study.posterior(&truth.y)?;
            Ok((truth.q, posterior))
        });
        Ok(Case {
            name: match basis {
                BasisChoice::Eigen => format!("posterior of {method}, eigenfunctions"),
                _ => format!("posterior of {method}"),
            },
            start,
            views,
            widest: 1.0,
            scales: Vec::new(),
        })
    }
}
