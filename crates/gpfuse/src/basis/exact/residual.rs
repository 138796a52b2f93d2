//! A standard normal number for each draw, GP and row, which needs no stream of its own.
//!
//! The number is a function of the bits of the GP's coefficients, its place in the model and the
//! row's inputs: the same draw at the same inputs gives the same number, whatever the threads,
//! the blocks and the order of the rows. Variance and lengthscales have no part in it: a file keeps
//! them on another scale, which costs their last bits. The bits go through the mixing function of SplitMix64
//! (Steele, Lea and Flood 2014, *Fast splittable pseudorandom number generators*), two of its
//! outputs are made uniform numbers, and those a normal one (Box and Muller 1958).

use std::f64::consts::TAU;

use crate::basis::GpParams;

/// The odd step of SplitMix64, `2^64` over the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// One step and the mixing function of SplitMix64.
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A key from numbers; 0 and -0 are the same.
fn key(start: u64, numbers: impl Iterator<Item = f64>) -> u64 {
    numbers.fold(mix(start), |key, v| mix(key ^ (v + 0.0).to_bits()))
}

/// The key of GP `g` in one draw.
pub(super) fn gp_key(g: usize, p: GpParams<'_>) -> u64 {
    key(g as u64, p.theta.iter().copied())
}

/// The key of a row, from its inputs.
pub(super) fn row_key(inputs: impl Iterator<Item = f64>) -> u64 {
    key(0, inputs)
}

/// The normal number of a GP and a row.
pub(super) fn normal(gp: u64, row: u64) -> f64 {
    let first = mix(gp ^ mix(row));
    // In (0, 1]: the logarithm is finite.
    let unit = |bits: u64| ((bits >> 11) + 1) as f64 * (0.5_f64).powi(53);
    (-2.0 * unit(first).ln()).sqrt() * (TAU * unit(mix(first))).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments of 40 000 numbers, over GPs, draws and rows that lie on grids: ten statistics,
    /// each held to 5 standard errors; false-failure rate below 1e-5.
    #[test]
    fn the_numbers_are_standard_normal_and_uncorrelated() {
        let n = 200;
        let key = |g: usize, i: usize| {
            let theta = [0.01 * i as f64, -1.0];
            gp_key(g, GpParams { log_var: 0.5, log_ell: &[0.1], theta: &theta })
        };
        let row = |r: usize| row_key([r as f64, 2.0].into_iter());
        let (mut sum, mut count) = ([0.0; 10], 0.0);
        for i in 0..n {
            for r in 0..n {
                let e = normal(key(0, i), row(r));
                let others = [(1, i, r), (0, i + 1, r), (0, i, r + 1)]
                    .map(|(g, i, r)| normal(key(g, i), row(r)));
                let inside =
                    |z: f64, p: f64| (f64::from(u8::from(e < z)) - p) / (p * (1.0 - p)).sqrt();
                let values = [
                    e,
                    (e * e - 1.0) / 2.0_f64.sqrt(),
                    e.powi(3) / 15.0_f64.sqrt(),
                    (e.powi(4) - 3.0) / 96.0_f64.sqrt(),
                    e * others[0],
                    e * others[1],
                    e * others[2],
                    inside(-1.0, 0.158_655_254),
                    inside(0.5, 0.691_462_461),
                    inside(2.0, 0.977_249_868),
                ];
                sum.iter_mut().zip(values).for_each(|(s, v)| *s += v);
                count += 1.0;
            }
        }
        for (i, s) in sum.iter().enumerate() {
            // Products of neighbours share numbers, but are uncorrelated among themselves.
            let z = s / f64::sqrt(count);
            assert!(z.abs() < 5.0, "statistic {i}: {z}");
        }
    }

    #[test]
    fn equal_inputs_have_equal_numbers() {
        assert_eq!(row_key([0.0, 1.5].into_iter()), row_key([-0.0, 1.5].into_iter()));
        assert_ne!(row_key([0.0, 1.5].into_iter()), row_key([1.5, 0.0].into_iter()));
        assert!(normal(0, 0).is_finite() && normal(u64::MAX, u64::MAX).is_finite());
    }
}
