//! What must hold for any bytes that gpfuse reads: shared by the fuzzing targets and by the test
//! that runs their corpora.
//!
//! Each check reads the bytes as a user's file would be read. The outcome is something that can be
//! used and is the same after it was written, or an error of one line; never a panic or a hang.
#![allow(dead_code, unreachable_pub, unused_imports, clippy::unwrap_used, clippy::expect_used)]

mod csv;
mod edits;
mod ledger;
mod model_file;
mod parquet;
mod place;
mod settings;

pub use csv::csv;
pub use ledger::ledger;
pub use model_file::model_file;
pub use parquet::parquet;
pub use settings::settings;

/// An error's text is one line and says something; nothing in it moves the cursor.
fn one_line(error: &impl std::fmt::Display) {
    let text = error.to_string();
    assert!(text.lines().count() == 1, "no single line: {text}");
    assert!(!text.contains(char::is_control), "a control character: {text:?}");
}
