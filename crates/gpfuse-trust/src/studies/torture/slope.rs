//! A gradient against differences of the density, where differences can tell.

use gpfuse::infer::Density;

/// What differences say of a gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Slope {
    /// It is right.
    Agrees,
    /// No step is both short enough for the density's turns and long enough for rounding.
    Unresolved,
    /// It is wrong: the differences, and the gradient.
    Differs(f64, f64),
}

/// Steps that are tried, the longest first.
const STEPS: [f64; 6] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7];

/// A step tells where two differences of it agree to this.
pub(super) const STEP_TOLERANCE: f64 = 1e-6;

/// A gradient that agrees does so to this.
const SLOPE_TOLERANCE: f64 = 1e-4;

/// A way along which a density is looked at.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Way {
    /// The part of the parameters that it changes.
    pub(super) part: String,
    /// Of length one.
    pub(super) along: Vec<f64>,
    /// No shorter step tells, as it is lost in rounding.
    pub(super) shortest: f64,
    /// No longer step tells: over many waves a density can look smooth, and its gradient sees the wave
    /// that it is on.
    pub(super) longest: f64,
}

/// Compare the gradient at `q` with central differences along a way. With
/// `D(h) = (f(q + h way) - f(q - h way)) / 2h`, `(4 D(h/2) - D(h)) / 3` has an error of order h^4;
/// a step tells where the extrapolations from h and h/2 agree and rounding is below that. Of all steps
/// that tell one must agree: a long one may be fooled by what the density does within it.
pub(super) fn compare(density: &mut impl Density, q: &[f64], way: &Way) -> Slope {
    let Way { along, shortest, longest, .. } = way;
    let mut grad = vec![0.0; q.len()];
    let Ok(value) = density.logp(q, &mut grad) else { return Slope::Unresolved };
    let claimed: f64 = grad.iter().zip(along).map(|(g, w)| g * w).sum();
    let mut room = vec![0.0; q.len()];
    let mut at = |step: f64| {
        let moved: Vec<f64> = q.iter().zip(along).map(|(q, w)| q + step * w).collect();
        density.logp(&moved, &mut room).unwrap_or(f64::NAN)
    };
    let mut found = Slope::Unresolved;
    for step in STEPS.into_iter().filter(|h| shortest <= h && h <= longest) {
        let mut slope = |h: f64| (at(h) - at(-h)) / (2.0 * h);
        let (one, half, quarter) = (slope(step), slope(step / 2.0), slope(step / 4.0));
        let (long, short) = ((4.0 * half - one) / 3.0, (4.0 * quarter - half) / 3.0);
        let rounding = 1e-14 * value.abs() / step;
        // Not in units of the gradient, which is what is asked about: where a function turns faster
        // than the steps, differences see only where it happens to be, and do not agree.
        let scale = short.abs();
        if (long - short).abs() <= STEP_TOLERANCE * scale && rounding <= STEP_TOLERANCE * scale {
            if (short - claimed).abs() <= SLOPE_TOLERANCE * scale {
                return Slope::Agrees;
            }
            found = Slope::Differs(short, claimed);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpfuse::infer::DensityError;

    /// `-x^4`, with a gradient that is wrong by a factor.
    #[derive(Clone)]
    struct Quartic(f64);

    impl Density for Quartic {
        fn dim(&self) -> usize {
            1
        }

        fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
            grad[0] = -4.0 * self.0 * q[0].powi(3);
            Ok(-q[0].powi(4))
        }
    }

    /// A line with a wave of a small height and 1e10 turns on it.
    #[derive(Clone)]
    struct Wave;

    impl Density for Wave {
        fn dim(&self) -> usize {
            1
        }

        fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
            grad[0] = 1.0 + (1e10 * q[0]).cos();
            Ok(q[0] + 1e-10 * (1e10 * q[0]).sin())
        }
    }

    /// `1000 + x` with rounding of up to 1e-13 of it that has no order, and a gradient of 1.001.
    #[derive(Clone)]
    struct Noisy;

    impl Density for Noisy {
        fn dim(&self) -> usize {
            1
        }

        fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError> {
            grad[0] = 1.001;
            // The upper bits of a product by an odd number, as in multiplicative hashing.
            let mixed = q[0].to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
            let noise = mixed as f64 / (1_u64 << 52) as f64 - 1.0;
            Ok((1000.0 + q[0]) * (1.0 + 1e-13 * noise))
        }
    }

    fn way(longest: f64) -> Way {
        Way { part: "all".into(), along: vec![1.0], shortest: 0.0, longest }
    }

    /// At a place where long steps see the line alone, and agree.
    #[test]
    fn steps_over_waves_do_not_tell() {
        let at = |longest| compare(&mut Wave, &[1e-9], &way(longest));
        assert!(matches!(at(f64::INFINITY), Slope::Differs(..)), "{:?}", at(f64::INFINITY));
        assert_eq!(at(1e-10), Slope::Unresolved);
    }

    /// Nothing is random: the noise is a function of the place.
    #[test]
    fn a_wrong_gradient_is_not_excused_by_rounding() {
        for i in 0..100 {
            let found = compare(&mut Noisy, &[0.3 + 0.01 * f64::from(i)], &way(f64::INFINITY));
            assert!(matches!(found, Slope::Differs(..)), "place {i}: {found:?}");
        }
    }

    #[test]
    fn a_wrong_gradient_differs() {
        for longest in [f64::INFINITY, 1e-3] {
            let of = |factor| compare(&mut Quartic(factor), &[0.7], &way(longest));
            assert_eq!(of(1.0), Slope::Agrees);
            assert!(matches!(of(1.001), Slope::Differs(..)), "{:?}", of(1.001));
        }
    }
}
