//! Lookups of host names during a load: a worker asks, a thread of the resolver answers, and the worker continues. A
//! worker never waits for a resolver.

use crate::mailbox::Mailbox;
pub use crate::mailbox::{LookedUp, Ticket};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// Looks up the host of one origin on separate threads.
pub trait Resolver: Send + Sync {
    /// Begins a lookup and returns at once; the answer is sent once, from any thread.
    fn look_up(&self, answer: AnswerTo);
}

/// The way of an answer to the link that waits for it.
pub struct AnswerTo {
    pub(crate) boxes: Arc<[Mailbox]>,
    pub(crate) worker: u32,
    pub(crate) ticket: Ticket,
}

impl AnswerTo {
    /// Sends the answer and wakes the worker.
    pub fn send(self, answer: LookedUp) {
        let mailbox = &self.boxes[self.worker as usize];
        mailbox.answers.lock().unwrap_or_else(PoisonError::into_inner).push((self.ticket, answer));
        mailbox.has_answers.store(true, Ordering::Release);
        mailbox.waker.wake();
    }
}
