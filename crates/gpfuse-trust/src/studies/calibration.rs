//! Simulation-based calibration of every method: a fresh study, and the long one that is committed.

use std::sync::Mutex;

use anyhow::{anyhow, ensure};
use gpfuse::calibrate::{Ended, LEVEL, Settings, Study as Calibration, Verdict, judge, run_all};
use gpfuse::infer::Quiet;
use gpfuse::model::Method;
use gpfuse_io::ledger::{self, Simulations};
use gpfuse_report::figure::{Ranks, ranks};
use gpfuse_report::page::Album;
use gpfuse_report::page::document::Block;

use crate::finding::short;
use crate::study::recorded;
use crate::{Finding, Run, Study};

pub(super) const STUDY: Study = Study {
    name: "calibration",
    title: "Simulation-based calibration",
    about: "Parameters are drawn from the prior, data from the model with them, and the posterior \
            given these data is sampled. If draws, density and prior belong together, the rank of the \
            truth among the draws is uniform: for the log likelihood, the fused mean and density at \
            inputs without data, the largest weight and the hyperparameters. `docs/calibration.md` \
            tells more.",
    run,
    figures,
};

/// Simulations of the long study of each method, which is committed.
const RECORDED: usize = 1000;

fn run(run: &Run) -> anyhow::Result<Vec<Finding>> {
    let mut out = Vec::new();
    for method in Method::SAMPLED {
        // Ranks of another study would say nothing of this one.
        Simulations::told(
            &recorded("sbc").join(method.name()),
            calibration(method, 0)?.settings(),
        )?;
        out.push(fresh(method, run)?);
        if !run.short {
            out.push(long(method)?);
        }
    }
    Ok(out)
}

/// The study of a method as `gpfuse sbc` runs it by default.
fn calibration(method: Method, seed: u64) -> anyhow::Result<Calibration> {
    let mut settings = Settings::default();
    (settings.fit.method, settings.fit.sampler.seed) = (method, seed);
    Ok(Calibration::new(settings.check()?)?)
}

/// New simulations. Their seed is not that of the long study.
fn fresh(method: Method, run: &Run) -> anyhow::Result<Finding> {
    let study = calibration(method, run.seed + 1)?;
    let numbers: Vec<u64> = (0..run.size(20, 100) as u64).collect();
    let taken = Mutex::new(Vec::new());
    let ended = run_all(&study, &numbers, run.threads, &Quiet, |done| {
        taken.lock().map_err(|_| anyhow!("a simulation panicked"))?.push(done);
        anyhow::Ok(())
    })??;
    ensure!(ended == Ended::Whole, "the simulations were stopped");
    let taken = taken.into_inner().map_err(|_| anyhow!("a simulation panicked"))?;
    let verdict = judge(study.names(), study.settings().ranked(), &taken);
    Ok(finding(format!("{method}, {} simulations", numbers.len()), numbers.len(), &verdict))
}

/// The simulations that are committed, judged anew.
fn kept(method: Method) -> anyhow::Result<Verdict> {
    let study = calibration(method, 0)?;
    let all =
        ledger::rows(&recorded("sbc").join(method.name()), &Simulations(study.names().to_vec()))?;
    Ok(judge(study.names(), study.settings().ranked(), &all))
}

/// The ranks of the long studies.
fn figures(album: &mut Album) -> anyhow::Result<Vec<Block>> {
    let one = |method: Method| {
        let verdict = kept(method)?;
        let title = format!("{method}, {} simulations", verdict.simulations);
        let scene = ranks(&Ranks::of(title.clone(), &verdict));
        let caption = "The distribution function of the ranks of each quantity less that of uniform \
                       ranks, with the bands that uniform ranks stay in.";
        Ok(album.show(&format!("ranks-{method}"), &format!("Ranks of {title}"), caption, scene))
    };
    Method::SAMPLED.into_iter().map(one).collect()
}

fn long(method: Method) -> anyhow::Result<Finding> {
    let verdict = kept(method)?;
    let claim = format!("{method}, {RECORDED} recorded simulations");
    let finding = finding(claim, RECORDED, &verdict);
    let made = format!("made by `gpfuse sbc --method {method} --sims {RECORDED}`");
    Ok(Finding { note: format!("{}; {made}", finding.note), ..finding })
}

fn finding(claim: String, wanted: usize, verdict: &Verdict) -> Finding {
    let p = |q: &gpfuse::calibrate::Judged| q.chi_square_p.min(q.ecdf_p);
    let least = verdict.quantities.iter().min_by(|a, b| p(a).total_cmp(&p(b)));
    let found = least.map_or("no quantity".into(), |q| format!("{} ({})", short(p(q)), q.name));
    let target = format!("every p-value above {}", short(verdict.threshold));
    let whole = verdict.simulations == wanted && verdict.failed == 0;
    let result =
        format!("smallest {found}, {} simulations, {} failed", verdict.simulations, verdict.failed);
    let note = format!(
        "{} tests of {} quantities; a sound sampler fails with a probability of about {LEVEL} at \
         most. {} divergences per simulation; {} % of the simulations have fewer effective draws \
         than the {} that are ranked",
        2 * verdict.quantities.len(),
        verdict.quantities.len(),
        short(verdict.divergences),
        short(100.0 * verdict.ess_short),
        verdict.ranked
    );
    Finding::new(claim, target, result, whole && verdict.calibrated()).with(note)
}
