//! What stands in a column of a table, before it is known what becomes of it.

use std::collections::HashMap;

/// What stands for no value, beside NaN; in any case.
const NOTHING: [&str; 5] = ["", "na", "n/a", "null", "<na>"];

/// Signs around numbers of money and shares, which a program did not write.
const AROUND: [char; 5] = ['%', '$', '€', '£', ' '];

/// The cells of a column: numbers, and words where there are none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells {
    /// NaN where there is a word, or nothing.
    numbers: Vec<f64>,
    /// Rows with a word, and its place in `texts`.
    words: Vec<(usize, usize)>,
    texts: Vec<String>,
    places: HashMap<String, usize>,
    category: bool,
}

/// What stands in a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'a> {
    Number(f64),
    Word(&'a str),
    Missing,
}

impl Cells {
    /// A column of numbers, NaN where one is missing.
    pub fn numbers(numbers: Vec<f64>) -> Cells {
        Cells { numbers, ..Cells::default() }
    }

    /// The same, where numbers are names of levels as words are.
    pub fn of_category(self) -> Cells {
        Cells { category: true, ..self }
    }

    /// One more cell: a number, nothing, or a word.
    pub fn push(&mut self, text: &str) {
        let text = text.trim();
        let nothing = || NOTHING.iter().any(|name| text.eq_ignore_ascii_case(name));
        match text.parse::<f64>() {
            Ok(number) if !number.is_infinite() => self.push_number(number),
            Err(_) if nothing() => self.push_number(f64::NAN),
            _ => self.push_word(text),
        }
    }

    /// One more number; NaN is none.
    pub fn push_number(&mut self, number: f64) {
        self.numbers.push(number);
    }

    fn push_word(&mut self, text: &str) {
        let place = self.places.get(text).copied().unwrap_or_else(|| {
            self.places.insert(text.to_owned(), self.texts.len());
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        });
        self.words.push((self.numbers.len(), place));
        self.numbers.push(f64::NAN);
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// How many cells hold nothing.
    pub fn missing(&self) -> usize {
        self.numbers.iter().filter(|v| v.is_nan()).count() - self.words.len()
    }

    /// The cells from the first to the last.
    pub(super) fn iter(&self) -> impl Iterator<Item = Cell<'_>> {
        let mut words = self.words.iter().peekable();
        self.numbers.iter().enumerate().map(move |(row, number)| {
            match words.next_if(|(at, _)| *at == row) {
                Some((_, place)) => Cell::Word(&self.texts[*place]),
                None if number.is_nan() => Cell::Missing,
                None => Cell::Number(*number),
            }
        })
    }

    /// Whether this is a category: it was said to be one, or more than half of what it holds is words that do not
    /// look like numbers. Where fewer are, they are more likely faults.
    pub(super) fn is_category(&self) -> bool {
        let odd = |(_, place): &&(usize, usize)| !like_number(&self.texts[*place]);
        let (odd, held) = (self.words.iter().filter(odd).count(), self.len() - self.missing());
        self.category || (2 * odd > held && !self.says_truth())
    }

    /// Whether it was said to be one.
    pub(super) fn said_category(&self) -> bool {
        self.category
    }

    /// Whether all words are true or false.
    fn says_truth(&self) -> bool {
        self.texts.iter().all(|text| truth(text).is_some())
    }

    /// The first word that makes no number, where not all are true or false.
    pub(super) fn first_fault(&self) -> Option<(usize, &str)> {
        let first = self.words.first().filter(|_| !self.says_truth())?;
        Some((first.0, &self.texts[first.1]))
    }
}

/// A number as the name of a level: the same for 1, 1.0 and 01.
pub(super) fn name(number: f64) -> String {
    (number + 0.0).to_string()
}

/// A word that stands for a number.
pub(super) fn truth(text: &str) -> Option<f64> {
    match (text.eq_ignore_ascii_case("true"), text.eq_ignore_ascii_case("false")) {
        (true, _) => Some(1.0),
        (_, true) => Some(0.0),
        _ => None,
    }
}

/// Whether a word is a number that was written in another way: infinite, with a comma or with a sign of money.
fn like_number(text: &str) -> bool {
    text.trim_matches(AROUND).replace(',', ".").parse::<f64>().is_ok()
}
