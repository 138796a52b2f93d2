//! What the decoder of a Parquet footer takes each field for, and the memory it keeps for it.
//!
//! It goes by the number of a field and does not look at its type.

use std::mem::size_of;

use parquet::basic::{ColumnOrder, LogicalType};
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData, SortingColumn};
use parquet::geospatial::statistics::GeospatialStatistics;
use parquet::schema::types::{ColumnDescriptor, Type};

/// A pointer to a part that is shared, and the two counts beside that part.
const SHARED: usize = 3 * size_of::<usize>();

/// A column: its description, pointers to it, the column of the table it is in, and its name.
pub(super) const COLUMN: usize =
    size_of::<ColumnDescriptor>() + SHARED + 2 * size_of::<usize>() + size_of::<String>();

/// What every row group keeps for a column.
pub(super) const CHUNK: usize = size_of::<ColumnChunkMetaData>();

/// A structure in a footer.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Structure {
    Footer,
    Element,
    Logical,
    Decimal,
    Time,
    Unit,
    Integer,
    Variant,
    Geometry,
    RowGroup,
    Sorting,
    Chunk,
    Column,
    Statistics,
    Encodings,
    Sizes,
    Geospatial,
    Bounds,
    KeyValue,
    Order,
    /// Whose fields the decoder passes over.
    Other,
}

/// A value in a footer.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Flag,
    Byte,
    Number,
    Double,
    Text,
    Part(Structure),
    Numbers,
    Parts(Structure),
}

impl Value {
    /// Whether a field of this type is read alike by its type and by its number.
    pub(super) fn is(self, kind: u8) -> bool {
        match self {
            Self::Flag => matches!(kind, 1 | 2),
            Self::Byte => kind == 3,
            Self::Number => matches!(kind, 4..=6),
            Self::Double => kind == 7,
            Self::Text => kind == 8,
            Self::Numbers | Self::Parts(_) => kind == 9,
            Self::Part(_) => kind == 12,
        }
    }
}

impl Structure {
    /// What the decoder takes field `id` for, or nothing if it passes over it by its type.
    pub(super) fn field(self, id: i16) -> Option<Value> {
        use Value::{Byte, Double, Flag, Number, Numbers, Part, Parts, Text};
        Some(match (self, id) {
            (Self::Footer, 1 | 3) => Number,
            (Self::Footer, 2) => Parts(Self::Element),
            (Self::Footer, 4) => Parts(Self::RowGroup),
            (Self::Footer, 5) => Parts(Self::KeyValue),
            (Self::Footer, 6) => Text,
            (Self::Footer, 7) => Parts(Self::Order),
            (Self::Element, 1..=3 | 5..=9) => Number,
            (Self::Element, 4) => Text,
            (Self::Element, 10) => Part(Self::Logical),
            (Self::Logical, 5) => Part(Self::Decimal),
            (Self::Logical, 7 | 8) => Part(Self::Time),
            (Self::Logical, 10) => Part(Self::Integer),
            (Self::Logical, 16) => Part(Self::Variant),
            (Self::Logical, 17 | 18) => Part(Self::Geometry),
            (Self::Logical, 1..=4 | 6 | 11..=15 | 19) => Part(Self::Other),
            (Self::Decimal, 1 | 2) => Number,
            (Self::Time, 1) => Flag,
            (Self::Time, 2) => Part(Self::Unit),
            (Self::Integer | Self::Variant, 1) => Byte,
            (Self::Integer, 2) => Flag,
            (Self::Geometry, 1) => Text,
            (Self::Geometry, 2) => Number,
            (Self::Unit | Self::Order, 1..=3) => Part(Self::Other),
            (Self::RowGroup, 1) => Parts(Self::Chunk),
            (Self::RowGroup, 2 | 3 | 5 | 7) => Number,
            (Self::RowGroup, 4) => Parts(Self::Sorting),
            (Self::Sorting, 1) => Number,
            (Self::Sorting, 2 | 3) => Flag,
            (Self::Chunk, 1) => Text,
            (Self::Chunk, 2 | 4..=7) => Number,
            (Self::Chunk, 3) => Part(Self::Column),
            (Self::Column, 1 | 4..=7 | 9..=11 | 14 | 15) => Number,
            (Self::Column, 2) => Numbers,
            (Self::Column, 12) => Part(Self::Statistics),
            (Self::Column, 13) => Parts(Self::Encodings),
            (Self::Column, 16) => Part(Self::Sizes),
            (Self::Column, 17) => Part(Self::Geospatial),
            (Self::Statistics, 1 | 2 | 5 | 6) => Text,
            (Self::Statistics, 3 | 4 | 9) => Number,
            (Self::Statistics, 7 | 8) => Flag,
            (Self::Encodings, 1..=3) => Number,
            (Self::Sizes, 1) => Number,
            (Self::Sizes, 2 | 3) => Numbers,
            (Self::Geospatial, 1) => Part(Self::Bounds),
            (Self::Geospatial, 2) => Numbers,
            (Self::Bounds, 1..=8) => Double,
            (Self::KeyValue, 1 | 2) => Text,
            _ => return None,
        })
    }

    /// The memory that the decoder keeps for one, beside that of its texts and lists.
    pub(super) fn size(self) -> usize {
        match self {
            // As it is decoded, and as a part of the schema.
            Self::Element => size_of::<LogicalType>() + 80 + size_of::<Type>() + SHARED,
            Self::RowGroup => size_of::<RowGroupMetaData>(),
            Self::Sorting => size_of::<SortingColumn>(),
            Self::Geospatial => size_of::<GeospatialStatistics>(),
            Self::KeyValue => size_of::<KeyValue>(),
            Self::Order => size_of::<ColumnOrder>(),
            _ => 0,
        }
    }
}
