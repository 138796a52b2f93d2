//! Which rows train the experts, which of them train each, and which train the weights.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{MOST_EXACT_ROWS, STACKING_ROWS};
use crate::gp::some_rows;
use crate::random::{Purpose, stream};
use crate::{Error, Result};

/// How experts come to differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Partition {
    /// All on all rows: a portfolio of models of different kinds.
    #[default]
    All,
    /// Each is trained on its own random rows, floor(N/K) of them, as in the paper.
    Random,
    /// Each on one of K clusters of rows (k-means on the scaled inputs).
    Kmeans,
    /// Each on one of K stretches of equal length along an input.
    Contiguous,
    /// All on the same rows, with different kernels.
    Kernels,
    /// All on the same rows, each with its own inputs.
    Inputs,
}

/// Rows of a table, by their numbers: those of each expert and those of the weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The rows that each expert is trained on, ascending.
    pub experts: Vec<Vec<usize>>,
    /// The rows that the weights are learned from, ascending. About those that it was trained on, an expert
    /// says what it would say without them.
    pub stacking: Vec<usize>,
}

impl Assignment {
    /// From given rows; no expert may have been trained on a stacking row.
    pub fn new(mut experts: Vec<Vec<usize>>, mut stacking: Vec<usize>) -> Result<Assignment> {
        experts.iter_mut().chain([&mut stacking]).for_each(|rows| rows.sort_unstable());
        refuse_overlap(&experts, &stacking)?;
        Ok(Assignment { experts, stacking })
    }

    /// The same, if it divides `n` rows among `experts` experts.
    pub(crate) fn fits(self, n: usize, experts: usize) -> Result<Assignment> {
        if self.experts.len() != experts {
            let problem = format!("{experts} experts, but rows for {}", self.experts.len());
            return Err(Error::setting("experts", problem));
        }
        let last = self.experts.iter().chain([&self.stacking]).filter_map(|rows| rows.last()).max();
        if let Some(row) = last.filter(|row| **row >= n) {
            let problem = format!("row {} is assigned, but there are {n} rows", row + 1);
            return Err(Error::Data(problem));
        }
        if let Some(k) = self.experts.iter().position(|rows| rows.len() < 2) {
            let problem = format!("expert {} has fewer than two rows: give it more", k + 1);
            return Err(Error::Data(problem));
        }
        if self.stacking.is_empty() {
            return Err(Error::Data("no rows are left for the weights: give them some".into()));
        }
        Ok(self)
    }

    /// Keep a share `hold_out` of `n` rows, drawn at random, for the weights, and divide the rest
    /// among `experts` experts; without a share, all rows are for both. `x` are the scaled inputs,
    /// row-major; `along` is the input that contiguous stretches follow.
    pub fn draw(
        partition: Partition,
        x: &[f64],
        n: usize,
        experts: usize,
        hold_out: Option<f64>,
        along: usize,
        seed: u64,
    ) -> Result<Assignment> {
        let mut rows: Vec<usize> = (0..n).collect();
        let mut rng = stream(seed, Purpose::Partition, 0);
        rows.shuffle(&mut rng);
        let held = hold_out.map_or(0, |share| ((n as f64 * share).round() as usize).max(1));
        let left = n.saturating_sub(held);
        let each = if partition.shares() { left / experts } else { left };
        if each < 2 {
            let problem = format!(
                "{experts} experts and a hold-out of {held} of {n} rows leave {each} rows to each \
                 expert: use fewer experts or a smaller hold-out"
            );
            return Err(Error::setting("experts", problem));
        }
        let (stacking, rest) = rows.split_at(held);
        let inputs = x.len() / n;
        if partition == Partition::Contiguous && along >= inputs {
            let problem =
                format!("there is no input {along}: the last of {inputs} is {}", inputs - 1);
            return Err(Error::setting("along", problem));
        }
        let parts = match partition {
            Partition::Random => rest.chunks(each).take(experts).map(<[usize]>::to_vec).collect(),
            Partition::Kmeans => kmeans(x, inputs, rest, experts, &mut rng),
            Partition::Contiguous => {
                let mut sorted = rest.to_vec();
                let at = |row: usize| x[row * inputs + along];
                sorted.sort_by(|a, b| at(*a).total_cmp(&at(*b)).then(a.cmp(b)));
                let cut = |k: usize| k * rest.len() / experts;
                (0..experts).map(|k| sorted[cut(k)..cut(k + 1)].to_vec()).collect()
            }
            Partition::All | Partition::Kernels | Partition::Inputs => vec![rest.to_vec(); experts],
        };
        if hold_out.is_some() {
            return Assignment::new(parts, stacking.to_vec());
        }
        let mut stacking: Vec<usize> = (0..n).collect();
        if n > MOST_EXACT_ROWS {
            stacking = some_rows(n, STACKING_ROWS.min(n), seed);
            stacking.sort_unstable();
        }
        let mut assignment = Assignment { experts: parts, stacking };
        assignment.experts.iter_mut().for_each(|rows| rows.sort_unstable());
        Ok(assignment)
    }
}

