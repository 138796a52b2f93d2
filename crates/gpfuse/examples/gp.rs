//! Fits an exact GP to a CSV file and prints what it took, as JSON.
//!
//! `cargo run --release -p gpfuse --example gp -- rows.csv [kernel] [ml|map] [zero|learned]`: the
//! file has one header line, the last column is the target.

use std::error::Error;
use std::time::Instant;

use gpfuse::gp::{Mean, Objective, Settings, fit};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("give the path of a CSV file")?;
    let option = |at: usize, default: &str| arguments.get(at).map_or(default, |v| v).to_owned();
    let settings = Settings {
        kernel: option(1, "rbf").parse()?,
        objective: match option(2, "map").as_str() {
            "ml" => Objective::MarginalLikelihood,
            "map" => Objective::Map,
            other => return Err(format!("objective {other}: use ml or map").into()),
        },
        mean: match option(3, "learned").as_str() {
            "zero" => Mean::Fixed(0.0),
            "learned" => Mean::Learned,
            other => return Err(format!("mean {other}: use zero or learned").into()),
        },
        ..Settings::default()
    };

    let text = std::fs::read_to_string(path)?;
    let (mut x, mut y, mut inputs) = (Vec::new(), Vec::new(), 0);
    for line in text.lines().skip(1) {
        let mut row = line.split(',').map(str::parse::<f64>).collect::<Result<Vec<_>, _>>()?;
        y.push(row.pop().ok_or("an empty line")?);
        inputs = row.len();
        x.extend(row);
    }

    let settings = settings.check()?;
    let begin = Instant::now();
    let gp = fit(&x, inputs, &y, &settings)?;
    let seconds = begin.elapsed().as_secs_f64();
    let result = serde_json::json!({
        "rows": gp.rows(),
        "inputs": inputs,
        "seconds": seconds,
        "log_marginal": gp.log_marginal(),
        "hyper": gp.hyper(),
    });
    println!("{result}");
    Ok(())
}
