//! The names of a group that lie in a heap, with a tree of where each begins: libraries do so with
//! more than eight.
//!
//! Any number of entries of the tree may point to one text, and to blocks of the heap that overlap,
//! and the reader copies each. So they are read here one by one before it does.

use hdf5_reader::btree_v2::{BTreeV2Header, BTreeV2Record, collect_btree_v2_records_storage};
use hdf5_reader::error::Result;
use hdf5_reader::fractal_heap::{FractalHeap, FractalHeapDirectBlockCache};
use hdf5_reader::io::Cursor;
use hdf5_reader::messages::link::{self, LinkMessage};
use hdf5_reader::messages::link_info::LinkInfoMessage;
use netcdf_reader::Storage;

use super::SMALL;
use super::costs::{WIDTH, wrong};
use super::header::number;

/// An index by name with nodes and entries of these sizes, as all versions of the HDF5 library
/// write it.
const BY_NAME: u8 = 5;
const NODE: u32 = 512;
const ENTRY: u16 = 11;

/// A root with leaves has room for about a thousand names, a hundred times those of a model.
const DEPTH: u16 = 1;

/// The largest block of the heap that holds names.
const BLOCK: u64 = 1 << 16;

/// Calls `each` with the links that a group keeps in a heap, if it does; `left` bytes of the file may
/// still be names.
pub(super) fn dense_links(
    file: &dyn Storage,
    info: &LinkInfoMessage,
    left: &mut u64,
    each: &mut dyn FnMut(&LinkMessage) -> Result<()>,
) -> Result<()> {
    if info.fractal_heap_address == u64::MAX {
        return Ok(());
    }
    let heap = FractalHeap::parse_at_storage(file, info.fractal_heap_address, WIDTH, WIDTH)?;
    let tree = info.btree_name_index_address;
    let tree = BTreeV2Header::parse_at_storage(file, tree, WIDTH, WIDTH)?;
    check_form(&heap, &tree)?;
    let mut blocks = FractalHeapDirectBlockCache::default();
    for entry in collect_btree_v2_records_storage(file, &tree, WIDTH, WIDTH, None, &[], None)? {
        let BTreeV2Record::LinkNameHash { heap_id, .. } = entry else { continue };
        // Blocks follow each other in the heap, none longer than all before it together. So those that
        // hold places below a bound, which the reader keeps in memory, are bounded too.
        let place = number(&heap_id, 1, 4).unwrap_or(u64::MAX);
        if heap_id.first() != Some(&0) || place > file.len() + SMALL {
            return wrong("a name is not where its group keeps them");
        }
        let bytes = heap.get_object_storage_cached(&heap_id, file, WIDTH, WIDTH, &mut blocks)?;
        let Some(rest) = left.checked_sub(bytes.len() as u64) else {
            return wrong("names share their bytes");
        };
        *left = rest;
        each(&link::parse(&mut Cursor::new(&bytes), WIDTH, WIDTH, bytes.len())?)?;
    }
    Ok(())
}

/// What entries and blocks can cost is known for heaps and trees as libraries write them.
fn check_form(heap: &FractalHeap, tree: &BTreeV2Header) -> Result<()> {
    let usual = heap.io_filters_len == 0
        && (heap.table_width, heap.starting_block_size) == (4, 512)
        && (heap.max_direct_block_size, heap.max_heap_size) == (BLOCK, 32)
        && (tree.btree_type, tree.node_size, tree.record_size) == (BY_NAME, NODE, ENTRY);
    match usual {
        false => wrong("a group does not keep its names as netCDF does"),
        true if tree.depth > DEPTH => wrong("a group has more than a thousand names"),
        true => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hdf5_reader::Hdf5File;
    use hdf5_reader::messages::HdfMessage;

    use super::*;

    /// A model as the netCDF library of C copies it, and where a group with many names has them.
    fn copy() -> (Hdf5File, LinkInfoMessage) {
        let path = "../../fuzz/corpus/model_file/copied-by-netcdf";
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let file = Hdf5File::from_vec(std::fs::read(file).unwrap()).unwrap();
        let group = file.root_group().unwrap().group("gpfuse").unwrap();
        let header = file.get_or_parse_header(group.address()).unwrap();
        let info = header.messages.iter().find_map(|message| match message {
            HdfMessage::LinkInfo(info) => Some(info.clone()),
            _ => None,
        });
        (file, info.unwrap())
    }

    fn names(file: &dyn Storage, info: &LinkInfoMessage, mut left: u64) -> Result<Vec<String>> {
        let mut all = Vec::new();
        let mut each = |link: &LinkMessage| {
            all.push(link.name.clone());
            Ok(())
        };
        dense_links(file, info, &mut left, &mut each)?;
        Ok(all)
    }

    #[test]
    fn names_are_those_that_the_reader_finds() {
        let (file, mut info) = copy();
        let mut found = names(file.storage(), &info, 2000).unwrap();
        let (_, variables) = file.root_group().unwrap().group("gpfuse").unwrap().members().unwrap();
        let mut expected: Vec<String> = variables.iter().map(|v| v.name().to_string()).collect();
        found.sort();
        expected.sort();
        assert!(found.len() > 20 && found == expected, "{found:?} {expected:?}");
        info.fractal_heap_address = u64::MAX;
        assert!(names(file.storage(), &info, 0).unwrap().is_empty());
    }

    #[test]
    fn all_names_together_fit_into_the_file() {
        let (file, info) = copy();
        let problem = names(file.storage(), &info, 500).unwrap_err().to_string();
        assert!(problem.contains("names share their bytes"), "{problem}");
    }

    #[test]
    fn other_forms_are_refused() {
        let (file, info) = copy();
        let heap = info.fractal_heap_address;
        let heap = FractalHeap::parse_at_storage(file.storage(), heap, WIDTH, WIDTH).unwrap();
        let tree = info.btree_name_index_address;
        let tree = BTreeV2Header::parse_at_storage(file.storage(), tree, WIDTH, WIDTH).unwrap();
        assert!(check_form(&heap, &tree).is_ok());
        let mut packed = heap.clone();
        packed.io_filters_len = 8;
        let mut wide = heap.clone();
        wide.starting_block_size = 1 << 16;
        let mut fine = tree.clone();
        fine.record_size = 4;
        let mut deep = tree.clone();
        deep.depth = 2;
        for (heap, tree) in [(&packed, &tree), (&wide, &tree), (&heap, &fine), (&heap, &deep)] {
            assert!(check_form(heap, tree).is_err());
        }
    }
}
