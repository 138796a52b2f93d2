//! What is ranked: numbers that relabelling the experts does not change.

use std::ops::Range;
use std::sync::Arc;

use crate::Result;
use crate::infer::{Density, DensityError};
use crate::model::{Given, Invariant, Kind, Model, Observed, Posterior};

/// Inputs without data where the fused density is looked at.
pub(super) const PLACES: [f64; 3] = [-1.1, 0.1, 0.8];

/// Of these, how many have their largest weight looked at.
const PLACES_WEIGHED: usize = 2;

/// The named parts of the parameter vector that are ranked by their largest number: all but the
/// coefficients, which only together mean something.
fn parts(model: &Model) -> impl Iterator<Item = (String, Range<usize>)> {
    model.layout().parts.iter().filter(|part| part.kind != Kind::Theta).map(|part| {
        let length = part.count * part.width;
        // The experts are exchangeable, and the largest of a set is the same under any labels.
        let largest = if length > 1 { "largest " } else { "" };
        (format!("{largest}{}", part.name), part.offset..part.offset + length)
    })
}

/// The names of the quantities of a model.
pub(super) fn names(model: &Model) -> Vec<String> {
    let mut out = vec!["log likelihood".to_string(), "log joint density".into()];
    out.extend(PLACES.iter().map(|x| format!("fused mean at {x}")));
    out.extend(PLACES.iter().map(|x| format!("log density at {x}")));
    if model.experts() > 1 {
        out.extend(PLACES.iter().take(PLACES_WEIGHED).map(|x| format!("largest weight at {x}")));
    }
    out.extend(parts(model).map(|(name, _)| name));
    out
}

/// Computes the quantities for one data set.
pub(super) struct Quantities {
    data: Posterior,
    places: Posterior,
    parts: Vec<Range<usize>>,
    grad: Vec<f64>,
}

impl Quantities {
    /// For the posterior `data`; `at` are the targets whose log density is taken at [`PLACES`], and
    /// `given` what given experts say there.
    pub(super) fn new(data: Posterior, at: &[f64], given: Option<Given>) -> Result<Quantities> {
        let model = data.model().clone();
        let rows = Observed::new(&PLACES, 1, at)?;
        let rows = match given {
            Some(given) => rows.given_by(given),
            None => rows,
        };
        let parts = parts(&model).map(|(_, range)| range).collect();
        let grad = vec![0.0; model.dim()];
        Ok(Quantities { data, places: Posterior::new(model, Arc::new(rows))?, parts, grad })
    }

    /// The quantities at `q`, in the order of [`names`].
    pub(super) fn of(&mut self, q: &[f64]) -> Vec<f64> {
        let mut likelihood = 0.0;
        self.data.invariants(q, |kind, _, value| {
            if kind == Invariant::LogLikelihood {
                likelihood += value;
            }
        });
        let joint = match self.data.logp(q, &mut self.grad) {
            Ok(logp) | Err(DensityError::NotFinite { logp }) => logp,
            Err(_) => f64::NAN,
        };
        let mut seen = [[0.0; PLACES.len()]; Invariant::ALL.len()];
        self.places.invariants(q, |kind, row, value| seen[kind as usize][row] = value);
        let [density, mean, weight] = seen;
        let weighed = if self.data.model().experts() > 1 { PLACES_WEIGHED } else { 0 };
        let mut out = vec![likelihood, joint];
        out.extend(mean.iter().chain(&density).chain(&weight[..weighed]));
        let largest = |r: &Range<usize>| q[r.clone()].iter().copied().fold(f64::MIN, f64::max);
        out.extend(self.parts.iter().map(largest));
        out
    }
}
