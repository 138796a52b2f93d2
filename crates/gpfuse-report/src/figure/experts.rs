//! The experts of a model above, and how much each is trusted below.

use super::{Band, Labels, Scene};

/// Experts against one input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Experts {
    /// The labels; the y axis is the target's.
    pub labels: Labels,
    /// The inputs, in order.
    pub x: Vec<f64>,
    /// Each expert's mean and one standard deviation about it.
    pub means: Vec<Band>,
    /// Each expert's weight with its interval.
    pub weights: Vec<Band>,
    /// What the weights' axis is called.
    pub weight_label: String,
}

/// Draw means above weights.
pub fn experts(plot: &Experts) -> Scene {
    let _ = plot;
    Scene::new(760.0, 560.0)
}

/// Draw the weights alone.
pub fn weights(plot: &Experts) -> Scene {
    let _ = plot;
    Scene::new(760.0, 360.0)
}
