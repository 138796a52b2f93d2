//! One hard model from its table to its predictions, and every law that it broke on the way.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use gpfuse::Error;
use gpfuse::fit::Fitted;
use gpfuse::infer::{ChainDraws, Density, Draws, Stat};
use gpfuse::model::layout::Part;
use gpfuse::model::{Collapsed, Kind, Model, Posterior};
use gpfuse::random::{Purpose, stream};
use rand_chacha::ChaCha8Rng;

use super::case::Case;
use super::numbers::normal;
use super::phase;
use super::slope::{STEP_TOLERANCE, Slope, Way, compare};

/// Prior draws at which the density is looked at.
const POINTS: usize = 4;

/// One in so many models has its gradients compared with differences.
const COMPARED: u64 = 10;

/// Angles rounded by more than this are not known well enough: coefficients of 1e4, where targets are as
/// large, make it 1e-5 of a mean.
const DIGITS: f64 = 1e-9;

/// What is promised of every model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Law {
    /// Nothing panics, on any thread.
    NoPanic,
    /// An error says what is wrong.
    Error,
    /// A log density and its gradient are finite, or recoverably not.
    Density,
    /// A gradient is that of its density.
    Gradient,
    /// A predictive density is one.
    Predictive,
}

/// What became of one model.
#[derive(Debug, Clone, Default)]
pub(super) struct Trial {
    pub(super) number: u64,
    /// The kind of its error, if it was refused.
    pub(super) refused: Option<&'static str>,
    /// What it says.
    pub(super) why: String,
    /// Densities evaluated.
    pub(super) points: usize,
    /// Densities that were not finite.
    pub(super) not_finite: usize,
    /// Gradients that agree with differences.
    pub(super) agree: usize,
    /// Gradients that do not agree with differences.
    pub(super) differ: usize,
    /// Gradients of which differences tell nothing.
    pub(super) unresolved: usize,
    /// Predictive densities.
    pub(super) predicted: usize,
    /// Predictions that were refused far from the table.
    pub(super) unpredicted: usize,
    /// Predictions that were refused at rows of the table with an error about the range of numbers.
    pub(super) out_of_range: usize,
    /// The first of these errors.
    pub(super) range: Option<String>,
    pub(super) seconds: f64,
    pub(super) broken: Vec<(Law, String)>,
}

impl Trial {
    /// Try model `number` of a seed.
    pub(super) fn of(seed: u64, number: u64) -> Trial {
        let begun = Instant::now();
        let mut trial = Trial { number, ..Trial::default() };
        let whole = catch_unwind(AssertUnwindSafe(|| trial.run(seed)));
        if let Err(panic) = whole {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or(panic.downcast_ref::<&str>().map(|t| (*t).into()));
            trial.breaks(Law::NoPanic, text.unwrap_or_default());
        }
        trial.seconds = begun.elapsed().as_secs_f64();
        trial
    }

    /// It broke a law.
    pub(super) fn breaks(&mut self, law: Law, what: String) {
        self.broken.push((law, what));
    }

    fn run(&mut self, seed: u64) {
        let case = Case::draw(seed, self.number);
        let mut rng = stream(seed, Purpose::Predict, self.number);
        match case.fit() {
            Err(error) => self.refuse(&error),
            Ok(fitted) => {
                if let Err(error) = self.look(&case, &fitted, &mut rng) {
                    // What was fitted can be looked at, but for predictions out of range.
                    self.breaks(Law::Error, format!("after the fit: {error}"));
                }
            }
        }
    }

    fn refuse(&mut self, error: &Error) {
        let (kind, says) = match error {
            Error::Setting { name, problem } => {
                ("setting", !name.is_empty() && !problem.text.is_empty())
            }
            Error::Data(text) => ("data", text.contains(' ')),
            Error::Shape { what, expected, found } => {
                ("shape", ![what, expected, found].iter().any(|t| t.is_empty()))
            }
            Error::Sampling(problem) => ("sampling", problem.text.contains(' ')),
            Error::Memory(text) => ("sampling", text.contains(' ')),
            Error::Worker(text) => {
                self.breaks(Law::NoPanic, text.clone());
                ("worker", true)
            }
        };
        (self.refused, self.why) = (Some(kind), error.to_string());
        if !says || self.why.is_empty() {
            self.breaks(Law::Error, format!("{error:?}"));
        }
    }

