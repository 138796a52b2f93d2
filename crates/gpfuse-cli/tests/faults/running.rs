//! A program at work beside a test, and killed where the test fails.

use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::Run;

/// After which a program is taken for one that hangs, on a machine that has much else to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Waits between the start of a program and a signal to it: longer where the machine is busy and
/// what is to be interrupted has not begun.
pub(crate) const WAITS: [Duration; 3] =
    [Duration::from_millis(300), Duration::from_secs(2), Duration::from_secs(8)];

pub(crate) struct Running(Option<Child>);

impl Running {
    pub(crate) fn start(mut command: Command) -> Running {
        Running(Some(command.spawn().unwrap()))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    /// Whether it has ended.
    pub(crate) fn over(&mut self) -> bool {
        self.child().try_wait().unwrap().is_some()
    }

    /// Wait until something is so, or the program has ended: whether it was so.
    pub(crate) fn until(&mut self, so: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        while !so() {
            if self.over() {
                return so();
            }
            assert!(begun.elapsed() < PATIENCE, "it hangs");
            sleep(Duration::from_millis(2));
        }
        true
    }

    /// Send a signal. A program that has ended by itself takes it as well.
    pub(crate) fn send(&mut self, signal: &str) {
        let id = self.child().id().to_string();
        let mut kill = Command::new("kill");
        assert!(kill.args([signal, &id]).status().unwrap().success());
    }

    /// How it ends, which it must.
    pub(crate) fn ended(mut self) -> Run {
        self.until(|| false);
        self.0.take().unwrap().wait_with_output().unwrap().into()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // It may have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
