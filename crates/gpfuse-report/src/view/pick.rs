//! Some of the draws of a model, where all would take too long or cannot be told apart.

use anyhow::Result;
use gpfuse::fit::Fitted;
use gpfuse::infer::{ChainDraws, Draws};
use gpfuse::predict::Predictor;

/// A chain with some of its draws only.
fn some(draws: &Draws, chain: usize, at: &[usize]) -> ChainDraws {
    let (kept, dim) = (&draws.chains()[chain], draws.dim());
    let values = at.iter().flat_map(|i| &kept.values[i * dim..(i + 1) * dim]).copied().collect();
    ChainDraws { values, stats: at.iter().map(|i| kept.stats[*i]).collect() }
}

/// Numbers below `n`, at most `most` of them, evenly spread.
pub(super) fn spread(n: usize, most: usize) -> Vec<usize> {
    let count = n.min(most);
    (0..count).map(|i| (2 * i + 1) * n / (2 * count)).collect()
}

/// At most `most` draws, evenly spread over every chain.
pub(super) fn thinned(fitted: &Fitted, most: usize) -> Result<Predictor> {
    let draws = &fitted.draws;
    let at = spread(draws.per_chain(), (most / draws.chains().len()).max(1));
    let chains = (0..draws.chains().len()).map(|c| some(draws, c, &at)).collect();
    let mut few = Draws::new(draws.dim(), at.len(), chains)?;
    if let Some(weights) = draws.weights() {
        few = few.weighted(weights)?;
    }
    Ok(fitted.predictor_of(&few))
}

/// One chain alone.
pub(super) fn alone(fitted: &Fitted, chain: usize) -> Result<Predictor> {
    let draws = &fitted.draws;
    let one_chain =
        Draws::new(draws.dim(), draws.per_chain(), vec![draws.chains()[chain].clone()])?;
    Ok(fitted.predictor_of(&one_chain))
}

/// Some draws of one chain, each alone.
pub(super) fn single(fitted: &Fitted, chain: usize, most: usize) -> Result<Vec<Predictor>> {
    let draws = &fitted.draws;
    let one = |i: &usize| {
        let one_draw = Draws::new(draws.dim(), 1, vec![some(draws, chain, &[*i])])?;
        Ok(fitted.predictor_of(&one_draw))
    };
    spread(draws.per_chain(), most).iter().map(one).collect()
}

/// About `most` draws of all chains, each alone; a chain has as many as its weight says.
pub(super) fn singles(fitted: &Fitted, most: usize) -> Result<Vec<Predictor>> {
    let chains = fitted.draws.chains().len();
    let mut out = Vec::new();
    for c in 0..chains {
        let weight = fitted.draws.weights().map_or(1.0 / chains as f64, |w| w[c]);
        out.extend(single(fitted, c, (weight * most as f64).round() as usize)?);
    }
    Ok(out)
}

/// The chain that counts most: that of the largest weight, and among equals that of the largest
/// mean log joint density.
pub(super) fn best(draws: &Draws) -> usize {
    let value = |c: usize| {
        let stats = &draws.chains()[c].stats;
        let mean = stats.iter().map(|s| s.lp).sum::<f64>() / stats.len().max(1) as f64;
        (draws.weights().map_or(0.0, |w| w[c]), mean)
    };
    let order = |a: &usize, b: &usize| {
        let (a, b) = (value(*a), value(*b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    (0..draws.chains().len()).max_by(order).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_even_and_inside() {
        assert_eq!(spread(10, 5), [1, 3, 5, 7, 9]);
        assert_eq!(spread(3, 9), [0, 1, 2]);
        assert!(spread(0, 4).is_empty() && spread(4, 0).is_empty());
    }
}
