//! The paper's experiments as a sweep whose file is part of the program.

use std::path::Path;

use anyhow::bail;
use gpfuse_io::sweep_file::{Source, SweepFile};

use crate::ARMS;

/// The sweep file of the whole protocol.
pub const TEXT: &str = include_str!("full.toml");

/// What messages call it.
pub const PATH: &str = "full.toml";

/// The data of the paper in it.
const DATA: &str = "paper";

/// What the sweep is called, whole and small.
const NAMES: [&str; 2] = ["paper", "paper-quick"];

/// Which part of the protocol to run, and on what.
#[derive(Debug, Clone, Copy, Default)]
pub struct Protocol<'a> {
    /// Fewer rows, splits and draws.
    pub quick: bool,
    /// One basis only.
    pub basis: Option<&'a str>,
    /// The folder of frozen rows, splits, frequencies and experts to use instead of a simulation.
    pub frozen: Option<&'a Path>,
}

impl Protocol<'_> {
    /// The sweep to run.
    ///
    /// # Errors
    /// If the folder of what is frozen has a name that no settings file can hold.
    pub fn file(&self) -> anyhow::Result<SweepFile> {
        let mut file = SweepFile::parse(TEXT, Path::new(PATH))?;
        if self.quick {
            shrink(&mut file);
        }
        if let Some(basis) = self.basis {
            file.study.retain(|study| study.basis == basis);
            file.keep.retain(|keep| keep.basis == basis);
        }
        if let Some(folder) = self.frozen {
            let Some(folder) = folder.to_str() else {
                bail!("`{}`: is no UTF-8 path: move the folder", folder.display());
            };
            if let Some(source) = file.data.get_mut(DATA) {
                let frozen = Some(folder.into());
                *source = Source { simulate: None, frozen, ..source.clone() };
            }
        }
        Ok(file)
    }
}

/// Whether a sweep is the paper's, whole or small, by this version or another: it has the name, and
/// an arm with the name of each of the paper's methods.
pub fn is_paper(file: &SweepFile) -> bool {
    let method = |name: &str| file.arm(name).map(|arm| arm.method.name());
    NAMES.contains(&file.name.as_str()) && ARMS.iter().all(|arm| method(arm) == Some(*arm))
}

/// Whether a sweep is the paper's small one.
pub(crate) fn is_quick(file: &SweepFile) -> bool {
    is_paper(file) && file.name == NAMES[1]
}

/// The same grids with fewer rows, splits and draws.
fn shrink(file: &mut SweepFile) {
    file.name = NAMES[1].into();
    for source in file.data.values_mut() {
        source.splits = source.splits.min(2);
        if let Some(simulate) = &mut source.simulate {
            simulate.n = 250;
        }
    }
    for study in &mut file.study {
        // Studies that are limited to some splits take one.
        study.splits = study.splits.map(|_| 1);
    }
    let sampling = [("chains", 2), ("warmup", 120), ("draws", 120), ("start-steps", 20)];
    for (key, value) in sampling {
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
        for quick in [false, true] {
            let file = Protocol { quick, ..Protocol::default() }.file().unwrap();
            let keys = file.keys();
            for arm in ["bhs", "pbhs", "mogpe", "pogpe"] {
                for (basis, sizes) in
                    [("rff", [10, 20, 30, 40, 50]), ("hilbert", [20, 40, 60, 80, 100])]
                {
                    let has = |size: usize, k: usize| {
                        let of_arm = keys.iter().filter(|key| key.arm == arm && key.basis == basis);
                        of_arm.clone().any(|key| key.size == size && key.experts == k)
                    };
                    assert!((2..=5).all(|k| has(sizes[2], k)), "{arm} {basis}");
                    assert!(sizes.iter().all(|size| has(*size, 2)), "{arm} {basis}");
                }
            }
            assert!(!file.keep.is_empty());
        }
    }

    /// One basis and frozen rows are what is asked for, and all of them are the paper's.
    #[test]
    fn parts_of_the_protocol_are_the_papers() {
        let frozen = Some(Path::new("bench/paper"));
        let part = Protocol { basis: Some("rff"), frozen, ..Protocol::default() }.file().unwrap();
        assert!(part.keys().iter().all(|key| key.basis == "rff") && !part.keep.is_empty());
        assert_eq!(part.data[DATA].frozen.as_deref(), Some("bench/paper"));
        assert_eq!(part.data[DATA].simulate, None);
        assert!(is_paper(&part));
        assert!(is_paper(&Protocol { quick: true, ..Protocol::default() }.file().unwrap()));
        let renamed = SweepFile { name: "mine".into(), ..part.clone() };
        assert!(!is_paper(&renamed));
        let mut without = part;
        without.arm.retain(|arm| arm.name != "het");
        assert!(!is_paper(&without));
    }
}
