//! What several test files share: the tolerances, a textbook statement of the models,
//! random test cases, and a density whose moments are known.
// Each test file is a crate of its own and uses a part of this.
#![allow(dead_code)]

pub(crate) mod case;
pub(crate) mod dual;
pub(crate) mod evidence;
pub(crate) mod gaussian;
pub(crate) mod textbook;

/// Every tolerance of the tests that include this module. "Relative" means relative above 1
/// and absolute below: `|a - b| <= tolerance * max(1, |b|)`.
pub(crate) mod tolerance {
    /// Log joint density against the textbook, relative.
    pub(crate) const LOGP: f64 = 1e-11;
    /// Each entry of the gradient against dual numbers, relative.
    pub(crate) const GRADIENT: f64 = 1e-10;
    /// Log density without the coefficients of the means against dense algebra, relative.
    pub(crate) const COLLAPSED: f64 = 1e-10;
    /// Each entry of its gradient against dual numbers, relative.
    pub(crate) const COLLAPSED_GRADIENT: f64 = 1e-9;
    /// The same for precisions up to 1e8: what is left of a row's target after its mean is as
    /// small as 1e-8, and has half the digits.
    pub(crate) const COLLAPSED_EXTREME: f64 = 1e-5;
    /// Laws that hold exactly on paper and to rounding in the machine, relative.
    pub(crate) const LAW: f64 = 1e-11;
    /// A mixture of averaged weights against the mixture of all draws, relative.
    pub(crate) const AVERAGE: f64 = 1e-12;
    /// Scores and predictive moments against sums over all draws, relative.
    pub(crate) const SCORE: f64 = 1e-9;
    /// Stacking weights, which stand where a gradient vanishes, relative.
    pub(crate) const STACKING: f64 = 1e-6;
    /// Leave-one-out scores against ArviZ, relative.
    pub(crate) const ARVIZ: f64 = 1e-9;
    /// The mode found by L-BFGS, absolute per coordinate.
    pub(crate) const MODE: f64 = 1e-4;
    /// Means of draws, in Monte Carlo standard errors.
    pub(crate) const Z: f64 = 5.0;
    /// Reported against true Monte Carlo standard error, as a factor either way.
    pub(crate) const MCSE_FACTOR: f64 = 1.5;
}

/// Error of `a` relative to `b` above 1, absolute below; infinite where either is NaN.
pub(crate) fn error(a: f64, b: f64) -> f64 {
    let e = if a == b { 0.0 } else { (a - b).abs() / b.abs().max(1.0) };
    if e.is_nan() { f64::INFINITY } else { e }
}

/// Panics with both numbers where `a` is not within `tolerance` of `b`.
#[track_caller]
pub(crate) fn close(what: &str, a: f64, b: f64, tolerance: f64) {
    let e = error(a, b);
    assert!(e <= tolerance, "{what}: {a:?} instead of {b:?}, error {e:e}");
}
