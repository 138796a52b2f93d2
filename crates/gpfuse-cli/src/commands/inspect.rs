//! `gpfuse inspect`: what is in a model file.

use gpfuse::Fitted;
use gpfuse::basis::Basis;
use gpfuse::experts::Expert;
use gpfuse::fit::{DensityChoice, Effects, Experts};
use gpfuse::infer::Sampler;
use gpfuse::model::{Kind, Model};
use gpfuse::predict::Summary;
use gpfuse_io::model_file;

use super::{Outcome, judged, threads};
use crate::args::InspectArgs;
use crate::print;
use crate::progress::during;

pub(super) fn run(args: &InspectArgs) -> anyhow::Result<Outcome> {
    let threads = threads(None)?;
    let (fitted, weights) = &during("looking at the model", || -> anyhow::Result<_> {
        let fitted = model_file::load(&args.model)?;
        let inputs: Vec<usize> = (0..fitted.inputs().len()).collect();
        let weights = fitted.weight_effects(&fitted.data, &inputs, 0.9, threads)?;
        Ok((fitted, weights))
    })?;
    print::warn(print::rendered(&fitted.diagnostics.warnings));
    if args.json {
        print::json(&serde_json::json!({
            "inputs": fitted.inputs(),
            "columns": fitted.data.columns(),
            "target": fitted.target(),
            "settings": fitted.settings,
            "scaler": fitted.scaler,
            "basis": fitted.model.basis(),
            "chosen": fitted.chosen,
            "worth": fitted.worth,
            "weights": weights.as_ref().map(|found| weights_json(fitted, found)),
            "resolution": fitted.resolution,
            "diagnostics": print::diagnostics_json(&fitted.diagnostics),
        }))?;
    } else {
        print::lines(&describe(fitted, weights.as_ref())?)?;
    }
    Ok(judged(fitted, args.strict))
}

fn describe(fitted: &Fitted, weights: Option<&Effects>) -> anyhow::Result<Vec<String>> {
    let settings = &fitted.settings;
    let drawn = match settings.sampler.sampler {
        Sampler::Map => "the posterior mode".into(),
        _ => format!(
            "{} x {} {}{}",
            print::count(fitted.draws.chains().len(), "chain"),
            print::count(fitted.draws.per_chain(), "draw"),
            settings.sampler.warmup_words(),
            if settings.density == DensityChoice::Collapsed {
                " of the collapsed density"
            } else {
                ""
            }
        ),
    };
    let mut out = vec![format!(
        "{} with {}: `{}` from {}",
        settings.method,
        print::count(fitted.experts.count().unwrap_or(fitted.model.experts()), "expert"),
        fitted.target(),
        fitted.inputs().iter().map(|i| format!("`{i}`")).collect::<Vec<_>>().join(", ")
    )];
    out.extend(fitted.columns().words());
    if !settings.method.is_sampled() {
        out.extend([format!("seed {}; nothing was sampled", settings.sampler.seed), String::new()]);
        out.extend(experts(fitted));
        out.extend(weights.iter().flat_map(|found| weighed(fitted, found)));
        return Ok(out);
    }
    out.push(basis(&fitted.model));
    out.push(format!(
        "seed {}, {}, {} parameters",
        settings.sampler.seed,
        drawn,
        fitted.model.dim()
    ));
    out.push(String::new());
    out.extend(experts(fitted));
    let step = fitted.resolution.filter(|_| fitted.model.knows_rounding());
    out.extend(step.map(|step| rounded(fitted, step)));
    out.extend(fitted.chosen.iter().flat_map(print::chosen));
    out.extend(fitted.worth.iter().flat_map(print::worth));
    out.extend(weights.iter().flat_map(|found| weighed(fitted, found)));
    out.extend(print::table(&hyperparameters(fitted)));
    out.push(String::new());
    out.extend(approximation(fitted)?);
    out.push(String::new());
    out.extend(print::diagnostics(&fitted.diagnostics));
    Ok(out)
}

/// How much each expert is trusted on average, and which inputs that depends on, with an empty line after.
fn weighed(fitted: &Fitted, found: &Effects) -> Vec<String> {
    let head = ["share of expert in the weight", "mean", "5 %", "95 %"].map(String::from).to_vec();
    let row = |(name, s): (String, &Summary)| {
        [vec![name], [s.mean, s.low, s.high].map(|v| format!("{v:.3}")).to_vec()].concat()
    };
    let names = fitted.expert_names().into_iter();
    let rows: Vec<Vec<String>> =
        [head].into_iter().chain(names.zip(&found.level).map(row)).collect();
    let mut out = print::table(&rows);
    out.push(String::new());
    if fitted.inputs().len() > 1 && !found.constant {
        let head = ["input".into(), "moves a share by".into()].to_vec();
        let row = |effect: &gpfuse::fit::Effect| {
            vec![format!("`{}`", fitted.inputs()[effect.input]), format!("{:.3}", effect.moves)]
        };
        let rows: Vec<Vec<String>> =
            [head].into_iter().chain(found.inputs.iter().map(row)).collect();
        out.extend(print::table(&rows));
    }
    let chain = found.chain.map_or(String::new(), |chain| format!(" (of chain {})", chain + 1));
    out.extend([format!("{}{chain}", found.words()), String::new()]);
    out
}

