//! A calibration study for people and as JSON.

use std::path::Path;

use gpfuse::calibrate::{LEVEL, Study, Verdict};
use gpfuse::fit::BasisChoice;
use gpfuse::in_one_line;
use serde_json::json;

use super::Outcome;
use crate::args::SbcArgs;
use crate::print;

/// What was studied, in a few words.
pub(super) fn name(study: &Study) -> String {
    let (fit, rows) = (&study.settings().fit, study.settings().rows);
    let basis = match fit.basis {
        BasisChoice::Rff => format!("RFF of {} frequencies", fit.frequencies),
        BasisChoice::Eigen => "eigenfunctions of an assumed pilot".into(),
        _ => format!("Hilbert basis of {}", fit.size.unwrap_or_default()),
    };
    let experts = print::count(study.model().experts(), "expert");
    format!("{}, {experts}, {basis}, {}", fit.method, print::count(rows, "row"))
}

/// The summary that is printed at the end.
pub(super) struct Summary<'a> {
    pub(super) study: &'a Study,
    pub(super) verdict: &'a Verdict,
    /// Simulations that ran now.
    pub(super) ran: usize,
    pub(super) seconds: f64,
    pub(super) ranks: &'a Path,
    pub(super) first_error: Option<&'a str>,
}

impl Summary<'_> {
    pub(super) fn show(&self, args: &SbcArgs) -> anyhow::Result<Outcome> {
        let found = self.verdict;
        print::warn(self.warnings());
        if args.json {
            print::json(&json!({
                "method": self.study.settings().fit.method,
                "settings": **self.study.settings(),
                "calibrated": found.calibrated(),
                "verdict": found,
                "ran": self.ran,
                "seconds": self.seconds,
                "ranks": self.ranks,
            }))?;
        } else {
            print::lines(&self.lines(args))?;
        }
        let doubt = !found.calibrated() || found.failed > 0;
        Ok(if args.strict && doubt { Outcome::Doubtful } else { Outcome::Done })
    }

    fn warnings(&self) -> Vec<String> {
        let found = self.verdict;
        let mut out = Vec::new();
        if let Some(error) = self.first_error {
            out.push(format!(
                "{} failed and left out, the first of them so: {}",
                print::count(found.failed, "simulation"),
                in_one_line(error)
            ));
        }
        if found.ess_short > 0.1 {
            out.push(format!(
                "in {:.0} % of the simulations the draws are worth fewer than the {} that are \
                 ranked, and ranks among draws that depend on each other are not quite uniform: \
                 use more --draws, or more of --warmup and --max-depth",
                100.0 * found.ess_short,
                found.ranked
            ));
        }
        out
    }

    fn lines(&self, args: &SbcArgs) -> Vec<String> {
        let found = self.verdict;
        let head = ["quantity", "chi2 p", "ECDF p", "ECDF beyond", "verdict"];
        let mut rows = vec![head.map(String::from).to_vec()];
        for q in &found.quantities {
            rows.push(vec![
                q.name.clone(),
                probability(q.chi_square_p),
                probability(q.ecdf_p),
                if q.ecdf_excess > 0.0 { format!("{:.3}", q.ecdf_excess) } else { "-".into() },
                if q.calibrated { "uniform".into() } else { "NOT UNIFORM".into() },
            ]);
        }
        let mut out = print::table(&rows);
        let strays = found.quantities.iter().filter(|q| !q.calibrated).count();
        let quantities = format!("{} quantities", found.quantities.len());
        out.push(String::new());
        out.push(match strays {
            _ if found.simulations == 0 => "NOT CALIBRATED: every simulation failed".into(),
            0 => format!(
                "calibrated: no p-value of {quantities} is below {} ({LEVEL} over {} tests)",
                probability(found.threshold),
                2 * found.quantities.len()
            ),
            _ => format!(
                "NOT CALIBRATED: the ranks of {strays} of {quantities} are not uniform (a p-value \
                 below {}, {LEVEL} over {} tests)",
                probability(found.threshold),
                2 * found.quantities.len()
            ),
        });
        let ess = found.ess_median.map_or("-".into(), |ess| format!("{ess:.0}"));
        out.push(format!(
            "{} of {}, {} of them now: {:.1} s; ranked among {} draws (median of the smallest ESS \
             {ess}), {:.1} divergences each",
            print::count(found.simulations, "simulation"),
            name(self.study),
            self.ran,
            self.seconds,
            found.ranked,
            found.divergences
        ));
        let out_dir = args.out.display();
        out.push(format!(
            "wrote `{}`, `{out_dir}/ecdf.svg` and `{out_dir}/ecdf.png`",
            self.ranks.display()
        ));
        out
    }
}

/// A p-value.
fn probability(p: f64) -> String {
    if p < 1e-3 { format!("{p:.0e}") } else { format!("{p:.3}") }
}
