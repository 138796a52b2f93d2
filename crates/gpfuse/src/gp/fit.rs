//! The fit: hyperparameters that make the objective large, and the GP conditioned with them.
//!
//! All is done in units of the data (see [`prior`](super::prior)), so the result follows any
//! change of units.

use std::sync::Mutex;

use super::evidence::Centre;
use super::explore;
use super::hyper::Hyper;
use super::inputs::Inputs;
use super::posterior::{Gp, check_exact, check_rows};
use super::prior::Prior;
use super::settings::{Checked, Mean};
use super::starts::some_rows;
use super::team::Team;
use crate::halt::go_on;
use crate::infer::{Monitor, Quiet};
use crate::scale::{Scaler, Scaling};
use crate::{Error, Result};

/// Fit the hyperparameters to the rows `x` (row-major, n x inputs) and `y`, and condition on them.
///
/// The same rows, settings and seed give the same result, on any number of threads. An input that
/// never varies gets a lengthscale without meaning; targets that never vary, or a single row, have
/// no scale of their own and are fitted as if it were 1.
pub fn fit(x: &[f64], inputs: usize, y: &[f64], settings: &Checked) -> Result<Gp> {
    fit_with(x, inputs, y, settings, &Quiet)
}

/// The same, which a monitor can stop.
///
/// # Errors
/// As [`fit()`], and if it was stopped.
pub fn fit_with(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    settings: &Checked,
    monitor: &dyn Monitor,
) -> Result<Gp> {
    search(x, inputs, y, &[], None, settings, monitor)
}

/// The same by a single climb from hyperparameters that are known to be near, such as those of some
/// of the rows. Rows may have noise of their own, `relative` in units of the noise; none where all
/// have the same.
pub(crate) fn refine(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    relative: &[f64],
    near: &Hyper,
    settings: &Checked,
    monitor: &dyn Monitor,
) -> Result<Gp> {
    search(x, inputs, y, relative, Some(near), settings, monitor)
}

fn search(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    relative: &[f64],
    near: Option<&Hyper>,
    settings: &Checked,
    monitor: &dyn Monitor,
) -> Result<Gp> {
    let n = check_rows(x, inputs, y)?;
    check_exact(n)?;
    let scaler = Scaler::fit(Scaling::Standard, x, inputs, y)?;
    let u = scaler.scale_inputs(x);
    let v: Vec<f64> = y.iter().map(|y| scaler.target.apply(*y)).collect();
    let prior = Prior::new(settings.objective, inputs);
    let centre = match settings.mean {
        Mean::Learned => prior.centre(),
        Mean::Fixed(mean) => Centre::Fixed(scaler.target.apply(mean)),
    };
    let team = |rows: &[usize]| -> Result<Team<'_>> {
        let part: Vec<f64> =
            rows.iter().flat_map(|r| &u[r * inputs..(r + 1) * inputs]).copied().collect();
        Ok(Team {
            kernel: settings.kernel,
            raw: Inputs::new(&part, &vec![1.0; inputs])?,
            y: rows.iter().map(|r| v[*r]).collect(),
            relative: rows.iter().filter_map(|r| relative.get(*r).copied()).collect(),
            centre,
            prior: &prior,
            monitor,
            threads: settings.threads,
            spare: Mutex::default(),
        })
    };
    let all: Vec<usize> = (0..n).collect();
    let unit = scaler.target.scale * scaler.target.scale;
    let peak = match near {
        Some(hyper) => {
            let ell =
                hyper.ell.iter().zip(&scaler.inputs).map(|(ell, input)| (ell / input.scale).ln());
            let ends = [(hyper.var / unit).ln(), (hyper.noise / unit).ln()];
            let mut start: Vec<f64> = [ends[0]].into_iter().chain(ell).chain([ends[1]]).collect();
            for (q, bounds) in start.iter_mut().zip(prior.lower.iter().zip(&prior.upper)) {
                *q = q.clamp(*bounds.0, *bounds.1);
            }
            explore::refine(&team(&all)?, &start, settings)
        }
        None => {
            let size = explore::part(n, inputs);
            let part =
                if size < n { Some(team(&some_rows(n, size, settings.seed))?) } else { None };
            explore::explore(&team(&all)?, part.as_ref(), settings)?
        }
    };
    // A climb that was stopped ends where it is.
    go_on(monitor)?;
    let Some(peak) = peak else {
        let problem =
            "no start has a likelihood: look for outliers, or a mean far from all targets";
        return Err(Error::Data(problem.into()));
    };
    let hyper = Hyper {
        mean: match settings.mean {
            Mean::Fixed(mean) => mean,
            Mean::Learned => scaler.target.restore(peak.mean),
        },
        var: unit * peak.q[0].exp(),
        ell: (0..inputs).map(|i| scaler.inputs[i].scale * peak.q[i + 1].exp()).collect(),
        noise: unit * peak.q[inputs + 1].exp(),
    };
    Gp::noisy(settings.kernel, hyper, x, inputs, y, relative.to_vec())
}
