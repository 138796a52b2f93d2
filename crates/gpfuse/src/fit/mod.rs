//! From a table to a fitted model in one call: scale, train experts where they are given, choose
//! a basis, sample, diagnose.
//!
//! ```no_run
//! # fn main() -> gpfuse::Result<()> {
//! use gpfuse::fit::{FitSettings, fit};
//! use gpfuse::infer::Quiet;
//!
//! let (x, y) = (vec![0.0, 0.5, 1.0, 1.5], vec![0.1, 0.4, 0.9, 1.1]);
//! let settings = FitSettings { experts: 2, ..FitSettings::default() };
//! let fitted = fit(&x, 1, &y, &settings.check()?, &Quiet)?;
//! let scores = fitted.evaluate(&[0.25, 0.75], None, &[0.2, 0.7])?;
//! println!("NLPD {:.2} +- {:?}", scores.nlpd.value, scores.nlpd.mcse);
//! # Ok(())
//! # }
//! ```

mod domain;
mod draws;
mod settings;
mod stacking;
mod trained;

use std::sync::Arc;

pub use draws::draws;
pub use settings::{BasisChoice, CheckedFit, DensityChoice, FitSettings};
pub(crate) use trained::Trained;

use crate::baseline::Predictions;
use crate::basis::Basis;
use crate::diagnose::{Combine, Diagnostics, combine, diagnose};
use crate::experts::{Assignment, Expert};
use crate::infer::{Draws, Monitor};
use crate::metrics::{Scores, evaluate};
use crate::model::{Data, Given, Method, Model, Posterior};
use crate::predict::{Conditional, Predictor};
use crate::rows::Rows;
use crate::scale::Scaler;
use crate::settings::Message;
use crate::{Error, Result};

/// A fitted model: all that prediction needs, and how the fit went.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The settings.
    pub settings: FitSettings,
    /// The scaling of the data.
    pub scaler: Scaler,
    /// The model.
    pub model: Arc<Model>,
    /// The draws.
    pub draws: Draws,
    /// How the chains went.
    pub diagnostics: Diagnostics,
    /// Where the predictions of the experts come from.
    pub experts: Experts,
    /// The rows of the training table that the weights were learned from.
    pub rows: Vec<usize>,
    /// What the table says there, on the model's scale; kept where the experts are learned with
    /// the weights.
    pub data: Option<Arc<Data>>,
}

/// Where the predictions of a model's experts come from.
#[derive(Debug, Clone)]
pub enum Experts {
    /// They are learned with the weights, and in the draws.
    Learned,
    /// Exact GPs, trained here on rows that the weights have not seen.
    Trained(Vec<Expert>),
    /// Made elsewhere, known by name: their predictions come with every table.
    Named(Vec<String>),
}

