//! Refuses an object with two names: what is kept of it in memory is kept for each.

use std::collections::HashSet;

use hdf5_reader::error::{Error, Result};
use hdf5_reader::{Hdf5File, OpenOptions};
use netcdf_reader::DynStorage;

/// Follows all links of a file, but reads no values.
pub(super) fn check_links(file: DynStorage, options: OpenOptions) -> Result<()> {
    let root = Hdf5File::from_storage_with_options(file, options)?.root_group()?;
    let mut known = HashSet::from([root.address()]);
    let mut groups = vec![root];
    while let Some(group) = groups.pop() {
        let (inner, variables) = group.members()?;
        let places = inner.iter().map(|group| group.address());
        for place in places.chain(variables.iter().map(|variable| variable.address())) {
            if !known.insert(place) {
                return Err(Error::InvalidData("an object has two names".into()));
            }
        }
        groups.extend(inner);
    }
    Ok(())
}
