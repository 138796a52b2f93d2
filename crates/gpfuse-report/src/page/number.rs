//! Numbers for people: no more digits than their errors support.

/// What stands where there is no number.
pub(super) const NONE: &str = "–";

/// Decimals that show two significant digits of an error that begins with 1 or 2, and one of any
/// other.
fn decimals(error: f64) -> usize {
    if error > 0.0 { (-(error / 3.0).log10().floor()).clamp(0.0, 8.0) as usize } else { 3 }
}

/// A number with so many decimals; a huge one with an exponent.
pub(super) fn fixed(value: f64, digits: usize) -> String {
    let text = match value.abs() < 1e9 {
        true => format!("{value:.digits$}"),
        false => format!("{value:.3e}"),
    };
    // What rounds to zero has no sign.
    let nothing = text.starts_with('-') && !text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    if nothing { text[1..].into() } else { text.replace('-', "\u{2212}") }
}

/// A number with the digits that its error supports.
pub(super) fn supported(value: f64, error: Option<f64>) -> String {
    fixed(value, error.map_or(3, decimals))
}

/// An error.
pub(super) fn error(error: f64) -> String {
    fixed(error, decimals(error))
}

/// `0.412 ± 0.003`, or the number alone.
pub(super) fn measured(value: f64, by: Option<f64>) -> String {
    let by = by.filter(|e| e.is_finite());
    match by {
        Some(e) => format!("{} ± {}", supported(value, by), error(e)),
        None => fixed(value, 3),
    }
}

/// `1 row`, `2 rows`.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The mean of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its standard error; none for a single number.
    pub se: Option<f64>,
    /// How many numbers there are.
    pub count: usize,
}

impl Mean {
    /// `0.412 ± 0.003`, or the number alone.
    pub fn shown(&self) -> String {
        measured(self.value, self.se)
    }
}

/// The mean of numbers, one per split, with `ratio` test rows for each training row; none of no
/// numbers.
///
/// The splits of one table share most of their training rows, so their scores are not
/// independent, and the usual standard error is too small. With the variance `s^2` of `n` numbers
/// it is corrected to `s sqrt(1/n + ratio)` (Nadeau and Bengio, *Inference for the generalization
/// error*, 2003). Where nothing is shared, `ratio` is 0.
pub fn mean(values: &[f64], ratio: f64) -> Option<Mean> {
    let (n, count) = (values.len() as f64, values.len());
    let value = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - value).powi(2)).sum();
    let se = (count > 1).then(|| (squares / (n - 1.0) * (1.0 / n + ratio)).sqrt());
    (count > 0).then_some(Mean { value, se, count })
}

/// The median of some numbers.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    (n > 0).then(|| 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_error() {
        assert_eq!(measured(0.41234, Some(0.0312)), "0.41 ± 0.03");
        assert_eq!(measured(0.41234, Some(0.0212)), "0.412 ± 0.021");
        assert_eq!(measured(-1234.5, Some(31.0)), "\u{2212}1234 ± 31");
        assert_eq!(measured(1.0, None), "1.000");
        assert_eq!(measured(1.0, Some(f64::NAN)), "1.000");
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }

    #[test]
    fn means_and_medians() {
        assert_eq!(mean(&[], 0.25), None);
        assert_eq!(mean(&[2.0], 0.25), Some(Mean { value: 2.0, se: None, count: 1 }));
        let free = mean(&[1.0, 2.0, 3.0], 0.0).unwrap();
        assert_eq!((free.value, free.count), (2.0, 3));
        assert!((free.se.unwrap() - (1.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        // The variance is 1: the error grows with the rows that splits share.
        let shared = mean(&[1.0, 2.0, 3.0], 0.25).unwrap();
        assert!((shared.se.unwrap() - (1.0_f64 / 3.0 + 0.25).sqrt()).abs() < 1e-15);
        assert_eq!(median(&[3.0, 1.0]), Some(2.0));
        assert_eq!(median(&[3.0, 1.0, 9.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }
}
