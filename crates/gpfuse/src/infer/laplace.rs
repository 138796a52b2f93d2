//! Coordinates in which a density is nearly standard normal about its mode.
//!
//! With m the mode and H minus the Hessian of the log density there, `H = V diag(h) V'`, the coordinates z are
//! `q = m + A z`, `A = V diag(h)^-1/2`: to second order `log p = -|z|^2 / 2`. This is Laplace's approximation,
//! used for where chains start and for what is a step in each direction, not for the result: the density of
//! z is that of q times the constant `|det A|`, and its gradient is `A'` times that of q.
//!
//! H is made of differences of gradients, two for each parameter. Where the density is not concave at its mode,
//! or nearly flat, an eigenvalue is taken for [`FLATTEST`].

use std::sync::Arc;

use faer::linalg::solvers::SelfAdjointEigen;
use faer::{Mat, Side};

use super::map::{Point, climb};
use super::{Density, DensityError, Monitor};
use crate::Result;
use crate::parallel::parallel;

/// Steps towards the mode, at most.
const STEPS: usize = 300;
/// Searches of the mode, each in the coordinates that the one before gave.
const ROUNDS: usize = 5;
/// A point is a mode where a further search gains no more than this in log density.
const LEVEL: f64 = 0.01;
/// How far from the mode gradients are taken.
const DIFFERENCE: f64 = 1e-4;
/// The least eigenvalue of H: priors have about 1.
const FLATTEST: f64 = 0.25;

/// How often a starting point is moved half of the way to the mode, at most.
const HALVES: usize = 10;

/// A density in such coordinates.
#[derive(Debug, Clone)]
pub(crate) struct Laplace<D> {
    density: D,
    mode: Arc<Vec<f64>>,
    map: Arc<Mat<f64>>,
    q: Vec<f64>,
    slope: Vec<f64>,
}

impl<D: Density + Sync> Laplace<D> {
    /// About the mode that is climbed to from `start`; none where the density has no curvature there that could
    /// be used.
    ///
    /// # Errors
    /// If the density gives up.
    pub(crate) fn new(
        density: D,
        start: Vec<f64>,
        threads: usize,
        monitor: &dyn Monitor,
    ) -> Result<Option<Laplace<D>>> {
        let mut mode = climb(&density, start, STEPS, monitor)?;
        for _ in 0..ROUNDS {
            let Some(found) = Laplace::about(density.clone(), mode.q.clone(), threads)? else {
                return Ok(None);
            };
            // On the scale of each direction the climb sees what it did not see before.
            let higher = climb(&found, vec![0.0; mode.q.len()], STEPS, monitor)?;
            if higher.logp - mode.logp < LEVEL {
                return Ok(Some(found));
            }
            mode = Point { q: found.parameters(&higher.q), logp: higher.logp };
        }
        Laplace::about(density, mode.q, threads)
    }

    /// About a point.
    fn about(density: D, mode: Vec<f64>, threads: usize) -> Result<Option<Laplace<D>>> {
        let dim = density.dim();
        let columns = parallel(dim, threads, |i| {
            let mut density = density.clone();
            let mut at = |by: f64| {
                let (mut q, mut grad) = (mode.clone(), vec![0.0; dim]);
                q[i] += by;
                density.logp(&q, &mut grad).ok().map(|_| grad)
            };
            let (ahead, behind) = (at(DIFFERENCE)?, at(-DIFFERENCE)?);
            let each = ahead.iter().zip(&behind).map(|(a, b)| (b - a) / (2.0 * DIFFERENCE));
            Some(each.collect::<Vec<f64>>())
        })?;
        let Some(columns) = columns.into_iter().collect::<Option<Vec<Vec<f64>>>>() else {
            return Ok(None);
        };
        let hessian = Mat::from_fn(dim, dim, |i, j| 0.5 * (columns[i][j] + columns[j][i]));
        let Ok(found) = SelfAdjointEigen::new(hessian.as_ref(), Side::Lower) else {
            return Ok(None);
        };
        let map =
            Mat::from_fn(dim, dim, |i, j| found.U()[(i, j)] / found.S()[j].max(FLATTEST).sqrt());
        let (q, slope) = (vec![0.0; dim], vec![0.0; dim]);
        Ok(Some(Laplace { density, mode: Arc::new(mode), map: Arc::new(map), q, slope }))
    }

    /// The parameters at coordinates `z`.
    pub(crate) fn parameters(&self, z: &[f64]) -> Vec<f64> {
        let mut q = vec![0.0; z.len()];
        self.place(z, &mut q);
        q
    }
}

impl<D: Density> Laplace<D> {
    /// One standard deviation of the approximation from the mode in every coordinate, to either side, which is as far
    /// as its draws are in many dimensions. The first mass matrix of a chain is made of the gradient at its start: here
    /// it is about one everywhere, and at a draw next to nothing in some coordinates, whose steps are far too long then.
    /// The point is moved towards the mode until the density there is no further below the mode's than twice what the
    /// approximation says: a chain that starts in a corner may never leave it.
    pub(crate) fn draw(&self, normal: &mut dyn FnMut() -> f64) -> Vec<f64> {
        let (mut density, mut grad) = (self.clone(), vec![0.0; self.q.len()]);
        let top = density.logp(&vec![0.0; grad.len()], &mut grad);
        let mut z: Vec<f64> = grad.iter().map(|_| 1.0_f64.copysign(normal())).collect();
        let Ok(top) = top else { return z };
        for _ in 0..HALVES {
            let far = z.iter().map(|z| z * z).sum::<f64>();
            if density.logp(&z, &mut grad).is_ok_and(|at| top - at <= far) {
                break;
            }
            z.iter_mut().for_each(|z| *z *= 0.5);
        }
        z
    }
}

