//! What is typed: commands, flags and the settings file, which share one definition.

mod compare;
mod options;
mod sbc;
mod sweep;

use std::path::PathBuf;

use clap::{Arg, Args, Parser, Subcommand};
use gpfuse::Method;
use gpfuse::kernel::Kernel;
use gpfuse::math::simd::Level;
use options::{KERNELS, Names, named};

pub(crate) use compare::CompareArgs;
pub(crate) use options::{FitOptions, read};
pub(crate) use sbc::SbcArgs;
pub(crate) use sweep::{PaperArgs, RunArgs, SweepArgs};

/// Fuse Gaussian-process predictions into one calibrated density.
///
/// The weights of the experts depend on the input and are inferred by Monte Carlo.
#[derive(Debug, Parser)]
#[command(name = "gpfuse", version, long_version = long_version(), about, long_about)]
#[command(propagate_version = true)]
#[command(after_help = "Start with `gpfuse demo`, or with a table of your own:\n  \
                        gpfuse fit train.csv --target y --out model.nc\n  \
                        gpfuse evaluate model.nc test.csv\n  \
                        gpfuse predict model.nc new.csv --out predictions.csv\nor with predictions of models that you have (columns mean_NAME, sd_NAME):\n  \
                        gpfuse stack predictions.csv --target y --out model.nc\n\nExit codes: 0 done, 1 error, 2 usage, 3 the diagnostics do not pass \
                        (with --strict), 130 interrupted (what was drawn is kept, in the model or the checkpoint).")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The version, and the instruction sets of this machine that the numerical kernels have code for.
fn long_version() -> String {
    let sets: Vec<&str> = Level::available().into_iter().map(Level::name).collect();
    let (version, used) = (env!("CARGO_PKG_VERSION"), Level::detect().name());
    format!("{version}\ninstruction sets: {} (in use: {used})", sets.join(" "))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The tour: simulate, fit all five methods, compare (half a minute).
    Demo(DemoArgs),
    /// Draw a synthetic data set from a mixture of GP experts.
    #[command(allow_negative_numbers = true)]
    Simulate(SimulateArgs),
    /// Fit a model to a table and write a model file.
    #[command(allow_negative_numbers = true)]
    Fit(Box<FitArgs>),
    /// Learn weights for experts made anywhere: a table with their predictions.
    #[command(allow_negative_numbers = true)]
    #[command(mut_args(FitArgs::stacked))]
    Stack(Box<FitArgs>),
    /// Compare every method and fusion rule on the same rows.
    #[command(allow_negative_numbers = true)]
    #[command(mut_arg("method", |a| a.hide(true)), mut_arg("plain", |a| a.hide(true)))]
    Compare(Box<CompareArgs>),
    /// Run many fits of a sweep file, each scored on test rows; survives being stopped.
    Sweep(SweepArgs),
    /// Run the paper's experiments again, on both bases and with our own variants.
    Paper(PaperArgs),
    /// Predict at new rows.
    #[command(allow_negative_numbers = true)]
    Predict(PredictArgs),
    /// Score a model on rows with known targets.
    Evaluate(EvaluateArgs),
    /// Show what is in a model file, and its diagnostics.
    Inspect(InspectArgs),
    /// Simulation-based calibration: are the draws of a method those of its posterior?
    Sbc(SbcArgs),
    /// Write a sweep or a model as one HTML page that needs no network.
    Report(ReportArgs),
    /// Print completions for a shell, to be put where it looks for them.
    ///
    /// For bash: gpfuse completions bash > ~/.local/share/bash-completion/completions/gpfuse
    Completions(CompletionsArgs),
    /// Write the manual as man pages, one for each command.
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder for the pages; made if it does not exist.
    #[arg(long, default_value = "man", value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Folder for the demo's files; made if it does not exist.
    #[arg(long, default_value = "gpfuse-demo", value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Seed of the data and of the fits.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the table as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// File for inputs and target: .csv, .csv.gz or .parquet (`-` for CSV on standard output).
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The same for the truth: component, means, log sds, weights, true log density.
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Rows.
    #[arg(long, default_value_t = 1000)]
    pub(crate) n: usize,
    /// Experts of the generator.
    #[arg(long, default_value_t = 3)]
    pub(crate) experts: usize,
    /// Inputs per row.
    #[arg(long, default_value_t = 1)]
    pub(crate) inputs: usize,
    /// Lower end of the domain of every input.
    #[arg(long, default_value_t = -5.0)]
    pub(crate) low: f64,
    /// Upper end of the domain of every input.
    #[arg(long, default_value_t = 5.0)]
    pub(crate) high: f64,
    /// Lengthscale of the experts' means.
    #[arg(long, default_value_t = 0.2, value_name = "L")]
    pub(crate) mean_lengthscale: f64,
    /// Lengthscale of the gates.
    #[arg(long, default_value_t = 0.5, value_name = "L")]
    pub(crate) gate_lengthscale: f64,
    /// Lengthscale of the log standard deviations.
    #[arg(long, default_value_t = 0.5, value_name = "L")]
    pub(crate) log_sd_lengthscale: f64,
    /// Noise level: mean of the log standard deviations.
    #[arg(long, default_value_t = -2.0)]
    pub(crate) log_sd_mean: f64,
    /// Kernel of all GPs.
    #[arg(long, default_value = "rbf", value_parser = named::<Kernel>(&KERNELS))]
    pub(crate) kernel: Kernel,
    /// Seed.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
}

