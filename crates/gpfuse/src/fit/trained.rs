//! Experts trained on rows of their own, ready for weights to be learned from the other rows.

use std::sync::Arc;

use super::pilot::Ground;
use super::stacking::{observed, refuse_joint};
use super::{About, CheckedFit, Experts, FitSettings, Fitted, Scaled, infer};
use crate::Result;
use crate::data::{Data, Predictions};
use crate::experts::{self, Assignment, Expert, Lesson};
use crate::gp::Gp;
use crate::infer::{Monitor, Phase};
use crate::kernel::Kernel;
use crate::model::Observed;
use crate::resolution::resolution;
use crate::rows::Rows;
use crate::scale::Scaler;

/// Trained experts and the stacking rows. Several methods can learn weights for the same ones.
#[derive(Debug, Clone)]
pub(crate) struct Trained {
    /// The experts.
    pub(crate) experts: Arc<Vec<Expert>>,
    /// The stacking rows, by their numbers in the training table.
    pub(crate) rows: Vec<usize>,
    /// What the experts say about them, on the model's scale.
    pub(crate) predictions: Predictions,
    /// The stacking rows, in the user's units.
    data: Data,
    scaler: Scaler,
    /// The scaled inputs of all training rows: the region that the weights are meant for.
    region: Vec<f64>,
    /// The scaled inputs of the stacking rows.
    x: Vec<f64>,
    /// Their scaled targets.
    y: Vec<f64>,
    /// The step to which the target is rounded.
    resolution: Option<f64>,
}

impl Trained {
    /// Train the experts of an assignment, which must fit the rows.
    pub(crate) fn new(
        data: &Data,
        scaled: Scaled,
        assignment: Assignment,
        settings: &CheckedFit,
        monitor: &dyn Monitor,
    ) -> Result<Trained> {
        monitor.phase(Phase::Experts);
        let (Scaled { x: region, y, scaler }, inputs) = (scaled, data.inputs().len());
        let (seed, threads) = (settings.sampler.seed, settings.sampler.threads);
        let twins = experts::twins(&region, inputs, &y);
        let lesson = Lesson { x: &region, inputs, y: &y, twins: &twins };
        let (experts, predictions) =
            experts::train(&lesson, &assignment, &settings.expert, seed, threads, monitor)?;
        let rows = assignment.stacking;
        let resolution = resolution(data.y()?);
        let data = data.pick(&rows)?;
        let x = scaler.scale_inputs(data.x());
        let y = rows.iter().map(|r| y[*r]).collect();
        let experts = Arc::new(experts);
        Ok(Trained { experts, rows, predictions, data, scaler, region, x, y, resolution })
    }

    /// The GP with all inputs that predicts its own rows best, each left out in turn; of those with the kernel that
    /// is asked for, if one is.
    fn surest(&self, inputs: usize, kernel: Option<Kernel>) -> Option<&Gp> {
        let gps = self.experts.iter().filter_map(Expert::gp);
        let fits = |gp: &Gp| kernel.is_none_or(|kernel| gp.kernel() == kernel);
        let all = gps.filter(|(gp, columns)| columns.len() == inputs && fits(gp));
        let scored = all.map(|(gp, _)| (gp.leave_one_out_score() / gp.rows() as f64, gp));
        scored.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, gp)| gp)
    }

    /// What the weights are learned from.
    pub(crate) fn observed(&self, settings: &FitSettings) -> Result<Observed> {
        let rows = Rows::new(&self.x, self.scaler.inputs.len())?;
        let said = self.predictions.clone().into();
        observed(rows, &self.y, &said, settings, self.resolution, &self.scaler)
    }

    /// Learn the weights.
    pub(crate) fn stack(&self, settings: &CheckedFit, monitor: &dyn Monitor) -> Result<Fitted> {
        refuse_joint(settings)?;
        let inputs = self.scaler.inputs.len();
        let pilots = settings.pilots(inputs);
        let simple = Ground::simple(settings, &self.x[..inputs]);
        let ground = match (simple, self.surest(inputs, settings.kernel).filter(|_| pilots)) {
            (Some(simple), _) => simple,
            // An expert that has all inputs tells as much as a pilot.
            (None, Some(gp)) => Ground::of_expert(gp, &self.x, inputs, settings.sampler.seed)?,
            (None, None) => settings.ground(&self.x, &self.y, &self.region, inputs, monitor)?,
        };
        let about = About {
            data: self.data.clone(),
            experts: Experts::Trained(self.experts.clone()),
            rows: self.rows.clone(),
            scaler: self.scaler.clone(),
            predictions: Some(self.predictions.clone().into()),
            // The noise of what is not sampled has the rounding of the targets in it.
            resolution: self.resolution.filter(|_| settings.method.is_sampled()),
        };
        infer(self.observed(settings)?, ground, about, settings, monitor)
    }
}
