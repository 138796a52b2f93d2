//! Whether a basis reaches far enough and is fine enough.

use super::Fitted;
use crate::basis::Basis;
use crate::data::Data;
use crate::infer::Draws;
use crate::model::{Kind, Model, Posterior};
use crate::settings::Message;

/// Above this share of the noise that stands for what eigenfunctions leave out, they are too few.
const LEFT_OUT_BAR: f64 = 0.2;

/// Draws that are looked at.
const DRAWS_SEEN: usize = 20;

/// Whether the eigenfunctions of a shared mean leave out so much that it makes up much of the noise.
pub(super) fn leaves_out(posterior: &Posterior, draws: &Draws) -> Option<Message> {
    let functions = posterior.model().common()?.features() - 1;
    let mut posterior = posterior.clone();
    let seen = draws.iter().step_by(draws.len().div_ceil(DRAWS_SEEN));
    let shares: Vec<f64> = seen.filter_map(|q| posterior.left_out_share(q)).collect();
    let share = shares.iter().sum::<f64>() / shares.len() as f64;
    if share.is_nan() || share <= LEFT_OUT_BAR {
        return None;
    }
    let words = format!(
        "the basis may be too coarse: what its {functions} functions leave out is {:.0} % of the noise. ",
        100.0 * share
    );
    // There are as many functions as rows.
    let more = (2 * functions).min(posterior.rows());
    let words = match more > functions {
        true => Message::new(words + "Use more functions").advise("functions", more).say(", or"),
        false => Message::new(words + "Use"),
    };
    Some(words.say(" pbhs, whose experts leave nothing out").advise("method", "pbhs"))
}

/// A lengthscale below this share of the shortest that a Hilbert basis resolves is too short for it. Down to there
/// the basis has less of the kernel's highest frequencies, and twice as many functions changed the NLPD of three
/// fits to the paper's data by less than 0.01.
const TOO_SHORT: f64 = 0.5;

/// Whether a Hilbert basis was fine enough for the lengthscales that the posterior found.
pub(super) fn too_coarse(model: &Model, draws: &Draws) -> Option<Message> {
    let Basis::Hilbert(basis) = model.basis() else { return None };
    let shortest = basis.shortest_lengthscale();
    let inputs = basis.inputs();
    let (mut below, mut all) = (0, 0);
    // How many times the shortest that is resolved each lengthscale is.
    let mut ratios = Vec::new();
    for q in draws.iter() {
        for part in model.layout().parts.iter().filter(|p| p.kind == Kind::Ell) {
            for (at, log_ell) in q[part.offset..][..part.count * inputs].iter().enumerate() {
                let ratio = log_ell.exp() / shortest[at % inputs];
                below += usize::from(ratio < TOO_SHORT);
                all += 1;
                ratios.push(ratio);
            }
        }
    }
    if below * 10 <= all {
        return None;
    }
    // Enough functions for all but a twentieth of the draws, from a quarter more to four times as many.
    ratios.sort_by(f64::total_cmp);
    let factor = (1.0 / ratios[ratios.len() / 20]).clamp(1.25, 4.0);
    let size = (basis.sizes()[0] as f64 * factor).ceil() as usize;
    let words = format!(
        "{:.0} % of the lengthscales drawn are much shorter than the basis resolves: use more functions",
        100.0 * below as f64 / all as f64
    );
    Some(Message::new(words).advise("size", size))
}

impl Fitted {
    /// Which rows lie more than half way from the data's edge to the wall of a Hilbert
    /// basis' box, or beyond it: towards the wall predictions fall to the prior mean, and
    /// behind it they mean nothing.
    pub fn outside(&self, data: &Data) -> Vec<usize> {
        let Basis::Hilbert(basis) = self.model.basis() else { return Vec::new() };
        let (centre, half_width) = basis.domain();
        let scaled = self.scaler.scale_inputs(data.x());
        let reach = 0.5 * (1.0 + 1.0 / self.settings.box_factor);
        let beyond = |row: &[f64]| {
            (0..row.len()).any(|i| (row[i] - centre[i]).abs() > reach * half_width[i])
        };
        let rows = scaled.chunks(centre.len()).enumerate();
        rows.filter(|(_, row)| beyond(row)).map(|(i, _)| i).collect()
    }

    /// What to tell whoever wants predictions at rows of which some are [`Fitted::outside`].
    pub fn warn_outside(&self, data: &Data) -> Option<Message> {
        let outside = self.outside(data);
        let first = outside.first()? + 1;
        let words = format!(
            "{} of {} rows (first: row {first}) lie near the wall of the Hilbert basis' box, more than \
             half the way from the data to it, or beyond it, where predictions fall to the prior or \
             mean nothing: fit on a wider range",
            outside.len(),
            data.len()
        );
        let larger = (2.0 * self.settings.box_factor).min(100.0);
        let words = match larger > self.settings.box_factor {
            true => Message::new(words + ", with a larger box").advise("box", larger),
            false => Message::new(words),
        };
        Some(words.say(" or on another basis").advise("basis", "rff"))
    }
}
