//! Predictions along each of several inputs: a panel for each.

use super::{Band, Scene};

/// The prediction along one input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effect {
    /// The input's name.
    pub input: String,
    /// Its values, in order.
    pub x: Vec<f64>,
    /// The prediction there.
    pub band: Band,
    /// Values of this input in the data, as short marks at the foot.
    pub rug: Vec<f64>,
}

/// A panel for each input, on one y axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// Above the figure.
    pub title: String,
    /// What the y axis shows: the target.
    pub y: String,
    /// A line of text at the foot, such as where the other inputs stand.
    pub note: String,
    /// The panels.
    pub panels: Vec<Effect>,
}

/// Draw slices or partial effects.
pub fn effects(plot: &Effects) -> Scene {
    let _ = plot;
    Scene::new(760.0, 400.0)
}
