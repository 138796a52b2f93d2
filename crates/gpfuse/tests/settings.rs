//! Settings of any kind are refused by name, or can be used; and they are the same after they were
//! written.
#![allow(clippy::unwrap_used)]

use gpfuse::Data;
use gpfuse::Error;
use gpfuse::basis::frequencies::Scheme;
use gpfuse::calibrate;
use gpfuse::columns::Missing;
use gpfuse::diagnose::Combine;
use gpfuse::experts::{self, Partition};
use gpfuse::fit::{BasisChoice, DensityChoice, FitSettings, GateChoice, fit};
use gpfuse::gp::Objective;
use gpfuse::infer::{self, Metric, Sampler, Start};
use gpfuse::kernel::Kernel;
use gpfuse::model::{BankPrior, CalibrationPrior, Method, Priors};
use gpfuse::scale::Scaling;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{FileFailurePersistence, RngSeed};

/// The same cases each time: there is no false-failure rate beyond that of these cases.
fn config(cases: u32) -> ProptestConfig {
    let failures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/settings.proptest-regressions");
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(20_241),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(failures))),
        ..ProptestConfig::default()
    }
}

/// A count: mostly a small one, at times any. There are so many settings that each is seldom odd, or
/// few cases would pass.
fn count(most: usize) -> impl Strategy<Value = usize> {
    prop_oneof![60 => 1..=most, 1 => Just(0), 1 => any::<usize>()]
}

/// A positive number: mostly a usual one, at times any, which JSON can hold.
fn number(usual: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    let odd = select(vec![0.0, -1.0, 1e-300, 1e300, f64::MAX, 5e-324]);
    prop_oneof![80 => usual, 1 => odd]
}

fn bank() -> impl Strategy<Value = BankPrior> {
    (number(0.1..3.0), number(0.1..3.0)).prop_map(|(var, ell)| BankPrior { var, ell })
}

fn priors() -> impl Strategy<Value = Priors> {
    let small = || number(0.01..2.0);
    let calibration = (small(), small(), small(), small(), small()).prop_map(
        |(scale, floor, tail, blend, temper)| CalibrationPrior {
            scale,
            floor,
            tail,
            blend,
            temper,
        },
    );
    (bank(), bank(), bank(), calibration).prop_map(|(mu, log_sd, gate, calibration)| Priors {
        mu,
        log_sd,
        gate,
        calibration,
    })
}

fn expert() -> impl Strategy<Value = experts::Settings> {
    use Partition::{All, Contiguous, Inputs, Kernels, Kmeans, Random};
    let partition = select(vec![All, Random, Kmeans, Contiguous, Kernels, Inputs]);
    let objective = select(vec![Objective::Map, Objective::MarginalLikelihood]);
    let kernel = proptest::option::of(select(Kernel::ALL.to_vec()));
    let inputs = prop_oneof![
        20 => Just(Vec::new()),
        1 => proptest::collection::vec(proptest::collection::vec(0_usize..3, 0..3), 1..4),
    ];
    let along = prop_oneof![30 => 0_usize..2, 1 => any::<usize>()];
    let hold_out = proptest::option::of(number(0.2..0.6));
    (partition, along, hold_out, kernel, objective, inputs).prop_map(
        |(partition, along, hold_out, kernel, objective, inputs)| experts::Settings {
            partition,
            along,
            hold_out,
            kernel,
            objective,
            inputs,
        },
    )
}

fn sampler() -> impl Strategy<Value = infer::Settings> {
    let kinds = (
        select(vec![Sampler::Nuts, Sampler::Hmc, Sampler::Map]),
        select(vec![Metric::Diagonal, Metric::LowRank]),
        select(vec![Start::Prior, Start::Map, Start::Auto, Start::Pilot, Start::Data]),
    );
    let draws = proptest::option::weighted(0.9, count(4));
    let lengths = (count(2), prop_oneof![60 => 10_usize..14, 1 => any::<usize>()], draws);
    let rest = (
        count(3),
        count(3),
        proptest::option::of(number(0.5..0.95)),
        count(2),
        count(4),
        any::<u64>(),
    );
    (kinds, lengths, rest).prop_map(|(kinds, lengths, rest)| infer::Settings {
        sampler: kinds.0,
        metric: kinds.1,
        start: kinds.2,
        chains: lengths.0,
        warmup: Some(lengths.1),
        draws: lengths.2,
        max_depth: rest.0,
        hmc_depth: rest.1,
        target_accept: rest.2,
        candidates: rest.3,
        start_steps: rest.4,
        seed: rest.5,
        threads: 1,
    })
}

