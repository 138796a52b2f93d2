//! The rows that a model was fitted to, as far as they are with it, and looks at rows.

use std::collections::HashSet;

use gpfuse::experts::Expert;
use gpfuse::fit::Experts;
use gpfuse::gp::Gp;
use gpfuse::{Data, Fitted, Result};

/// The rows of the fit that are with the model: all of them where the experts are learned, and
/// those of the experts where they were trained here.
pub(super) fn training(fitted: &Fitted) -> Result<Option<Data>> {
    let experts = match &fitted.experts {
        Experts::Learned => return Ok(Some((*fitted.data).clone())),
        Experts::Named(_) => return Ok(None),
        Experts::Trained(experts) => experts,
    };
    let inputs = fitted.inputs().len();
    let whole = |(_, columns): &(&Gp, &[usize])| columns.iter().copied().eq(0..inputs);
    // Experts may share their rows.
    let (mut seen, mut x, mut y) = (HashSet::new(), Vec::new(), Vec::new());
    for (gp, _) in experts.iter().filter_map(Expert::gp).filter(whole) {
        for (row, target) in gp.x().chunks(inputs).zip(gp.y()) {
            let bits: Vec<u64> = row.iter().chain([target]).map(|v| v.to_bits()).collect();
            if seen.insert(bits) {
                x.extend(row.iter().zip(&fitted.scaler.inputs).map(|(v, scale)| scale.restore(*v)));
                y.push(fitted.scaler.target.restore(*target));
            }
        }
    }
    if y.is_empty() {
        return Ok(None);
    }
    Data::new(x, inputs)?.with_target(y).map(Some)
}

/// Input `i` of all rows, in order of size.
pub(super) fn sorted(data: &Data, i: usize) -> Vec<f64> {
    let mut values: Vec<f64> = (0..data.len()).map(|r| data.row(r)[i]).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The numbers of the rows in the order of input 0.
pub(super) fn order(data: &Data) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..data.len()).collect();
    rows.sort_by(|a, b| data.row(*a)[0].total_cmp(&data.row(*b)[0]));
    rows
}
