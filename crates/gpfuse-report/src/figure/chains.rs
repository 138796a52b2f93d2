//! Chains: their traces, and the ranks of each chain's draws among all.

use super::axis::{Axis, short};
use super::colour::{GREY, INK, Look};
use super::font::cut;
use super::frame::{Frame, Key, entries, legend};
use super::scene::{Anchor, EDGE, Mark, Point, SMALL_TEXT, TEXT, WIDTH};
use super::{Quantity, Scene};

/// Some quantities of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chains {
    /// Above the figure.
    pub title: String,
    /// One row of the figure each.
    pub quantities: Vec<Quantity>,
}

const LEFT: f64 = 86.0;
const TOP: f64 = 40.0;
const TRACE: f64 = 96.0;
const RANK: f64 = 78.0;
const TITLE: f64 = 24.0;
/// The most points of a line: more cannot be told apart.
const MOST_POINTS: usize = 700;
/// The most points of a moving mean.
const MOST_MEANS: usize = 120;
/// The most chains that have room.
const MOST_CHAINS: usize = 8;
const BINS: usize = 20;

/// Draw each quantity against the number of the draw, for each chain a thin line through its draws
/// and over all of them its moving mean: dashes, which tell chains apart in grey, would be lost in
/// the noise of the draws.
pub fn trace(plot: &Chains) -> Scene {
    let mut scene = Scene::titled(&plot.title, WIDTH);
    let names: Vec<String> = (0..plot.shown()).map(chain).collect();
    let top = legend(&mut scene, LEFT, WIDTH - EDGE, &entries(Key::Line, names.iter())) + 6.0;
    for (i, quantity) in plot.quantities.iter().enumerate() {
        let upper = top + i as f64 * (TRACE + TITLE) + TITLE;
        let draws = quantity.chains.iter().map(Vec::len).max().unwrap_or(0).max(2);
        let frame = Frame {
            x: Axis::exact(1.0, draws as f64, LEFT, WIDTH - EDGE),
            y: Axis::all(quantity.chains.iter().flatten().copied(), upper + TRACE, upper),
        };
        quantity.name(&mut scene, (LEFT, upper - 6.0));
        frame.rows(&mut scene, "");
        let chains = || quantity.chains.iter().zip(&names).enumerate();
        for (c, (values, _)) in chains() {
            let step = values.len().div_ceil(MOST_POINTS).max(1);
            let finite = values.iter().enumerate().step_by(step).filter(|(_, v)| v.is_finite());
            let points: Vec<Point> = finite.map(|(i, v)| frame.at(i as f64 + 1.0, *v)).collect();
            scene.line(&points, Look::of(c).colour.tint(0.5), 0.7);
        }
        for (c, (values, name)) in chains() {
            let (x, y) = moving(values);
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            let title = format!("{}, {name}: mean {}", quantity.name, short(mean));
            scene.mark(Mark::Line, &title, |scene| {
                frame.curve(scene, &x, &y, &Look::of(c), 2.0);
            });
        }
        match i + 1 == plot.quantities.len() {
            true => frame.foot(&mut scene, "draw"),
            false => frame.base(&mut scene),
        }
    }
    let height = top + plot.quantities.len() as f64 * (TRACE + TITLE) + 62.0;
    scene.closed(height, &format!("thin: draws; thick: their moving mean{}", plot.hidden()))
}

/// Draw the histogram of each chain's ranks among the draws of all chains, which is flat within a
/// binomial band where the chains agree (Vehtari et al. 2021).
pub fn rank(plot: &Chains) -> Scene {
    let mut scene = Scene::titled(&format!("{}: ranks", plot.title), WIDTH);
    let wide = (WIDTH - 2.0 * EDGE) / plot.shown().max(1) as f64;
    for (i, quantity) in plot.quantities.iter().enumerate() {
        let upper = TOP + i as f64 * (RANK + TITLE) + TITLE;
        quantity.name(&mut scene, (EDGE, upper - 6.0));
        let counts = ranks(&quantity.chains, BINS);
        let most = counts.iter().flatten().copied().fold(0.0, f64::max);
        for (c, counts) in counts.iter().take(MOST_CHAINS).enumerate() {
            let left = EDGE + wide * c as f64;
            let bins = BINS as f64;
            let flat = counts.iter().sum::<f64>() / bins;
            let stray = 1.96 * (flat * (1.0 - 1.0 / bins)).sqrt();
            let frame = Frame {
                x: Axis::exact(0.0, bins, left + 4.0, left + wide - 4.0),
                // Room for the name above the bars.
                y: Axis::exact(0.0, 1.3 * most.max(flat + stray).max(1.0), upper + RANK, upper),
            };
            let (a, b) = (frame.at(0.0, flat + stray), frame.at(bins, (flat - stray).max(0.0)));
            scene.rect(a, b, GREY, 0.2);
            for (bin, count) in counts.iter().enumerate() {
                let (a, b) = (frame.at(bin as f64, *count), frame.at(bin as f64 + 1.0, 0.0));
                let title = format!(
                    "{}, {}: {count} draws in twentieth {} of all ranks, {} expected",
                    quantity.name,
                    chain(c),
                    bin + 1,
                    short(flat)
                );
                scene.mark(Mark::Bar, &title, |scene| {
                    scene.rect((a.0 + 0.5, a.1), (b.0 - 0.5, b.1), Look::of(c).colour, 0.75);
                });
            }
            scene.dashed(frame.at(0.0, flat), frame.at(bins, flat));
            frame.base(&mut scene);
            scene.text((left + wide - 6.0, upper + 9.0), &chain(c), SMALL_TEXT, Anchor::End, INK);
        }
    }
    let height = TOP + plot.quantities.len() as f64 * (RANK + TITLE) + 44.0;
    let foot = "ranks among the draws of all chains; shade: 95 of 100 independent draws' counts";
    scene.closed(height, &format!("{foot}{}", plot.hidden()))
}

