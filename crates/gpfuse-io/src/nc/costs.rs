//! What groups and variables may be like, so that what they cost the reader is bounded.
//!
//! HDF5 has many ways to pack values and to find them, and the reader knows most; some take any
//! amount of memory for a few bytes. netCDF writes few of them, and only these are read. What is
//! judged here has been parsed by the reader itself, so that it means the same to both.

use std::collections::HashSet;

use hdf5_reader::btree_v1::{BTreeV1Key, collect_btree_v1_leaves_storage};
use hdf5_reader::error::{Error, Result};
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::attribute::AttributeMessage;
use hdf5_reader::messages::dataspace::UNLIMITED;
use hdf5_reader::messages::datatype::{Datatype, DatatypeMessage, StringSize, VarLenKind};
use hdf5_reader::messages::layout::DataLayout;
use netcdf_reader::Storage;

use super::message::empty;
use super::{EXPANSION, SMALL};

/// The bytes of addresses and of lengths.
pub(super) const WIDTH: u8 = 8;

/// The most dimensions of a variable; those of a model have up to four.
const RANK: usize = 6;

/// A model has some sixty groups and variables. What the reader keeps of each takes thousands of
/// bytes, so more must have as many of the file.
const OBJECTS: u64 = 128;
const EACH: u64 = 4096;

/// What a text costs beside its bytes: its reference, that once more, and what is made of it. The file
/// has more than half of that.
const TEXT: u64 = 64;

/// The most bytes of a dimension's name, which each variable over it has again.
const NAME: usize = 256;

/// The ways to pack values: deflate, shuffle, and a checksum.
const FILTERS: [u16; 3] = [1, 2, 3];

/// So many chunks take no room worth a word; more must have so many bytes of the file each.
const CHUNKS: u64 = 1024;

/// What the rest of a file may still claim.
pub(super) struct Costs {
    /// Bytes of values,
    values: u64,
    /// and of the chunks that they are cut into, with what lies beyond the last.
    padded: u64,
    chunks: u64,
    /// Bytes of packed chunks.
    packed: u64,
    objects: u64,
    /// The references of attributes to texts in heaps.
    texts: HashSet<[u8; 10]>,
}

impl Costs {
    /// Those of a file of `length` bytes.
    pub(super) fn new(length: u64) -> Self {
        // References to texts are not packed and come to what numbers may unpack to.
        let values = length.saturating_mul(EXPANSION + 1).saturating_add(SMALL);
        Costs {
            values,
            padded: values.saturating_mul(2),
            chunks: CHUNKS + length / CHUNKS,
            packed: length,
            objects: OBJECTS + length / EACH,
            texts: HashSet::new(),
        }
    }

    /// Another group or variable.
    pub(super) fn object(&mut self) -> Result<()> {
        match spend(&mut self.objects, Some(1)) {
            Some(()) => Ok(()),
            None => wrong("there are more variables than the file can hold"),
        }
    }

    /// Checks the attributes of a group or a variable.
    pub(super) fn attributes(&mut self, messages: &[HdfMessage]) -> Result<()> {
        messages.iter().try_for_each(|message| match message {
            HdfMessage::Attribute(attribute) => self.attribute(attribute),
            _ => Ok(()),
        })
    }

    fn attribute(&mut self, attribute: &AttributeMessage) -> Result<()> {
        let AttributeMessage { name, datatype, dataspace, raw_data } = attribute;
        let count = dataspace.num_elements()?;
        let heaped = match datatype {
            Datatype::String { size, .. } => *size == StringSize::Variable,
            Datatype::VarLen { kind: VarLenKind::String, .. } => true,
            _ if name != "REFERENCE_LIST" && count > RANK as u64 => {
                return wrong("an attribute has more than 6 values");
            }
            _ => return Ok(()),
        };
        // Each of many short texts takes far more than its bytes.
        if count > 1 {
            return wrong("an attribute has more than one text");
        }
        if name == "NAME" && (heaped || raw_data.len() > NAME) {
            return wrong("the name of a dimension is too long");
        }
        let at = raw_data.get(4..14).and_then(|at| <[u8; 10]>::try_from(at).ok());
        match at.filter(|at| heaped && !empty(at)) {
            Some(at) if !self.texts.insert(at) => {
                wrong("an attribute has a text that is another's")
            }
            _ => Ok(()),
        }
    }

