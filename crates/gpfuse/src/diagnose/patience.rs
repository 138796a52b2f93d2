//! Whether more draws of the same chains would help.

use super::{Diagnostics, MODES_BAR};

/// Of the distance of R-hat to 1, and of the variance of an estimate, a doubling of the draws halves
/// either where chains mix. Where neither fell to this share, more draws are no cure.
const CURED: f64 = 0.75;

/// Remembers the last look at chains that go on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Patience {
    last: Option<[f64; 2]>,
}

impl Patience {
    /// Whether to go on after a look at the diagnostics: something is not settled for want of draws, chains do
    /// not sit in different modes, and the draws since the last look were of use.
    pub(crate) fn goes_on(&mut self, found: &Diagnostics) -> bool {
        let now = [
            found.worst_rhat().map_or(0.0, |q| q.rhat_max - 1.0),
            found.least_ess().map_or(0.0, |(_, ess)| ess.recip()),
        ];
        let last = self.last.replace(now);
        let modes = found.worst_rhat().is_some_and(|q| q.rhat_median > MODES_BAR);
        // What is not finite in some draw has no end of being wrong.
        let hopeless = modes || !now.iter().all(|v| v.is_finite());
        let better = last.is_none_or(|last| (0..2).any(|i| now[i] <= CURED * last[i]));
        !found.settled() && !hopeless && better
    }
}

#[cfg(test)]
mod tests {
    use super::super::Quantity;
    use super::*;

    fn found(rhat_max: f64, rhat_median: f64, ess: f64) -> Diagnostics {
        let quantity = Quantity {
            name: "it".into(),
            rhat_max,
            rhat_median,
            ess_bulk_min: 2.0 * ess,
            ess_bulk_median: 3.0 * ess,
            ess_tail_min: ess,
            error_max: 2.0,
        };
        Diagnostics {
            chains: 4,
            draws: 500,
            quantities: vec![quantity],
            divergences: 0,
            ebfmi_min: None,
            saturated: 0.0,
            steps: 7.0,
            combined: None,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn what_passes_or_cannot_be_cured_does_not_go_on() {
        let nan = f64::NAN;
        for (rhat, median, ess, goes_on) in [
            (1.005, 1.0, 900.0, false),
            (1.01, 1.0, 400.0, false),
            (1.02, 1.0, 900.0, true),
            (1.005, 1.0, 399.0, true),
            (1.09, 1.09, 50.0, true),
            (3.0, 1.11, 5.0, false),
            (f64::INFINITY, 1.0, 900.0, false),
            (1.2, 1.0, 0.0, false),
            (nan, nan, nan, false),
            // One chain has no R-hat.
            (nan, nan, 100.0, true),
        ] {
            let mut patience = Patience::default();
            assert_eq!(
                patience.goes_on(&found(rhat, median, ess)),
                goes_on,
                "{rhat} {median} {ess}"
            );
        }
    }

    #[test]
    fn draws_that_were_of_no_use_are_the_last() {
        let mut patience = Patience::default();
        assert!(patience.goes_on(&found(1.08, 1.0, 100.0)));
        // R-hat is better, then the effective size, then neither.
        assert!(patience.goes_on(&found(1.05, 1.0, 90.0)));
        assert!(patience.goes_on(&found(1.05, 1.0, 180.0)));
        assert!(!patience.goes_on(&found(1.045, 1.0, 200.0)));
    }
}
