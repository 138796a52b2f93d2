//! Small Cholesky factors of eight matrices at once beside faer's factor of one large matrix, on one core.
//!
//! `factors`: the best of many, taken by turns in one run; a factor of m rows counts `m^3 / 3`
//! operations. Then the steps of what a GP on m rows of 8 inputs says about one more row, and of its
//! gradient, in microseconds for each of the eight.

use std::time::Instant;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::{Mat, Par};
use gpfuse::kernel::Kernel;
use gpfuse::math::batched::{self, Each, Rows, Slopes, Triangles};
use gpfuse::math::simd::Level;
use gpfuse_bench::Outcome;

const LARGE: usize = 2000;
const SIZES: [usize; 6] = [16, 32, 64, 100, 128, 256];
const TURNS: usize = 150;
const INPUTS: usize = 8;
const STEPS: [&str; 9] = [
    "distances",
    "covariances",
    "and slopes",
    "factor",
    "forward",
    "moments",
    "backward",
    "adjoint",
    "lengthscales",
];

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
    for level in levels {
        for m in [64, 128] {
            println!("{} {m} rows, microseconds each:", level.name());
            let mut best = [f64::INFINITY; STEPS.len()];
            for _ in 0..4 * TURNS {
                let seconds = steps(level, m);
                best.iter_mut().zip(seconds).for_each(|(best, s)| *best = best.min(s));
            }
            for (name, seconds) in STEPS.iter().zip(best) {
                println!("  {name:12} {:7.2}", seconds * 1e6 / 8.0);
            }
        }
    }
    Ok(())
}

/// Seconds of each step.
fn steps(level: Level, m: usize) -> [f64; STEPS.len()] {
    let mut x = Rows::new(m, INPUTS);
    for i in 0..m {
        for d in 0..INPUTS {
            let number = |lane: usize| (((i * INPUTS + d) * 8 + lane) as f64 * 0.618).fract();
            *x.at_mut(i, d) = std::array::from_fn(number).into();
        }
    }
    let zero = Each::splat(0.0);
    let row = vec![Each::splat(0.5); INPUTS];
    let mut k = Triangles::new(m);
    let (mut among, mut sides) = (k.clone(), vec![[zero; 2]; m]);
    let mut cross = vec![zero; m];
    let (mut to, mut d_log_ell) = (cross.clone(), vec![zero; INPUTS]);
    let mut seconds = Vec::new();
    let mut start = Instant::now();
    let mut lap = |s: &mut Instant| {
        seconds.push(s.elapsed().as_secs_f64());
        *s = Instant::now();
    };
    batched::squares(level, &x, &mut k);
    batched::squares_to(level, &x, &row, &mut cross);
    let mut other = k.clone();
    lap(&mut start);
    batched::covariances(level, Kernel::Matern52, 1.0, other.numbers_mut(), &mut []);
    lap(&mut start);
    batched::covariances(level, Kernel::Matern52, 1.0, k.numbers_mut(), among.numbers_mut());
    batched::covariances(level, Kernel::Matern52, 1.0, &mut cross, &mut to);
    lap(&mut start);
    sides.iter_mut().zip(&cross).for_each(|(side, k)| *side = [*k; 2]);
    k.set_diagonal(&Each::splat(1.1));
    let failed = batched::factor(level, &mut k);
    lap(&mut start);
    assert_eq!(failed, [None; 8]);
    batched::forward(level, &k, &mut sides);
    lap(&mut start);
    let both = batched::moments(level, &sides);
    lap(&mut start);
    batched::backward(level, &k, &mut sides);
    lap(&mut start);
    batched::adjoint(level, &mut sides, &both[0], &both[1], &mut cross);
    lap(&mut start);
    let slopes = Slopes { sides: &sides, among: &among, cross: &cross, to: &to };
    batched::contract(level, &x, &row, slopes, &mut d_log_ell);
    lap(&mut start);
    let mut all = [0.0; STEPS.len()];
    all.copy_from_slice(&seconds);
    all
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
