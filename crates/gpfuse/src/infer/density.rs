//! What a sampler sees of a model: a dimension, and a log density with its gradient.

/// Why a log density could not be had at a point.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DensityError {
    /// The density or its gradient is not finite here; a sampler counts a divergence and
    /// stays where it was.
    #[error("the log density or its gradient is not finite here (log density {logp})")]
    NotFinite {
        /// The log density.
        logp: f64,
    },
    /// The density can never be had; sampling must stop.
    #[error("{0}")]
    Fatal(String),
}

impl DensityError {
    /// Whether a sampler may go on from elsewhere.
    pub fn is_recoverable(&self) -> bool {
        matches!(self, DensityError::NotFinite { .. })
    }
}

/// A log density on `R^dim`, with its gradient. It owns its working memory: each thread has
/// its own copy.
pub trait Density: Clone + Send + 'static {
    /// The dimension.
    fn dim(&self) -> usize;

    /// The same density, computed on several threads where it can be. It must not depend on how
    /// many.
    fn with_threads(self, _threads: usize) -> Self {
        self
    }

    /// Leapfrog steps that a draw of NUTS usually takes, to say how long a run will be: no result depends on
    /// it.
    fn usual_steps(&self) -> f64 {
        31.0
    }

    /// Whether a step of one is about as much in every direction, so that a mass matrix need not be found from the
    /// first few draws.
    fn is_scaled(&self) -> bool {
        false
    }

    /// The log density at `q`; its gradient overwrites `grad`.
    fn logp(&mut self, q: &[f64], grad: &mut [f64]) -> Result<f64, DensityError>;
}
