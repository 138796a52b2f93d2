//! What can go wrong in the library, as data: each error names the place and says what to do.

/// An error of the library. Every message names the thing at fault and the cure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A setting has a value that cannot be used.
    #[error("setting `{name}`: {problem}")]
    Setting {
        /// The setting's name, as in the settings file.
        name: &'static str,
        /// What is wrong with its value, and what would be right.
        problem: String,
    },
    /// The data cannot be used.
    #[error("data: {0}")]
    Data(String),
    /// An array does not have the shape that the model needs.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// Which array.
        what: String,
        /// The shape or length that is needed.
        expected: String,
        /// The shape or length that was given.
        found: String,
    },
    /// A thread of the library failed: a fault of the program, not of the user.
    #[error("a worker thread failed: {0}")]
    Worker(String),
    /// There is too little memory.
    #[error("sampling: {0}")]
    Memory(String),
    /// Inference could not start or had to stop.
    #[error("sampling: {0}")]
    Sampling(String),
}

impl Error {
    /// A setting that cannot be used.
    pub fn setting(name: &'static str, problem: impl Into<String>) -> Self {
        Error::Setting { name, problem: problem.into() }
    }
}

/// Refuse a setting below `low` or above `high`.
pub(crate) fn within(name: &'static str, value: usize, low: usize, high: usize) -> Result<()> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Error::setting(name, format!("{value} is out of range: use {low} to {high}")))
}

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;
