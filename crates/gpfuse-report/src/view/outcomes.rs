//! What was observed and what was predicted: at the rows of a table, or at those of the fit.

use anyhow::Result;
use gpfuse::{Data, Fitted};

use super::View;
use crate::figure::{Calibration, Outcomes};
use crate::page::number::count;

/// The rows of a table.
pub(super) fn of_table(fitted: &Fitted, data: &Data, out: &mut View, threads: usize) -> Result<()> {
    let (prediction, y) = (fitted.predict(data)?.on_threads(threads), data.y()?);
    let said = prediction.each(|row, density| (density.mean(), density.pit(y[row])))?;
    let (mean, pit) = said.into_iter().unzip();
    out.judged = format!("Judged on the {} of the table.", count(data.len(), "row"));
    judge(fitted, y, (mean, pit), out);
    Ok(())
}

/// The rows of the fit, each predicted without itself, where that can be said.
pub(super) fn of_rows_left_out(fitted: &Fitted, out: &mut View, threads: usize) {
    let found = fitted.left_out(threads).and_then(|found| Ok((found, fitted.data.y()?)));
    match found {
        Ok((found, y)) => {
            let unsure = match found.bad() {
                0 => String::new(),
                bad => format!(
                    " Of {} that is an estimate not to be trusted (Pareto k-hat above {:.2}).",
                    count(bad, "row"),
                    found.good_k
                ),
            };
            out.judged = format!(
                "Judged on the {} of the fit, each predicted without itself.{unsure}",
                count(y.len(), "row")
            );
            judge(fitted, y, (found.mean, found.pit), out);
        }
        Err(why) => out.omitted.push(format!(
            "Predictions against what was observed, and calibration: give a table with targets, best of new rows \
             (of the rows of the fit, each left out, they cannot be had: {why})."
        )),
    }
}

fn judge(fitted: &Fitted, y: &[f64], (mean, pit): (Vec<f64>, Vec<f64>), out: &mut View) {
    let target = fitted.target().to_string();
    out.calibration = Some(Calibration { title: String::new(), pit: pit.clone() });
    let found = Outcomes { of: String::new(), target, observed: y.to_vec(), mean, pit };
    if !found.has_levels() {
        out.omitted
            .push("Calibration by level: there are too few rows for two groups of them.".into());
    }
    out.outcomes = Some(found);
}

/// Judge the calibration of a model at the marked rows; none where no row is marked. It has no
/// title yet.
pub fn calibration(
    fitted: &Fitted,
    data: &Data,
    marked: &[bool],
    threads: usize,
) -> Result<Option<Calibration>> {
    let rows: Vec<usize> = (0..data.len()).filter(|r| marked.get(*r) == Some(&true)).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let mut view = View::default();
    of_table(fitted, &data.pick(&rows)?, &mut view, threads)?;
    Ok(view.calibration)
}
