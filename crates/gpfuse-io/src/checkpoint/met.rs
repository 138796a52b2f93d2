//! What the density said to a chain that is not finished: a file that grows with every call.
//!
//! A record has a fixed length: a checksum, whether there was a density, the log density, and the
//! gradient. The checksum covers the point as well, and the number of the call, so that a record
//! answers the call that it was made for and no other; the first that does not ends the file.
//!
//! A record takes 8 bytes per parameter, and the gradient about a nanosecond per parameter and row,
//! so the file grows the more slowly the more rows there are. Where it would grow faster than
//! [`FASTEST`], rows are few and the chain is soon done again: nothing is kept. It ends at [`MOST`].

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gpfuse::infer::{DensityError, Met};

use super::Trouble;
use super::file::head;
use crate::atomic::{WriteError, sync_folder};

/// The most bytes of one chain.
const MOST: u64 = 1 << 30;

/// The most bytes per second of one chain.
const FASTEST: f64 = 1e7;

/// So many calls tell how fast the file would grow.
const TRIAL: usize = 50;

/// Records leave the program this often: what a kill costs.
const FLUSHED: Duration = Duration::from_secs(1);

/// They are brought to the disk this often: what a loss of power costs.
const SYNCED: Duration = Duration::from_secs(10);

/// Bytes before the first record.
const HEAD: u64 = 32;

enum State {
    /// Records of an earlier run are read.
    Reading(BufReader<File>),
    /// There is no file yet, and these are its first bytes.
    Trying { bytes: Vec<u8>, calls: usize, begun: Instant },
    /// Records are added; there were so many before the last that left the program.
    Writing { out: BufWriter<File>, flushed: Instant, before: u64, synced: Instant },
    /// No more is kept.
    Over,
}

/// The records of one chain.
pub(super) struct Journal {
    path: PathBuf,
    trouble: Arc<Trouble>,
    head: [u64; 4],
    /// Bytes of a record.
    size: usize,
    /// Records read or written.
    count: u64,
    state: State,
    /// A record, and the point that it is about.
    room: Vec<u8>,
    /// Most bytes per second.
    fastest: f64,
}

impl Journal {
    /// The records of a chain of the run with the sign `sum`, as far as there are any.
    pub(super) fn open(
        path: &Path,
        sum: u64,
        chain: usize,
        dim: usize,
        trouble: Arc<Trouble>,
    ) -> Journal {
        let [kind, sum, chain] = head(sum, "met", chain);
        let head = [kind, sum, chain, dim as u64];
        let (count, size, room) = (0, 8 * (3 + dim), Vec::new());
        let state = match existing(path, head) {
            Some(file) => State::Reading(file),
            None => State::trying(head),
        };
        let (path, fastest) = (path.into(), FASTEST);
        Journal { path, trouble, head, size, count, state, room, fastest }
    }

    /// The same with another limit of speed.
    #[cfg(test)]
    pub(super) fn at_most(self, fastest: f64) -> Journal {
        Journal { fastest, ..self }
    }

    /// The checksum of the record in `room`, given that the point follows it there.
    fn sum(&self) -> [u8; 8] {
        let mut sum = crc32fast::Hasher::new();
        sum.update(&self.head[1].to_le_bytes());
        sum.update(&self.count.to_le_bytes());
        sum.update(&self.room[8..]);
        u64::from(sum.finalize()).to_le_bytes()
    }

    /// Go on after the records that were read; what follows them is cut off.
    fn turn(&mut self) {
        let length = HEAD + self.count * self.size as u64;
        let open = || -> std::io::Result<File> {
            let file = OpenOptions::new().append(true).open(&self.path)?;
            file.set_len(length)?;
            Ok(file)
        };
        self.state = match open() {
            Ok(file) => State::writing(file, self.count),
            Err(e) => self.give_up(&e),
        };
    }

    fn give_up(&self, error: &std::io::Error) -> State {
        self.trouble.fail(&WriteError::new(&self.path, error));
        State::Over
    }

    /// Make the file of the first records, if it would grow slowly enough.
    fn begin(&self, bytes: &[u8], begun: Instant) -> State {
        if bytes.len() as f64 > self.fastest * begun.elapsed().as_secs_f64() {
            return State::Over;
        }
        let make = || -> std::io::Result<File> {
            let mut file = File::create(&self.path)?;
            file.write_all(bytes)?;
            sync_folder(&self.path);
            Ok(file)
        };
        make().map_or_else(|e| self.give_up(&e), |file| State::writing(file, self.count))
    }
}