/// The same as JSON.
fn weights_json(fitted: &Fitted, found: &Effects) -> serde_json::Value {
    let names = fitted.expert_names().into_iter();
    let experts = names.zip(&found.level).map(|(name, s)| {
        serde_json::json!({ "expert": name, "mean": s.mean, "low": s.low, "high": s.high })
    });
    let inputs = found.inputs.iter().map(|effect| {
        serde_json::json!({ "input": fitted.inputs()[effect.input], "moves": effect.moves })
    });
    serde_json::json!({
        "experts": experts.collect::<Vec<_>>(),
        "inputs": inputs.collect::<Vec<_>>(),
        "spread": found.spread,
        "agreed": found.agreed,
        "words": found.words(),
    })
}

/// That the target is rounded, and what that means.
fn rounded(fitted: &Fitted, step: f64) -> String {
    let sd = step / 12f64.sqrt();
    // Three digits, and no exponent where none is needed.
    let sd: f64 = format!("{sd:.2e}").parse().unwrap_or(sd);
    let target = fitted.target();
    format!(
        "`{target}` is rounded to multiples of {step}: no prediction is narrower than an sd of {sd}"
    )
}

/// What is known about given experts.
fn experts(fitted: &Fitted) -> Vec<String> {
    let mut out: Vec<String> = match &fitted.experts {
        Experts::Learned => return Vec::new(),
        Experts::Named(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            vec![format!("experts made elsewhere: {}", names.join(", "))]
        }
        Experts::Trained(experts) => {
            let each = |(name, expert): (String, &Expert)| {
                let Some((hyper, columns)) = expert.hyper() else {
                    let rounds = expert.trees().map_or(0, |trees| trees.rounds());
                    let rounds = print::count(rounds, "round");
                    return format!("expert {name}: boosted trees, {rounds}");
                };
                let rows = match (expert.gp(), expert.nearest()) {
                    (Some((gp, _)), _) => print::count(gp.rows(), "row"),
                    (_, Some((gp, _))) => format!(
                        "the {} nearest of {}",
                        gp.neighbours(),
                        print::count(gp.table().y().len(), "row")
                    ),
                    (None, None) => String::new(),
                };
                let kernel = expert.kernel().unwrap_or_default();
                let ell = columns.iter().zip(&hyper.ell);
                let ell = ell.map(|(i, ell)| format!("{ell:.2} of `{}`", fitted.inputs()[*i]));
                format!(
                    "expert {name}: {kernel} kernel on {rows}; sd {:.2}, noise {:.3}, lengthscales {}",
                    hyper.var.sqrt(),
                    hyper.noise.sqrt(),
                    ell.collect::<Vec<_>>().join(", ")
                )
            };
            fitted.given_names().into_iter().zip(experts.iter()).map(each).collect()
        }
    };
    if fitted.model.dim() > 0 {
        out.push(format!("weights learned from {}", print::count(fitted.rows.len(), "row")));
    }
    out.push(String::new());
    out
}

/// The error of the basis against its kernel, at the posterior median lengthscales of each
/// bank.
fn approximation(fitted: &Fitted) -> anyhow::Result<Vec<String>> {
    let mut out = Vec::new();
    // Random features are the same everywhere; a Hilbert basis is worst at the data's edge.
    let edge: Vec<f64> = match fitted.model.basis() {
        Basis::Rff(b) => vec![f64::INFINITY; b.inputs()],
        Basis::Eigen(_) => return Ok(out),
        Basis::Hilbert(b) => b.domain().1.iter().map(|l| l / fitted.settings.box_factor).collect(),
    };
    for part in fitted.model.layout().parts.iter().filter(|p| p.kind == Kind::Ell) {
        let median = |i: usize| {
            let of_draw = |q: &[f64]| {
                (0..part.count).map(|k| q[part.offset + k * part.width + i]).collect::<Vec<_>>()
            };
            let mut all: Vec<f64> = fitted.draws.iter().flat_map(of_draw).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let log_ell: Vec<f64> = (0..part.width).map(median).collect();
        let found = fitted.model.basis().approximation(&log_ell, &edge)?;
        let Some(found) = found else { continue };
        out.push(format!(
            "error against the exact kernel, of variance 1, at the median {}: {:.1e} at worst, \
             {:.1e} root mean square",
            part.name, found.max_abs, found.rms
        ));
    }
    Ok(out)
}

fn basis(model: &Model) -> String {
    let kernel = model.basis().kernel();
    match model.basis() {
        Basis::Rff(b) => format!("{kernel} kernel by {} random frequencies", b.frequencies()),
        Basis::Eigen(few) if few.functions() == 0 => "constant weights".into(),
        Basis::Eigen(few) if few.is_linear() => "gates linear in the scaled inputs".into(),
        Basis::Eigen(few) => {
            let functions = |basis: &Basis| basis.features() - 1;
            let mean = model.common().map_or(String::new(), |common| {
                format!("{} for the shared mean and ", functions(common))
            });
            let (all, rest) = (few.landmarks(), few.functions());
            format!("{kernel} kernel by eigenfunctions: {mean}{rest} for the rest, on {all} rows")
        }
        Basis::Hilbert(b) => {
            let sizes: Vec<String> = b.sizes().iter().map(usize::to_string).collect();
            format!("{kernel} kernel by a Hilbert basis of {} functions", sizes.join(" x "))
        }
    }
}

/// Posterior mean and 90 % interval of each hyperparameter.
fn hyperparameters(fitted: &Fitted) -> Vec<Vec<String>> {
    let head = ["hyperparameter (scaled units)", "mean", "5 %", "95 %"];
    let found = fitted.hyperparameters(0.9, |name| format!("`{name}`")).into_iter();
    let row = |(name, s): (String, Summary)| {
        [vec![name], [s.mean, s.low, s.high].map(|v| format!("{v:.3}")).to_vec()].concat()
    };
    [head.map(String::from).to_vec()].into_iter().chain(found.map(row)).collect()
}
