//! Vector mathematics: branch-free scalar kernels that the compiler turns into vector code; and the
//! normal quantile [`ndtri`].
//!
//! Each kernel is generic over `FMA`: with it, products and sums are fused by one machine
//! instruction; without it, they stay apart, because `f64::mul_add` is a slow library call on
//! a machine that lacks the instruction. The loops that call them are compiled once per
//! instruction set by [`simd`].

pub mod batched;
pub(crate) mod elementary;
mod line;
mod ndtri;
pub(crate) mod normal;
pub mod simd;
pub(crate) mod turns;
pub(crate) mod wide;

pub(crate) use elementary::{exp, fma, ln};
pub use line::Line;
pub use ndtri::ndtri;

/// `ln(2 pi) / 2`, the constant of a normal log density.
pub(crate) const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_7;

/// Rows are taken in blocks of this many: a multiple of every vector width, and small enough
/// that a block's features stay in cache between the forward and the adjoint pass.
pub const ROWS: usize = 64;

/// One column of a block of rows.
pub type Lanes = Line<ROWS>;

/// Sums run in this many interleaved partial sums, whatever the instruction set, so that the
/// order of additions never depends on the machine's vector width.
pub(crate) const WIDTH: usize = 8;

/// Partial sums of one quantity.
pub(crate) type Partial = [f64; WIDTH];

/// Partial sums in long arrays.
pub(crate) type Sums = Line<WIDTH>;

/// The total of partial sums, by a fixed tree.
#[inline(always)]
pub(crate) fn total(p: &Partial) -> f64 {
    ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]))
}