impl Partition {
    /// Whether experts share the rows out among them.
    pub(crate) fn shares(self) -> bool {
        !matches!(self, Partition::All | Partition::Kernels | Partition::Inputs)
    }
}

/// Weights learned from rows that an expert has seen trust it too much.
fn refuse_overlap(experts: &[Vec<usize>], stacking: &[usize]) -> Result<()> {
    for (k, rows) in experts.iter().enumerate() {
        let seen = rows.iter().filter(|row| stacking.binary_search(row).is_ok()).count();
        if seen > 0 {
            return Err(Error::Data(format!(
                "expert {} was trained on {seen} of the {} stacking rows: learn the weights from \
                 rows that no expert has seen",
                k + 1,
                stacking.len()
            )));
        }
    }
    Ok(())
}

/// Rounds of k-means after which clusters are taken as they are.
const ROUNDS: usize = 100;

/// The rows of each of `count` clusters: k-means++ starts (Arthur and Vassilvitskii, 2007), then
/// Lloyd's rounds. A cluster of fewer than two rows takes the nearest rows of larger ones.
fn kmeans(
    x: &[f64],
    inputs: usize,
    rows: &[usize],
    count: usize,
    rng: &mut impl Rng,
) -> Vec<Vec<usize>> {
    let at = |row: usize| &x[row * inputs..(row + 1) * inputs];
    let gap = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let mut centres = vec![at(rows[rng.random_range(0..rows.len())]).to_vec()];
    while centres.len() < count {
        let near = |row: &usize| {
            let gaps = centres.iter().map(|c| gap(at(*row), c));
            gaps.fold(f64::INFINITY, f64::min)
        };
        let gaps: Vec<f64> = rows.iter().map(near).collect();
        let mut left = rng.random::<f64>() * gaps.iter().sum::<f64>();
        let chosen = gaps.iter().position(|g| {
            left -= g;
            left < 0.0
        });
        centres.push(at(rows[chosen.unwrap_or(rng.random_range(0..rows.len()))]).to_vec());
    }
    let mut parts = vec![Vec::new(); count];
    for _ in 0..ROUNDS {
        let mut next = vec![Vec::new(); count];
        for row in rows {
            let gaps = centres.iter().map(|c| gap(at(*row), c)).enumerate();
            let nearest = gaps.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k);
            next[nearest].push(*row);
        }
        for (centre, members) in
            centres.iter_mut().zip(&next).filter(|(_, members)| !members.is_empty())
        {
            for i in 0..inputs {
                centre[i] =
                    members.iter().map(|row| at(*row)[i]).sum::<f64>() / members.len() as f64;
            }
        }
        let settled = next == parts;
        parts = next;
        if settled {
            break;
        }
    }
    while let Some(poor) = parts.iter().position(|members| members.len() < 2) {
        let donors = (0..count).filter(|k| parts[*k].len() > 2);
        let offers = donors.flat_map(|k| (0..parts[k].len()).map(move |i| (k, i)));
        let cost = |(k, i): &(usize, usize)| gap(at(parts[*k][*i]), &centres[poor]);
        let Some((k, i)) = offers.min_by(|a, b| cost(a).total_cmp(&cost(b))) else { break };
        let row = parts[k].swap_remove(i);
        parts[poor].push(row);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(n: usize) -> Vec<f64> {
        (0..n).flat_map(|i| [(1.3 * i as f64).sin(), (0.7 * i as f64).cos()]).collect()
    }

    /// Every way of dividing with rows held out: no row for both, every expert has rows, repeatable by seed.
    #[test]
    fn expert_and_stacking_rows_are_disjoint_whatever_the_partition() {
        use Partition::{All, Contiguous, Inputs, Kernels, Kmeans, Random};
        let (n, x) = (53, data(53));
        for partition in [All, Random, Kmeans, Contiguous, Kernels, Inputs] {
            for experts in [1, 2, 5] {
                let draw = |seed| Assignment::draw(partition, &x, n, experts, Some(0.3), 1, seed);
                let found = draw(4).expect("an assignment");
                assert_eq!(found, draw(4).expect("an assignment"));
                assert_ne!(found, draw(5).expect("an assignment"));
                assert_eq!(found.stacking.len(), 16);
                assert_eq!(found.experts.len(), experts);
                for members in &found.experts {
                    assert!(
                        members.len() >= 2 && members.iter().all(|r| !found.stacking.contains(r))
                    );
                }
                let mut all: Vec<usize> = found.experts.concat();
                all.sort_unstable();
                let total = all.len();
                all.dedup();
                match partition {
                    Random => assert_eq!((total, all.len()), (37 / experts * experts, total)),
                    Kmeans | Contiguous => assert_eq!((total, all.len()), (37, 37)),
                    All | Kernels | Inputs => assert_eq!((total, all.len()), (37 * experts, 37)),
                }
            }
        }
    }

    /// Without a share all rows are for both.
    #[test]
    fn without_a_share_experts_and_weights_have_all_rows() {
        let found = Assignment::draw(Partition::All, &data(9), 9, 2, None, 0, 4).expect("rows");
        let all: Vec<usize> = (0..9).collect();
        assert_eq!((found.experts, found.stacking), (vec![all.clone(); 2], all));
    }

    #[test]
    fn stretches_follow_their_input_and_clusters_their_centres() {
        let n = 40;
        let x = data(n);
        let found =
            Assignment::draw(Partition::Contiguous, &x, n, 4, Some(0.25), 0, 1).expect("rows");
        let range = |rows: &[usize]| {
            let values = rows.iter().map(|r| x[2 * r]);
            (values.clone().fold(f64::MAX, f64::min), values.fold(f64::MIN, f64::max))
        };
        for pair in found.experts.windows(2) {
            assert!(range(&pair[0]).1 <= range(&pair[1]).0);
        }
        // Two clouds far apart are the two clusters.
        let clouds: Vec<f64> =
            (0..n).map(|i| if i % 2 == 0 { 0.1 * i as f64 } else { 1e3 }).collect();
        let found =
            Assignment::draw(Partition::Kmeans, &clouds, n, 2, Some(0.1), 0, 1).expect("rows");
        for members in &found.experts {
            assert!(members.iter().all(|r| r % 2 == members[0] % 2), "{members:?}");
        }
        // All rows the same: there are no clusters, but every expert has rows.
        let same =
            Assignment::draw(Partition::Kmeans, &[1.0; 40], n, 3, Some(0.1), 0, 1).expect("rows");
        assert!(same.experts.iter().all(|members| members.len() >= 2));
    }

    #[test]
    fn overlap_and_too_many_experts_are_refused_by_name() {
        let rows = |r: std::ops::Range<usize>| r.collect::<Vec<usize>>();
        let error = Assignment::new(vec![rows(0..10), rows(6..30)], rows(16..40)).unwrap_err();
        assert!(error.to_string().contains("expert 2 was trained on 14 of the 24"), "{error}");
        let error =
            Assignment::draw(Partition::Random, &data(10), 10, 5, Some(0.5), 0, 0).unwrap_err();
        assert!(error.to_string().contains("fewer experts"), "{error}");
    }
}
