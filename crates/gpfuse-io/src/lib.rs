//! The files of gpfuse: tables of numbers, the model file, and the folders of a sweep, of a
//! calibration study and of a checkpoint.
//!
//! Reading never trusts a file: whatever its bytes, the outcome is a table or model, or an
//! error that names the file, the place and the cure. Writing is atomic: a file is complete,
//! or it is as it was.

pub mod atomic;
pub mod checkpoint;
mod claim;
mod guard;
pub mod ledger;
pub mod model_file;
pub mod nc;
pub mod sweep_file;
pub mod table;
mod words;

pub use claim::ClaimError;
