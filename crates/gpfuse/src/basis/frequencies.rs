//! Frequencies of a random-feature basis: three ways to draw from a kernel's spectral density.
//!
//! All three have the exact marginal distribution of one frequency, so the features are unbiased
//! for the kernel; they differ in how the frequencies depend on each other. A shorter draw is
//! the beginning of a longer one with the same seed.

mod quasi;

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::kernel::Kernel;
use crate::named::named;
use crate::random::{Purpose, stream};

/// How the frequencies of a random-feature basis depend on each other.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Independent draws (Rahimi and Recht 2007).
    #[default]
    Iid,
    /// Blocks of `d` orthogonal directions with independent norms (Yu and others 2016,
    /// *Orthogonal random features*). The same as `Iid` for one input.
    Orthogonal,
    /// Randomised low-discrepancy points pushed through the quantile functions (Avron and others
    /// 2016, *Quasi-Monte Carlo feature maps*).
    Quasi,
}

named! {
    Scheme, "scheme",
    Iid => "iid",
    Orthogonal => "orthogonal",
    Quasi => "quasi",
}

/// Draws `m` frequencies of the unit-lengthscale `kernel` in `d` dimensions (m x d, row-major).
pub fn draw(kernel: Kernel, scheme: Scheme, m: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut omega = vec![0.0; m * d];
    if omega.is_empty() {
        return omega;
    }
    let mut rng = stream(seed, Purpose::Frequencies, 0);
    match scheme {
        Scheme::Iid => omega.chunks_exact_mut(d).for_each(|w| kernel.draw_frequency(&mut rng, w)),
        Scheme::Orthogonal => orthogonal(kernel, d, &mut rng, &mut omega),
        Scheme::Quasi => quasi::fill(kernel, m, d, &mut rng, &mut omega),
    }
    omega
}

/// Direction and length of a spherical distribution are independent, so a Haar-distributed
/// direction times the norm of an independent draw has the exact marginal.
fn orthogonal(kernel: Kernel, d: usize, rng: &mut impl Rng, omega: &mut [f64]) {
    let mut frame = vec![0.0; d * d];
    let mut other = vec![0.0; d];
    for block in omega.chunks_mut(d * d) {
        haar(d, rng, &mut frame);
        // The last block is cut: every block draws all its numbers, so a longer draw agrees.
        for (w, direction) in block.chunks_exact_mut(d).zip(frame.chunks_exact(d)) {
            kernel.draw_frequency(rng, &mut other);
            let norm = dot(&other, &other).sqrt();
            w.iter_mut().zip(direction).for_each(|(w, u)| *w = norm * u);
        }
    }
}

