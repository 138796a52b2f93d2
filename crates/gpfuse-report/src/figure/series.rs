//! What figures are made of: labels, curves with bands, and chains.

/// A title and what the axes show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Labels {
    /// Above the figure.
    pub title: String,
    /// Below it: the input, with its unit.
    pub x: String,
    /// Beside it: the quantity, with its unit.
    pub y: String,
}

impl Labels {
    /// From a title and the names of both axes.
    pub fn new(title: &str, x: &str, y: &str) -> Labels {
        Labels { title: title.into(), x: x.into(), y: y.into() }
    }
}

/// A curve with an interval about it, at the places of the figure it stands in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Band {
    /// What it is called in the legend.
    pub name: String,
    /// The curve.
    pub centre: Vec<f64>,
    /// The lower ends.
    pub low: Vec<f64>,
    /// The upper ends.
    pub high: Vec<f64>,
}

/// One quantity in each draw of each chain.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quantity {
    /// What it is.
    pub name: String,
    /// Chains of equal length, in the order of the draws.
    pub chains: Vec<Vec<f64>>,
}

/// All lower and upper ends of some bands.
pub(super) fn ends<'a>(bands: impl Iterator<Item = &'a Band>) -> impl Iterator<Item = f64> {
    bands.flat_map(|band| band.low.iter().chain(&band.high)).copied()
}
