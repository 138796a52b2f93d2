//! The bases of a model's GPs, in the group `gpfuse`.

use gpfuse::basis::eigen::{Parts, Pilot};
use gpfuse::basis::{Basis, Eigen, Hilbert, Rff};
use gpfuse::fit::FitSettings;
use gpfuse::kernel::Kernel;
use gpfuse::model::{Bases, Model};

use super::{Reader, var};
use crate::nc::{Data, Var};

/// Names of the variables and dimensions of a basis of eigenfunctions.
struct Names {
    landmark: &'static str,
    function: &'static str,
    kernel: &'static str,
    variance: &'static str,
    level: &'static str,
    ell: &'static str,
    landmarks: &'static str,
    projection: &'static str,
    centre: &'static str,
}

/// Of the mean that experts share.
const COMMON: Names = Names {
    landmark: "common_landmark",
    function: "common_function",
    kernel: "common_kernel",
    variance: "common_variance",
    level: "common_level",
    ell: "common_lengthscales",
    landmarks: "common_landmarks",
    projection: "common_projection",
    centre: "common_centre",
};

/// Of all other GPs.
const OTHERS: Names = Names {
    landmark: "landmark",
    function: "function",
    kernel: "kernel",
    variance: "variance",
    level: "level",
    ell: "lengthscales",
    landmarks: "landmarks",
    projection: "projection",
    centre: "function_centre",
};

pub(super) fn write(model: &Model, dims: &mut Vec<(&str, usize)>, vars: &mut Vec<Var>) {
    if let Some(Basis::Eigen(common)) = model.common() {
        write_eigen(common, &COMMON, dims, vars);
    }
    match model.basis() {
        Basis::Rff(basis) => {
            dims.push(("frequency", basis.frequencies()));
            vars.push(var("omega", &["frequency", "input"], Data::F64(basis.omega().to_vec())));
        }
        Basis::Hilbert(basis) => {
            let (centre, half_width) = basis.domain();
            let sizes = basis.sizes().iter().map(|s| *s as i64).collect();
            vars.push(var("centre", &["input"], Data::F64(centre.to_vec())));
            vars.push(var("half_width", &["input"], Data::F64(half_width.to_vec())));
            vars.push(var("sizes", &["input"], Data::I64(sizes)));
        }
        Basis::Eigen(basis) => write_eigen(basis, &OTHERS, dims, vars),
    }
}

fn write_eigen(basis: &Eigen, at: &Names, dims: &mut Vec<(&str, usize)>, vars: &mut Vec<Var>) {
    dims.extend([(at.landmark, basis.landmarks()), (at.function, basis.functions())]);
    let Parts { pilot, level, landmarks, projection, centre } = basis.parts();
    vars.push(var(at.kernel, &[], Data::Str(vec![pilot.kernel.to_string()])));
    vars.push(var(at.variance, &[], Data::F64(vec![pilot.var])));
    vars.push(var(at.level, &[], Data::F64(vec![level])));
    vars.push(var(at.ell, &["input"], Data::F64(pilot.ell)));
    vars.push(var(at.landmarks, &[at.landmark, "input"], Data::F64(landmarks)));
    vars.push(var(at.projection, &[at.function, at.landmark], Data::F64(projection)));
    vars.push(var(at.centre, &[at.function], Data::F64(centre)));
}

/// A model of a version that had another basis for small data sets.
pub(super) fn refuse_exact(group: &Reader<'_>) -> Result<(), String> {
    match group.numbers("anchors") {
        Ok(_) => Err("its GPs are on the `exact` basis, which `eigen` has replaced".into()),
        Err(_) => Ok(()),
    }
}

pub(super) fn read(
    group: &Reader<'_>,
    settings: &FitSettings,
    inputs: usize,
) -> Result<Bases, String> {
    let plain = |e: gpfuse::Error| e.to_string();
    let kernel = settings.kernel.unwrap_or_default();
    if let Ok(omega) = group.numbers("omega") {
        return Rff::new(kernel, omega.to_vec(), inputs)
            .map(|b| Basis::Rff(b).into())
            .map_err(plain);
    }
    if group.data(OTHERS.kernel).is_ok() {
        let common = match group.data(COMMON.projection) {
            Ok(_) => Some(read_eigen(group, &COMMON, inputs)?),
            Err(_) => None,
        };
        return Ok(Bases { common, others: read_eigen(group, &OTHERS, inputs)? });
    }
    let sizes = group.counts("sizes")?;
    let centre = group.numbers("centre")?.to_vec();
    let half_width = group.numbers("half_width")?.to_vec();
    let basis = Hilbert::new(kernel, centre, half_width, sizes).map_err(plain)?;
    Ok(Basis::Hilbert(basis).into())
}

fn read_eigen(group: &Reader<'_>, at: &Names, inputs: usize) -> Result<Basis, String> {
    let name = group.text(at.kernel)?;
    let kernel = Kernel::ALL.into_iter().find(|kernel| kernel.to_string() == name);
    let kernel = kernel.ok_or_else(|| format!("`gpfuse/{}` is no kernel: `{name}`", at.kernel))?;
    let ell = group.numbers(at.ell)?.to_vec();
    if ell.len() != inputs {
        return Err(format!("`gpfuse/{}` does not fit the inputs", at.ell));
    }
    // Constant weights have no functions, linear ones no landmarks, and a file has nothing that is empty.
    let empty = |dims: &[&str]| dims.iter().any(|dim| matches!(group.size(dim), Ok(0) | Err(_)));
    let numbers = |name: &str, dims: &[&str]| match empty(dims) {
        true => Ok(Vec::new()),
        false => group.numbers(name).map(<[f64]>::to_vec),
    };
    let parts = Parts {
        pilot: Pilot { kernel, var: group.number(at.variance)?, ell },
        level: group.number(at.level)?,
        landmarks: numbers(at.landmarks, &[at.landmark])?,
        projection: numbers(at.projection, &[at.landmark, at.function])?,
        centre: numbers(at.centre, &[at.function])?,
    };
    Eigen::from_parts(parts).map(Basis::Eigen).map_err(|e| e.to_string())
}
