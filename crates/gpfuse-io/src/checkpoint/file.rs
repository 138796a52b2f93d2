//! Starts and chains as files of 64-bit words, with a sign of their run in front and a checksum at
//! the end.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use gpfuse::infer::map::Point;
use gpfuse::infer::{ChainDraws, Stat};

use crate::atomic::{WriteError, atomic_write};

/// Words of a draw's statistics.
const STAT: usize = 7;

/// What a file begins with: what it is, of which run, and which of its kind.
fn head(sum: u64, kind: &str, number: usize) -> [u64; 3] {
    let mut name = *b"gpf1\0\0\0\0";
    name[4..].iter_mut().zip(kind.bytes()).for_each(|(to, from)| *to = from);
    [u64::from_le_bytes(name), sum, number as u64]
}

/// Passes bytes on and adds up their checksum.
struct Summed<'a> {
    out: &'a mut dyn Write,
    sum: crc32fast::Hasher,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Write a file: when this returns, it is on the disk.
pub(super) fn write(
    path: &Path,
    sum: u64,
    kind: &str,
    number: usize,
    words: impl Iterator<Item = u64>,
) -> Result<(), WriteError> {
    atomic_write(path, |out| {
        let mut blocks = io::BufWriter::new(Summed { out, sum: crc32fast::Hasher::new() });
        for word in head(sum, kind, number).into_iter().chain(words) {
            blocks.write_all(&word.to_le_bytes())?;
        }
        let Summed { out, sum } = blocks.into_inner().map_err(io::IntoInnerError::into_error)?;
        out.write_all(&u64::from(sum.finalize()).to_le_bytes())
    })
}

/// The words of a file, which need not be there; else what is wrong with it.
pub(super) fn read(
    path: &Path,
    sum: u64,
    kind: &str,
    number: usize,
) -> Result<Option<Vec<u64>>, String> {
    let bytes = match fs::read(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|e| format!("not readable ({e})"))?,
    };
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, b| word << 8 | u64::from(*b));
    let head = head(sum, kind, number);
    if bytes.len() % 8 != 0 || bytes.len() < 8 * (head.len() + 1) {
        return Err("cut short".into());
    }
    let (body, end) = bytes.split_at(bytes.len() - 8);
    if word(end) != u64::from(crc32fast::hash(body)) {
        return Err("damaged".into());
    }
    let words: Vec<u64> = body.chunks_exact(8).map(word).collect();
    match words.split_first_chunk() {
        Some((found, rest)) if *found == head => Ok(Some(rest.to_vec())),
        _ => Err("a file of another run".into()),
    }
}

/// A point: its log density and itself.
pub(super) fn point_words(point: &Point) -> impl Iterator<Item = u64> {
    [point.logp].into_iter().chain(point.q.iter().copied()).map(f64::to_bits)
}

/// The point of some words.
pub(super) fn point(words: &[u64]) -> Option<Point> {
    let (logp, q) = words.split_first()?;
    let q = q.iter().map(|word| f64::from_bits(*word)).collect();
    Some(Point { q, logp: f64::from_bits(*logp) })
}

/// A chain: the number of its draws, their statistics, their values.
pub(super) fn chain_words(chain: &ChainDraws) -> impl Iterator<Item = u64> {
    let stat = |s: &Stat| {
        let [lp, energy, accept, step] = [s.lp, s.energy, s.accept, s.step_size].map(f64::to_bits);
        let flags = u64::from(s.diverging) | u64::from(s.saturated) << 1;
        [lp, energy, accept, step, s.depth as u64, s.steps as u64, flags]
    };
    let count = chain.stats.len() as u64;
    let values = chain.values.iter().map(|v| v.to_bits());
    [count].into_iter().chain(chain.stats.iter().flat_map(stat)).chain(values)
}

/// The chain of some words.
pub(super) fn chain(words: &[u64]) -> Option<ChainDraws> {
    let (count, rest) = words.split_first()?;
    let length = usize::try_from(*count).ok()?.checked_mul(STAT)?;
    let (stats, values) = rest.split_at_checked(length)?;
    let stat = |w: &[u64]| Stat {
        lp: f64::from_bits(w[0]),
        energy: f64::from_bits(w[1]),
        accept: f64::from_bits(w[2]),
        step_size: f64::from_bits(w[3]),
        depth: w[4] as usize,
        steps: w[5] as usize,
        diverging: w[6] & 1 != 0,
        saturated: w[6] & 2 != 0,
    };
    let stats = stats.chunks_exact(STAT).map(stat).collect();
    Some(ChainDraws { values: values.iter().map(|v| f64::from_bits(*v)).collect(), stats })
}
