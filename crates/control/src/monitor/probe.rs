//! Interface of a monitor: a source that is sampled once per second.

pub use crate::reach::MonitorError;

use crate::reach::Deadline;
use plimsoll_record::event::Reading;

/// Time of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Monotonic clock, ns. Only differences are meaningful.
    pub now_ns: u64,
}

impl Moment {
    /// Returns the seconds since an earlier moment, never 0.
    pub fn since_s(self, earlier: Moment) -> f64 {
        (self.now_ns.saturating_sub(earlier.now_ns)).max(1) as f64 / 1e9
    }
}

/// Result of one sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Readings; the first sample has no rates, which need two samples.
    pub readings: Vec<Reading>,
    /// Names and values that describe the source (a version, a limit), reported when new or changed.
    pub facts: Vec<(String, String)>,
}

/// A source to sample. It belongs to one thread, may block for at most [`PATIENCE`], keeps what it needs for the
/// rates of counters, and reconnects by itself.
pub trait Probe: Send {
    /// Takes one sample. The first precedes the load.
    ///
    /// # Errors
    /// Returns an error if there is no data now; the next sample tries again.
    fn look(&mut self, at: Moment) -> Result<Found, MonitorError>;

    /// Returns the hosts (names or addresses) and ports that its samples query over the network.
    fn asks(&self) -> Vec<(String, u16)> {
        Vec::new()
    }
}

/// Maximum wait of a probe for a response, so that a sample does not overlap the next one.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_millis(800);

impl Deadline {
    /// Returns the deadline of a sample that starts now. It leaves part of [`PATIENCE`] for what follows the
    /// response, because the kernel wakes a timeout late and the response must be parsed.
    pub fn of_a_look() -> Deadline {
        Deadline::after(PATIENCE * 7 / 8)
    }
}
