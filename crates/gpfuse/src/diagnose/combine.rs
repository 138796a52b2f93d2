//! How chains become one predictive: alike, or weighted by how well each predicts.

use serde::{Deserialize, Serialize};

use super::chains::ChainLoo;
use crate::Result;
use crate::infer::Draws;
use crate::metrics::{Difference, paired};
use crate::model::Posterior;

/// At most this many training rows weigh the chains: a few numbers need no more.
const ROWS_SEEN: usize = 4000;

/// With so few draws per chain no row can be left out.
const TOO_FEW_DRAWS: usize = 10;

/// A sum of log scores that differs by less than this many nats is called alike (Sivula,
/// Magnusson, Matamoros and Vehtari, arXiv:2008.10296).
const ALIKE_NATS: f64 = 4.0;

/// So many standard errors make a difference sure. Weights fitted to n rows gain on these rows
/// even where they are worth nothing. There the standard error is the root of twice the gain, so
/// that this many ask for a gain of 8 nats, which 4 chains reach once in 1000 times.
const SURE_ERRORS: f64 = 2.0;

/// Where the k-hat of a chain is not to be trusted at more than one in so many rows, its score is
/// not either: it is too good, above all that of a chain that fits its rows too closely.
const DOUBTFUL_ROWS: usize = 20;

/// How the chains are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// All count alike.
    Equal,
    /// Each has its weight by stacking.
    Stack,
    /// By stacking where that surely predicts better, and else alike: where the log scores of rows
    /// left out gain 4 nats or more in sum, and more than twice the standard error of the gain, and
    /// no chain that gets weight has a k-hat that is not to be trusted at more than 5 % of the rows.
    #[default]
    Auto,
}

/// One chain among others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChainWeight {
    /// Its weight.
    pub weight: f64,
    /// Its mean log predictive density of rows left out, in the units of the target.
    pub elpd: f64,
    /// How far that is below the best chain's.
    pub behind: f64,
    /// The standard error of that over rows; none for the best.
    pub behind_se: Option<f64>,
    /// At how many rows its k-hat is not to be trusted.
    pub bad: usize,
}

/// The chains as they were weighed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChainWeights {
    /// One for each chain.
    pub chains: Vec<ChainWeight>,
    /// The number of rows they were scored at.
    pub rows: usize,
    /// What stacking gains over equal weights in mean log density of these rows.
    pub gain: f64,
    /// The standard error of that over rows.
    pub gain_se: Option<f64>,
    /// The largest k-hat to trust.
    pub good_khat: f64,
    /// What it comes to, in words.
    pub words: String,
}

impl ChainWeights {
    /// Weigh chains by their scores.
    pub fn new(scores: &ChainLoo, how: Combine) -> Result<ChainWeights> {
        let each = scores.each();
        let stacked = scores.stack();
        let equal = vec![1.0 / each.len() as f64; each.len()];
        let gain = paired(&scores.mixed(&stacked), &scores.mixed(&equal))?;
        let used = each.iter().zip(&stacked).filter(|(_, w)| **w > 0.0);
        let doubtful = used.map(|(loo, _)| loo.bad()).max() > Some(scores.rows() / DOUBTFUL_ROWS);
        let weights = match how {
            Combine::Stack => stacked,
            Combine::Auto if sure(gain) && !doubtful => stacked,
            Combine::Auto | Combine::Equal => equal,
        };
        let mut best = 0;
        for c in 1..each.len() {
            best = if each[c].elpd > each[best].elpd { c } else { best };
        }
        let chain = |c: usize| {
            let behind = paired(&each[best].pointwise, &each[c].pointwise)?;
            Ok(ChainWeight {
                weight: weights[c],
                elpd: each[c].elpd / scores.rows() as f64,
                behind: behind.mean,
                behind_se: behind.se.filter(|_| c != best),
                bad: each[c].bad(),
            })
        };
        let mut out = ChainWeights {
            chains: (0..each.len()).map(chain).collect::<Result<_>>()?,
            rows: scores.rows(),
            gain: gain.mean,
            gain_se: gain.se,
            good_khat: each[0].good_k,
            words: String::new(),
        };
        out.words = out.in_words();
        Ok(out)
    }

    /// The weights alone.
    pub fn weights(&self) -> Vec<f64> {
        self.chains.iter().map(|c| c.weight).collect()
    }

