//! Experts made here, in parallel: a portfolio of models on all rows, or exact GPs that differ in their rows,
//! kernels or inputs.
//!
//! Everything is in the model's scaled units.

mod left_out;
mod partition;
mod twins;

use left_out::{folds, left_out};
pub use partition::{Assignment, Partition};
pub use twins::twins;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::data::Predictions;
use crate::gp::{self, Gp, Objective};
use crate::halt::go_on;
use crate::infer::Monitor;
use crate::kernel::Kernel;
use crate::parallel::parallel;
use crate::settings::Group::Experts;
use crate::settings::{Bounds, Form, Message, Only, STACKED, TRAINED, common, rare, settings};
use crate::trees::{self, Boosted};
use crate::{Error, Result};

/// The kernels among which the data choose: smooth functions, and rougher ones.
pub const CANDIDATES: [Kernel; 2] = [Kernel::Rbf, Kernel::Matern52];

/// What an expert that is made of trees is called.
pub const TREES: &str = "trees";

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
            rare(Experts).only(Only::Methods(STACKED)).unless_given("all; random if `experts` is given");
        /// Input that contiguous stretches follow; for the program, giving it asks for them.
        along: usize = 0,
            rare(Experts).value("COLUMN").form(Form::Input).unless_given("the first")
                .only(Only::Partition(Partition::Contiguous));
        /// Share of the rows for the weights of bhs and pbhs alone. Without it all rows train both, and
        /// about rows of its own an expert says what it would say without them; but where rows are divided
        /// among the experts it is 0.2.
        hold_out: Option<f64> = None,
            common(Experts).value("SHARE").bounds(Bounds::Between(0.0, 1.0))
                .only(Only::Methods(STACKED))
                .unless_given("none");
        /// Kernel of gp, and of the GPs among the experts of bhs and pbhs; with different kernels, that of the first.
        kernel: Option<Kernel> = None,
            rare(Experts).named("expert_kernel").only(Only::Methods(TRAINED)).unless_given(
                "all four for a portfolio; else of rbf and matern52, the one under which they predict \
                 their own rows better, each left out in turn");
        /// How these experts find their hyperparameters: map (weak priors) or marginal-likelihood
        /// (as in the paper).
        objective: Objective = Objective::Map,
            rare(Experts).named("expert_objective").only(Only::Methods(TRAINED));
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

    /// The share of the rows that trains the weights alone, if any. Experts with rows of their own have one,
    /// as in the paper.
    pub fn held_out(&self) -> Option<f64> {
        self.hold_out.or(self.partition.shares().then_some(USUAL_SHARE))
    }

    /// The number of experts in the portfolio, where that is what the experts are.
    pub(crate) fn portfolio(&self) -> Option<usize> {
        (self.partition == Partition::All).then(|| self.kernel.map_or(Kernel::ALL.len(), |_| 1) + 1)
    }

    /// What `experts` experts are, one set or several to choose from.
    fn members(&self, experts: usize) -> Vec<Vec<Member>> {
        let all = Kernel::ALL;
        let alike = |kernel: Kernel| vec![Member::Gp(kernel); experts];
        match (self.partition, self.kernel) {
            (Partition::All, kernel) => {
                let kernels = kernel.map_or(all.to_vec(), |kernel| vec![kernel]);
                vec![kernels.into_iter().map(Member::Gp).chain([Member::Trees]).collect()]
            }
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

/// One expert.
#[derive(Debug, Clone)]
pub enum Expert {
    /// An exact GP, and the numbers of the inputs that it sees, from 0.
    Gp(Gp, Vec<usize>),
    /// Boosted trees, which see all inputs.
    Trees(Boosted),
}

/// What is to become an expert.
#[derive(Debug, Clone, Copy)]
enum Member {
    Gp(Kernel),
    Trees,
}

/// An expert, and what it says about its own rows without them: mean and sd of each.
type Taught = (Expert, Vec<(f64, f64)>);

impl Expert {
    /// A word for it.
    pub fn name(&self) -> String {
        match self {
            Expert::Gp(gp, _) => gp.kernel().to_string(),
            Expert::Trees(_) => TREES.into(),
        }
    }

    /// The GP that it is, and its inputs, if it is one.
    pub fn gp(&self) -> Option<(&Gp, &[usize])> {
        match self {
            Expert::Gp(gp, columns) => Some((gp, columns)),
            Expert::Trees(_) => None,
        }
    }

    /// The trees that it is, if it is some.
    pub fn trees(&self) -> Option<&Boosted> {
        match self {
            Expert::Gp(..) => None,
            Expert::Trees(trees) => Some(trees),
        }
    }

    /// Means and sds at new rows.
    fn predict(&self, x: &[f64], inputs: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        match self {
            Expert::Gp(gp, columns) => {
                let found = gp.predict(&pick(x, inputs, 0..x.len() / inputs, columns), true)?;
                Ok((found.mean, found.sd))
            }
            Expert::Trees(trees) => Ok(trees.predict(x)),
        }
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

/// Rows that experts are trained on, in the model's scaled units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lesson<'a> {
    /// The inputs, row-major.
    pub(crate) x: &'a [f64],
    /// Their number.
    pub(crate) inputs: usize,
    /// The target.
    pub(crate) y: &'a [f64],
    /// The same number for rows that are left out together.
    pub(crate) twins: &'a [usize],
}

/// Train the experts of an assignment, and ask them about its stacking rows; about those that an expert was
/// trained on, it says what it would say without them.
///
/// Where the kernel is to be chosen, all experts are trained with each candidate, and that one is
/// taken whose leave-one-out log densities have the largest sum over the rows of all experts: they
/// are experts on one function, so one kernel is chosen for all of them.
///
/// # Errors
/// If an expert cannot be trained, or the monitor cancels.
pub(crate) fn train(
    lesson: &Lesson<'_>,
    assignment: &Assignment,
    settings: &Settings,
    seed: u64,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<(Vec<Expert>, Predictions)> {
    let experts = assignment.experts.len();
    let (members, all) = (settings.members(experts), threads);
    let jobs = members.len() * experts;
    // What is left where there are fewer experts than threads.
    let threads = (all / jobs.max(1)).max(1);
    let done = AtomicUsize::new(0);
    monitor.part(0, jobs);
    let trained = parallel(jobs, all, |job| {
        go_on(monitor)?;
        let (set, k) = (job / experts, job % experts);
        let rows = &assignment.experts[k];
        let columns = settings.columns_of(k, lesson.inputs)?;
        let points = pick(lesson.x, lesson.inputs, rows.iter().copied(), &columns);
        let target: Vec<f64> = rows.iter().map(|row| lesson.y[*row]).collect();
        let twins: Vec<usize> = rows.iter().map(|row| lesson.twins[*row]).collect();
        let Some(member) = members[set].get(k) else {
            let problem =
                format!("{experts} experts, and the portfolio has {}", members[set].len());
            return Err(Error::setting("experts", problem));
        };
        let taught = match *member {
            Member::Gp(kernel) => {
                let objective = settings.objective;
                let gp =
                    gp::Settings { kernel, objective, seed, threads, ..gp::Settings::default() };
                gp::fit_with(&points, columns.len(), &target, &gp.check()?, monitor).and_then(
                    |gp| {
                        let left_out =
                            left_out(&gp, &points, &target, &twins, objective, seed, monitor)?;
                        Ok((Expert::Gp(gp, columns), left_out))
                    },
                )
            }
            Member::Trees => {
                let folds = folds(&twins, seed);
                let (inputs, settings) = (columns.len(), trees::Settings::default());
                let found =
                    trees::cross_fit(&points, inputs, &target, &folds, &settings, seed, monitor);
                Ok((Expert::Trees(found.trees), found.left_out))
            }
        };
        monitor.part(done.fetch_add(1, Ordering::Relaxed) + 1, jobs);
        taught.map_err(|e| named(k, e))
    })?;
    go_on(monitor)?;
    let mut trained = trained.into_iter().collect::<Result<Vec<Taught>>>()?;
    let score = |set: &[Taught]| set.iter().map(|(expert, _)| expert.score()).sum::<f64>();
    let sets = trained.chunks(experts.max(1)).map(score).enumerate();
    let best = sets.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(set, _)| set);
    let trained: Vec<Taught> = trained.drain(best * experts..(best + 1) * experts).collect();
    let said = parallel(experts, all, |k| {
        at_stacking(&trained[k], lesson, &assignment.experts[k], &assignment.stacking)
    })?;
    let said = said.into_iter().collect::<Result<Vec<(Vec<f64>, Vec<f64>)>>>()?;
    let (mean, sd) = said.into_iter().unzip();
    let predictions = Predictions::new(mean, sd)?;
    Ok((trained.into_iter().map(|(expert, _)| expert).collect(), predictions))
}

impl Expert {
    /// The sum of the log densities of its targets, each left out in turn.
    fn score(&self) -> f64 {
        self.gp().map_or(0.0, |(gp, _)| gp.leave_one_out_score())
    }
}

/// What an expert that was trained on the rows `own` says about the rows `stacking`, both ascending.
fn at_stacking(
    (expert, left_out): &Taught,
    lesson: &Lesson<'_>,
    own: &[usize],
    stacking: &[usize],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let new: Vec<usize> =
        stacking.iter().copied().filter(|row| own.binary_search(row).is_err()).collect();
    let columns: Vec<usize> = (0..lesson.inputs).collect();
    let part = pick(lesson.x, lesson.inputs, new.iter().copied(), &columns);
    let (mean, sd) = expert.predict(&part, lesson.inputs)?;
    let mut news = mean.into_iter().zip(sd);
    let each = stacking.iter().map(|row| match own.binary_search(row) {
        Ok(at) => left_out.get(at).copied(),
        Err(_) => news.next(),
    });
    let each = each.collect::<Option<Vec<(f64, f64)>>>();
    let each = each.ok_or_else(|| Error::Worker("an expert said nothing about a row".into()))?;
    Ok(each.into_iter().unzip())
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
    let each = parallel(experts.len(), threads, |k| experts[k].predict(x, inputs))?;
    let each = each.into_iter().collect::<Result<Vec<_>>>()?;
    let (mean, sd) = each.into_iter().unzip();
    Predictions::new(mean, sd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::Quiet;

    /// Smooth targets ask for one candidate, a corner for the other; what is chosen is
    /// what training with that kernel alone gives.
    #[test]
    fn the_kernel_is_the_one_that_predicts_left_out_rows_better() {
        let x: Vec<f64> = (0..80).map(|i| f64::from(i) / 13.0 - 3.0).collect();
        let assignment = Assignment {
            experts: vec![(0..80).step_by(2).collect(), (1..80).step_by(2).collect()],
            stacking: vec![0],
        };
        let trained = |y: &[f64], kernel: Option<Kernel>| {
            let settings = Settings { kernel, partition: Partition::Random, ..Settings::default() };
            let twins: Vec<usize> = (0..80).collect();
            let lesson = Lesson { x: &x, inputs: 1, y, twins: &twins };
            train(&lesson, &assignment, &settings, 0, 1, &Quiet).expect("experts").0
        };
        let score = |set: &[Expert]| set.iter().map(Expert::score).sum::<f64>();
        let targets: [fn(&f64) -> f64; 2] = [|x| x.sin(), |x| x.abs()];
        for (target, better) in targets.into_iter().zip(CANDIDATES) {
            let y: Vec<f64> = x.iter().map(target).collect();
            let chosen = trained(&y, None);
            assert!(chosen.iter().all(|e| e.name() == better.to_string()));
            for kernel in CANDIDATES {
                let alone = score(&trained(&y, Some(kernel)));
                let apart = score(&chosen) - alone;
                assert!(if kernel == better { apart == 0.0 } else { apart > 0.0 }, "{apart}");
            }
        }
    }
}
