//! Every file of the fuzzing corpora through the checks of its target.

use std::fs;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/checks/mod.rs"]
mod checks;

type Check = fn(&[u8]);

const TARGETS: &[(&str, Check)] = &[
    ("csv", checks::csv),
    // Without the feature, every file would be refused by its first bytes.
    #[cfg(feature = "parquet")]
    ("parquet", checks::parquet),
    ("model_file", checks::model_file),
    ("settings", checks::settings),
    ("ledger", checks::ledger),
];

/// There is no chance in it.
#[test]
fn all_files_of_the_corpora_pass() {
    for &(target, check) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        assert!(files.len() > 10, "`{}` is no corpus", folder.display());
        for file in files {
            // An overflow of the stack names no file, but this line does; what is printed would be
            // captured and lost with it.
            let _ = writeln!(stderr(), "{}", file.display());
            check(&fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display())));
        }
    }
}
