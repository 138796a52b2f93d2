//! The memory that reading an input takes, counted by the allocator and bounded.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Live bytes may grow by so many per byte of the input,
pub const FACTOR: usize = 16;

/// and by so many more, whatever its size: buffers, and what the threads of a pool need.
pub const FLOOR: usize = 1 << 20;

/// Counts live bytes, and ends the program where they pass a limit.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Set once the limit is passed, so that the message can be made.
static OVER: AtomicBool = AtomicBool::new(false);

fn grow(by: usize) {
    let live = LIVE.fetch_add(by, Relaxed) + by;
    PEAK.fetch_max(live, Relaxed);
    // An allocator must not unwind, so a panic will not do.
    if live > LIMIT.load(Relaxed) && !OVER.swap(true, Relaxed) {
        let _ = writeln!(std::io::stderr(), "an allocation of {by} bytes passes the bound");
        std::process::abort();
    }
}

// SAFETY: every call goes to the system's allocator as it is; only numbers are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the contract of this function, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be live while the contents move.
        grow(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Call `read` on an input of `size` bytes, which must keep to the bound.
pub fn bounded<T>(size: usize, read: impl FnOnce() -> T) -> T {
    let (out, taken) = bounded_by(FACTOR * size + FLOOR, read);
    note(size, taken);
    out
}

/// The same with a limit in bytes; with the most that were taken.
pub fn bounded_by<T>(limit: usize, read: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    LIMIT.store(before + limit, Relaxed);
    let out = read();
    LIMIT.store(usize::MAX, Relaxed);
    (out, PEAK.load(Relaxed).saturating_sub(before))
}

/// The largest number of bytes above the floor per byte of an input, in thousandths.
static RATIO: AtomicUsize = AtomicUsize::new(0);

/// Keep the largest ratio, also in the file that `GPFUSE_FUZZ_RATIO` names.
fn note(size: usize, taken: usize) {
    let ratio = 1000 * taken.saturating_sub(FLOOR) / size.max(1);
    if ratio > RATIO.fetch_max(ratio, Relaxed)
        && let Some(path) = std::env::var_os("GPFUSE_FUZZ_RATIO")
    {
        let _ = std::fs::write(path, format!("{}\n", ratio as f64 / 1000.0));
    }
}
