//! One input: predictions, experts and draws along it.

use anyhow::Result;
use gpfuse::fit::{Experts as Kept, Located};
use gpfuse::pool::Pool;
use gpfuse::predict::{ExpertSummary, FusedBlock, Predictive as _, Predictor};
use gpfuse::{Data, Fitted};

use super::training::{order, sorted};
use crate::figure::{Band, Drawn, Draws, Experts, Heat, Labels, Predictive, most};

/// Places of a curve.
const POINTS: usize = 200;
/// The share of the draws or of the density that intervals hold.
pub(super) const LEVEL: f64 = 0.9;
/// Draws shown of each expert.
const SHOWN: usize = 8;
/// Cells of the density along both axes.
const CELLS: (usize, usize) = (160, 120);
/// Draws that the density is averaged over.
const HEAT_DRAWS: usize = 400;

/// Places along the input, and what given experts say there.
pub(super) struct Places {
    pub(super) x: Vec<f64>,
    at: Located,
}

impl Places {
    pub(super) fn new(fitted: &Fitted, data: &Data) -> Result<Places> {
        let at = fitted.locate(data, 0..data.len())?;
        Ok(Places { x: data.x().to_vec(), at })
    }

    /// A grid over the range of some rows. Experts made elsewhere speak only at the rows
    /// themselves.
    pub(super) fn along(fitted: &Fitted, range: &Data) -> Result<Places> {
        if range.predictions().is_some() {
            return Places::new(fitted, &range.pick(&order(range))?);
        }
        let sorted = sorted(range, 0);
        Places::new(fitted, &grid(sorted[0], sorted[sorted.len() - 1], POINTS)?)
    }

    /// Call `each` for the predictive density at every place.
    pub(super) fn densities<T: Send>(
        &self,
        predictor: &Predictor,
        threads: usize,
        each: impl Fn(gpfuse::predict::Mixture<'_>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let block = |b: &FusedBlock| -> gpfuse::Result<Vec<T>> {
            (0..b.len()).map(|r| Ok(each(b.row(r)?))).collect()
        };
        let blocks = predictor.at(&self.at.rows, self.at.given.as_ref()).blocks(threads, block)?;
        Ok(blocks.into_iter().collect::<gpfuse::Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn experts(&self, predictor: &Predictor, threads: usize) -> Result<Vec<ExpertSummary>> {
        Ok(predictor.experts(&self.at.rows, self.at.given.as_ref(), LEVEL, threads)?)
    }
}

/// Equal steps between two values of the only input.
fn grid(low: f64, high: f64, points: usize) -> Result<Data> {
    let step = (high - low) / (points - 1) as f64;
    Ok(Data::new((0..points).map(|i| low + step * i as f64).collect(), 1)?)
}

/// Mean and central interval of the predictions at some places.
pub(super) fn band(
    places: &Places,
    predictor: &Predictor,
    name: &str,
    threads: usize,
) -> Result<Band> {
    let ends = [0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL];
    let each = |m: gpfuse::predict::Mixture<'_>| {
        let q = m.quantiles(&ends);
        [m.mean(), q[0], q[1]]
    };
    let all = places.densities(predictor, threads, each)?;
    let [centre, low, high] = [0, 1, 2].map(|i| all.iter().map(|v| v[i]).collect());
    Ok(Band { name: name.into(), centre, low, high })
}

/// The titles come later, with the name of the model.
fn labels(fitted: &Fitted) -> Labels {
    Labels::new("", &fitted.inputs()[0], fitted.target())
}

/// The predictions of a model, with `data` before them.
pub(super) fn predictive(
    fitted: &Fitted,
    places: &Places,
    data: &Data,
    threads: usize,
) -> Result<Predictive> {
    let band = band(places, &fitted.predictor(), "", threads)?;
    let ends = band.low.iter().chain(&band.high).chain(data.y()?).copied();
    let density = match data.predictions().is_some() {
        // Experts made elsewhere speak only at the rows, which are no even grid.
        true => None,
        false => Some(heat(fitted, places, most(ends), threads)?),
    };
    Ok(Predictive {
        labels: labels(fitted),
        data: data.x().iter().copied().zip(data.y()?.iter().copied()).collect(),
        x: places.x.clone(),
        methods: vec![band],
        level: LEVEL,
        density,
    })
}

fn heat(fitted: &Fitted, places: &Places, range: (f64, f64), threads: usize) -> Result<Heat> {
    let margin = 0.05 * (range.1 - range.0);
    let centres = |low: f64, high: f64, n: usize| -> Vec<f64> {
        (0..n).map(|i| low + (high - low) * (i as f64 + 0.5) / n as f64).collect()
    };
    let (first, last) = (places.x[0], places.x[places.x.len() - 1]);
    let x = centres(first, last, CELLS.0);
    let y = centres(range.0 - margin, range.1 + margin, CELLS.1);
    let predictor = fitted.predictor_of(&fitted.draws.thinned(HEAT_DRAWS));
    let each = |m: gpfuse::predict::Mixture<'_>| -> Vec<f64> {
        y.iter().map(|y| m.log_density(*y).exp()).collect()
    };
    let columns =
        Places::new(fitted, &Data::new(x.clone(), 1)?)?.densities(&predictor, threads, each)?;
    Ok(Heat { x, values: columns.concat(), y })
}

