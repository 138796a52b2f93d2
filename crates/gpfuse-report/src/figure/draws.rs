//! Posterior draws of the experts' means, each as wide as its weight there.

use super::{Labels, Scene};

/// One draw of one expert.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Drawn {
    /// Its mean at each input.
    pub mean: Vec<f64>,
    /// Its weight at each input.
    pub weight: Vec<f64>,
}

/// Some draws of all experts against one input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draws {
    /// The labels.
    pub labels: Labels,
    /// The inputs, in order.
    pub x: Vec<f64>,
    /// Each expert's name and draws.
    pub experts: Vec<(String, Vec<Drawn>)>,
    /// Data to show behind the draws.
    pub data: Vec<(f64, f64)>,
}

/// Draw them.
pub fn draws(plot: &Draws) -> Scene {
    let _ = plot;
    Scene::new(760.0, 420.0)
}
