//! Data, point predictions and intervals, with the predictive density behind them.

use super::{Band, Labels, Scene};

/// A density on a grid of cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heat {
    /// The inputs at the cells' centres, evenly spaced.
    pub x: Vec<f64>,
    /// The targets at the cells' centres, evenly spaced.
    pub y: Vec<f64>,
    /// The density: all targets of the first input, then of the second, and so on.
    pub density: Vec<f64>,
}

/// Predictions against one input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predictive {
    /// The labels.
    pub labels: Labels,
    /// Inputs and targets of the data.
    pub data: Vec<(f64, f64)>,
    /// The inputs of the predictions, in order.
    pub x: Vec<f64>,
    /// Each method's point prediction and interval.
    pub methods: Vec<Band>,
    /// What the intervals hold, such as 0.9.
    pub level: f64,
    /// The predictive density behind the data, of one method.
    pub density: Option<Heat>,
}

/// Draw them.
pub fn predictive(plot: &Predictive) -> Scene {
    let _ = plot;
    Scene::new(760.0, 420.0)
}
