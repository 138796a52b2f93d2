//! The netCDF model file: its bytes, and what lies behind its checksums.

use gpfuse::fit::Experts;
use gpfuse::{Data as Rows, Fitted, Predictions};
use gpfuse_io::model_file::read;
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
    let fitted = match read(tree) {
        Ok(fitted) => fitted,
        Err(error) => return one_line(&error),
    };
    // Large models are only slow.
    if fitted.model.dim() < 3000 && fitted.draws.len() < 200 {
        predicts(&fitted);
    }
}

fn predicts(fitted: &Fitted) {
    let x = fitted.scaler.inputs.iter().map(|a| a.shift + 0.3 * a.scale).collect();
    let rows = Rows::new(x, fitted.inputs().len()).and_then(|rows| match &fitted.experts {
        Experts::Named(names) => {
            let all = |value: f64| vec![vec![value]; names.len()];
            let target = fitted.scaler.target;
            rows.with_experts(
                names.clone(),
                Predictions::new(all(target.shift), all(target.scale))?,
            )
        }
        _ => Ok(rows),
    });
    let outcome = rows.and_then(|rows| {
        fitted.predict(&rows)?.on_threads(1).each(|_, row| {
            let found = [row.mean(), row.variance(), row.cdf(row.mean())];
            assert!(found.iter().all(|v| v.is_finite()), "{found:?}");
            assert!(!row.log_density(row.mean()).is_nan());
        })
    });
    if let Err(error) = outcome {
        one_line(&error);
    }
}