    /// Checks the variable called `path`.
    pub(super) fn variable(
        &mut self,
        file: &dyn Storage,
        path: &str,
        messages: &[HdfMessage],
    ) -> Result<()> {
        let shape = one(messages, |m| match m {
            HdfMessage::Dataspace(space) => Some(space),
            _ => None,
        })?;
        let kind = one(messages, |m| match m {
            HdfMessage::Datatype(kind) => Some(kind),
            _ => None,
        })?;
        let layout = one(messages, |m| match m {
            HdfMessage::DataLayout(layout) => Some(&layout.layout),
            _ => None,
        })?;
        let filters = one(messages, |m| match m {
            HdfMessage::FilterPipeline(all) => Some(&all.filters),
            _ => None,
        })?;
        let (Some(shape), Some(kind), Some(layout)) = (shape, kind, layout) else {
            return wrong("a variable lacks its type, its shape or its place");
        };
        let ids: Vec<u16> = filters.into_iter().flatten().map(|filter| filter.id).collect();
        let once = |id: &u16| ids.iter().filter(|other| *other == id).count() == 1;
        if !ids.iter().all(|id| FILTERS.contains(id) && once(id)) {
            return wrong("a variable is packed in a way that netCDF does not know");
        }
        if shape.dims.len() > RANK {
            return wrong("a variable has more than 6 dimensions");
        }
        // Such a variable is as long as its dimension, whatever its own shape.
        if shape.max_dims.as_ref().is_some_and(|most| most.contains(&UNLIMITED)) {
            return wrong("a dimension has no end");
        }
        let scale = |m: &HdfMessage| matches!(m, HdfMessage::Attribute(a) if a.name == "CLASS");
        if messages.iter().any(scale) && path.rsplit('/').next().unwrap_or_default().len() > NAME {
            return wrong("the name of a dimension is too long");
        }
        let (count, size) = (shape.num_elements()?, size(kind)?);
        let implausible = || {
            let claim = format!("claims {count} values, more than the file can hold");
            Error::InvalidData(format!("variable `{path}` {claim}"))
        };
        spend(&mut self.values, count.checked_mul(size)).ok_or_else(implausible)?;
        self.chunks(file, &shape.dims, layout, size)?.then_some(()).ok_or_else(implausible)
    }

    /// Checks the chunks of a variable of such a shape, with elements of `size` bytes; whether the file
    /// can hold them.
    fn chunks(
        &mut self,
        file: &dyn Storage,
        shape: &[u64],
        layout: &DataLayout,
        size: u64,
    ) -> Result<bool> {
        let DataLayout::Chunked { address, dims, element_size, chunk_indexing } = layout else {
            return Ok(true);
        };
        if chunk_indexing.is_some() || dims.len() != shape.len() || dims.contains(&0) {
            return wrong("the chunks of a variable are not kept as netCDF does");
        }
        let grid = shape.iter().zip(dims).map(|(all, each)| all.div_ceil(u64::from(*each)));
        let grid = grid.fold(1_u64, u64::saturating_mul);
        let chunk = dims.iter().map(|each| u64::from(*each)).fold(1_u64, u64::saturating_mul);
        let chunk = chunk.saturating_mul(size.max(u64::from(*element_size)));
        let few = spend(&mut self.chunks, Some(grid)).is_some();
        if !few || spend(&mut self.padded, grid.checked_mul(chunk)).is_none() {
            return Ok(false);
        }
        // Each entry is unpacked, also where several are for one place.
        let rank = Some(dims.len() as u32);
        let entries =
            collect_btree_v1_leaves_storage(file, *address, WIDTH, WIDTH, rank, dims, None)?;
        if entries.len() as u64 > grid {
            return wrong("a variable has more chunks than places for them");
        }
        for (key, _) in entries {
            let BTreeV1Key::RawData { chunk_size, .. } = key else {
                return wrong("the chunks of a variable are not kept as netCDF does");
            };
            let bytes = if chunk_size == 0 { chunk } else { u64::from(chunk_size) };
            if spend(&mut self.packed, Some(bytes)).is_none() {
                return wrong("chunks share their bytes");
            }
        }
        Ok(true)
    }
}

/// The bytes that an element of a variable costs, by what the reader takes it for.
fn size(kind: &DatatypeMessage) -> Result<u64> {
    match &kind.datatype {
        Datatype::FixedPoint { size, .. } | Datatype::FloatingPoint { size, .. } => {
            Ok(u64::from(kind.size.max(u32::from(*size))))
        }
        Datatype::String { size: StringSize::Variable, .. }
        | Datatype::VarLen { kind: VarLenKind::String, .. } => Ok(TEXT),
        // Texts of one length take many times their bytes where they are short.
        _ => wrong("the values of a variable are neither numbers nor texts as netCDF keeps them"),
    }
}

/// The only message of a kind, if there is any: of several, another might be believed than was judged.
pub(super) fn one<'a, T>(
    messages: &'a [HdfMessage],
    kind: impl Fn(&'a HdfMessage) -> Option<T>,
) -> Result<Option<T>> {
    let mut all = messages.iter().filter_map(kind);
    let first = all.next();
    match all.next() {
        Some(_) => wrong("an object header says the same twice"),
        None => Ok(first),
    }
}

