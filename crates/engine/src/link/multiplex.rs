//! HTTP/2 on a link: many exchanges at a time, and the frames that wait to be sent. A pipelined link of HTTP/1.1 is the
//! same with a queue instead of streams.

use super::NONE;
use plimsoll_wire::h1;
use plimsoll_wire::h2::{Config, Session};
use std::collections::VecDeque;

/// Bytes of frames above which no more bodies are added until the kernel has taken some.
pub(crate) const OUT_MAX: usize = 131_072;

/// The queue of a pipelined link.
pub(crate) struct Pipe {
    /// Reads the response to the first request of the queue.
    pub session: h1::Session,
    /// The sent requests without a complete response, in their order; [`NONE`]: abandoned by its exchange.
    pub queue: VecDeque<(u32, h1::Ask)>,
    depth: u32,
    is_open: bool,
}

impl Pipe {
    /// Notes that the response to a request is of no interest any more. It will come nevertheless, before those of
    /// later requests. Returns whether all are abandoned.
    pub fn abandon(&mut self, exchange: u32) -> bool {
        let Some(entry) = self.queue.iter_mut().find(|(id, _)| *id == exchange) else { return false };
        entry.0 = NONE;
        self.queue.iter().all(|(id, _)| *id == NONE)
    }
}

/// Frames on their way out. A worker lends it to a link from its first frame to the flush.
#[derive(Default)]
pub(crate) struct Outgoing {
    /// Frames that the kernel, or TLS, has not taken.
    pub out: Vec<u8>,
    /// Exchanges whose requests are in `out`, and whose send time is that of the next flush.
    pub begun: Vec<u32>,
    /// Where the frames of the first of these begin in `out`.
    begun_from: usize,
}

/// Exchanges that cannot continue.
#[derive(Default)]
struct Queues {
    waiting: VecDeque<u32>,
    uploads: Vec<u32>,
}

/// The session of a link that speaks HTTP/2, or HTTP/1.1 with pipelining.
pub(crate) struct Multiplex {
    /// `None`: not connected.
    pub wire: Option<Session>,
    /// A pipelined link; it never has a `wire`.
    pub pipe: Option<Box<Pipe>>,
    /// At rest, there is none.
    pub outgoing: Option<Box<Outgoing>>,
    /// The first exchange that waits for the link to open, or for a stream; [`NONE`]: none does.
    first: u32,
    /// The others; `None` while all exchanges have their streams, which is nearly always.
    queues: Option<Box<Queues>>,
    /// Exchanges on this link, in any phase.
    pub assigned: u32,
    /// It has served as many requests as the plan allows: it closes with its last stream.
    pub is_closing: bool,
    /// The server's first SETTINGS have arrived.
    pub is_settled: bool,
    /// It is in the worker's list of links to flush.
    pub is_dirty: bool,
    /// Another link has taken its place with its users: it is unused once it is closed.
    pub is_replaced: bool,
    /// It is in the list of links that no user has, or that users share.
    pub is_listed: bool,
}

impl Multiplex {
    pub fn new() -> Multiplex {
        Multiplex {
            wire: None,
            pipe: None,
            outgoing: None,
            first: NONE,
            queues: None,
            assigned: 0,
            is_closing: false,
            is_settled: false,
            is_dirty: false,
            is_replaced: false,
            is_listed: false,
        }
    }

    /// Creates the session of a pipelined link with at most `depth` requests in flight.
    pub fn pipelined(depth: u32) -> Multiplex {
        let (session, queue) = (h1::Session::new(), VecDeque::new());
        let pipe = Some(Box::new(Pipe { session, queue, depth, is_open: false }));
        Multiplex { pipe, ..Multiplex::new() }
    }

    /// Returns whether it can send.
    pub fn is_started(&self) -> bool {
        self.wire.is_some() || self.pipe.as_ref().is_some_and(|pipe| pipe.is_open)
    }

    /// Begins the session of a new connection.
    pub fn start(&mut self, config: Config) {
        if let Some(pipe) = &mut self.pipe {
            pipe.is_open = true;
            return;
        }
        let mut wire = Session::new(config);
        wire.start(self.out());
        self.wire = Some(wire);
    }

