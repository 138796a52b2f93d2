//! Small Cholesky factors of eight matrices at once beside faer's factor of one large matrix, on one core.
//!
//! `factors`: the best of many, taken by turns in one run; a factor of m rows counts `m^3 / 3`
//! operations. Then what a GP on m rows says about one more row, and the gradient of its density.

use std::time::Instant;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::{Mat, Par};
use gpfuse::gp::batched::Locals;
use gpfuse::kernel::Kernel;
use gpfuse::math::batched::{self, Each, Triangles};
use gpfuse::math::simd::Level;
use gpfuse_bench::Outcome;

const LARGE: usize = 2000;
const SIZES: [usize; 6] = [16, 32, 64, 100, 128, 256];
const TURNS: usize = 100;
const INPUTS: usize = 8;

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
    let speed = |m: usize, seconds: f64| (m as f64).powi(3) / 3.0 / seconds / 1e9;
    let whole = speed(LARGE, faer);
    println!("faer     1 x {LARGE}  {whole:6.1} GFLOP/s");
    for (level, ours) in levels.iter().zip(&ours) {
        for (m, seconds) in SIZES.iter().zip(ours) {
            let each = 8.0 * speed(*m, *seconds);
            let share = 100.0 * each / whole;
            println!("{:8} 8 x {m:4}  {each:6.1} GFLOP/s  {share:3.0} %", level.name());
        }
    }
    println!(
        "\nGPs on m rows of {INPUTS} inputs, microseconds for each: prediction, density with gradient"
    );
    for level in levels {
        for m in [64, 128] {
            for kernel in Kernel::ALL {
                let mut best = [f64::INFINITY; 2];
                for _ in 0..TURNS {
                    let seconds = local(level, kernel, m)?;
                    best.iter_mut().zip(seconds).for_each(|(best, s)| *best = best.min(s));
                }
                let [said, gradient] = best.map(|seconds| seconds * 1e6 / 8.0);
                println!("{:8} {kernel:9} m = {m:4} {said:7.2} {gradient:7.2}", level.name());
            }
        }
    }
    Ok(())
}

/// Seconds of what is said about eight rows, and of the gradient.
fn local(level: Level, kernel: Kernel, m: usize) -> Outcome<[f64; 2]> {
    let mut locals = Locals::new(kernel, m, INPUTS).at_level(level);
    for lane in 0..8 {
        let row = |i: usize| (0..INPUTS).map(move |d| ((i * INPUTS + d) as f64 * 0.618).fract());
        locals.begin(lane, row(lane));
        (0..m).for_each(|i| locals.push(lane, row(8 + lane + i), row(i).sum()));
    }
    let failed = |lane: usize| format!("lane {lane} has no factor");
    let start = Instant::now();
    locals.predict(1.0, 0.1).map_err(failed)?;
    let said = start.elapsed().as_secs_f64();
    let mut grad = [Each::splat(0.0); INPUTS + 3];
    let start = Instant::now();
    locals.log_density(1.0, 0.1, &Each::splat(0.5), &mut grad).map_err(failed)?;
    Ok([said, start.elapsed().as_secs_f64()])
}

/// Seconds of one factor by faer.
fn large() -> f64 {
    let mut matrix = Mat::from_fn(LARGE, LARGE, entry);
    fn usual<T: Default>() -> T {
        T::default()
    }
    let mut room = MemBuffer::new(cholesky_in_place_scratch::<f64>(LARGE, Par::Seq, usual()));
    let start = Instant::now();
    let done =
        cholesky_in_place(matrix.as_mut(), usual(), Par::Seq, MemStack::new(&mut room), usual());
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
