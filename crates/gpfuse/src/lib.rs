//! Fuse the predictions of several Gaussian processes into one calibrated density, with
//! weights that depend on the input and are inferred by Monte Carlo.
//!
//! Data flows one way: rows -> [`model`] (experts x gate x pool on one [`basis`]) -> posterior
//! density -> [`infer`] (NUTS, HMC, MAP) -> draws -> [`predict`] -> [`metrics`]. The rules in
//! [`baseline`] do without draws and are scored the same way; [`compare`] puts all of them side
//! by side. [`calibrate`] asks whether the draws are those of the posterior.

pub mod baseline;
pub mod basis;
pub mod calibrate;
pub mod compare;
pub mod diagnose;
mod error;
pub mod experts;
pub mod fit;
pub mod gp;
mod halt;
pub mod infer;
pub mod kernel;
pub mod math;
pub mod metrics;
pub mod model;
pub mod parallel;
pub mod pool;
pub mod predict;
pub mod quantile;
pub mod random;
pub mod rows;
pub mod scale;
pub mod settings;
pub mod simulate;
pub mod sweep;

pub use error::{Error, Result, in_one_line};
