//! `gpfuse predict`: the predictive density at new rows, as a table.

use std::path::Path;

use anyhow::bail;
use gpfuse::fit::Experts;
use gpfuse::predict::{ExpertSummary, FusedBlock, Predictive};
use gpfuse::random::{Purpose, stream};
use gpfuse_io::table::CsvSink;

use super::{Outcome, Query, refuse_same, refuse_unwritable, threads};
use crate::args::PredictArgs;

/// Rows that are predicted before any is written: memory does not grow with the table.
const ROWS_AT_ONCE: usize = 8192;

/// The most samples of a row.
const MOST_SAMPLES: usize = 100_000;

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
    if args.samples > MOST_SAMPLES {
        bail!("setting `samples`: {} is out of range: use 0 to {MOST_SAMPLES}", args.samples);
    }
    if let Some(out) = args.out.as_deref().filter(|out| *out != Path::new("-")) {
        refuse_same(&args.model, out)?;
        refuse_same(&args.data, out)?;
        refuse_unwritable(out)?;
    }
    let threads = threads(args.threads)?;
    let query = Query::read(&args.model, &args.data, args.density)?;
    let saved = &query.saved;
    let inputs = saved.inputs.len();
    let y = if args.density { query.target() } else { None };
    let predictor = saved.fitted.predictor();
    let conditional = args.rao_blackwell.then(|| saved.fitted.conditional()).transpose()?;
    let labels = match (&saved.fitted.experts, args.experts) {
        (_, false) => Vec::new(),
        (Experts::Named(names), _) => names.clone(),
        _ => (1..=saved.fitted.model.experts()).map(|k| format!("expert_{k}")).collect(),
    };
    let each = labels.len();
    let names = column_names(args, &saved.inputs, &labels);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut sink = CsvSink::create(args.out.as_deref(), &names)?;
    let mut line = Vec::with_capacity(names.len());
    for (part, x) in query.x.chunks(ROWS_AT_ONCE * inputs).enumerate() {
        let first = part * ROWS_AT_ONCE;
        let rows = saved.fitted.rows(x)?.numbered_from(first);
        let own = first..first + rows.len();
        let said = query.predictions.as_ref().map(|all| all.part(own)).transpose()?;
        let given = saved.fitted.given(x, said.as_ref())?;
        let given = given.as_ref();
        let experts = match args.experts {
            true => predictor.experts(&rows, given, WEIGHT_LEVEL, threads)?,
            false => Vec::new(),
        };
        let own = |block: &FusedBlock| summaries(args, block, y);
        let blocks = match &conditional {
            Some(conditional) => conditional.at(&rows).blocks(threads, own)?,
            None => predictor.at(&rows, given).blocks(threads, own)?,
        };
        let blocks: gpfuse::Result<Vec<_>> = blocks.into_iter().collect();
        for (row, own) in blocks?.into_iter().flatten().enumerate() {
            line.clear();
            line.extend_from_slice(&x[row * inputs..(row + 1) * inputs]);
            line.extend(own);
            experts[row * each..(row + 1) * each].iter().for_each(|e| line.extend(expert(e)));
            sink.row(&line)?;
        }
    }
    sink.finish()?;
    Ok(Outcome::Done)
}

/// The columns written: inputs, then predictions, then the experts by their labels.
fn column_names(args: &PredictArgs, inputs: &[String], experts: &[String]) -> Vec<String> {
    let mut names = vec!["mean".to_string(), "sd".into()];
    names.extend(args.quantiles.iter().map(|p| format!("q{p}")));
    if args.density {
        names.extend(["log_density", "pit", "crps"].map(String::from));
    }
    names.extend((1..=args.samples).map(|i| format!("sample_{i}")));
    for expert in experts {
        let columns = ["weight", "weight_low", "weight_high", "mean", "sd"];
        names.extend(columns.map(|c| format!("{c}_{expert}")));
    }
    // An input may be called like a column of the predictions.
    let input = |name: &String| match names.contains(name) {
        true => format!("input_{name}"),
        false => name.clone(),
    };
    inputs.iter().map(input).chain(names.iter().cloned()).collect()
}

/// The predicted columns of each row of a block.
fn summaries(
    args: &PredictArgs,
    block: &FusedBlock,
    y: Option<&[f64]>,
) -> gpfuse::Result<Vec<Vec<f64>>> {
    (0..block.len())
        .map(|r| {
            let (row, density) = (block.first + r, block.row(r)?);
            let mut out = vec![density.mean(), density.variance().sqrt()];
            out.extend(density.quantiles(&args.quantiles));
            if let Some(y) = y.map(|y| y[row]) {
                out.extend([density.log_density(y), density.pit(y), density.crps(y)]);
            }
            let mut rng = stream(args.seed, Purpose::Predict, row as u64);
            out.extend(density.sample_many(args.samples, &mut rng));
            Ok(out)
        })
        .collect()
}

fn expert(e: &ExpertSummary) -> [f64; 5] {
    [e.weight.mean, e.weight.low, e.weight.high, e.mean, e.sd]
}
