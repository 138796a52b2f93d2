//! Scratch memory of a Cholesky decomposition, one for each copy of a density.

use std::fmt;

use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::cholesky_in_place_scratch;

/// Room for the factor of a matrix of `size` rows.
pub(super) struct Memory {
    size: usize,
    buffer: MemBuffer,
}

impl Memory {
    pub(super) fn new(size: usize) -> Memory {
        let need = cholesky_in_place_scratch::<f64>(size, Par::Seq, Default::default());
        Memory { size, buffer: MemBuffer::new(need) }
    }

    pub(super) fn stack(&mut self) -> &mut MemStack {
        MemStack::new(&mut self.buffer)
    }
}

// The contents are scratch: a clone gets memory of its own.
impl Clone for Memory {
    fn clone(&self) -> Memory {
        Memory::new(self.size)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("size", &self.size).finish_non_exhaustive()
    }
}
