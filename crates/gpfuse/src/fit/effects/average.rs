//! Averages over rows along an input, and the variances of what is averaged.

use std::f64::consts::FRAC_PI_2;

use super::{Effect, Effects, PLACES, ROWS};
use crate::Result;
use crate::data::Data;
use crate::infer::spread;
use crate::predict::Summary;

/// The variance of numbers near one that are the same but for rounding is smaller.
const SAME: f64 = 1e-24;

/// Rows and places for which about `asked` rows are asked for in all.
pub(super) fn shape(asked: usize, inputs: usize, rows: usize) -> (usize, usize) {
    let inputs = inputs.max(1);
    let each = asked / (inputs * (PLACES.0 + PLACES.1) / 2);
    let rows = rows.min(each.clamp(ROWS.1, ROWS.0));
    (rows, (asked / (inputs * rows).max(1)).clamp(PLACES.1, PLACES.0))
}

/// Places along an input and the shares of the rows that they stand for: all of its values where these are few, else
/// its quantiles at `p_g = sin^2(pi g / (2 G - 2))`, g = 0 to G - 1, which are close together in the tails, where rows
/// are rare and curves would else be cut short; with the weights of the trapezoidal rule, `(p_(g+1) - p_(g-1)) / 2`.
fn places(data: &Data, input: usize, most: usize) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> =
        data.x().iter().skip(input).step_by(data.inputs().len()).copied().collect();
    sorted.sort_by(f64::total_cmp);
    let distinct = sorted.chunk_by(|a, b| a == b).count();
    let last = sorted.len() - 1;
    let each: Vec<(f64, f64)> = match distinct <= most {
        true => sorted.iter().map(|v| (*v, 1.0)).collect(),
        false => (0..most)
            .map(|g| {
                let at = |g: usize| (FRAC_PI_2 * g as f64 / (most - 1) as f64).sin().powi(2);
                let share = 0.5 * (at((g + 1).min(most - 1)) - at(g.saturating_sub(1)));
                (sorted[(at(g) * last as f64).round() as usize], share)
            })
            .collect(),
    };
    let total: f64 = each.iter().map(|place| place.1).sum();
    let alike = each.chunk_by(|a, b| a.0 == b.0);
    alike.map(|v| (v[0].0, v.iter().map(|place| place.1).sum::<f64>() / total)).collect()
}

/// Sums of the variances of something in each draw, and of that of its mean over the draws.
#[derive(Default)]
struct Variances {
    each: f64,
    of_mean: f64,
}

impl Variances {
    /// Add those of values with shares `p`, one row of draws x experts for each.
    fn add(&mut self, rows: &[&[f64]], p: &[f64], k: usize) {
        let draws = rows[0].len() / k;
        for e in 0..k {
            let (mut mean, mut squares) = (vec![0.0; rows.len()], 0.0);
            for j in 0..draws {
                let of_draw: Vec<f64> = rows.iter().map(|row| row[j * k + e]).collect();
                squares += variance(&of_draw, p);
                mean.iter_mut().zip(&of_draw).for_each(|(m, v)| *m += v / draws as f64);
            }
            self.each += squares / (draws * k) as f64;
            self.of_mean += variance(&mean, p) / k as f64;
        }
    }

    /// The variance of what `draws` draws have in common.
    fn common(&self, draws: usize) -> f64 {
        match draws {
            0 | 1 => self.each,
            _ => {
                let j = draws as f64;
                ((j * self.of_mean - self.each) / (j - 1.0)).max(0.0)
            }
        }
    }
}

fn variance(values: &[f64], p: &[f64]) -> f64 {
    let mean: f64 = values.iter().zip(p).map(|(v, p)| p * v).sum();
    values.iter().zip(p).map(|(v, p)| p * (v - mean).powi(2)).sum()
}

