//! The files of gpfuse: tables of numbers, and the model file.
//!
//! Reading never trusts a file: whatever its bytes, the outcome is a table or model, or an
//! error that names the file, the place and the cure. Writing is atomic: a file is complete,
//! or it is as it was.

pub mod atomic;
mod guard;
pub mod model_file;
mod nc;
pub mod table;
