//! What can be wrong with a model file, each case with its cure.

use thiserror::Error;

use crate::atomic::WriteError;

/// Why a model file could not be written or read.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages name the fields.
pub enum NcError {
    /// The system could not write it.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The contents do not fit the format.
    #[error("cannot write `{path}`: {cause}: shorten or rename it")]
    Content { path: String, cause: String },
    /// The compressor panicked.
    #[error(
        "cannot write `{path}`: it could not be compressed ({cause}): if memory is short, free some \
         or raise its limit"
    )]
    Compression { path: String, cause: String },
    /// No such file.
    #[error("`{path}`: no such model file: check the path, or fit a model first")]
    Missing { path: String },
    /// A folder or a device.
    #[error("`{path}`: is not a plain file: give the model file's name")]
    NotFile { path: String },
    /// The system could not read it.
    #[error("`{path}`: cannot be read ({cause}): check the file and its permissions")]
    Read { path: String, cause: String },
    /// Not netCDF at all.
    #[error("`{path}`: is not a gpfuse model file (no netCDF-4): give the file that the fit wrote")]
    NotNetcdf { path: String },
    /// Someone else's netCDF or HDF5.
    #[error(
        "`{path}`: is netCDF or HDF5, but not a gpfuse model file: give the file that the fit wrote"
    )]
    Foreign { path: String },
    /// From a later program.
    #[error(
        "`{path}`: was written by a newer gpfuse (format {format}, this one reads {known}): update gpfuse"
    )]
    Newer { path: String, format: u32, known: u32 },
    /// The end is missing.
    #[error(
        "`{path}`: is cut off ({found} bytes of {expected} or more): copy it again, or fit again"
    )]
    Truncated { path: String, found: usize, expected: usize },
    /// Readable, but not what was written.
    #[error(
        "`{path}`: was altered after gpfuse wrote it (checksum differs): use the original, or fit again"
    )]
    Altered { path: String },
    /// Not readable.
    #[error("`{path}`: is damaged ({cause}): copy it again, or fit again")]
    Damaged { path: String, cause: String },
}
