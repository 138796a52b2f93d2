//! The model file: a small tree of groups kept as one netCDF-4 file, with a checksum of its contents and
//! one of its bytes.

mod error;
mod read;
mod seal;
#[cfg(test)]
mod tests;
mod write;

use crc32fast::Hasher;

pub use self::error::NcError;

/// The root attribute holding the checksum of all contents.
const CRC: &str = "gpfuse_crc32";
/// The root attribute holding the number of the format.
const FORMAT: &str = "gpfuse_format";
/// The format written, and the newest that is read.
const VERSION: u32 = 1;
/// The contents of one file. Empty dimensions and what lies over them are not stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree {
    /// The groups.
    pub groups: Vec<Group>,
}

/// A group of variables that share dimensions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its dimensions and their sizes.
    pub dims: Vec<(String, usize)>,
    /// Short texts: one of 64 KiB or more does not fit and belongs in a [`Data::Str`] variable.
    pub attrs: Vec<(String, String)>,
    /// Its variables.
    pub vars: Vec<Var>,
}

/// An array over dimensions of its group; without dimensions, a single value. A variable named
/// like its only dimension is that dimension's coordinate.
#[derive(Debug, Clone, PartialEq)]
pub struct Var {
    /// Its name.
    pub name: String,
    /// The names of its dimensions, the last running fastest.
    pub dims: Vec<String>,
    /// Its values.
    pub data: Data,
    /// Short texts about it.
    pub attrs: Vec<(String, String)>,
}

/// The values of a variable, the last dimension running fastest.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Real numbers.
    F64(Vec<f64>),
    /// Whole numbers.
    I64(Vec<i64>),
    /// Stored as bytes with the attribute `dtype = "bool"`, as xarray does.
    Bool(Vec<bool>),
    /// Texts.
    Str(Vec<String>),
}

impl Data {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Str(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn feed(&self, hash: &mut Hasher) {
        match self {
            Self::F64(values) => numbers(hash, b"f", values, |value| value.to_le_bytes()),
            Self::I64(values) => numbers(hash, b"i", values, |value| value.to_le_bytes()),
            Self::Bool(values) => numbers(hash, b"b", values, |value| [u8::from(value)]),
            Self::Str(values) => {
                hash.update(b"s");
                count(hash, values.len());
                values.iter().for_each(|value| text(hash, value));
            }
        }
    }
}

impl Tree {
    /// The group called `name`.
    pub(crate) fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The groups with anything to store.
    fn stored(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| {
            !group.attrs.is_empty()
                || group.stored_dims().next().is_some()
                || group.stored_vars().next().is_some()
        })
    }

    /// CRC-32 of all that is stored, sorted by name: a file does not keep the order of this tree.
    fn checksum(&self) -> u32 {
        let mut hash = Hasher::new();
        hash.update(&VERSION.to_le_bytes());
        let groups = sorted(self.stored(), |group| &group.name);
        count(&mut hash, groups.len());
        groups.into_iter().for_each(|group| group.feed(&mut hash));
        hash.finalize()
    }
}

impl Group {
    fn stored_dims(&self) -> impl Iterator<Item = &(String, usize)> {
        self.dims.iter().filter(|(_, size)| *size > 0)
    }

    fn stored_vars(&self) -> impl Iterator<Item = &Var> {
        self.vars.iter().filter(|var| !var.data.is_empty())
    }

    fn feed(&self, hash: &mut Hasher) {
        text(hash, &self.name);
        let dims = sorted(self.stored_dims(), |(name, _)| name);
        count(hash, dims.len());
        for (name, size) in dims {
            text(hash, name);
            count(hash, *size);
        }
        attributes(hash, &self.attrs);
        let vars = sorted(self.stored_vars(), |var| &var.name);
        count(hash, vars.len());
        for var in vars {
            text(hash, &var.name);
            count(hash, var.dims.len());
            var.dims.iter().for_each(|name| text(hash, name));
            attributes(hash, &var.attrs);
            var.data.feed(hash);
        }
    }
}

fn sorted<'a, T>(all: impl Iterator<Item = &'a T>, name: impl Fn(&T) -> &String) -> Vec<&'a T> {
    let mut all: Vec<&T> = all.collect();
    all.sort_by(|a, b| name(a).cmp(name(b)));
    all
}

fn count(hash: &mut Hasher, number: usize) {
    hash.update(&(number as u64).to_le_bytes());
}

fn text(hash: &mut Hasher, text: &str) {
    count(hash, text.len());
    hash.update(text.as_bytes());
}

fn attributes(hash: &mut Hasher, attrs: &[(String, String)]) {
    let attrs = sorted(attrs.iter(), |(name, _)| name);
    count(hash, attrs.len());
    for (name, value) in attrs {
        text(hash, name);
        text(hash, value);
    }
}

fn numbers<T: Copy, const N: usize>(
    hash: &mut Hasher,
    tag: &[u8],
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) {
    hash.update(tag);
    count(hash, values.len());
    // The hash is fast only over long slices.
    let mut block = Vec::with_capacity(1024 * N);
    for part in values.chunks(1024) {
        block.clear();
        part.iter().for_each(|&value| block.extend_from_slice(&bytes(value)));
        hash.update(&block);
    }
}