impl State {
    fn trying(head: [u64; 4]) -> State {
        let bytes = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        State::Trying { bytes, calls: 0, begun: Instant::now() }
    }

    fn writing(file: File, before: u64) -> State {
        let (out, now) = (BufWriter::with_capacity(1 << 16, file), Instant::now());
        State::Writing { out, flushed: now, before, synced: now }
    }
}

/// A file with the right head, after it. Another one is in the way, and goes.
fn existing(path: &Path, head: [u64; 4]) -> Option<BufReader<File>> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).ok()?);
    let mut found = [0; HEAD as usize];
    let whole = file.read_exact(&mut found).is_ok();
    if whole && found.chunks(8).zip(head).all(|(bytes, word)| bytes == word.to_le_bytes()) {
        return Some(file);
    }
    // If it stays, the next file takes its place.
    let _ = fs::remove_file(path);
    None
}

fn number(bytes: &[u8]) -> f64 {
    f64::from_bits(bytes.iter().rev().fold(0, |word, b| word << 8 | u64::from(*b)))
}

impl Met for Journal {
    fn recall(&mut self, q: &[f64], grad: &mut [f64]) -> Option<Result<f64, DensityError>> {
        let State::Reading(file) = &mut self.state else { return None };
        self.room.resize(self.size, 0);
        let whole = file.read_exact(&mut self.room).is_ok();
        self.room.extend(q.iter().flat_map(|v| v.to_le_bytes()));
        if !whole || self.room[..8] != self.sum() || 8 * (3 + grad.len()) != self.size {
            self.turn();
            return None;
        }
        self.count += 1;
        let logp = number(&self.room[16..24]);
        let kept = self.room[24..self.size].chunks_exact(8);
        grad.iter_mut().zip(kept).for_each(|(to, from)| *to = number(from));
        let finite = self.room[8..16] == 1_u64.to_le_bytes();
        Some(if finite { Ok(logp) } else { Err(DensityError::NotFinite { logp }) })
    }

    fn record(&mut self, q: &[f64], grad: &[f64], said: &Result<f64, DensityError>) {
        let (finite, logp) = match said {
            _ if matches!(self.state, State::Over) => return,
            Ok(logp) => (1_u64, *logp),
            Err(DensityError::NotFinite { logp }) => (0, *logp),
            // The run ends here.
            Err(DensityError::Fatal(_)) => return,
        };
        self.room.clear();
        self.room.extend([0; 8].into_iter().chain(finite.to_le_bytes()).chain(logp.to_le_bytes()));
        self.room.extend(grad.iter().chain(q).flat_map(|v| v.to_le_bytes()));
        let sum = self.sum();
        self.room[..8].copy_from_slice(&sum);
        let record = &self.room[..self.size];
        self.count += 1;
        if let State::Trying { bytes, calls, begun } = &mut self.state {
            bytes.extend_from_slice(record);
            *calls += 1;
            if *calls == TRIAL {
                let (bytes, begun) = (std::mem::take(bytes), *begun);
                self.state = self.begin(&bytes, begun);
            }
            return;
        }
        let State::Writing { out, flushed, before, synced } = &mut self.state else { return };
        let (limit, size) = (2.0 * self.fastest, self.size as f64);
        let mut fast = false;
        let mut add = || -> std::io::Result<()> {
            out.write_all(record)?;
            let time = flushed.elapsed();
            if time > FLUSHED {
                out.flush()?;
                fast = (self.count - *before) as f64 * size > limit * time.as_secs_f64();
                (*flushed, *before) = (Instant::now(), self.count);
            }
            if synced.elapsed() > SYNCED {
                out.flush()?;
                out.get_ref().sync_data()?;
                *synced = Instant::now();
            }
            Ok(())
        };
        if let Err(e) = add() {
            self.state = self.give_up(&e);
        } else if fast {
            // The trial fell on a moment when the machine was slow.
            self.state = State::Over;
            let _ = fs::remove_file(&self.path);
        } else if self.count * self.size as u64 > MOST {
            // Dropping it flushes.
            self.state = State::Over;
        }
    }
}
