//! Reads a tree back from netCDF-4, trusting nothing in the file.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use hdf5_reader::OpenOptions;
use netcdf_reader::{
    BytesStorage, DynStorage, NcAttribute, NcFile, NcGroup, NcOpenOptions, NcType, NcVariable,
};

use super::message::empty;
use super::storage::Guarded;
use super::walk::{check_objects, stated_format};
use super::{CRC, Data, EXPANSION, FORMAT, Group, NcError, SMALL, Tree, VERSION, Var};
use crate::guard::guarded;
use crate::words::first_line;

const MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";

impl Tree {
    /// Reads the file and checks that it is what was written.
    pub fn read(path: &Path) -> Result<Self, NcError> {
        let name = || path.display().to_string();
        let fail = |cause: std::io::Error| match cause.kind() {
            ErrorKind::NotFound => NcError::Missing { path: name() },
            _ => NcError::Read { path: name(), cause: first_line(&cause.to_string()) },
        };
        if !fs::metadata(path).map_err(fail)?.is_file() {
            return Err(NcError::NotFile { path: name() });
        }
        Tree::from_bytes(fs::read(path).map_err(fail)?, &name())
    }

    /// The same from the bytes of a file; errors call it `name`.
    pub fn from_bytes(bytes: Vec<u8>, name: &str) -> Result<Self, NcError> {
        Tree::read_bytes(bytes, name, true)
    }

    /// The same whatever the checksum says, to test what lies behind it.
    #[doc(hidden)]
    pub fn unsigned(bytes: Vec<u8>, name: &str) -> Result<Self, NcError> {
        Tree::read_bytes(bytes, name, false)
    }

    fn read_bytes(bytes: Vec<u8>, name: &str, signed: bool) -> Result<Self, NcError> {
        let bytes = Bytes(Arc::new(bytes));
        let copy = bytes.clone();
        let outcome = guarded(|| decode(bytes)).unwrap_or_else(|cause| Err(Wrong::Damaged(cause)));
        let outcome = outcome.and_then(|(tree, whole)| match whole || !signed {
            true => Ok(tree),
            false => Err(Wrong::Altered),
        });
        outcome.map_err(|wrong| wrong.named(name.into(), &copy.0))
    }
}

/// The file's bytes, shared with the reader.
#[derive(Clone)]
struct Bytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// What is wrong, before the path is known.
enum Wrong {
    NotNetcdf,
    Foreign,
    Newer(u32),
    Truncated(u64),
    Altered,
    Damaged(String),
}

impl Wrong {
    fn named(self, path: String, bytes: &[u8]) -> NcError {
        match self {
            Self::NotNetcdf => NcError::NotNetcdf { path },
            Self::Foreign => NcError::Foreign { path },
            Self::Newer(format) => NcError::Newer { path, format, known: VERSION },
            Self::Truncated(expected) => {
                NcError::Truncated { path, found: bytes.len() as u64, expected }
            }
            Self::Altered => NcError::Altered { path },
            // A file of another program may use what this reader does not know.
            Self::Damaged(_) if !bytes.windows(FORMAT.len()).any(|at| at == FORMAT.as_bytes()) => {
                NcError::Foreign { path }
            }
            Self::Damaged(cause) => NcError::Damaged { path, cause: first_line(&cause) },
        }
    }
}

