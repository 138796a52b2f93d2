//! A GP with fixed hyperparameters as a ridge regression on its features.

use crate::basis::GpParams;
use crate::math::{Lanes, ROWS};
use crate::model::Posterior;
use crate::model::collapsed::regression::Regression;

/// The GP's scaled features at all rows, and room to regress on them.
#[derive(Debug, Clone)]
pub(super) struct Smoother {
    rows: usize,
    /// By column, in whole blocks.
    columns: Vec<f64>,
    regression: Regression,
}

impl Smoother {
    /// For the rows of `posterior`, at the variance and lengthscales of `gp`.
    pub(super) fn new(posterior: &Posterior, gp: GpParams<'_>) -> Smoother {
        let (basis, rows) = (posterior.model().basis(), &posterior.data().rows);
        let (level, cache) = (posterior.level(), &posterior.cache().0[0]);
        let mut theta = gp.theta.to_vec();
        basis.bare(&mut theta);
        let (mut coefs, mut work) = (basis.coefs(1, true), basis.work(1, true));
        basis.prepare(level, 0, GpParams { theta: &theta, ..gp }, &mut coefs);
        let mut columns = vec![0.0; basis.features() * rows.blocks() * ROWS];
        let blocks = columns.as_chunks_mut::<ROWS>().0;
        let mut f = [Lanes::splat(0.0)];
        for b in 0..rows.blocks() {
            basis.forward(level, rows, b, cache, &coefs, &mut work, &mut f);
            let mut weight = Lanes::splat(1.0);
            weight[rows.filled(b)..].fill(0.0);
            basis.weighted(level, 0, rows, b, cache, &coefs, &work, &weight, blocks);
        }
        let regression = Regression::new(rows.len(), basis.features());
        Smoother { rows: rows.len(), columns, regression }
    }

    /// Fit `target`, whose noise in row n has the standard deviation `1 / weight(n)`; nothing
    /// where the numbers are too large.
    pub(super) fn fit(&mut self, target: &[f64], weight: impl Fn(usize) -> f64) -> Option<()> {
        let Smoother { rows, columns, regression } = self;
        let stride = regression.target.len();
        let weights: Vec<f64> = (0..*rows).map(weight).collect();
        for (z, (y, w)) in regression.target.iter_mut().zip(target.iter().zip(&weights)) {
            *z = y * w;
        }
        let all = regression.columns.chunks_mut(stride).zip(columns.chunks(stride));
        for (out, column) in all {
            for (out, (f, w)) in out.iter_mut().zip(column.iter().zip(&weights)) {
                *out = f * w;
            }
        }
        regression.solve().map(|_| ())
    }

    /// The coefficients of the last fit.
    pub(super) fn theta(&self) -> &[f64] {
        &self.regression.theta
    }

    /// Coefficients drawn from their law given the target, instead of its mean.
    pub(super) fn draw(&mut self, normal: &mut dyn FnMut() -> f64) -> Option<()> {
        self.regression.draw(normal)
    }

    /// The fitted function at the rows.
    pub(super) fn values(&self) -> Vec<f64> {
        let stride = self.regression.target.len();
        let mut out = vec![0.0; self.rows];
        for (column, theta) in self.columns.chunks(stride).zip(self.theta()) {
            out.iter_mut().zip(column).for_each(|(out, f)| *out += theta * f);
        }
        out
    }
}
