//! `gpfuse evaluate`: the scores of a model on rows with known targets.

use gpfuse::metrics::{LEVELS, Measured, Scores};

use super::{Outcome, Query, judged, threads};
use crate::args::EvaluateArgs;
use crate::print;
use crate::progress::during;

pub(super) fn run(args: &EvaluateArgs) -> anyhow::Result<Outcome> {
    let threads = threads(args.threads)?;
    let query = Query::read(&args.model, &args.data, true)?;
    let fitted = &query.fitted;
    super::refuse_classes(fitted, &args.model)?;
    let mut prediction = fitted.predict(&query.data)?.on_threads(threads);
    if args.rao_blackwell {
        prediction = prediction.rao_blackwell()?;
    }
    let found = during("scoring", || prediction.measure())?;
    print::warn(print::rendered(&fitted.diagnostics.warnings));
    let converged = fitted.diagnostics.passed();
    match (&found, args.json) {
        (_, false) => print::lines(&print::scores(&found.named()))?,
        (Measured::All(scores), true) => print::json(&json(scores, converged))?,
        (Measured::Log(scores), true) => {
            let (rows, nlpd) = (scores.rows, scores.nlpd);
            let all = serde_json::json!({ "rows": rows, "nlpd": nlpd, "converged": converged });
            print::json(&all)?;
        }
    }
    Ok(judged(fitted, args.strict))
}

/// The scores as JSON, coverages by level.
fn json(scores: &Scores, converged: bool) -> serde_json::Value {
    let coverage: serde_json::Map<String, serde_json::Value> = LEVELS
        .iter()
        .zip(&scores.coverage)
        .map(|(level, s)| (level.to_string(), serde_json::json!(s)))
        .collect();
    serde_json::json!({
        "rows": scores.rows,
        "nlpd": scores.nlpd,
        "crps": scores.crps,
        "rmse": scores.rmse,
        "mae": scores.mae,
        "coverage": coverage,
        "converged": converged,
    })
}
