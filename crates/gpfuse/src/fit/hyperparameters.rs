//! What a fit says about variances, lengthscales and all else that is not a coefficient.

use super::{Experts, Fitted};
use crate::model::Kind;
use crate::model::layout::Part;
use crate::predict::Summary;

impl Fitted {
    /// The posterior mean and the central interval of probability `level` of each hyperparameter, over
    /// all GPs of a bank, in scaled units: a label does not always mean the same expert. `named` writes
    /// the name of an input or a given expert.
    pub fn hyperparameters(
        &self,
        level: f64,
        named: impl Fn(&str) -> String,
    ) -> Vec<(String, Summary)> {
        let (mut out, experts) = (Vec::new(), self.expert_names());
        // Weights without functions have a variance that nothing depends on.
        let constant = self.model.basis().features() == 1;
        let shown = |p: &&Part| p.kind != Kind::Theta && !(constant && p.kind == Kind::Var);
        for part in self.model.layout().parts.iter().filter(shown) {
            // The experts of a scale are given: each is known by its label.
            let each = part.kind == Kind::Scale;
            for i in 0..if each { part.count } else { part.width } {
                let name = match (part.kind, &self.experts) {
                    (Kind::Ell, _) => format!("{} of {}", part.name, named(&self.inputs()[i])),
                    (Kind::Scale, Experts::Named(names)) => {
                        format!("{} of {}", part.name, named(&names[i]))
                    }
                    (Kind::Scale, _) => format!("{} of expert {}", part.name, experts[i]),
                    _ => part.name.clone(),
                };
                out.push((name, self.summary(part, i, level)));
            }
        }
        out
    }

    fn summary(&self, part: &Part, i: usize, level: f64) -> Summary {
        let places: Vec<usize> = match part.kind {
            Kind::Scale => vec![part.offset + i],
            _ => (0..part.count).map(|k| part.offset + k * part.width + i).collect(),
        };
        let draw =
            |q: &[f64]| -> Vec<f64> { places.iter().map(|at| part.kind.natural(q[*at])).collect() };
        let mut values: Vec<f64> = self.draws.iter().flat_map(draw).collect();
        match self.draws.weights() {
            None => Summary::of(&mut values, level),
            Some(chains) => {
                let each = values.len() / chains.len();
                let weights: Vec<f64> = chains.iter().flat_map(|w| vec![*w; each]).collect();
                Summary::weighted(&values, &weights, level)
            }
        }
    }
}
