//! Parts of a sweep, joined.

use std::time::Instant;

use gpfuse_io::ledger;

use super::super::Outcome;
use super::finish;
use crate::args::RunArgs;

pub(super) fn run(how: &RunArgs) -> anyhow::Result<Outcome> {
    let begun = Instant::now();
    let parts = how.merge.as_deref().unwrap_or_default();
    let joined = ledger::merge(parts, &how.out)?;
    finish(joined, how, 0, begun)
}
