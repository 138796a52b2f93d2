//! Given experts in a model file: the GPs that were trained here, or the names of those made
//! elsewhere.
//!
//! A GP is a function of its kernel, hyperparameters and rows, so those are what is kept, in the
//! model's scaled units: `expert_*` per expert, and `member_x`, `member_y` the rows of all experts
//! one after the other, `expert_rows` of them each. An input that an expert does not see has
//! lengthscale 0.

use std::sync::Arc;

use gpfuse::experts::Expert;
use gpfuse::fit::{Experts, Fitted};
use gpfuse::gp::{Gp, Hyper};
use gpfuse::kernel::Kernel;

use super::{Reader, var, variable};
use crate::nc::{Data, Tree, Var};

/// A dimension and its size.
type Dim = (&'static str, usize);

/// What the group `gpfuse` holds about given experts.
pub(super) fn write(fitted: &Fitted, dims: &mut Vec<Dim>, vars: &mut Vec<Var>) {
    if !matches!(fitted.experts, Experts::Learned) {
        let rows: Vec<i64> = fitted.rows.iter().map(|row| *row as i64).collect();
        dims.extend([("expert", fitted.model.experts()), ("stacking", rows.len())]);
        vars.push(var("stacking_row", &["stacking"], Data::I64(rows)));
    }
    match &fitted.experts {
        Experts::Learned => {}
        Experts::Named(names) => {
            vars.push(var("expert_name", &["expert"], Data::Str(names.clone())));
        }
        Experts::Trained(experts) => {
            let inputs = fitted.scaler.inputs.len();
            dims.push(("member", experts.iter().map(|e| e.gp.rows()).sum()));
            vars.extend(trained(experts, inputs));
        }
    }
}

fn trained(experts: &[Expert], inputs: usize) -> Vec<Var> {
    let each = |f: &dyn Fn(&Gp) -> f64| Data::F64(experts.iter().map(|e| f(&e.gp)).collect());
    let kernels = experts.iter().map(|e| e.gp.kernel().to_string()).collect();
    let rows = experts.iter().map(|e| e.gp.rows() as i64).collect();
    // Numbers of an expert's own inputs, spread over all inputs.
    let spread = |expert: &Expert, values: &[f64]| -> Vec<f64> {
        let mut all = vec![0.0; inputs];
        expert.columns.iter().zip(values).for_each(|(i, v)| all[*i] = *v);
        all
    };
    let ell = experts.iter().flat_map(|e| spread(e, &e.gp.hyper().ell)).collect();
    let x = experts.iter().flat_map(|e| {
        e.gp.x().chunks_exact(e.columns.len()).flat_map(|row| spread(e, row)).collect::<Vec<f64>>()
    });
    let y = experts.iter().flat_map(|e| e.gp.y()).copied().collect();
    vec![
        var("expert_kernel", &["expert"], Data::Str(kernels)),
        var("expert_mean", &["expert"], each(&|gp| gp.hyper().mean)),
        var("expert_var", &["expert"], each(&|gp| gp.hyper().var)),
        var("expert_noise", &["expert"], each(&|gp| gp.hyper().noise)),
        var("expert_ell", &["expert", "input"], Data::F64(ell)),
        var("expert_rows", &["expert"], Data::I64(rows)),
        var("member_x", &["member", "input"], Data::F64(x.collect())),
        var("member_y", &["member"], Data::F64(y)),
    ]
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
    let (x, y) = (group.numbers("member_x")?, group.numbers("member_y")?);
    let count = kernels.len();
    let fits = [mean.len(), variance.len(), noise.len(), sizes.len()].iter().all(|n| *n == count)
        && ell.len() == count * inputs
        && sizes.iter().try_fold(0, |a: usize, n| a.checked_add(*n)) == Some(y.len())
        && x.len() == y.len() * inputs;
    if !fits {
        return Err("its experts do not have the shape that they say".into());
    }
    let mut start = 0;
    let mut experts = Vec::with_capacity(count);
    for k in 0..count {
        let rows = start..start + sizes[k];
        start = rows.end;
        let all = &ell[k * inputs..(k + 1) * inputs];
        let columns: Vec<usize> = (0..inputs).filter(|i| all[*i] > 0.0).collect();
        let hyper = Hyper {
            mean: mean[k],
            var: variance[k],
            ell: columns.iter().map(|i| all[*i]).collect(),
            noise: noise[k],
        };
        let points: Vec<f64> =
            rows.clone().flat_map(|r| columns.iter().map(move |i| x[r * inputs + i])).collect();
        let kernel: Kernel = kernels[k].parse().map_err(|e: gpfuse::Error| e.to_string())?;
        let gp = Gp::condition(kernel, hyper, &points, columns.len(), &y[rows]);
        let gp = gp.map_err(|e| format!("expert {}: {e}", k + 1))?;
        experts.push(Expert { gp, columns });
    }
    Ok((Experts::Trained(Arc::new(experts)), rows))
}

#[cfg(test)]
mod tests {
    use gpfuse::fit::BasisChoice;
    use gpfuse::infer::Settings;
    use gpfuse::{Data, FitSettings, Fitted, Method, fit};

    use crate::model_file::{load, save};

    /// Weights on the exact basis have noise of their own at new rows, which is the same after the
    /// file, although variances and lengthscales have lost their last bits in it.
    #[test]
    fn exact_weights_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.nc");
        let at = |i: u32, k: f64| (k * f64::from(i)).sin();
        let x: Vec<f64> = (0..60).flat_map(|i| [at(i, 1.3), at(i, 2.1), at(i, 0.7)]).collect();
        let y: Vec<f64> = x.chunks(3).map(|x| x[0] + (2.0 * x[1]).cos() * x[2]).collect();
        let sampler = Settings { chains: 2, warmup: 30, draws: Some(20), ..Settings::default() };
        let settings = FitSettings {
            method: Method::Pbhs,
            experts: 2,
            basis: BasisChoice::Exact,
            sampler,
            ..FitSettings::default()
        };
        let rows = Data::new(x, 3).unwrap().with_target(y).unwrap();
        let fitted = fit(&rows, &settings).unwrap();
        save(&path, &fitted).unwrap();
        let new = Data::new(vec![0.3, -0.2, 0.9, 0.1, 0.1, -0.5], 3).unwrap();
        let new = new.with_target(vec![0.5, 0.2]).unwrap();
        let nlpd = |fitted: &Fitted| fitted.evaluate(&new).unwrap().nlpd.value;
        let (before, after) = (nlpd(&fitted), nlpd(&load(&path).unwrap()));
        assert!((before - after).abs() < 1e-9, "{before}, {after}");
    }
}
