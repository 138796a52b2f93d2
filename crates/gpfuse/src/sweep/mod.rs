//! Many fits of one study: cells, each a fit and its scores, and what they say together.
//!
//! A [`Cell`] is run by [`run_cell`], many by [`run_all`], which hands each [`Finished`] cell to
//! a [`Sink`] as soon as it is there. Nothing but the seconds depends on the order of the cells,
//! on the threads or on what ran before.

mod cell;
mod cost;
mod finished;
mod key;
mod run;
mod split;
mod work;

pub use cell::{Cell, Given};
pub use cost::{cost, share};
pub use finished::Finished;
pub use key::Key;
pub use run::run_cell;
pub use split::test_rows;
pub use work::{Sink, run_all};

pub use crate::halt::Ended;
