//! `gpfuse predict`: the predictive density at new rows, as a table.

use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::bail;
use gpfuse::fit::{Experts, Fitted};
use gpfuse::predict::{ExpertSummary, Mixture};
use gpfuse::random::{Purpose, stream};
use gpfuse_io::table::TableSink;

use super::{Outcome, Query, refuse_same, refuse_unwritable, threads};
use crate::args::PredictArgs;
use crate::progress::counting;

/// The largest number of samples of a row.
const LARGEST_SAMPLE: usize = 100_000;

/// The part of the draws that the weights' intervals hold.
const WEIGHT_LEVEL: f64 = 0.9;

pub(super) fn run(args: &PredictArgs) -> anyhow::Result<Outcome> {
    let ps = &args.quantiles;
    if let Some(p) = ps.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
        bail!("setting `quantiles`: {p} is out of range: use numbers above 0 and below 1");
    }
    if let Some(i) = (1..ps.len()).find(|i| ps[..*i].contains(&ps[*i])) {
        bail!("setting `quantiles`: {} stands twice: take one out", ps[i]);
    }
    if args.samples > LARGEST_SAMPLE {
        bail!("setting `samples`: {} is out of range: use 0 to {LARGEST_SAMPLE}", args.samples);
    }
    if let Some(out) = args.out.as_deref().filter(|out| *out != Path::new("-")) {
        refuse_same(&args.model, out)?;
        refuse_same(&args.data, out)?;
        refuse_unwritable(out)?;
    }
    let threads = threads(args.threads)?;
    let keep: Vec<&str> = args.keep.iter().map(String::as_str).collect();
    if let Some(i) = (1..keep.len()).find(|i| keep[..*i].contains(&keep[*i])) {
        bail!("column `{}` stands twice in --keep: take one out", keep[i]);
    }
    let query = Query::keeping(&args.model, &args.data, args.density, &keep)?;
    let (fitted, data, mut kept) = (&query.fitted, &query.data, query.kept);
    let outcomes = fitted.says_outcomes();
    if !args.experts || args.density {
        super::refuse_classes(fitted, &args.model)?;
    }
    if outcomes && (args.samples > 0 || !(args.density || args.experts)) {
        bail!(
            "`{}`: its experts said log densities and no more, so that it has no mean, sd, quantile or sample: use \
             --experts for their weights, and --density for log densities of rows with columns `lpd_NAME`",
            args.model.display()
        );
    }
    let y = if args.density && !outcomes { Some(data.y()?) } else { None };
    let mut prediction = fitted.predict(data)?.on_threads(threads);
    if args.rao_blackwell {
        prediction = prediction.rao_blackwell()?;
    }
    let labels = match (&fitted.experts, args.experts) {
        (_, false) => Vec::new(),
        (Experts::Named(_), _) => fitted.expert_names(),
        _ => fitted.expert_names().iter().map(|k| format!("expert_{k}")).collect(),
    };
    let names = column_names(args, fitted, &labels);
    let plain = fitted.columns().is_plain();
    rename_kept(&mut kept.names, keep.len(), &names);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut sink = TableSink::create(args.out.as_deref(), kept, &names)?;
    let mut line = Vec::with_capacity(names.len());
    // Rows that go to a terminal are what there is to see.
    let seen = args.out.is_none() && std::io::stdout().is_terminal();
    let bar = (!seen).then(|| counting(data.len(), "rows")).flatten();
    for chunk in prediction.chunks() {
        let experts = if args.experts { chunk.weights(WEIGHT_LEVEL)? } else { Vec::new() };
        let summaries = match (outcomes, args.density) {
            (true, true) => chunk.log_density()?.into_iter().map(|log| vec![log]).collect(),
            (true, false) => vec![Vec::new(); chunk.len()],
            (false, _) => chunk.each(|row, density| summary(args, row, density, y))?,
        };
        for ((i, row), predicted) in chunk.rows().enumerate().zip(summaries) {
            line.clear();
            line.extend_from_slice(if plain { data.row(row) } else { &[] });
            line.extend(predicted);
            experts.get(i).into_iter().flatten().for_each(|e| line.extend(expert(e)));
            sink.row(&line)?;
        }
        bar.iter().for_each(|bar| bar.set_position(chunk.rows().end as u64));
    }
    sink.finish()?;
    bar.iter().for_each(|bar| bar.finish_and_clear());
    Ok(Outcome::Done)
}

/// The columns written: inputs, then predictions, then the experts by their labels.
fn column_names(args: &PredictArgs, fitted: &Fitted, experts: &[String]) -> Vec<String> {
    let (mut names, mut columns) = (Vec::new(), vec!["weight", "weight_low", "weight_high"]);
    if fitted.says_outcomes() {
        names.extend(args.density.then(|| "log_density".to_string()));
    } else {
        names.extend(["mean".to_string(), "sd".into()]);
        names.extend(args.quantiles.iter().map(|p| format!("q{p}")));
        if args.density {
            names.extend(["log_density", "pit", "crps"].map(String::from));
        }
        names.extend((1..=args.samples).map(|i| format!("sample_{i}")));
        columns.extend(["mean", "sd"]);
    }
    for expert in experts {
        names.extend(columns.iter().map(|c| format!("{c}_{expert}")));
    }
    // An input may be called like a column of the predictions.
    let input = |name: &String| match names.contains(name) {
        true => format!("input_{name}"),
        false => name.clone(),
    };
    // Inputs that are not columns as they stand are among those kept.
    let inputs = if fitted.columns().is_plain() { fitted.inputs() } else { &[] };
    inputs.iter().map(input).chain(names.iter().cloned()).collect()
}

/// Other names for kept columns, of which the first `asked` were asked for and the rest are inputs, where theirs are
/// taken.
fn rename_kept(kept: &mut [String], asked: usize, names: &[String]) {
    let (asked, inputs) = kept.split_at_mut(asked);
    for name in inputs.iter_mut().filter(|name| names.contains(name)) {
        *name = format!("input_{name}");
    }
    for name in asked.iter_mut().filter(|name| names.contains(name) || inputs.contains(name)) {
        *name = format!("kept_{name}");
    }
}

/// The predicted columns of a row.
fn summary(args: &PredictArgs, row: usize, density: &Mixture<'_>, y: Option<&[f64]>) -> Vec<f64> {
    let mut out = vec![density.mean(), density.variance().sqrt()];
    out.extend(density.quantiles(&args.quantiles));
    if let Some(y) = y.map(|y| y[row]) {
        out.extend([density.log_density(y), density.pit(y), density.crps(y)]);
    }
    let mut rng = stream(args.seed, Purpose::Predict, row as u64);
    out.extend(density.sample_many(args.samples, &mut rng));
    out
}

fn expert(e: &ExpertSummary) -> impl Iterator<Item = f64> {
    [e.weight.mean, e.weight.low, e.weight.high].into_iter().chain(e.mean).chain(e.sd)
}
