//! The mean distance of a mixture's draws, component widths taken in layers.
//!
//! A grid for the characteristic function ([`super::spectrum`]) has as many points as the
//! narrowest components fit into the range of all. So that a few wide or far components do not
//! make it long, the components are put in layers by their standard deviations, one for each
//! factor of 16: pairs within a layer, and pairs of one of its components with any
//! narrower one, need a grid for the width of that layer and the range of those components
//! alone. With `D` the sum over pairs on the grid of a layer,
//! `E|X - Y| = sum_layers D(own, own) + D(own, below) + D(below, own)`.

use std::f64::consts::PI;

use super::Mixture;
use super::spectrum::{Grid, Measure, bound};
use super::sums::{self, Parts};

/// Normal variables are taken to stay within this many standard deviations: beyond lies
/// 4e-11 of the weight, and what it would add to a mean distance is 6e-12 of it.
const FARTHEST_Z: f64 = 6.5;

/// The part of the mean distance that the terms left out may add up to.
const LEFT_OUT: f64 = 1e-11;

/// Points of all grids together: more are not cheaper than other ways to a mean distance.
const MOST_POINTS: usize = 4096;

/// The points of a grid that would need more: enough for a figure or two.
const ROUGH_POINTS: usize = 512;

/// The layers of a mixture: the narrowest standard deviation, and each layer's grid.
#[derive(Debug, Clone)]
pub(crate) struct Layers {
    narrowest: f64,
    grids: Vec<Grid>,
    /// Whether the terms beyond the grids do not matter.
    pub(crate) enough: bool,
}

/// What a mixture is in each layer: its components there, and all narrower ones.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum {
    layers: Vec<[Measure; 2]>,
}

/// Components in the order of their layers.
struct Sorted {
    weight: Vec<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
    /// Where each layer ends.
    ends: Vec<usize>,
}

impl Sorted {
    fn new(mixture: &Mixture<'_>, narrowest: f64, layers: usize) -> Sorted {
        let all = mixture.len();
        if layers == 1 {
            let (weight, mean, sd) = (&mixture.weight, &mixture.mean, &mixture.sd);
            let (weight, mean, sd) = (weight.to_vec(), mean.to_vec(), sd.to_vec());
            return Sorted { weight, mean, sd, ends: vec![all] };
        }
        let layer = |i: usize| layer(mixture.sd[i], narrowest).min(layers - 1);
        let mut ends = vec![0; layers];
        (0..all).for_each(|i| ends[layer(i)] += 1);
        (1..layers).for_each(|l| ends[l] += ends[l - 1]);
        let mut next: Vec<usize> = [0].into_iter().chain(ends[..layers - 1].to_vec()).collect();
        let (mut weight, mut mean, mut sd) = (vec![0.0; all], vec![0.0; all], vec![0.0; all]);
        for i in 0..all {
            let at = next[layer(i)];
            (weight[at], mean[at], sd[at]) = (mixture.weight[i], mixture.mean[i], mixture.sd[i]);
            next[layer(i)] += 1;
        }
        Sorted { weight, mean, sd, ends }
    }

    /// The components of a layer, and the narrower ones.
    fn parts(&self, l: usize) -> [Parts<'_>; 2] {
        let start = if l == 0 { 0 } else { self.ends[l - 1] };
        [start..self.ends[l], 0..start].map(|range| Parts {
            weight: &self.weight[range.clone()],
            mean: &self.mean[range.clone()],
            sd: &self.sd[range],
            inv_sd: &[],
        })
    }
}

/// The layer of a standard deviation: a quarter of the binary exponent of its ratio to the
/// narrowest.
fn layer(sd: f64, narrowest: f64) -> usize {
    ((sd / narrowest).to_bits() >> 52).saturating_sub(1023) as usize / 4
}

