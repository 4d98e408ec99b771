//! The output of a worker, and its destination.

use crate::Command;
use crate::names::{LookedUp, Ticket};
use crate::origins::{FoundOrigin, Reached};
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::OriginQuery;
use plimsoll_plan::series::SeriesKey;
use plimsoll_stats::interval::Interval;
use std::sync::Arc;

/// A worker's output in addition to its numbers.
#[derive(Debug, Default)]
pub struct WorkerNotes {
    /// Failure examples.
    pub samples: Vec<FailureExample>,
    /// Series that its programs have opened since the last report. They are numbered consecutively.
    pub opened: Vec<Arc<SeriesKey>>,
}

/// The destination of a worker's intervals and the source of its commands; the production one is a pair of channels.
pub trait Post {
    /// Hands over a full interval with its notes.
    fn hand_over(&mut self, full: Box<Interval>, told: WorkerNotes, last: bool);
    /// Returns an interval that can be reused.
    fn spare(&mut self) -> Option<Box<Interval>>;
    /// Appends the commands received since the last call; cheap if there are none.
    fn commands(&mut self, into: &mut Vec<Command>);

    /// Begins a lookup of the host of an origin, for an origin whose connections look it up.
    fn look_up(&mut self, _: OriginId, _: Ticket) {}

    /// Appends the answers received since the last call. Called only while lookups are in progress.
    fn answers(&mut self, _: &mut Vec<(Ticket, LookedUp)>) {}

    /// Begins to find an origin that the worker does not know; returns false if this run finds none.
    fn reach(&mut self, _: &OriginQuery) -> bool {
        false
    }

    /// Appends the answers to [`Post::reach`] received since the last call. Called only while programs wait for some.
    fn reached(&mut self, _: &mut Vec<Reached>) {}

    /// Returns the origins that were found, by number, beginning with number `from`.
    fn found(&mut self, _from: usize) -> Vec<Arc<FoundOrigin>> {
        Vec::new()
    }
}
