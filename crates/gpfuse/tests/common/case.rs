//! Random test cases: a model with its data for the library, and the same for the textbook.

use std::sync::Arc;

use gpfuse::basis::eigen::{Decomposition, Pilot};
use gpfuse::basis::frequencies::Scheme;
use gpfuse::basis::{Basis, Eigen, Hilbert, Rff};
use gpfuse::kernel::Kernel;
use gpfuse::model::{
    BankPrior, Bases, CalibrationPrior, Given, Method, Model, Observed, Posterior, Priors,
};
use gpfuse::random::{Purpose, stream};
use gpfuse::rows::Rows;
use rand_distr::{Distribution, StandardNormal};

use super::textbook::{Functions, Textbook};

/// The basis of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    Rff,
    Hilbert,
    Eigen,
    /// Linear in the inputs, for gates.
    Linear,
}

/// What a case is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe {
    pub(crate) method: Method,
    pub(crate) normalised: bool,
    pub(crate) robust: bool,
    pub(crate) kernel: Kernel,
    pub(crate) basis: On,
    pub(crate) inputs: usize,
    pub(crate) experts: usize,
    pub(crate) rows: usize,
    /// Frequencies (RFF), functions per input (Hilbert) or functions of all GPs but a shared mean
    /// (eigenfunctions).
    pub(crate) size: usize,
    pub(crate) seed: u64,
}

impl Recipe {
    /// A small joint model on one input.
    pub(crate) fn small(method: Method, seed: u64) -> Recipe {
        Recipe {
            method,
            normalised: false,
            robust: false,
            kernel: Kernel::Rbf,
            basis: if seed.is_multiple_of(2) { On::Hilbert } else { On::Rff },
            inputs: 1,
            experts: 3,
            rows: 5,
            size: 4,
            seed,
        }
    }
}

/// A source of standard normal numbers.
pub(crate) fn normals(seed: u64) -> impl FnMut() -> f64 {
    let mut rng = stream(seed, Purpose::Simulate, 99);
    move || StandardNormal.sample(&mut rng)
}

/// Prior scales that differ from each other and from one.
pub(crate) fn odd_priors() -> Priors {
    Priors {
        mu: BankPrior { var: 2.5, ell: 0.7 },
        log_sd: BankPrior { var: 0.6, ell: 1.7 },
        gate: BankPrior { var: 3.1, ell: 1.3 },
        calibration: CalibrationPrior {
            scale: 0.4,
            floor: 0.3,
            tail: 0.07,
            blend: 0.4,
            temper: 0.3,
        },
    }
}

/// The same model and data twice, and a point of moderate size.
pub(crate) struct Case {
    pub(crate) textbook: Textbook,
    pub(crate) model: Arc<Model>,
    pub(crate) data: Arc<Observed>,
    pub(crate) q: Vec<f64>,
}

