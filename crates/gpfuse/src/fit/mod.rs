//! From rows to a fitted model in one call: scale, train experts where they are given, choose a
//! basis, sample, diagnose.

mod domain;
mod draws;
mod fitted;
mod hyperparameters;
mod left_out;
mod number;
mod pilot;
mod prediction;
mod settings;
mod stacking;
mod trained;

use std::sync::Arc;

pub use draws::draws;
use draws::draws_in;
pub use fitted::{Experts, Fitted, Kept, Located};
pub use left_out::LeftOut;
pub use number::{ExpertChoice, Tried};
pub use prediction::Prediction;
pub use settings::{BasisChoice, CheckedFit, DensityChoice, FitSettings};
pub(crate) use trained::Trained;

use crate::data::Data;
use crate::diagnose::{Combine, Setup, combine, diagnose, log_likelihoods, weighs};
use crate::infer::{Monitor, Phase, Quiet};
use crate::model::{Method, Observed, Posterior};
use crate::scale::Scaler;
use crate::settings::Message;
use crate::{Error, Result};
use pilot::Ground;

/// Fit a method to rows with known targets. `bhs` and `pbhs` learn weights for the experts made
/// elsewhere that come with the rows; where none come, they train experts on some of the rows and
/// learn the weights from the others.
///
/// # Errors
/// If a setting or the rows cannot be used, or sampling fails.
pub fn fit(data: &Data, settings: &FitSettings) -> Result<Fitted> {
    fit_with(data, settings, &Quiet)
}

/// The same, watched by a monitor, which can also stop it.
///
/// # Errors
/// As [`fit()`].
pub fn fit_with(data: &Data, settings: &FitSettings, monitor: &dyn Monitor) -> Result<Fitted> {
    let mut settings = settings.clone();
    if let Some(predictions) = data.predictions() {
        settings.experts = predictions.experts();
    } else if data.assignment().is_none() {
        settings.count_portfolio();
    }
    let settings = settings.check()?;
    if data.predictions().is_some() {
        return stacking::stack(data, &settings, monitor);
    }
    if data.assignment().is_some() || !settings.method.learns_experts() {
        return stacking::train_and_stack(data, &settings, monitor);
    }
    let Scaled { x, y, scaler } = Scaled::new(data, &settings)?;
    let inputs = data.inputs().len();
    let observed = Observed::new(&x, inputs, &y)?;
    if settings.pilots(inputs) {
        monitor.phase(Phase::Pilot);
    }
    let ground = settings.ground(&x, &y, &x, inputs)?;
    let rows = (0..data.len()).collect();
    let about = About { data: data.clone(), experts: Experts::Learned, rows, scaler };
    if !settings.chooses_experts() {
        return infer(observed, ground, about, &settings, monitor);
    }
    let scale = about.scaler.target.scale;
    let chosen = number::choose(&observed, &ground, scale, &settings, monitor)?;
    let settings = number::with(&settings, chosen.experts)?;
    let fitted = infer(observed, ground, about, &settings, monitor)?;
    Ok(Fitted { chosen: Some(chosen), ..fitted })
}

/// Rows on the model's scale.
#[derive(Debug, Clone)]
pub(crate) struct Scaled {
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) scaler: Scaler,
}

impl Scaled {
    pub(crate) fn new(data: &Data, settings: &CheckedFit) -> Result<Scaled> {
        let (x, y) = (data.x(), data.y()?);
        refuse_degenerate(y, settings)?;
        let scaler = Scaler::fit(settings.scaling, x, data.inputs().len(), y)?;
        let y = y.iter().map(|v| scaler.target.apply(*v)).collect();
        Ok(Scaled { x: scaler.scale_inputs(x), y, scaler })
    }
}

/// What a posterior is about, in the user's units.
struct About {
    data: Data,
    experts: Experts,
    /// The numbers of the rows in the training table.
    rows: Vec<usize>,
    scaler: Scaler,
}

/// Up to this many log likelihoods, rows x draws, are kept with a fit.
pub const KEPT_LOG_LIKELIHOODS: usize = 4_000_000;

/// Sample the posterior of the model given what was observed.
fn infer(
    observed: Observed,
    ground: Ground,
    about: About,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Fitted> {
    let About { data, experts, rows, scaler } = about;
    let model = Arc::new(settings.model(ground.bases.clone())?);
    let posterior = Posterior::new(model.clone(), Arc::new(observed))?;
    let coordinates = ground.coordinates(&model).map(Arc::new);
    let draws = draws_in(&posterior, coordinates, settings, monitor)?;
    monitor.phase(Phase::Judging);
    // Whoever stopped a run wants the draws at once, and weighing the chains takes a pass over all rows.
    let how = if draws.interrupted() { Combine::Equal } else { settings.combine };
    let (threads, scale) = (settings.sampler.threads, scaler.target.scale);
    let few = data.len() * draws.len() <= KEPT_LOG_LIKELIHOODS;
    let log_lik = (few && weighs(&draws, how))
        .then(|| {
            let all: Vec<&[f64]> = draws.iter().collect();
            let rows: Vec<usize> = (0..data.len()).collect();
            log_likelihoods(&posterior, &all, &rows, scale, threads)
        })
        .transpose()?;
    let (draws, combined) = combine(&posterior, draws, how, scale, log_lik.as_deref(), threads)?;
    let setup = Setup::new(&model, settings.sampler());
    let mut diagnostics = diagnose(&posterior, &draws, threads)?.with_combined(combined, &setup);
    diagnostics.warnings.extend(domain::too_coarse(&model, &draws));
    diagnostics.warnings.extend(domain::leaves_out(&posterior, &draws));
    if how != Combine::Equal && diagnostics.combined.is_none() && draws.chains().len() > 1 {
        let words = format!(
            "{} draws per chain are too few to weigh the chains: they count alike. Use more draws",
            draws.per_chain()
        );
        diagnostics.warnings.push(Message::new(words).advise("draws", 500));
    }
    let (settings, data, kept) = ((**settings).clone(), Arc::new(data), Kept::with(log_lik));
    Ok(Fitted {
        settings,
        scaler,
        model,
        draws,
        diagnostics,
        experts,
        rows,
        data,
        chosen: None,
        kept,
    })
}

/// A target without spread and more experts than rows have no posterior worth having.
fn refuse_degenerate(y: &[f64], settings: &CheckedFit) -> Result<()> {
    if y.len() < 2 {
        return Err(Error::Data("one row cannot be fitted: give at least two".into()));
    }
    if y.iter().all(|v| *v == y[0]) {
        let problem = format!("the target is {} in every row: choose one that varies", y[0]);
        return Err(Error::Data(problem));
    }
    if settings.method.learns_experts()
        && settings.method != Method::Het
        && !settings.choose_experts
        && settings.experts > y.len()
    {
        let (k, n) = (settings.experts, y.len());
        return Err(Error::setting("experts", format!("{k} experts for {n} rows: use fewer")));
    }
    Ok(())
}
