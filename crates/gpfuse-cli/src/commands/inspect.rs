//! `gpfuse inspect`: what is in a model file.

use gpfuse::basis::Basis;
use gpfuse::model::{Kind, Model};
use gpfuse_io::model_file::{self, Saved};

use super::{Outcome, judged};
use crate::args::InspectArgs;
use crate::print;

pub(super) fn run(args: &InspectArgs) -> anyhow::Result<Outcome> {
    let saved = model_file::load(&args.model)?;
    let fitted = &saved.fitted;
    print::warn(&fitted.diagnostics.warnings);
    if args.json {
        print::json(&serde_json::json!({
            "inputs": saved.inputs,
            "target": saved.target,
            "settings": fitted.settings,
            "scaler": fitted.scaler,
            "basis": fitted.model.basis(),
            "diagnostics": fitted.diagnostics,
        }))?;
    } else {
        print::lines(&describe(&saved)?)?;
    }
    Ok(judged(&saved, args.strict))
}

fn describe(saved: &Saved) -> anyhow::Result<Vec<String>> {
    let fitted = &saved.fitted;
    let settings = &fitted.settings;
    let mut out = vec![
        format!(
            "{} with {} experts: `{}` from {}",
            settings.method,
            fitted.model.experts(),
            saved.target,
            saved.inputs.iter().map(|i| format!("`{i}`")).collect::<Vec<_>>().join(", ")
        ),
        basis(&fitted.model),
        format!(
            "seed {}, {} chains x {} draws after {} of warm-up, {} parameters",
            settings.sampler.seed,
            fitted.draws.chains().len(),
            fitted.draws.per_chain(),
            settings.sampler.warmup,
            fitted.model.dim()
        ),
        String::new(),
    ];
    out.extend(print::table(&hyperparameters(saved)));
    out.push(String::new());
    out.extend(print::diagnostics(&fitted.diagnostics));
    Ok(out)
}

fn basis(model: &Model) -> String {
    let kernel = model.basis().kernel();
    match model.basis() {
        Basis::Rff(b) => format!("{kernel} kernel by {} random frequencies", b.frequencies()),
        Basis::Hilbert(b) => {
            let sizes: Vec<String> = b.sizes().iter().map(usize::to_string).collect();
            format!("{kernel} kernel by a Hilbert basis of {} functions", sizes.join(" x "))
        }
    }
}

/// Posterior mean and 90 % interval of variances and lengthscales, over all GPs of a bank, in
/// scaled units: a label does not always mean the same expert.
fn hyperparameters(saved: &Saved) -> Vec<Vec<String>> {
    let head = ["hyperparameter (scaled units)", "mean", "5 %", "95 %"];
    let mut rows = vec![head.map(String::from).to_vec()];
    let fitted = &saved.fitted;
    for part in fitted.model.layout().parts.iter().filter(|p| p.kind != Kind::Theta) {
        for i in 0..part.width {
            let own = |q: &[f64]| {
                let places = (0..part.count).map(|k| part.offset + k * part.width + i);
                places.map(|at| q[at].exp()).collect::<Vec<f64>>()
            };
            let mut values: Vec<f64> = fitted.draws.iter().flat_map(own).collect();
            let s = gpfuse::predict::Summary::of(&mut values, 0.9);
            let name = match part.kind {
                Kind::Ell => format!("{} of `{}`", part.name, saved.inputs[i]),
                _ => part.name.clone(),
            };
            rows.push([s.mean, s.low, s.high].iter().fold(vec![name], |mut row, v| {
                row.push(format!("{v:.3}"));
                row
            }));
        }
    }
    rows
}
