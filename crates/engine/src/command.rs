//! Control of a running engine: only by commands, which each worker takes in its next event-loop iteration.

/// A command from the control plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Command {
    /// End now; requests in flight are counted as such.
    Stop,
    /// Open model: set the total arrival rate per second. Closed model: set the number of users.
    SetLevel(f64),
    /// Start nothing new; responses are still read.
    Pause,
    /// Resume; arrivals due during the pause are not made up for.
    Resume,
}
