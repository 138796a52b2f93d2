//! A small model of each method, with exact draws of parameters and data together.

use gpfuse::calibrate::{Settings, Study, Truth};
use gpfuse::fit::BasisChoice;
use gpfuse::model::{Kind, Method, Model, Role};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::known::View;
use crate::law::Law;

/// Rows of the data: few, so that the posterior is not far from the prior.
const ROWS: usize = 4;

/// Functions of the basis.
const FUNCTIONS: usize = 4;

/// The model of a method with two experts on the Hilbert basis, at fixed inputs.
pub(crate) fn small(method: Method, seed: u64) -> anyhow::Result<Study> {
    on(BasisChoice::Hilbert, method, seed)
}

/// The same on another basis. A frequency makes two functions, a cosine and a sine.
pub(crate) fn on(basis: BasisChoice, method: Method, seed: u64) -> anyhow::Result<Study> {
    let mut settings = Settings { rows: ROWS, ..Settings::default() };
    (settings.fit.method, settings.fit.sampler.seed) = (method, seed);
    (settings.fit.experts, settings.fit.basis) = (2, basis);
    match basis {
        BasisChoice::Rff => settings.fit.frequencies = FUNCTIONS / 2,
        BasisChoice::Eigen => settings.fit.functions = Some(FUNCTIONS),
        _ => settings.fit.size = Some(FUNCTIONS),
    }
    Ok(Study::new(settings.check()?)?)
}

/// Parameters from the prior.
pub(crate) fn prior_draw(model: &Model, rng: &mut ChaCha8Rng) -> Vec<f64> {
    model.prior_draw(|| StandardNormal.sample(rng))
}

/// Parameters from the prior, and data from the model with them.
pub(crate) fn draw(study: &Study, rng: &mut ChaCha8Rng) -> anyhow::Result<Truth> {
    let q = prior_draw(study.model(), rng);
    let y = study.targets(&q, rng)?;
    Ok(Truth { q, y })
}

/// Every parameter with the law that the prior is documented to give it.
pub(crate) fn views(model: &Model) -> Vec<View> {
    let (priors, calibration) = (model.priors(), &model.priors().calibration);
    let mut out = Vec::new();
    for part in &model.layout().parts {
        let bank = match part.role {
            Some(Role::Common | Role::Contrast | Role::Mu) => priors.mu,
            Some(Role::LogSd) => priors.log_sd,
            Some(Role::Gate) | None => priors.gate,
        };
        let law = match part.kind {
            Kind::Var => Law::LogHalfNormal(bank.var),
            Kind::Ell => Law::LogHalfNormal(bank.ell),
            Kind::Theta => Law::Normal(0.0, 1.0),
            Kind::Scale => Law::Normal(0.0, calibration.scale),
            Kind::Floor => Law::LogHalfNormal(calibration.floor),
            Kind::Tail => Law::Normal(calibration.tail.ln(), 1.0),
            Kind::Blend => Law::Normal(calibration.blend.ln(), 1.5),
            Kind::Temper => Law::Normal(calibration.temper, 2.0 * calibration.temper),
        };
        let length = part.count * part.width;
        out.extend((0..length).map(|i| {
            let at = part.offset + i;
            View::new(format!("{} {}", part.name, i + 1), law, move |q| q[at])
        }));
    }
    out
}
