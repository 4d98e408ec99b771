//! A bound on the memory of work that a text of somebody else decides about. The engine of the templates counts steps
//! and what is written, and nobody counts what a template keeps: `x ~ x` a few dozen times is all memory there is.

use crate::exit::Failure;
use crate::say;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Between two looks; memory that is touched for the first time grows by some ten megabytes in it.
const LOOK: Duration = Duration::from_millis(5);

/// Does `work`. When the process has taken `most` bytes more than before, it says `failure` and ends: there is no way
/// to stop a copy that has begun.
pub fn bounded<T>(most: u64, failure: impl Fn() -> Failure + Send + 'static, work: impl FnOnce() -> T) -> T {
    let (done, waiting) = channel::<()>();
    let Some(before) = resident_bytes() else { return work() };
    let watch = move || {
        while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(LOOK) {
            if resident_bytes().is_some_and(|now| now > before + most) {
                let failure = failure();
                say::failure(&failure, std::env::args_os().any(|word| word == "--no-color"));
                std::process::exit(failure.exit().code().into());
            }
        }
    };
    // Without a thread there is no bound, and all else works.
    let watcher = std::thread::Builder::new().name("memory".into()).spawn(watch);
    let result = work();
    drop(done);
    if let Ok(watcher) = watcher {
        let _ = watcher.join();
    }
    result
}

/// What the kernel has given, bytes; `None`: it does not tell.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
}