fn spend(left: &mut u64, cost: Option<u64>) -> Option<()> {
    *left = left.checked_sub(cost?)?;
    Some(())
}

pub(super) fn wrong<T>(problem: &str) -> Result<T> {
    Err(Error::InvalidData(problem.into()))
}

#[cfg(test)]
mod tests {
    use hdf5_reader::ByteOrder;
    use hdf5_reader::messages::dataspace::{DataspaceMessage, DataspaceType};
    use hdf5_reader::messages::datatype::{StringEncoding, StringPadding};
    use hdf5_reader::messages::filter_pipeline::{FilterDescription, FilterPipelineMessage};
    use hdf5_reader::messages::layout::{ChunkIndexing, DataLayoutMessage};
    use netcdf_reader::BytesStorage;

    use super::*;

    fn space(dims: &[u64]) -> DataspaceMessage {
        let dataspace_type = DataspaceType::Simple;
        DataspaceMessage {
            rank: dims.len() as u8,
            dims: dims.into(),
            max_dims: None,
            dataspace_type,
        }
    }

    /// A variable of numbers of 8 bytes.
    fn variable(dims: &[u64], layout: DataLayout, filters: &[u16]) -> Vec<HdfMessage> {
        let datatype = Datatype::FloatingPoint { size: 8, byte_order: ByteOrder::LittleEndian };
        let one = |&id: &u16| FilterDescription { id, name: None, client_data: Vec::new() };
        let filters = filters.iter().map(one).collect();
        vec![
            HdfMessage::Dataspace(space(dims)),
            HdfMessage::Datatype(DatatypeMessage { datatype, size: 8 }),
            HdfMessage::DataLayout(DataLayoutMessage { layout }),
            HdfMessage::FilterPipeline(FilterPipelineMessage { filters }),
        ]
    }

    fn chunked(dims: &[u32], chunk_indexing: Option<ChunkIndexing>) -> DataLayout {
        let (address, dims) = (u64::MAX, dims.to_vec());
        DataLayout::Chunked { address, dims, element_size: 8, chunk_indexing }
    }

    const PLAIN: DataLayout = DataLayout::Contiguous { address: u64::MAX, size: 0 };

    /// The judgement on variables of a file of 1000 bytes, one after the other.
    fn judged(all: &[Vec<HdfMessage>]) -> std::result::Result<(), String> {
        let file = BytesStorage::from_owner(vec![0; 1000]);
        let mut costs = Costs::new(1000);
        let mut each = |one: &Vec<HdfMessage>| costs.variable(&file, "g/v", one);
        all.iter().try_for_each(&mut each).map_err(|error| error.to_string())
    }

    #[test]
    fn packed_as_netcdf_packs() {
        let packed = |filters: &[u16]| judged(&[variable(&[10], chunked(&[10], None), filters)]);
        assert!(packed(&[]).is_ok() && packed(&[2, 1]).is_ok() && packed(&[3, 2, 1]).is_ok());
        for filters in [&[4, 1][..], &[1, 1], &[32_004], &[2, 1, 2]] {
            assert!(packed(filters).unwrap_err().contains("packed in a way"), "{filters:?}");
        }
    }

    #[test]
    fn all_values_together_fit() {
        // 5 bytes per byte, and 64 KiB.
        let half = variable(&[4000], PLAIN, &[]);
        assert!(judged(&[half.clone(), half.clone()]).is_ok());
        let problem = judged(&[half.clone(), half.clone(), half]).unwrap_err();
        assert!(problem.contains("`g/v` claims 4000 values, more than the file"), "{problem}");
        assert!(judged(&[variable(&[u64::MAX, 2], PLAIN, &[])]).is_err());
        assert!(judged(&[variable(&[1; 6], PLAIN, &[])]).is_ok());
        assert!(judged(&[variable(&[1; 7], PLAIN, &[])]).unwrap_err().contains("more than 6"));
        let mut costs = Costs::new(1000);
        assert!((0..128).all(|_| costs.object().is_ok()) && costs.object().is_err());
        let mut endless = variable(&[0], PLAIN, &[]);
        let max_dims = Some(vec![UNLIMITED]);
        endless[0] = HdfMessage::Dataspace(DataspaceMessage { max_dims, ..space(&[0]) });
        assert!(judged(&[endless]).unwrap_err().contains("has no end"));
    }

    #[test]
    fn texts_cost_more_than_they_say() {
        let judge = |size: StringSize, count: u64| {
            let (encoding, padding) = (StringEncoding::Utf8, StringPadding::NullTerminate);
            let datatype = Datatype::String { size, encoding, padding };
            let mut one = variable(&[count], PLAIN, &[]);
            one[1] = HdfMessage::Datatype(DatatypeMessage { datatype, size: 0 });
            judged(&[one])
        };
        assert!(judge(StringSize::Variable, 1000).is_ok());
        assert!(judge(StringSize::Variable, 1200).unwrap_err().contains("more than the file"));
        assert!(judge(StringSize::Fixed(2), 1).unwrap_err().contains("as netCDF keeps them"));
    }

