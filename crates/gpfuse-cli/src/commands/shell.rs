//! `gpfuse completions` and `gpfuse man`: what the help says, for a shell and as man pages.

use std::fs::create_dir_all;
use std::io::Write;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use gpfuse_io::atomic::{AtomicFile, WriteError};

use super::Outcome;
use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::print;

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "gpfuse", &mut text);
    print::lines(&[String::from_utf8(text)?.trim_end().to_string()])?;
    Ok(Outcome::Done)
}

pub(super) fn man(args: &ManArgs) -> anyhow::Result<Outcome> {
    let out = &args.out;
    create_dir_all(out).with_context(|| format!("folder `{}`", out.display()))?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let pages: Vec<&Command> = [&command].into_iter().chain(command.get_subcommands()).collect();
    for page in &pages {
        let name = page.get_display_name().unwrap_or(page.get_name());
        let mut text = Vec::new();
        Man::new((*page).clone()).render(&mut text)?;
        let path = out.join(format!("{name}.1"));
        let mut file = AtomicFile::create(&path)?;
        let written = file.write_all(&text).and_then(|()| file.commit());
        written.map_err(|cause| WriteError::new(&path, &cause))?;
    }
    let pages = print::count(pages.len(), "page");
    print::lines(&[format!("wrote {pages} to `{}`", out.display())])?;
    Ok(Outcome::Done)
}
