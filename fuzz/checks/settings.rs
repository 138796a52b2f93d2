//! Settings as users give them: the file of a sweep in TOML, and those of a fit in JSON.

use std::path::Path;

use gpfuse::Error;
use gpfuse::fit::FitSettings;
use gpfuse_io::sweep_file::{SweepFile, difference};

use super::one_line;

/// The text as both kinds of settings.
pub fn settings(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if text.trim_start().starts_with('{') { fit(text) } else { sweep(text) }
}

/// What is accepted is the same after it was written, and different from nothing but others.
fn sweep(text: &str) {
    let path = Path::new("s.toml");
    let file = match SweepFile::parse(text, path) {
        Ok(file) => file,
        Err(error) => return one_line(&error),
    };
    let written = file.text().expect("a file that was read can be written");
    let back = SweepFile::parse(&written, path).expect("a file that was written can be read");
    assert_eq!(back.text().expect("as before"), written);
    // A number that is none differs from itself.
    assert!(written.contains("nan") || difference(&file, &back).is_none(), "{written}");
    let splits: usize = file.data.values().map(|source| source.splits).sum();
    let lists = file.study.iter().map(|s| {
        [s.data.len(), s.arms.len(), s.sizes.len().max(1), s.experts.len(), s.seeds.len()]
    });
    let cells = lists.map(|all| all.iter().product::<usize>()).sum::<usize>() * splits;
    if cells < 10_000 {
        let keys = file.keys();
        assert!(file.keep.iter().all(|keep| keys.binary_search(&keep.key()).is_ok()));
    }
}

/// What is refused is refused by name; the rest is the same after it was written.
fn fit(text: &str) {
    let Ok(settings) = serde_json::from_str::<FitSettings>(text) else { return };
    let json = serde_json::to_string(&settings).expect("settings can be written");
    let mut back: FitSettings = serde_json::from_str(&json).expect("and read");
    // Threads are no part of what is written.
    back.sampler.threads = settings.sampler.threads;
    assert_eq!(back, settings);
    match settings.check() {
        Ok(checked) => assert_eq!(*checked, back),
        Err(Error::Setting { name, problem }) => {
            assert!(!name.is_empty());
            one_line(&problem);
        }
        Err(other) => panic!("no setting is named: {other}"),
    }
}
