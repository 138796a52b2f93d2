//! Boosted trees in a model file, flat: for each expert that has them `boosted_start` (the constants of mean and
//! log sd), `boosted_least_log_sd`, `boosted_trees` and `boosted_nodes`, how many of the following are its own;
//! `tree_root`, the first node of each tree; and of each node `node_input`, `node_threshold`, `node_left` (0 in a
//! leaf) and `node_value`.

use gpfuse::experts::{Expert, TREES};
use gpfuse::trees::{Boosted, Parts};

use super::{Dim, Reader, var};
use crate::nc::{Data, Var};

/// The trees of the experts that have them.
pub(super) fn write(experts: &[Expert], dims: &mut Vec<Dim>, vars: &mut Vec<Var>) {
    let all: Vec<&Parts> = experts.iter().filter_map(|e| e.trees().map(Boosted::parts)).collect();
    if all.is_empty() {
        return;
    }
    let sum = |f: &dyn Fn(&Parts) -> usize| all.iter().map(|p| f(p)).sum::<usize>();
    dims.extend([
        ("boosted", all.len()),
        ("constant", 2),
        ("tree", sum(&|p| p.roots.len())),
        ("node", sum(&|p| p.value.len())),
    ]);
    let whole = |f: &dyn Fn(&Parts) -> Vec<u32>| {
        Data::I64(all.iter().flat_map(|p| f(p)).map(i64::from).collect())
    };
    let real = |f: &dyn Fn(&Parts) -> Vec<f64>| Data::F64(all.iter().flat_map(|p| f(p)).collect());
    vars.extend([
        var("boosted_start", &["boosted", "constant"], real(&|p| p.start.to_vec())),
        var("boosted_least_log_sd", &["boosted"], real(&|p| vec![p.least_log_sd])),
        var("boosted_trees", &["boosted"], whole(&|p| vec![p.roots.len() as u32])),
        var("boosted_nodes", &["boosted"], whole(&|p| vec![p.value.len() as u32])),
        var("tree_root", &["tree"], whole(&|p| p.roots.clone())),
        var("node_input", &["node"], whole(&|p| p.input.clone())),
        var("node_threshold", &["node"], real(&|p| p.threshold.clone())),
        var("node_left", &["node"], whole(&|p| p.left.clone())),
        var("node_value", &["node"], real(&|p| p.value.clone())),
    ]);
}

/// The trees of the experts whose kernel says that they have them.
pub(super) fn read(
    group: &Reader<'_>,
    kernels: &[String],
    inputs: usize,
) -> Result<Vec<Boosted>, String> {
    let count = kernels.iter().filter(|kernel| *kernel == TREES).count();
    if count == 0 {
        return Ok(Vec::new());
    }
    let whole = |name: &str| {
        let small = |n: usize| u32::try_from(n).map_err(|_| format!("`gpfuse/{name}`: {n}"));
        group.counts(name)?.into_iter().map(small).collect::<Result<Vec<u32>, String>>()
    };
    let (start, least) = (group.numbers("boosted_start")?, group.numbers("boosted_least_log_sd")?);
    let (trees, nodes) = (group.counts("boosted_trees")?, group.counts("boosted_nodes")?);
    // A file has nothing that is empty.
    let (empty, none) = (trees.iter().all(|n| *n == 0), &[][..]);
    let whole = |name: &str| if empty { Ok(Vec::new()) } else { whole(name) };
    let real = |name: &str| if empty { Ok(none) } else { group.numbers(name) };
    let (root, input, left) = (whole("tree_root")?, whole("node_input")?, whole("node_left")?);
    let (threshold, value) = (real("node_threshold")?, real("node_value")?);
    let total = |sizes: &[usize]| sizes.iter().try_fold(0, |a: usize, n| a.checked_add(*n));
    let fits = start.len() == 2 * count
        && [least.len(), trees.len(), nodes.len()] == [count; 3]
        && total(&trees) == Some(root.len())
        && [input.len(), left.len(), threshold.len()] == [value.len(); 3]
        && total(&nodes) == Some(value.len());
    if !fits {
        return Err("its trees do not have the shape that they say".into());
    }
    let (mut tree, mut node) = (0, 0);
    let mut out = Vec::with_capacity(count);
    for k in 0..count {
        let (roots, own) = (tree..tree + trees[k], node..node + nodes[k]);
        (tree, node) = (roots.end, own.end);
        let parts = Parts {
            inputs,
            start: [start[2 * k], start[2 * k + 1]],
            least_log_sd: least[k],
            roots: root[roots].to_vec(),
            input: input[own.clone()].to_vec(),
            threshold: threshold[own.clone()].to_vec(),
            left: left[own.clone()].to_vec(),
            value: value[own].to_vec(),
        };
        out.push(Boosted::from_parts(parts).map_err(String::from)?);
    }
    Ok(out)
}
