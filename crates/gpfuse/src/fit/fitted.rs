//! A fitted model: all that prediction needs, and how the fit went.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::worth::Worth;
use super::{ExpertChoice, FitSettings, Prediction, rules, stacking};
use crate::columns::Columns;
use crate::data::{Classes, Data, Said};
use crate::diagnose::{Diagnostics, log_likelihoods};
use crate::experts::Expert;
use crate::infer::Draws;
use crate::metrics::{Scores, evaluate};
use crate::model::{Given, Model, Observed, Posterior};
use crate::predict::{Conditional, Fused, Predictor};
use crate::resolution;
use crate::rows::Rows;
use crate::scale::{Affine, Scaler};
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
    /// The numbers, in the training table, of the rows that the posterior is about.
    pub rows: Vec<usize>,
    /// These rows: all rows of the fit where the experts are learned with the weights, and else
    /// those that the weights were learned from.
    pub data: Arc<Data>,
    /// What given experts say about each of these rows without it, on the model's scale; unknown in a file of an
    /// earlier version.
    pub said: Option<Arc<Said>>,
    /// The step to which the target is rounded: no prediction of it is narrower.
    pub resolution: Option<f64>,
    /// How the number of experts was chosen, if it was.
    pub chosen: Option<ExpertChoice>,
    /// What the fusion of given experts is worth on the rows it learned from, where that was found out.
    pub worth: Option<Worth>,
    /// What was computed from the above, and is not computed again.
    pub kept: Kept,
}

/// Where the predictions of a model's experts come from.
#[derive(Debug, Clone)]
pub enum Experts {
    /// They are learned with the weights, and in the draws.
    Learned,
    /// Trained here. About rows of its own, an expert said what it would say without them.
    Trained(Arc<Vec<Expert>>),
    /// Made elsewhere, known by name: their predictions come with every table.
    Named(Vec<String>),
}

impl Experts {
    /// How many there are, where they are given.
    pub fn count(&self) -> Option<usize> {
        match self {
            Experts::Learned => None,
            Experts::Trained(experts) => Some(experts.len()),
            Experts::Named(names) => Some(names.len()),
        }
    }

    /// The names of `count` experts: those that they came with, what they are in a portfolio, or their numbers
    /// from 1.
    pub(super) fn names(&self, count: usize) -> Vec<String> {
        match self {
            Experts::Named(names) => return names.clone(),
            Experts::Trained(experts) if experts.iter().any(|e| e.trees().is_some()) => {
                return experts.iter().map(Expert::name).collect();
            }
            Experts::Trained(_) | Experts::Learned => {}
        }
        let count = self.count().unwrap_or(count);
        (1..=count).map(|k| k.to_string()).collect()
    }
}

/// What is computed from a fit once, when it is first asked for.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    predictor: OnceLock<Arc<Predictor>>,
    conditional: OnceLock<Arc<Conditional>>,
    log_likelihood: OnceLock<Arc<Vec<f64>>>,
}

impl Kept {
    pub(super) fn with(log_likelihood: Option<Vec<f64>>) -> Kept {
        let log_likelihood = log_likelihood.map(Arc::new).map(OnceLock::from).unwrap_or_default();
        Kept { log_likelihood, ..Kept::default() }
    }
}

/// Rows on the model's scale, with what given experts say there.
#[derive(Debug, Clone)]
pub struct Located {
    /// The inputs.
    pub rows: Rows,
    /// What the experts say; nothing where they are learned.
    pub given: Option<Given>,
}

impl Fitted {
    /// The predictive densities at `data`, which has the model's inputs and, where the experts
    /// were made elsewhere, what they say. They are computed when they are asked for.
    ///
    /// # Errors
    /// If the rows do not have what the model needs.
    pub fn predict<'a>(&'a self, data: &'a Data) -> Result<Prediction<'a>> {
        Prediction::new(self, data)
    }