    /// Returns the frames that wait to be sent.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing.get_or_insert_default().out
    }

    /// Returns the session, and the frames that wait to be sent; `None` if HTTP/2 is not connected.
    #[inline]
    pub fn wire_and_out(&mut self) -> Option<(&mut Session, &mut Vec<u8>)> {
        let wire = self.wire.as_mut()?;
        Some((wire, &mut self.outgoing.get_or_insert_default().out))
    }

    #[inline]
    pub fn has_out(&self) -> bool {
        self.outgoing.as_ref().is_some_and(|outgoing| !outgoing.out.is_empty())
    }

    #[inline]
    pub fn has_begun(&self) -> bool {
        self.outgoing.as_ref().is_some_and(|outgoing| !outgoing.begun.is_empty())
    }

    /// Returns the exchanges whose requests were not sent yet.
    pub fn begun(&self) -> &[u32] {
        self.outgoing.as_ref().map_or(&[], |outgoing| &outgoing.begun)
    }

    /// Takes the exchanges whose requests were not sent yet.
    pub fn take_begun(&mut self) -> Vec<u32> {
        self.outgoing.as_mut().map(|outgoing| std::mem::take(&mut outgoing.begun)).unwrap_or_default()
    }

    /// Adds an exchange that waits for the link to open, or for a stream.
    pub fn wait(&mut self, id: u32) {
        match self.first {
            NONE => self.first = id,
            _ => self.queues.get_or_insert_default().waiting.push_back(id),
        }
    }

    /// Adds an exchange that must wait once more, in front of the others.
    pub fn wait_first(&mut self, id: u32) {
        let second = std::mem::replace(&mut self.first, id);
        if second != NONE {
            self.queues.get_or_insert_default().waiting.push_front(second);
        }
    }

    /// Takes the first exchange that waits.
    pub fn next_waiting(&mut self) -> Option<u32> {
        let second = self.queues.as_mut().and_then(|queues| queues.waiting.pop_front());
        let first = std::mem::replace(&mut self.first, second.unwrap_or(NONE));
        (first != NONE).then_some(first)
    }

    /// Returns the exchanges that wait, in their order.
    pub fn all_waiting(&self) -> impl Iterator<Item = &u32> {
        let others = self.queues.iter().flat_map(|queues| &queues.waiting);
        std::iter::once(&self.first).filter(|first| **first != NONE).chain(others)
    }

    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.first != NONE
    }

    /// Takes all exchanges that wait.
    pub fn take_waiting(&mut self) -> VecDeque<u32> {
        let mut all =
            self.queues.as_mut().map(|queues| std::mem::take(&mut queues.waiting)).unwrap_or_default();
        if self.first != NONE {
            all.push_front(std::mem::replace(&mut self.first, NONE));
        }
        all
    }

    /// Exchanges whose bodies are not completely in the frames that wait.
    pub fn uploads(&mut self) -> &mut Vec<u32> {
        &mut self.queues.get_or_insert_default().uploads
    }

    #[inline]
    pub fn has_uploads(&self) -> bool {
        self.queues.as_ref().is_some_and(|queues| !queues.uploads.is_empty())
    }

    /// Drops an exchange's upload.
    pub fn drop_upload(&mut self, id: u32) {
        if let Some(queues) = &mut self.queues {
            queues.uploads.retain(|upload| *upload != id);
        }
    }

    /// Frees the queues of a link that has just opened, if they are empty: as a rule, they stay so.
    pub fn free_queues(&mut self) {
        if !self.has_waiting() && !self.has_uploads() {
            self.queues = None;
        }
    }

    /// Returns how many streams may be opened now.
    #[inline]
    pub fn room(&self) -> u32 {
        match (&self.wire, &self.pipe) {
            (Some(wire), _) if !self.is_closing => wire.room(),
            (None, Some(pipe)) if pipe.is_open && !self.is_closing => {
                pipe.depth.saturating_sub(pipe.queue.len() as u32)
            }
            _ => 0,
        }
    }

    /// Returns whether the server accepts extended CONNECT (RFC 8441); `None`: its settings have not arrived.
    pub fn opens_sockets(&self) -> Option<bool> {
        self.wire.as_ref().filter(|wire| wire.is_settled()).map(Session::allows_connect)
    }

    /// Returns whether the server's settings have not arrived on an open connection.
    pub fn is_unsettled(&self) -> bool {
        self.wire.as_ref().is_some_and(|wire| !wire.is_settled())
    }

    /// Returns whether the server allows fewer streams than the plan.
    pub fn is_limited_by_server(&self) -> bool {
        self.wire.as_ref().is_some_and(|wire| wire.is_settled() && !wire.is_draining() && wire.own_room() > 0)
    }

    /// Returns whether it opens no more streams.
    pub fn is_draining(&self) -> bool {
        self.is_closing || self.wire.as_ref().is_some_and(Session::is_draining)
    }

    #[inline]
    pub fn open_streams(&self) -> u32 {
        match (&self.wire, &self.pipe) {
            (Some(wire), _) => wire.open_streams(),
            (None, Some(pipe)) => pipe.queue.len() as u32,
            (None, None) => 0,
        }
    }

    /// Returns whether no exchange uses it.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        self.assigned == 0 && self.open_streams() == 0
    }

    /// Returns whether another exchange may be assigned to it.
    pub fn is_shareable(&self, users: u32) -> bool {
        !self.is_replaced && !self.is_draining() && self.assigned < users
    }

    /// Notes an exchange whose request is appended to `out` from here.
    #[inline]
    pub fn begin(&mut self, id: u32, from: usize) {
        let outgoing = self.outgoing.get_or_insert_default();
        if outgoing.begun.is_empty() {
            outgoing.begun_from = from;
        }
        outgoing.begun.push(id);
    }

    /// Removes the frames of streams from this number that were not sent, since the first request that was not.
    pub fn withdraw_from(&mut self, stream: u32) {
        let Some(outgoing) = &mut self.outgoing else { return };
        let Outgoing { out, begun, begun_from } = &mut **outgoing;
        if begun.is_empty() {
            return;
        }
        if self.pipe.is_some() {
            return out.truncate(*begun_from);
        }
        let (mut at, mut kept) = (*begun_from, *begun_from);
        while let Some(&[a, b, c, _, _, s0, s1, s2, s3]) = out.get(at..).and_then(<[u8]>::first_chunk) {
            let end = (at + 9 + u32::from_be_bytes([0, a, b, c]) as usize).min(out.len());
            if u32::from_be_bytes([s0, s1, s2, s3]) < stream {
                out.copy_within(at..end, kept);
                kept += end - at;
            }
            at = end;
        }
        out.truncate(kept);
    }

    /// Forgets the connection; exchanges that wait stay.
    pub fn reset(&mut self) {
        self.wire = None;
        if let Some(pipe) = &mut self.pipe {
            (pipe.session, pipe.is_open) = (h1::Session::new(), false);
            pipe.queue.clear();
        }
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.out.clear();
            outgoing.begun.clear();
        }
        if let Some(queues) = &mut self.queues {
            queues.uploads.clear();
        }
        self.is_settled = false;
        self.is_closing = false;
    }
}
