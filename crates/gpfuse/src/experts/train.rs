//! Experts trained in parallel, and asked about the rows of the weights.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::seq::SliceRandom;

use super::expert::pick;
use super::left_out::{folds, left_out};
use super::{Assignment, Expert, MOST_EXACT_ROWS, Member, Settings};
use crate::data::Predictions;
use crate::gp;
use crate::gp::nearest::{Nearest, Table};
use crate::halt::go_on;
use crate::infer::Monitor;
use crate::kernel::Kernel;
use crate::parallel::parallel;
use crate::random::{Purpose, stream};
use crate::trees;
use crate::{Error, Result};

/// The rows of an exact GP that has some of many.
const SAMPLE_ROWS: usize = 2500;
/// Rows on which GPs on nearest rows are compared, each left out.
const JUDGED_ROWS: usize = 2000;

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

/// An expert, and what it says about rows of its own without them.
struct Taught {
    expert: Expert,
    /// These rows, ascending.
    rows: Vec<usize>,
    /// Mean and sd of each.
    left_out: Vec<(f64, f64)>,
    /// The log density of all its targets, each left out; without a meaning for trees.
    score: f64,
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
    let most = assignment.experts.iter().map(Vec::len).max().unwrap_or(0);
    let (members, all) = (settings.members(experts, most), threads);
    let jobs = members.len() * experts;
    // What is left where there are fewer experts than threads.
    let threads = (all / jobs.max(1)).max(1);
    let done = AtomicUsize::new(0);
    monitor.part(0, jobs);
    let school = School::new(lesson, assignment, settings, seed, threads, monitor)?;
    let trained = parallel(jobs, all, |job| {
        go_on(monitor)?;
        let (set, k) = (job / experts, job % experts);
        let Some(member) = members[set].get(k) else {
            let problem =
                format!("{experts} experts, and the portfolio has {}", members[set].len());
            return Err(Error::setting("experts", problem));
        };
        let taught = school.teach(k, *member).map_err(|e| named(k, e));
        monitor.part(done.fetch_add(1, Ordering::Relaxed) + 1, jobs);
        taught
    })?;
    go_on(monitor)?;
    let mut trained = trained.into_iter().collect::<Result<Vec<Taught>>>()?;
    let score = |set: &[Taught]| set.iter().map(|taught| taught.score).sum::<f64>();
    let sets = trained.chunks(experts.max(1)).map(score).enumerate();
    let best = sets.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(set, _)| set);
    let trained: Vec<Taught> = trained.drain(best * experts..(best + 1) * experts).collect();
    let said = parallel(experts, all, |k| at_stacking(&trained[k], lesson, &assignment.stacking))?;
    let said = said.into_iter().collect::<Result<Vec<(Vec<f64>, Vec<f64>)>>>()?;
    let (mean, sd) = said.into_iter().unzip();
    let predictions = Predictions::new(mean, sd)?;
    Ok((trained.into_iter().map(|taught| taught.expert).collect(), predictions))
}

/// What the training of all experts shares.
struct School<'a> {
    lesson: &'a Lesson<'a>,
    assignment: &'a Assignment,
    settings: &'a Settings,
    seed: u64,
    threads: usize,
    monitor: &'a dyn Monitor,
    /// The rows of the first expert with all inputs, where they are too many for an exact GP. Experts that have
    /// the same share them.
    table: Option<Arc<Table>>,
}

/// The rows of one expert.
struct Own<'a> {
    rows: &'a [usize],
    columns: Vec<usize>,
    x: Vec<f64>,
    y: Vec<f64>,
    twins: Vec<usize>,
}

