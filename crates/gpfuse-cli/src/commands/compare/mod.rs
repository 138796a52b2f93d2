//! `gpfuse compare`: every method on the same rows, as a table and a figure.

mod draw;
mod show;
mod watch;

use std::path::Path;

use anyhow::bail;
use gpfuse::compare::{Comparison, Contestant, Scored, compare};
use gpfuse::settings::Style;

use super::training::{Columns, Methods, Training, in_table, missing, settled};
use super::{Outcome, refuse_unwritable};
use crate::args::CompareArgs;
use crate::print;
use crate::progress::listen_for;
use gpfuse_report::figure::{self, Format};

pub(super) fn run(args: &CompareArgs) -> anyhow::Result<Outcome> {
    refuse_meaningless(args)?;
    let mut given = args.options.with_file(args.settings.as_deref())?;
    // All methods run: a setting of some of them has its effect there.
    given.remove("method");
    let columns = Columns::from(&args.columns);
    let train = Training::read(&args.train, columns, missing(&given)?)?;
    train.tell();
    let settings = settled(given, &train.data, Methods::Several)?;
    let figure = match &args.figure {
        Some(path) => {
            let format = Format::of(path)?;
            refuse_unwritable(path)?;
            Some((path, format))
        }
        None => None,
    };
    let test = args.test.as_deref().map(|path| Training::like(path, &train.data)).transpose()?;
    test.iter().for_each(Training::tell_columns);
    let chosen = args.methods.clone().unwrap_or_else(|| Contestant::usual(&settings));

    listen_for("what is finished")?;
    let watch = watch::Watch::new(chosen.len(), settings.sampler.chains);
    let test = test.as_ref().map(|test| &test.data);
    let comparison = compare(&train.data, test, &settings, &chosen, &watch)
        .map_err(|e| in_table(e.into(), &train.path))?;
    if let Some((path, format)) = figure {
        figure::write(path, format, &draw::scene(&comparison))?;
    }
    show::warn(&comparison);
    if args.json {
        print::json(&comparison.to_json(Style::CommandLine))?;
    } else {
        let mut lines = show::table(&comparison);
        lines.extend(figure.map(|(path, _)| format!("wrote `{}`", path.display())));
        print::lines(&lines)?;
    }
    outcome(&comparison, args.strict)
}

/// Refuse settings that choose one method: all of them run.
fn refuse_meaningless(args: &CompareArgs) -> anyhow::Result<()> {
    if args.options.given.get("method").is_some() {
        bail!("setting `method`: all methods are compared: choose some with --methods");
    }
    if args.options.given.get("plain").is_some() {
        bail!("setting `plain`: both forms of pbhs are compared: choose with --methods");
    }
    if args.train == Path::new("-") && args.test.as_deref() == Some(Path::new("-")) {
        bail!("both tables cannot come from standard input: give one of them a file name");
    }
    Ok(())
}

fn outcome(comparison: &Comparison, strict: bool) -> anyhow::Result<Outcome> {
    if comparison.interrupted {
        return Ok(Outcome::Interrupted);
    }
    if comparison.scored().next().is_none() {
        bail!("every method failed: the table says why");
    }
    let failed = comparison.scored().count() < comparison.entries.len();
    let doubt = failed || comparison.scored().any(|(_, scored)| doubtful(scored));
    Ok(if strict && doubt { Outcome::Doubtful } else { Outcome::Done })
}

/// Whether its chains or its leave-one-out scores are not to be trusted.
fn doubtful(scored: &Scored) -> bool {
    scored.convergence.as_ref().is_some_and(|c| !c.passed)
        || scored.trust.is_some_and(|t| t.bad_rows > 0)
}
