//! Many fits of one study: cells, each a fit and its scores, and what they say together.

mod claims;
mod contrast;
mod finished;
mod key;

pub use claims::{ARMS, Claim, Panel, Verdict, claims};
pub use contrast::{Contrast, LEVEL};
pub use finished::Finished;
pub use key::Key;
