//! Quantities of the chains that relabelling the experts does not change.

use std::sync::Arc;

use anyhow::Result;
use gpfuse::model::{Observed, Posterior};
use gpfuse_io::model_file::Saved;

use super::known::Known;
use crate::figure::{Chains, Quantity, short};

/// Where, as parts of the rows in the order of the first input.
const PARTS: [f64; 3] = [0.2, 0.5, 0.8];

/// The log joint density, and at some rows, if there are any, fused means and largest weights.
pub(super) fn chains(saved: &Saved, known: Option<&Known>) -> Result<Chains> {
    let draws = &saved.fitted.draws;
    let joint = draws.chains().iter().map(|c| c.stats.iter().map(|s| s.lp).collect()).collect();
    let mut quantities = vec![Quantity { name: "log joint density".into(), chains: joint }];
    if let Some(known) = known {
        quantities.extend(at_rows(saved, known)?);
    }
    Ok(Chains { title: String::new(), quantities })
}

fn at_rows(saved: &Saved, known: &Known) -> Result<Vec<Quantity>> {
    let (fitted, order) = (&saved.fitted, known.order());
    let rows = PARTS.map(|p| order[(p * (order.len() - 1) as f64).round() as usize]);
    let few = known.pick(&rows)?;
    let scaler = &fitted.scaler;
    let y: Vec<f64> = few.y.iter().map(|v| scaler.target.apply(*v)).collect();
    let mut data = Observed::new(&scaler.scale_inputs(&few.x), few.inputs, &y)?;
    if let Some(given) = fitted.given(&few.x, few.predictions.as_ref())? {
        data = data.given_by(given);
    }
    let mut posterior = Posterior::new(Arc::clone(&fitted.model), Arc::new(data))?;
    let place = |r: usize| match few.inputs {
        1 => format!("{} = {}", saved.inputs[0], short(few.x[r])),
        _ => format!("data row {}", rows[r] + 1),
    };
    // Both outer rows have their means, the middle one its largest weight.
    let wanted = [(1, 0), (1, 2), (2, 1)];
    let mut traces = vec![Vec::with_capacity(fitted.draws.len()); wanted.len()];
    for q in fitted.draws.iter() {
        posterior.invariants(q, |kind, row, value| {
            if let Some(i) = wanted.iter().position(|w| *w == (kind, row)) {
                let mean = kind == 1;
                traces[i].push(if mean { scaler.target.restore(value) } else { value.exp() });
            }
        });
    }
    let kept = if fitted.model.experts() > 1 { 3 } else { 2 };
    let named = |(i, values): (usize, &Vec<f64>)| {
        let (kind, row) = wanted[i];
        let what = match kind {
            1 => format!("fused mean of {}", saved.target),
            _ => "largest weight".into(),
        };
        let chains = fitted.draws.by_chain(values).into_iter().map(<[f64]>::to_vec).collect();
        Quantity { name: format!("{what} at {}", place(row)), chains }
    };
    Ok(traces.iter().enumerate().take(kept).map(named).collect())
}
