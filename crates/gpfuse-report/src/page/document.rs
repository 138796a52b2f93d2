//! What a page is made of: sections of words, tables, figures and code, without any HTML.

use super::html::Html;
use super::number;

/// A whole page.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// The line below it.
    pub under: String,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// A part of a page with a heading.
#[derive(Debug, Clone)]
pub struct Section {
    /// What links to it.
    pub id: &'static str,
    /// Its heading.
    pub heading: String,
    /// What it holds, in order.
    pub blocks: Vec<Block>,
}

impl Section {
    /// A section without content yet.
    pub fn new(id: &'static str, heading: &str) -> Section {
        Section { id, heading: heading.into(), blocks: Vec::new() }
    }

    /// With one thing more.
    pub fn with(mut self, block: Block) -> Section {
        self.blocks.push(block);
        self
    }

    /// With more things.
    pub fn with_all(mut self, blocks: impl IntoIterator<Item = Block>) -> Section {
        self.blocks.extend(blocks);
        self
    }
}

/// One thing in a section. In texts, what stands between backticks is shown as code.
#[derive(Debug, Clone)]
pub enum Block {
    /// A paragraph.
    Text {
        /// Its words.
        text: String,
    },
    /// A heading below that of the section.
    Heading {
        /// Its words.
        text: String,
    },
    /// A list of sentences.
    List {
        /// The sentences.
        items: Vec<String>,
    },
    /// Lines to copy.
    Code {
        /// What they are, for those who do not see them.
        label: String,
        /// The lines.
        text: String,
    },
    /// Claims, and what the data say about each.
    Verdicts {
        /// The claims.
        claims: Vec<Claim>,
    },
    /// A drawing.
    Figure(Figure),
    /// Rows and columns.
    Table(Table),
}

impl Block {
    /// A paragraph.
    pub fn text(text: impl Into<String>) -> Block {
        Block::Text { text: text.into() }
    }

    /// A heading.
    pub fn heading(text: impl Into<String>) -> Block {
        Block::Heading { text: text.into() }
    }

    /// Lines to copy.
    pub fn code(label: &str, text: impl Into<String>) -> Block {
        Block::Code { label: label.into(), text: text.into() }
    }
}

/// A claim and what the data say about it.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The claim.
    pub says: String,
    /// What was found, for each basis.
    pub found: Vec<Found>,
}

/// What the data say about a claim.
#[derive(Debug, Clone)]
pub struct Found {
    /// On which basis.
    pub basis: String,
    /// `seen`, `not seen` or `unclear`.
    pub verdict: &'static str,
    /// The same as the name of a style.
    pub class: &'static str,
    /// The tests behind it, in words.
    pub tests: Vec<String>,
    /// The figure behind it.
    pub figure: Option<String>,
    /// The name of that figure.
    pub figure_name: Option<String>,
}

/// A drawing on the page.
#[derive(Debug, Clone)]
pub struct Figure {
    /// What links to it, and the stem of its files.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it shows.
    pub caption: String,
    /// The drawing, made safe to stand inside a page.
    pub svg: Html,
}

/// Rows and columns that can be sorted.
#[derive(Debug, Clone)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Whether it is so long that it scrolls in its own box and is left out of print.
    pub long: bool,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows; the first cell of each is its name.
    pub rows: Vec<Vec<Cell>>,
}

/// The head of a column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The unit of its numbers.
    pub unit: Option<String>,
    /// Whether it holds numbers.
    pub number: bool,
}

impl Column {
    /// Of words.
    pub fn words(name: &str) -> Column {
        Column { name: name.into(), unit: None, number: false }
    }

    /// Of numbers without a unit.
    pub fn number(name: &str) -> Column {
        Column { name: name.into(), unit: None, number: true }
    }

    /// Of numbers with a unit.
    pub fn unit(name: &str, unit: &str) -> Column {
        Column { name: name.into(), unit: Some(unit.into()), number: true }
    }
}

/// One cell of a table.
#[derive(Debug, Clone)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// The error that is shown beside it.
    pub error: Option<String>,
    /// What it is sorted by, where that is a number.
    pub value: Option<f64>,
    /// The style of a verdict, where it is one: `seen`, `not-seen` or `unclear`.
    pub class: Option<&'static str>,
}

impl Cell {
    /// Words.
    pub fn words(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), error: None, value: None, class: None }
    }

    /// A verdict in its style.
    pub fn verdict(text: impl Into<String>, class: &'static str) -> Cell {
        Cell { class: Some(class), ..Cell::words(text) }
    }

    /// A whole number.
    pub fn count(n: usize) -> Cell {
        Cell { value: Some(n as f64), ..Cell::words(n.to_string()) }
    }

    /// A number with so many decimals; a dash where there is none.
    pub fn fixed(value: Option<f64>, digits: usize) -> Cell {
        match value.filter(|v| v.is_finite()) {
            Some(v) => Cell { value: Some(v), ..Cell::words(number::fixed(v, digits)) },
            None => Cell::words(number::NONE),
        }
    }

    /// A number and its error, with the digits that the error supports.
    pub fn measured(value: Option<f64>, error: Option<f64>) -> Cell {
        let error = error.filter(|e| e.is_finite());
        match value.filter(|v| v.is_finite()) {
            Some(v) => Cell {
                error: error.map(number::error),
                value: Some(v),
                ..Cell::words(number::supported(v, error))
            },
            None => Cell::words(number::NONE),
        }
    }

    /// A share, in per cent.
    pub fn share(part: usize, of: usize) -> Cell {
        match of {
            0 => Cell::words(number::NONE),
            _ => Cell::fixed(Some(100.0 * part as f64 / of as f64), 0),
        }
    }
}
