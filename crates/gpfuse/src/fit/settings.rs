//! The settings of a fit: written freely, checked once, then used.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::pilot::{Ground, assumed};
use super::worth::GateChoice;
use crate::basis::frequencies::Scheme;
use crate::basis::{Basis, Hilbert, Rff, hilbert};
use crate::columns::Missing;
use crate::diagnose::Combine;
use crate::experts::{self, Assignment, Partition, STACKING_ROWS, expected_seconds};
use crate::infer::{self, Monitor, Phase};
use crate::kernel::Kernel;
use crate::model::{Bases, Method, Model, Priors};
use crate::scale::Scaling;
use crate::settings::Group::{Basis as OfBasis, Data, Experts, Sampling};
use crate::settings::{Bounds, Form, Message, Only, STACKED, common, rare, settings};
use crate::{Error, Result};

/// With more rows, a method that learns its experts and the weights at once is told to be the wrong one.
const MOST_JOINT_ROWS: usize = 20_000;

/// Which basis to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BasisChoice {
    /// Hilbert for one or two inputs, eigenfunctions for more.
    #[default]
    Auto,
    /// Random Fourier features.
    Rff,
    /// The fixed basis.
    Hilbert,
    /// Eigenfunctions of a pilot's covariance.
    Eigen,
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

