//! From a table to a fitted model in one call: scale, choose a basis, sample, diagnose.
//!
//! ```no_run
//! # fn main() -> gpfuse::Result<()> {
//! use gpfuse::fit::{FitSettings, fit};
//! use gpfuse::infer::Quiet;
//!
//! let (x, y) = (vec![0.0, 0.5, 1.0, 1.5], vec![0.1, 0.4, 0.9, 1.1]);
//! let settings = FitSettings { experts: 2, ..FitSettings::default() };
//! let fitted = fit(&x, 1, &y, &settings.check()?, &Quiet)?;
//! let scores = fitted.evaluate(&[0.25, 0.75], &[0.2, 0.7])?;
//! println!("NLPD {:.2} +- {:?}", scores.nlpd.value, scores.nlpd.mcse);
//! # Ok(())
//! # }
//! ```

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::basis::frequencies::Scheme;
use crate::basis::{Basis, Hilbert, Rff, hilbert};
use crate::diagnose::{Diagnostics, diagnose};
use crate::infer::{self, Draws, Monitor, sample};
use crate::kernel::Kernel;
use crate::metrics::{Scores, evaluate};
use crate::model::{Data, Kind, Method, Model, Posterior, Priors};
use crate::predict::Predictor;
use crate::rows::Rows;
use crate::scale::{Scaler, Scaling};
use crate::{Error, Result};

/// Which basis to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BasisChoice {
    /// Hilbert for one or two inputs, RFF beyond.
    #[default]
    Auto,
    /// Random Fourier features.
    Rff,
    /// The fixed basis.
    Hilbert,
}

/// Settings of [`fit()`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FitSettings {
    /// The method.
    pub method: Method,
    /// The number of experts K; `het` has one.
    pub experts: usize,
    /// The basis.
    pub basis: BasisChoice,
    /// RFF: the number of frequencies M.
    pub frequencies: usize,
    /// RFF: how the frequencies are drawn.
    pub scheme: Scheme,
    /// RFF: base frequencies instead of drawn ones, row-major (M, inputs).
    pub omega: Option<Vec<f64>>,
    /// Hilbert: functions per input; chosen from the data if not given.
    pub size: Option<usize>,
    /// Hilbert: half-width of the box in half-ranges of the data.
    #[serde(rename = "box")]
    pub box_factor: f64,
    /// The kernel of all GPs.
    pub kernel: Kernel,
    /// Whether log-linear weights are normalised to sum to one at each input.
    pub normalise: bool,
    /// How data are scaled before the fit.
    pub scaling: Scaling,
    /// Prior scales.
    pub priors: Priors,
    /// The sampler.
    pub sampler: infer::Settings,
}

impl Default for FitSettings {
    fn default() -> Self {
        FitSettings {
            method: Method::Pogpe,
            experts: 3,
            basis: BasisChoice::Auto,
            frequencies: 30,
            scheme: Scheme::Iid,
            omega: None,
            size: None,
            box_factor: hilbert::BOX_FACTOR,
            kernel: Kernel::Rbf,
            normalise: false,
            scaling: Scaling::Standard,
            priors: Priors::default(),
            sampler: infer::Settings::default(),
        }
    }
}

/// Settings that passed the check.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedFit {
    settings: FitSettings,
    sampler: infer::Checked,
}

impl Deref for CheckedFit {
    type Target = FitSettings;

    fn deref(&self) -> &FitSettings {
        &self.settings
    }
}

impl FitSettings {
    /// The model of these settings on a basis.
    pub fn model(&self, basis: Basis) -> Result<Model> {
        let model = Model::new(self.method, self.experts, basis, self.priors)?;
        Ok(if self.normalise { model.normalised() } else { model })
    }

    /// Check every value; the first bad one is the error.
    pub fn check(self) -> Result<CheckedFit> {
        if !(1..=1000).contains(&self.experts) {
            let problem = format!("{} is out of range: use 1 to 1000", self.experts);
            return Err(Error::setting("experts", problem));
        }
        if !(1..=100_000).contains(&self.frequencies) {
            let problem = format!("{} is out of range: use 1 to 100000", self.frequencies);
            return Err(Error::setting("frequencies", problem));
        }
        if self.size.is_some_and(|size| !(1..=10_000).contains(&size)) {
            let size = self.size.unwrap_or_default();
            let problem = format!("{size} functions per input: use 1 to 10000");
            return Err(Error::setting("size", problem));
        }
        if !(self.box_factor > 1.0 && self.box_factor <= 100.0) {
            let problem = format!("{} must lie above 1, up to 100", self.box_factor);
            return Err(Error::setting("box", problem));
        }
        self.priors.check()?;
        let sampler = self.sampler.clone().check()?;
        Ok(CheckedFit { settings: self, sampler })
    }
}

impl CheckedFit {
    /// The basis for scaled inputs (row-major, n x inputs).
    fn basis(&self, x: &[f64], inputs: usize) -> Result<Basis> {
        let hilbert = match self.basis {
            BasisChoice::Auto => inputs <= 2 && self.omega.is_none(),
            choice => choice == BasisChoice::Hilbert,
        };
        if hilbert {
            let basis = Hilbert::for_data(self.kernel, x, inputs, self.size, self.box_factor)?;
            return Ok(Basis::Hilbert(basis));
        }
        Ok(Basis::Rff(match &self.omega {
            Some(omega) => Rff::new(self.kernel, omega.clone(), inputs)?,
            None => {
                let seed = self.sampler.seed;
                Rff::draw(self.kernel, self.scheme, self.frequencies, inputs, seed)?
            }
        }))
    }
}

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
}

