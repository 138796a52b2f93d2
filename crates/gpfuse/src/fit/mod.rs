//! From rows to a fitted model in one call: scale, train experts where they are given, choose a
//! basis, sample, diagnose.

mod domain;
mod draws;
mod effects;
mod fitted;
mod hyperparameters;
mod left_out;
mod number;
mod pilot;
mod prediction;
mod rules;
mod settings;
mod stacking;
mod trained;
mod worth;

use std::sync::Arc;

pub use draws::draws;
use draws::{draws_in, usual};
pub use effects::{Effect, Effects, Pair};
pub use fitted::{Experts, Fitted, Kept, Located};
pub use left_out::LeftOut;
pub use number::{ExpertChoice, Tried};
pub use prediction::Prediction;
pub use settings::{BasisChoice, CheckedFit, DensityChoice, FitSettings};
pub(crate) use trained::Trained;
pub use worth::{GateChoice, Line, Scored, Worth};

use crate::data::{Data, Said};
use crate::diagnose::{Combine, Setup, combine, diagnose, log_likelihoods, weighs};
use crate::experts::Partition;
use crate::infer::{Draws, Forecast, Inner, Monitor, Phase, Quiet};
use crate::model::{Method, Observed, Posterior};
use crate::resolution::{self, resolution};
use crate::scale::Scaler;
use crate::settings::Message;
use crate::{Error, Result};
use pilot::Ground;
use worth::{Rivals, Run, compared, worth};

/// Fit a method to rows with known targets. `bhs` and `pbhs` learn weights for the experts made
/// elsewhere that come with the rows; where none come, they train experts, by default a portfolio on all rows, and
/// learn the weights from what these say about rows left out.
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
        settings.classes = predictions.classes().is_some();
    } else if data.assignment().is_none() {
        settings.count_portfolio(data.len());
    } else if settings.expert.partition == Partition::All {
        // Who says which rows are whose asks for experts with rows of their own.
        settings.expert.partition = Partition::Random;
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
    let ground = settings.ground(&x, &y, &x, inputs, monitor)?;
    let rows = (0..data.len()).collect();
    let about = About {
        data: data.clone(),
        experts: Experts::Learned,
        rows,
        scaler,
        predictions: None,
        resolution: resolution(data.y()?),
    };
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
    /// What given experts say about the rows, on the model's scale.
    predictions: Option<Said>,
    /// The step to which the target is rounded.
    resolution: Option<f64>,
}

/// Up to this many log likelihoods, rows x draws, are kept with a fit.
pub const KEPT_LOG_LIKELIHOODS: usize = 4_000_000;

/// A posterior that was sampled, and what is known of it.
struct Sampled {
    posterior: Posterior,
    draws: Draws,
    log_lik: Option<Vec<f64>>,
    worth: Option<Worth>,
}

