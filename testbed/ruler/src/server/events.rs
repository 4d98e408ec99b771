//! Event streams: a response opens them, timers feed them, and their count, `/events/stop`, or the client ends them.
//!
//! An idle stream costs its connection, its plan, and one timer; no code runs for it until an event is due.

use super::Server;
use super::http2::Streams;
use super::slots::{Closed, Slots, Stage};
use crate::clock::{both_ns, now_ns};
use crate::error::Error;
use crate::feed::Feed;
use crate::listener::make_close_reset;
use crate::outgoing::End;
use crate::pages::Page;
use crate::timers::{Key, Task, Ticket};

/// A client with this many unread bytes gets no further events until it reads.
const UNSENT_MOST: usize = 1 << 20;

/// An event stream with its buffer, on a connection of HTTP/1 or a stream of HTTP/2.
struct Writing<'a> {
    feed: &'a mut Feed,
    out: &'a mut Vec<u8>,
    /// Bytes in the buffer that are not sent.
    unsent: usize,
}

fn writing<'a>(slots: &'a mut Slots, streams: &'a mut Streams, ticket: Ticket) -> Option<Writing<'a>> {
    if ticket.key.is_stream() {
        let stream = streams.get(ticket.key)?;
        let unsent = stream.out.len();
        return Some(Writing { feed: stream.feed.as_deref_mut()?, out: &mut stream.out, unsent });
    }
    let connection = slots.at(ticket)?;
    let unsent = connection.out.unsent();
    Some(Writing { feed: connection.feed.as_deref_mut()?, out: connection.out.pieces(), unsent })
}

/// A broadcast in progress: streams with the same tick are served sequentially.
#[derive(Default)]
pub(super) struct Fan {
    tick_ns: u64,
    served: u64,
}

impl Fan {
    /// Returns how many streams were served at this tick before this one.
    fn place(&mut self, tick_ns: u64) -> u64 {
        if self.tick_ns != tick_ns {
            *self = Fan { tick_ns, served: 0 };
        }
        self.served += 1;
        self.served - 1
    }
}

impl Server {
    /// Sends the head of a stream from the buffer, and waits for the first event.
    pub(super) fn open_feed(&mut self, ticket: Ticket, chunked: bool) -> Result<(), Error> {
        let Some(connection) = self.slots.at(ticket) else { return Ok(()) };
        let page = connection.exchange.as_mut().and_then(|exchange| exchange.page.take());
        let Some(Page::Feed(plan)) = page.map(|page| *page) else { return Ok(()) };
        let (now, wall) = both_ns();
        let feed = Feed::new(plan, chunked, now, wall);
        feed.push_opening(connection.out.bytes());
        let (due_ns, comment_ns) = (feed.due(now, wall).0, feed.plan.comment_every_ns);
        connection.feed = Some(Box::new(feed));
        connection.stage = Stage::Streaming;
        self.streams_open += 1;
        self.recorder.counters.streams_opened += 1;
        self.timers.push(due_ns, Task::Event(ticket));
        if comment_ns > 0 {
            self.timers.push(now + comment_ns, Task::Comment(ticket));
        }
        self.flush(ticket.key)
    }

    /// Handles a planned event: emits it now, or after its place in a broadcast, its jitter, and a pause.
    pub(super) fn event_due(&mut self, ticket: Ticket, due_ns: u64) -> Result<(), Error> {
        let writing = writing(&mut self.slots, &mut self.multiplexed, ticket);
        let Some(Writing { feed, .. }) = writing else { return Ok(()) };
        let mut emit_ns = due_ns + feed.jitter_ns(&mut self.streams.jitter);
        if feed.plan.fanout_ns > 0 {
            let tick_ns = feed.due(0, 0).1;
            emit_ns += self.fan.place(tick_ns) * feed.plan.fanout_ns;
        }
        emit_ns = self.held(emit_ns);
        if emit_ns <= now_ns() {
            return self.emit(ticket, emit_ns);
        }
        self.timers.push(emit_ns, Task::Emit(ticket));
        Ok(())
    }

