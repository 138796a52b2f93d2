//! The draws in a model file: the groups `posterior` and `sample_stats`.

use gpfuse::infer::{ChainDraws, Draws, Stat};
use gpfuse::model::Model;

use super::{Reader, STATS, StatField, weights};
use crate::nc::Tree;

/// The draws, which must have the model's shape. Nothing is allocated by what the file says before
/// its numbers are there.
pub(super) fn read(tree: &Tree, model: &Model) -> Result<Draws, String> {
    let posterior = Reader::of(tree, "posterior")?;
    let stats = Reader::of(tree, "sample_stats")?;
    let (chains, draws) = (posterior.size("chain")?, posterior.size("draw")?);
    let dim = model.dim();
    let all = chains.checked_mul(draws).filter(|all| *all > 0);
    let all = all.ok_or_else(|| format!("has {chains} chains of {draws} draws"))?;
    let mut stored = Vec::with_capacity(model.layout().parts.len());
    for part in &model.layout().parts {
        let values = posterior.numbers(&part.name)?;
        if all.checked_mul(part.count * part.width) != Some(values.len()) {
            return Err(format!("`posterior/{}` does not have the model's shape", part.name));
        }
        stored.push((part, values));
    }
    let mut taken = Vec::with_capacity(chains);
    for (c, stats) in read_stats(&stats, all)?.chunks_exact(draws).enumerate() {
        let mut values = vec![0.0; draws * dim];
        for (part, stored) in &stored {
            let width = part.count * part.width;
            let from = stored[c * draws * width..(c + 1) * draws * width].chunks_exact(width);
            for (to, from) in values.chunks_exact_mut(dim).zip(from) {
                for (to, v) in to[part.offset..].iter_mut().zip(from) {
                    *to = part.kind.sampled(*v);
                }
            }
        }
        if values.iter().any(|v| !v.is_finite()) {
            return Err("a draw is not finite".into());
        }
        taken.push(ChainDraws { values, stats: stats.to_vec() });
    }
    let draws = Draws::new(dim, draws, taken).map_err(|e| e.to_string())?;
    weights::read(&stats, draws)
}

fn read_stats(stats: &Reader<'_>, all: usize) -> Result<Vec<Stat>, String> {
    let fits = |n: usize, name: &str| {
        (n == all).then_some(()).ok_or(format!("`sample_stats/{name}` has {n} values, not {all}"))
    };
    let (diverging, saturated) = (stats.flags("diverging")?, stats.flags("reached_max_treedepth")?);
    fits(diverging.len(), "diverging")?;
    fits(saturated.len(), "reached_max_treedepth")?;
    let mut out = vec![Stat::default(); all];
    for StatField(name, _, set) in &STATS {
        let stored = stats.numbers(name)?;
        fits(stored.len(), name)?;
        out.iter_mut().zip(stored).for_each(|(s, v)| set(s, *v));
    }
    for (i, s) in out.iter_mut().enumerate() {
        (s.diverging, s.saturated) = (diverging[i], saturated[i]);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::model_file::read;
    use crate::nc::{Data, Tree};

    fn tree() -> Tree {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/bases/pogpe.nc");
        Tree::read(&path).unwrap()
    }

    fn refused(change: impl Fn(&mut Tree), words: &str) {
        let mut tree = tree();
        change(&mut tree);
        let error = read(&tree).map(|_| ()).unwrap_err();
        assert!(error.contains(words) && error.lines().count() == 1, "{error}: no `{words}`");
    }

    fn data<'a>(tree: &'a mut Tree, group: &str, name: &str) -> &'a mut Data {
        let group = tree.groups.iter_mut().find(|g| g.name == group).unwrap();
        &mut group.vars.iter_mut().find(|v| v.name == name).unwrap().data
    }

    /// Sizes are not believed before the numbers are there, and settings and scales are those of a
    /// fit that could have been.
    #[test]
    fn contents_that_no_fit_has_are_refused() {
        read(&tree()).unwrap();
        for (size, words) in [(usize::MAX, "chains of"), (1 << 40, "shape"), (0, "0 chains")] {
            let set = |tree: &mut Tree| {
                let group = tree.groups.iter_mut().find(|g| g.name == "posterior").unwrap();
                group.dims.iter_mut().find(|d| d.0 == "chain").unwrap().1 = size;
            };
            refused(set, words);
        }
        let mut rows = tree();
        let observed = rows.groups.iter_mut().find(|g| g.name == "observed_data").unwrap();
        observed.dims[0].1 = usize::MAX;
        assert_eq!(read(&rows).unwrap().rows.len(), 14);
        let settings = |from: &'static str, to: &'static str| {
            move |tree: &mut Tree| match data(tree, "gpfuse", "settings") {
                Data::Str(text) => text[0] = text[0].replacen(from, to, 1),
                _ => unreachable!(),
            }
        };
        refused(settings("\"experts\":2", "\"experts\":1000000000000"), "setting `experts`");
        refused(settings("\"warmup\":10", "\"warmup\":1"), "setting `warmup`");
        refused(settings("\"pogpe\"", "\"po\\ngpe\""), "unknown variant `po");
        refused(|tree| *data(tree, "gpfuse", "target_scale") = Data::F64(vec![0.0]), "scaler");
        refused(|tree| *data(tree, "gpfuse", "sizes") = Data::I64(vec![1 << 40, 1 << 40]), "size");
    }
}
