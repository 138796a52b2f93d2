//! Many fits of one study: cells, each a fit and its scores, and what they say together.

mod finished;
mod key;

pub use finished::Finished;
pub use key::Key;
