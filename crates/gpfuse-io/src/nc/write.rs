//! Writes a tree as netCDF-4.

use std::path::Path;

use netcdf_writer::{
    DimensionId, Error, NcAttrValue, NcFileBuilder, NcWriteFormat, NcWriteOptions, VariableId,
};

use super::{CRC, Data, FORMAT, Group, NcError, Tree, VERSION, Var, seal};
use crate::atomic::atomic_write;
use crate::guard::guarded;
use crate::words::{first_line, show_path};

/// Arrays up to this many bytes are stored as they are: compression would not pay.
const UNCOMPRESSED_BYTES: usize = 8 << 10;
/// At most this many bytes in a chunk, the unit that readers decompress.
const LARGEST_CHUNK: usize = 1 << 20;
/// The level of compression.
const LEVEL: u8 = 4;
/// The format keeps an attribute, its name included, in a message of less than 64 KiB.
const LARGEST_ATTRIBUTE: usize = 60 << 10;

impl Tree {
    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), NcError> {
        let bytes = self.to_bytes(&show_path(path))?;
        Ok(atomic_write(path, |out| out.write_all(&bytes))?)
    }

    /// The bytes of the file; errors call it `name`.
    pub fn to_bytes(&self, name: &str) -> Result<Vec<u8>, NcError> {
        // The compressor panics where memory is short.
        let encoded = guarded(|| self.encode())
            .map_err(|cause| NcError::Compression { path: name.into(), cause })?;
        encoded.map_err(|cause| NcError::Content {
            path: name.into(),
            cause: first_line(&cause.to_string()),
        })
    }

    fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut file = NcFileBuilder::new();
        file.add_attribute(FORMAT, NcAttrValue::Chars(VERSION.to_string()))?;
        file.add_attribute(CRC, NcAttrValue::Chars(format!("{:08x}", self.checksum())))?;
        for group in self.stored() {
            group.encode(&mut file)?;
        }
        Ok(seal::seal(file.to_vec(NcWriteOptions { format: NcWriteFormat::Nc4 })?.1))
    }
}

impl Group {
    fn encode(&self, file: &mut NcFileBuilder) -> Result<(), Error> {
        let path = |name: &str| -> Result<String, Error> {
            Ok(format!("{}/{}", plain_name(&self.name)?, plain_name(name)?))
        };
        let mut dims = Vec::new();
        for (name, size) in self.stored_dims() {
            dims.push((name, *size, file.add_dimension_path(path(name)?, *size as u64)?));
        }
        for (name, text) in &self.attrs {
            file.add_group_attribute(plain_name(&self.name)?, name, attribute(name, text)?)?;
        }
        for var in self.stored_vars() {
            var.encode(file, &path(&var.name)?, &dims)?;
        }
        Ok(())
    }
}

impl Var {
    fn encode(
        &self,
        file: &mut NcFileBuilder,
        path: &str,
        dims: &[(&String, usize, DimensionId)],
    ) -> Result<(), Error> {
        let (mut shape, mut ids) = (Vec::new(), Vec::new());
        for name in &self.dims {
            let Some((_, size, id)) = dims.iter().find(|(known, ..)| *known == name) else {
                return Err(invalid(format!("variable `{path}` has no dimension `{name}`")));
            };
            shape.push(*size);
            ids.push(*id);
        }
        if shape.iter().product::<usize>() != self.data.len() {
            let found = self.data.len();
            return Err(invalid(format!("variable `{path}` has {found} values over {shape:?}")));
        }
        let id = match &self.data {
            Data::F64(values) => {
                let id = file.add_variable_path::<f64>(path, &ids)?;
                compress(file, id, &shape, size_of::<f64>())?;
                file.write_variable(id, values)?;
                id
            }
            Data::I64(values) => {
                let id = file.add_variable_path::<i64>(path, &ids)?;
                compress(file, id, &shape, size_of::<i64>())?;
                file.write_variable(id, values)?;
                id
            }
            Data::Bool(values) => {
                let id = file.add_variable_path::<i8>(path, &ids)?;
                compress(file, id, &shape, size_of::<i8>())?;
                let bytes: Vec<i8> = values.iter().map(|&value| i8::from(value)).collect();
                file.write_variable(id, &bytes)?;
                file.add_variable_attribute(id, "dtype", NcAttrValue::Chars("bool".into()))?;
                id
            }
            Data::Str(values) => {
                let id = file.add_string_variable_path(path, &ids)?;
                file.write_string_variable(id, values)?;
                id
            }
        };
        for (name, text) in &self.attrs {
            file.add_variable_attribute(id, name, attribute(name, text)?)?;
        }
        Ok(())
    }
}

fn compress(
    file: &mut NcFileBuilder,
    id: VariableId,
    shape: &[usize],
    size: usize,
) -> Result<(), Error> {
    if shape.iter().product::<usize>() * size <= UNCOMPRESSED_BYTES || shape.is_empty() {
        return Ok(());
    }
    file.set_variable_chunking(id, chunks(shape, size))?;
    file.set_variable_deflate(id, Some(LEVEL), size > 1)
}

/// Halves the leading dimensions (chain, then draw) until a chunk is small enough.
pub(super) fn chunks(shape: &[usize], size: usize) -> Vec<u64> {
    let mut chunk = shape.to_vec();
    let mut at = 0;
    while chunk.iter().product::<usize>() * size > LARGEST_CHUNK && at < chunk.len() {
        if chunk[at] > 1 {
            chunk[at] = chunk[at].div_ceil(2);
        } else {
            at += 1;
        }
    }
    chunk.into_iter().map(|length| length as u64).collect()
}

fn attribute(name: &str, text: &str) -> Result<NcAttrValue, Error> {
    if name.len() + text.len() > LARGEST_ATTRIBUTE {
        let length = text.len();
        return Err(invalid(format!("attribute `{name}` of {length} bytes is too long")));
    }
    if text.contains('\0') {
        return Err(invalid(format!("attribute `{name}` holds a NUL")));
    }
    Ok(NcAttrValue::Chars(text.to_owned()))
}

fn plain_name(name: &str) -> Result<&str, Error> {
    if name.is_empty() || name.contains('/') {
        return Err(invalid(format!("`{name}` cannot be a name (empty, or with a slash)")));
    }
    Ok(name)
}

fn invalid(cause: String) -> Error {
    Error::InvalidDefinition(cause)
}
