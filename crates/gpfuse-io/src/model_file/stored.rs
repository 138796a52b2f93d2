//! Diagnostics as JSON, which has no NaN: what could not be computed is stored as `null`.

use gpfuse::diagnose::{Diagnostics, Quantity};
use serde::Deserialize;

#[derive(Deserialize)]
struct Stored {
    chains: usize,
    draws: usize,
    quantities: Vec<Convergence>,
    divergences: usize,
    ebfmi_min: Option<f64>,
    saturated: f64,
    steps: f64,
    warnings: Vec<String>,
}

#[derive(Deserialize)]
struct Convergence {
    name: String,
    rhat_max: Option<f64>,
    rhat_median: Option<f64>,
    ess_bulk_min: Option<f64>,
    ess_bulk_median: Option<f64>,
    ess_tail_min: Option<f64>,
}

/// Read diagnostics back, with NaN for `null`.
pub(super) fn diagnostics(text: &str) -> serde_json::Result<Diagnostics> {
    let number = |stored: Option<f64>| stored.unwrap_or(f64::NAN);
    let quantity = |stored: Convergence| Quantity {
        name: stored.name,
        rhat_max: number(stored.rhat_max),
        rhat_median: number(stored.rhat_median),
        ess_bulk_min: number(stored.ess_bulk_min),
        ess_bulk_median: number(stored.ess_bulk_median),
        ess_tail_min: number(stored.ess_tail_min),
    };
    let stored: Stored = serde_json::from_str(text)?;
    Ok(Diagnostics {
        chains: stored.chains,
        draws: stored.draws,
        quantities: stored.quantities.into_iter().map(quantity).collect(),
        divergences: stored.divergences,
        ebfmi_min: stored.ebfmi_min,
        saturated: stored.saturated,
        steps: stored.steps,
        warnings: stored.warnings,
    })
}
