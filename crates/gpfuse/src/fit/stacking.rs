//! Weights for given experts: trained here on rows of their own, or made elsewhere.

use std::ops::Range;

use super::pilot::Ground;
use super::{About, CheckedFit, Experts, Fitted, Scaled, Trained, infer, rules};
use crate::data::{Data, Predictions};
use crate::experts::{self, Assignment};
use crate::infer::Monitor;
use crate::model::{Given, Method, Observed};
use crate::resolution::resolution;
use crate::scale::Affine;
use crate::{Error, Result};

/// Divide the rows (or take the division that comes with them), train the experts, learn the
/// weights.
pub(super) fn train_and_stack(
    data: &Data,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Fitted> {
    refuse_joint(settings)?;
    let scaled = Scaled::new(data, settings)?;
    let assignment = match data.assignment() {
        Some(_) if settings.method == Method::Gp => {
            let problem = "gp has all rows: leave the division of the rows out";
            return Err(Error::setting("method", problem));
        }
        Some(assignment) => assignment.clone().fits(data.len(), settings.experts)?,
        None if settings.method == Method::Gp => {
            let all: Vec<usize> = (0..data.len()).collect();
            Assignment { experts: vec![all.clone()], stacking: all }
        }
        None => settings.assign(&scaled.x, data.len())?,
    };
    Trained::new(data, scaled, assignment, settings, monitor)?.stack(settings, monitor)
}

/// Learn weights for experts made elsewhere, whose predictions come with the rows.
pub(super) fn stack(data: &Data, settings: &CheckedFit, monitor: &dyn Monitor) -> Result<Fitted> {
    refuse_joint(settings)?;
    if settings.method == Method::Gp {
        let problem = "gp is one GP of its own, and fuses no predictions: use bhs, pbhs or a rule";
        return Err(Error::setting("method", problem));
    }
    let Scaled { x, y, scaler } = Scaled::new(data, settings)?;
    let inputs = data.inputs().len();
    let mut observed = Observed::new(&x, inputs, &y)?;
    let predictions = data.predictions().map(|p| scaled(p, scaler.target)).transpose()?;
    if let Some(predictions) = &predictions {
        let said = rules::seen(settings.method, predictions.clone(), &y)?;
        observed = observed.with_given(said.mean(), said.sd())?;
    }
    let sampled = settings.method.is_sampled();
    let ground = match sampled {
        true => settings.ground(&x, &y, &x, inputs, monitor)?,
        false => Ground::constant(settings, &x[..inputs]),
    };
    let experts = Experts::Named(data.experts().to_vec());
    let rows = (0..data.len()).collect();
    let resolution = resolution(data.y()?).filter(|_| sampled);
    let about = About { data: data.clone(), experts, rows, scaler, predictions, resolution };
    infer(observed, ground, about, settings, monitor)
}

/// What the experts say at the rows `part` of `data`, whose scaled inputs are `x`, ready for the model.
pub(super) fn given(
    fitted: &Fitted,
    data: &Data,
    part: Range<usize>,
    x: &[f64],
) -> Result<Option<Given>> {
    said(fitted, data, part, x)?.map(|said| fitted.given(said)).transpose()
}

/// The same on the model's scale: nothing where the model has learned its experts.
pub(super) fn said(
    fitted: &Fitted,
    data: &Data,
    part: Range<usize>,
    x: &[f64],
) -> Result<Option<Predictions>> {
    check_experts(fitted, data)?;
    Ok(Some(match (&fitted.experts, data.predictions()) {
        (Experts::Trained(experts), _) => {
            let (inputs, threads) = (fitted.inputs().len(), fitted.settings.sampler.threads);
            experts::predict(experts, x, inputs, threads)?
        }
        (Experts::Named(_), Some(predictions)) => {
            scaled(&predictions.part(part)?, fitted.scaler.target)?
        }
        _ => return Ok(None),
    }))
}

/// Refuse rows without what the experts of a model say about them, where these were made
/// elsewhere, and rows with what others say.
pub(super) fn check_experts(fitted: &Fitted, data: &Data) -> Result<()> {
    match (&fitted.experts, data.predictions()) {
        (Experts::Named(names), None) => Err(Error::Data(format!(
            "the experts of this model were made elsewhere: give the predictions of {}",
            names.join(", ")
        ))),
        (Experts::Named(names), Some(_)) if names != data.experts() => Err(Error::Shape {
            what: "given experts".into(),
            expected: names.join(", "),
            found: data.experts().join(", "),
        }),
        (Experts::Learned | Experts::Trained(_), Some(_)) => Err(Error::Data(
            "this model has experts of its own: do not give it the predictions of others".into(),
        )),
        _ => Ok(()),
    }
}

/// Predictions on the model's scale of the target.
fn scaled(predictions: &Predictions, target: Affine) -> Result<Predictions> {
    predictions.on_scale(|mean| target.apply(mean), |sd| sd / target.scale)
}

/// A method that learns its experts has no use for others.
pub(super) fn refuse_joint(settings: &CheckedFit) -> Result<()> {
    if !settings.method.learns_experts() {
        return Ok(());
    }
    let problem = format!("`{}` learns experts of its own: use bhs or pbhs", settings.method);
    Err(Error::setting("method", problem))
}
