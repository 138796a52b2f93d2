//! Fits an exact GP to a CSV file and prints what it took, as JSON.
//!
//! `cargo run --release -p gpfuse-bench --bin gp -- rows.csv [kernel] [ml|map] [zero|learned]
//! [test.csv]`: a file has one header line, and the last column is the target. With test rows
//! it prints their root mean squared error and mean negative log predictive density too.

use std::error::Error;
use std::time::Instant;

use gpfuse::gp::{Gp, Mean, Objective, Settings, fit};

struct Table {
    x: Vec<f64>,
    inputs: usize,
    y: Vec<f64>,
}

fn read(path: &str) -> Result<Table, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let mut table = Table { x: Vec::new(), inputs: 0, y: Vec::new() };
    for line in text.lines().skip(1) {
        let mut row = line.split(',').map(str::parse::<f64>).collect::<Result<Vec<_>, _>>()?;
        table.y.push(row.pop().ok_or("an empty line")?);
        table.inputs = row.len();
        table.x.extend(row);
    }
    Ok(table)
}

/// Root mean squared error and mean negative log predictive density.
fn scores(gp: &Gp, test: &Table) -> Result<(f64, f64), Box<dyn Error>> {
    let predicted = gp.predict(&test.x, true)?;
    let (mut square, mut loss) = (0.0, 0.0);
    for ((y, mean), sd) in test.y.iter().zip(&predicted.mean).zip(&predicted.sd) {
        square += (y - mean).powi(2);
        loss += 0.5 * ((y - mean) / sd).powi(2) + (sd * std::f64::consts::TAU.sqrt()).ln();
    }
    let n = test.y.len() as f64;
    Ok(((square / n).sqrt(), loss / n))
}

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
    let (table, settings) = (read(path)?, settings.check()?);
    let begin = Instant::now();
    let gp = fit(&table.x, table.inputs, &table.y, &settings)?;
    let seconds = begin.elapsed().as_secs_f64();
    let mut result = serde_json::json!({
        "rows": gp.rows(),
        "inputs": gp.inputs(),
        "seconds": seconds,
        "log_marginal": gp.log_marginal(),
        "hyper": gp.hyper(),
    });
    if let Some(path) = arguments.get(4) {
        let (rmse, nlpd) = scores(&gp, &read(path)?)?;
        result["rmse"] = rmse.into();
        result["nlpd"] = nlpd.into();
    }
    println!("{result}");
    Ok(())
}
