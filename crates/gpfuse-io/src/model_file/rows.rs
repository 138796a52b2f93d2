//! The training rows in a model file, in the user's units: the target in `observed_data` and the
//! inputs in `constant_data`, where ArviZ looks for them.

use gpfuse::{Columns, Data as Rows};

use super::{Reader, group, index, var, variable};
use crate::nc::{Data, Group, Tree};

/// Both groups.
pub(super) fn write(rows: &Rows) -> [Group; 2] {
    let n = rows.len();
    let y = rows.y().unwrap_or_default().to_vec();
    let observed = vec![index("row", n), var(&variable(rows.target()), &["row"], Data::F64(y))];
    let constant = vec![
        index("row", n),
        var("input", &["input"], Data::Str(rows.inputs().to_vec())),
        var("x", &["row", "input"], Data::F64(rows.x().to_vec())),
    ];
    [
        group("observed_data", &[("row", n)], observed),
        group("constant_data", &[("row", n), ("input", rows.inputs().len())], constant),
    ]
}

/// The rows by the names of their inputs and target, and what the inputs were made of.
pub(super) fn read(
    tree: &Tree,
    inputs: Vec<String>,
    columns: Option<Columns>,
    target: &str,
) -> Result<Rows, String> {
    let y = Reader::of(tree, "observed_data")?.numbers(&variable(target))?.to_vec();
    let x = Reader::of(tree, "constant_data")?.numbers("x")?.to_vec();
    let columns = columns.unwrap_or_else(|| Columns::plain(&inputs));
    if columns.inputs() != inputs {
        return Err("its columns do not fit its inputs".into());
    }
    let rows = Rows::new(x, inputs.len())
        .and_then(|rows| rows.with_target(y)?.named(inputs, target)?.made_of(columns));
    rows.map_err(|e| format!("its training rows: {e}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use gpfuse::infer::Settings;
    use gpfuse::{FitSettings, Fitted, Method, fit};

    use super::*;
    use crate::model_file::{load, save};

    /// A model predicts from its rows as it did before it was saved, also where their target has
    /// the name of a coordinate.
    #[test]
    fn a_saved_model_keeps_its_rows() {
        let x: Vec<f64> = (0..20).map(|i| 7.0 + 3.0 * (1.3 * f64::from(i)).sin()).collect();
        let y: Vec<f64> = x.iter().map(|x| 100.0 + x * x.cos()).collect();
        let sampler =
            Settings { chains: 2, warmup: Some(20), draws: Some(5), ..Settings::default() };
        let settings =
            FitSettings { method: Method::Het, size: Some(6), sampler, ..FitSettings::default() };
        let rows = Rows::new(x, 1).unwrap().with_target(y).unwrap();
        let rows = rows.named(vec!["x".into()], "row").unwrap();
        let fitted = fit(&rows, &settings).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.nc");
        save(&path, &fitted).unwrap();
        let again = load(&path).unwrap();
        let bits = |rows: &Rows| -> Vec<u64> {
            rows.x().iter().chain(rows.y().unwrap()).map(|v| v.to_bits()).collect()
        };
        assert_eq!(bits(&again.data), bits(&rows));
        let nlpd = |fitted: &Fitted| {
            let prediction = fitted.predict(&rows).unwrap().rao_blackwell().unwrap();
            prediction.evaluate().unwrap().nlpd.value
        };
        assert!((nlpd(&again) - nlpd(&fitted)).abs() < 1e-9);
    }
}
