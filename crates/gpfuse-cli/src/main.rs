//! The program `gpfuse`: from a table to one calibrated density, and back to a table.

mod args;
mod commands;
mod print;
mod progress;
#[cfg(unix)]
mod signals;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use gpfuse::settings::Style;

fn main() -> ExitCode {
    #[cfg(unix)]
    signals::settle();
    let args = match args::Cli::try_parse() {
        Ok(args) => args,
        Err(e) => return usage(&e),
    };
    match commands::run(args.command) {
        Ok(outcome) => ExitCode::from(outcome as u8),
        Err(e) => {
            print::note(&format!("gpfuse: {}", message(&e)));
            ExitCode::from(1)
        }
    }
}

/// Settings are called, and advice is given, as they are typed.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let words = error.chain().map(|cause| match cause.downcast_ref::<gpfuse::Error>() {
        Some(error) => error.render(Style::CommandLine),
        None => cause.to_string(),
    });
    gpfuse::in_one_line(&words.collect::<Vec<_>>().join(": "))
}

/// Help and version as clap has them; an error in one line, as all errors are.
fn usage(error: &clap::Error) -> ExitCode {
    let shown = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if shown {
        // It is no error if nobody reads the output any more.
        let _ = error.print();
    } else {
        print::note(&format!("gpfuse: {}", one_line(&error.render().to_string())));
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

/// What is wrong and what would be right, without the usage, which `--help` shows in full.
fn one_line(text: &str) -> String {
    let told = |line: &&str| !line.is_empty() && !line.starts_with("tip: to pass");
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .filter(told)
        .collect();
    let text = lines.join(" ");
    format!("{}: see --help", text.strip_prefix("error: ").unwrap_or(&text))
}
