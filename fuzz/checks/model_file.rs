//! The netCDF model file: its bytes, and what lies behind its checksums.

use gpfuse::baseline::Predictions;
use gpfuse::fit::Experts;
use gpfuse::predict::Predictive;
use gpfuse_io::model_file::{Saved, read};
use gpfuse_io::nc::Tree;

use super::{edits, one_line};

/// A file that is accepted is what was written, and its model predicts or is refused.
///
/// No change of bytes gets past a checksum, so an input that begins with `e` is not a file, but a
/// list of edits to the contents of one (see [`edits`]).
pub fn model_file(bytes: &[u8]) {
    if let Some((b'e', list)) = bytes.split_first() {
        let tree = edits::edited(list);
        return model(&tree);
    }
    let copy = bytes.to_vec();
    match Tree::from_bytes(copy, "m.nc") {
        Ok(tree) => {
            let written = tree.to_bytes("m.nc").expect("a tree that was read can be written");
            let back = Tree::from_bytes(written, "m.nc").expect("and read");
            assert_eq!(format!("{back:?}"), format!("{tree:?}"));
            model(&tree);
        }
        Err(error) => one_line(&error),
    }
    let copy = bytes.to_vec();
    if let Ok(tree) = Tree::unsigned(copy, "m.nc") {
        model(&tree);
    }
}

/// The model of a tree predicts finite numbers, or the error is one line.
fn model(tree: &Tree) {
    let saved = match read(tree) {
        Ok(saved) => saved,
        Err(error) => return one_line(&error),
    };
    // Large models are only slow.
    if saved.fitted.model.dim() < 3000 && saved.fitted.draws.len() < 200 {
        predicts(&saved);
    }
}

fn predicts(saved: &Saved) {
    let fitted = &saved.fitted;
    let x: Vec<f64> = fitted.scaler.inputs.iter().map(|a| a.shift + 0.3 * a.scale).collect();
    let rows = match fitted.rows(&x) {
        Ok(rows) => rows,
        Err(error) => return one_line(&error),
    };
    let told = match &fitted.experts {
        Experts::Named(names) => {
            let all = |value: f64| vec![vec![value]; names.len()];
            Predictions::new(all(fitted.scaler.target.shift), all(fitted.scaler.target.scale)).ok()
        }
        _ => None,
    };
    let given = match fitted.given(&x, told.as_ref()) {
        Ok(given) => given,
        Err(error) => return one_line(&error),
    };
    let outcome = fitted.predictor().at(&rows, given.as_ref()).blocks(1, |block| {
        for r in 0..block.len() {
            match block.row(r) {
                Ok(row) => {
                    let said = [row.mean(), row.variance(), row.cdf(row.mean())];
                    assert!(said.iter().all(|v| v.is_finite()), "{said:?}");
                    assert!(!row.log_density(row.mean()).is_nan());
                }
                Err(error) => one_line(&error),
            }
        }
    });
    if let Err(error) = outcome {
        one_line(&error);
    }
}
