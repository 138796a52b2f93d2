//! Leave-one-out scores of a rule on the stacking set: what it learns is learned again without
//! each row.

use super::{Predictions, Rule, StackingSet};
use crate::parallel::parallel;
use crate::{Error, Result};

impl Rule {
    /// Whether its weights come from the targets of the stacking set.
    pub fn learns(self) -> bool {
        matches!(self, Rule::Stacking | Rule::PseudoBma | Rule::PseudoBmaPlus | Rule::BestExpert)
    }

    /// The log density of each target of the stacking set under the rule that has learned from
    /// the other rows. A rule that learns nothing from them is scored as it is, since no expert
    /// has seen them either.
    ///
    /// # Errors
    /// If the rule cannot learn, or has a single row to learn from.
    pub fn leave_one_out(self, set: &StackingSet<'_>, threads: usize) -> Result<Vec<f64>> {
        let (experts, y) = (set.experts(), set.targets());
        if !self.learns() {
            let fused = self.learn(set)?.fuse(experts)?;
            return (0..y.len()).map(|row| Ok(fused.row(row)?.log_density(y[row]))).collect();
        }
        if y.len() < 2 {
            let problem = format!("{self} cannot learn without its only stacking row: give more");
            return Err(Error::Data(problem));
        }
        let rows: Vec<usize> = (0..y.len()).collect();
        let each = parallel(y.len(), threads, |row| {
            let others: Vec<usize> = rows.iter().copied().filter(|r| *r != row).collect();
            let targets: Vec<f64> = others.iter().map(|r| y[*r]).collect();
            let kept = pick(experts, &others)?;
            let learned = self.learn(&StackingSet::new(&kept, &targets, set.prior())?.like(set))?;
            Ok(learned.fuse(&pick(experts, &[row])?)?.row(0)?.log_density(y[row]))
        })?;
        each.into_iter().collect()
    }
}

/// The predictions at some rows.
fn pick(experts: &Predictions, rows: &[usize]) -> Result<Predictions> {
    let of = |all: &[Vec<f64>]| -> Vec<Vec<f64>> {
        all.iter().map(|column| rows.iter().map(|r| column[*r]).collect()).collect()
    };
    Predictions::new(of(experts.mean()), of(experts.sd()))
}
