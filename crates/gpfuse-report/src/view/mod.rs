//! What figures show of a fitted model, gathered as plain numbers.

mod along;
mod curves;
mod outcomes;
mod title;
mod traces;
mod training;

use anyhow::Result;
use gpfuse::fit::Experts as Kept;
use gpfuse::{Data, Fitted, fit};

use self::curves::{LEVEL, Places};
pub use self::outcomes::calibration;
use crate::figure::{
    self, Calibration, Chains, Draws, Effects, Experts, Outcomes, Pairs, Predictive, Scene,
};

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
    /// With more than one expert: their weights along each input, where `experts` does not show them.
    pub weights: Option<Effects>,
    /// Their weights along the two inputs that matter most to them.
    pub pair: Option<Pairs>,
    /// How predictions and weights depend on each input.
    pub moves: Moves,
    /// What was observed and predicted at the rows of a table, or at those of the fit, each left out.
    pub outcomes: Option<Outcomes>,
    /// Calibration at these rows.
    pub calibration: Option<Calibration>,
    /// Which rows these are, in a sentence.
    pub judged: String,
    /// With more than one draw: quantities of the chains that labels do not change.
    pub chains: Option<Chains>,
    /// What is missing, and why, in sentences.
    pub omitted: Vec<String>,
}

/// How predictions and weights depend on each input, as far as that is known.
#[derive(Debug, Clone, Default)]
pub struct Moves {
    /// With several inputs: the mean of the predictions.
    pub mean: Option<fit::Effects>,
    /// With more than one expert: the weights.
    pub weights: Option<fit::Effects>,
}

/// Gather what figures show of a model. Rows with known targets are those that predictions are
/// judged on; without them, these are the rows of the fit, each left out.
pub fn view(fitted: &Fitted, data: Option<&Data>, threads: usize) -> Result<View> {
    let training = training::training(fitted)?;
    let elsewhere = matches!(fitted.experts, Kept::Named(_));
    let mut out = View::default();
    // Where the model is looked at, and the data that are shown with it.
    let region = if elsewhere { data } else { training.as_ref().or(data) };
    let shown = data.or(region);
    match (region, shown) {
        _ if fitted.says_outcomes() => {
            let said = fitted.said.as_ref().map_or("", |said| said.words());
            out.omitted
                .push(format!("Predictions and calibration: each expert said {said} and no more."));
        }
        (Some(region), Some(shown)) if fitted.inputs().len() == 1 => {
            let places = Places::along(fitted, region)?;
            out.predictive = Some(curves::predictive(fitted, &places, shown, threads)?);
            if fitted.model.experts() > 1 {
                out.experts = Some(curves::experts(fitted, &places, threads)?);
                out.draws = Some(curves::draws(fitted, &places, shown, threads)?);
            }
        }
        (Some(_), _) if elsewhere => out.omitted.push(
            "Slices and partial effects: the experts were made elsewhere, and speak only at the \
             rows of the table."
                .into(),
        ),
        (Some(region), _) => {
            let inputs: Vec<usize> = (0..fitted.inputs().len()).collect();
            let found = fitted.mean_effects(region, &inputs, LEVEL, threads)?;
            out.slices = Some(along::slices(fitted, region, &along::order(&found), threads)?);
            out.partial = Some(along::partial(fitted, region, &found));
            out.moves.mean = Some(found);
        }
        (None, _) if elsewhere => out.omitted.push(
            "Predictions: the experts were made elsewhere, so this needs the table with their \
             columns."
                .into(),
        ),
        (None, _) => out.omitted.push(
            "Predictions: the model file does not hold the rows of its fit, so this needs the \
             table."
                .into(),
        ),
    }
    weights(fitted, &mut out, threads)?;
    match data {
        _ if fitted.says_outcomes() => {}
        Some(data) => outcomes::of_table(fitted, data, &mut out, threads)?,
        None => outcomes::of_rows_left_out(fitted, &mut out, threads),
    }
    match fitted.draws.per_chain() > 1 {
        true if fitted.says_outcomes() => out.chains = Some(traces::chains(fitted, None)?),
        true => out.chains = Some(traces::chains(fitted, region)?),
        false => out.omitted.push("Chains: there is a single draw.".into()),
    }
    Ok(out.called(title::words(fitted.settings.method)))
}

/// How the weights depend on the inputs.
fn weights(fitted: &Fitted, out: &mut View, threads: usize) -> Result<()> {
    let data = &fitted.data;
    let inputs: Vec<usize> = (0..fitted.inputs().len()).collect();
    let found = fitted.weight_effects(data, &inputs, LEVEL, threads)?;
    if let Some(found) = found.as_ref().filter(|found| !found.constant) {
        if out.experts.is_none() {
            out.weights = Some(along::weights(fitted, data, found));
        }
        out.pair = along::pair(fitted, data, found, threads)?;
    }
    out.moves.weights = found;
    Ok(())
}

impl View {
    /// All figures that there are, with a name that suits a file.
    pub fn figures(&self) -> Vec<(&'static str, Scene)> {
        let mut out = Vec::new();
        let mut add = |name, scene: Option<Scene>| out.extend(scene.map(|s| (name, s)));
        add("observed", self.outcomes.as_ref().map(figure::observed));
        add("calibration", self.calibration.as_ref().map(figure::calibration));
        add("levels", self.outcomes.as_ref().and_then(figure::levels));
        add("experts", self.experts.as_ref().map(figure::experts));
        add("draws", self.draws.as_ref().map(figure::draws));
        add("predictive", self.predictive.as_ref().map(figure::predictive));
        let weights = |e: &Experts| figure::weights(e, "How much each expert is trusted");
        add("weights", self.experts.as_ref().map(weights));
        add("weights", self.weights.as_ref().map(figure::effects));
        add("pair", self.pair.as_ref().map(figure::pairs));
        add("slices", self.slices.as_ref().map(figure::effects));
        add("partial", self.partial.as_ref().map(figure::effects));
        add("trace", self.chains.as_ref().map(figure::trace));
        add("rank", self.chains.as_ref().map(figure::rank));
        out
    }
}
