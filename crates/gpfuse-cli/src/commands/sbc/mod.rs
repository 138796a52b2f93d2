//! `gpfuse sbc`: simulation-based calibration, each simulation recorded as soon as it is finished.

mod show;
mod watch;

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, anyhow};
use gpfuse::calibrate::{Ended, Study, judge, run_all};
use gpfuse_io::ledger::{Ledger, Simulations};
use gpfuse_report::figure::{self, Format, Ranks, ranks};

use self::show::{Summary, name};
use self::watch::Watch;
use super::Outcome;
use crate::args::SbcArgs;
use crate::print;
use crate::progress::{cancelled, listen_saying};

/// The most simulations: more tell nothing that fewer do not.
const MOST_SIMULATIONS: u64 = 100_000;

pub(super) fn run(args: &SbcArgs) -> anyhow::Result<Outcome> {
    let begun = Instant::now();
    if !(1..=MOST_SIMULATIONS).contains(&args.sims) {
        anyhow::bail!("setting `sims`: {} is out of range: use 1 to {MOST_SIMULATIONS}", args.sims);
    }
    let study = Study::new(args.settings()?)?;
    let told = Simulations::settings(study.settings(), env!("CARGO_PKG_VERSION"))?;
    let ledger = Ledger::open(&args.out, Simulations(study.names().to_vec()), &told)?;
    if ledger.was_cut() {
        let path = ledger.path().display();
        print::note(&format!(
            "note: the last line of `{path}` was half written: it is taken out and its simulation \
             runs again"
        ));
    }
    let known: HashSet<u64> = ledger.rows().iter().map(|row| row.number).collect();
    let left: Vec<u64> = (0..args.sims).filter(|number| !known.contains(number)).collect();
    let done = args.sims as usize - left.len();
    if done > 0 && !left.is_empty() {
        print::note(&format!("{done} of {} simulations are there already", args.sims));
    }

    listen_saying("stopping: all finished simulations are kept".into())?;
    let watch = Watch::new(study.settings().fit.method.name(), done, args.sims as usize);
    let ledger = Mutex::new(ledger);
    let ended =
        run_all(&study, &left, study.settings().fit.sampler.threads, &watch, |simulation| {
            let mut ledger =
                ledger.lock().map_err(|_| anyhow!("an earlier line was not recorded"))?;
            ledger.record(simulation.clone())?;
            drop(ledger);
            watch.end(&simulation);
            anyhow::Ok(())
        });
    watch.clear();
    let ledger = ledger.into_inner().map_err(|_| anyhow!("a line could not be recorded"))?;
    let ended = ended?.context(
        "stopped: all simulations before this one are kept; once it is mended, the same command \
         goes on",
    )?;
    // An earlier run may have made more simulations than are asked for now.
    let mut rows = ledger.rows().to_vec();
    rows.retain(|row| row.number < args.sims);
    if ended == Ended::Cancelled || cancelled() {
        print::note(&format!(
            "stopped: {} of {} simulations are in `{}`: the same command goes on from there",
            rows.len(),
            args.sims,
            ledger.path().display()
        ));
        return Ok(Outcome::Interrupted);
    }
    let verdict = judge(study.names(), study.settings().ranked(), &rows);
    let simulations = print::count(verdict.simulations, "simulation");
    let title = format!("Ranks: {}, {simulations}", name(&study));
    let scene = ranks(&Ranks::of(title, &verdict));
    let files = [(Format::Svg, "ecdf.svg"), (Format::Png, "ecdf.png")];
    for (format, name) in files {
        figure::write(&args.out.join(name), format, &scene)?;
    }
    let first = rows.iter().find(|row| !row.error.is_empty()).map(|row| row.error.as_str());
    let (ranks, seconds) = (ledger.path(), begun.elapsed().as_secs_f64());
    Summary {
        study: &study,
        verdict: &verdict,
        ran: left.len(),
        seconds,
        ranks,
        first_error: first,
    }
    .show(args)
}