fn settings() -> impl Strategy<Value = FitSettings> {
    use BasisChoice::{Auto, Eigen, Hilbert, Rff};
    let kinds = (
        select(Method::ALL.to_vec()),
        select(vec![Auto, Rff, Hilbert, Eigen]),
        select(vec![Scheme::Iid, Scheme::Orthogonal, Scheme::Quasi]),
        proptest::option::of(select(Kernel::ALL.to_vec())),
        prop_oneof![
            3 => Just(DensityChoice::Auto),
            3 => Just(DensityChoice::Plain),
            2 => Just(DensityChoice::Collapsed),
        ],
        select(vec![Scaling::Standard, Scaling::Unit, Scaling::None]),
        select(vec![Combine::Auto, Combine::Equal, Combine::Stack]),
        select(vec![GateChoice::Auto, GateChoice::Gp, GateChoice::Constant, GateChoice::Linear]),
    );
    let omega = proptest::option::weighted(0.2, proptest::collection::vec(number(-2.0..2.0), 0..7));
    let few = || proptest::option::of(count(4));
    let sizes = (count(4), count(4), few(), number(1.1..4.0), omega, few());
    let flags = (any::<bool>(), any::<bool>());
    (kinds, sizes, flags, expert(), priors(), sampler()).prop_map(
        |(kinds, sizes, flags, mut expert, priors, sampler)| {
            let lists = expert.partition == Partition::Inputs && sizes.0 <= 4;
            if lists && expert.inputs.is_empty() {
                expert.inputs = (0..sizes.0).map(|k| vec![k % 2]).collect();
            }
            FitSettings {
                method: kinds.0,
                basis: kinds.1,
                scheme: kinds.2,
                kernel: kinds.3,
                density: kinds.4,
                scaling: kinds.5,
                combine: kinds.6,
                gate: kinds.7,
                missing: Missing::Refuse,
                experts: sizes.0,
                choose_experts: false,
                classes: false,
                frequencies: sizes.1,
                size: sizes.2,
                functions: sizes.5,
                box_factor: sizes.3,
                omega: sizes.4,
                plain: flags.0,
                normalise: flags.1,
                expert,
                priors,
                sampler,
            }
        },
    )
}

/// Whether a fit with these settings takes milliseconds.
fn quick(settings: &FitSettings) -> bool {
    let FitSettings { sampler, experts, frequencies, size, .. } = settings;
    let draws = sampler.first_draws();
    let all = [sampler.chains, sampler.warmup_draws(), draws, sampler.max_depth, sampler.hmc_depth];
    let other = [sampler.candidates, sampler.start_steps, *experts, *frequencies];
    all.iter().chain(&other).chain(size).all(|value| *value <= 20)
}

/// A refusal names a setting and is one line.
fn named(error: &Error) {
    let Error::Setting { name, problem } = error else { panic!("no setting is named: {error}") };
    assert!(!name.is_empty() && problem.to_string().lines().count() == 1, "{error}");
}

fn table() -> (Vec<f64>, Vec<f64>) {
    let at = |i: u32, k: f64| (k * f64::from(i)).sin();
    let x: Vec<f64> = (0..16).flat_map(|i| [at(i, 1.3), at(i, 2.1)]).collect();
    let y = x.chunks(2).map(|x| x[0] + (2.0 * x[1]).cos()).collect();
    (x, y)
}

proptest! {
    #![proptest_config(config(300))]

    /// Written as JSON and read, settings are the same: threads aside, which are no part of them.
    #[test]
    fn json_keeps_them(settings in settings(), rows in any::<usize>(), thin in any::<usize>()) {
        let study = calibrate::Settings { fit: settings, rows, thin };
        let text = serde_json::to_string(&study).unwrap();
        let mut back: calibrate::Settings = serde_json::from_str(&text).unwrap();
        back.fit.sampler.threads = 1;
        prop_assert_eq!(back, study);
    }

    /// What is refused is refused by name, also by the parts on their own.
    #[test]
    fn refusals_name_a_setting(settings in settings(), rows in count(30), thin in count(4)) {
        let parts = [
            settings.sampler.clone().check().err(),
            settings.priors.check().err(),
            settings.expert.check(settings.experts).err(),
        ];
        for error in parts.iter().flatten() {
            named(error);
            // The whole is not more lenient than its parts.
            prop_assert!(settings.clone().check().is_err());
        }
        let whole = settings.clone().check();
        whole.as_ref().err().into_iter().for_each(named);
        let study = calibrate::Settings { fit: settings, rows, thin };
        match study.check() {
            Ok(_) => prop_assert!(whole.is_ok()),
            Err(error) => named(&error),
        }
    }
}

proptest! {
    #![proptest_config(config(200))]

    /// What is accepted can be used: a fit of a few rows predicts finite numbers, or says in an
    /// error what does not suit these rows.
    #[test]
    fn what_is_accepted_can_be_used(settings in settings()) {
        let usual = quick(&settings);
        let Ok(checked) = settings.check() else { return Ok(()) };
        prop_assume!(usual);
        let (x, y) = table();
        let data = Data::new(x, 2).unwrap().with_target(y).unwrap();
        let fitted = match fit(&data, &checked) {
            Ok(fitted) => fitted,
            Err(error) => {
                prop_assert!(!matches!(error, Error::Worker(_)), "{}", error);
                prop_assert_eq!(error.to_string().lines().count(), 1);
                return Ok(());
            }
        };
        prop_assert!(fitted.draws.iter().all(|q| q.iter().all(|v| v.is_finite())));
        if let Ok(scores) = fitted.evaluate(&data) {
            prop_assert!(scores.nlpd.value.is_finite(), "{:?}", scores.nlpd);
        }
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// A calibration study of settings that are accepted can be made.
    #[test]
    fn studies_can_be_made(settings in settings(), rows in 1_usize..20, thin in 1_usize..3) {
        let mut fit = settings;
        fit.sampler.draws = Some(20);
        let usual = quick(&fit);
        let Ok(checked) = (calibrate::Settings { fit, rows, thin }).check() else { return Ok(()) };
        prop_assume!(usual);
        match calibrate::Study::new(checked) {
            Ok(study) => prop_assert!(!study.names().is_empty()),
            Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
        }
    }
}
