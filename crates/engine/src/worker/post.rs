//! What a worker hands over, and where.

use crate::Command;
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::series::SeriesKey;
use plimsoll_stats::interval::Interval;
use std::sync::Arc;

/// What a worker tells besides its numbers.
#[derive(Debug, Default)]
pub struct WorkerNotes {
    /// What was worth keeping as an example.
    pub samples: Vec<FailureExample>,
    /// Series that its programs have opened since it told the last ones. Their numbers follow each other.
    pub opened: Vec<Arc<SeriesKey>>,
}

/// Where a worker's intervals go and its commands come from; the real one is a pair of channels.
pub trait Post {
    /// Hands over a full interval, and what is to be told with it.
    fn hand_over(&mut self, full: Box<Interval>, told: WorkerNotes, last: bool);
    /// An interval that came back and may be used again.
    fn spare(&mut self) -> Option<Box<Interval>>;
    /// Commands that came since the last call; cheap when there are none.
    fn commands(&mut self, into: &mut Vec<Command>);
}
