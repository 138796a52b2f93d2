//! Predict a number with one honest density: train several models on a table, learn how much to trust each of them at
//! each input from what each says about rows that it has not seen, and fuse them. The models can also be made elsewhere.
//!
//! ```
//! # fn main() -> gpfuse::Result<()> {
//! use gpfuse::{Data, FitSettings, Method, Predictions, fit};
//! # let short = gpfuse::infer::Settings { warmup: Some(30), draws: Some(20), chains: 2, ..Default::default() };
//!
//! let x: Vec<f64> = (0..40).map(|i| f64::from(i) / 10.0).collect();
//! let y = x.iter().map(|x| x.sin() + 0.1 * (9.0 * x).cos()).collect();
//! let wave = x.iter().map(|x| x.sin()).collect();
//! let data = Data::new(x, 1)?.with_target(y)?;
//! let settings = FitSettings { method: Method::Het, ..Default::default() };
//! # let settings = FitSettings { sampler: short.clone(), ..settings };
//! let fitted = fit(&data, &settings)?;
//! let new = Data::new(vec![0.55, 1.25], 1)?;
//! let prediction = fitted.predict(&new)?;
//! println!("means {:?}, 90 % {:?}", prediction.mean()?, prediction.quantiles(&[0.05, 0.95])?);
//!
//! // Models that you have already: what each says at rows that it has not seen.
//! let predictions = Predictions::new(vec![wave, vec![0.0; 40]], vec![vec![0.2; 40], vec![0.9; 40]])?;
//! let stacking = data.with_experts(vec!["wave".into(), "zero".into()], predictions)?;
//! let settings = FitSettings { method: Method::Pbhs, ..Default::default() };
//! # let settings = FitSettings { sampler: short, ..settings };
//! let stacked = fit(&stacking, &settings)?;
//! println!("NLPD {:.2}", stacked.evaluate(&stacking)?.nlpd.value);
//! # Ok(())
//! # }
//! ```
//!
//! By default ([`Method::Pbhs`] or [`Method::Bhs`], no predictions in the data) [`experts`] trains a portfolio on all
//! rows: exact GPs ([`gp`]) with four kernels and boosted [`trees`]. The weights are learned from what each of them says
//! about a row left out, and [`Fitted::worth`](fit::Fitted::worth) compares the fusion with each of them.
//!
//! Data flows one way: [`Data`] -> [`model`] (experts x gate x pool on one [`basis`]) -> posterior
//! density -> [`infer`] (NUTS, HMC, MAP) -> draws -> [`predict`] -> [`Prediction`], [`metrics`].
//! The rules in [`baseline`] do without draws and are scored the same way; [`compare`] puts all of
//! them side by side. [`calibrate`] asks whether the draws are those of the posterior.

pub mod baseline;
pub mod basis;
pub mod calibrate;
pub mod columns;
pub mod compare;
mod data;
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
pub mod named;
pub mod parallel;
pub mod pool;
pub mod predict;
pub mod random;
pub mod resolution;
pub mod rows;
pub mod scale;
pub mod settings;
pub mod simulate;
pub mod sweep;
pub mod trees;

pub use columns::Columns;
pub use data::{Classes, Data, LogDensity, Predictions, Said};
pub use error::{Error, Result, in_one_line, shorten, show};
pub use fit::{FitSettings, Fitted, Prediction, fit, fit_with};
pub use model::Method;
