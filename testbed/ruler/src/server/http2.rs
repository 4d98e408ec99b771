//! HTTP/2 by the `h2` crate, on the same thread and in the same record as HTTP/1.
//!
//! A connection that begins with the preface of HTTP/2 is handed over. Its socket stays with the event loop:
//! `multiplex` is the library with its streams, `wire` the memory through which it reads and writes, `frames` reads
//! along, `tls` is a layer below. `streams` holds the requests, `begin` takes them in, `answer` and `body` respond to
//! them, and `feeds` writes their event streams. HTTP/1 pays nothing for this: the preface is only looked for where a
//! request is refused.

mod answer;
mod begin;
mod body;
mod feeds;
mod frames;
mod multiplex;
mod streams;
mod tls;
mod wire;

pub(super) use multiplex::Multiplex;
pub(super) use streams::Streams;
pub(super) use tls::Front;

use super::Server;
use super::slots::{Closed, Stage};
use crate::clock::now_ns;
use crate::error::Error;
use crate::http2::Writes;
use crate::timers::{Key, Task};
use multiplex::{Polled, State};
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, send, shutdown};
use std::cell::RefCell;
use tls::Took;
use wire::{Ending, Wire};

/// The request head that the HTTP/1 reader sees when HTTP/2 begins (RFC 9113, 3.4).
const OPENING: &[u8] = b"PRI * HTTP/2.0\r\n\r\n";
/// Rounds that one connection gets before the other connections are served.
const ROUNDS: usize = 64;

impl Server {
    /// Switches a connection to HTTP/2 if it begins with the preface and the settings allow it.
    pub(super) fn becomes_http2(&mut self, key: Key) -> bool {
        let settings = &self.settings.service.http2;
        let Some(connection) = self.slots.get(key) else { return false };
        if !settings.enabled || connection.turn > 0 || connection.reader.raw != OPENING {
            return false;
        }
        let multiplex = Multiplex::new(settings);
        let mut wire = multiplex.wire.borrow_mut();
        wire.receive(&connection.reader.raw, connection.read_ns);
        wire.counts.connections = 1;
        drop(wire);
        connection.reader.restart();
        connection.stage = Stage::Multiplexed;
        connection.http2 = Some(Box::new(multiplex));
        true
    }

    /// Lists this connection, so that the loop serves it before it sleeps.
    fn list(&mut self, connection: Key, wire: &RefCell<Wire>) {
        if !std::mem::replace(&mut wire.borrow_mut().listed, true) {
            self.listed.push(connection);
        }
    }

    /// Serves the connections that have something to write.
    pub(super) fn drive_listed(&mut self) -> Result<(), Error> {
        while let Some(key) = self.listed.pop() {
            self.drive(key)?;
        }
        Ok(())
    }

    /// Returns true if each response gets its own write.
    pub(super) fn writes_singly(&self) -> bool {
        self.settings.service.http2.writes == Writes::Single
    }

    /// Reads, responds, and writes on an HTTP/2 connection until nothing more is possible.
    pub(super) fn drive(&mut self, key: Key) -> Result<(), Error> {
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        let Some(mut multiplex) = connection.http2.take() else { return Ok(()) };
        // This round must not list it again.
        multiplex.wire.borrow_mut().listed = true;
        let mut closed = None;
        let mut more = true;
        for _ in 0..ROUNDS {
            closed = self.round(key, &mut multiplex)?;
            more = closed.is_none() && self.has_more(key, &multiplex);
            if !more {
                break;
            }
        }
        self.take_counts(key, &multiplex, closed.is_some());
        multiplex.wire.borrow_mut().listed = false;
        if more {
            self.timers.push(now_ns(), Task::ReadOn(key));
        }
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        match closed {
            Some(who) => {
                if who == Closed::Server {
                    self.say_end(key, &mut multiplex);
                }
                self.abandon_streams(&mut multiplex, who);
                self.close(key, who)
            }
            None => {
                connection.http2 = Some(multiplex);
                Ok(())
            }
        }
    }

    /// Another round has more to do.
    fn has_more(&mut self, key: Key, multiplex: &Multiplex) -> bool {
        let wire = multiplex.wire.borrow();
        let Some(connection) = self.slots.get(key) else { return false };
        let writes = multiplex.has_unsent() && !connection.blocked;
        multiplex.is_woken() || wire.has_news() || (!connection.lost && (connection.unread || writes))
    }

    /// Reads, responds, and writes once. Returns who ended the connection, if it is over.
    fn round(&mut self, key: Key, multiplex: &mut Multiplex) -> Result<Option<Closed>, Error> {
        if !self.take_input(key, multiplex) {
            // The alert goes out as far as it can.
            self.write_out(key, multiplex);
            return Ok(Some(Closed::Server));
        }
        let single = self.writes_singly();
        let mut batch = Vec::new();
        let ended = loop {
            let polled = multiplex.poll();
            if single {
                self.write_out(key, multiplex);
            }
            match polled {
                Polled::Accepted(accepted) if single => self.take_request(key, multiplex, *accepted)?,
                Polled::Accepted(accepted) => batch.push(*accepted),
                Polled::Pending => break None,
                Polled::Ended(malformed) => break Some(malformed),
            }
        };
        for accepted in batch {
            self.take_request(key, multiplex, accepted)?;
        }
        while let Some(upload) = multiplex.complete_upload() {
            self.begin_stream(key, multiplex, upload)?;
            if single && let Polled::Accepted(accepted) = multiplex.poll() {
                self.write_out(key, multiplex);
                self.take_request(key, multiplex, *accepted)?;
            }
        }
        self.apply_resets(multiplex);
        self.write_bodies(multiplex);
        self.write_out(key, multiplex);
        let at_rest = ended.is_none() && !multiplex.is_woken();
        if at_rest && multiplex.wire.borrow_mut().show_end() {
            multiplex.waker.wake_by_ref();
        }
        self.settle(key, multiplex, ended)
    }

