//! What figures show of a fitted model, gathered as plain numbers.

mod along;
mod curves;
mod pick;
mod title;
mod traces;
mod training;

use anyhow::Result;
use gpfuse::fit::Experts as Kept;
use gpfuse::{Data, Fitted};

use self::curves::Places;
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

/// Gather what figures show of a model. Rows with known targets are those that calibration is
/// judged on; without them, the rows of the fit are shown as far as they are with the model.
pub fn view(fitted: &Fitted, data: Option<&Data>, threads: usize) -> Result<View> {
    let training = training::training(fitted)?;
    let elsewhere = matches!(fitted.experts, Kept::Named(_));
    let mut out = View::default();
    // Where the model is looked at, and the data that are shown with it.
    let region = if elsewhere { data } else { training.as_ref().or(data) };
    let shown = data.or(region);
    match (region, shown) {
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
            out.slices = Some(along::slices(fitted, region, threads)?);
            out.partial = Some(along::partial(fitted, region, threads)?);
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
    match data {
        Some(data) => out.calibration = Some(calibrated(fitted, data, threads)?),
        None => out
            .omitted
            .push("Calibration: this needs a table with targets, best of new rows.".into()),
    }
    match fitted.draws.per_chain() > 1 {
        true => out.chains = Some(traces::chains(fitted, region)?),
        false => out.omitted.push("Chains: there is a single draw.".into()),
    }
    Ok(out.called(title::words(fitted.settings.method)))
}

/// Judge the calibration of a model at the marked rows; none where no row is marked. It has no
/// title yet.
pub fn calibration(
    fitted: &Fitted,
    data: &Data,
    marked: &[bool],
    threads: usize,
) -> Result<Option<Calibration>> {
    let rows: Vec<usize> = (0..data.len()).filter(|r| marked.get(*r) == Some(&true)).collect();
    match rows.is_empty() {
        true => Ok(None),
        false => Ok(Some(calibrated(fitted, &data.pick(&rows)?, threads)?)),
    }
}

/// The PIT of each row.
fn calibrated(fitted: &Fitted, data: &Data, threads: usize) -> Result<Calibration> {
    let (prediction, y) = (fitted.predict(data)?.on_threads(threads), data.y()?);
    let pit = prediction.each(|row, density| density.pit(y[row]))?;
    Ok(Calibration { title: String::new(), pit })
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