/// Which columns of a table are used.
#[derive(Debug, Args)]
pub(crate) struct ColumnArgs {
    /// Column to predict.
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub(crate) target: String,
    /// Input columns, separated by commas [default: all but the target].
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data")]
    pub(crate) inputs: Option<Vec<String>>,
    /// Columns that are no inputs, separated by commas; all others are.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data")]
    #[arg(conflicts_with = "inputs")]
    pub(crate) exclude: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Table with a header: .csv, .csv.gz, .tsv or .parquet (`-`: standard input).
    #[arg(help_heading = "Data", display_order = 0)]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    /// Table that says which rows (column `row`, from 1) train which expert (column `expert`, from
    /// 1; 0 for the weights), instead of a random division; bhs and pbhs.
    #[arg(long, value_name = "FILE", help_heading = "Data", hide_short_help = true)]
    pub(crate) assign: Option<PathBuf>,
    /// Settings file (TOML); flags given here win.
    ///
    /// Its keys are the flags from --scaling to --combine without the two dashes, and tables [priors.mu], [priors.log_sd] and
    /// [priors.gate] with the prior scales `var` and `ell`, and [priors.calibration] with `scale`,
    /// `floor`, `tail`, `blend` and `temper`.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub(crate) settings: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: FitOptions,
    /// Model file to write [default: the table's name with .nc].
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Folder that keeps what is finished, so that a killed fit goes on.
    ///
    /// After a kill, the same command goes on from there and ends in the same model file. The folder
    /// is removed at the end.
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Exit with code 3 where the diagnostics do not pass.
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,
    /// Print the summary as JSON.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

impl FitArgs {
    /// The flags of `stack`: its experts are given, and its table has them.
    fn stacked(arg: Arg) -> Arg {
        let data = "Table with the inputs, the target, and for each expert `mean_NAME` and `sd_NAME` (noise \
                    included), or `lpd_NAME`, its log density of the target (bhs): rows that trained no \
                    expert";
        let inputs = "Input columns that the weights depend on, separated by commas [default: all but \
                      the target and the experts]";
        match arg.get_id().as_str() {
            "data" => arg.help(data),
            "inputs" => arg.help(inputs),
            // Its weights have functions of their own number.
            "assign" | "density" | "functions" => arg.hide(true),
            "method" => arg
                .value_parser(Names::new(fusing()))
                .help("Method: pbhs, bhs, or a classical rule such as stacking or rbcm [default: pbhs]")
                .long_help(format!("Method. [default: pbhs] [possible values: {}]", fusing().join(", "))),
            name => {
                let made = MAKE_EXPERTS.contains(&name);
                arg.hide(made)
            }
        }
    }
}

/// The methods that fuse experts that are there.
fn fusing() -> Vec<&'static str> {
    Method::ALL.into_iter().filter(|method| method.fuses()).map(Method::name).collect()
}

/// The settings that say how experts are made.
pub(crate) const MAKE_EXPERTS: [&str; 7] = [
    "experts",
    "partition",
    "along",
    "expert_inputs",
    "hold_out",
    "expert_kernel",
    "expert_objective",
];

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// Model file.
    pub(crate) model: PathBuf,
    /// Table with the model's input columns, and those of experts made elsewhere (`-` for CSV on
    /// standard input).
    pub(crate) data: PathBuf,
    /// File to write: .csv, .csv.gz or .parquet [default: CSV on standard output].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Columns of the table to carry over as they are, separated by commas, such as an id.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) keep: Vec<String>,
    /// Quantiles of the predictive density.
    #[arg(long, value_delimiter = ',', default_value = "0.05,0.5,0.95", value_name = "P,...")]
    pub(crate) quantiles: Vec<f64>,
    /// Add each expert's weight (mean and 90 % interval), mean and standard deviation.
    #[arg(long)]
    pub(crate) experts: bool,
    /// Add the log density, PIT and CRPS of the target column.
    #[arg(long)]
    pub(crate) density: bool,
    /// Integrate the coefficients of the experts' means out of each draw instead of using the one
    /// that was drawn: the same predictions, with less Monte Carlo noise; pogpe and het (or one
    /// expert), on the rff and hilbert bases. The experts' own columns stay as they are.
    #[arg(long)]
    pub(crate) rao_blackwell: bool,
    /// Add this many samples from the predictive density.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) samples: usize,
    /// Seed of the samples.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads [default: all cores].
    #[arg(long)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// Model file.
    pub(crate) model: PathBuf,
    /// Table with the model's input and target columns (`-` for CSV on standard input).
    pub(crate) data: PathBuf,
    /// Integrate the coefficients of the experts' means out of each draw instead of using the one
    /// that was drawn: the same predictions, with less Monte Carlo noise; pogpe and het (or one
    /// expert), on the rff and hilbert bases.
    #[arg(long)]
    pub(crate) rao_blackwell: bool,
    /// Print the scores as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with code 3 where the fit's diagnostics do not pass.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Threads [default: all cores].
    #[arg(long)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Model file.
    pub(crate) model: PathBuf,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with code 3 where the diagnostics do not pass.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Folder of a sweep, or a model file.
    pub(crate) path: PathBuf,
    /// HTML file to write [default: report.html in the folder of the sweep; the model's name with
    /// .html].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Folder for the figures as SVG and PNG; made if it does not exist [default: figures in the
    /// folder of the sweep; none for a model].
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
    /// Model: table with its input and target columns, to score it on.
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// Threads [default: all cores].
    #[arg(long)]
    pub(crate) threads: Option<usize>,
}
