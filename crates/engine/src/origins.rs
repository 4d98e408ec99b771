//! Origins that programs ask for during the load: a worker asks, a thread of the finder resolves and tries the origin,
//! and the worker continues. A worker never waits for a finder.
//!
//! The finder numbers what it finds, for all workers and phases of a run. A worker takes new origins from it when a
//! program first needs them, so that no number is known to a program before its place is.

use crate::mailbox::Mailbox;
pub use crate::mailbox::Reached;
use crate::run::Place;
use plimsoll_plan::origin::{Origin, OriginId};
use plimsoll_plan::program::{OriginQuery, Unreachable};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// An origin that was found during the load.
#[derive(Clone)]
pub struct FoundOrigin {
    /// Its number; those of a run continue after those of the plan without a gap.
    pub number: OriginId,
    /// What a program asked for.
    pub query: OriginQuery,
    /// The origin, with the version of HTTP that was agreed on.
    pub origin: Origin,
    pub place: Place,
}

/// Finds origins on separate threads, and keeps them for a whole run.
pub trait OriginFinder: Send + Sync {
    /// Begins to find an origin and returns at once; the answer is sent once, from any thread. The host is in lower
    /// case.
    fn find(&self, query: &OriginQuery, answer: OriginAnswer);

    /// Returns the origins that were found, by number, beginning with number `from`.
    fn found(&self, from: usize) -> Vec<Arc<FoundOrigin>>;
}

/// The way of an answer to the worker whose programs wait for it.
pub struct OriginAnswer {
    pub(crate) boxes: Arc<[Mailbox]>,
    pub(crate) worker: u32,
    pub(crate) query: OriginQuery,
}

impl OriginAnswer {
    /// Sends the answer and wakes the worker. [`OriginFinder::found`] must return the origin by now.
    pub fn send(self, result: Result<OriginId, Unreachable>) {
        let mailbox = &self.boxes[self.worker as usize];
        let reached = Reached { query: self.query, result };
        mailbox.reached.lock().unwrap_or_else(PoisonError::into_inner).push(reached);
        mailbox.has_reached.store(true, Ordering::Release);
        mailbox.waker.wake();
    }
}