    #[test]
    fn chunks_are_few_and_not_much_larger_than_what_they_hold() {
        let judge =
            |dims: &[u64], chunk: &[u32]| judged(&[variable(dims, chunked(chunk, None), &[])]);
        assert!(judge(&[1000], &[600]).is_ok() && judge(&[1000], &[1]).is_ok());
        // One number in each, and most of a chunk beyond the last.
        assert!(judge(&[2000], &[1]).is_err() && judge(&[100, 1], &[1, 1000]).is_err());
        assert!(judge(&[10], &[0]).is_err() && judge(&[10], &[10, 1]).is_err());
        for index in [ChunkIndexing::Implicit, ChunkIndexing::BTreeV2] {
            let problem = judged(&[variable(&[10], chunked(&[10], Some(index)), &[])]).unwrap_err();
            assert!(problem.contains("not kept as netCDF does"), "{problem}");
        }
    }

    /// A leaf with entries for places of a variable with one dimension.
    #[test]
    fn a_place_has_one_chunk() {
        let leaf = |entries: u16, bytes: u8| {
            let mut node = b"TREE\x01\0".to_vec();
            node.extend(entries.to_le_bytes());
            node.extend([0xff; 16]);
            for at in 0..=u64::from(entries) {
                // Its bytes, the mask of filters, the place, that in an element, and the address.
                node.extend([bytes, 0, 0, 0, 0, 0, 0, 0]);
                node.extend(at.min(1).to_le_bytes());
                node.extend([0; 8]);
                node.extend([0; 8]);
            }
            node
        };
        let judge = |entries: u16, bytes: u8| {
            let file = BytesStorage::from_owner(leaf(entries, bytes));
            let layout = match chunked(&[1], None) {
                DataLayout::Chunked { dims, element_size, chunk_indexing, .. } => {
                    DataLayout::Chunked { address: 0, dims, element_size, chunk_indexing }
                }
                other => other,
            };
            Costs::new(300).variable(&file, "g/v", &variable(&[2], layout, &[]))
        };
        assert!(judge(2, 150).is_ok());
        assert!(judge(3, 8).unwrap_err().to_string().contains("more chunks than places"));
        assert!(judge(2, 151).unwrap_err().to_string().contains("share their bytes"));
    }

    #[test]
    fn what_is_said_twice_is_refused() {
        let mut twice = variable(&[10], PLAIN, &[]);
        twice.push(HdfMessage::Dataspace(space(&[1])));
        assert!(judged(&[twice]).unwrap_err().contains("says the same twice"));
        assert!(judged(&[Vec::new()]).unwrap_err().contains("lacks its type"));
    }

    fn text(name: &str, dims: &[u64], size: StringSize, raw_data: Vec<u8>) -> HdfMessage {
        let (encoding, padding) = (StringEncoding::Utf8, StringPadding::NullTerminate);
        let datatype = Datatype::String { size, encoding, padding };
        let (name, dataspace) = (name.to_string(), space(dims));
        HdfMessage::Attribute(AttributeMessage { name, datatype, dataspace, raw_data })
    }

    /// A text of varying length, in a heap.
    fn heaped(name: &str, heap: u64, number: u32) -> HdfMessage {
        let raw = [&[5, 0, 0, 0][..], &heap.to_le_bytes(), &number.to_le_bytes()].concat();
        text(name, &[], StringSize::Variable, raw)
    }

    #[test]
    fn a_text_belongs_to_one_attribute() {
        let judge = |all: &[HdfMessage]| {
            Costs::new(1000).attributes(all).map_err(|error| error.to_string())
        };
        let fixed = |name| text(name, &[1], StringSize::Fixed(8), b"gpfuse  ".to_vec());
        let (one, other, none) =
            (heaped("a", 640, 1), heaped("b", 640, 2), heaped("c", u64::MAX, 0));
        let all = [one.clone(), other, none.clone(), none, fixed("d"), fixed("NAME")];
        assert!(judge(&all).is_ok());
        assert!(judge(&[one.clone(), one]).unwrap_err().contains("a text that is another's"));
        let two = text("a", &[2], StringSize::Fixed(8), vec![0; 16]);
        assert!(judge(&[two]).unwrap_err().contains("more than one text"));
        let long = text("NAME", &[], StringSize::Fixed(300), vec![0; 300]);
        assert!(judge(&[long]).unwrap_err().contains("is too long"));
        assert!(judge(&[heaped("NAME", 640, 1)]).unwrap_err().contains("is too long"));
    }
}
