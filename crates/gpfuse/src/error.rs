//! What can go wrong in the library, as data: each error names the place and says what to do.

use crate::settings::{Message, Style};

/// An error of the library. Every message names the thing at fault and the cure, in one line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A setting has a value that cannot be used.
    #[error("setting `{name}`: {}", in_one_line(&problem.to_string()))]
    Setting {
        /// The setting's name, as in the settings file.
        name: &'static str,
        /// What is wrong with its value, and what would be right.
        problem: Message,
    },
    /// The data cannot be used.
    #[error("data: {}", in_one_line(.0))]
    Data(String),
    /// An array does not have the shape that the model needs.
    #[error("{}: expected {expected}, found {found}", in_one_line(what))]
    Shape {
        /// Which array.
        what: String,
        /// The shape or length that is needed.
        expected: String,
        /// The shape or length that was given.
        found: String,
    },
    /// A thread of the library failed: a fault of the program, not of the user.
    #[error("a worker thread failed: {}", in_one_line(.0))]
    Worker(String),
    /// There is too little memory.
    #[error("sampling: {}", in_one_line(.0))]
    Memory(String),
    /// Inference could not start or had to stop.
    #[error("sampling: {}", in_one_line(&.0.to_string()))]
    Sampling(Message),
}

impl Error {
    /// A setting that cannot be used.
    pub fn setting(name: &'static str, problem: impl Into<Message>) -> Self {
        Error::Setting { name, problem: problem.into() }
    }

    /// The message with its advice in the words of a front end.
    pub fn render(&self, style: Style) -> String {
        match self {
            Error::Setting { name, problem } => {
                let (name, problem) = (style.name(name), problem.render(style));
                format!("setting `{name}`: {}", in_one_line(&problem))
            }
            Error::Sampling(problem) => {
                format!("sampling: {}", in_one_line(&problem.render(style)))
            }
            other => other.to_string(),
        }
    }
}

/// A message in one line: names of columns and experts stand in it, which may hold anything, so that
/// what would end the line or move the cursor is spelt out.
pub fn in_one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() {
            true => out.extend(c.escape_debug()),
            false => out.push(c),
        }
    }
    out
}

/// A value or name as it is shown in a message: one line, and not long.
pub fn show(text: &str) -> String {
    shorten(text, 40).chars().flat_map(char::escape_debug).collect()
}

/// The first `longest` characters of a text, and a sign that there are more.
pub fn shorten(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Refuse a setting below `low` or above `high`.
pub(crate) fn within(name: &'static str, value: usize, low: usize, high: usize) -> Result<()> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Error::setting(name, format!("{value} is out of range: use {low} to {high}")))
}

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line() {
        let error = Error::Data("experts `r\n\u{1b}[2Kge`: é 'q'".into());
        assert_eq!(error.to_string(), r"data: experts `r\n\u{1b}[2Kge`: é 'q'");
        let shape = Error::Shape { what: "a\tb".into(), expected: "2".into(), found: "3".into() };
        assert_eq!(shape.to_string(), r"a\tb: expected 2, found 3");
    }
}
