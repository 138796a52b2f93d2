//! Experts made here: exact GPs that differ in their rows, kernels or inputs, fitted in parallel.
//!
//! Everything is in the model's scaled units.

mod partition;

pub use partition::{Assignment, Partition};

use crate::data::Predictions;
use crate::gp::{self, Gp, Objective};
use crate::kernel::Kernel;
use crate::parallel::parallel;
use crate::settings::Group::Experts;
use crate::settings::{Bounds, Form, Message, Only, STACKED, common, rare, settings};
use crate::{Error, Result};

/// The kernels among which the data choose: smooth functions, and rougher ones.
pub const CANDIDATES: [Kernel; 2] = [Kernel::Rbf, Kernel::Matern52];

settings! {
    /// How experts are made.
    Settings in "expert" {
        /// How the experts of bhs and pbhs come to differ. They have their own rows each, at random
        /// (random), by clusters (kmeans) or by stretches along an input (contiguous, see `along`),
        /// or the same rows with other kernels (kernels) or inputs (inputs, see `expert_inputs`).
        partition: Partition = Partition::Random, rare(Experts).only(Only::Methods(STACKED));
        /// Input that contiguous stretches follow; for the program, giving it asks for them.
        along: usize = 0,
            rare(Experts).value("COLUMN").form(Form::Input).unless_given("the first")
                .only(Only::Partition(Partition::Contiguous));
        /// Share of the rows that trains the weights of bhs and pbhs, not the experts.
        hold_out: f64 = 0.2,
            common(Experts).value("SHARE").bounds(Bounds::Between(0.0, 1.0))
                .only(Only::Methods(STACKED));
        /// Kernel of the experts of bhs and pbhs; with different kernels, that of the first.
        kernel: Option<Kernel> = None,
            rare(Experts).named("expert_kernel").only(Only::Methods(STACKED)).unless_given(
                "of rbf and matern52, the one under which they predict their own rows better, each left \
                 out in turn");
        /// How these experts find their hyperparameters: map (weak priors) or marginal-likelihood
        /// (as in the paper).
        objective: Objective = Objective::Map,
            rare(Experts).named("expert_objective").only(Only::Methods(STACKED));
        /// Inputs of one expert, for each expert. For the program, names separated by commas, once for
        /// each expert, which ask for experts that differ in them.
        inputs: Vec<Vec<usize>> = Vec::new(),
            rare(Experts).named("expert_inputs").value("COLUMNS").unless_given("all")
                .only(Only::Methods(STACKED));
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

    /// The kernels of `experts` experts, one set or several to choose from.
    fn kernels(&self, experts: usize) -> Vec<Vec<Kernel>> {
        let all = Kernel::ALL;
        match (self.partition, self.kernel) {
            (Partition::Kernels, first) => {
                let first = all.iter().position(|kernel| Some(*kernel) == first).unwrap_or(0);
                vec![(0..experts).map(|k| all[(first + k) % all.len()]).collect()]
            }
            (_, Some(kernel)) => vec![vec![kernel; experts]],
            (_, None) => CANDIDATES.map(|kernel| vec![kernel; experts]).to_vec(),
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

/// One expert: a GP, and which of the inputs it sees.
#[derive(Debug, Clone)]
pub struct Expert {
    /// The GP.
    pub gp: Gp,
    /// The numbers of its inputs, from 0.
    pub columns: Vec<usize>,
}

impl Expert {
    /// Its part of the inputs of `rows`, row-major.
    fn part(&self, x: &[f64], inputs: usize) -> Vec<f64> {
        pick(x, inputs, 0..x.len() / inputs, &self.columns)
    }
}

fn pick(
    x: &[f64],
    inputs: usize,
    rows: impl Iterator<Item = usize>,
    columns: &[usize],
) -> Vec<f64> {
    rows.flat_map(|row| columns.iter().map(move |i| x[row * inputs + i])).collect()
}

/// Train the experts of an assignment on inputs (row-major) and a target.
///
/// Where the kernel is to be chosen, all experts are trained with each candidate, and that one is
/// taken whose leave-one-out log densities have the largest sum over the rows of all experts: they
/// are experts on one function, so one kernel is chosen for all of them.
pub fn train(
    x: &[f64],
    inputs: usize,
    y: &[f64],
    assignment: &Assignment,
    settings: &Settings,
    seed: u64,
    threads: usize,
) -> Result<Vec<Expert>> {
    let experts = assignment.experts.len();
    let (kernels, all) = (settings.kernels(experts), threads);
    let jobs = kernels.len() * experts;
    // What is left where there are fewer experts than threads.
    let threads = (all / jobs.max(1)).max(1);
    let trained = parallel(jobs, all, |job| {
        let (set, k) = (job / experts, job % experts);
        let rows = &assignment.experts[k];
        let columns = settings.columns_of(k, inputs)?;
        let points = pick(x, inputs, rows.iter().copied(), &columns);
        let target: Vec<f64> = rows.iter().map(|row| y[*row]).collect();
        let (kernel, objective) = (kernels[set][k], settings.objective);
        let gp = gp::Settings { kernel, objective, seed, threads, ..gp::Settings::default() };
        let gp = gp.check()?;
        let gp = gp::fit(&points, columns.len(), &target, &gp).map_err(|e| named(k, e))?;
        Ok(Expert { gp, columns })
    })?;
    let mut trained = trained.into_iter().collect::<Result<Vec<Expert>>>()?;
    let score = |set: &[Expert]| set.iter().map(|e| e.gp.leave_one_out_score()).sum::<f64>();
    let sets = trained.chunks(experts.max(1)).map(score).enumerate();
    let best = sets.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(set, _)| set);
    Ok(trained.drain(best * experts..(best + 1) * experts).collect())
}

/// Errors about the rows of an expert name the expert.
fn named(k: usize, error: Error) -> Error {
    match error {
        Error::Data(problem) => Error::Data(format!("expert {}: {problem}", k + 1)),
        other => other,
    }
}

/// What the experts say about new rows.
pub fn predict(
    experts: &[Expert],
    x: &[f64],
    inputs: usize,
    threads: usize,
) -> Result<Predictions> {
    let each = parallel(experts.len(), threads, |k| {
        experts[k].gp.predict(&experts[k].part(x, inputs), true)
    })?;
    let each = each.into_iter().collect::<Result<Vec<_>>>()?;
    let (mean, sd) = each.into_iter().map(|p| (p.mean, p.sd)).unzip();
    Predictions::new(mean, sd)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Smooth targets ask for one candidate, a corner for the other; what is chosen is
    /// what training with that kernel alone gives.
    #[test]
    fn the_kernel_is_the_one_that_predicts_left_out_rows_better() {
        let x: Vec<f64> = (0..80).map(|i| f64::from(i) / 13.0 - 3.0).collect();
        let assignment = Assignment {
            experts: vec![(0..80).step_by(2).collect(), (1..80).step_by(2).collect()],
            stacking: Vec::new(),
        };
        let trained = |y: &[f64], kernel: Option<Kernel>| {
            let settings = Settings { kernel, ..Settings::default() };
            train(&x, 1, y, &assignment, &settings, 0, 1).expect("experts")
        };
        let score = |set: &[Expert]| set.iter().map(|e| e.gp.leave_one_out_score()).sum::<f64>();
        let targets: [fn(&f64) -> f64; 2] = [|x| x.sin(), |x| x.abs()];
        for (target, better) in targets.into_iter().zip(CANDIDATES) {
            let y: Vec<f64> = x.iter().map(target).collect();
            let chosen = trained(&y, None);
            assert!(chosen.iter().all(|e| e.gp.kernel() == better));
            for kernel in CANDIDATES {
                let alone = score(&trained(&y, Some(kernel)));
                let apart = score(&chosen) - alone;
                assert!(if kernel == better { apart == 0.0 } else { apart > 0.0 }, "{apart}");
            }
        }
    }
}
