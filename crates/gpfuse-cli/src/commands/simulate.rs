//! `gpfuse simulate`: a synthetic data set, and its truth.

use std::path::Path;

use anyhow::bail;
use gpfuse::simulate::{Simulate, Simulated};
use gpfuse_io::table::write_table;

use super::{Outcome, refuse_unwritable};
use crate::args::SimulateArgs;
use crate::print;

pub(super) fn run(args: &SimulateArgs) -> anyhow::Result<Outcome> {
    let settings = Simulate {
        n: args.n,
        experts: args.experts,
        inputs: args.inputs,
        low: args.low,
        high: args.high,
        mean_lengthscale: args.mean_lengthscale,
        gate_lengthscale: args.gate_lengthscale,
        log_sd_lengthscale: args.log_sd_lengthscale,
        log_sd_mean: args.log_sd_mean,
        kernel: args.kernel,
        seed: args.seed,
        ..Simulate::default()
    };
    let standard = Path::new("-");
    let files = [Some(&args.out), args.truth.as_ref()].into_iter().flatten();
    for file in files.filter(|file| *file != standard) {
        refuse_unwritable(file)?;
    }
    if args.truth.as_ref() == Some(&args.out) {
        bail!("--out and --truth are both `{}`: give them two names", args.out.display());
    }
    let data = settings.run()?;
    let (names, columns) = columns(&data, args.inputs);
    let pairs: Vec<&str> = names.iter().map(String::as_str).collect();
    let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    write_table(Some(&args.out), &pairs, &slices)?;
    if let Some(path) = &args.truth {
        let (names, columns) = truth(&data);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        write_table(Some(path), &names, &slices)?;
    }
    let mean = data.true_log_density.iter().sum::<f64>() / args.n as f64;
    print::note(&format!(
        "wrote {} to {}; the true density scores an NLPD of {:.3} on them",
        print::count(args.n, "row"),
        match args.out == standard {
            true => "standard output".into(),
            false => format!("`{}`", args.out.display()),
        },
        -mean
    ));
    Ok(Outcome::Done)
}

/// Names and columns of the inputs and the target: `x` (or `x1`, `x2`, ...) and `y`.
pub(super) fn columns(data: &Simulated, inputs: usize) -> (Vec<String>, Vec<Vec<f64>>) {
    let name = |i: usize| if inputs == 1 { "x".into() } else { format!("x{}", i + 1) };
    let column = |i: usize| data.x.iter().skip(i).step_by(inputs).copied().collect();
    let names = (0..inputs).map(name).chain(["y".into()]).collect();
    (names, (0..inputs).map(column).chain([data.y.clone()]).collect())
}

fn truth(data: &Simulated) -> (Vec<String>, Vec<Vec<f64>>) {
    let k = data.experts;
    let mut names = vec!["component".to_string(), "true_log_density".into()];
    let component = data.component.iter().map(|c| (c + 1) as f64).collect();
    let mut columns = vec![component, data.true_log_density.clone()];
    for (name, values) in [("mean", &data.mean), ("log_sd", &data.log_sd), ("weight", &data.weight)]
    {
        for i in 0..k {
            names.push(format!("{name}{}", i + 1));
            columns.push(values.iter().skip(i).step_by(k).copied().collect());
        }
    }
    (names, columns)
}
