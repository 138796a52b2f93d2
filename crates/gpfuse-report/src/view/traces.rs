//! Quantities of the chains that relabelling the experts does not change.

use std::sync::Arc;

use anyhow::Result;
use gpfuse::model::{Invariant, Posterior};
use gpfuse::{Data, Fitted};

use super::training::order;
use crate::figure::{Chains, Quantity, short};

/// Where, as parts of the rows in the order of the first input.
const PARTS: [f64; 3] = [0.2, 0.5, 0.8];

/// The log joint density, and at some rows, if there are any, fused means and largest weights.
pub(super) fn chains(fitted: &Fitted, data: Option<&Data>) -> Result<Chains> {
    let draws = &fitted.draws;
    let joint = draws.chains().iter().map(|c| c.stats.iter().map(|s| s.lp).collect()).collect();
    let mut quantities = vec![Quantity { name: "log joint density".into(), chains: joint }];
    if let Some(data) = data {
        quantities.extend(at_rows(fitted, data)?);
    }
    Ok(Chains { title: String::new(), quantities })
}

fn at_rows(fitted: &Fitted, data: &Data) -> Result<Vec<Quantity>> {
    let (order, scaler) = (order(data), &fitted.scaler);
    let rows = PARTS.map(|p| order[(p * (order.len() - 1) as f64).round() as usize]);
    let few = data.pick(&rows)?;
    let observed = Arc::new(fitted.observed(&few)?);
    let mut posterior = Posterior::new(Arc::clone(&fitted.model), observed)?;
    let place = |r: usize| match fitted.inputs() {
        [input] => format!("{input} = {}", short(few.x()[r])),
        _ => format!("data row {}", rows[r] + 1),
    };
    // Both outer rows have their means, the middle one its largest weight.
    let (mean, weight) = (Invariant::FusedMean, Invariant::LargestLogWeight);
    let wanted = [(mean, 0), (mean, 2), (weight, 1)];
    let mut traces = vec![Vec::with_capacity(fitted.draws.len()); wanted.len()];
    for q in fitted.draws.iter() {
        posterior.invariants(q, |kind, row, value| {
            if let Some(i) = wanted.iter().position(|w| *w == (kind, row)) {
                let shown = if kind == mean { scaler.target.restore(value) } else { value.exp() };
                traces[i].push(shown);
            }
        });
    }
    let kept = if fitted.model.experts() > 1 { 3 } else { 2 };
    let named = |(i, values): (usize, &Vec<f64>)| {
        let (kind, row) = wanted[i];
        let what = if kind == mean {
            format!("fused mean of {}", fitted.target())
        } else {
            "largest weight".into()
        };
        let chains = fitted.draws.by_chain(values).into_iter().map(<[f64]>::to_vec).collect();
        Quantity { name: format!("{what} at {}", place(row)), chains }
    };
    Ok(traces.iter().enumerate().take(kept).map(named).collect())
}