/// Fit a joint method to inputs (row-major, n x inputs) and a target, both in the user's units.
pub fn fit(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    settings: &CheckedFit,
    monitor: &dyn Monitor,
) -> Result<Fitted> {
    let posterior_of = |model: &Arc<Model>, x: &[f64], y: &[f64]| {
        Posterior::new(model.clone(), Arc::new(Data::new(x, inputs, y)?))
    };
    // Shapes and values are checked before they are scaled.
    Data::new(x, inputs, y)?;
    refuse_degenerate(y, settings)?;
    let scaler = Scaler::fit(settings.scaling, x, inputs, y)?;
    let x = scaler.scale_inputs(x);
    let y: Vec<f64> = y.iter().map(|v| scaler.target.apply(*v)).collect();
    let basis = settings.basis(&x, inputs)?;
    let model = settings.model(basis)?;
    if !model.learned() {
        let problem = format!(
            "`{}` fuses experts made elsewhere: use mogpe, pogpe or het, which learn their own",
            settings.method
        );
        return Err(Error::setting("method", problem));
    }
    let model = Arc::new(model);
    let posterior = posterior_of(&model, &x, &y)?;
    let prior = |normal: &mut dyn FnMut() -> f64| model.prior_draw(normal);
    let draws = sample(&posterior, &prior, &settings.sampler, monitor)?;
    let mut diagnostics = diagnose(&posterior, &draws, settings.sampler.threads)?;
    diagnostics.warnings.extend(too_coarse(&model, &draws));
    Ok(Fitted { settings: settings.settings.clone(), scaler, model, draws, diagnostics })
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
    if settings.method != Method::Het && settings.experts > y.len() {
        let (k, n) = (settings.experts, y.len());
        return Err(Error::setting("experts", format!("{k} experts for {n} rows: use fewer")));
    }
    Ok(())
}

/// Whether a Hilbert basis was fine enough for the lengthscales that the posterior found.
fn too_coarse(model: &Model, draws: &Draws) -> Option<String> {
    let Basis::Hilbert(basis) = model.basis() else { return None };
    let shortest = basis.shortest_lengthscale();
    let inputs = basis.inputs();
    let (mut below, mut all) = (0, 0);
    // How many times the shortest that is resolved each lengthscale is.
    let mut ratios = Vec::new();
    for q in draws.iter() {
        for part in model.layout().parts.iter().filter(|p| p.kind == Kind::Ell) {
            for (at, log_ell) in q[part.offset..][..part.count * inputs].iter().enumerate() {
                let ratio = log_ell.exp() / shortest[at % inputs];
                below += usize::from(ratio < 1.0);
                all += 1;
                ratios.push(ratio);
            }
        }
    }
    if below * 10 <= all {
        return None;
    }
    // Enough for all but a twentieth, in a step worth taking, and not without end.
    ratios.sort_by(f64::total_cmp);
    let factor = (1.0 / ratios[ratios.len() / 20]).clamp(1.25, 4.0);
    let size = (basis.sizes()[0] as f64 * factor).ceil();
    Some(format!(
        "{:.0} % of the lengthscales drawn are shorter than the basis resolves: use more \
         functions (--size {size})",
        100.0 * below as f64 / all as f64
    ))
}

impl Fitted {
    /// The draws, ready to predict.
    pub fn predictor(&self) -> Predictor {
        Predictor::new(self.model.clone(), &self.draws, self.scaler.target)
    }

    /// Rows for prediction from inputs in the user's units.
    pub fn rows(&self, x: &[f64]) -> Result<Rows> {
        let inputs = self.scaler.inputs.len();
        // Unscaled first, so that an error shows the user's own number.
        Rows::new(x, inputs)?;
        Rows::new(&self.scaler.scale_inputs(x), inputs)
    }

    /// The scores of the predictions at `x` against `y`.
    pub fn evaluate(&self, x: &[f64], y: &[f64]) -> Result<Scores> {
        let threads = self.settings.sampler.threads;
        evaluate(&self.predictor().at(&self.rows(x)?, None), y, threads)
    }

    /// Which rows of `x` lie more than half way from the data's edge to the wall of a Hilbert
    /// basis' box, or beyond it: towards the wall predictions fall to the prior mean, and
    /// behind it they mean nothing.
    pub fn outside(&self, x: &[f64]) -> Vec<usize> {
        let Basis::Hilbert(basis) = self.model.basis() else { return Vec::new() };
        let (centre, half_width) = basis.domain();
        let scaled = self.scaler.scale_inputs(x);
        let reach = 0.5 * (1.0 + 1.0 / self.settings.box_factor);
        let beyond = |row: &[f64]| {
            (0..row.len()).any(|i| (row[i] - centre[i]).abs() > reach * half_width[i])
        };
        let rows = scaled.chunks(centre.len()).enumerate();
        rows.filter(|(_, row)| beyond(row)).map(|(i, _)| i).collect()
    }
}
