//! Given experts in a model file: those that were trained here, or the names of those made
//! elsewhere.
//!
//! A GP is a function of its kernel, hyperparameters and rows, so those are what is kept, in the
//! model's scaled units: `expert_*` per expert, and `member_x`, `member_y` the rows of all experts
//! one after the other, `expert_rows` of them each. An input that an expert does not see has
//! lengthscale 0. An expert whose kernel is `trees` has no rows: its trees are in `boosted_*`, `tree_root`
//! and `node_*` (`trees.rs`). Nor has one that predicts rows from their nearest ones: `expert_table` says from
//! which table (`tables.rs`). What the experts say about the rows of the weights without them is in `said_mean` and
//! `said_sd`, in `said_log_density`, or, where the target is a class, in `said_probability`, with `class_name`.

mod tables;
mod trees;

use std::sync::Arc;

use gpfuse::experts::{Expert, TREES};
use gpfuse::fit::{Experts, Fitted};
use gpfuse::gp::nearest::Nearest;
use gpfuse::gp::{Gp, Hyper};
use gpfuse::kernel::Kernel;
use gpfuse::{Classes, LogDensity, Predictions, Said};

use super::{Reader, var, variable};
use crate::nc::{Data, Tree, Var};

/// A dimension and its size.
type Dim = (&'static str, usize);

/// What the group `gpfuse` holds about given experts.
pub(super) fn write(fitted: &Fitted, dims: &mut Vec<Dim>, vars: &mut Vec<Var>) {
    if let Some(experts) = fitted.experts.count() {
        let rows: Vec<i64> = fitted.rows.iter().map(|row| *row as i64).collect();
        dims.extend([("expert", experts), ("stacking", rows.len())]);
        vars.push(var("stacking_row", &["stacking"], Data::I64(rows)));
    }
    if let Some(said) = &fitted.said {
        let mut add = |name: &str, values: &[Vec<f64>]| {
            vars.push(var(name, &["expert", "stacking"], Data::F64(values.concat())));
        };
        match &**said {
            Said::Normal(said) => {
                add("said_mean", said.mean());
                add("said_sd", said.sd());
            }
            Said::LogDensity(said) => add("said_log_density", said.values()),
            Said::Classes(said) => {
                dims.push(("class", said.names().len()));
                vars.push(var("class_name", &["class"], Data::Str(said.names().to_vec())));
                let values = said.log_p().iter().flatten().map(|log_p| log_p.exp()).collect();
                vars.push(var(
                    "said_probability",
                    &["expert", "class", "stacking"],
                    Data::F64(values),
                ));
            }
        }
    }
    match &fitted.experts {
        Experts::Learned => {}
        Experts::Named(names) => {
            vars.push(var("expert_name", &["expert"], Data::Str(names.clone())));
        }
        Experts::Trained(experts) => {
            let inputs = fitted.scaler.inputs.len();
            let gps = experts.iter().filter_map(Expert::gp);
            dims.push(("member", gps.map(|(gp, _)| gp.rows()).sum()));
            vars.extend(trained(experts, inputs));
            tables::write(experts, inputs, dims, vars);
            trees::write(experts, dims, vars);
        }
    }
}

fn trained(experts: &[Expert], inputs: usize) -> Vec<Var> {
    let gps = || experts.iter().filter_map(Expert::gp);
    let hypers: Vec<Option<(&Hyper, &[usize])>> = experts.iter().map(Expert::hyper).collect();
    // What only a GP has is 0 for trees.
    let each = |f: &dyn Fn(&Hyper) -> f64| {
        Data::F64(hypers.iter().map(|hyper| hyper.map_or(0.0, |(hyper, _)| f(hyper))).collect())
    };
    let kernel = |expert: &Expert| expert.kernel().map_or(TREES.into(), |k| k.to_string());
    let rows = experts.iter().map(|e| e.gp().map_or(0, |(gp, _)| gp.rows() as i64)).collect();
    let ell = hypers.iter().flat_map(|hyper| match hyper {
        Some((hyper, columns)) => spread(columns, &hyper.ell, inputs),
        None => vec![0.0; inputs],
    });
    let x = gps().flat_map(|(gp, columns)| {
        let rows = gp.x().chunks_exact(columns.len());
        rows.flat_map(|row| spread(columns, row, inputs)).collect::<Vec<f64>>()
    });
    let y = gps().flat_map(|(gp, _)| gp.y()).copied().collect();
    vec![
        var("expert_kernel", &["expert"], Data::Str(experts.iter().map(kernel).collect())),
        var("expert_mean", &["expert"], each(&|hyper| hyper.mean)),
        var("expert_var", &["expert"], each(&|hyper| hyper.var)),
        var("expert_noise", &["expert"], each(&|hyper| hyper.noise)),
        var("expert_ell", &["expert", "input"], Data::F64(ell.collect())),
        var("expert_rows", &["expert"], Data::I64(rows)),
        var("member_x", &["member", "input"], Data::F64(x.collect())),
        var("member_y", &["member"], Data::F64(y)),
    ]
}

/// What given experts say about the rows of the weights, where the file has it.
pub(super) fn read_said(
    group: &Reader<'_>,
    experts: usize,
    rows: usize,
) -> Result<Option<Said>, String> {
    let known = ["said_mean", "said_log_density", "said_probability"];
    let known = known.into_iter().find(|n| group.data(n).is_ok());
    let Some(known) = known else { return Ok(None) };
    let each = |name: &str, classes: usize| -> Result<Vec<Vec<f64>>, String> {
        let values = group.numbers(name)?;
        if rows == 0 || values.len() != experts * classes * rows {
            return Err(format!("`gpfuse/{name}` does not have the shape that it says"));
        }
        Ok(values.chunks(rows).map(<[f64]>::to_vec).collect())
    };
    let said = match known {
        "said_mean" => Predictions::new(each(known, 1)?, each("said_sd", 1)?).map(Said::from),
        "said_log_density" => LogDensity::new(each(known, 1)?).map(Said::from),
        _ => {
            let names = group.texts("class_name")?;
            Classes::new(names.to_vec(), &each(known, names.len())?).map(Said::from)
        }
    };
    said.map(Some).map_err(|e| format!("`gpfuse/{known}`: {e}"))
}

/// Numbers of an expert's own inputs, spread over all inputs.
fn spread(columns: &[usize], values: &[f64], inputs: usize) -> Vec<f64> {
    let mut all = vec![0.0; inputs];
    columns.iter().zip(values).for_each(|(i, v)| all[*i] = *v);
    all
}

/// The experts and the rows of the weights, from the group `gpfuse`.
pub(super) fn read(
    tree: &Tree,
    group: &Reader<'_>,
    learned: bool,
    inputs: usize,
    target: &str,
) -> Result<(Experts, Vec<usize>), String> {
    if learned {
        let observed = Reader::of(tree, "observed_data")?;
        // The number of values counts, whatever the dimension says.
        let rows = observed.numbers(&variable(target))?.len();
        return Ok((Experts::Learned, (0..rows).collect()));
    }
    let rows = group.counts("stacking_row")?;
    if let Ok(names) = group.texts("expert_name") {
        return Ok((Experts::Named(names.to_vec()), rows));
    }
    let kernels = group.texts("expert_kernel")?;
    let [mean, variance, noise] =
        ["expert_mean", "expert_var", "expert_noise"].map(|name| group.numbers(name));
    let (mean, variance, noise) = (mean?, variance?, noise?);
    let (ell, sizes) = (group.numbers("expert_ell")?, group.counts("expert_rows")?);
    // A file has nothing that is empty.
    let (x, y) = match sizes.iter().all(|size| *size == 0) {
        true => (&[][..], &[][..]),
        false => (group.numbers("member_x")?, group.numbers("member_y")?),
    };
    let count = kernels.len();
    let fits = [mean.len(), variance.len(), noise.len(), sizes.len()].iter().all(|n| *n == count)
        && ell.len() == count * inputs
        && sizes.iter().try_fold(0, |a: usize, n| a.checked_add(*n)) == Some(y.len())
        && x.len() == y.len() * inputs;
    if !fits {
        return Err("its experts do not have the shape that they say".into());
    }
    let mut boosted = trees::read(group, kernels, inputs)?.into_iter();
    let mut tables = tables::read(group, count, inputs)?;
    let mut start = 0;
    let mut experts = Vec::with_capacity(count);
    for k in 0..count {
        let rows = start..start + sizes[k];
        start = rows.end;
        if kernels[k] == TREES {
            experts.push(Expert::Trees(boosted.next().ok_or("an expert has no trees")?));
            continue;
        }
        let all = &ell[k * inputs..(k + 1) * inputs];
        let columns: Vec<usize> = (0..inputs).filter(|i| all[*i] > 0.0).collect();
        let hyper = Hyper {
            mean: mean[k],
            var: variance[k],
            ell: columns.iter().map(|i| all[*i]).collect(),
            noise: noise[k],
        };
        let kernel: Kernel = kernels[k].parse().map_err(|e: gpfuse::Error| e.to_string())?;
        if let Some(table) = tables.of(k, &columns)? {
            let gp = Nearest::new(kernel, hyper, table)
                .and_then(|gp| gp.with_neighbours(tables.neighbours[k]));
            let gp = gp.map_err(|e| format!("expert {}: {e}", k + 1))?;
            experts.push(Expert::Nearest(gp, columns));
            continue;
        }
        let points: Vec<f64> =
            rows.clone().flat_map(|r| columns.iter().map(move |i| x[r * inputs + i])).collect();
        let gp = Gp::condition(kernel, hyper, &points, columns.len(), &y[rows]);
        let gp = gp.map_err(|e| format!("expert {}: {e}", k + 1))?;
        experts.push(Expert::Gp(gp, columns));
    }
    Ok((Experts::Trained(Arc::new(experts)), rows))
}

#[cfg(test)]
mod tests {
    use gpfuse::fit::{BasisChoice, GateChoice};
    use gpfuse::infer::Settings;
    use gpfuse::{Data, FitSettings, Fitted, Method, fit};

    use crate::model_file::{load, read, save, tree, var};
    use crate::nc::Data as Numbers;

    /// A fit of 60 rows with 4 inputs on eigenfunctions.
    fn fitted(method: Method) -> Fitted {
        let at = |i: u32, k: f64| (k * f64::from(i)).sin();
        let row = |i: u32| [at(i, 1.3), at(i, 2.1), at(i, 0.7), at(i, 3.1)];
        let x: Vec<f64> = (0..60).flat_map(row).collect();
        let y: Vec<f64> = x.chunks(4).map(|x| x[0] + (2.0 * x[1]).cos() * x[2]).collect();
        let sampler =
            Settings { chains: 2, warmup: Some(30), draws: Some(20), ..Settings::default() };
        let basis = BasisChoice::Eigen;
        let settings = FitSettings { method, experts: 2, basis, sampler, ..FitSettings::default() };
        fit(&Data::new(x, 4).unwrap().with_target(y).unwrap(), &settings).unwrap()
    }

    /// Mean, sd and score at new rows, one of them far away, are the same after the file, although
    /// variances have lost their last bits in it.
    #[test]
    fn eigenfunctions_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.nc");
        let x = vec![0.3, -0.2, 0.9, 0.1, 0.1, -0.5, 0.0, 0.4, 30.0, -40.0, 20.0, 50.0];
        let new = Data::new(x, 4).unwrap().with_target(vec![0.5, 0.2, -0.1]).unwrap();
        for method in [Method::Het, Method::Mogpe, Method::Pbhs] {
            let before = fitted(method);
            save(&path, &before).unwrap();
            let after = load(&path).unwrap();
            assert_eq!(after.model.basis(), before.model.basis(), "{method}");
            assert_eq!(after.model.common(), before.model.common(), "{method}");
            let numbers = |fitted: &Fitted| {
                let found = fitted.predict(&new).unwrap();
                let rows = [found.mean().unwrap(), found.sd().unwrap()].concat();
                rows.into_iter()
                    .chain([fitted.evaluate(&new).unwrap().nlpd.value])
                    .collect::<Vec<f64>>()
            };
            for (a, b) in numbers(&after).into_iter().zip(numbers(&before)) {
                assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{method}: {a}, {b}");
            }
        }
    }

    /// A portfolio of GPs and trees, with weights by input and constant ones, is the same after the file, and so is
    /// what it is worth.
    #[test]
    fn a_portfolio_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.nc");
        let before = fitted(Method::Pbhs);
        let data = Data::new(before.data.x().to_vec(), 4).unwrap();
        let rounded: Vec<f64> =
            before.data.y().unwrap().iter().map(|y| (4.0 * y).round() / 4.0).collect();
        let data = data.with_target(rounded).unwrap();
        for gate in [GateChoice::Auto, GateChoice::Gp, GateChoice::Constant, GateChoice::Linear] {
            let sampler =
                Settings { chains: 2, warmup: Some(60), draws: Some(60), ..Settings::default() };
            let settings = FitSettings { gate, sampler, ..FitSettings::default() };
            let before = fit(&data, &settings).unwrap();
            assert_eq!(before.resolution, Some(0.25));
            assert_eq!(before.expert_names(), ["rbf", "matern12", "matern32", "matern52", "trees"]);
            save(&path, &before).unwrap();
            let after = load(&path).unwrap();
            assert_eq!(after.worth, before.worth);
            assert!(after.worth.is_some() && after.resolution == before.resolution);
            assert_eq!(after.said, before.said);
            let left_out = |fitted: &Fitted| fitted.left_out(1).unwrap().mean;
            for (a, b) in left_out(&after).iter().zip(left_out(&before)) {
                assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{gate:?}: {a}, {b}");
            }
            let scores = |fitted: &Fitted| fitted.evaluate(&data).unwrap().losses;
            for (a, b) in scores(&after).iter().flatten().zip(scores(&before).iter().flatten()) {
                assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{gate:?}: {a}, {b}");
            }
        }
    }

    /// A model of the basis that is gone has one error, which names what replaced it.
    #[test]
    fn models_of_the_exact_basis_are_refused() {
        let mut tree = tree(&fitted(Method::Het)).unwrap();
        let own = tree.groups.iter_mut().find(|g| g.name == "gpfuse").unwrap();
        own.vars.retain(|v| !v.name.contains("projection"));
        own.dims.push(("anchor".into(), 2));
        own.vars.push(var("anchors", &["anchor", "input"], Numbers::F64(vec![0.0; 8])));
        let settings = own.vars.iter_mut().find(|v| v.name == "settings").unwrap();
        let Numbers::Str(text) = &mut settings.data else { panic!("no text") };
        text[0] = text[0].replace("\"eigen\"", "\"exact\"");
        assert!(text[0].contains("\"exact\""), "{}", text[0]);
        let error = read(&tree).map(|_| ()).unwrap_err();
        assert_eq!(error, "its GPs are on the `exact` basis, which `eigen` has replaced");
    }
}