    /// Writes the next events of the stream, and waits for those after them.
    pub(super) fn emit(&mut self, ticket: Ticket, due_ns: u64) -> Result<(), Error> {
        // A pause that was set in the meantime applies, too.
        let held_ns = self.held(due_ns);
        if held_ns > due_ns {
            self.timers.push(held_ns, Task::Emit(ticket));
            return Ok(());
        }
        let writing = writing(&mut self.slots, &mut self.multiplexed, ticket);
        let Some(Writing { feed, out, unsent }) = writing else { return Ok(()) };
        let (now, wall) = both_ns();
        let at_ns = feed.due(now, wall).1;
        if unsent < UNSENT_MOST {
            let sent = feed.push_events(out, at_ns, wall);
            self.recorder.counters.events_sent += sent;
        } else {
            self.recorder.counters.events_skipped += 1;
        }
        if feed.advance() {
            let next_ns = feed.due(now, wall).0;
            self.timers.push(next_ns, Task::Event(ticket));
        } else {
            feed.push_end(out);
            self.recorder.counters.streams_ended += 1;
            self.end_feed(ticket.key, now);
        }
        self.write_feed(ticket.key)
    }

    pub(super) fn comment_due(&mut self, ticket: Ticket, due_ns: u64) -> Result<(), Error> {
        let writing = writing(&mut self.slots, &mut self.multiplexed, ticket);
        let Some(Writing { feed, out, unsent }) = writing else { return Ok(()) };
        if unsent < UNSENT_MOST {
            feed.push_comment(out);
        }
        self.timers.push(due_ns + feed.plan.comment_every_ns, Task::Comment(ticket));
        self.write_feed(ticket.key)
    }

    /// Closes all streams, each with the end of its response and FIN, or by RST. Returns their number.
    pub(super) fn stop_feeds(&mut self, reset: bool) -> Result<u64, Error> {
        let mut closed = self.stop_stream_feeds(reset);
        for key in self.slots.keys() {
            let Some(connection) = self.slots.get(key) else { continue };
            if connection.stage != Stage::Streaming {
                continue;
            }
            closed += 1;
            if reset {
                make_close_reset(&connection.socket).map_err(Error::machine("prepare a reset"))?;
                self.close(key, Closed::Server)?;
                continue;
            }
            if let Some(feed) = connection.feed.take() {
                feed.push_end(connection.out.pieces());
                connection.out.end = End::Close;
                self.recorder.counters.streams_closed_by_server += 1;
                self.end_feed(key, now_ns());
                self.write_feed(key)?;
            }
        }
        Ok(closed)
    }

    /// Ends a stream whose last bytes are in the buffer: now it is an ordinary response.
    fn end_feed(&mut self, key: Key, now: u64) {
        self.streams_open -= 1;
        if key.is_stream() {
            return self.end_stream_feed(key, now);
        }
        let Some(connection) = self.slots.get(key) else { return };
        connection.feed = None;
        connection.stage = Stage::Writing;
        if let Some(exchange) = &connection.exchange
            && let Some(entry) = self.recorder.entry(exchange.mark)
        {
            // The end is due now: the length of a stream must not count as a delay of the ruler.
            entry.commanded_ns = now.saturating_sub(entry.arrive_ns);
        }
    }

    /// Ends the stream, if there is one, of a connection that is closed.
    pub(super) fn feed_closed(&mut self, key: Key, who: Closed) {
        let Some(connection) = self.slots.get(key) else { return };
        if connection.feed.take().is_none() {
            return;
        }
        self.count_closed_feed(who);
    }

    pub(super) fn count_closed_feed(&mut self, who: Closed) {
        self.streams_open -= 1;
        match who {
            Closed::Server => self.recorder.counters.streams_closed_by_server += 1,
            Closed::Peer | Closed::PeerReset => self.recorder.counters.streams_closed_by_peer += 1,
        }
    }

    /// Sends the buffer, unless the socket is known to be full.
    fn write_feed(&mut self, key: Key) -> Result<(), Error> {
        if key.is_stream() {
            self.write_stream_feed(key);
            return Ok(());
        }
        match self.slots.get(key) {
            Some(connection) if !connection.blocked && !connection.lost => {
                self.flush(key)?;
                self.pump(key)
            }
            _ => Ok(()),
        }
    }
}
