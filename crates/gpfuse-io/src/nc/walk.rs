//! Goes through all groups and variables of a file, but reads no values.
//!
//! A model file has groups of variables, and nothing else. An object with two names is refused: what
//! is kept of it in memory is kept for each.

use std::collections::HashSet;

use hdf5_reader::error::Result;
use hdf5_reader::group::Group;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::link::{LinkMessage, LinkTarget};
use hdf5_reader::{Hdf5File, OpenOptions};
use netcdf_reader::DynStorage;

use super::FORMAT;
use super::costs::{Costs, one, wrong};
use super::names::dense_links;

/// Refuses a file that would take many times its bytes in memory.
pub(super) fn check_objects(file: DynStorage, options: OpenOptions) -> Result<()> {
    let length = file.len();
    let file = Hdf5File::from_storage_with_options(file, options)?;
    let root = file.root_group()?;
    let known = HashSet::from([root.address()]);
    let mut walk = Walk { file, known, names: length, costs: Costs::new(length) };
    let (groups, variables) = walk.members(&root)?;
    if !variables.is_empty() {
        return wrong("a variable is in no group");
    }
    for group in groups {
        let (inner, variables) = walk.members(&group)?;
        if !inner.is_empty() {
            return wrong("a group is in another");
        }
        for variable in variables {
            let path = format!("{}/{}", group.name(), variable.name());
            let header = walk.file.get_or_parse_header(variable.address())?;
            walk.costs.attributes(&header.messages)?;
            walk.costs.variable(walk.file.storage(), &path, &header.messages)?;
        }
    }
    Ok(())
}

/// The format that a file says it has, whatever else is in it: a later one may have other forms.
pub(super) fn stated_format(file: DynStorage, options: OpenOptions) -> Option<u32> {
    let file = Hdf5File::from_storage_with_options(file, options).ok()?;
    let header = file.get_or_parse_header(file.root_group().ok()?.address()).ok()?;
    header.messages.iter().find_map(|message| match message {
        HdfMessage::Attribute(attribute) if attribute.name == FORMAT => {
            let text = std::str::from_utf8(&attribute.raw_data).ok()?;
            text.trim_end_matches('\0').parse().ok()
        }
        _ => None,
    })
}

struct Walk {
    file: Hdf5File,
    /// Where objects with a name are.
    known: HashSet<u64>,
    /// Bytes that may still be names in heaps, which lie beside each other.
    names: u64,
    costs: Costs,
}

type Members = (Vec<Group>, Vec<hdf5_reader::Dataset>);

impl Walk {
    /// The members of a group, whose links are good: the reader keeps all names of a group together,
    /// so they come first.
    fn members(&mut self, group: &Group) -> Result<Members> {
        let header = self.file.get_or_parse_header(group.address())?;
        self.costs.attributes(&header.messages)?;
        let (known, costs, mut names) = (&mut self.known, &mut self.costs, HashSet::new());
        // Values are read by name, so two objects with one name are one of them twice.
        let mut add = |link: &LinkMessage| match link.target {
            _ if link.name.contains('/') => wrong("a name has a slash"),
            _ if !names.insert(link.name.clone()) => wrong("two objects have one name"),
            LinkTarget::Hard { address } if known.insert(address) => costs.object(),
            LinkTarget::Hard { .. } => wrong("an object has two names"),
            _ => wrong("a name is that of a path, not of an object"),
        };
        for message in &header.messages {
            if let HdfMessage::Link(link) = message {
                add(link)?;
            }
        }
        let info = one(&header.messages, |message| match message {
            HdfMessage::LinkInfo(info) => Some(info),
            _ => None,
        })?;
        if let Some(info) = info {
            dense_links(self.file.storage(), info, &mut self.names, &mut add)?;
        }
        group.members()
    }
}
