//! Compare log densities and gradients with golden files: `golden DIR` reads every JSON file
//! in DIR and prints the worst relative error (absolute below 1) of the log density, every
//! gradient entry and the pointwise log likelihood. Exit code 1 above 1e-10.
//!
//! Where a file holds NaN (automatic differentiation of `sqrt(S)` gives it where a spectral
//! density underflows to zero) there is nothing to compare with: our value must be finite,
//! and the number of such entries is printed.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use gpfuse::basis::eigen::{Parts, Pilot};
use gpfuse::basis::{Basis, Eigen, Hilbert, Rff};
use gpfuse::infer::Density;
use gpfuse::kernel::Kernel;
use gpfuse::math::simd::Level;
use gpfuse::model::{Bases, Method, Model, Observed, Posterior, Priors};
use serde_json::Value;

/// What a right implementation reaches.
pub(crate) const TOLERANCE: f64 = 1e-10;

fn main() -> ExitCode {
    let Some(dir) = std::env::args().nth(1) else {
        eprintln!("usage: golden DIR");
        return ExitCode::from(2);
    };
    match check_all(Path::new(&dir)) {
        Ok(worst) if worst <= TOLERANCE => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("golden: {e}");
            ExitCode::FAILURE
        }
    }
}

/// The worst error over all JSON files of `dir`.
pub(crate) fn check_all(dir: &Path) -> Result<f64, Box<dyn Error>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .map_err(|e| format!("{}: {e}", dir.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("{}: no JSON files", dir.display()).into());
    }
    let mut worst = 0.0_f64;
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (error, skipped) = check(path).map_err(|e| format!("{}: {e}", path.display()))?;
        match skipped {
            0 => println!("{name}: {error:.2e}"),
            _ => println!("{name}: {error:.2e} ({skipped} entries are NaN in the file)"),
        }
        worst = worse(worst, error);
    }
    println!("worst of {} files: {worst:.2e}", files.len());
    Ok(worst)
}

/// The worst error of one file over every instruction set of this machine, and how many of
/// its entries are NaN.
fn check(path: &Path) -> Result<(f64, usize), Box<dyn Error>> {
    // NaN is not JSON, though Python writes it.
    let json = std::fs::read_to_string(path)?.replace("NaN", "null");
    let case: Value = serde_json::from_str(&json)?;
    let method: Method = text(&case, "method")?.parse()?;
    let inputs = count(&case, "d")?;
    let bases: Bases = match case.get("basis").and_then(Value::as_str) {
        Some("hilbert") => {
            let sizes = numbers(field(&case, "sizes")?).iter().map(|s| *s as usize).collect();
            let centre = numbers(field(&case, "centre")?);
            let half_width = numbers(field(&case, "half_width")?);
            Basis::Hilbert(Hilbert::new(Kernel::Rbf, centre, half_width, sizes)?).into()
        }
        Some("eigen") => {
            let common = case.get("common").map(eigenfunctions).transpose()?;
            Bases { common, others: eigenfunctions(field(&case, "others")?)? }
        }
        _ => Basis::Rff(Rff::new(Kernel::Rbf, numbers(field(&case, "omega")?), inputs)?).into(),
    };
    let model = Arc::new(Model::new(method, count(&case, "K")?, bases, Priors::default())?);
    let y = numbers(field(&case, "y")?);
    let mut data = Observed::new(&numbers(field(&case, "X")?), inputs, &y)?;
    if !model.learned() {
        let rows = |key| -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
            let list = field(&case, key)?.as_array().ok_or("not a list")?;
            Ok(list.iter().map(numbers).collect())
        };
        data = data.with_given(&rows("expert_mean")?, &rows("expert_sd")?)?;
    }
    let q = flat(&case, "params", &model)?;
    let expected = flat(&case, "grad", &model)?;
    let lpd = numbers(field(&case, "lpd")?);
    let logp = field(&case, "logp")?.as_f64().ok_or("`logp` is not a number")?;
    let posterior = Posterior::new(model, Arc::new(data))?;
    let mut worst = 0.0_f64;
    for level in Level::available() {
        let mut posterior = posterior.clone().at_level(level);
        let (mut grad, mut pointwise) = (vec![0.0; q.len()], vec![0.0; y.len()]);
        let found = posterior.logp(&q, &mut grad)?;
        posterior.pointwise(&q, &mut pointwise);
        let pairs = grad.iter().zip(&expected).chain(pointwise.iter().zip(&lpd));
        for (a, b) in pairs.chain([(&found, &logp)]) {
            let error = match b.is_nan() {
                true if a.is_finite() => 0.0,
                _ => (a - b).abs() / b.abs().max(1.0),
            };
            worst = worse(worst, error);
        }
    }
    Ok((worst, expected.iter().chain(&lpd).filter(|v| v.is_nan()).count()))
}

/// A basis of eigenfunctions from its numbers.
fn eigenfunctions(value: &Value) -> Result<Basis, Box<dyn Error>> {
    let number = |key| -> Result<f64, String> {
        field(value, key)?.as_f64().ok_or_else(|| format!("`{key}` is not a number"))
    };
    let kernel: Kernel = text(value, "kernel")?.parse()?;
    let pilot = Pilot { kernel, var: number("var")?, ell: numbers(field(value, "ell")?) };
    let basis = Eigen::from_parts(Parts {
        pilot,
        level: number("level")?,
        landmarks: numbers(field(value, "landmarks")?),
        projection: numbers(field(value, "projection")?),
        centre: numbers(field(value, "centre")?),
    })?;
    Ok(Basis::Eigen(basis))
}

/// The larger of two errors. One that is NaN counts as wrong, whatever comes after it.
pub(crate) fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The flat vector from the named arrays of a golden file, which calls our `log_sd` bank
/// `logsd` and our `gate` bank `w`.
fn flat(case: &Value, key: &str, model: &Model) -> Result<Vec<f64>, Box<dyn Error>> {
    let named = field(case, key)?;
    let mut out = Vec::with_capacity(model.dim());
    for part in &model.layout().parts {
        let name = part.name.replace("log_sd_", "logsd_").replace("gate_", "w_");
        out.extend(numbers(field(named, &name)?));
    }
    if out.len() != model.dim() {
        return Err(format!("`{key}` has {} numbers, not {}", out.len(), model.dim()).into());
    }
    Ok(out)
}

fn field<'a>(value: &'a Value, key: &str) -> Result<&'a Value, String> {
    value.get(key).ok_or_else(|| format!("`{key}` is missing"))
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    field(value, key)?.as_str().ok_or_else(|| format!("`{key}` is not a text"))
}

fn count(value: &Value, key: &str) -> Result<usize, String> {
    let number = field(value, key)?.as_u64().ok_or_else(|| format!("`{key}` is not a count"))?;
    Ok(number as usize)
}

/// All numbers of nested arrays, in order; null is NaN.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        Value::Null => vec![f64::NAN],
        other => other.as_f64().into_iter().collect(),
    }
}