    /// Whether all chains count alike.
    pub fn alike(&self) -> bool {
        self.chains.iter().all(|c| c.weight == self.chains[0].weight)
    }

    /// The chains, counted from 0, that surely predict worse than the best.
    pub fn behind(&self) -> Vec<usize> {
        let surely =
            |c: &ChainWeight| sure(Difference { mean: c.behind, se: c.behind_se, rows: self.rows });
        (0..self.chains.len()).filter(|c| surely(&self.chains[*c])).collect()
    }

    fn in_words(&self) -> String {
        let behind = self.behind();
        let number = |c: &usize| (c + 1).to_string();
        let gap = |c: &usize| nats(self.chains[*c].behind);
        let all = |f: &dyn Fn(&usize) -> String| listed(behind.iter().map(f).collect());
        let modes = match behind.len() {
            0 if self.alike() => "no chain surely predicts better than another".into(),
            0 => "no chain is surely better than the others".into(),
            1 => format!(
                "chain {} is in another mode: its expected log density is {} nats per row below \
                 the best",
                all(&number),
                all(&gap)
            ),
            _ => format!(
                "chains {} are in other modes: their expected log densities are {} nats per row \
                 below the best",
                all(&number),
                all(&gap)
            ),
        };
        let weights: Vec<String> = self.chains.iter().map(|c| format!("{:.2}", c.weight)).collect();
        let weights = match self.alike() {
            true => "all count alike".into(),
            false => format!("weights {}", weights.join(", ")),
        };
        let used = self.chains.iter().filter(|c| c.weight > 0.0);
        let bad = used.map(|c| c.bad).max().unwrap_or(0);
        // Where the weights do not depend on the scores, doubtful scores do not matter.
        let matters = !(self.alike() && behind.is_empty());
        let doubt = match matters && bad > self.rows / DOUBTFUL_ROWS {
            true => format!(
                "; k-hat is above {:.2} at up to {bad} of {} rows, so that these scores are too \
                 good to be trusted",
                self.good_khat, self.rows
            ),
            false => String::new(),
        };
        format!("{modes}; {weights}{doubt}")
    }
}

/// Whether a mean difference of log scores over rows is more than noise.
fn sure(difference: Difference) -> bool {
    let Difference { mean, se, rows } = difference;
    mean * rows as f64 >= ALIKE_NATS && se.is_some_and(|se| mean > SURE_ERRORS * se)
}

/// Nats with two decimals, few of them with three.
fn nats(v: f64) -> String {
    let digits = if v < 0.1 { 3 } else { 2 };
    format!("{v:.digits$}")
}

/// `1`, `1 and 2`, `1, 2 and 3`.
fn listed(mut items: Vec<String>) -> String {
    match items.pop() {
        Some(last) if !items.is_empty() => format!("{} and {last}", items.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Whether there are chains to weigh, and draws enough to do it.
pub(crate) fn weighs(draws: &Draws, how: Combine) -> bool {
    how != Combine::Equal && draws.chains().len() > 1 && draws.per_chain() > TOO_FEW_DRAWS
}

/// Give the chains of a posterior's draws their weights; the target was divided by `scale`. There
/// is nothing to weigh in a single chain, or in chains that all count alike, and where chains have
/// ten draws or fewer they count alike too. Log likelihoods of all draws and rows that are known
/// already, row-major (draws, rows), are not computed again.
pub fn combine(
    posterior: &Posterior,
    draws: Draws,
    how: Combine,
    scale: f64,
    known: Option<&[f64]>,
    threads: usize,
) -> Result<(Draws, Option<ChainWeights>)> {
    if !weighs(&draws, how) {
        return Ok((draws, None));
    }
    let n = posterior.rows();
    let count = n.min(ROWS_SEEN);
    let rows: Vec<usize> = (0..count).map(|i| i * n / count).collect();
    let scores = match known {
        None => ChainLoo::of(posterior, &draws, &rows, scale, threads)?,
        Some(known) => ChainLoo::new(draws.chains().len(), count, threads, |c| {
            let chain = known.chunks_exact(n).skip(c * draws.per_chain()).take(draws.per_chain());
            Ok(chain.flat_map(|draw| rows.iter().map(|r| draw[*r])).collect())
        })?,
    };
    let found = ChainWeights::new(&scores, how)?;
    Ok((draws.weighted(&found.weights())?, Some(found)))
}
