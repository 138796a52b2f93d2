//! Weights for given experts: trained here on rows of their own, or made elsewhere.

use super::{CheckedFit, Experts, Fitted, Scaled, infer};
use crate::baseline::Predictions;
use crate::experts::{self, Assignment};
use crate::infer::Monitor;
use crate::model::{Data, Given};
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
    let Scaled { x, y, scaler } = Scaled::new(x, inputs, y, settings)?;
    let (seed, threads) = (settings.sampler.seed, settings.sampler.threads);
    let assignment = match assignment {
        Some(assignment) => assignment.fits(y.len(), settings.experts)?,
        None => {
            let (own, k) = (&settings.expert, settings.experts);
            Assignment::draw(own.partition, &x, y.len(), k, own.hold_out, own.along, seed)?
        }
    };
    let trained = experts::train(&x, inputs, &y, &assignment, &settings.expert, seed, threads)?;
    let rows = assignment.stacking;
    let own: Vec<f64> =
        rows.iter().flat_map(|r| &x[r * inputs..(r + 1) * inputs]).copied().collect();
    let target: Vec<f64> = rows.iter().map(|r| y[*r]).collect();
    let said = experts::predict(&trained, &own, inputs, threads)?;
    let data = Data::new(&own, inputs, &target)?.with_given(said.mean(), said.sd())?;
    let basis = settings.basis(&own, &x, inputs)?;
    infer(data, basis, Experts::Trained(trained), rows, scaler, settings, monitor)
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
    let (mean, sd) = scaled(predictions, scaler.target);
    let data = Data::new(&x, inputs, &y)?.with_given(&mean, &sd)?;
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
            let (mean, sd) = scaled(predictions, fitted.scaler.target);
            Given::new(&mean, &sd).map(Some)
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
fn scaled(predictions: &Predictions, target: Affine) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let each = |v: &[Vec<f64>], by: &dyn Fn(f64) -> f64| -> Vec<Vec<f64>> {
        v.iter().map(|own| own.iter().map(|v| by(*v)).collect()).collect()
    };
    let mean = each(predictions.mean(), &|v| target.apply(v));
    (mean, each(predictions.sd(), &|v| v / target.scale))
}

fn refuse_joint(settings: &CheckedFit) -> Result<()> {
    if !settings.method.learns_experts() {
        return Ok(());
    }
    let problem = format!("`{}` learns experts of its own: use bhs or pbhs", settings.method);
    Err(Error::setting("method", problem))
}
