//! The forms in which a posterior is sampled: whole, or without the coefficients of the means.

use gpfuse::model::{Collapsed, Posterior};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A point of a density, and the density.
type At<D> = (Vec<f64>, D);

/// How a density is made of a posterior, with the point that it has for parameters; and how its points
/// become parameters again. Where that draws from the law given the rest, it leaves the posterior as it
/// is, as the transition before it does.
pub(super) struct Form<D> {
    pub(super) of: fn(Posterior, &[f64]) -> gpfuse::Result<At<D>>,
    pub(super) whole: fn(D, Vec<f64>, &mut ChaCha8Rng) -> Option<Vec<f64>>,
}

pub(super) const PLAIN: Form<Posterior> =
    Form { of: |posterior, q| Ok((q.to_vec(), posterior)), whole: |_, q, _| Some(q) };

pub(super) const COLLAPSED: Form<Collapsed> = Form {
    of: |posterior, q| {
        let collapsed = Collapsed::new(posterior)?;
        Ok((collapsed.shorten(q), collapsed))
    },
    whole: |mut collapsed, h, rng| collapsed.complete(&h, || StandardNormal.sample(rng)),
};
