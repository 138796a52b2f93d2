//! Batched small Cholesky factors beside faer's factor of one large matrix, on one core.
//!
//! `factors`: gigaflops of each instruction set, best of many, taken by turns with faer in one run; a
//! factor of m rows counts `m^3 / 3` operations. Then microseconds of all steps of a local GP.

use std::time::Instant;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::{Mat, Par};
use gpfuse::math::batched::{self, Triangles};
use gpfuse::math::simd::Level;
use gpfuse_bench::Outcome;

const LARGE: usize = 2000;
const SIZES: [usize; 6] = [16, 32, 64, 100, 128, 256];
const TURNS: usize = 30;

fn main() -> Outcome<()> {
    let levels = Level::available();
    let mut faer = f64::INFINITY;
    let mut ours = vec![[f64::INFINITY; SIZES.len()]; levels.len()];
    for _ in 0..TURNS {
        faer = faer.min(large());
        for (level, ours) in levels.iter().zip(&mut ours) {
            for (m, best) in SIZES.iter().zip(ours) {
                *best = best.min(small(*level, *m));
            }
        }
    }
    let speed =
        |m: usize, count: f64, seconds: f64| count * (m as f64).powi(3) / 3.0 / seconds / 1e9;
    let whole = speed(LARGE, 1.0, faer);
    println!("faer    n = {LARGE}  {whole:6.1} GFLOP/s");
    for (level, ours) in levels.iter().zip(&ours) {
        for (m, seconds) in SIZES.iter().zip(ours) {
            let each = speed(*m, 8.0, *seconds);
            let share = 100.0 * each / whole;
            println!("{:7} m = {m:4}  {each:6.1} GFLOP/s  {share:3.0} %", level.name());
        }
    }
    Ok(())
}

/// Seconds of one factor by faer.
fn large() -> f64 {
    let mut matrix = Mat::from_fn(LARGE, LARGE, entry);
    let mut room =
        MemBuffer::new(cholesky_in_place_scratch::<f64>(LARGE, Par::Seq, Default::default()));
    let stack = MemStack::new(&mut room);
    let start = Instant::now();
    let done =
        cholesky_in_place(matrix.as_mut(), Default::default(), Par::Seq, stack, Default::default());
    let seconds = start.elapsed().as_secs_f64();
    assert!(done.is_ok());
    seconds
}

/// Seconds of eight factors, the mean over a few.
fn small(level: Level, m: usize) -> f64 {
    let mut fresh = Triangles::new(m);
    for i in 0..m {
        for j in 0..=i {
            *fresh.at_mut(i, j) = [entry(i, j); 8].into();
        }
    }
    let mut work = fresh.clone();
    let mut seconds = 0.0;
    let times = (256 / m).pow(2).clamp(1, 20);
    for _ in 0..times {
        work.clone_from(&fresh);
        let start = Instant::now();
        let failed = batched::factor(level, &mut work);
        seconds += start.elapsed().as_secs_f64();
        assert_eq!(failed, [None; 8]);
    }
    seconds / times as f64
}

/// A covariance that has a factor.
fn entry(i: usize, j: usize) -> f64 {
    let apart = 0.1 * (i as f64 - j as f64);
    (-0.5 * apart * apart).exp() + if i == j { 0.1 } else { 0.0 }
}
