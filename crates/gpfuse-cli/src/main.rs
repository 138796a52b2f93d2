//! The program `gpfuse`: from a table to one calibrated density, and back to a table.

mod args;
mod commands;
mod print;
mod progress;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = args::Cli::parse();
    match commands::run(args.command) {
        Ok(outcome) => ExitCode::from(outcome as u8),
        Err(e) => {
            eprintln!("gpfuse: {e:#}");
            ExitCode::from(1)
        }
    }
}