/// Sample the posterior of the model given what was observed.
fn infer(
    observed: Observed,
    ground: Ground,
    about: About,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Fitted> {
    let observed = Arc::new(observed);
    let rounding = resolution::variance(about.resolution, about.scaler.target.scale);
    let posterior_on = |ground: &Ground| -> Result<Posterior> {
        let model = settings.model(ground.bases.clone())?.rounded(rounding);
        Posterior::new(Arc::new(model), observed.clone())
    };
    let one = |ground: &Ground, monitor: &dyn Monitor| -> Result<(Posterior, Draws)> {
        let posterior = posterior_on(ground)?;
        if !settings.method.is_sampled() {
            let draws = rules::point(posterior.model(), &about, settings)?;
            return Ok((posterior, draws));
        }
        let coordinates = ground.coordinates(posterior.model()).map(Arc::new);
        let draws = draws_in(&posterior, coordinates, settings, monitor)?;
        Ok((posterior, draws))
    };
    if monitor.wants_forecast() && settings.method.is_sampled() {
        let posterior = posterior_on(&ground)?;
        let origin = vec![0.0; posterior.model().dim()];
        monitor.expect(&Forecast::new(&posterior, &origin, &usual(&posterior, settings)));
    }
    let sampled = weighed(&one, &ground, &about, settings, monitor)?;
    monitor.phase(Phase::Judging);
    judged(sampled, about, settings)
}

/// What samples the posterior on a ground.
type SampleOn<'a> = dyn Fn(&Ground, &dyn Monitor) -> Result<(Posterior, Draws)> + 'a;

/// The posterior of the method. For given experts also what it is worth, and of constant weights and such that
/// depend on the inputs those that predict better, unless the settings say which.
fn weighed(
    one: &SampleOn<'_>,
    ground: &Ground,
    about: &About,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Sampled> {
    let inputs = about.data.inputs().len();
    let alone = |(posterior, draws)| Sampled { posterior, draws, log_lik: None, worth: None };
    let (compares, gate) = (settings.compares(inputs), settings.gate);
    let given = about.predictions.as_ref();
    let first = about.scaler.scale_inputs(&about.data.x()[..inputs]);
    let constant = Ground::constant(settings, &first);
    let Some(experts) = given.filter(|_| compares) else {
        return one(ground, monitor).map(alone);
    };
    let (threads, scale) = (settings.sampler.threads, about.scaler.target.scale);
    let seed = settings.sampler.seed;
    let usable =
        |draws: &Draws| !draws.interrupted() && draws.len() >= FEWEST_DRAWS && about.data.len() > 1;
    let mut plain = None;
    if gate == GateChoice::Auto {
        monitor.phase(Phase::Constant);
        let found = one(&constant, &Inner(monitor))?;
        if found.1.interrupted() {
            return Ok(alone(found));
        }
        plain = Some(found).filter(|(_, draws)| usable(draws));
    }
    let (posterior, draws) = one(ground, monitor)?;
    if !usable(&draws) {
        return Ok(alone((posterior, draws)));
    }
    let most = plain.as_ref().map_or(0, |(_, draws)| draws.len()).max(draws.len());
    let rows = compared(about.data.len(), most, seed);
    let run = |(posterior, draws)| Run::new(posterior, draws, &rows, scale, threads);
    let (main, plain) = (run((posterior, draws))?, plain.map(run).transpose()?);
    let y: Vec<f64> = about.data.y()?.iter().map(|v| about.scaler.target.apply(*v)).collect();
    let names = about.experts.names(experts.experts());
    let rounding = resolution::variance(about.resolution, scale);
    let rivals = Rivals { names, experts, y: &y, rounding, scale, seed };
    let own = match gate {
        GateChoice::Constant => Scored::Constant,
        GateChoice::Linear => Scored::Linear,
        GateChoice::Auto | GateChoice::Gp => Scored::ByInput,
    };
    let (what, taken, other) = match plain {
        Some(plain) if plain.score() >= main.score() => {
            (Scored::Constant, plain, Some((own, main)))
        }
        plain => (own, main, plain.map(|plain| (Scored::Constant, plain))),
    };
    let other = other.as_ref().map(|(what, run)| (what.clone(), run));
    let worth = worth(&rivals, &rows, (what, &taken), other)?;
    let Run { posterior, draws, log_lik, .. } = taken;
    Ok(Sampled { posterior, draws, log_lik, worth: Some(worth) })
}

/// With fewer draws, rows cannot be left out by weighing them.
const FEWEST_DRAWS: usize = 100;

/// The fit, with its chains weighed and judged.
fn judged(sampled: Sampled, about: About, settings: &CheckedFit) -> Result<Fitted> {
    let Sampled { posterior, draws, log_lik, worth } = sampled;
    let About { data, experts, rows, scaler, predictions, resolution } = about;
    let model = posterior.model().clone();
    // Whoever stopped a run wants the draws at once, and weighing the chains takes a pass over all rows.
    let how = if draws.interrupted() { Combine::Equal } else { settings.combine };
    let (threads, scale) = (settings.sampler.threads, scaler.target.scale);
    let few = data.len() * draws.len() <= KEPT_LOG_LIKELIHOODS;
    let log_lik = match log_lik {
        None if few && weighs(&draws, how) => {
            let all: Vec<&[f64]> = draws.iter().collect();
            let rows: Vec<usize> = (0..data.len()).collect();
            Some(log_likelihoods(&posterior, &all, &rows, scale, threads)?)
        }
        known => known,
    };
    let (draws, combined) = combine(&posterior, draws, how, scale, log_lik.as_deref(), threads)?;
    let sampled = settings.method.is_sampled();
    let setup = Setup::new(&model, &draws, settings.sampler(), settings.combine).about(sampled);
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
        said: predictions.map(Arc::new),
        resolution,
        chosen: None,
        worth,
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
