//! The connections: slots are reused, keys are not.

use super::http2::Multiplex;
use crate::fault::Fault;
use crate::feed::Feed;
use crate::outgoing::Outgoing;
use crate::pages::Page;
use crate::record::Mark;
use crate::request::Reader;
use crate::settings::Behavior;
use crate::timers::{Key, Ticket};
use crate::websocket::Peer;
use rustix::fd::OwnedFd;
use std::rc::Rc;

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Waits for a request, or reads one.
    Reading,
    /// Has a request without a response.
    Waiting,
    /// Writes a response.
    Writing,
    /// Writes the events of a stream when they are due.
    Streaming,
    /// Speaks WebSocket.
    Socket,
    /// Writes nothing more; waits for the peer to close.
    Holding,
    /// Speaks HTTP/2; each of its streams has a stage.
    Multiplexed,
}

/// The side that ended a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    Peer,
    PeerReset,
    Server,
}

/// One request that is being served.
pub(super) struct Exchange {
    pub(super) mark: Mark,
    pub(super) behavior: Rc<Behavior>,
    pub(super) status: u16,
    pub(super) fault: Option<Fault>,
    /// The response of a special endpoint.
    pub(super) page: Option<Box<Page>>,
    /// The fault is an overflow of the queue, not one of the fault keys.
    pub(super) overflowed: bool,
    pub(super) arrive_ns: u64,
    pub(super) head_only: bool,
    pub(super) to_http10: bool,
    pub(super) keep_alive: bool,
    pub(super) asks_keep_alive: bool,
}

pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    /// Ordinal among all connections, from 1.
    pub(super) number: u32,
    pub(super) stage: Stage,
    /// Received and not consumed: `input[used..]`.
    pub(super) input: Vec<u8>,
    pub(super) used: usize,
    pub(super) reader: Reader,
    pub(super) out: Outgoing,
    pub(super) exchange: Option<Exchange>,
    /// The event stream that is being written.
    pub(super) feed: Option<Box<Feed>>,
    /// The WebSocket that it speaks.
    pub(super) peer: Option<Box<Peer>>,
    /// Number of requests.
    pub(super) turn: u32,
    /// When the last bytes were read.
    pub(super) read_ns: u64,
    /// When the last response ended.
    pub(super) free_since_ns: u64,
    pub(super) bytes_in: u64,
    /// The socket was full; epoll reports when it is writable.
    pub(super) blocked: bool,
    /// The kernel may have bytes that were not read because `input` was full.
    pub(super) unread: bool,
    /// The peer has closed its side: read to the end.
    pub(super) peer_going: bool,
    pub(super) at_end: bool,
    /// Reading or writing failed.
    pub(super) lost: bool,
    /// The response to the next request is RST.
    pub(super) doomed: bool,
    /// Its first request was to `/_test-server/`: it belongs to the tester and is not counted.
    pub(super) is_control: bool,
    /// The recorder's epoch in which it was accepted.
    pub(super) epoch: u32,
    pub(super) idle_since_ns: u64,
    pub(super) idle_watched: bool,
    /// None for HTTP/1, and while the streams are being looked after.
    pub(super) http2: Option<Box<Multiplex>>,
}

impl Connection {
    pub(super) fn new(socket: OwnedFd, epoch: u32, now: u64) -> Self {
        Connection {
            socket,
            number: 0,
            stage: Stage::Reading,
            input: Vec::new(),
            used: 0,
            reader: Reader::new(),
            out: Outgoing::new(),
            exchange: None,
            feed: None,
            peer: None,
            turn: 0,
            read_ns: now,
            free_since_ns: 0,
            bytes_in: 0,
            blocked: false,
            unread: false,
            peer_going: false,
            at_end: false,
            lost: false,
            doomed: false,
            is_control: false,
            epoch,
            idle_since_ns: now,
            idle_watched: false,
            http2: None,
        }
    }

    /// Returns true between requests, before the first byte of the next one.
    pub(super) fn is_idle(&self) -> bool {
        if let Some(multiplex) = &self.http2 {
            return multiplex.is_idle();
        }
        self.stage == Stage::Reading
            && self.reader.is_fresh()
            && self.used == self.input.len()
            && !self.unread
    }
}

#[derive(Default)]
struct Slot {
    tenant: u32,
    connection: Option<Box<Connection>>,
}

#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Open connections, without those of the tester.
    open: u64,
    numbered: u32,
}

impl Slots {
    pub(super) fn insert(&mut self, mut connection: Connection) -> Key {
        self.numbered = self.numbered.wrapping_add(1);
        connection.number = self.numbered;
        self.open += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let place = &mut self.slots[slot as usize];
        place.connection = Some(Box::new(connection));
        Key { slot, tenant: place.tenant }
    }

    /// Returns the connection, unless it is closed.
    pub(super) fn get(&mut self, key: Key) -> Option<&mut Connection> {
        let place = self.slots.get_mut(key.slot as usize)?;
        if place.tenant == key.tenant { place.connection.as_deref_mut() } else { None }
    }

    /// Returns the connection if it still serves the request of this ticket.
    pub(super) fn at(&mut self, ticket: Ticket) -> Option<&mut Connection> {
        self.get(ticket.key).filter(|connection| connection.turn == ticket.turn)
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<Box<Connection>> {
        self.get(key)?;
        let place = self.slots.get_mut(key.slot as usize)?;
        let connection = place.connection.take()?;
        place.tenant = place.tenant.wrapping_add(1) & Key::TENANT_MASK;
        self.free.push(key.slot);
        if !connection.is_control {
            self.open -= 1;
        }
        Some(connection)
    }

    /// Marks a connection as one of the tester.
    pub(super) fn exempt(&mut self, key: Key) {
        if let Some(connection) = self.get(key)
            && !connection.is_control
        {
            connection.is_control = true;
            self.open -= 1;
        }
    }

    pub(super) fn open(&self) -> u64 {
        self.open
    }

    pub(super) fn keys(&self) -> Vec<Key> {
        let here = self.slots.iter().enumerate().filter(|(_, place)| place.connection.is_some());
        here.map(|(slot, place)| Key { slot: slot as u32, tenant: place.tenant }).collect()
    }
}