/// Gram-Schmidt of a Gaussian matrix gives a Haar-distributed orthogonal one (its rows).
fn haar(d: usize, rng: &mut impl Rng, frame: &mut [f64]) {
    for i in 0..d {
        let (done, rest) = frame.split_at_mut(i * d);
        let row = &mut rest[..d];
        row.iter_mut().for_each(|v| *v = StandardNormal.sample(rng));
        // Twice, because one pass loses orthogonality where little of the row is left.
        for _ in 0..2 {
            for u in done.chunks_exact(d) {
                let c = dot(u, row);
                row.iter_mut().zip(u).for_each(|(v, u)| *v -= c * u);
            }
            let norm = dot(row, row).sqrt();
            row.iter_mut().for_each(|v| *v /= norm);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::approximation::rff_covariance;

    /// Mean and mean square, over seeds, of the error of the kernel at a lag of 1.2 lengthscales.
    fn error(kernel: Kernel, scheme: Scheme, m: usize, d: usize, seeds: u64) -> (f64, f64) {
        let lag: Vec<f64> = (0..d).map(|i| 0.2 + i as f64).collect();
        let norm = dot(&lag, &lag).sqrt();
        let lag: Vec<f64> = lag.iter().map(|v| 1.2 * v / norm).collect();
        let zero = vec![0.0; d];
        let mut sum = (0.0, 0.0);
        for seed in 0..seeds {
            let omega = draw(kernel, scheme, m, d, seed);
            let e = rff_covariance(&omega, &zero, &lag, &zero) - kernel.covariance(1.44);
            sum = (sum.0 + e, sum.1 + e * e);
        }
        (sum.0 / seeds as f64, sum.1 / seeds as f64)
    }

    /// 48 means of 1000 bounded errors, each held to 5 standard errors: false-failure rate below
    /// 5e-5.
    #[test]
    fn every_scheme_is_unbiased_for_every_kernel() {
        for kernel in Kernel::ALL {
            for scheme in Scheme::ALL {
                for (m, d) in [(1, 1), (10, 1), (7, 3), (9, 6)] {
                    let (mean, square) = error(kernel, scheme, m, d, 1000);
                    let se = (square / 1000.0).sqrt();
                    assert!(mean.abs() < 5.0 * se, "{kernel} {scheme} {m}x{d}: {mean} ({se})");
                }
            }
        }
    }

    /// The probability of `|w| < 1` in one coordinate of a late row, and of one quadrant of two:
    /// 24 binomials of 2000, each held to 5 standard deviations; false-failure rate below 2e-5.
    #[test]
    fn marginals_are_those_of_the_kernel() {
        let inside = [0.682_689_492, 0.5, 0.608_997_781, 0.636_782_532];
        let n = 2000;
        for (kernel, p) in Kernel::ALL.into_iter().zip(inside) {
            for scheme in Scheme::ALL {
                let (mut unit, mut quadrant) = (0, 0);
                for seed in 0..n {
                    let omega = draw(kernel, scheme, 8, 3, seed);
                    unit += i32::from(omega[22].abs() < 1.0);
                    quadrant += i32::from(omega[21] > 0.0 && omega[22] < 0.0);
                }
                for (count, p) in [(unit, p), (quadrant, 0.25)] {
                    let sd = (p * (1.0 - p) / n as f64).sqrt();
                    let found = f64::from(count) / n as f64;
                    assert!((found - p).abs() < 5.0 * sd, "{kernel} {scheme}: {found} for {p}");
                }
            }
        }
    }

    /// Two mean squares of 200 nearly Gaussian errors each: the log of their ratio has standard
    /// deviation 0.14 about log 16 and is held to log 2; false-failure rate about 1e-6.
    #[test]
    fn iid_error_falls_as_the_square_root_of_m() {
        let ratio = error(Kernel::Rbf, Scheme::Iid, 50, 3, 200).1
            / error(Kernel::Rbf, Scheme::Iid, 800, 3, 200).1;
        assert!((8.0..32.0).contains(&ratio), "{ratio}");
    }

    /// Both mean squares are about a third of the first. Over 2000 seeds the log of a ratio has
    /// standard deviation 0.05, so 0.6 is ten of them away: false-failure rate below 1e-20.
    #[test]
    fn orthogonal_and_quasi_beat_iid_in_five_dimensions() {
        let of = |scheme| error(Kernel::Rbf, scheme, 50, 5, 2000).1;
        let iid = of(Scheme::Iid);
        assert!(of(Scheme::Orthogonal) < 0.6 * iid);
        assert!(of(Scheme::Quasi) < 0.6 * iid);
    }

    #[test]
    fn blocks_are_orthogonal() {
        let d = 6;
        let omega = draw(Kernel::Matern32, Scheme::Orthogonal, 2 * d + 1, d, 5);
        let row = |i: usize| &omega[i * d..(i + 1) * d];
        for block in [0, d] {
            for (i, j) in (0..d).flat_map(|i| (0..i).map(move |j| (block + i, block + j))) {
                let cosine =
                    dot(row(i), row(j)) / (dot(row(i), row(i)) * dot(row(j), row(j))).sqrt();
                assert!(cosine.abs() < 1e-13, "{i} {j}: {cosine:e}");
            }
        }
    }

    #[test]
    fn a_shorter_draw_begins_a_longer_one() {
        for scheme in Scheme::ALL {
            for kernel in [Kernel::Rbf, Kernel::Matern52] {
                for d in [1, 4] {
                    let long = draw(kernel, scheme, 40, d, 3);
                    assert_eq!(draw(kernel, scheme, 17, d, 3), long[..17 * d]);
                    assert_ne!(draw(kernel, scheme, 40, d, 4), long);
                }
            }
        }
        assert!(draw(Kernel::Rbf, Scheme::Quasi, 0, 2, 1).is_empty());
    }

    #[test]
    fn names_round_trip() {
        for scheme in Scheme::ALL {
            assert_eq!(scheme.to_string().parse::<Scheme>(), Ok(scheme));
            assert_eq!(serde_json::to_string(&scheme).unwrap(), format!("\"{scheme}\""));
        }
        assert!("sobol".parse::<Scheme>().unwrap_err().to_string().contains("quasi"));
    }
}
