//! The training rows in a model file, in the user's units: the target in `observed_data` and the
//! inputs in `constant_data`, where ArviZ looks for them.

use gpfuse::model::Data as Rows;
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
