//! Reads a tree back from netCDF-4: its bytes are checked first, and its contents once they are read.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use netcdf_reader::{NcAttribute, NcFile, NcGroup, NcOpenOptions, NcType, NcVariable};

use super::{CRC, Data, FORMAT, Group, NcError, Tree, VERSION, Var, seal};
use crate::guard::guarded;
use crate::words::first_line;

const MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";

/// How the names of our root attributes begin, at least one of which survives most damage.
const OUR_PREFIX: &[u8] = b"gpfuse_";

/// Deflate packs at most so many bytes into one: a file that claims more is damaged.
const DEFLATE_RATIO: usize = 1032;

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

    /// The same whatever the checksums say, to test what lies behind them.
    #[doc(hidden)]
    pub fn unsigned(bytes: Vec<u8>, name: &str) -> Result<Self, NcError> {
        Tree::read_bytes(bytes, name, false)
    }

    fn read_bytes(bytes: Vec<u8>, name: &str, signed: bool) -> Result<Self, NcError> {
        let bytes = Bytes(Arc::new(bytes));
        let copy = bytes.clone();
        let decoded = guarded(|| decode(bytes, signed));
        let outcome = decoded.unwrap_or_else(|cause| Err(Wrong::Damaged(cause)));
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
pub(super) enum Wrong {
    NotNetcdf,
    Foreign,
    Newer(u32),
    /// The bytes that there should be at least.
    Truncated(usize),
    Altered,
    Damaged(String),
}

impl Wrong {
    fn named(self, path: String, bytes: &[u8]) -> NcError {
        let ours = || bytes.windows(OUR_PREFIX.len()).any(|at| at == OUR_PREFIX);
        match self {
            Self::NotNetcdf => NcError::NotNetcdf { path },
            Self::Newer(format) => NcError::Newer { path, format, known: VERSION },
            Self::Truncated(expected) => NcError::Truncated { path, found: bytes.len(), expected },
            Self::Foreign => NcError::Foreign { path },
            // A file of another program may use what this reader does not know.
            Self::Altered | Self::Damaged(_) if !ours() => NcError::Foreign { path },
            Self::Altered => NcError::Altered { path },
            Self::Damaged(cause) => NcError::Damaged { path, cause: first_line(&cause) },
        }
    }
}

impl From<netcdf_reader::Error> for Wrong {
    fn from(error: netcdf_reader::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

fn decode(bytes: Bytes, signed: bool) -> Result<Tree, Wrong> {
    check_start(&bytes.0)?;
    if signed {
        seal::check(&bytes.0)?;
    }
    let options = NcOpenOptions {
        max_read_bytes: bytes.0.len().saturating_mul(DEFLATE_RATIO),
        // Variables are read once and as a whole: a cache would not help.
        chunk_cache_bytes: 0,
        ..NcOpenOptions::default()
    };
    let file = NcFile::from_owner(bytes, options)?;
    let root = file.root_group()?;
    let crc = match (text(root.attribute(FORMAT)), text(root.attribute(CRC))) {
        (None, None) => return Err(Wrong::Foreign),
        (Some(format), crc) => match (format.parse::<u32>(), crc) {
            (Ok(VERSION), Some(crc)) => crc,
            (Ok(newer), _) if newer > VERSION => return Err(Wrong::Newer(newer)),
            _ => return Err(Wrong::Altered),
        },
        _ => return Err(Wrong::Altered),
    };
    // gpfuse writes nothing outside of its groups, and the checksum does not cover it.
    if !root.variables.is_empty() || root.groups.iter().any(|group| !group.groups.is_empty()) {
        return Err(Wrong::Altered);
    }
    let groups = root.groups.iter().map(|child| group(&file, child)).collect::<Result<_, _>>()?;
    let tree = Tree { groups };
    if signed && crc != format!("{:08x}", tree.checksum()) {
        return Err(Wrong::Altered);
    }
    Ok(tree)
}

/// Tells other files from the first bytes.
fn check_start(bytes: &[u8]) -> Result<(), Wrong> {
    if bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes) {
        return Err(Wrong::Truncated(MAGIC.len()));
    }
    if bytes.starts_with(b"CDF") {
        return Err(Wrong::Foreign);
    }
    if bytes.starts_with(MAGIC) { Ok(()) } else { Err(Wrong::NotNetcdf) }
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

fn group(file: &NcFile, group: &NcGroup) -> Result<Group, Wrong> {
    let mut dims = Vec::with_capacity(group.dimensions.len());
    for dim in &group.dimensions {
        let size = usize::try_from(dim.size).map_err(|_| Wrong::Altered)?;
        dims.push((dim.name.clone(), size));
    }
    let vars = group.variables.iter().map(|var| variable(file, &group.name, var));
    let (vars, attrs) = (vars.collect::<Result<_, _>>()?, texts(&group.attributes)?);
    Ok(Group { name: group.name.clone(), dims, attrs, vars })
}

fn variable(file: &NcFile, group: &str, var: &NcVariable) -> Result<Var, Wrong> {
    let path = format!("{group}/{}", var.name);
    let mut attrs = texts(&var.attributes)?;
    let data = match var.dtype {
        NcType::Double => {
            // The whole buffer at once: an iterator over the elements is ten times slower.
            let array = file.read_variable::<f64>(&path)?;
            Data::F64(match array.is_standard_layout() {
                true => array.into_raw_vec_and_offset().0,
                false => array.iter().copied().collect(),
            })
        }
        NcType::Int64 => Data::I64(file.read_variable::<i64>(&path)?.into_iter().collect()),
        NcType::Byte if attrs.iter().any(|(n, t)| n == "dtype" && t == "bool") => {
            attrs.retain(|(name, _)| name != "dtype");
            let bytes = file.read_variable::<i8>(&path)?;
            if bytes.iter().any(|byte| !matches!(byte, 0 | 1)) {
                return Err(Wrong::Altered);
            }
            Data::Bool(bytes.into_iter().map(|byte| byte == 1).collect())
        }
        NcType::String => Data::Str(file.read_variable_as_strings(&path)?),
        _ => return Err(Wrong::Altered),
    };
    // The number of values must be what the dimensions say: the model is built from these.
    if var.num_elements().ok() != Some(data.len() as u64) {
        return Err(Wrong::Altered);
    }
    let dims = var.dimensions.iter().map(|dim| dim.name.clone()).collect();
    Ok(Var { name: var.name.clone(), dims, data, attrs })
}