impl Mixture<'_> {
    /// The layers for this mixture and any that are parts of it.
    pub(crate) fn layers(&self) -> Layers {
        // The range of what would be deviations from a common mean.
        let centred = Parts { mean: &vec![0.0; self.len()], ..self.parts() };
        let [_, widest] = sums::range(self.level, centred, 0.0, 1.0);
        let [narrowest, _] = sums::range(self.level, centred, 1.0, 0.0);
        let count = layer(widest, narrowest) + 1;
        let sorted = Sorted::new(self, narrowest, count);
        // The mean distance from the mean is less than that of two draws.
        let most = LEFT_OUT * self.distance(self.mean()) / count as f64;
        let grids: Vec<Option<Grid>> =
            (0..count).map(|l| self.grid(sorted.parts(l), most)).collect();
        let work = grids.iter().zip(&sorted.ends).map(|(grid, end)| match grid {
            Some(grid) => grid.count * end,
            None => usize::MAX / 1024,
        });
        let enough = work.sum::<usize>() <= MOST_POINTS * sorted.weight.len();
        let rough = |l: usize| self.rough(sorted.parts(l));
        let grids = grids.into_iter().enumerate();
        let cut =
            |g: Grid| Grid { count: if enough { g.count } else { g.count.min(ROUGH_POINTS) }, ..g };
        let grids = grids.map(|(l, grid)| cut(grid.unwrap_or_else(|| rough(l)))).collect();
        Layers { narrowest, grids, enough }
    }

    /// A grid of the right width with [`ROUGH_POINTS`] points.
    fn rough(&self, [within, below]: [Parts<'_>; 2]) -> Grid {
        let ends =
            [within, below].map(|parts| sums::range(self.level, parts, -FARTHEST_Z, FARTHEST_Z));
        let (low, high) = (ends[0][0].min(ends[1][0]), ends[0][1].max(ends[1][1]));
        Grid { center: 0.5 * low + 0.5 * high, width: high - low, count: ROUGH_POINTS }
    }

    /// The grid of a layer, of which less than `most` is left out.
    fn grid(&self, parts: [Parts<'_>; 2], most: f64) -> Option<Grid> {
        if parts[0].weight.is_empty() {
            return Some(Grid { center: 0.0, width: 1.0, count: 0 });
        }
        let grid = self.rough(parts);
        // Components narrower than the rounding of their means, all at one point, are no farther apart
        // than that.
        if grid.width == 0.0 {
            let little = f64::EPSILON * grid.center.abs() <= most;
            return little.then_some(Grid { count: 0, ..grid });
        }
        // Of the terms beyond number k there remain less than the bounds at `t_k` over k, where
        // a bound leaves out all phases.
        let left = |k: usize| {
            let t = 2.0 * PI * k as f64 / grid.width;
            let [within, below] = parts.map(|parts| bound(self.level, parts, t));
            grid.width / (PI * PI) * within * (within + 2.0 * below) / k as f64
        };
        let (mut low, mut high) = (0, MOST_POINTS);
        if left(high) > most {
            return None;
        }
        // A count within a tenth of the least that is enough.
        while high > low + 8 + low / 10 {
            let middle = if low == 0 { high / 8 } else { low.midpoint(high) };
            if left(middle) <= most { high = middle } else { low = middle }
        }
        Some(Grid { count: high, ..grid })
    }

    /// What the mixture is in each layer.
    pub(crate) fn spectrum(&self, layers: &Layers) -> Spectrum {
        let sorted = Sorted::new(self, layers.narrowest, layers.grids.len());
        let measure = |(l, grid): (usize, &Grid)| {
            sorted.parts(l).map(|parts| Measure::new(self.level, parts, grid))
        };
        Spectrum { layers: layers.grids.iter().enumerate().map(measure).collect() }
    }
}

impl Spectrum {
    /// That of a mixture of mixtures, with weights that sum to 1.
    pub(crate) fn mix<'a>(
        layers: &Layers,
        all: impl Iterator<Item = (f64, &'a Spectrum)>,
    ) -> Spectrum {
        let none = |grid: &Grid| [Measure::none(grid), Measure::none(grid)];
        let mut mixed = Spectrum { layers: layers.grids.iter().map(none).collect() };
        for (share, one) in all {
            for (sum, measure) in mixed.layers.iter_mut().flatten().zip(one.layers.iter().flatten())
            {
                sum.add(share, measure);
            }
        }
        mixed
    }

    /// The mean distance of independent draws.
    pub(crate) fn distance(&self, other: &Spectrum, layers: &Layers) -> f64 {
        let both = self.layers.iter().zip(&other.layers).zip(&layers.grids);
        let layer = |(([within, below], [others, others_below]), grid): (
            (&[Measure; 2], &[Measure; 2]),
            &Grid,
        )| {
            within.distances(others, grid)
                + within.distances(others_below, grid)
                + below.distances(others, grid)
        };
        both.map(layer).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::simd::Level;

    /// Components whose widths spread by `exp(spread)`.
    fn mixture(n: u32, k: f64, spread: f64) -> Mixture<'static> {
        let wave = |k: f64| (0..n).map(move |i| (k * f64::from(i) + k).sin());
        let (log_weight, mean): (Vec<f64>, Vec<f64>) = (wave(k).collect(), wave(3.1 * k).collect());
        let sd: Vec<f64> = wave(1.7 * k).map(|v| (spread * v).exp()).collect();
        Mixture::new(log_weight, mean, sd).unwrap()
    }

    fn pairs(a: &Mixture<'_>, b: &Mixture<'_>) -> f64 {
        let one = |i: usize| sums::pair_sum(b.level, b.parts(), a.mean[i], a.sd[i]);
        (0..a.len()).map(|i| a.weight[i] * one(i)).sum()
    }

    /// On every instruction set, between mixtures and between their mixture and one of them.
    #[test]
    fn distances_are_double_sums() {
        for spread in [0.0, 0.5, 2.0, 4.0] {
            let (a, b) = (mixture(37, 0.9, spread), mixture(50, 0.4, spread));
            let joined = |f: fn(&Mixture<'_>) -> Vec<f64>| [f(&a), f(&b)].concat();
            let weights = |m: &Mixture<'_>, by: f64| -> Vec<f64> {
                m.weight.iter().map(|w| (by * w).ln()).collect()
            };
            let weights = [weights(&a, 0.3), weights(&b, 0.7)].concat();
            let both =
                Mixture::new(weights, joined(|m| m.mean.to_vec()), joined(|m| m.sd.to_vec()));
            let mut both = both.unwrap();
            let layers = both.layers();
            assert!(layers.enough && (layers.grids.len() > 1) == (spread > 1.0));
            for level in Level::available() {
                both.level = level;
                let on = |m: &Mixture<'_>| Mixture { level, ..m.clone() }.spectrum(&layers);
                let (of_a, of_b, alone) = (on(&a), on(&b), on(&both));
                let mixed = Spectrum::mix(&layers, [(0.3, &of_a), (0.7, &of_b)].into_iter());
                for (found, exact) in [
                    (of_a.distance(&of_b, &layers), pairs(&a, &b)),
                    (of_a.distance(&of_a, &layers), pairs(&a, &a)),
                    (mixed.distance(&of_a, &layers), pairs(&both, &a)),
                    (alone.distance(&mixed, &layers), pairs(&both, &both)),
                ] {
                    let error = (found / exact - 1.0).abs();
                    assert!(error < 1e-11, "{} {spread}: {found} {exact}", level.name());
                }
            }
        }
    }

    #[test]
    fn narrow_components_far_apart_are_left_to_others() {
        let mean = vec![0.0, 1.0, 1e3];
        let m = Mixture::new(vec![0.0; 3], mean, vec![1e-3, 2e-3, 1e-3]).unwrap();
        assert!(!m.layers().enough);
        // Components without weight do not count.
        let log_weight = vec![0.0, 0.0, f64::NEG_INFINITY];
        let m = Mixture::new(log_weight, vec![0.0, 1.0, 1e3], vec![0.1, 0.2, 1e-9]).unwrap();
        let layers = m.layers();
        assert!(layers.enough && layers.grids.len() == 1);
    }
}
