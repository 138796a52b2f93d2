//! The text of a table on its way to the reader of its rows.

use std::io::{self, Read};

/// So many separators are read in a row, with those in texts: before the row is seen, the reader
/// keeps a number for each cell, which is more than the cell itself takes.
pub(super) const SEPARATORS: usize = 30_000;

/// Turns every line ending into a single newline and ends the last line, without which lines
/// cannot be counted. A row of too many separators ends the text.
pub(super) struct Lines<'a> {
    input: &'a mut dyn Read,
    after_cr: bool,
    last: u8,
    separator: u8,
    /// Separators since the row began.
    separators: usize,
    ended: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: &'a mut dyn Read, separator: u8) -> Self {
        Self { input, after_cr: false, last: b'\n', separator, separators: 0, ended: false }
    }

    /// A row begins.
    pub(super) fn begin(&mut self) {
        self.separators = 0;
    }

    /// How many separators the row had that ended the text.
    pub(super) fn too_many(&self) -> Option<usize> {
        self.ended.then_some(self.separators)
    }
}

impl Read for Lines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        // The row is not complete, or no more would be asked for.
        self.ended |= self.separators > SEPARATORS;
        // No more than one too many.
        let room = buffer.len().min(1 + SEPARATORS.saturating_sub(self.separators));
        loop {
            let got = if self.ended { 0 } else { self.input.read(&mut buffer[..room])? };
            if got == 0 {
                if self.last == b'\n' {
                    return Ok(0);
                }
                self.last = b'\n';
                buffer[0] = b'\n';
                return Ok(1);
            }
            let mut kept = 0;
            for i in 0..got {
                let byte = buffer[i];
                let second_half = byte == b'\n' && self.after_cr;
                self.after_cr = byte == b'\r';
                if !second_half {
                    buffer[kept] = if byte == b'\r' { b'\n' } else { byte };
                    kept += 1;
                }
            }
            if kept > 0 {
                self.last = buffer[kept - 1];
                self.separators += buffer[..kept].iter().filter(|&&b| b == self.separator).count();
                return Ok(kept);
            }
        }
    }
}
