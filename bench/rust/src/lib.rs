//! What several benchmarks share.

pub mod sets;

use std::error::Error;

/// What a benchmark comes to: a value, or why there is none.
pub type Outcome<T> = Result<T, Box<dyn Error>>;
