//! The same seed gives the same bytes, whatever the threads and wherever the settings stand.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Place, SMALL_FIT, small};

#[test]
fn threads_do_not_change_the_model_file() {
    let place = Place::new();
    for flags in
        ["--method mogpe", "--frequencies 5", "--method het --sampler hmc", "--sampler map"]
    {
        let fit = |more: &str| {
            place.done(&format!("fit d.csv --target y {} {more} --out m.nc", small(flags)));
            place.read("m.nc")
        };
        let first = fit("--threads 1");
        assert!(fit("--threads 2") == first, "{flags}");
        assert!(fit("--threads 4") == first, "{flags}");
        assert!(fit("--threads 2 --seed 1") != first, "{flags}");
    }
    let predict = |threads| {
        place.done(&format!("predict m.nc d.csv --experts --samples 3 --threads {threads}")).out
    };
    assert_eq!(predict(1), predict(3));
    let samples = |seed| place.done(&format!("predict m.nc d.csv --samples 3 --seed {seed}")).out;
    assert_ne!(samples(0), samples(1));
}

#[test]
fn a_settings_file_is_the_same_as_flags() {
    let place = Place::new();
    let cases = [
        (
            "method = 'mogpe'\nexperts = 2\nbasis = 'hilbert'\nsize = 8\nkernel = 'matern52'\n\
             scaling = 'unit'\nsampler = 'nuts'\nmetric = 'low-rank'\nchains = 2\nwarmup = 50\n\
             draws = 30\nmax-depth = 4\ntarget-accept = 0.7\nstart = 'map'\ncandidates = 2\n\
             start-steps = 20\nseed = 5\nthreads = 2\n",
            "--method mogpe --experts 2 --basis hilbert --size 8 --kernel matern52 --scaling unit \
             --sampler nuts --metric low-rank --chains 2 --warmup 50 --draws 30 --max-depth 4 \
             --target-accept 0.7 --start map --candidates 2 --start-steps 20 --seed 5",
        ),
        (
            "normalise = true\nno-scale = true\nomega = 'omega.csv'\nsampler = 'hmc'\n\
             hmc-depth = 2\nchains = 2\nwarmup = 30\ndraws = 30\n",
            "--normalise --no-scale --omega omega.csv --sampler hmc --hmc-depth 2 --chains 2 \
             --warmup 30 --draws 30",
        ),
        (
            "frequencies = 4\nscheme = 'orthogonal'\nchains = 2\nwarmup = 30\ndraws = 30\n\
             max-depth = 3\n",
            "--frequencies 4 --scheme orthogonal --chains 2 --warmup 30 --draws 30 --max-depth 3",
        ),
    ];
    place.write("omega.csv", "w\n0.5\n-1.25\n2\n");
    for (text, flags) in cases {
        place.write("s.toml", text);
        place.done("fit d.csv --target y --settings s.toml --out file.nc");
        place.done(&format!("fit d.csv --target y {flags} --out flags.nc"));
        assert!(place.read("file.nc") == place.read("flags.nc"), "{flags}");
    }
}

#[test]
fn flags_win_over_the_settings_file() {
    let place = Place::new();
    place.write("s.toml", "seed = 5\nno-scale = true\nmethod = 'het'\n[priors.mu]\nell = 0.5\n");
    let seen = |flags: &str| {
        place.done(&format!("fit d.csv --target y {SMALL_FIT} --settings s.toml {flags}"));
        place.done("inspect d.nc --json").json()["settings"].clone()
    };
    let settings = seen("");
    assert_eq!(settings["sampler"]["seed"], 5);
    assert_eq!(settings["scaling"], "none");
    assert_eq!(settings["priors"]["mu"]["ell"], 0.5);
    assert_eq!(settings["priors"]["gate"]["var"], 1.0);
    let settings = seen("--seed 6 --no-scale false --method mogpe");
    assert_eq!(settings["sampler"]["seed"], 6);
    assert_eq!(settings["scaling"], "standard");
    assert_eq!(settings["method"], "mogpe");
}