    /// The scores of the predictions at `data` against its target.
    ///
    /// # Errors
    /// As [`Fitted::predict`], and if the target is not known.
    pub fn evaluate(&self, data: &Data) -> Result<Scores> {
        self.predict(data)?.evaluate()
    }

    /// The same model with other draws.
    pub fn with_draws(self, draws: Draws) -> Fitted {
        Fitted { draws, kept: Kept::default(), ..self }
    }

    /// The names of the inputs.
    pub fn inputs(&self) -> &[String] {
        self.data.inputs()
    }

    /// The columns of a table that the inputs are made of.
    pub fn columns(&self) -> Columns {
        self.data.columns().cloned().unwrap_or_else(|| Columns::plain(self.inputs()))
    }

    /// The name of the target.
    pub fn target(&self) -> &str {
        self.data.target()
    }

    /// Whether its experts say how probable outcomes are, and no more.
    pub fn says_outcomes(&self) -> bool {
        self.said.as_ref().is_some_and(|said| said.normal().is_none())
    }

    /// The classes, where the target is one, as its experts said them.
    pub fn classes(&self) -> Option<&Classes> {
        self.said.as_ref().and_then(|said| said.classes())
    }

    /// The names of the experts that have weights: of a rule that makes one density of all, that is one with the
    /// name of the rule.
    pub fn expert_names(&self) -> Vec<String> {
        let one = self.settings.method.rule().filter(|rule| rule.makes_one());
        one.map_or_else(|| self.given_names(), |rule| vec![rule.to_string()])
    }

    /// The names of all experts.
    pub fn given_names(&self) -> Vec<String> {
        self.experts.names(self.model.experts())
    }

    /// The log likelihood of each draw at each of the rows that the posterior is about, row-major
    /// (draws, rows), in the user's units.
    ///
    /// # Errors
    /// If what the experts say there is not known, as in a model that was read from a file.
    pub fn log_likelihood(&self) -> Result<Arc<Vec<f64>>> {
        if let Some(known) = self.kept.log_likelihood.get() {
            return Ok(known.clone());
        }
        let (own, y) = (self.own()?, self.targets(&self.data)?);
        let observed = match &self.said {
            Some(said) => stacking::observed(
                own.rows,
                &y,
                said,
                &self.settings,
                self.resolution,
                &self.scaler,
            )?,
            None => seen(own, &y)?,
        };
        let posterior = Posterior::new(self.model.clone(), Arc::new(observed))?;
        let (all, rows): (Vec<&[f64]>, Vec<usize>) =
            (self.draws.iter().collect(), (0..self.data.len()).collect());
        let (scale, threads) = (self.scaler.target.scale, self.settings.sampler.threads);
        let found = Arc::new(log_likelihoods(&posterior, &all, &rows, scale, threads)?);
        Ok(self.kept.log_likelihood.get_or_init(|| found).clone())
    }

    /// The draws, ready to predict.
    pub fn predictor(&self) -> Arc<Predictor> {
        let new = || Arc::new(self.predictor_of(&self.draws));
        self.kept.predictor.get_or_init(new).clone()
    }

    /// Other draws of the same model, such as some of its own, ready to predict.
    pub fn predictor_of(&self, draws: &Draws) -> Predictor {
        Predictor::new(self.model.clone(), draws, self.scaler.target)
    }

    /// The draws without the coefficients of the means, which are integrated out: the same
    /// predictions as those of [`Fitted::predictor`], with less Monte Carlo noise.
    ///
    /// # Errors
    /// If the model is not Gaussian in these coefficients.
    pub fn conditional(&self) -> Result<Arc<Conditional>> {
        if let Some(known) = self.kept.conditional.get() {
            return Ok(known.clone());
        }
        Conditional::check(&self.model)?;
        let observed = Arc::new(self.observed(&self.data)?);
        let posterior = Posterior::new(self.model.clone(), observed)?;
        let found = Conditional::new(posterior, &self.draws, self.scaler.target)?;
        Ok(self.kept.conditional.get_or_init(|| Arc::new(found)).clone())
    }

