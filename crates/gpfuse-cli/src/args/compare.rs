//! What `gpfuse compare` is told.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use gpfuse::compare::Contestant;

use super::ColumnArgs;
use super::options::{FitOptions, Names};

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Table to train on, with a header (`-` for CSV on standard input).
    ///
    /// It is a file .csv, .csv.gz, .tsv or .parquet.
    #[arg(help_heading = "Data", display_order = 0)]
    pub(crate) train: PathBuf,
    /// Table with the same columns to score on [default: rows of the training table].
    ///
    /// Without it the rows of the training table that the weights are learned from are scored, each
    /// left out in turn.
    #[arg(help_heading = "Data", display_order = 0)]
    pub(crate) test: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    /// Settings file (TOML), as for `gpfuse fit`; flags given here win.
    ///
    /// Its method is not looked at.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub(crate) settings: Option<PathBuf>,
    /// Methods to compare, separated by commas [default: all].
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = contestants())]
    #[arg(help_heading = "Experts", hide_possible_values = true, long_help = methods())]
    pub(crate) methods: Option<Vec<Contestant>>,
    #[command(flatten)]
    pub(crate) options: FitOptions,
    /// Draw the comparison to this file (.svg or .png).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) figure: Option<PathBuf>,
    /// Exit with code 3 where a method failed or its diagnostics do not pass.
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,
    /// Print the comparison as JSON.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// All that can be compared, for the long help.
fn methods() -> String {
    let names: Vec<&str> = Contestant::all().into_iter().map(Contestant::name).collect();
    let names = names.join(", ");
    format!("Methods to compare, separated by commas [default: all] [possible values: {names}]")
}

fn contestants() -> impl TypedValueParser<Value = Contestant> {
    Names::new(Contestant::all().into_iter().map(Contestant::name))
        .try_map(|name| name.parse::<Contestant>().map_err(|e| e.to_string()))
}
