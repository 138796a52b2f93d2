//! Every method and rule on the same rows, each with the same scores.
//!
//! The joint methods and the single GP learn from all training rows. The others share one
//! partition and one set of experts, trained once: the experts have their rows, the weights the
//! stacking rows.
//!
//! With test rows, all are scored there. Without, all are scored at the stacking rows, each row
//! left out in turn:
//!
//! * sampled methods by Pareto-smoothed importance sampling ([`loo`](crate::diagnose::loo));
//! * rules that learn weights by learning them again without the row, the others as they are,
//!   since no expert has seen the row ([`Rule::leave_one_out`](crate::baseline::Rule));
//! * the single GP by its closed form ([`Gp::leave_one_out`](crate::gp::Gp)).
//!
//! A joint method then learns from all other rows, an expert only from its own: test rows are
//! the fairer judge. The scales of the data and the prior of the target are of all rows.

mod chains;
mod contestant;
mod entry;
mod field;
mod fixed;
mod table;

pub use contestant::Contestant;
pub use entry::{Comparison, Convergence, Entry, Scored, Trust};
pub use field::in_test;

use crate::data::Data;
use crate::fit::FitSettings;
use crate::infer::{Monitor, Quiet};
use crate::{Error, Result};
use field::Field;

/// Watches a comparison.
pub trait Audience {
    /// So many experts are going to be trained; what is returned watches that, and its cancellation ends the
    /// comparison.
    fn training(&self, _experts: usize) -> Box<dyn Monitor + '_> {
        Box::new(Quiet)
    }

    /// A contestant begins; what is returned watches its chains, and its cancellation ends the
    /// comparison.
    fn begin(&self, _contestant: Contestant) -> Box<dyn Monitor + '_> {
        Box::new(Quiet)
    }

    /// A contestant is done.
    fn end(&self, _entry: &Entry) {}
}

impl Audience for Quiet {}

/// Run every one of `contestants` on the training rows and score it, at the test rows where there
/// are some. The method and form of the settings do not matter; all else holds for all contestants.
/// A contestant that fails is an entry with its error, and so is one that did not run because the
/// comparison was stopped.
///
/// # Errors
/// If no contestant is named or one is named twice, or none could use the rows.
pub fn compare(
    train: &Data,
    test: Option<&Data>,
    settings: &FitSettings,
    contestants: &[Contestant],
    audience: &dyn Audience,
) -> Result<Comparison> {
    if contestants.is_empty() {
        return Err(Error::setting("methods", "no method is named: name at least one"));
    }
    if let Some(i) = (1..contestants.len()).find(|i| contestants[..*i].contains(&contestants[*i])) {
        let problem = format!("`{}` stands twice: take one out", contestants[i]);
        return Err(Error::setting("methods", problem));
    }
    settings.refuse_auto_experts("a comparison")?;
    let settings = settings.clone().check()?;
    let mut field = Field::new(train, test, &settings)?;
    let (mut entries, mut stopped) = (Vec::new(), false);
    if contestants.iter().any(|c| c.needs_experts()) {
        let monitor =
            audience.training(settings.expert.portfolio(train.len()).unwrap_or(settings.experts));
        field.train_experts(monitor.as_ref());
        stopped = monitor.cancelled();
    }
    for &contestant in contestants {
        if stopped {
            let outcome = Err(Error::Sampling("the comparison was stopped before its turn".into()));
            entries.push(Entry { contestant, outcome });
            continue;
        }
        let monitor = audience.begin(contestant);
        let outcome = match contestant {
            Contestant::Method(_) | Contestant::PlainPbhs => {
                chains::run(&field, contestant, monitor.as_ref())
            }
            Contestant::Rule(rule) => fixed::rule(&field, rule),
            Contestant::SingleGp => fixed::single_gp(&field, monitor.as_ref()),
        };
        stopped = monitor.cancelled();
        drop(monitor);
        let entry = Entry { contestant, outcome };
        audience.end(&entry);
        entries.push(entry);
    }
    let rows = field.test.map_or(field.left_out.len(), Data::len);
    Ok(Comparison::new(entries, rows, field.test.is_none(), settings.experts, stopped))
}
