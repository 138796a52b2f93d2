//! The resolution of a target: the largest number of which all its values are multiples, from an origin.
//!
//! A target that was rounded, such as whole numbers or two decimals, takes each value exactly, and a density
//! could become as narrow about these values as it likes. A value y that was rounded to a step r stands for
//! all of `y - r / 2` to `y + r / 2`. For a normal density of what was rounded, the density of y then has the
//! variance `r^2 / 12` more (Sheppard's correction), the variance of a uniform density on the step. Models add
//! it to their noise, so that none of their densities is narrower than the rounding.

/// Steps are looked for among the multiples of `10^-DECIMALS` times the power of ten of the values.
const DECIMALS: i32 = 9;
/// A value is a multiple of a step if it differs from one by less than so many of its last digits.
const DIGITS: f64 = 8.0 * f64::EPSILON;
/// A step below this share of the standard deviation makes no difference.
const SMALLEST_SHARE: f64 = 1e-4;
/// Fewer rows prove nothing: the differences of a few numbers have a common divisor by chance.
const FEWEST_ROWS: usize = 10;

/// The step that all values of `y` are whole multiples of, up to a common shift; none where there is none that
/// matters.
pub fn resolution(y: &[f64]) -> Option<f64> {
    let largest = y.iter().fold(0.0_f64, |top, y| top.max(y.abs()));
    let n = y.len() as f64;
    let mean = y.iter().map(|y| y / n).sum::<f64>();
    let sd = y.iter().map(|y| (y - mean).powi(2) / n).sum::<f64>().sqrt();
    if y.len() < FEWEST_ROWS || !(largest.is_finite() && sd > 0.0) {
        return None;
    }
    let magnitude = largest.log10().ceil() as i32;
    let unit = (-8..=DECIMALS).map(|d| 10f64.powi(-d)).find(|unit| {
        let whole = |y: &f64| {
            let steps = y / unit;
            (steps - steps.round()).abs() <= DIGITS * steps.abs().max(1.0)
        };
        y.iter().all(whole)
    })?;
    // Whole numbers of so many digits are whatever they are.
    if f64::from(magnitude) - unit.log10() > f64::from(DECIMALS) {
        return None;
    }
    let steps = |y: &f64| (y / unit).round() as i64;
    let first = steps(y.first()?);
    let common = y.iter().map(|y| (steps(y) - first).unsigned_abs()).fold(0, divisor);
    let found = common as f64 * unit;
    (found > SMALLEST_SHARE * sd).then_some(found)
}

/// The least sd of a density, in units of the target's: experts that hit every target exactly must not make it 0.
const LEAST_SD: f64 = 1e-7;

/// The variance that rounding to a step adds to a target that was divided by `scale`; with or without one, it is
/// above 0.
pub fn variance(step: Option<f64>, scale: f64) -> f64 {
    let step = step.unwrap_or(0.0) / scale;
    step * step / 12.0 + LEAST_SD * LEAST_SD
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_targets_have_a_resolution_and_others_have_none() {
        let close = |some: &[f64], step: f64| {
            let y: Vec<f64> = some.iter().copied().cycle().take(some.len().max(12)).collect();
            let found = resolution(&y).unwrap_or(0.0);
            assert!((found - step).abs() <= 1e-9 * step, "{y:?}: {found}");
        };
        close(&[3.0, 5.0, 4.0, 8.0], 1.0);
        close(&[0.0, 1.0, 1.0], 1.0);
        close(&[13.25, 13.5, 14.0, -2.75], 0.25);
        close(&[79.99, 61.89, 40.27, 41.04], 0.01);
        close(&[1500.0, 3000.0, 500.0], 500.0);
        close(&[0.1 + 0.2, 0.7, 1.1], 0.4);
        close(&[1.0, 3.0, 5.0, 9.0], 2.0);
        let sines: Vec<f64> = (1..50).map(|i| f64::from(i).sin()).collect();
        assert_eq!(resolution(&sines), None);
        let fine: Vec<f64> = (0..50).map(|i| 100.0 * f64::from(i) + 0.001).collect();
        close(&fine, 100.0);
        assert_eq!(resolution(&[0.001, 99.0, 50.5].repeat(5)), None);
        assert_eq!(resolution(&[2.0; 20]), None);
        assert_eq!(resolution(&[79.99, 61.89]), None);
        assert_eq!(resolution(&[]), None);
        assert_eq!(resolution(&[f64::NAN, 1.0]), None);
    }
}
