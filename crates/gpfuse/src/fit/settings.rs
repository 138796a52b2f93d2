//! The settings of a fit: written freely, checked once, then used.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::basis::frequencies::Scheme;
use crate::basis::{Basis, Exact, Hilbert, Rff, hilbert};
use crate::diagnose::Combine;
use crate::error::within;
use crate::experts::{self, Assignment};
use crate::infer;
use crate::kernel::Kernel;
use crate::model::{Method, Model, Priors};
use crate::scale::Scaling;
use crate::{Error, Result};

/// Up to this many stacking rows the weights' GPs are exact where there are many inputs.
const FEW: usize = 128;

/// Which basis to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BasisChoice {
    /// Hilbert for one or two inputs; beyond, exact for the weights of given experts where the
    /// stacking set is small, else RFF.
    #[default]
    Auto,
    /// Random Fourier features.
    Rff,
    /// The fixed basis.
    Hilbert,
    /// The exact GP at the training rows, for few of them.
    Exact,
}

/// Which density is sampled. The posterior is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DensityChoice {
    /// The one that is thought to be sampled best: for now the plain one.
    #[default]
    Auto,
    /// Of all parameters.
    Plain,
    /// With the coefficients of the experts' means integrated out, for `pogpe` and `het` on the
    /// Hilbert or RFF basis.
    Collapsed,
}

/// Settings of [`fit()`](super::fit()).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FitSettings {
    /// The method.
    pub method: Method,
    /// The number of experts K; `het` has one.
    pub experts: usize,
    /// How the experts of `bhs` and `pbhs` are made.
    pub expert: experts::Settings,
    /// Whether `pbhs` is the paper's plain form instead of the robust one.
    pub plain: bool,
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
    /// The density that is sampled.
    pub density: DensityChoice,
    /// How data are scaled before the fit.
    pub scaling: Scaling,
    /// Prior scales.
    pub priors: Priors,
    /// The sampler.
    pub sampler: infer::Settings,
    /// How the chains are combined.
    pub combine: Combine,
}

impl Default for FitSettings {
    fn default() -> Self {
        FitSettings {
            method: Method::Pogpe,
            experts: 3,
            expert: experts::Settings::default(),
            plain: false,
            basis: BasisChoice::Auto,
            frequencies: 30,
            scheme: Scheme::Iid,
            omega: None,
            size: None,
            box_factor: hilbert::BOX_FACTOR,
            kernel: Kernel::Rbf,
            normalise: false,
            density: DensityChoice::Auto,
            scaling: Scaling::Standard,
            priors: Priors::default(),
            sampler: infer::Settings::default(),
            combine: Combine::Auto,
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
        let model = if self.normalise { model.normalised() } else { model };
        Ok(if self.method == Method::Pbhs && !self.plain { model.robust() } else { model })
    }

    /// Whether the method is Gaussian in the means of its experts, which it learns.
    pub(crate) fn gaussian(&self) -> bool {
        match self.method {
            Method::Pogpe | Method::Het => true,
            Method::Mogpe => self.experts == 1,
            Method::Bhs | Method::Pbhs => false,
        }
    }

    /// Refuse the collapsed density where the means cannot be integrated out.
    fn refuse_collapsed(&self) -> Result<()> {
        if self.density != DensityChoice::Collapsed {
            return Ok(());
        }
        if !self.gaussian() {
            let method = self.method;
            let problem = format!("collapsed is for pogpe and het, not {method}: use plain");
            return Err(Error::setting("density", problem));
        }
        if self.basis == BasisChoice::Exact {
            return Err(Error::setting("density", "collapsed needs the rff or hilbert basis"));
        }
        Ok(())
    }

    /// Check every value; the first bad one is the error.
    pub fn check(self) -> Result<CheckedFit> {
        within("experts", self.experts, 1, 1000)?;
        within("frequencies", self.frequencies, 1, 100_000)?;
        if self.size.is_some_and(|size| !(1..=10_000).contains(&size)) {
            let size = self.size.unwrap_or_default();
            let problem = format!("{size} functions per input: use 1 to 10000");
            return Err(Error::setting("size", problem));
        }
        if !(self.box_factor > 1.0 && self.box_factor <= 100.0) {
            let problem = format!("{} must lie above 1, up to 100", self.box_factor);
            return Err(Error::setting("box", problem));
        }
        if self.method == Method::Bhs && self.experts == 1 {
            let problem = "one expert has no weights to learn: use it as it is, or pbhs, which \
                           learns its scale and a noise floor";
            return Err(Error::setting("experts", problem));
        }
        self.refuse_collapsed()?;
        self.expert.check(self.experts)?;
        self.priors.check()?;
        let sampler = self.sampler.clone().check()?;
        Ok(CheckedFit { settings: self, sampler })
    }
}

impl CheckedFit {
    /// The sampler's settings.
    pub(super) fn sampler(&self) -> &infer::Checked {
        &self.sampler
    }

    /// Whether `n` rows are fitted by the collapsed density of a model.
    pub(super) fn collapses(&self, _model: &Model, _n: usize) -> bool {
        match self.density {
            DensityChoice::Auto | DensityChoice::Plain => false,
            DensityChoice::Collapsed => true,
        }
    }

    /// Which of `n` rows, with the scaled inputs `x`, train each expert and which the weights.
    pub(crate) fn assign(&self, x: &[f64], n: usize) -> Result<Assignment> {
        let (own, k) = (&self.expert, self.experts);
        Assignment::draw(own.partition, x, n, k, own.hold_out, own.along, self.sampler.seed)
    }

    /// The basis of the GPs, which are learned from the scaled inputs `own` and meant for the
    /// region of `x` (both row-major).
    pub(crate) fn basis(&self, own: &[f64], x: &[f64], inputs: usize) -> Result<Basis> {
        let few = !self.method.learns_experts() && own.len() / inputs <= FEW;
        let choice = match self.basis {
            BasisChoice::Auto if self.omega.is_some() => BasisChoice::Rff,
            BasisChoice::Auto if inputs <= 2 => BasisChoice::Hilbert,
            BasisChoice::Auto if few => BasisChoice::Exact,
            BasisChoice::Auto => BasisChoice::Rff,
            choice => choice,
        };
        if choice == BasisChoice::Exact {
            return Ok(Basis::Exact(Exact::new(self.kernel, own, inputs)?));
        }
        if choice == BasisChoice::Hilbert {
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