impl From<netcdf_reader::Error> for Wrong {
    fn from(error: netcdf_reader::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// The tree, and whether its checksum is right.
fn decode(bytes: Bytes) -> Result<(Tree, bool), Wrong> {
    let length = bytes.0.len() as u64;
    check_start(&bytes.0)?;
    let limit = length.saturating_mul(EXPANSION).saturating_add(SMALL);
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let defaults = NcOpenOptions::default();
    let options = NcOpenOptions {
        max_chunk_bytes: defaults.max_chunk_bytes.min(most),
        max_read_bytes: most,
        max_object_header_bytes: defaults.max_object_header_bytes.min(bytes.0.len()),
        // Variables are read as a whole, numbers once and texts twice: a cache would hardly help.
        chunk_cache_bytes: 0,
        ..defaults
    };
    let longest = options.max_object_header_bytes;
    let header = || OpenOptions::default().with_max_object_header_bytes(longest);
    let storage: DynStorage = Arc::new(Guarded::new(BytesStorage::from_owner(bytes)));
    check_objects(storage.clone(), header()).map_err(|error| {
        match stated_format(storage.clone(), header()) {
            Some(newer) if newer > VERSION => Wrong::Newer(newer),
            _ => Wrong::Damaged(error.to_string()),
        }
    })?;
    let file = NcFile::from_storage_with_options(storage, options)?;
    let root = file.root_group()?;
    let stored = match (text(root.attribute(FORMAT)), text(root.attribute(CRC))) {
        (None, None) => return Err(Wrong::Foreign),
        (Some(format), crc) => match (format.parse::<u32>(), crc) {
            (Ok(VERSION), Some(crc)) => crc,
            (Ok(newer), _) if newer > VERSION => return Err(Wrong::Newer(newer)),
            _ => return Err(Wrong::Altered),
        },
        _ => return Err(Wrong::Altered),
    };
    let mut reader = Reader { file: &file, known: HashSet::new() };
    let groups = root.groups.iter().map(|group| reader.group(group)).collect::<Result<_, _>>()?;
    let tree = Tree { groups };
    let whole = stored == format!("{:08x}", tree.checksum());
    Ok((tree, whole))
}

/// Tells other files and cut-off ones from the first bytes.
fn check_start(bytes: &[u8]) -> Result<(), Wrong> {
    if bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes) {
        return Err(Wrong::Truncated(MAGIC.len() as u64));
    }
    if bytes.starts_with(b"CDF") {
        return Err(Wrong::Foreign);
    }
    if !bytes.starts_with(MAGIC) {
        return Err(Wrong::NotNetcdf);
    }
    // Addresses and lengths have 8 bytes in every file but those of the oldest machines; with fewer,
    // references to texts are shorter.
    let sizes = if matches!(bytes.get(8), Some(0 | 1)) { 13..15 } else { 9..11 };
    if bytes.get(sizes).is_some_and(|sizes| sizes != [8, 8]) {
        return Err(Wrong::Damaged("its addresses do not have 8 bytes".into()));
    }
    // The header that gpfuse writes (version 2, 8-byte addresses) holds the file's length.
    const LENGTH: std::ops::Range<usize> = 28..36;
    let is_ours = matches!(bytes.get(8..10), Some([2, 8]));
    match bytes.get(LENGTH).and_then(|at| <[u8; 8]>::try_from(at).ok()) {
        None => Err(Wrong::Truncated(LENGTH.end as u64)),
        Some(end) if is_ours && u64::from_le_bytes(end) > bytes.len() as u64 => {
            Err(Wrong::Truncated(u64::from_le_bytes(end)))
        }
        Some(_) => Ok(()),
    }
}

fn text(attribute: Option<&NcAttribute>) -> Option<String> {
    attribute.and_then(|attribute| attribute.value.as_string())
}

fn texts(attributes: &[NcAttribute]) -> Result<Vec<(String, String)>, Wrong> {
    let pair = |attribute: &NcAttribute| match attribute.value.as_string() {
        Some(text) => Ok((attribute.name.clone(), text)),
        None => Err(Wrong::Altered),
    };
    attributes.iter().map(pair).collect()
}

struct Reader<'a> {
    file: &'a NcFile,
    /// The references to texts so far.
    known: HashSet<[u8; 10]>,
}

impl Reader<'_> {
    fn group(&mut self, group: &NcGroup) -> Result<Group, Wrong> {
        let mut dims = Vec::with_capacity(group.dimensions.len());
        for dim in &group.dimensions {
            let size = usize::try_from(dim.size).map_err(|_| Wrong::Altered)?;
            dims.push((dim.name.clone(), size));
        }
        let mut vars = Vec::with_capacity(group.variables.len());
        for var in &group.variables {
            vars.push(self.var(&group.name, var)?);
        }
        Ok(Group { name: group.name.clone(), dims, attrs: texts(&group.attributes)?, vars })
    }

    fn var(&mut self, group: &str, var: &NcVariable) -> Result<Var, Wrong> {
        let path = format!("{group}/{}", var.name);
        let mut attrs = texts(&var.attributes)?;
        let count = var.num_elements().map_err(|error| Wrong::Damaged(error.to_string()))?;
        let data = match var.dtype {
            NcType::Double => {
                // As it is: by its elements, an array of any dimensions is ten times slower.
                let array = self.file.read_variable::<f64>(&path)?;
                Data::F64(match array.is_standard_layout() {
                    true => array.into_raw_vec_and_offset().0,
                    false => array.iter().copied().collect(),
                })
            }
            NcType::Int64 => {
                Data::I64(self.file.read_variable::<i64>(&path)?.into_iter().collect())
            }
            NcType::Byte if attrs.iter().any(|(n, t)| n == "dtype" && t == "bool") => {
                attrs.retain(|(name, _)| name != "dtype");
                let bytes = self.file.read_variable::<i8>(&path)?;
                if bytes.iter().any(|byte| !matches!(byte, 0 | 1)) {
                    return Err(Wrong::Altered);
                }
                Data::Bool(bytes.into_iter().map(|byte| byte == 1).collect())
            }
            NcType::String => {
                self.check_references(&path)?;
                Data::Str(self.file.read_variable_as_strings(&path)?)
            }
            _ => return Err(Wrong::Altered),
        };
        // Its own shape is what was judged, and that of its dimensions what the model is made of.
        if data.len() as u64 != count {
            return Err(Wrong::Altered);
        }
        let dims = var.dimensions.iter().map(|dim| dim.name.clone()).collect();
        Ok(Var { name: var.name.clone(), dims, data, attrs })
    }

    /// Refuse texts that two references share: a few bytes each, they would make copies of it
    /// without end.
    fn check_references(&mut self, path: &str) -> Result<(), Wrong> {
        for reference in self.file.read_variable_raw_bytes(path)?.as_chunks::<16>().0 {
            // Length, address of the heap, and number in it, of which two bytes count.
            let at = <[u8; 10]>::try_from(&reference[4..14]).unwrap_or_default();
            if !empty(&at) && !self.known.insert(at) {
                let problem = format!("variable `{path}` has a text that is another's");
                return Err(Wrong::Damaged(problem));
            }
        }
        Ok(())
    }
}