/// The effects of some inputs on what `ask` says about rows: draws x experts for each.
pub(super) fn effects(
    data: &Data,
    inputs: &[usize],
    (rows, most): (usize, usize),
    (k, draws, level): (usize, usize, f64),
    ask: impl Fn(Vec<f64>) -> Result<Vec<f64>>,
) -> Result<Effects> {
    let (rows, width) = (spread(data.len(), rows), k * draws);
    let n = rows.len() as f64;
    // Of the averages of some rows.
    let summaries = |averages: &[f64]| -> Vec<Summary> {
        let of = |e: usize| averages.iter().skip(e).step_by(k).copied().collect::<Vec<f64>>();
        (0..k).map(|e| Summary::of(&mut of(e), level)).collect()
    };
    let average = |values: &[&[f64]]| -> Vec<f64> {
        (0..width).map(|w| values.iter().map(|v| v[w]).sum::<f64>() / n).collect()
    };
    let mut found = Vec::with_capacity(inputs.len());
    for input in inputs {
        let places = places(data, *input, most);
        let mut x = Vec::with_capacity(places.len() * rows.len() * data.inputs().len());
        for (v, _) in &places {
            for r in &rows {
                let start = x.len();
                x.extend_from_slice(data.row(*r));
                x[start + input] = *v;
            }
        }
        let values = ask(x)?;
        let values: Vec<&[f64]> = values.chunks(width).collect();
        let shares: Vec<f64> = places.iter().map(|place| place.1).collect();
        let mut variances = Variances::default();
        for r in 0..rows.len() {
            let of_row: Vec<&[f64]> = values.iter().skip(r).step_by(rows.len()).copied().collect();
            variances.add(&of_row, &shares, k);
        }
        let at: Vec<Vec<Summary>> =
            values.chunks(rows.len()).map(|rows| summaries(&average(rows))).collect();
        found.push(Effect {
            input: *input,
            moves: (variances.common(draws) / n).sqrt(),
            x: places.iter().map(|place| place.0).collect(),
            curves: (0..k).map(|e| at.iter().map(|place| place[e]).collect()).collect(),
        });
    }
    found.sort_by(|a, b| b.moves.total_cmp(&a.moves));
    let values = ask(rows.iter().flat_map(|r| data.row(*r)).copied().collect())?;
    let values: Vec<&[f64]> = values.chunks(width).collect();
    let mut whole = Variances::default();
    whole.add(&values, &vec![1.0 / n; rows.len()], k);
    let common = whole.common(draws);
    Ok(Effects {
        inputs: found,
        level: summaries(&average(&values)),
        constant: whole.each < SAME,
        spread: common.sqrt(),
        agreed: if whole.each > 0.0 { (common / whole.each).min(1.0) } else { 1.0 },
        rows: rows.len(),
        draws,
        chain: None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// 200 rows of three inputs, the last of which has two values.
    fn rows() -> Data {
        let at = |i: u32, k: f64| (k * f64::from(i)).sin();
        let row = |i: u32| [at(i, 1.3), 3.0 * at(i, 2.4), f64::from(u8::from(i.is_multiple_of(4)))];
        Data::new((0..200).flat_map(row).collect(), 3).unwrap()
    }

    /// Two quantities in 40 draws, whose errors have the pattern of a random walk through signs.
    fn asked(x: &[f64], f: fn(&[f64], f64) -> f64) -> Vec<f64> {
        let draws = |x: &[f64]| {
            let x = x.to_vec();
            (0..40).flat_map(move |j| {
                let value = f(&x, (2.0 + 7.3 * f64::from(j)).sin() * 2f64.sqrt());
                [value, -value]
            })
        };
        x.chunks(3).flat_map(draws).collect()
    }

    fn found(f: fn(&[f64], f64) -> f64) -> Effects {
        let data = rows();
        effects(&data, &[0, 1, 2], (60, 20), (2, 40, 0.9), |x| Ok(asked(&x, f))).unwrap()
    }

    /// By hand: along input 2 (values 0 and 1 in shares 3/4 and 1/4) `4 x_2` has the variance 16 * 3/16.
    #[test]
    fn inputs_move_by_the_root_of_their_total_effect() {
        let found = found(|x, _| 4.0 * x[2] + x[1]);
        let order: Vec<usize> = found.inputs.iter().map(|e| e.input).collect();
        assert_eq!(order, [1, 2, 0]);
        assert!((found.inputs[1].moves - 3f64.sqrt()).abs() < 1e-12, "{:?}", found.inputs[1]);
        assert!(found.inputs[2].moves < 1e-12, "{:?}", found.inputs[2]);
        assert!((found.agreed - 1.0).abs() < 1e-12);
        // The partial dependence of a sum is its part, but for a constant.
        let curve = &found.inputs[1].curves[0];
        assert_eq!(found.inputs[1].x, [0.0, 1.0]);
        assert!((curve[1].mean - curve[0].mean - 4.0).abs() < 1e-12);
        assert!((curve[0].high - curve[0].low).abs() < 1e-12);
    }

    /// What two inputs do together is in the total effect of both and in the curve of neither, as nearly half of the
    /// rows have a positive input 1.
    #[test]
    fn interactions_count() {
        let found = found(|x, _| x[1].signum() * x[0]);
        let first = found.inputs.iter().find(|e| e.input == 0).unwrap();
        let second = found.inputs.iter().find(|e| e.input == 1).unwrap();
        assert!((first.moves - 0.71).abs() < 0.05 && (second.moves - 0.71).abs() < 0.08);
        let of = |e: &Effect| e.curves[0].iter().map(|s| s.mean).collect::<Vec<f64>>();
        let range =
            |v: Vec<f64>| v.iter().fold(f64::MIN, |a, b| a.max(*b)) - v[0].min(v[v.len() - 1]);
        assert!(range(of(first)) < 0.2, "{:?}", of(first));
    }

    /// Slopes that are nothing but noise move nothing that draws agree on.
    #[test]
    fn what_draws_do_not_agree_on_is_not_counted() {
        let known = found(|x, _| x[0]).spread;
        let noise = found(|x, e| e * x[0]);
        assert!(noise.agreed < 0.05 && noise.spread < 0.25 * known, "{noise:?}");
        let half = found(|x, e| (1.0 + e) * x[0]);
        assert!((half.agreed - 0.5).abs() < 0.1, "{}", half.agreed);
        assert!((half.spread / known - 1.0).abs() < 0.1, "{}", half.spread / known);
    }

    #[test]
    fn places_stand_for_all_rows() {
        let data = rows();
        for (input, most) in [(0, 20), (1, 12), (2, 20)] {
            let found = places(&data, input, most);
            assert!((found.iter().map(|p| p.1).sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(found.windows(2).all(|w| w[0].0 < w[1].0) && found.len() <= most);
        }
        assert_eq!(places(&data, 2, 20), [(0.0, 0.75), (1.0, 0.25)]);
        for (asked, inputs) in [(10_000, 1), (10_000, 8), (10_000, 40), (100, 8)] {
            let (rows, places) = shape(asked, inputs, 1000);
            assert!((15..=100).contains(&rows) && (12..=40).contains(&places), "{rows}, {places}");
        }
    }
}