impl Case {
    /// Made from a recipe; everything random comes from its seed.
    pub(crate) fn new(r: Recipe) -> Case {
        let mut normal = normals(r.seed);
        let mut vector =
            |n: usize, scale: f64| -> Vec<f64> { (0..n).map(|_| scale * normal()).collect() };
        let learned = matches!(r.method, Method::Mogpe | Method::Pogpe | Method::Het);
        let x: Vec<Vec<f64>> = (0..r.rows).map(|_| vector(r.inputs, 1.0)).collect();
        let mut shared = None;
        let (basis, functions) = if r.basis == On::Eigen {
            let others = eigen(r, r.size, -0.6, &mut vector);
            if learned {
                shared = Some(eigen(r, 2 * r.size - 1, 0.3, &mut vector));
            }
            let functions = Functions::Eigen(others.parts());
            (Basis::Eigen(others), functions)
        } else if r.basis == On::Linear {
            let linear = Eigen::linear(r.kernel, r.inputs);
            let functions = Functions::Eigen(linear.parts());
            (Basis::Eigen(linear), functions)
        } else if r.basis == On::Hilbert {
            let centre = vector(r.inputs, 0.3);
            let half_width: Vec<f64> = (0..r.inputs).map(|i| 3.0 + 0.5 * i as f64).collect();
            // Different sizes per input, so that a mix-up of the order shows.
            let sizes: Vec<usize> = (0..r.inputs).map(|i| r.size + i).collect();
            let library =
                Hilbert::new(r.kernel, centre.clone(), half_width.clone(), sizes.clone()).unwrap();
            (Basis::Hilbert(library), Functions::Hilbert { centre, half_width, sizes })
        } else {
            let library = Rff::draw(r.kernel, Scheme::Iid, r.size, r.inputs, r.seed).unwrap();
            let omega = library.omega().chunks(r.inputs).map(<[f64]>::to_vec).collect();
            (Basis::Rff(library), Functions::Rff { omega })
        };
        let y = vector(r.rows, 2.0);
        let experts = if r.method == Method::Het { 1 } else { r.experts };
        let given = matches!(r.method, Method::Bhs | Method::Pbhs).then(|| {
            let mean = (0..experts).map(|_| vector(r.rows, 1.5)).collect::<Vec<_>>();
            let log_sd = (0..experts).map(|_| vector(r.rows, 0.7));
            let sd = log_sd.map(|v| v.iter().map(|s| s.exp()).collect()).collect::<Vec<_>>();
            (mean, sd)
        });
        let common = shared.as_ref().map(|eigen| Functions::Eigen(eigen.parts()));
        let bases = Bases { common: shared.map(Basis::Eigen), others: basis };
        let mut model = Model::new(r.method, r.experts, bases, odd_priors()).unwrap();
        if r.normalised {
            model = model.normalised();
        }
        if r.robust {
            model = model.robust();
        }
        let mut data = Observed::new(&x.concat(), r.inputs, &y).unwrap();
        if let Some((mean, sd)) = &given {
            data = data.with_given(mean, sd).unwrap();
        }
        // The hyperparameters half as wide as theta: lengthscales stay in reach of the data.
        let mut q = Vec::with_capacity(model.dim());
        for bank in &model.layout().banks {
            q.extend(vector(bank.count * (1 + bank.lengthscales), 0.5));
            q.extend(vector(bank.count * bank.features, 1.0));
        }
        q.extend(vector(model.dim() - q.len(), 1.0));
        let textbook = Textbook {
            method: r.method,
            normalised: r.normalised,
            robust: r.robust,
            experts,
            kernel: r.kernel,
            functions,
            common,
            priors: odd_priors(),
            x,
            y,
            given,
        };
        assert_eq!(textbook.dim(), model.dim());
        Case { textbook, model: Arc::new(model), data: Arc::new(data), q }
    }

    /// The library's density.
    pub(crate) fn posterior(&self) -> Posterior {
        Posterior::new(self.model.clone(), self.data.clone()).unwrap()
    }

    /// The given experts' predictions, for a predictor.
    pub(crate) fn given(&self) -> Option<Given> {
        self.textbook.given.as_ref().map(|(mean, sd)| Given::new(mean, sd).unwrap())
    }
}

/// Eigenfunctions of a random pilot, orthogonal on landmarks of their own with random weights.
fn eigen(
    r: Recipe,
    functions: usize,
    level: f64,
    vector: &mut impl FnMut(usize, f64) -> Vec<f64>,
) -> Eigen {
    let count = 2 * functions + 3;
    let landmarks = Rows::new(&vector(count * r.inputs, 1.5), r.inputs).unwrap();
    let ell = vector(r.inputs, 0.3).into_iter().map(|v| (0.5 * r.inputs as f64).sqrt() * v.exp());
    let pilot = Pilot { kernel: r.kernel, var: vector(1, 0.5)[0].exp(), ell: ell.collect() };
    let all: Vec<usize> = (0..count).collect();
    let basis = Decomposition::new(pilot, &landmarks, &all).unwrap().leading(functions, level);
    let weight: Vec<f64> = vector(count, 0.5).iter().map(|w| w.exp()).collect();
    let at = basis.at(&landmarks).0;
    basis.orthogonal(&at, &weight).unwrap().0
}

/// Rows of one input with their targets.
pub(crate) fn rows_of(x: &[f64], y: &[f64]) -> gpfuse::Data {
    gpfuse::Data::new(x.to_vec(), 1).unwrap().with_target(y.to_vec()).unwrap()
}