    /// Density, gradient and predictions of a model that was fitted.
    fn look(&mut self, case: &Case, fitted: &Fitted, rng: &mut ChaCha8Rng) -> gpfuse::Result<()> {
        if fitted.draws.iter().flatten().any(|v| !v.is_finite()) {
            self.breaks(Law::Density, "a draw is not finite".into());
        }
        let observed = Arc::new(fitted.observed(&fitted.data)?);
        let mut posterior = Posterior::new(fitted.model.clone(), observed)?;
        let prior: Vec<Vec<f64>> =
            (0..POINTS).map(|_| fitted.model.prior_draw(|| normal(rng))).collect();
        let x = fitted.scaler.scale_inputs(fitted.data.x());
        let compared = self.number.is_multiple_of(COMPARED);
        let mut ways =
            |q: &Vec<f64>| if compared { ways(&fitted.model, &x, q, rng) } else { vec![] };
        let points: Vec<Point> = prior.iter().map(|q| (q.clone(), ways(q))).collect();
        self.evaluate("plain", &mut posterior.clone(), &points);
        if let Ok(mut collapsed) = Collapsed::new(posterior.clone()) {
            let shorter = |way: &Way| Way { along: collapsed.shorten(&way.along), ..way.clone() };
            let short = |(q, ways): &Point| {
                (collapsed.shorten(q), ways.iter().map(shorter).collect::<Vec<Way>>())
            };
            let points: Vec<Point> = points.iter().map(short).collect();
            self.evaluate("collapsed", &mut collapsed, &points);
        }
        // No chain draws a point at which its density is no number.
        let mut room = vec![0.0; fitted.model.dim()];
        let kept: Vec<Vec<f64>> =
            prior.into_iter().filter(|q| posterior.logp(q, &mut room).is_ok()).collect();
        let stats = vec![Stat::default(); kept.len()];
        let mut by = vec![fitted.predictor_of(&fitted.draws)];
        if !kept.is_empty() {
            let chain = ChainDraws { values: kept.concat(), stats };
            let kept = Draws::new(fitted.model.dim(), kept.len(), vec![chain])?;
            by.push(fitted.predictor_of(&kept));
        }
        self.predict(case, fitted, &by, rng)
    }

    fn evaluate(&mut self, form: &str, density: &mut impl Density, points: &[Point]) {
        let mut grad = vec![f64::NAN; density.dim()];
        for (q, ways) in points {
            self.points += 1;
            match density.logp(q, &mut grad) {
                Ok(logp) if logp.is_finite() && grad.iter().all(|g| g.is_finite()) => {}
                Ok(logp) => self.breaks(Law::Density, format!("{logp} with gradient {grad:?}")),
                Err(e) if e.is_recoverable() => self.not_finite += 1,
                Err(e) => self.breaks(Law::Density, e.to_string()),
            }
            // The collapsed density has no coefficients of the means.
            for way in ways.iter().filter(|way| way.along.iter().any(|v| *v != 0.0)) {
                match compare(density, q, way) {
                    Slope::Agrees => self.agree += 1,
                    Slope::Unresolved => self.unresolved += 1,
                    Slope::Differs(by, claimed) => {
                        self.differ += 1;
                        let Way { part, .. } = way;
                        let what = format!("{form}, {part}: {claimed:e}, by differences {by:e}");
                        self.breaks(Law::Gradient, what);
                    }
                }
            }
        }
    }
}

/// A point, and the ways along which its gradient is compared.
type Point = (Vec<f64>, Vec<Way>);

/// A random way within each part of the parameters, so that no part hides behind another that is
/// steeper. Random features have angles `a = omega x / ell - p`, where coefficients give p. A step along
/// lengthscales may turn none by more than a radian. One along coefficients turns p by about its own
/// length, of which the rounding of a must be a small part. Where that rounding is beyond [`DIGITS`], no
/// step tells: the collapsed density has its features and those of its gradient from angles with and
/// without p.
fn ways(model: &Model, x: &[f64], q: &[f64], rng: &mut ChaCha8Rng) -> Vec<Way> {
    let angle = phase::largest(model, x, q);
    let rounding = f64::EPSILON * angle;
    let way = |part: &Part| {
        let mut along = vec![0.0; q.len()];
        let direction = &mut along[part.offset..part.offset + part.count * part.width];
        direction.iter_mut().for_each(|v| *v = normal(rng));
        let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        direction.iter_mut().for_each(|v| *v /= length);
        let (shortest, longest) = match part.kind {
            _ if rounding > DIGITS => (f64::INFINITY, 0.0),
            Kind::Ell => (0.0, angle.recip()),
            Kind::Theta => (rounding / STEP_TOLERANCE, f64::INFINITY),
            _ => (0.0, f64::INFINITY),
        };
        Way { part: part.name.clone(), along, shortest, longest }
    };
    model.layout().parts.iter().map(way).collect()
}
