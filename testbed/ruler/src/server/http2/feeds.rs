//! Event streams over HTTP/2: the plan and its timers are those of HTTP/1, the events are pieces of a body.

use super::streams::{After, Body, Stream};
use crate::clock::both_ns;
use crate::error::Error;
use crate::feed::Feed;
use crate::pages::Page;
use crate::server::Server;
use crate::server::slots::{Closed, Stage};
use crate::timers::{Key, Task, Ticket};
use bytes::Bytes;
use h2::Reason;
use std::task::Context;

impl Server {
    /// Schedules the first event of a stream whose head is sent.
    pub(super) fn open_stream_feed(&mut self, key: Key) -> Result<(), Error> {
        let Some(stream) = self.multiplexed.get(key) else { return Ok(()) };
        let page = stream.exchange.as_mut().and_then(|exchange| exchange.page.take());
        let Some(Page::Feed(plan)) = page.map(|page| *page) else { return Ok(()) };
        let (now, wall) = both_ns();
        let feed = Feed::new(plan, false, now, wall);
        feed.push_opening(&mut stream.out);
        let (due_ns, comment_ns) = (feed.due(now, wall).0, feed.plan.comment_every_ns);
        stream.feed = Some(Box::new(feed));
        stream.is_feed = true;
        stream.stage = Stage::Streaming;
        self.streams_open += 1;
        self.recorder.counters.streams_opened += 1;
        let ticket = Ticket { key, turn: 0 };
        self.timers.push(due_ns, Task::Event(ticket));
        if comment_ns > 0 {
            self.timers.push(now + comment_ns, Task::Comment(ticket));
        }
        self.write_stream_feed(key);
        Ok(())
    }

    /// Schedules the buffer to be written in the connection's next round.
    pub(in crate::server) fn write_stream_feed(&mut self, key: Key) {
        let Some(stream) = self.multiplexed.get(key) else { return };
        let (connection, wire) = (stream.connection, stream.wire.clone());
        wire.borrow_mut().has_more_of(key);
        self.list(connection, &wire);
    }

    /// Ends an event stream whose last bytes are in the buffer.
    pub(in crate::server) fn end_stream_feed(&mut self, key: Key, now: u64) {
        let Some(stream) = self.multiplexed.get(key) else { return };
        stream.feed = None;
        stream.stage = Stage::Writing;
        stream.body = Body { after: After::End, ..Body::empty() };
        if let Some(exchange) = &stream.exchange
            && let Some(entry) = self.recorder.entry(exchange.mark)
        {
            entry.commanded_ns = now.saturating_sub(entry.arrive_ns);
        }
    }

    /// Counts the end of an event stream, if the closed stream was one.
    pub(super) fn feed_of_stream_closed(&mut self, key: Key, who: Closed) {
        let feed = self.multiplexed.get(key).and_then(|stream| stream.feed.take());
        if feed.is_some() {
            self.count_closed_feed(who);
        }
    }

    /// Closes all event streams on HTTP/2: each with its end, or by RST_STREAM. Returns their number.
    pub(in crate::server) fn stop_stream_feeds(&mut self, reset: bool) -> u64 {
        let keys = self.multiplexed.feeds();
        for &key in &keys {
            if reset {
                let mark = self.exchange(Ticket { key, turn: 0 }).map(|exchange| exchange.mark);
                if mark.is_some_and(|mark| self.recorder.remembers(mark)) {
                    self.recorder.counters.abandoned += 1;
                }
                self.reset_stream(key, Reason::INTERNAL_ERROR.into());
                continue;
            }
            self.streams_open -= 1;
            self.recorder.counters.streams_closed_by_server += 1;
            self.end_stream_feed(key, crate::clock::now_ns());
            self.write_stream_feed(key);
        }
        keys.len() as u64
    }
}

impl Stream {
    /// Passes buffered events to the library, and the end after the last one; returns true if nothing waits for a
    /// window.
    pub(super) fn write_events(&mut self, context: &mut Context<'_>) -> bool {
        while !self.out.is_empty() {
            let Some(room) = self.room(self.out.len() as u64, context) else { return false };
            let piece: Vec<u8> = self.out.drain(..room as usize).collect();
            self.send_events(piece.into(), false);
        }
        if self.feed.is_none() && self.body.after == After::End {
            self.body.after = After::Nothing;
            self.send_events(Bytes::new(), true);
        }
        true
    }

    fn send_events(&mut self, piece: Bytes, ends: bool) {
        if let Some(sender) = &mut self.sender {
            // It fails only when the client has reset the stream, which is seen on the wire.
            let _ = sender.send_data(piece, ends);
        }
    }
}
