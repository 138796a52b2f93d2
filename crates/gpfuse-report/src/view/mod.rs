//! What figures show of a fitted model, gathered as plain numbers.

mod along;
mod curves;
mod known;
mod pick;
mod title;
mod traces;

use anyhow::Result;
use gpfuse::fit::Experts as Kept;
use gpfuse::predict::{FusedBlock, Predictive as _};
use gpfuse_io::model_file::Saved;
use gpfuse_io::table::Table;

use self::curves::Places;
use self::known::Known;
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
/// the columns of experts made elsewhere, is the one that calibration is judged on; without it,
/// the rows of the fit are shown as far as they are with the model.
pub fn view(saved: &Saved, table: Option<&Table>, threads: usize) -> Result<View> {
    let table = table.map(|table| Known::of_table(saved, table)).transpose()?;
    let training = Known::of_training(saved);
    let elsewhere = matches!(saved.fitted.experts, Kept::Named(_));
    let mut out = View::default();
    // Where the model is looked at, and the data that are shown with it.
    let region = if elsewhere { table.as_ref() } else { training.as_ref().or(table.as_ref()) };
    let shown = table.as_ref().or(region);
    match (region, shown) {
        (Some(region), Some(shown)) if saved.inputs.len() == 1 => {
            let places = Places::along(saved, region)?;
            out.predictive = Some(curves::predictive(saved, &places, shown, threads)?);
            if saved.fitted.model.experts() > 1 {
                out.experts = Some(curves::experts(saved, &places, threads)?);
                out.draws = Some(curves::draws(saved, &places, shown, threads)?);
            }
        }
        (Some(_), _) if elsewhere => out.omitted.push(
            "Slices and partial effects: the experts were made elsewhere, and speak only at the \
             rows of the table."
                .into(),
        ),
        (Some(region), _) => {
            out.slices = Some(along::slices(saved, region, threads)?);
            out.partial = Some(along::partial(saved, region, threads)?);
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
    match &table {
        Some(table) => out.calibration = Some(calibrated(saved, table, threads)?),
        None => out
            .omitted
            .push("Calibration: this needs a table with targets, best of new rows.".into()),
    }
    match saved.fitted.draws.per_chain() > 1 {
        true => out.chains = Some(traces::chains(saved, region)?),
        false => out.omitted.push("Chains: there is a single draw.".into()),
    }
    Ok(out.called(title::words(saved.fitted.settings.method)))
}

/// Judge the calibration of a model at some rows of a table, which holds its inputs and target;
/// none where no row is marked. It has no title yet.
pub fn calibration(
    saved: &Saved,
    table: &Table,
    marked: &[bool],
    threads: usize,
) -> Result<Option<Calibration>> {
    let known = Known::of_table(saved, table)?;
    let rows: Vec<usize> = (0..table.rows).filter(|r| marked.get(*r) == Some(&true)).collect();
    match rows.is_empty() {
        true => Ok(None),
        false => Ok(Some(calibrated(saved, &known.pick(&rows)?, threads)?)),
    }
}

/// The PIT of each row of a table.
fn calibrated(saved: &Saved, table: &Known, threads: usize) -> Result<Calibration> {
    let fitted = &saved.fitted;
    let (rows, given) =
        (fitted.rows(&table.x)?, fitted.given(&table.x, table.predictions.as_ref())?);
    let own = |block: &FusedBlock| -> gpfuse::Result<Vec<f64>> {
        (0..block.len()).map(|r| Ok(block.row(r)?.pit(table.y[block.first + r]))).collect()
    };
    let blocks = fitted.predictor().at(&rows, given.as_ref()).blocks(threads, own)?;
    let pit = blocks.into_iter().collect::<gpfuse::Result<Vec<_>>>()?.concat();
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
