//! How fast the density of a model turns where its features are waves.

use gpfuse::basis::Basis;
use gpfuse::model::Model;

/// The largest phase of a feature at the rows `x`, scaled and row-major, in radians: of random features,
/// which are sine and cosine of `sum_d omega_d x_d / ell_d`, at most `sum_d |omega_d x_d| / ell_d`. A step
/// of length h in the log lengthscales moves a phase by up to h times that. The other bases have no phase
/// that depends on a parameter.
pub(super) fn largest(model: &Model, x: &[f64], q: &[f64]) -> f64 {
    let Basis::Rff(rff) = model.basis() else { return 0.0 };
    let (layout, inputs) = (model.layout(), rff.inputs());
    let mut most = 0.0_f64;
    for bank in &layout.banks {
        for k in 0..bank.count {
            let log_ell = layout.gp(bank, k, q).log_ell;
            for omega in rff.omega().chunks(inputs) {
                let rate: Vec<f64> =
                    omega.iter().zip(log_ell).map(|(w, l)| w.abs() * (-l).exp()).collect();
                for row in x.chunks(inputs) {
                    most = most.max(row.iter().zip(&rate).map(|(x, r)| x.abs() * r).sum());
                }
            }
        }
    }
    most
}
