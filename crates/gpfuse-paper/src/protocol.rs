//! `gpfuse paper`: the paper's experiments as a sweep whose file is part of the program.

use std::path::{Path, PathBuf};

use anyhow::bail;
use gpfuse_io::sweep_file::{Source, SweepFile};

use super::Outcome;
use super::sweep::{Written, start};
use crate::args::PaperArgs;

const FULL: &str = include_str!("full.toml");

/// The data of the paper, in these files.
const DATA: &str = "paper";

pub(super) fn run(args: &PaperArgs) -> anyhow::Result<Outcome> {
    let name = Path::new("full.toml");
    // Its paths are typed, and start from where the program was started.
    let written = Written { path: PathBuf::from(name), text: FULL.into() };
    let mut file = SweepFile::parse(FULL, name)?;
    if args.quick {
        shrink(&mut file);
    }
    if args.basis != "both" {
        file.study.retain(|study| study.basis == args.basis);
        file.keep.retain(|keep| keep.basis == args.basis);
    }
    if let Some(folder) = &args.frozen {
        let Some(folder) = folder.to_str() else {
            bail!("`{}`: is no UTF-8 path: move the folder", folder.display());
        };
        if let Some(source) = file.data.get_mut(DATA) {
            let frozen = Some(folder.into());
            *source = Source { simulate: None, frozen, ..source.clone() };
        }
    }
    start(file, &written, &args.how)
}

/// The same grids with fewer rows, splits and draws.
fn shrink(file: &mut SweepFile) {
    file.name = "paper-quick".into();
    for source in file.data.values_mut() {
        source.splits = source.splits.min(2);
        if let Some(simulate) = &mut source.simulate {
            simulate.n = 250;
        }
    }
    for study in &mut file.study {
        // Those that take some splits take one.
        study.splits = study.splits.map(|_| 1);
    }
    let few = [("chains", 2), ("warmup", 120), ("draws", 120), ("start-steps", 20)];
    for (key, value) in few {
        file.fit.insert(key.into(), toml::Value::Integer(value));
        file.arm.iter_mut().for_each(|arm| {
            arm.fit.remove(key);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's grids are all there, on both bases.
    #[test]
    fn the_files_hold_the_experiments_of_the_paper() {
        let full = SweepFile::parse(FULL, Path::new("built-in")).unwrap();
        let mut quick = full.clone();
        shrink(&mut quick);
        for file in [full, quick] {
            let keys = file.keys();
            for arm in ["bhs", "pbhs", "mogpe", "pogpe"] {
                for (basis, sizes) in
                    [("rff", [10, 20, 30, 40, 50]), ("hilbert", [20, 40, 60, 80, 100])]
                {
                    let has = |size: usize, k: usize| {
                        let own = keys.iter().filter(|key| key.arm == arm && key.basis == basis);
                        own.clone().any(|key| key.size == size && key.experts == k)
                    };
                    assert!((2..=5).all(|k| has(sizes[2], k)), "{arm} {basis}");
                    assert!(sizes.iter().all(|size| has(*size, 2)), "{arm} {basis}");
                }
            }
            assert!(!file.keep.is_empty());
        }
    }
}
