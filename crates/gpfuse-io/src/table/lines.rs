//! The text of a table on its way to the reader of its rows.

use std::io::{self, Read};

/// Turns every line ending into a single newline and ends the last line, without which lines
/// cannot be counted.
pub(super) struct Lines<'a> {
    input: &'a mut dyn Read,
    after_cr: bool,
    last: u8,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: &'a mut dyn Read) -> Self {
        Self { input, after_cr: false, last: b'\n' }
    }
}

impl Read for Lines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let got = self.input.read(buffer)?;
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
                return Ok(kept);
            }
        }
    }
}
