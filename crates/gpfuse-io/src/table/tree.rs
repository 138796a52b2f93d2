//! Follows the tree of groups and columns that a Parquet schema is, which is written as a list: each
//! element says how many of those after it are its own.

use std::io::Result;
use std::mem::size_of;

use super::shape::COLUMN;
use super::thrift::wrong;

/// Groups in groups that are still read: the decoder calls itself for each.
const DEPTH: usize = 64;

/// The element that is being read.
#[derive(Clone, Copy, Default)]
pub(super) struct Element {
    /// Bytes of its name.
    pub(super) name: u64,
    /// How many elements are its own.
    pub(super) own: u64,
}

/// A group that is not yet complete.
struct Group {
    missing: u64,
    /// Bytes of its path, with those of every part's place.
    path: u64,
}

/// The elements so far.
#[derive(Default)]
pub(super) struct Tree {
    open: Vec<Group>,
    /// How many elements the open groups miss together.
    missing: u64,
    begun: bool,
    /// The number of columns.
    pub(super) columns: u64,
}

impl Tree {
    /// Add the next element, after which `left` are in the list: the memory it takes in the tree.
    pub(super) fn add(&mut self, element: Element, left: u64) -> Result<u64> {
        let path = match self.open.last_mut() {
            Some(group) => {
                group.missing -= 1;
                self.missing -= 1;
                group.path + element.name + size_of::<String>() as u64
            }
            // The root is not a part of any path.
            None if !self.begun => 0,
            None => return Err(wrong("its schema has a second root")),
        };
        self.begun = true;
        self.missing = self.missing.saturating_add(element.own);
        if self.missing > left {
            return Err(wrong("its schema has fewer columns than it says"));
        }
        let mut size = 0;
        if element.own > 0 {
            self.open.push(Group { missing: element.own, path });
        } else {
            self.columns += 1;
            // Once in parts and once joined.
            size = COLUMN as u64 + 2 * path;
        }
        while self.open.pop_if(|group| group.missing == 0).is_some() {}
        if self.open.len() > DEPTH {
            return Err(wrong("its schema has too many groups in groups"));
        }
        Ok(size)
    }
}
