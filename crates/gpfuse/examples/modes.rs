//! A picture of the modes as numbers: `modes DIR > modes.csv`.
//!
//! On split 0 of the paper's frozen protocol (DIR as for `protocol`), het on either basis from prior
//! draws at depth 5: the predictive mean and standard deviation of each chain alone at a grid of
//! inputs, with the chain's weight by stacking. `docs/pictures/modes.py` draws it.

mod frozen;

use std::path::Path;
use std::sync::Arc;

use frozen::{Outcome, Paper};
use gpfuse::diagnose::{Combine, combine};
use gpfuse::fit::{FitSettings, draws};
use gpfuse::infer::{self, Quiet, Start};
use gpfuse::model::{Method, Model, Posterior, Priors};
use gpfuse::predict::{Predictive, Predictor};
use gpfuse::rows::Rows;
use gpfuse::scale::Affine;

fn main() -> Outcome<()> {
    let dir = std::env::args().nth(1).ok_or("usage: modes DIR")?;
    let paper = Paper::read(Path::new(&dir))?;
    let grid: Vec<f64> = (0..=400).map(|i| f64::from(i) / 40.0 - 5.0).collect();
    println!("basis,chain,weight,x,mean,sd");
    for (name, size) in [("rff", 30), ("hilbert", 60)] {
        let basis = paper.basis(name, size, 0)?;
        let model = Arc::new(Model::new(Method::Het, 1, basis, Priors::default())?);
        let train = paper.rows(Method::Het, 1, 0, false)?;
        let posterior = Posterior::new(model.clone(), train.data()?)?;
        let sampler = infer::Settings { max_depth: 5, start: Start::Prior, ..Default::default() };
        let settings =
            FitSettings { method: Method::Het, sampler, ..Default::default() }.check()?;
        let threads = settings.sampler.threads;
        let found = draws(&posterior, &settings, &Quiet)?;
        let (found, weights) = combine(&posterior, found, Combine::Stack, 1.0, threads)?;
        let weights = weights.map_or(Vec::new(), |w| w.weights());
        for (chain, weight) in weights.iter().enumerate() {
            let alone: Vec<f64> =
                (0..weights.len()).map(|c| f64::from(u8::from(c == chain))).collect();
            let predictor =
                Predictor::new(model.clone(), &found.clone().weighted(&alone)?, Affine::IDENTITY);
            let rows = Rows::new(&grid, 1)?;
            let lines = predictor.at(&rows, None).blocks(threads, |block| {
                let row = |r: usize| {
                    let (x, at) = (grid[block.first + r], block.row(r)?);
                    let (mean, sd) = (at.mean(), at.variance().sqrt());
                    Ok(format!("{name},{},{weight:.3},{x},{mean:.5},{sd:.5}", chain + 1))
                };
                (0..block.len()).map(row).collect::<gpfuse::Result<Vec<String>>>()
            })?;
            for block in lines {
                println!("{}", block?.join("\n"));
            }
        }
    }
    Ok(())
}
