//! Weights for given experts: trained here on rows of their own, or made elsewhere.

use std::ops::Range;

use super::pilot::Ground;
use super::{About, CheckedFit, Experts, FitSettings, Fitted, Scaled, Trained, infer, rules};
use crate::data::{Data, Said};
use crate::experts::{self, Assignment};
use crate::infer::Monitor;
use crate::model::{Given, Method, Observed};
use crate::resolution::{self, resolution};
use crate::rows::Rows;
use crate::scale::{Affine, Scaler};
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
    let Scaled { x, mut y, mut scaler } = Scaled::new(data, settings)?;
    let inputs = data.inputs().len();
    let classes = data.predictions().and_then(Said::classes);
    let outcomes = data.predictions().is_some_and(|said| said.normal().is_none());
    if outcomes
        && settings.method != Method::Bhs
        && !(classes.is_some() && settings.method.stacks())
    {
        let problem = "it has to know the densities of all values, and the experts gave that of the target alone: use \
                       bhs";
        return Err(Error::setting("method", format!("`{}`: {problem}", settings.method)));
    }
    let sampled = settings.method.is_sampled();
    let ground = match Ground::simple(settings, &x[..inputs]) {
        Some(simple) => simple,
        None => settings.ground(&x, &y, &x, inputs, monitor)?,
    };
    if let Some(classes) = classes {
        classes.targets(data.y()?)?;
        // The number of a class has no scale, but for the pilot.
        (y, scaler.target) = (data.y()?.to_vec(), Affine::IDENTITY);
    }
    // Whoever gives a log density of a rounded target knows best what it means.
    let resolution = resolution(data.y()?).filter(|_| sampled && !outcomes);
    let predictions = data.predictions().map(|said| said.scaled(scaler.target)).transpose()?;
    let observed = match &predictions {
        Some(said) => observed(Rows::new(&x, inputs)?, &y, said, settings, resolution, &scaler)?,
        None => Observed::new(&x, inputs, &y)?,
    };
    let experts = Experts::Named(data.experts().to_vec());
    let rows = (0..data.len()).collect();
    let about = About { data: data.clone(), experts, rows, scaler, predictions, resolution };
    infer(observed, ground, about, settings, monitor)
}

/// Rows with their targets, all on the model's scale, and what given experts say about them. A mixture knows no more
/// of these than how probable they held the targets, which is computed once.
pub(super) fn observed(
    rows: Rows,
    y: &[f64],
    said: &Said,
    settings: &FitSettings,
    resolution: Option<f64>,
    scaler: &Scaler,
) -> Result<Observed> {
    let (seen, scale) = (rules::seen(settings.method, said, y)?, scaler.target.scale);
    let given = Given::of(&seen)?;
    let rounding = resolution::variance(resolution, scale);
    let given = match (settings.method, seen.as_ref()) {
        (Method::Bhs, _) => given.with_log_density(&said.log_density(y, rounding, scale)),
        (_, Said::Classes(all)) => given.with_log_density(&all.by_class_from(&all.targets(y)?)),
        _ => given,
    };
    Ok(Observed::at(rows, y)?.given_by(given))
}

/// What the experts say at the rows `part` of `data`, whose scaled inputs are `x`, ready for the model.
pub(super) fn given(
    fitted: &Fitted,
    data: &Data,
    part: Range<usize>,
    x: &[f64],
) -> Result<Option<Given>> {
    said(fitted, data, part, x)?.map(|said| fitted.given(&said)).transpose()
}

/// The same on the model's scale: nothing where the model has learned its experts.
pub(super) fn said(
    fitted: &Fitted,
    data: &Data,
    part: Range<usize>,
    x: &[f64],
) -> Result<Option<Said>> {
    check_experts(fitted, data)?;
    Ok(Some(match (&fitted.experts, data.predictions()) {
        (Experts::Trained(experts), _) => {
            let (inputs, threads) = (fitted.inputs().len(), fitted.settings.sampler.threads);
            experts::predict(experts, x, inputs, threads)?.into()
        }
        (Experts::Named(_), Some(predictions)) => {
            predictions.part(part)?.scaled(fitted.scaler.target)?
        }
        _ => return Ok(None),
    }))
}

/// Refuse rows without what the experts of a model say about them, where these were made
/// elsewhere, and rows with what others say.
pub(super) fn check_experts(fitted: &Fitted, data: &Data) -> Result<()> {
    match (&fitted.experts, data.predictions()) {
        // Their weights can be had without.
        (Experts::Named(_), None) if fitted.says_outcomes() => Ok(()),
        (Experts::Named(_), None) => Err(nothing_said(fitted)),
        (Experts::Named(names), Some(_)) if names != data.experts() => Err(Error::Shape {
            what: "given experts".into(),
            expected: names.join(", "),
            found: data.experts().join(", "),
        }),
        (Experts::Named(_), Some(found)) => match &fitted.said {
            Some(said) if !said.is_like(found) => Err(Error::Data(format!(
                "the experts of this model said {} for each row, and here they say {}: give them as before",
                said.words(),
                found.words()
            ))),
            _ => same_classes(fitted, found),
        },
        (Experts::Learned | Experts::Trained(_), Some(_)) => Err(Error::Data(
            "this model has experts of its own: do not give it the predictions of others".into(),
        )),
        _ => Ok(()),
    }
}

/// Refuse probabilities of other classes, or in another order.
fn same_classes(fitted: &Fitted, found: &Said) -> Result<()> {
    match (fitted.classes(), found.classes()) {
        (Some(own), Some(found)) if own.names() != found.names() => Err(Error::Data(format!(
            "the classes are {}: the model has {}: give these, in this order",
            found.names().join(", "),
            own.names().join(", ")
        ))),
        _ => Ok(()),
    }
}

/// That rows are without what the experts of a model say about them.
pub(super) fn nothing_said(fitted: &Fitted) -> Error {
    let names = fitted.expert_names().join(", ");
    let what = fitted.said.as_ref().map_or("predictions", |said| said.words());
    Error::Data(format!(
        "the experts of this model were made elsewhere: give what {names} say about these rows, each {what}"
    ))
}

/// A method that learns its experts has no use for others.
pub(super) fn refuse_joint(settings: &CheckedFit) -> Result<()> {
    if !settings.method.learns_experts() {
        return Ok(());
    }
    let problem = format!("`{}` learns experts of its own: use bhs or pbhs", settings.method);
    Err(Error::setting("method", problem))
}
