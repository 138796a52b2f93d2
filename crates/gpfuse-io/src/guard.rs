//! Runs a decoder that may panic on damaged input and turns the panic into a value.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use crate::words::first_line;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Calls `decode`; a panic inside it becomes `Err` with the panic's message and prints nothing.
///
/// The hook put in place here only skips panics of the calling thread during the call: every
/// other panic reaches the hook that was there before.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
    let outer = QUIET.replace(true);
    // The closure only reads, and whatever it was building is dropped by the unwinding.
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    QUIET.set(outer);
    outcome.map_err(|panic| first_line(message(panic.as_ref())))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "the decoder gave up",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_one_line() {
        let empty: [u8; 0] = [];
        let index = empty.len();
        assert_eq!(guarded(|| 3), Ok(3));
        assert!(guarded(|| empty[index]).unwrap_err().contains("out of bounds"));
        assert_eq!(guarded(|| panic!("first\nsecond")), Err::<(), _>("first".into()));
        assert!(guarded(|| guarded(|| panic!("x")).is_err()).unwrap());
    }
}