/// The note on which draws are shown, and their chain; none where experts
/// are given, whose labels mean the same in all chains.
fn one_chain(fitted: &Fitted) -> Option<(usize, String)> {
    let draws = &fitted.draws;
    if !matches!(fitted.experts, Kept::Learned) || draws.chains().len() < 2 {
        return None;
    }
    let (best, chains) = (draws.best(), draws.chains().len());
    Some((best, format!("chain {} of {chains}, as labels can differ between chains", best + 1)))
}

pub(super) fn names(fitted: &Fitted) -> Vec<String> {
    let called = |name: String| match name.parse::<usize>() {
        Ok(number) => format!("expert {number}"),
        Err(_) => name,
    };
    fitted.expert_names().into_iter().map(called).collect()
}

/// The mean and the sd of an expert that says them; figures are of no others.
fn said(expert: &ExpertSummary) -> (f64, f64) {
    (expert.mean.unwrap_or_default(), expert.sd.unwrap_or_default())
}

/// The experts and their weights.
pub(super) fn experts(fitted: &Fitted, places: &Places, threads: usize) -> Result<Experts> {
    let (predictor, note) = match one_chain(fitted) {
        Some((chain, note)) => (fitted.predictor_of(&fitted.draws.alone(chain)), note),
        None => (fitted.predictor_of(&fitted.draws), String::new()),
    };
    let all = places.experts(&predictor, threads)?;
    let (names, k) = (names(fitted), fitted.model.experts());
    let band = |e: usize, of: &dyn Fn(&ExpertSummary) -> [f64; 3]| {
        let of_expert: Vec<[f64; 3]> = all.iter().skip(e).step_by(k).map(of).collect();
        let [centre, low, high] = [0, 1, 2].map(|i| of_expert.iter().map(|v| v[i]).collect());
        Band { name: names[e].clone(), centre, low, high }
    };
    let mean = |s: &ExpertSummary| {
        let (mean, sd) = said(s);
        [mean, mean - sd, mean + sd]
    };
    let weight = |s: &ExpertSummary| [s.weight.mean, s.weight.low, s.weight.high];
    let free = if fitted.model.pool() == Pool::Linear { "weight" } else { "weight (power)" };
    Ok(Experts {
        labels: labels(fitted),
        x: places.x.clone(),
        means: (0..k).map(|e| band(e, &mean)).collect(),
        weights: (0..k).map(|e| band(e, &weight)).collect(),
        weight_label: free.into(),
        note,
    })
}

/// Some draws of the experts.
pub(super) fn draws(
    fitted: &Fitted,
    places: &Places,
    data: &Data,
    threads: usize,
) -> Result<Draws> {
    let k = fitted.model.experts();
    let (some, note) = match one_chain(fitted) {
        Some((chain, note)) => (fitted.draws.alone(chain).thinned(SHOWN), format!("; {note}")),
        None => (fitted.draws.thinned(SHOWN), String::new()),
    };
    let mut experts: Vec<(String, Vec<Drawn>)> =
        names(fitted).into_iter().map(|name| (name, Vec::new())).collect();
    for one in some.singles() {
        let all = places.experts(&fitted.predictor_of(&one), threads)?;
        for (e, (_, drawn)) in experts.iter_mut().enumerate() {
            let of_expert = || all.iter().skip(e).step_by(k);
            let (mean, weight) = (
                of_expert().map(|s| said(s).0).collect(),
                of_expert().map(|s| s.weight.mean).collect(),
            );
            drawn.push(Drawn { mean, weight });
        }
    }
    Ok(Draws {
        labels: labels(fitted),
        x: places.x.clone(),
        experts,
        data: data.x().iter().copied().zip(data.y()?.iter().copied()).collect(),
        note: format!("{} draws; the wider the line, the larger the weight{note}", some.len()),
    })
}
