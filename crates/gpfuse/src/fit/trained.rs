//! Experts trained on rows of their own, ready for weights to be learned from the other rows.

use super::stacking::refuse_joint;
use super::{CheckedFit, Experts, Fitted, Scaled, infer};
use crate::Result;
use crate::baseline::Predictions;
use crate::experts::{self, Assignment, Expert};
use crate::infer::Monitor;
use crate::model::Observed;
use crate::scale::Scaler;

/// Trained experts and the stacking rows. Several methods can learn weights for the same ones.
#[derive(Debug, Clone)]
pub(crate) struct Trained {
    /// The experts.
    pub(crate) experts: Vec<Expert>,
    /// The stacking rows, by their numbers in the training table.
    pub(crate) rows: Vec<usize>,
    /// What the experts say about them, on the model's scale.
    pub(crate) said: Predictions,
    /// The scaling of the data.
    pub(crate) scaler: Scaler,
    inputs: usize,
    /// The scaled inputs of all training rows: the region that the weights are meant for.
    region: Vec<f64>,
    /// The scaled inputs and targets of the stacking rows.
    own: Vec<f64>,
    target: Vec<f64>,
}

impl Trained {
    /// Train the experts of an assignment, which must fit the rows.
    pub(crate) fn new(
        scaled: Scaled,
        inputs: usize,
        assignment: Assignment,
        settings: &CheckedFit,
    ) -> Result<Trained> {
        let Scaled { x, y, scaler } = scaled;
        let (seed, threads) = (settings.sampler.seed, settings.sampler.threads);
        let experts = experts::train(&x, inputs, &y, &assignment, &settings.expert, seed, threads)?;
        let rows = assignment.stacking;
        let own: Vec<f64> =
            rows.iter().flat_map(|r| &x[r * inputs..(r + 1) * inputs]).copied().collect();
        let target = rows.iter().map(|r| y[*r]).collect();
        let said = experts::predict(&experts, &own, inputs, threads)?;
        Ok(Trained { experts, rows, said, scaler, inputs, region: x, own, target })
    }

    /// What the weights are learned from.
    pub(crate) fn data(&self) -> Result<Observed> {
        Observed::new(&self.own, self.inputs, &self.target)?
            .with_given(self.said.mean(), self.said.sd())
    }

    /// Learn the weights.
    pub(crate) fn stack(&self, settings: &CheckedFit, monitor: &dyn Monitor) -> Result<Fitted> {
        refuse_joint(settings)?;
        let basis = settings.basis(&self.own, &self.region, self.inputs)?;
        let experts = Experts::Trained(self.experts.clone());
        let (rows, scaler) = (self.rows.clone(), self.scaler.clone());
        infer(self.data()?, basis, experts, rows, scaler, settings, monitor)
    }
}
