//! Roughly how long cells take, and fair shares of them.

use super::Cell;
use crate::fit::BasisChoice;
use crate::infer::{Sampler, Start};

/// Leapfrog steps that a trajectory is thought to have where the depth limit allows more.
const STEPS: f64 = 127.0;

/// Roughly how long a cell takes, in no particular unit: draws x steps x rows x functions of the
/// basis x GPs. It orders cells and weighs progress, and no result depends on it.
pub fn cost(cell: &Cell) -> f64 {
    let set = &cell.settings;
    let (train, sampler) = (cell.train.len() as f64, &set.sampler);
    let k = if set.method.learns_experts() { cell.key.experts as f64 } else { 0.0 };
    // Given experts have their own share of the rows, and only their weights are sampled.
    let rows = match (&cell.given, k > 0.0) {
        (None, false) => train * set.expert.held_out().unwrap_or(1.0),
        _ => train,
    };
    // A mean, a log sd and a gate each; one expert needs no gate.
    let gps = match (k > 0.0, cell.key.experts) {
        (true, 1) => 2.0,
        (true, k) => 3.0 * k as f64,
        (false, k) => k as f64,
    };
    let functions = match set.basis {
        BasisChoice::Rff => 2.0 * cell.key.size as f64,
        BasisChoice::Hilbert => (cell.key.size as f64).powi(cell.table.inputs().len() as i32),
        _ => rows,
    };
    let steps = match sampler.sampler {
        Sampler::Hmc => (2.0_f64).powi(sampler.hmc_depth as i32) - 1.0,
        _ => ((2.0_f64).powi(sampler.max_depth as i32) - 1.0).min(STEPS),
    };
    let starts = match sampler.start {
        Start::Prior => 0.0,
        _ => (sampler.candidates * sampler.start_steps) as f64,
    };
    let sampled = match sampler.sampler {
        Sampler::Map => 0,
        _ => sampler.warmup_draws() + sampler.first_draws(),
    };
    let draws = sampler.chains as f64 * (sampled as f64 + starts);
    let fit = draws * steps * rows * gps * functions;
    // Every draw is a component of the prediction at every test row, sorted for its score.
    let scored = (sampler.chains * sampler.first_draws() * cell.test.len()) as f64;
    let experts = if k == 0.0 && cell.given.is_none() {
        let each = train * (1.0 - set.expert.held_out().unwrap_or(0.0)) / cell.key.experts as f64;
        1000.0 * cell.key.experts as f64 * each.powi(3)
    } else {
        0.0
    };
    fit + 100.0 * scored * (1.0 + k) + experts
}

/// The `i`-th of `n` shares, from 1: every n-th of the cells sorted by their cost, so that the
/// shares cost about the same. Together they are all cells, each once.
pub fn share(mut cells: Vec<Cell>, i: usize, n: usize) -> Vec<Cell> {
    longest_first(&mut cells);
    cells.into_iter().skip(i.saturating_sub(1)).step_by(n.max(1)).collect()
}

/// Sort by cost, equals by their keys.
pub(super) fn longest_first(cells: &mut [Cell]) {
    cells.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then_with(|| a.key.cmp(&b.key)));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Key;
    use super::*;
    use crate::data::Data;
    use crate::fit::FitSettings;
    use crate::infer::Settings;

    fn cell(experts: usize, draws: usize) -> Cell {
        let sampler = Settings { draws: Some(draws), ..Settings::default() };
        let (data, arm, basis) = ("d".into(), draws.to_string(), "rff".into());
        Cell {
            key: Key { data, arm, basis, size: 10, experts, split: 0, seed: 0 },
            settings: FitSettings { experts, sampler, ..FitSettings::default() }.check().unwrap(),
            table: Arc::new(Data::new(vec![0.0; 50], 1).unwrap()),
            train: Arc::new((0..40).collect()),
            test: Arc::new((40..50).collect()),
            given: None,
            keep: false,
        }
    }

    fn all() -> Vec<Cell> {
        (1..5).flat_map(|k| (1..6).map(move |d| cell(k, 100 * d))).collect()
    }

    #[test]
    fn more_work_costs_more() {
        assert!(cost(&cell(3, 100)) < cost(&cell(4, 100)));
        assert!(cost(&cell(3, 100)) < cost(&cell(3, 200)));
    }

    /// Shares are a partition, whatever the order of the cells, and no share is far from its due.
    #[test]
    fn shares_are_all_cells_once_and_cost_alike() {
        let total: f64 = all().iter().map(cost).sum();
        for n in [1, 2, 3, 7, 30] {
            let mut backwards = all();
            backwards.reverse();
            let mut keys = Vec::new();
            for i in 1..=n {
                let cells = share(all(), i, n);
                let other = share(backwards.clone(), i, n);
                assert!(cells.iter().map(|c| &c.key).eq(other.iter().map(|c| &c.key)));
                let cost: f64 = cells.iter().map(cost).sum();
                let most = all().iter().map(super::cost).fold(0.0, f64::max);
                assert!((cost - total / n as f64).abs() <= most, "{i}/{n}");
                keys.extend(cells.into_iter().map(|c| c.key));
            }
            keys.sort();
            let mut expected: Vec<Key> = all().into_iter().map(|c| c.key).collect();
            expected.sort();
            assert_eq!(keys, expected);
        }
    }
}
