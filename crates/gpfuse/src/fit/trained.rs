//! Experts trained on rows of their own, ready for weights to be learned from the other rows.

use std::sync::Arc;

use super::stacking::refuse_joint;
use super::{About, CheckedFit, Experts, Fitted, Scaled, infer};
use crate::Result;
use crate::data::{Data, Predictions};
use crate::experts::{self, Assignment, Expert};
use crate::infer::{Monitor, Phase};
use crate::model::Observed;
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
}

impl Trained {
    /// Train the experts of an assignment, which must fit the rows.
    pub(crate) fn new(
        data: &Data,
        scaled: Scaled,
        assignment: Assignment,
        settings: &CheckedFit,
    ) -> Result<Trained> {
        let (Scaled { x: region, y, scaler }, inputs) = (scaled, data.inputs().len());
        let (seed, threads) = (settings.sampler.seed, settings.sampler.threads);
        let experts =
            experts::train(&region, inputs, &y, &assignment, &settings.expert, seed, threads)?;
        let rows = assignment.stacking;
        let data = data.pick(&rows)?;
        let x = scaler.scale_inputs(data.x());
        let y = rows.iter().map(|r| y[*r]).collect();
        let predictions = experts::predict(&experts, &x, inputs, threads)?;
        let experts = Arc::new(experts);
        Ok(Trained { experts, rows, predictions, data, scaler, region, x, y })
    }

    /// What the weights are learned from.
    pub(crate) fn observed(&self) -> Result<Observed> {
        Observed::new(&self.x, self.scaler.inputs.len(), &self.y)?
            .with_given(self.predictions.mean(), self.predictions.sd())
    }

    /// Learn the weights.
    pub(crate) fn stack(&self, settings: &CheckedFit, monitor: &dyn Monitor) -> Result<Fitted> {
        refuse_joint(settings)?;
        let inputs = self.scaler.inputs.len();
        if settings.pilots(inputs) {
            monitor.phase(Phase::Pilot);
        }
        let ground = settings.ground(&self.x, &self.y, &self.region, inputs)?;
        let about = About {
            data: self.data.clone(),
            experts: Experts::Trained(self.experts.clone()),
            rows: self.rows.clone(),
            scaler: self.scaler.clone(),
        };
        infer(self.observed()?, ground, about, settings, monitor)
    }
}
