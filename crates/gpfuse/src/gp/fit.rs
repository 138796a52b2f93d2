//! The fit: hyperparameters that make the objective large, and the GP conditioned with them.
//!
//! All is done in units of the data (see [`prior`](super::prior)), so the result follows any
//! change of units. With many rows the starts are climbed on a part of them, and the best of
//! those ends is where the climb with all rows begins: a factor of a quarter of the rows costs a
//! sixty-fourth.

use rand::RngExt;

use super::climb::{Peak, climb, objective};
use super::evidence::{Centre, Evidence};
use super::hyper::Hyper;
use super::inputs::Inputs;
use super::posterior::{Gp, check_rows};
use super::prior::Prior;
use super::settings::{Checked, Mean};
use super::starts::start;
use crate::random::{Purpose, stream};
use crate::scale::{Scaler, Scaling};
use crate::{Error, Result};

/// Up to this many rows, the starts are climbed with all of them.
const FEW: usize = 128;
/// A step of the last climb that gains less than this share of the objective ends it.
const FINE: f64 = 1e-9;
/// The same for the climbs that choose where it begins.
const COARSE: f64 = 1e-6;
/// Ends whose objectives differ by less than this are the same mode.
const SAME: f64 = 0.02;
/// This many climbs to the best mode are agreement: no more starts are tried.
const AGREE: usize = 2;

/// Fit the hyperparameters to the rows `x` (row-major, n x inputs) and `y`, and condition on them.
///
/// The same rows, settings and seed give the same result. An input that never varies gets a
/// lengthscale without meaning; targets that never vary, or a single row, have no scale of their
/// own and are fitted as if it were 1.
pub fn fit(x: &[f64], inputs: usize, y: &[f64], settings: &Checked) -> Result<Gp> {
    let n = check_rows(x, inputs, y)?;
    let scaler = Scaler::fit(Scaling::Standard, x, inputs, y)?;
    let u = scaler.scale_inputs(x);
    let v: Vec<f64> = y.iter().map(|y| scaler.target.apply(*y)).collect();
    let prior = Prior::new(settings.objective, inputs);
    let centre = match settings.mean {
        Mean::Learned => prior.centre(),
        Mean::Fixed(mean) => Centre::Fixed(scaler.target.apply(mean)),
    };
    let evidence = |rows: &[usize]| -> Result<Evidence> {
        let part: Vec<f64> =
            rows.iter().flat_map(|r| &u[r * inputs..(r + 1) * inputs]).copied().collect();
        let target = rows.iter().map(|r| v[*r]).collect();
        Ok(Evidence::new(settings.kernel, Inputs::new(&part, &vec![1.0; inputs])?, target, centre))
    };
    let all: Vec<usize> = (0..n).collect();
    let size = (n / 4).max(FEW);
    let peak = if size >= n {
        let mut evidence = evidence(&all)?;
        let ends = explore(&mut evidence, &prior, settings, FINE);
        ends.into_iter().next()
    } else {
        let ends =
            explore(&mut evidence(&some(&all, size, settings.seed))?, &prior, settings, COARSE);
        let mut evidence = evidence(&all)?;
        let begin = ends.into_iter().filter_map(|end| {
            let value = objective(&mut evidence, &prior, &end.q, None)?;
            Some(Peak { value, ..end })
        });
        let begin = begin.reduce(|a, b| if b.value > a.value { b } else { a });
        begin.and_then(|b| climb(&mut evidence, &prior, b.q, settings.steps, FINE))
    };
    let Some(peak) = peak else {
        let problem = "no start has a likelihood: drop repeated rows, or look for outliers";
        return Err(Error::Data(problem.into()));
    };
    let unit = scaler.target.scale * scaler.target.scale;
    let hyper = Hyper {
        mean: match settings.mean {
            Mean::Fixed(mean) => mean,
            Mean::Learned => scaler.target.restore(peak.mean),
        },
        var: unit * peak.q[0].exp(),
        ell: (0..inputs).map(|i| scaler.inputs[i].scale * peak.q[i + 1].exp()).collect(),
        noise: unit * peak.q[inputs + 1].exp(),
    };
    Gp::condition(settings.kernel, hyper, x, inputs, y)
}

/// The ends of the climbs from all starts, each mode once, best first.
fn explore(
    evidence: &mut Evidence,
    prior: &Prior,
    settings: &Checked,
    tolerance: f64,
) -> Vec<Peak> {
    let mut ends: Vec<(Peak, usize)> = Vec::new();
    for index in 0..settings.starts {
        let begin = start(prior, settings.seed, index);
        let Some(end) = climb(evidence, prior, begin, settings.steps, tolerance) else { continue };
        match ends.iter_mut().find(|(peak, _)| (peak.value - end.value).abs() < SAME) {
            Some((peak, met)) => {
                *met += 1;
                if end.value > peak.value {
                    *peak = end;
                }
            }
            None => ends.push((end, 1)),
        }
        ends.sort_by(|a, b| b.0.value.total_cmp(&a.0.value));
        if ends[0].1 >= AGREE {
            break;
        }
    }
    ends.into_iter().map(|(peak, _)| peak).collect()
}

/// `size` of the rows, without order and without replacement.
fn some(rows: &[usize], size: usize, seed: u64) -> Vec<usize> {
    let mut rng = stream(seed, Purpose::GpStart, 0);
    let mut rows = rows.to_vec();
    for i in 0..size {
        let j = rng.random_range(i..rows.len());
        rows.swap(i, j);
    }
    rows.truncate(size);
    rows
}
