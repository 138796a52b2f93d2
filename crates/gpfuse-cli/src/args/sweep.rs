//! What `gpfuse sweep` and `gpfuse paper` are told.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::PossibleValuesParser;

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Sweep file (TOML): data, arms (methods with their settings) and studies (which arms, sizes
    /// and numbers of experts). docs/sweeps.md has an example.
    #[arg(required_unless_present = "merge", conflicts_with = "merge")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: RunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PaperArgs {
    #[command(flatten)]
    pub(crate) how: RunArgs,
    /// A small version of all of it, in about a minute.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Folder with the frozen protocol (as bench/paper): its rows, splits, frequencies and experts
    /// instead of a new simulation.
    #[arg(long, value_name = "DIR")]
    pub(crate) frozen: Option<PathBuf>,
    /// Bases to run: rff is the paper's.
    #[arg(long, default_value = "both", value_parser = PossibleValuesParser::new(["rff", "hilbert", "both"]))]
    pub(crate) basis: String,
}

/// How a sweep is run, and where to.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Folder for the results; made if it does not exist. The same command goes on where the last
    /// one stopped.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Run only the I-th of N shares of the cells, such as 3/8; all shares cost about the same.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Threads; the results do not depend on it [default: all cores].
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Run nothing, but join in --out what these folders hold, which are parts of one sweep.
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with = "shard")]
    pub(crate) merge: Option<Vec<PathBuf>>,
    /// Print a summary as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A share of the cells: the `i`-th of `n`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) i: usize,
    pub(crate) n: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts =
            text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((i, n)) if (1..=n).contains(&i) => Ok(Shard { i, n }),
            _ => Err("use I/N with I from 1 to N, such as 3/8".into()),
        }
    }
}
