//! Experts made here, in parallel: a portfolio of models on all rows, or exact GPs that differ in their rows,
//! kernels or inputs.
//!
//! Everything is in the model's scaled units.

mod duration;
mod expert;
mod left_out;
mod partition;
mod train;
mod twins;

pub use duration::expected_seconds;
pub use expert::{Expert, TREES, predict};
pub use partition::{Assignment, Partition};
pub(crate) use train::{Lesson, train};
pub use twins::{are_copies, copies, prints, twins};

use crate::gp::Objective;
use crate::kernel::Kernel;
use crate::settings::Group::Experts;
use crate::settings::{Bounds, Form, Message, Only, rare, settings};
use crate::{Error, Result};

/// The kernels among which the data choose: smooth functions, and rougher ones.
pub const CANDIDATES: [Kernel; 2] = [Kernel::Rbf, Kernel::Matern52];

/// The kernels of the GPs that have some of the rows, beside those that predict each row from its nearest ones.
const SAMPLED: [Kernel; 2] = [Kernel::Rbf, Kernel::Matern52];

/// The most rows of an exact GP among the experts: beyond, it takes too long. With more rows a GP predicts each
/// row from its nearest ones, and the weights are learned from some rows.
pub const MOST_EXACT_ROWS: usize = 3000;

/// The rows that the weights are learned from, where there are more than [`MOST_EXACT_ROWS`] and none are held
/// out.
pub(crate) const STACKING_ROWS: usize = 4000;

/// The share of rows for the weights where rows are divided among the experts.
const USUAL_SHARE: f64 = 0.2;

settings! {
    /// How experts are made.
    Settings in "expert" {
        /// How the experts of bhs and pbhs come to differ. They are a portfolio of models that have all
        /// rows (all), or have their own rows each, at random (random), by clusters (kmeans) or by
        /// stretches along an input (contiguous, see `along`), or the same rows with other kernels
        /// (kernels) or inputs (inputs, see `expert_inputs`).
        partition: Partition = Partition::All,
            rare(Experts).only(Only::Fusing).unless_given("all; random if `experts` is given");
        /// Input that contiguous stretches follow; for the program, giving it asks for them.
        along: usize = 0,
            rare(Experts).value("COLUMN").form(Form::Input).unless_given("the first")
                .only(Only::Partition(Partition::Contiguous));
        /// Share of the rows for the weights of bhs and pbhs alone. Without it all rows train both, and
        /// about rows of its own an expert says what it would say without them; but where rows are divided
        /// among the experts it is 0.2.
        hold_out: Option<f64> = None,
            rare(Experts).value("SHARE").bounds(Bounds::Between(0.0, 1.0))
                .only(Only::Fusing)
                .unless_given("none");
        /// Kernel of gp, and of the GPs among the experts of bhs and pbhs; with different kernels, that of the first.
        kernel: Option<Kernel> = None,
            rare(Experts).named("expert_kernel").only(Only::Trained).unless_given(
                "all four for a portfolio; else of rbf and matern52, the one under which they predict \
                 their own rows better, each left out in turn");
        /// How these experts find their hyperparameters: map (weak priors) or marginal-likelihood
        /// (as in the paper).
        objective: Objective = Objective::Map,
            rare(Experts).named("expert_objective").only(Only::Trained);
        /// Inputs of one expert, for each expert. For the program, names separated by commas, once for
        /// each expert, which ask for experts that differ in them.
        inputs: Vec<Vec<usize>> = Vec::new(),
            rare(Experts).named("expert_inputs").value("COLUMNS").unless_given("all")
                .only(Only::Fusing);
    }
}

impl Settings {
    /// Refuse values that no data could satisfy.
    pub fn check(&self, experts: usize) -> Result<()> {
        self.within_bounds()?;
        let kernels = Kernel::ALL.len();
        if self.partition == Partition::Kernels && experts > kernels {
            let problem = format!("{experts} experts for {kernels} kernels: use fewer");
            return Err(Error::setting("experts", problem));
        }
        let lists = self.inputs.len();
        if self.partition == Partition::Inputs && lists != experts {
            let problem =
                format!("{lists} lists of inputs for {experts} experts: give one to each");
            return Err(Error::setting("expert_inputs", problem));
        }
        if self.partition != Partition::Inputs && lists > 0 {
            let problem = Message::new("is for experts that differ in their inputs: make them so");
            return Err(Error::setting("expert_inputs", problem.advise("partition", "inputs")));
        }
        Ok(())
    }

    /// The share of the rows that trains the weights alone, if any. Experts with rows of their own have one,
    /// as in the paper.
    pub fn held_out(&self) -> Option<f64> {
        self.hold_out.or(self.partition.shares().then_some(USUAL_SHARE))
    }

    /// The number of experts in the portfolio for so many rows, where that is what the experts are.
    pub(crate) fn portfolio(&self, rows: usize) -> Option<usize> {
        (self.partition == Partition::All).then(|| self.models(rows).len())
    }

    /// The models of the portfolio: all kernels on all rows, where these are many also on some of them, and trees.
    fn models(&self, rows: usize) -> Vec<Member> {
        let of = |all: &[Kernel]| self.kernel.map_or(all.to_vec(), |kernel| vec![kernel]);
        let sampled = if rows > MOST_EXACT_ROWS { of(&SAMPLED) } else { Vec::new() };
        let gps = of(&Kernel::ALL).into_iter().map(Member::Gp);
        gps.chain(sampled.into_iter().map(Member::Sample)).chain([Member::Trees]).collect()
    }

    /// What `experts` experts on so many rows are, one set or several to choose from.
    fn members(&self, experts: usize, rows: usize) -> Vec<Vec<Member>> {
        let all = Kernel::ALL;
        let alike = |kernel: Kernel| vec![Member::Gp(kernel); experts];
        match (self.partition, self.kernel) {
            (Partition::All, _) => vec![self.models(rows)],
            (Partition::Kernels, first) => {
                let first = all.iter().position(|kernel| Some(*kernel) == first).unwrap_or(0);
                vec![(0..experts).map(|k| Member::Gp(all[(first + k) % all.len()])).collect()]
            }
            (_, Some(kernel)) => vec![alike(kernel)],
            (_, None) => CANDIDATES.map(alike).to_vec(),
        }
    }

    /// The inputs of expert `k`.
    fn columns_of(&self, k: usize, inputs: usize) -> Result<Vec<usize>> {
        let columns = match self.inputs.get(k) {
            Some(chosen) => chosen.clone(),
            None => (0..inputs).collect(),
        };
        match columns.iter().find(|i| **i >= inputs) {
            Some(i) => {
                let problem = format!("expert {}: there is no input {}", k + 1, i + 1);
                Err(Error::setting("expert_inputs", problem))
            }
            None if columns.is_empty() => {
                let problem = format!("expert {} has no inputs: give it one", k + 1);
                Err(Error::setting("expert_inputs", problem))
            }
            None => Ok(columns),
        }
    }
}

/// What is to become an expert.
#[derive(Debug, Clone, Copy)]
enum Member {
    /// An exact GP on all its rows, or where these are too many one that predicts from the nearest.
    Gp(Kernel),
    /// An exact GP on some of its rows.
    Sample(Kernel),
    /// Boosted trees.
    Trees,
}
