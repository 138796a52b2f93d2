//! The figure of a calibration study.

use gpfuse::calibrate::{LEVEL, Study, Verdict};
use gpfuse_report::figure::{RankPanel, Ranks, Scene, ranks};

use super::show::name;
use crate::print;

pub(super) fn scene(study: &Study, verdict: &Verdict) -> Scene {
    let panels = verdict.quantities.iter().map(|q| RankPanel {
        name: q.name.clone(),
        shares: q.shares.clone(),
        inside: q.calibrated,
    });
    let bands = [&verdict.band, &verdict.inner].map(|b| (b.low.clone(), b.high.clone()));
    let simulations = print::count(verdict.simulations, "simulation");
    ranks(&Ranks {
        title: format!("Ranks: {}, {simulations}", name(study)),
        points: verdict.band.points.clone(),
        bands: bands.to_vec(),
        panels: panels.collect(),
        note: format!(
            "shade: where uniform ranks stay, dark in 95 % of panels, light in {} % of studies; \u{2717}: \
             not uniform",
            100.0 * (1.0 - LEVEL)
        ),
    })
}