/// Fit a method to inputs (row-major, n x inputs) and a target, both in the user's units. For
/// `bhs` and `pbhs` the experts are trained on some of the rows and the weights on the others.
pub fn fit(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Fitted> {
    if !settings.method.learns_experts() {
        return stacking::train_and_stack(x, inputs, y, None, settings, monitor);
    }
    let scaled = Scaled::new(x, inputs, y, settings)?;
    let data = Data::new(&scaled.x, inputs, &scaled.y)?;
    let basis = settings.basis(&scaled.x, &scaled.x, inputs)?;
    infer(data, basis, Experts::Learned, (0..y.len()).collect(), scaled.scaler, settings, monitor)
}

/// Fit `bhs` or `pbhs` with the rows of each expert and of the weights given.
pub fn fit_assigned(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    assignment: Assignment,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Fitted> {
    stacking::train_and_stack(x, inputs, y, Some(assignment), settings, monitor)
}

pub use stacking::stack;

/// A table on the model's scale.
#[derive(Debug, Clone)]
pub(crate) struct Scaled {
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) scaler: Scaler,
}

impl Scaled {
    pub(crate) fn new(
        x: &[f64],
        inputs: usize,
        y: &[f64],
        settings: &CheckedFit,
    ) -> Result<Scaled> {
        // Shapes and values are checked before they are scaled.
        Data::new(x, inputs, y)?;
        refuse_degenerate(y, settings)?;
        let scaler = Scaler::fit(settings.scaling, x, inputs, y)?;
        let x = scaler.scale_inputs(x);
        let y = y.iter().map(|v| scaler.target.apply(*v)).collect();
        Ok(Scaled { x, y, scaler })
    }
}

/// Sample the posterior of the model on `data`, which are `rows` of the training table.
fn infer(
    data: Data,
    basis: Basis,
    experts: Experts,
    rows: Vec<usize>,
    scaler: Scaler,
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Fitted> {
    let model = Arc::new(settings.model(basis)?);
    let data = Arc::new(data);
    let posterior = Posterior::new(model.clone(), data.clone())?;
    let draws = draws(&posterior, settings, monitor)?;
    // Who stopped a run wants what there is, now: to weigh the chains takes a pass over all rows.
    let how = if draws.interrupted() { Combine::Equal } else { settings.combine };
    let threads = settings.sampler.threads;
    let (draws, combined) = combine(&posterior, draws, how, scaler.target.scale, threads)?;
    let mut diagnostics = diagnose(&posterior, &draws, threads)?.with_combined(combined);
    diagnostics.warnings.extend(domain::too_coarse(&model, &draws));
    if how != Combine::Equal && diagnostics.combined.is_none() && draws.chains().len() > 1 {
        let words = format!(
            "{} draws per chain are too few to weigh the chains: they count alike. Use more draws",
            draws.per_chain()
        );
        diagnostics.warnings.push(Message::new(words).advise("draws", 500));
    }
    let (settings, data) = ((**settings).clone(), model.learned().then_some(data));
    Ok(Fitted { settings, scaler, model, draws, diagnostics, experts, rows, data })
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
        && settings.experts > y.len()
    {
        let (k, n) = (settings.experts, y.len());
        return Err(Error::setting("experts", format!("{k} experts for {n} rows: use fewer")));
    }
    Ok(())
}

impl Fitted {
    /// The draws, ready to predict.
    pub fn predictor(&self) -> Predictor {
        Predictor::new(self.model.clone(), &self.draws, self.scaler.target)
    }

    /// The draws without the coefficients of the means, which are integrated out: the same
    /// predictions as those of [`Fitted::predictor`], with less Monte Carlo noise.
    ///
    /// # Errors
    /// If the model is not Gaussian in these coefficients.
    pub fn conditional(&self) -> Result<Conditional> {
        Conditional::check(&self.model)?;
        let Some(data) = self.data.clone() else {
            return Err(Error::Data("the rows of the fit are not with it: fit again".into()));
        };
        let posterior = Posterior::new(self.model.clone(), data)?;
        Conditional::new(posterior, &self.draws, self.scaler.target)
    }

    /// Rows for prediction from inputs in the user's units.
    pub fn rows(&self, x: &[f64]) -> Result<Rows> {
        let inputs = self.scaler.inputs.len();
        // Unscaled first, so that an error shows the user's own number.
        Rows::new(x, inputs)?;
        Rows::new(&self.scaler.scale_inputs(x), inputs)
    }

    /// What the experts say at `x`, in the user's units, as the model wants it: nothing where it
    /// has learned them, and for experts made elsewhere their `predictions`, in the user's units
    /// too.
    pub fn given(&self, x: &[f64], predictions: Option<&Predictions>) -> Result<Option<Given>> {
        stacking::given(self, x, predictions)
    }

    /// The scores of the predictions at `x` against `y`; `predictions` are those of experts made
    /// elsewhere.
    pub fn evaluate(
        &self,
        x: &[f64],
        predictions: Option<&Predictions>,
        y: &[f64],
    ) -> Result<Scores> {
        let (rows, given) = (self.rows(x)?, self.given(x, predictions)?);
        let threads = self.settings.sampler.threads;
        evaluate(&self.predictor().at(&rows, given.as_ref()), y, threads)
    }
}
