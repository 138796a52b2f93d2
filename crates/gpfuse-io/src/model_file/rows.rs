//! The training rows in a model file, in the user's units: the target in `observed_data` and the
//! inputs in `constant_data`, where ArviZ looks for them.

use gpfuse::model::Observed as Rows;
use gpfuse::scale::Scaler;

use super::{Reader, Saved, group, index, var, variable};
use crate::nc::{Data, Group, Tree};

/// Both groups.
pub(super) fn write(saved: &Saved, x: &[f64], y: &[f64]) -> [Group; 2] {
    let n = y.len();
    let observed =
        vec![index("row", n), var(&variable(&saved.target), &["row"], Data::F64(y.to_vec()))];
    let constant = vec![
        index("row", n),
        var("input", &["input"], Data::Str(saved.inputs.clone())),
        var("x", &["row", "input"], Data::F64(x.to_vec())),
    ];
    [
        group("observed_data", &[("row", n)], observed),
        group("constant_data", &[("row", n), ("input", saved.inputs.len())], constant),
    ]
}

/// The rows on the model's scale, to the bit as the fit had them.
pub(super) fn read(tree: &Tree, target: &str, scaler: &Scaler) -> Result<Rows, String> {
    let y = Reader::of(tree, "observed_data")?.numbers(&variable(target))?;
    let x = Reader::of(tree, "constant_data")?.numbers("x")?;
    let inputs = scaler.inputs.len();
    if x.len() != y.len() * inputs {
        return Err("its training rows do not fit its inputs".into());
    }
    let y: Vec<f64> = y.iter().map(|v| scaler.target.apply(*v)).collect();
    Rows::new(&scaler.scale_inputs(x), inputs, &y).map_err(|e| format!("its training rows: {e}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use gpfuse::fit::{FitSettings, fit};
    use gpfuse::infer::{Quiet, Settings};
    use gpfuse::metrics::evaluate;
    use gpfuse::model::Method;

    use super::*;
    use crate::model_file::{Training, load, save};

    /// A model predicts from its rows as it did before it was saved, also where their target has
    /// the name of a coordinate.
    #[test]
    fn a_saved_model_keeps_its_rows() {
        let x: Vec<f64> = (0..20).map(|i| 7.0 + 3.0 * (1.3 * f64::from(i)).sin()).collect();
        let y: Vec<f64> = x.iter().map(|x| 100.0 + x * x.cos()).collect();
        let sampler = Settings { chains: 2, warmup: 20, draws: 5, ..Settings::default() };
        let settings =
            FitSettings { method: Method::Het, size: Some(6), sampler, ..FitSettings::default() };
        let fitted = fit(&x, 1, &y, &settings.check().unwrap(), &Quiet).unwrap();
        let saved = Saved { fitted, inputs: vec!["x".into()], target: "row".into() };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.nc");
        save(&path, &saved, Training { x: &x, y: &y, predictions: None }).unwrap();
        let again = load(&path).unwrap();
        let bits = |saved: &Saved| {
            let rows = &saved.fitted.data.as_ref().unwrap().rows;
            (0..rows.len()).flat_map(|r| rows.row(r).map(f64::to_bits)).collect::<Vec<u64>>()
        };
        assert_eq!(bits(&again), bits(&saved));
        let nlpd = |saved: &Saved| {
            let (fitted, at) = (&saved.fitted, saved.fitted.rows(&x).unwrap());
            evaluate(&fitted.conditional().unwrap().at(&at), &y, 1).unwrap().nlpd.value
        };
        assert!((nlpd(&again) - nlpd(&saved)).abs() < 1e-9);
    }
}
