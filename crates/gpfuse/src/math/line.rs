//! Numbers that begin at a cache line.

use std::ops::{Deref, DerefMut};

/// An array that begins at a cache line: a vector register is then filled by one access, where
/// memory from the allocator, aligned to sixteen bytes, would make most of them straddle two.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Line<const N: usize>([f64; N]);

impl<const N: usize> Line<N> {
    /// The same number everywhere.
    #[inline(always)]
    pub const fn splat(v: f64) -> Self {
        Line([v; N])
    }
}

impl<const N: usize> From<[f64; N]> for Line<N> {
    fn from(numbers: [f64; N]) -> Self {
        Line(numbers)
    }
}

impl<const N: usize> Deref for Line<N> {
    type Target = [f64; N];

    #[inline(always)]
    fn deref(&self) -> &[f64; N] {
        &self.0
    }
}

impl<const N: usize> DerefMut for Line<N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64; N] {
        &mut self.0
    }
}