impl Chains {
    /// How many chains there are.
    fn count(&self) -> usize {
        self.quantities.iter().map(|q| q.chains.len()).max().unwrap_or(0)
    }

    /// How many of them have room.
    fn shown(&self) -> usize {
        self.count().min(MOST_CHAINS)
    }

    /// The note where some chains have no room.
    fn hidden(&self) -> String {
        match self.count() {
            count if count > MOST_CHAINS => format!("; the first {MOST_CHAINS} of {count} chains"),
            _ => String::new(),
        }
    }
}

impl Quantity {
    /// Its name above its row.
    fn name(&self, scene: &mut Scene, at: Point) {
        let name = cut(&self.name, TEXT, false, WIDTH - EDGE - at.0);
        scene.text(at, &name, TEXT, Anchor::Start, INK);
    }
}

/// The mean over a window of an eighth of the draws about each of some places.
fn moving(values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let half = (values.len() / 16).max(1);
    let step = values.len().div_ceil(MOST_MEANS).max(1);
    let one = |i: usize| {
        let window = &values[i.saturating_sub(half)..(i + half + 1).min(values.len())];
        // Parts of the mean, since a sum of huge values overflows.
        (i as f64 + 1.0, window.iter().map(|v| v / window.len() as f64).sum::<f64>())
    };
    (0..values.len()).step_by(step).map(one).unzip()
}

fn chain(c: usize) -> String {
    format!("chain {}", c + 1)
}

/// How many draws of each chain have their rank among all in each of `bins` equal parts. Equal
/// values share the mean of their ranks.
fn ranks(chains: &[Vec<f64>], bins: usize) -> Vec<Vec<f64>> {
    let mut all: Vec<(f64, usize)> =
        chains.iter().enumerate().flat_map(|(c, v)| v.iter().map(move |v| (*v, c))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out = vec![vec![0.0; bins]; chains.len()];
    let mut below = 0;
    for same in all.chunk_by(|a, b| a.0 == b.0) {
        let middle = below as f64 + 0.5 * same.len() as f64;
        let bin = ((middle / all.len() as f64 * bins as f64) as usize).min(bins - 1);
        same.iter().for_each(|(_, c)| out[*c][bin] += 1.0);
        below += same.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moving_mean_keeps_lines_and_levels() {
        let line: Vec<f64> = (0..160).map(f64::from).collect();
        let (x, y) = moving(&line);
        // Away from the ends a window lies evenly about its place, counted from 1.
        let inner = x.iter().zip(&y).filter(|(x, _)| (11.0..=150.0).contains(*x));
        assert!(
            inner.clone().count() > 50
                && inner.into_iter().all(|(x, y)| (x - y - 1.0).abs() < 1e-9)
        );
        let flat = moving(&[3.0; 40]).1;
        assert!(flat.len() == 40 && flat.iter().all(|v| (v - 3.0).abs() < 1e-12));
        assert!(moving(&[]).0.is_empty());
    }

    /// Chains that take turns are flat; one that lies below the other is not.
    #[test]
    fn ranks_tell_chains_apart() {
        let every = |first: usize| (0..100).map(|i| (2 * i + first) as f64).collect::<Vec<f64>>();
        assert_eq!(ranks(&[every(0), every(1)], 10), vec![vec![10.0; 10]; 2]);
        let apart = ranks(&[vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0, 7.0, 8.0]], 4);
        assert_eq!(apart, [[2.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 2.0]]);
        assert_eq!(ranks(&[vec![3.0; 5], vec![3.0; 5]], 2), [[0.0, 5.0], [0.0, 5.0]]);
    }
}
