//! How a running engine is steered: by commands alone, taken by each worker at its next turn.

/// A wish of the control plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Command {
    /// End now; what is in flight is counted as such.
    Stop,
    /// Open model: from now on this many arrivals per second in all. Closed model: this many users.
    SetLevel(f64),
    /// Start nothing new; answers still come in.
    Pause,
    /// Go on; arrivals that came due during the pause are not made up for.
    Resume,
}
