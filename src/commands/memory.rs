//! Memory limit for work that untrusted text controls. The template engine limits steps and output, but not what a
//! template stores: a few dozen `x ~ x` fill all memory.

use crate::exit::Failure;
use crate::say;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Interval between two checks, in which touched memory grows by some ten megabytes.
const LOOK: Duration = Duration::from_millis(5);

/// Does `work`. If the process grows by more than `most` bytes, prints `failure` and exits, because a copy in
/// progress cannot be stopped.
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
    // Without the thread there is no limit, but everything else works.
    let watcher = std::thread::Builder::new().name("memory".into()).spawn(watch);
    let result = work();
    drop(done);
    if let Ok(watcher) = watcher {
        let _ = watcher.join();
    }
    result
}

/// Returns the resident memory in bytes, or `None` if the kernel does not report it.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
}
