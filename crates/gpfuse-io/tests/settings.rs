//! The settings file of a sweep and the settings of a calibration: refused by name, or the same after
//! they were written as TOML.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use gpfuse::calibrate;
use gpfuse::model::Method;
use gpfuse::simulate::Simulate;
use gpfuse_io::sweep_file::{Arm, Keep, Source, Study, SweepFile, Vary, difference};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{FileFailurePersistence, RngSeed};

/// The same cases each time: there is no false-failure rate beyond that of these cases.
fn config() -> ProptestConfig {
    let failures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/settings.proptest-regressions");
    ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(20_242),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(failures))),
        ..ProptestConfig::default()
    }
}

/// A whole number that TOML can hold: mostly a small one.
fn count() -> impl Strategy<Value = usize> {
    prop_oneof![60 => 1_usize..4, 1 => Just(0), 1 => 0..=i64::MAX as usize]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![40 => select(vec!["a", "b", "c"]).prop_map(String::from), 1 => ".{0,4}"]
}

fn source() -> impl Strategy<Value = Source> {
    let text = || proptest::option::weighted(0.02, ".{0,5}");
    let test = prop_oneof![30 => 0.1..0.9, 1 => any::<f64>().prop_filter("NaN", |v| !v.is_nan())];
    let simulate = proptest::option::weighted(0.98, Just(Simulate::default()));
    (simulate, text(), text(), text(), count(), test, count()).prop_map(
        |(simulate, table, target, frozen, splits, test, seed)| Source {
            simulate,
            table,
            target,
            inputs: None,
            frozen,
            digest: None,
            splits,
            test,
            seed: seed as u64,
        },
    )
}

fn arm() -> impl Strategy<Value = Arm> {
    let fit = vec(("[a-z]{5,8}", any::<i64>()), 0..3);
    let label = proptest::option::of(".{0,5}");
    (name(), select(Method::ALL.to_vec()), label, any::<bool>(), fit).prop_map(
        |(name, method, label, ours, fit)| {
            let fit = fit.into_iter().filter(|(key, _)| key != "label" && key != "method");
            let fit = fit.map(|(key, value)| (key, value.into())).collect();
            Arm { name, method, label, ours, fit }
        },
    )
}

fn study() -> impl Strategy<Value = Study> {
    let basis = select(vec!["rff", "hilbert", "rff", "hilbert", "eigen", "none"]);
    let lists = (vec(name(), 1..3), vec(name(), 1..3), vec(count(), 1..3), vec(count(), 1..3));
    let seeds = vec(count().prop_map(|seed| seed as u64), 1..3);
    (name(), ".{0,5}", basis, lists, proptest::option::of(count()), seeds).prop_map(
        |(name, title, basis, (data, arms, sizes, experts), splits, seeds)| Study {
            name,
            title,
            vary: Vary::Size,
            data,
            arms,
            basis: basis.into(),
            sizes,
            experts,
            splits,
            seeds,
        },
    )
}

fn file() -> impl Strategy<Value = SweepFile> {
    let data =
        vec((name(), source()), 1..4).prop_map(|all| all.into_iter().collect::<BTreeMap<_, _>>());
    // Most of the kept cells are there: one of the studies' own.
    let keep = proptest::option::weighted(0.3, any::<prop::sample::Index>());
    // Without it hardly any file would have names that fit together.
    let fitting = proptest::bool::weighted(0.9);
    (".{0,5}", data, vec(arm(), 1..4), vec(study(), 1..3), keep, fitting).prop_map(
        |(name, data, mut arm, mut study, keep, fitting)| {
            if fitting {
                arm.iter_mut().enumerate().for_each(|(i, arm)| arm.name = format!("arm{i}"));
                let known: Vec<String> = data.keys().cloned().collect();
                for (i, study) in study.iter_mut().enumerate() {
                    study.name = format!("study{i}");
                    study.data = known[..known.len().min(1 + i)].to_vec();
                    study.arms = arm.iter().map(|arm| arm.name.clone()).collect();
                    if study.basis == "eigen" {
                        study.sizes.clear();
                    }
                }
            }
            let fit = toml::Table::new();
            let mut file = SweepFile { name, version: None, data, fit, arm, study, keep: vec![] };
            let small = file.study.iter().all(|study| study.splits.is_some_and(|n| n < 10));
            let keys = if small { file.keys() } else { Vec::new() };
            if let Some(key) = keep.filter(|_| !keys.is_empty()).map(|at| at.get(&keys).clone()) {
                file.keep.push(Keep {
                    data: key.data,
                    arm: key.arm,
                    basis: key.basis,
                    size: key.size,
                    experts: key.experts,
                    split: key.split,
                    seed: key.seed,
                });
            }
            file
        },
    )
}

proptest! {
    #![proptest_config(config())]

    /// A sweep is refused in one line, or its text gives it back with cells to run; whoever asks for
    /// one of its own cells to be kept is heard.
    #[test]
    fn sweeps(file in file()) {
        let text = file.text().unwrap();
        match SweepFile::parse(&text, Path::new("s.toml")) {
            Ok(back) => {
                prop_assert_eq!(&back, &file);
                prop_assert_eq!(difference(&back, &file), None);
                let keys = back.keys();
                prop_assert!(!keys.is_empty() && keys.len() <= 1_000_000);
                prop_assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
            }
            Err(error) => {
                let error = error.to_string();
                prop_assert_eq!(error.lines().count(), 1);
                prop_assert!(!error.contains("no study has this cell"), "{}", error);
            }
        }
    }

    /// The settings of a calibration are the same after they were written, if they pass their check.
    #[test]
    fn calibrations(rows in count(), thin in count(), experts in count(), seed in any::<u64>()) {
        let mut settings = calibrate::Settings { rows, thin, ..calibrate::Settings::default() };
        (settings.fit.experts, settings.fit.sampler.seed) = (experts, seed);
        let Ok(checked) = settings.check() else { return Ok(()) };
        let text = toml::to_string(&*checked).unwrap();
        let mut back: calibrate::Settings = toml::from_str(&text).unwrap();
        back.fit.sampler.threads = checked.fit.sampler.threads;
        prop_assert_eq!(&back, &*checked);
    }
}
