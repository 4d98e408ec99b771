//! What other threads leave for a worker, which takes it in its next event-loop iteration.

use crate::command::Command;
use crate::sys::epoll::Waker;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{OriginQuery, Unreachable};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Pending commands and answers for one worker.
pub(crate) struct Mailbox {
    pub pending: AtomicBool,
    pub queue: Mutex<Vec<Command>>,
    pub has_answers: AtomicBool,
    pub answers: Mutex<Vec<(Ticket, LookedUp)>>,
    pub has_reached: AtomicBool,
    pub reached: Mutex<Vec<Reached>>,
    pub waker: Arc<Waker>,
}

impl Mailbox {
    /// Creates an empty mailbox.
    pub fn new(waker: Arc<Waker>) -> Mailbox {
        Mailbox {
            pending: AtomicBool::new(false),
            queue: Mutex::default(),
            has_answers: AtomicBool::new(false),
            answers: Mutex::default(),
            has_reached: AtomicBool::new(false),
            reached: Mutex::default(),
            waker,
        }
    }
}

/// A lookup that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookedUp {
    /// The address to connect to, or the resolver's message.
    pub found: Result<SocketAddr, String>,
    /// Duration of the lookup itself, ns.
    pub took_ns: u64,
    /// Whether it first waited for a thread of the resolver.
    pub was_queued: bool,
}

/// The end of the search for an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// What the worker asked for.
    pub query: OriginQuery,
    pub result: Result<OriginId, Unreachable>,
}

/// The link that waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    pub(crate) link: u32,
    pub(crate) generation: u32,
}
