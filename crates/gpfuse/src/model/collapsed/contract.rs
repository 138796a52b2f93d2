//! Sums of products over the rows and columns of two matrices at once.

use crate::math::simd::vectorised;
use crate::math::wide::{Wide, group, group_mut};
use crate::math::{Lanes, ROWS, WIDTH, total};

vectorised! {
    /// The sums of `a b` over each column of (columns, blocks) go into `by_column`, and those over
    /// each row into every `step`-th of `by_row`, which has one for each block.
    pub(super) fn contract = contract_kernel<wide>(
        a: &[[f64; ROWS]], b: &[[f64; ROWS]], by_column: &mut [f64],
        by_row: &mut [Lanes], step: usize,
    );
}

#[inline(always)]
fn contract_kernel<V: Wide>(
    a: &[[f64; ROWS]],
    b: &[[f64; ROWS]],
    by_column: &mut [f64],
    by_row: &mut [Lanes],
    step: usize,
) {
    let blocks = a.len() / by_column.len().max(1);
    for out in by_row.iter_mut().step_by(step) {
        *out = Lanes::splat(0.0);
    }
    for (j, by_column) in by_column.iter_mut().enumerate() {
        let range = j * blocks..(j + 1) * blocks;
        let (a, b) = (&a[range.clone()], &b[range]);
        let mut column = V::splat(0.0);
        for (t, out) in by_row.iter_mut().step_by(step).enumerate() {
            let (a, b) = (a[t].as_chunks::<WIDTH>().0, b[t].as_chunks::<WIDTH>().0);
            for i in 0..ROWS / WIDTH {
                let product = V::load(&a[i]).mul(V::load(&b[i]));
                column = column.add(product);
                V::load(group(out, i)).add(product).store(group_mut(out, i));
            }
        }
        let mut sums = [0.0; WIDTH];
        column.store(&mut sums);
        *by_column = total(&sums);
    }
}