    /// Passes received bytes to the library; returns false for invalid TLS.
    fn take_input(&mut self, key: Key, multiplex: &mut Multiplex) -> bool {
        if self.slots.get(key).is_some_and(|connection| connection.unread) {
            self.read(key, now_ns());
        }
        let Some(connection) = self.slots.get(key) else { return true };
        let came = &connection.input[connection.used..];
        let valid = if multiplex.tls.is_some() {
            let opened = multiplex.opened(came);
            multiplex.wire.borrow_mut().receive(opened.as_deref().unwrap_or_default(), connection.read_ns);
            opened.is_some()
        } else {
            multiplex.wire.borrow_mut().receive(came, connection.read_ns);
            true
        };
        multiplex.wire.borrow_mut().at_end |= connection.at_end || connection.lost;
        connection.input.clear();
        connection.input.shrink_to(super::SCRATCH);
        connection.used = 0;
        valid
    }

    /// Writes as much as the socket takes, and concludes the requests whose responses are written.
    fn write_out(&mut self, key: Key, multiplex: &mut Multiplex) {
        let Some(connection) = self.slots.get(key) else { return };
        let mut wire = multiplex.wire.borrow_mut();
        while !connection.blocked && !connection.lost {
            let was_full = wire.is_full();
            let bytes = Multiplex::to_send(&mut multiplex.tls, &wire);
            if bytes.is_empty() {
                break;
            }
            match send(&connection.socket, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => {
                    // A short write says that the socket is full.
                    connection.blocked = sent < bytes.len();
                    wire.counts.writes += 1;
                    match &mut multiplex.tls {
                        None => wire.took(sent, now_ns()),
                        Some(tls) => {
                            if let Took::All(plain) = tls.took(sent) {
                                wire.took(plain, now_ns());
                            }
                        }
                    }
                }
                Err(Errno::AGAIN) => connection.blocked = true,
                Err(Errno::INTR) => {}
                Err(_) => connection.lost = true,
            }
            if was_full && !wire.is_full() {
                multiplex.waker.wake_by_ref();
            }
        }
        let finished = std::mem::take(&mut wire.finished);
        drop(wire);
        for (stream, now) in finished {
            self.conclude_stream(key, multiplex, stream, now);
        }
    }

    /// Ends the connection if a key demands it, or if the library or the client has ended it.
    fn settle(
        &mut self,
        key: Key,
        multiplex: &mut Multiplex,
        ended: Option<bool>,
    ) -> Result<Option<Closed>, Error> {
        let (idle, all_sent) = (multiplex.is_idle(), !multiplex.has_unsent());
        let Some(connection) = self.slots.get(key) else { return Ok(None) };
        let wire = multiplex.wire.borrow();
        if connection.lost && (wire.end_due || ended.is_some()) {
            return Ok(Some(Closed::PeerReset));
        }
        if let Some(malformed) = ended {
            if malformed && !wire.at_end {
                self.recorder.counters.malformed += 1;
            }
            return Ok(Some(if wire.at_end { Closed::Peer } else { Closed::Server }));
        }
        if let State::Over = multiplex.state {
            return Ok(wire.at_end.then_some(Closed::Server));
        }
        match wire.ending {
            Some(Ending::Now) if all_sent => Ok(Some(Closed::Server)),
            // Closing at once could destroy what the client has not read: requests beyond the last are on their way.
            Some(Ending::Drained) if idle && all_sent => {
                drop(wire);
                self.say_end(key, multiplex);
                let Some(connection) = self.slots.get(key) else { return Ok(None) };
                multiplex.state = State::Over;
                connection.lost = shutdown(&connection.socket, Shutdown::Write).is_err();
                multiplex.waker.wake_by_ref();
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Announces the end of TLS, if there is any.
    fn say_end(&mut self, key: Key, multiplex: &mut Multiplex) {
        if let Some(tls) = &mut multiplex.tls {
            tls.end();
            self.write_out(key, multiplex);
        }
    }

    /// Adds the counts of the connection, unless its first request is a command: then it belongs to the tester.
    fn take_counts(&mut self, key: Key, multiplex: &Multiplex, is_over: bool) {
        let Some(connection) = self.slots.get(key) else { return };
        if (connection.turn > 0 || is_over) && !connection.is_control {
            let counts = std::mem::take(&mut multiplex.wire.borrow_mut().counts);
            self.recorder.counters.http2.merge(&counts);
        }
    }

    /// Closes an idle connection with GOAWAY and FIN.
    pub(super) fn leave_idle(&mut self, key: Key) -> Result<(), Error> {
        let multiplex = self.slots.get(key).and_then(|connection| connection.http2.as_ref());
        let Some(multiplex) = multiplex else { return self.close(key, Closed::Server) };
        let mut wire = multiplex.wire.borrow_mut();
        let last = wire.highest;
        wire.go_away(last, 0);
        wire.ending = Some(Ending::Now);
        drop(wire);
        self.drive(key)
    }
}