impl<D> Laplace<D> {
    fn place(&self, z: &[f64], q: &mut [f64]) {
        q.copy_from_slice(&self.mode);
        for (j, z) in z.iter().enumerate() {
            let column = self.map.col(j).try_as_col_major().map(|c| c.as_slice());
            for (q, a) in q.iter_mut().zip(column.unwrap_or_default()) {
                *q += a * z;
            }
        }
    }
}

impl<D: Density> Density for Laplace<D> {
    fn dim(&self) -> usize {
        self.q.len()
    }

    fn with_threads(self, threads: usize) -> Laplace<D> {
        Laplace { density: self.density.with_threads(threads), ..self }
    }

    fn is_scaled(&self) -> bool {
        true
    }

    fn logp(&mut self, z: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
        let (mut q, mut slope) = (std::mem::take(&mut self.q), std::mem::take(&mut self.slope));
        self.place(z, &mut q);
        let found = self.density.logp(&q, &mut slope);
        for (j, g) in grad.iter_mut().enumerate() {
            let column = self.map.col(j).try_as_col_major().map(|c| c.as_slice());
            let terms = column.unwrap_or_default().iter().zip(&slope).map(|(a, s)| a * s);
            *g = terms.sum();
        }
        (self.q, self.slope) = (q, slope);
        found
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::infer::Quiet;

    /// Normal about (1, 2) with a precision matrix that is far from diagonal.
    #[derive(Debug, Clone)]
    struct Slanted;

    const PRECISION: [[f64; 2]; 2] = [[100.0, 90.0], [90.0, 90.0]];

    impl Density for Slanted {
        fn dim(&self) -> usize {
            2
        }

        fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
            let off = [q[0] - 1.0, q[1] - 2.0];
            for i in 0..2 {
                grad[i] = -(PRECISION[i][0] * off[0] + PRECISION[i][1] * off[1]);
            }
            Ok(0.5 * (off[0] * grad[0] + off[1] * grad[1]))
        }
    }

    #[test]
    fn a_normal_density_is_standard_in_its_coordinates() {
        let mut found = Laplace::new(Slanted, vec![0.0; 2], 1, &Quiet).unwrap().unwrap();
        let at_mode = found.parameters(&[0.0, 0.0]);
        assert!((at_mode[0] - 1.0).abs() < 1e-6 && (at_mode[1] - 2.0).abs() < 1e-6);
        for z in [[1.0, 0.0], [0.0, 1.0], [-0.7, 2.0]] {
            let mut grad = [0.0; 2];
            let logp = found.logp(&z, &mut grad).unwrap();
            assert!((logp + 0.5 * (z[0] * z[0] + z[1] * z[1])).abs() < 1e-5, "{logp}");
            assert!((grad[0] + z[0]).abs() < 1e-5 && (grad[1] + z[1]).abs() < 1e-5, "{grad:?}");
        }
    }

    /// A long bent valley: `-sum_i 100 (q_(i+1) - q_i^2)^2 + (1 - q_i)^2`, whose mode is at 1 everywhere.
    #[derive(Debug, Clone)]
    struct Valley(usize);

    impl Density for Valley {
        fn dim(&self) -> usize {
            self.0
        }

        fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
            grad.fill(0.0);
            let mut logp = 0.0;
            for i in 0..self.0 - 1 {
                let (off, short) = (q[i + 1] - q[i] * q[i], 1.0 - q[i]);
                logp -= 100.0 * off * off + short * short;
                grad[i] += 400.0 * off * q[i] + 2.0 * short;
                grad[i + 1] -= 200.0 * off;
            }
            Ok(logp)
        }
    }

    #[test]
    fn the_mode_is_searched_until_there_is_none_higher() {
        let start: Vec<f64> = (0..VALLEY).map(|i| if i % 2 == 0 { -1.2 } else { 1.0 }).collect();
        let once = climb(&Valley(VALLEY), start.clone(), STEPS, &Quiet).unwrap();
        assert!(once.logp < -1.0, "one search was enough: {}", once.logp);
        let found = Laplace::new(Valley(VALLEY), start, 1, &Quiet).unwrap().unwrap();
        let mode = found.parameters(&vec![0.0; VALLEY]);
        assert!(mode.iter().all(|q| (q - 1.0).abs() < 1e-3), "{mode:?}");
    }

    const VALLEY: usize = 200;

    /// A standard normal, but for a cliff at 0.7: beyond it, the density is far lower than the approximation says.
    #[derive(Debug, Clone)]
    struct Cliff;

    impl Density for Cliff {
        fn dim(&self) -> usize {
            1
        }

        fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> std::result::Result<f64, DensityError> {
            grad[0] = -q[0];
            Ok(-0.5 * q[0] * q[0] - if q[0].abs() > 0.7 { 1000.0 } else { 0.0 })
        }
    }

    #[test]
    fn starting_points_are_moved_out_of_corners() {
        let found = Laplace::new(Cliff, vec![0.3], 1, &Quiet).unwrap().unwrap();
        for (normal, start) in [(0.9, 0.5), (-1.6, -0.5)] {
            let z = found.draw(&mut || normal);
            assert!((found.parameters(&z)[0] - start).abs() < 1e-6, "{z:?}");
        }
    }
}
