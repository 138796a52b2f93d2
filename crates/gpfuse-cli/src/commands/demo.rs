//! `gpfuse demo`: the tour, on simulated data.

use std::time::Instant;

use anyhow::Context;
use gpfuse::infer;
use gpfuse::simulate::{Simulate, Simulated};
use gpfuse::{Data, FitSettings, Method, fit_with};
use gpfuse_io::model_file;
use gpfuse_io::table::write_table;

use super::{Outcome, fit::watched, simulate};
use crate::args::DemoArgs;
use crate::print;
use crate::progress::cancelled;

/// Rows simulated.
const ROWS: usize = 600;
/// Of so many rows, one is kept for testing.
const TEST_EVERY: usize = 4;

/// Experts of each method but het.
const EXPERTS: usize = 3;

pub(super) fn run(args: &DemoArgs) -> anyhow::Result<Outcome> {
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the folder `{}`", args.out.display()))?;
    let data = Simulate { n: ROWS, seed: args.seed, ..Simulate::default() }.run()?;
    let (train, test): (Vec<usize>, Vec<usize>) = (0..ROWS).partition(|r| r % TEST_EVERY != 0);
    write(args, &data, "train.csv", &train)?;
    write(args, &data, "test.csv", &test)?;
    print::note(&format!(
        "simulated {ROWS} rows from a mixture of {} GP experts: {} to train, {} to test",
        data.experts,
        train.len(),
        test.len()
    ));
    let rows = Data::new(data.x.clone(), 1)?.with_target(data.y.clone())?;
    let (train, test_rows) = (rows.pick(&train)?, rows.pick(&test)?);

    let mut reports = Vec::new();
    let head = ["method", "experts", "NLPD", "MC error", "row error", "R-hat", "seconds"];
    let mut table = vec![head.map(String::from).to_vec()];
    for method in [Method::Het, Method::Bhs, Method::Pbhs, Method::Mogpe, Method::Pogpe] {
        let experts = if method == Method::Het { 1 } else { EXPERTS };
        // So many draws, so that it is short.
        let draws = Some(infer::FIRST_DRAWS);
        let sampler =
            infer::Settings { max_depth: 6, seed: args.seed, draws, ..Default::default() };
        let settings = FitSettings { method, experts, sampler, ..Default::default() }.check()?;
        let begun = Instant::now();
        let fitted = watched(&settings, None, |monitor| fit_with(&train, &settings, monitor))?;
        let seconds = begun.elapsed().as_secs_f64();
        model_file::save(&args.out.join(format!("{method}.nc")), &fitted)?;
        let scores = fitted.evaluate(&test_rows)?;
        let rhat = fitted.diagnostics.quantities.first().map(|q| q.rhat_max);
        print::note(&format!("{method}: {seconds:.1} s"));
        table.push(vec![
            method.to_string(),
            experts.to_string(),
            print::value(&scores.nlpd),
            print::error(scores.nlpd.mcse),
            print::error(scores.nlpd.se),
            rhat.map_or("-".into(), |r| format!("{r:.2}")),
            format!("{seconds:.1}"),
        ]);
        reports.push(serde_json::json!({
            "method": method, "experts": experts, "seconds": seconds, "nlpd": scores.nlpd,
            "rhat_max": rhat,
        }));
        if cancelled() {
            return Ok(Outcome::Interrupted);
        }
    }
    let truth = true_score(&data, &test);
    let dash = || "-".to_string();
    table.push(vec![
        "true density".into(),
        data.experts.to_string(),
        format!("{:.2}", truth.0),
        dash(),
        print::error(Some(truth.1)),
        dash(),
        dash(),
    ]);
    finish(args, &table, reports, truth)
}

/// The true density's mean NLPD over some rows, and its standard error.
fn true_score(data: &Simulated, rows: &[usize]) -> (f64, f64) {
    let n = rows.len() as f64;
    let mean = rows.iter().map(|r| -data.true_log_density[*r]).sum::<f64>() / n;
    let gaps = rows.iter().map(|r| (-data.true_log_density[*r] - mean).powi(2));
    (mean, (gaps.sum::<f64>() / (n - 1.0) / n).sqrt())
}

fn write(args: &DemoArgs, data: &Simulated, name: &str, rows: &[usize]) -> anyhow::Result<()> {
    let (names, columns) = simulate::columns(data, 1);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let picked: Vec<Vec<f64>> =
        columns.iter().map(|c| rows.iter().map(|r| c[*r]).collect()).collect();
    let slices: Vec<&[f64]> = picked.iter().map(Vec::as_slice).collect();
    write_table(Some(&args.out.join(name)), &names, &slices)?;
    Ok(())
}

fn finish(
    args: &DemoArgs,
    table: &[Vec<String>],
    reports: Vec<serde_json::Value>,
    truth: (f64, f64),
) -> anyhow::Result<Outcome> {
    if args.json {
        print::json(&serde_json::json!({
            "fits": reports,
            "true_density": { "nlpd": truth.0, "se": truth.1 },
            "folder": args.out,
        }))?;
        return Ok(Outcome::Done);
    }
    let out = args.out.display();
    let mut lines = print::table(table);
    lines.push(String::new());
    lines.push(
        "NLPD: mean negative log predictive density of the test rows, lower is better.".into(),
    );
    lines.push("MC error: of the draws. row error: of the choice of test rows.".into());
    lines
        .push("R-hat: the worst over rows; well above 1.01, chains sit in different modes.".into());
    lines.push(format!("data: {out}/train.csv, {out}/test.csv"));
    lines.push(format!("models, which ArviZ opens: {out}/METHOD.nc"));
    lines.push(format!(
        "next: gpfuse predict {out}/mogpe.nc {out}/test.csv --experts --out predictions.csv"
    ));
    print::lines(&lines)?;
    Ok(Outcome::Done)
}
