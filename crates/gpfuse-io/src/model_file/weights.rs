//! The weights of the chains, a variable of `sample_stats` over the chains alone; a file without
//! it has chains that count alike.

use gpfuse::infer::Draws;

use super::{Reader, var};
use crate::nc::{Data, Var};

const NAME: &str = "chain_weight";

pub(super) fn write(draws: &Draws) -> Option<Var> {
    draws.weights().map(|weights| var(NAME, &["chain"], Data::F64(weights.to_vec())))
}

pub(super) fn read(stats: &Reader<'_>, draws: Draws) -> Result<Draws, String> {
    if stats.data(NAME).is_err() {
        return Ok(draws);
    }
    let weights = stats.numbers(NAME)?;
    draws.weighted(weights).map_err(|e| format!("`sample_stats/{NAME}`: {e}"))
}
