//! The limit `rps`: the maximum number of requests of all users per second.

use std::sync::atomic::{AtomicU64, Ordering};

/// Gives each request its time, evenly spaced and without bursts. Users of all workers share it, and it reads no clock.
#[derive(Debug)]
pub struct RequestPacer {
    /// The distance of two requests, in ns.
    step_ns: u64,
    /// The earliest time of the next request, in ns from the start of the run.
    next_ns: AtomicU64,
}

impl RequestPacer {
    /// Creates the pacer of a limit above 0, in requests per second. Of several machines (`machines`), each gets an
    /// equal part.
    pub fn new(rps: u64, machines: u32) -> Self {
        const SECOND_NS: f64 = 1e9;
        let step_ns = SECOND_NS * f64::from(machines.max(1)) / rps.max(1) as f64;
        Self { step_ns: step_ns.round().max(1.0) as u64, next_ns: AtomicU64::new(0) }
    }

    /// Takes the time of one request; returns how long it must wait, in ns. `now_ns` is the time since the start of the
    /// run.
    pub fn wait_ns(&self, now_ns: u64) -> u64 {
        let mut next = self.next_ns.load(Ordering::Relaxed);
        loop {
            let own = next.max(now_ns);
            let after = own.saturating_add(self.step_ns);
            match self.next_ns.compare_exchange_weak(next, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return own - now_ns,
                Err(seen) => next = seen,
            }
        }
    }
}