    /// The rows `part` of `data` as the model sees them.
    ///
    /// # Errors
    /// If the rows do not have what the model needs.
    pub fn locate(&self, data: &Data, part: Range<usize>) -> Result<Located> {
        let inputs = self.inputs().len();
        let x = &data.x()[part.start * inputs..part.end * inputs];
        let x = self.scaler.scale_inputs(x);
        let given = stacking::given(self, data, part.clone(), &x)?;
        let rows = Rows::new(&x, inputs)?.numbered_from(part.start);
        Ok(Located { rows, given })
    }

    /// Rows with known targets as the model sees them.
    ///
    /// # Errors
    /// If the rows do not have what the model needs, or their target is not known.
    pub fn observed(&self, data: &Data) -> Result<Observed> {
        seen(self.locate(data, 0..data.len())?, &self.targets(data)?)
    }

    /// The rows that the posterior is about, as the model saw them: given experts say what they would say without
    /// each.
    pub(super) fn own(&self) -> Result<Located> {
        let Some(said) = &self.said else { return self.locate(&self.data, 0..self.data.len()) };
        let x = self.scaler.scale_inputs(self.data.x());
        let rows = Rows::new(&x, self.inputs().len())?;
        Ok(Located { rows, given: Some(self.given(said)?) })
    }

    /// What experts say, as the model sees it.
    pub(super) fn given(&self, said: &Said) -> Result<Given> {
        Given::of(rules::seen(self.settings.method, said, &self.targets(&self.data)?)?.as_ref())
    }

    /// The targets on the model's scale.
    fn targets(&self, data: &Data) -> Result<Vec<f64>> {
        Ok(data.y()?.iter().map(|v| self.scaler.target.apply(*v)).collect())
    }

    /// The scores of each expert alone at `data`, where the experts are given.
    ///
    /// # Errors
    /// As [`Fitted::evaluate`].
    pub fn evaluate_experts(&self, data: &Data, threads: usize) -> Result<Vec<(String, Scores)>> {
        self.check(data)?;
        let x = self.scaler.scale_inputs(data.x());
        let said = stacking::said(self, data, 0..data.len(), &x)?;
        let Some(said) = said.as_ref().and_then(Said::normal) else { return Ok(Vec::new()) };
        let Affine { shift, scale } = self.scaler.target;
        let rounding = resolution::variance(self.resolution, scale);
        let one = |(name, (mean, sd)): (String, (&Vec<f64>, &Vec<f64>))| {
            let mean = mean.iter().map(|m| shift + scale * m).collect();
            let sd = sd.iter().map(|s| scale * (s * s + rounding).sqrt()).collect();
            Ok((name, evaluate(&Fused::normal(mean, sd)?, data.y()?, threads)?))
        };
        self.given_names().into_iter().zip(said.mean().iter().zip(said.sd())).map(one).collect()
    }

    /// Refuse rows that do not have what the model needs.
    pub(super) fn check(&self, data: &Data) -> Result<()> {
        self.same_inputs(data)?;
        stacking::check_experts(self, data)
    }

    /// Refuse rows of another number of inputs.
    pub(super) fn same_inputs(&self, data: &Data) -> Result<()> {
        let (expected, found) = (self.inputs().len(), data.inputs().len());
        if expected != found {
            return Err(Error::Shape {
                what: "inputs".into(),
                expected: format!("{expected} columns"),
                found: found.to_string(),
            });
        }
        Ok(())
    }
}

/// Rows with their targets on the model's scale.
fn seen(Located { rows, given }: Located, y: &[f64]) -> Result<Observed> {
    let observed = Observed::at(rows, y)?;
    Ok(match given {
        Some(given) => observed.given_by(given),
        None => observed,
    })
}
