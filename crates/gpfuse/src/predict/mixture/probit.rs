//! The probit scale, on which quantiles are searched: `z = Phi^-1(F(y))`, a straight line in y
//! for one component and close to one for the unimodal mixtures that predictions mostly are.

use crate::math::ndtri;
use crate::math::normal;

/// A probability as its smaller tail, which keeps probabilities near 1 exact.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) tail: f64,
    pub(super) upper: bool,
    /// The standard normal quantile.
    pub(super) z: f64,
}

impl Target {
    pub(super) fn new(tail: f64, upper: bool) -> Self {
        let z = ndtri(tail);
        Self { tail, upper, z: if upper { -z } else { z } }
    }

    pub(super) fn of(p: f64) -> Self {
        if p > 0.5 { Self::new(1.0 - p, true) } else { Self::new(p, false) }
    }

    /// Where Cantelli's inequality leaves the quantile of any distribution, in standard
    /// deviations from the mean.
    pub(super) fn cantelli(&self) -> (f64, f64) {
        let wide = ((1.0 - self.tail) / self.tail).sqrt() * (1.0 + 1e-9);
        let (below, above) = if self.upper { (1.0 / wide, wide) } else { (wide, 1.0 / wide) };
        (-below - 1e-9, above + 1e-9)
    }
}

/// A y of the distribution with its z and the slope `dy/dz`.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) y: f64,
    pub(super) z: f64,
    slope: f64,
}

impl Node {
    pub(super) fn new(y: f64, z: f64, density: f64) -> Self {
        Self { y, z, slope: normal::pdf::<false>(z) / density }
    }
}

/// Where z should be: Newton's step from one side, the cubic through values and slopes from
/// both; None from nothing.
pub(super) fn guess(below: Option<&Node>, above: Option<&Node>, z: f64) -> Option<f64> {
    match (below, above) {
        (Some(a), Some(b)) => {
            let (width, rise) = (b.z - a.z, b.y - a.y);
            let t = (z - a.z) / width;
            let (c, d) = (a.slope * width - rise, b.slope * width - rise);
            Some(a.y + t * (rise + (1.0 - t) * (c * (1.0 - t) - d * t)))
        }
        (Some(a), None) | (None, Some(a)) => Some(a.y + (z - a.z) * a.slope),
        (None, None) => None,
    }
}