settings! {
    /// Settings of [`fit()`](super::fit()).
    FitSettings in "" {
        /// Method. Experts trained first, then their weights, on what they say about rows left out: pbhs
        /// (product) or bhs (mixture). Experts learned with their weights: mogpe (mixture of GP experts),
        /// pogpe (product) or het (one GP with a GP for its noise). Without sampling: gp (one exact GP), or a
        /// classical rule that fuses the experts of bhs and pbhs, such as stacking or rbcm.
        method: Method = Method::Pbhs, common(Experts);
        /// Number of experts or auto, for which mogpe and pogpe try some numbers in short runs and take
        /// the smallest that predicts rows left out as well as the best; het has one. bhs and pbhs have a
        /// portfolio, and if the number is given that many with rows of their own.
        experts: usize = 3,
            common(Experts).value("K").from(1.0, 1000.0).form(Form::Count)
                .only(Only::Several);
        /// Whether the number of experts is chosen from the data, for mogpe and pogpe: what front ends
        /// call auto experts.
        [serde(skip_serializing_if = "std::ops::Not::not")]
        choose_experts: bool = false;
        /// Whether the target is a class, of which given experts say how probable each is: the experts that come
        /// with the rows tell.
        [serde(skip_serializing_if = "std::ops::Not::not")]
        classes: bool = false;
        /// How the experts of bhs and pbhs are made.
        expert: experts::Settings = experts::Settings::default();
        /// Whether the weights of bhs and pbhs depend on the inputs. They do (gp), do by gates that are linear in the
        /// scaled inputs (linear), do not (constant), or do (as gp) where that predicts rows left out better
        /// (auto), which is tried where no basis is asked for.
        gate: GateChoice = GateChoice::Auto, rare(Experts).only(Only::Methods(STACKED));
        /// The paper's pbhs, without what makes it robust: a noise floor, scales of the experts,
        /// tails, a part of the linear pool and a temper.
        plain: bool = false, rare(Experts).only(Only::Methods(&[Method::Pbhs]));
        /// Basis that stands for the GPs. It is rff (random Fourier features), hilbert (a fixed basis,
        /// for up to three inputs), eigen (made from the data by a pilot GP, for any number of inputs) or
        /// auto: rff if `frequencies`, `scheme` or `omega` is given, eigen if `functions` is given, hilbert
        /// if `size` is given; else hilbert for one or two inputs and eigen for more.
        basis: BasisChoice = BasisChoice::Auto, common(OfBasis);
        /// RFF: number of frequencies.
        frequencies: usize = 30,
            rare(OfBasis).value("M").from(1.0, 1e5).only(Only::Basis(BasisChoice::Rff));
        /// RFF: how frequencies are drawn.
        scheme: Scheme = Scheme::Iid, rare(OfBasis).only(Only::Basis(BasisChoice::Rff));
        /// RFF: base frequencies instead of drawn ones, a row for each frequency and a column for
        /// each input in their order; for the program, the table that has them.
        omega: Option<Vec<f64>> = None,
            rare(OfBasis).value("FILE").only(Only::Basis(BasisChoice::Rff)).unless_given("drawn");
        /// Hilbert: functions per input.
        size: Option<usize> = None,
            common(OfBasis).value("J").from(1.0, 1e4).only(Only::Basis(BasisChoice::Hilbert))
                .unless_given("chosen from the data");
        /// Hilbert: half-width of the box in half-ranges of the data; wider for functions that vary
        /// slowly.
        [serde(rename = "box")]
        box_factor: f64 = hilbert::BOX_FACTOR,
            rare(OfBasis).keyed("box").value("C").bounds(Bounds::Above(1.0, 100.0))
                .only(Only::Basis(BasisChoice::Hilbert));
        /// Eigen: functions of the mean that the experts share.
        functions: Option<usize> = None,
            rare(OfBasis).value("J").from(1.0, 1e4).only(Only::Basis(BasisChoice::Eigen))
                .unless_given("chosen from the data");
        /// Kernel. The best on eigen is the one that predicts rows left out best.
        kernel: Option<Kernel> = None,
            rare(OfBasis).unless_given("rbf, best on eigen");
        /// Normalise the weights of pogpe and pbhs to sum to one at each input.
        normalise: bool = false,
            rare(Experts).only(Only::Methods(&[Method::Pogpe, Method::Pbhs]));
        /// Density that is sampled, for the same posterior. It is plain (of all parameters),
        /// collapsed (the coefficients of the experts' means integrated out, for pogpe and het with
        /// hilbert or rff) or auto, which is plain.
        density: DensityChoice = DensityChoice::Auto,
            rare(Sampling).only(Only::Methods(&[Method::Pogpe, Method::Het, Method::Mogpe]));
        /// Scaling of the data before the fit; predictions are in the units of the target.
        scaling: Scaling = Scaling::Standard, rare(Data);
        /// Rows that lack the value of an input. They are an error (refuse), left out (drop, for the fit
        /// alone), or filled with the mean of the column in the fit (mean), with one more input for each such
        /// column that says where (indicator).
        missing: Missing = Missing::Refuse, rare(Data);
        /// Prior scales: tables mu, log_sd and gate with the scales var and ell, and calibration with
        /// scale, floor, tail, blend and temper.
        priors: Priors = Priors::default(), rare(Sampling).unless_given("1, and those of docs/models.md");
        /// The sampler.
        sampler: infer::Settings = infer::Settings::default();
        /// How chains become one prediction. It is equal (all count alike), stack (weighted by how
        /// well each predicts rows left out, for chains in different modes) or auto (stack where that
        /// surely predicts better, else equal).
        combine: Combine = Combine::Auto, rare(Sampling);
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
    pub fn model(&self, bases: impl Into<Bases>) -> Result<Model> {
        let model = Model::new(self.method, self.experts, bases, self.priors)?;
        let model = if self.normalise { model.normalised() } else { model };
        Ok(match self.method {
            Method::Pbhs if self.plain => model,
            // Probabilities have no noise and no tails.
            Method::Pbhs if self.classes => model.far_reaching(),
            Method::Pbhs => model.robust(),
            _ => model,
        })
    }

    /// As many experts as the portfolio has, where that is what they are.
    pub(crate) fn count_portfolio(&mut self, rows: usize) {
        if self.method == Method::Gp {
            (self.experts, self.expert.partition) = (1, Partition::Random);
            self.expert.inputs.clear();
        } else if !self.method.learns_experts() {
            self.experts = self.expert.portfolio(rows).unwrap_or(self.experts);
        }
    }

    /// What somebody should know who fits so many rows of so many inputs with this method.
    pub fn note(&self, rows: usize, inputs: usize) -> Option<Message> {
        let method = self.method;
        if method.stacks() && self.expert.partition == Partition::All {
            let seconds = expected_seconds(rows, inputs, self.sampler.threads)?;
            let minutes = (seconds / 60.0).ceil();
            return Some(Message::new(format!(
                "{rows} rows: about {minutes} min. GPs predict each row from its nearest ones, and {STACKING_ROWS} rows \
                 are for the weights"
            )));
        }
        (method.learns_experts() && rows > MOST_JOINT_ROWS).then(|| {
            let words = format!("{method} goes through all {rows} rows at every step of its chains: for so many use pbhs");
            Message::new(words).advise("method", "pbhs")
        })
    }

    /// Whether the method is Gaussian in the means of its experts, which it learns.
    pub(crate) fn gaussian(&self) -> bool {
        match self.method {
            Method::Pogpe | Method::Het => true,
            Method::Mogpe => self.experts == 1,
            _ => false,
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
        if self.basis == BasisChoice::Eigen {
            return Err(Error::setting("density", "collapsed needs the rff or hilbert basis"));
        }
        Ok(())
    }

    /// Refuse to choose the number of experts where it is not free, or where there would be no draws to
    /// choose by.
    fn refuse_choice(&self) -> Result<()> {
        if self.choose_experts && !self.method.learns_experts() {
            let problem =
                format!("auto is for mogpe and pogpe, not {}: give a number", self.method);
            return Err(Error::setting("experts", problem));
        }
        if self.chooses_experts() && self.sampler.sampler == infer::Sampler::Map {
            let problem = "auto chooses by draws, and map makes none: give a number";
            return Err(Error::setting("experts", problem));
        }
        Ok(())
    }

    /// Whether a fit chooses its number of experts; het has one whatever is asked for.
    pub(crate) fn chooses_experts(&self) -> bool {
        self.choose_experts && matches!(self.method, Method::Mogpe | Method::Pogpe)
    }

    /// Refuse to choose the number of experts in what makes many fits with one number.
    pub(crate) fn refuse_auto_experts(&self, what: &str) -> Result<()> {
        if !self.choose_experts {
            return Ok(());
        }
        Err(Error::setting(
            "experts",
            format!("auto is for one fit, not for {what}: give a number"),
        ))
    }

    /// Check every value; the first bad one is the error.
    pub fn check(self) -> Result<CheckedFit> {
        self.within_bounds()?;
        self.refuse_choice()?;
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
        let (expert, k) = (&self.expert, self.experts);
        Assignment::draw(
            expert.partition,
            x,
            n,
            k,
            expert.held_out(),
            expert.along,
            self.sampler.seed,
        )
    }

    /// What the GPs stand on, which are learned from the scaled rows `x` with targets `y` and meant for
    /// the region of `region` (all row-major).
    pub(crate) fn ground(
        &self,
        x: &[f64],
        y: &[f64],
        region: &[f64],
        inputs: usize,
        monitor: &dyn Monitor,
    ) -> Result<Ground> {
        match self.chosen_basis(inputs) {
            BasisChoice::Eigen | BasisChoice::Auto => {
                monitor.phase(Phase::Pilot);
                Ground::pilot(x, inputs, y, self, monitor)
            }
            BasisChoice::Hilbert | BasisChoice::Rff => Ok(self.fixed(region, inputs)?.into()),
        }
    }

    /// The bases where no target is known, for the region of the scaled inputs `x`.
    pub(crate) fn bases(&self, x: &[f64], inputs: usize) -> Result<Bases> {
        match self.chosen_basis(inputs) {
            BasisChoice::Eigen | BasisChoice::Auto => assumed(x, inputs, self),
            BasisChoice::Hilbert | BasisChoice::Rff => Ok(self.fixed(x, inputs)?.into()),
        }
    }

    /// The basis that is used for so many inputs.
    fn chosen_basis(&self, inputs: usize) -> BasisChoice {
        match self.basis.implied(self.omega.is_some(), self.size, self.functions, inputs) {
            BasisChoice::Auto if inputs <= 2 => BasisChoice::Hilbert,
            BasisChoice::Auto => BasisChoice::Eigen,
            choice => choice,
        }
    }

    /// Whether weights for given experts are compared with others on rows left out: not where the basis is that of
    /// an experiment, and not without draws.
    pub(super) fn compares(&self, inputs: usize) -> bool {
        let basis = self.basis.implied(self.omega.is_some(), self.size, self.functions, inputs);
        let drawn = self.sampler.sampler != infer::Sampler::Map;
        self.method.stacks() && !self.plain && drawn && basis == BasisChoice::Auto
    }

    /// Whether a pilot GP is fitted for so many inputs.
    pub(super) fn pilots(&self, inputs: usize) -> bool {
        self.chosen_basis(inputs) == BasisChoice::Eigen
    }

    /// A basis that needs no target, for the region of the scaled inputs `x`.
    fn fixed(&self, x: &[f64], inputs: usize) -> Result<Basis> {
        let kernel = self.kernel.unwrap_or_default();
        if self.chosen_basis(inputs) == BasisChoice::Hilbert {
            let basis = Hilbert::for_data(kernel, x, inputs, self.size, self.box_factor)?;
            return Ok(Basis::Hilbert(basis));
        }
        Ok(Basis::Rff(match &self.omega {
            Some(omega) => Rff::new(kernel, omega.clone(), inputs)?,
            None => {
                let seed = self.sampler.seed;
                Rff::draw(kernel, self.scheme, self.frequencies, inputs, seed)?
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joint_methods_on_many_rows_point_to_pbhs() {
        let note = |method, rows| FitSettings { method, ..FitSettings::default() }.note(rows, 2);
        for method in [Method::Het, Method::Mogpe, Method::Pogpe] {
            assert_eq!(note(method, 20_000), None);
            let words = note(method, 20_001).map(|note| note.to_string()).unwrap_or_default();
            assert!(words.ends_with("for so many use pbhs (method=\"pbhs\")"), "{words}");
        }
        assert!(note(Method::Gp, 1_000_000).is_none() && note(Method::Pbhs, 3000).is_none());
        let words = note(Method::Pbhs, 1_000_000).map(|note| note.to_string()).unwrap_or_default();
        assert!(words.starts_with("1000000 rows: about "), "{words}");
    }
}