impl<'a> School<'a> {
    fn new(
        lesson: &'a Lesson<'a>,
        assignment: &'a Assignment,
        settings: &'a Settings,
        seed: u64,
        threads: usize,
        monitor: &'a dyn Monitor,
    ) -> Result<School<'a>> {
        let table = None;
        let mut school = School { lesson, assignment, settings, seed, threads, monitor, table };
        let first = assignment.experts.first().filter(|rows| rows.len() > MOST_EXACT_ROWS);
        if let Some(rows) = first {
            let own = school.own(rows, (0..lesson.inputs).collect());
            school.table = Some(Table::new(own.x, lesson.inputs, own.y)?);
        }
        Ok(school)
    }

    fn own<'r>(&self, rows: &'r [usize], columns: Vec<usize>) -> Own<'r> {
        let Lesson { x, inputs, y, twins } = *self.lesson;
        Own {
            rows,
            x: pick(x, inputs, rows.iter().copied(), &columns),
            y: rows.iter().map(|row| y[*row]).collect(),
            twins: rows.iter().map(|row| twins[*row]).collect(),
            columns,
        }
    }

    fn settings(&self, kernel: Kernel) -> gp::Settings {
        let objective = self.settings.objective;
        let (seed, threads) = (self.seed, self.threads);
        gp::Settings { kernel, objective, seed, threads, ..gp::Settings::default() }
    }

    /// Train expert `k`.
    fn teach(&self, k: usize, member: Member) -> Result<Taught> {
        let rows = &self.assignment.experts[k];
        let columns = self.settings.columns_of(k, self.lesson.inputs)?;
        match member {
            Member::Gp(kernel) if rows.len() > MOST_EXACT_ROWS => {
                self.nearest(rows, columns, kernel)
            }
            Member::Gp(kernel) => self.exact(self.own(rows, columns), kernel),
            Member::Sample(kernel) => self.exact(self.own(&self.sample(rows), columns), kernel),
            Member::Trees => Ok(self.trees(self.own(rows, columns))),
        }
    }

    fn exact(&self, own: Own<'_>, kernel: Kernel) -> Result<Taught> {
        let settings = self.settings(kernel);
        let (inputs, settings, monitor) = (own.columns.len(), settings.check()?, self.monitor);
        let gp = gp::fit_with(&own.x, inputs, &own.y, &settings, monitor)?;
        let objective = self.settings.objective;
        let left_out = left_out(&gp, &own.x, &own.y, &own.twins, objective, self.seed, monitor)?;
        let score = gp.leave_one_out_score();
        let expert = Expert::Gp(gp, own.columns);
        Ok(Taught { expert, rows: own.rows.to_vec(), left_out, score })
    }

    fn nearest(&self, rows: &[usize], columns: Vec<usize>, kernel: Kernel) -> Result<Taught> {
        let lesson = self.lesson;
        let same = columns.len() == lesson.inputs && self.assignment.experts[0] == *rows;
        let (table, twins) = match self.table.as_ref().filter(|_| same) {
            Some(table) => (table.clone(), rows.iter().map(|row| lesson.twins[*row]).collect()),
            None => {
                let own = self.own(rows, columns.clone());
                (Table::new(own.x, columns.len(), own.y)?, own.twins)
            }
        };
        let twins: Vec<usize> = twins;
        let gp = Nearest::fit(table, &twins, &self.settings(kernel))?;
        let places: Vec<usize> = self
            .assignment
            .stacking
            .iter()
            .filter_map(|row| rows.binary_search(row).ok())
            .collect();
        let left_out = gp.left_out(&places, &twins, self.threads)?;
        // Where no stacking row is its own, others tell how good it is.
        let judged: Vec<usize> =
            (0..rows.len()).step_by(rows.len().div_ceil(JUDGED_ROWS)).collect();
        let score = match left_out.is_empty() {
            true => gp.score(&judged, &gp.left_out(&judged, &twins, self.threads)?),
            false => gp.score(&places, &left_out),
        };
        let score = score * rows.len() as f64;
        let rows = places.into_iter().map(|place| rows[place]).collect();
        Ok(Taught { expert: Expert::Nearest(gp, columns), rows, left_out, score })
    }

    fn trees(&self, own: Own<'_>) -> Taught {
        let folds = match own.rows.len() > MOST_EXACT_ROWS {
            true => self.few_left_out(&own),
            false => folds(&own.twins, self.seed),
        };
        let (inputs, settings) = (own.columns.len(), trees::Settings::default());
        let (x, y) = (&own.x, &own.y);
        let found = trees::cross_fit(x, inputs, y, &folds, &settings, self.seed, self.monitor);
        let left_out = own.rows.iter().zip(&folds).filter(|(_, fold)| **fold != trees::NEVER);
        let rows = left_out.map(|(row, _)| *row).collect();
        Taught { expert: Expert::Trees(found.trees), rows, left_out: found.left_out, score: 0.0 }
    }

    /// Of many rows only those of the weights are left out, with their twins, and all at once. Where none of the
    /// rows is one of those, some tell how many rounds are best.
    fn few_left_out(&self, own: &Own<'_>) -> Vec<usize> {
        let stacking = &self.assignment.stacking;
        let asked = |row: &usize| stacking.binary_search(row).is_ok();
        let mut out: HashSet<usize> =
            own.rows.iter().zip(&own.twins).filter(|(row, _)| asked(row)).map(|t| *t.1).collect();
        if out.is_empty() {
            out =
                own.twins.iter().step_by(own.twins.len().div_ceil(JUDGED_ROWS)).copied().collect();
        }
        own.twins.iter().map(|twin| if out.contains(twin) { 0 } else { trees::NEVER }).collect()
    }

    /// Some of the rows, ascending: all twins of a row, or none, so that what is said about any other row is said
    /// without its twins.
    fn sample(&self, rows: &[usize]) -> Vec<usize> {
        let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
        rows.iter().for_each(|row| groups.entry(self.lesson.twins[*row]).or_default().push(*row));
        let mut order: Vec<usize> = groups.keys().copied().collect();
        order.sort_unstable();
        order.shuffle(&mut stream(self.seed, Purpose::Partition, 1));
        let mut some = Vec::new();
        for group in order {
            if some.len() >= SAMPLE_ROWS {
                break;
            }
            some.extend(&groups[&group]);
        }
        some.sort_unstable();
        some
    }
}

/// What an expert says about the rows `stacking`, ascending.
fn at_stacking(
    taught: &Taught,
    lesson: &Lesson<'_>,
    stacking: &[usize],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let Taught { expert, rows: own, left_out, .. } = taught;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experts::{CANDIDATES, Partition};
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
        let score = |set: &[Expert]| {
            set.iter().filter_map(Expert::gp).map(|(gp, _)| gp.leave_one_out_score()).sum::<f64>()
        };
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
