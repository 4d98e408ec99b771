//! The streams of all HTTP/2 connections, each in a slot with a key, so that timers, queue model, and event streams
//! treat them as they treat the connections of HTTP/1.

use super::wire::Wire;
use crate::feed::Feed;
use crate::server::Server;
use crate::server::slots::{Exchange, Stage};
use crate::timers::{Key, Ticket};
use bytes::Bytes;
use h2::SendStream;
use h2::server::SendResponse;
use std::cell::RefCell;
use std::rc::Rc;

/// The end of a response after its sent body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    End,
    Trailers,
    /// Trailers with the status of a gRPC call.
    GrpcStatus,
    /// RST_STREAM with this code.
    Reset(u32),
    /// The end of the connection.
    Close,
    Nothing,
}

/// The rest of a body.
pub(super) struct Body {
    /// None: the pattern.
    pub(super) content: Option<Bytes>,
    pub(super) offset: u64,
    pub(super) left: u64,
    /// The most in one DATA frame.
    pub(super) chunk: u64,
    pub(super) after: After,
}

impl Body {
    pub(super) fn empty() -> Self {
        Body { content: None, offset: 0, left: 0, chunk: u64::MAX, after: After::End }
    }
}

/// One stream with a complete request.
pub(in crate::server) struct Stream {
    pub(super) connection: Key,
    pub(super) id: u32,
    pub(super) wire: Rc<RefCell<Wire>>,
    /// None for a command.
    pub(super) exchange: Option<Exchange>,
    pub(super) stage: Stage,
    pub(super) respond: SendResponse<Bytes>,
    /// Present since the head of the response.
    pub(super) sender: Option<SendStream<Bytes>>,
    pub(super) body: Body,
    /// The response is an event stream.
    pub(super) is_feed: bool,
    /// The event stream while it is being written, and its events that are not sent yet.
    pub(in crate::server) feed: Option<Box<Feed>>,
    pub(in crate::server) out: Vec<u8>,
}

#[derive(Default)]
struct Slot {
    tenant: u32,
    stream: Option<Box<Stream>>,
}

#[derive(Default)]
pub(in crate::server) struct Streams {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Streams {
    pub(super) fn insert(&mut self, stream: Stream) -> Key {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let place = &mut self.slots[slot as usize];
        place.stream = Some(Box::new(stream));
        Key { slot: slot | Key::STREAM, tenant: place.tenant }
    }

    /// Returns the stream, unless it is gone or the key is that of a connection.
    pub(in crate::server) fn get(&mut self, key: Key) -> Option<&mut Stream> {
        let place = self.slots.get_mut(key.stream_slot()?)?;
        if place.tenant == key.tenant { place.stream.as_deref_mut() } else { None }
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<Box<Stream>> {
        self.get(key)?;
        let slot = key.stream_slot()?;
        let place = self.slots.get_mut(slot)?;
        let stream = place.stream.take()?;
        place.tenant = place.tenant.wrapping_add(1) & Key::TENANT_MASK;
        self.free.push(slot as u32);
        Some(stream)
    }

    /// Those that write events.
    pub(super) fn feeds(&self) -> Vec<Key> {
        let here = self.slots.iter().enumerate();
        let feeds = here.filter(|(_, place)| place.stream.as_ref().is_some_and(|it| it.feed.is_some()));
        feeds.map(|(slot, place)| Key { slot: slot as u32 | Key::STREAM, tenant: place.tenant }).collect()
    }
}

impl Server {
    /// Returns the request of a ticket, on a connection or a stream, unless it is gone.
    pub(in crate::server) fn exchange(&mut self, ticket: Ticket) -> Option<&mut Exchange> {
        match ticket.key.is_stream() {
            false => self.slots.at(ticket)?.exchange.as_mut(),
            true => self.multiplexed.get(ticket.key)?.exchange.as_mut(),
        }
    }
}
