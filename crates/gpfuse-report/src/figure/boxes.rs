//! Box plots of several series side by side: median, quartiles, and whiskers at both extremes.

use super::{Labels, Scene};

/// Some values at one place of the x axis, such as the scores of five splits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// The place, such as the number of experts.
    pub x: f64,
    /// The values, in any order; those that are not finite are not drawn.
    pub values: Vec<f64>,
}

/// One method: a box at each place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// What it is called in the legend.
    pub name: String,
    /// Whether it is not in the paper but ours, and is hatched.
    pub ours: bool,
    /// Its boxes.
    pub groups: Vec<Group>,
}

/// Box plots, and perhaps a line that they are measured against.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoxPlot {
    /// The labels.
    pub labels: Labels,
    /// The methods; at each place their boxes stand side by side in this order.
    pub series: Vec<Series>,
    /// A line through the medians with a band between the quartiles. With values at one place
    /// only, it is horizontal.
    pub line: Option<Series>,
}

/// Draw box plots. Fewer than three values are dots.
pub fn boxes(plot: &BoxPlot) -> Scene {
    let _ = plot;
    Scene::new(760.0, 420.0)
}
