//! `gpfuse paper`: the paper's experiments as a sweep whose file is part of the program.

use std::path::{Path, PathBuf};

use anyhow::bail;
use gpfuse_io::sweep_file::{Source, SweepFile};

use super::Outcome;
use super::sweep::{Written, start};
use crate::args::PaperArgs;

const FULL: &str = include_str!("full.toml");
const QUICK: &str = include_str!("quick.toml");

/// The data of the paper, in these files.
const DATA: &str = "paper";

pub(super) fn run(args: &PaperArgs) -> anyhow::Result<Outcome> {
    let (name, text) = if args.quick { ("quick.toml", QUICK) } else { ("full.toml", FULL) };
    // Its paths are typed, and start from where the program was started.
    let written = Written { path: PathBuf::from(name), text: text.into() };
    let mut file = SweepFile::parse(text, Path::new(name))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's grids are all there, on both bases.
    #[test]
    fn the_files_hold_the_experiments_of_the_paper() {
        for text in [FULL, QUICK] {
            let file = SweepFile::parse(text, Path::new("built-in")).unwrap();
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
