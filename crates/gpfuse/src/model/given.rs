//! What experts made elsewhere say about rows, laid out for the vector kernels.

use crate::data::Said;
use crate::math::{Lanes, ROWS};
use crate::pool::ExpertBlock;
use crate::rows::blocked;
use crate::{Error, Result};

/// Log probabilities below this are no lower: weights that underflow times minus infinity would be no number.
const LOWEST_LOG: f64 = -1e300;

/// What experts made elsewhere say about the rows of a [`Rows`](crate::rows::Rows).
#[derive(Debug, Clone)]
pub struct Given {
    rows: usize,
    experts: usize,
    mu: Vec<Vec<Lanes>>,
    log_sd: Vec<Vec<Lanes>>,
    /// The log probability of each outcome, expert after expert; first that of the target. A mixture of normal
    /// densities may have those of the targets too, which spare it their computation.
    log_p: Vec<Vec<Lanes>>,
}

impl Given {
    /// From K means and standard deviations per expert, each of the rows' length.
    pub fn new(mean: &[Vec<f64>], sd: &[Vec<f64>]) -> Result<Given> {
        let rows = mean.first().map_or(0, Vec::len);
        if mean.len() != sd.len() || mean.iter().chain(sd).any(|v| v.len() != rows) {
            return Err(Error::Shape {
                what: "given experts".into(),
                expected: format!("as many means as sds, each {rows} numbers long"),
                found: format!("{} means and {} sds", mean.len(), sd.len()),
            });
        }
        for (k, (mean, sd)) in mean.iter().zip(sd).enumerate() {
            let bad = |v: &[f64], ok: fn(f64) -> bool| v.iter().position(|x| !ok(*x));
            if let Some(row) = bad(mean, f64::is_finite) {
                let (k, row, value) = (k + 1, row + 1, mean[row]);
                return Err(Error::Data(format!("expert {k}, row {row}: mean is {value}")));
            }
            if let Some(row) = bad(sd, |s| s.is_finite() && s > 0.0) {
                let (k, row, value) = (k + 1, row + 1, sd[row]);
                let problem = format!("expert {k}, row {row}: sd is {value}, it must be positive");
                return Err(Error::Data(problem));
            }
        }
        let log = |sd: &Vec<f64>| sd.iter().map(|s| s.ln()).collect::<Vec<f64>>();
        Ok(Given {
            rows,
            experts: mean.len(),
            mu: mean.iter().map(|m| blocked(m)).collect(),
            log_sd: sd.iter().map(|s| blocked(&log(s))).collect(),
            log_p: Vec::new(),
        })
    }

    /// From what the experts say, on the model's scale.
    pub(crate) fn of(said: &Said) -> Result<Given> {
        let log_density = match said {
            Said::Normal(all) => return Given::new(all.mean(), all.sd()),
            Said::LogDensity(all) => all.values(),
            Said::Classes(all) => &all.by_class(),
        };
        let (rows, experts) = (said.rows(), said.experts());
        let none = Given { rows, experts, mu: Vec::new(), log_sd: Vec::new(), log_p: Vec::new() };
        Ok(none.with_log_density(log_density))
    }

    /// With the log densities of the targets, which a mixture takes instead of computing them.
    pub(crate) fn with_log_density(self, log_density: &[Vec<f64>]) -> Given {
        let lanes =
            |v: &Vec<f64>| blocked(&v.iter().map(|log| log.max(LOWEST_LOG)).collect::<Vec<f64>>());
        Given { log_p: log_density.iter().map(lanes).collect(), ..self }
    }

    /// The number of experts.
    pub fn experts(&self) -> usize {
        self.experts
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// How many outcomes the experts gave probabilities of; 0 where they gave densities of all.
    pub(crate) fn outcomes(&self) -> usize {
        if self.mu.is_empty() { self.log_p.len() / self.experts } else { 0 }
    }

    /// Those of block `b` alone, which has `rows` rows.
    pub(crate) fn alone(&self, b: usize, rows: usize) -> Given {
        self.each(rows, |lanes| vec![lanes[b]])
    }

    /// Those at the rows with these numbers.
    pub(super) fn pick(&self, rows: &[usize]) -> Given {
        let at = |lanes: &[Lanes]| -> Vec<f64> {
            rows.iter().map(|r| lanes[r / ROWS][r % ROWS]).collect()
        };
        self.each(rows.len(), |lanes| blocked(&at(lanes)))
    }

    fn each(&self, rows: usize, of: impl Fn(&[Lanes]) -> Vec<Lanes>) -> Given {
        let all = |v: &[Vec<Lanes>]| v.iter().map(|lanes| of(lanes)).collect();
        let (mu, log_sd, log_p) = (all(&self.mu), all(&self.log_sd), all(&self.log_p));
        Given { rows, experts: self.experts, mu, log_sd, log_p }
    }

    /// Put what is said about block `b` into `experts`.
    pub(super) fn put(&self, b: usize, experts: &mut ExpertBlock) {
        let put = |from: &[Vec<Lanes>], to: &mut [Lanes]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from[b]);
        };
        put(&self.mu, &mut experts.mu);
        put(&self.log_sd, &mut experts.log_sd);
        experts.log_p.resize(self.log_p.len(), Lanes::splat(0.0));
        put(&self.log_p, &mut experts.log_p);
    }
}
