//! What a monitor is: something that can be asked once a second.

pub use crate::reach::MonitorError;

use crate::reach::Deadline;
use plimsoll_record::event::Reading;

/// When a sample is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// On a clock that only rises, ns. Only differences mean anything: rates are differences over differences.
    pub now_ns: u64,
}

impl Moment {
    /// Seconds since an earlier moment, never 0.
    pub fn since_s(self, earlier: Moment) -> f64 {
        (self.now_ns.saturating_sub(earlier.now_ns)).max(1) as f64 / 1e9
    }
}

/// What one look brought.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Rates need two looks: the first one brings none of them.
    pub readings: Vec<Reading>,
    /// Names and values that tell what is watched (a version, a limit): told when they are new or have changed.
    pub facts: Vec<(String, String)>,
}

/// A place to look at. It lives on one thread, may block for [`PATIENCE`] at most, keeps what it needs
/// to make rates of counters, and connects (again) by itself.
pub trait Probe: Send {
    /// One look. The first comes before the load begins.
    ///
    /// # Errors
    /// When there is nothing to see just now; the next look tries again.
    fn look(&mut self, at: Moment) -> Result<Found, MonitorError>;

    /// The hosts (names or addresses) and ports that its looks ask over the network.
    fn asks(&self) -> Vec<(String, u16)> {
        Vec::new()
    }
}

/// Longest that a probe may wait for an answer: a look must not run into the next one.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_millis(800);

impl Deadline {
    /// For a look that begins now. Part of [`PATIENCE`] is kept back for what comes after the answer: the kernel wakes
    /// a time-out late, and the answer has to be read.
    pub fn of_a_look() -> Deadline {
        Deadline::after(PATIENCE * 7 / 8)
    }
}
