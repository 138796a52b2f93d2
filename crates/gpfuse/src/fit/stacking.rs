//! Weights for given experts: trained here on rows of their own, or made elsewhere.

use super::{CheckedFit, Experts, Fitted, Scaled, Trained, infer};
use crate::baseline::Predictions;
use crate::experts::{self, Assignment};
use crate::infer::Monitor;
use crate::model::{Given, Observed};
use crate::scale::Affine;
use crate::{Error, Result};

/// Divide the rows (or take the division given), train the experts, learn the weights.
pub(super) fn train_and_stack(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    assignment: Option<Assignment>,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Fitted> {
    refuse_joint(settings)?;
    let scaled = Scaled::new(x, inputs, y, settings)?;
    let assignment = match assignment {
        Some(assignment) => assignment.fits(y.len(), settings.experts)?,
        None => settings.assign(&scaled.x, y.len())?,
    };
    Trained::new(scaled, inputs, assignment, settings)?.stack(settings, monitor)
}

/// Learn weights for experts made elsewhere, given their names and predictions at the rows of
/// inputs `x` (row-major) and target `y`, all in the user's units. No expert may have been trained
/// on these rows.
pub fn stack(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    names: Vec<String>,
    predictions: &Predictions,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Fitted> {
    refuse_joint(settings)?;
    if let Some(k) = (1..names.len()).find(|k| names[..*k].contains(&names[*k])) {
        return Err(Error::Data(format!("two experts are called `{}`: rename one", names[k])));
    }
    if [names.len(), predictions.experts()] != [settings.experts; 2] {
        return Err(Error::Shape {
            what: "given experts".into(),
            expected: settings.experts.to_string(),
            found: format!("{} names, {} predictions", names.len(), predictions.experts()),
        });
    }
    if predictions.rows() != y.len() {
        return Err(Error::Shape {
            what: "given experts".into(),
            expected: format!("predictions at {} rows", y.len()),
            found: format!("at {}", predictions.rows()),
        });
    }
    let Scaled { x, y, scaler } = Scaled::new(x, inputs, y, settings)?;
    let said = scaled(predictions, scaler.target)?;
    let data = Observed::new(&x, inputs, &y)?.with_given(said.mean(), said.sd())?;
    let basis = settings.basis(&x, &x, inputs)?;
    let rows = (0..y.len()).collect();
    infer(data, basis, Experts::Named(names), rows, scaler, settings, monitor)
}

/// See [`Fitted::given`].
pub(super) fn given(
    fitted: &Fitted,
    x: &[f64],
    predictions: Option<&Predictions>,
) -> Result<Option<Given>> {
    match (&fitted.experts, predictions) {
        (Experts::Learned, None) => Ok(None),
        (Experts::Trained(experts), None) => {
            let (inputs, threads) = (fitted.scaler.inputs.len(), fitted.settings.sampler.threads);
            let said = experts::predict(experts, &fitted.scaler.scale_inputs(x), inputs, threads)?;
            Given::new(said.mean(), said.sd()).map(Some)
        }
        (Experts::Named(_), Some(predictions)) => {
            let said = scaled(predictions, fitted.scaler.target)?;
            Given::new(said.mean(), said.sd()).map(Some)
        }
        (Experts::Named(names), None) => Err(Error::Data(format!(
            "the experts of this model were made elsewhere: give the predictions of {}",
            names.join(", ")
        ))),
        (_, Some(_)) => Err(Error::Data(
            "this model has experts of its own: do not give it the predictions of others".into(),
        )),
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
