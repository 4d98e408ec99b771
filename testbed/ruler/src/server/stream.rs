//! Moves bytes: reads until the socket is empty, writes until it is full, closes.

use super::Server;
use super::slots::{Closed, Stage};
use crate::clock::now_ns;
use crate::error::Error;
use crate::listener::make_close_reset;
use crate::outgoing::{End, Wrote};
use crate::request::Heard;
use crate::settings::OnExpect;
use crate::timers::{Key, Task, Ticket};
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

/// Unconsumed bytes of one connection (a pipeline after a slow response) at which reading stops.
const INPUT_MOST: usize = 256 << 10;
/// Consecutive reads of one connection.
const ROUNDS: usize = 16;

impl Server {
    /// Handles an epoll event of a connection's socket.
    pub(super) fn ready(&mut self, key: Key, flags: EventFlags, woke_ns: u64) -> Result<(), Error> {
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        let going = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        connection.peer_going |= going;
        // Read before writing and before evaluating an error: the receive queue may have requests that the client
        // sent before it left, and they must be counted.
        if going || flags.contains(EventFlags::IN) {
            self.read(key, woke_ns);
        }
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        if flags.contains(EventFlags::OUT) && connection.blocked {
            connection.blocked = false;
            let writes = matches!(connection.stage, Stage::Writing | Stage::Streaming | Stage::Socket);
            if writes && !connection.lost {
                self.flush(key)?;
            }
        }
        self.pump(key)
    }

    /// Reads the available bytes into the connection's input. The first piece gets the timestamp of the loop's
    /// wake-up: it was available by then, even if other connections were served first.
    pub(super) fn read(&mut self, key: Key, mut stamp_ns: u64) {
        let Some(connection) = self.slots.get(key) else { return };
        let mut taken = 0;
        connection.unread = false;
        loop {
            if connection.input.len() - connection.used >= INPUT_MOST {
                connection.unread = true;
                break;
            }
            match recv(&connection.socket, &mut self.scratch[..], RecvFlags::empty()) {
                Ok((0, _)) => {
                    connection.at_end = true;
                    break;
                }
                Ok((length, _)) => {
                    connection.input.extend_from_slice(&self.scratch[..length]);
                    connection.read_ns = stamp_ns;
                    taken += length as u64;
                    // A read that does not fill the buffer has emptied the queue; only an end can follow.
                    if length < self.scratch.len() && !connection.peer_going {
                        break;
                    }
                    stamp_ns = now_ns();
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(_) => {
                    connection.lost = true;
                    break;
                }
            }
        }
        if !connection.is_control {
            self.recorder.counters.bytes_in += taken;
            // `exempt` must not subtract bytes of an earlier epoch if this connection belongs to the tester.
            if connection.epoch == self.recorder.epoch() {
                connection.bytes_in += taken;
            }
        }
    }

    /// Serves requests from the input while the connection is ready for one.
    pub(super) fn pump(&mut self, key: Key) -> Result<(), Error> {
        for _ in 0..ROUNDS {
            self.serve_input(key)?;
            let Some(connection) = self.slots.get(key) else { return Ok(()) };
            if connection.stage == Stage::Multiplexed {
                return self.drive(key);
            }
            if connection.stage == Stage::Socket {
                return self.drive_socket(key);
            }
            if connection.lost {
                return self.bury(key);
            }
            if connection.stage == Stage::Holding {
                self.count_rest(key);
            }
            let Some(connection) = self.slots.get(key) else { return Ok(()) };
            let room = connection.input.len() - connection.used < INPUT_MOST;
            if connection.unread && room {
                self.read(key, now_ns());
                continue;
            }
            // A peer that only shut its writing side still gets its response, unless that has no end.
            let over = matches!(connection.stage, Stage::Reading | Stage::Holding | Stage::Streaming);
            if connection.at_end && over {
                return self.close(key, Closed::Peer);
            }
            return Ok(());
        }
        self.timers.push(now_ns(), Task::ReadOn(key));
        Ok(())
    }

    fn serve_input(&mut self, key: Key) -> Result<(), Error> {
        let most = self.raw_most();
        while let Some(connection) = self.slots.get(key) {
            if connection.stage != Stage::Reading || connection.lost {
                break;
            }
            connection.reader.now_ns = connection.read_ns;
            let (used, heard) = connection.reader.feed(&connection.input[connection.used..], most);
            connection.used += used;
            if connection.used == connection.input.len() {
                connection.input.clear();
                connection.input.shrink_to(super::SCRATCH);
                connection.used = 0;
            }
            match heard {
                Heard::Whole => self.begin(key)?,
                Heard::Bad(reason) => self.refuse(key, reason)?,
                Heard::More => break,
                Heard::WaitsForContinue => self.wait_for_body(key),
            }
        }
        Ok(())
    }

    /// Handles a head whose client waits for `100 Continue`.
    fn wait_for_body(&mut self, key: Key) {
        const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
        let Some(connection) = self.slots.get(key) else { return };
        let target = connection.reader.target();
        let query = target.iter().position(|&byte| byte == b'?').map(|at| &target[at + 1..]);
        let own = query.and_then(|query| self.settings.for_request(query).ok());
        match own.as_ref().unwrap_or(&self.settings.behavior).on_expect {
            OnExpect::Continue => {
                self.recorder.counters.continues_sent += 1;
                // The send buffer is empty now, so there is room for this.
                let sent = send(&connection.socket, CONTINUE, SendFlags::NOSIGNAL);
                connection.lost = sent != Ok(CONTINUE.len());
            }
            OnExpect::Ignore => {}
            OnExpect::Refuse => {
                self.recorder.counters.expectations_refused += 1;
                connection.reader.refuse_body();
            }
        }
    }

    /// Writes the connection's output, and ends the exchange with the last byte.
    pub(super) fn flush(&mut self, key: Key) -> Result<(), Error> {
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        match connection.out.write(&connection.socket) {
            Ok(Wrote::All) if matches!(connection.stage, Stage::Streaming | Stage::Socket) => Ok(()),
            Ok(Wrote::All) => self.written(key),
            Ok(Wrote::Blocked) => {
                connection.blocked = true;
                Ok(())
            }
            Ok(Wrote::Later(after_ns)) => {
                let ticket = Ticket { key, turn: connection.turn };
                self.timers.push(now_ns() + after_ns, Task::WriteOn(ticket));
                Ok(())
            }
            Err(_) => {
                connection.lost = true;
                Ok(())
            }
        }
    }

    pub(super) fn write_on(&mut self, ticket: Ticket) -> Result<(), Error> {
        if ticket.key.is_stream() {
            self.drip_stream(ticket);
            return Ok(());
        }
        match self.slots.at(ticket) {
            Some(connection)
                if matches!(connection.stage, Stage::Writing | Stage::Streaming) && !connection.lost =>
            {
                self.flush(ticket.key)?;
                self.pump(ticket.key)
            }
            _ => Ok(()),
        }
    }

    /// Handles the end of the output: the connection stays open, or ends as configured.
    fn written(&mut self, key: Key) -> Result<(), Error> {
        let now = now_ns();
        self.conclude(key, now);
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        connection.free_since_ns = now;
        match connection.out.end {
            End::KeepAlive => {
                connection.stage = Stage::Reading;
                self.watch_idleness(key, now);
                Ok(())
            }
            End::Close => self.close(key, Closed::Server),
            End::Reset => {
                make_close_reset(&connection.socket).map_err(Error::machine("prepare a reset"))?;
                self.close(key, Closed::Server)
            }
            End::Hold => {
                connection.stage = Stage::Holding;
                Ok(())
            }
            End::HalfClose => {
                connection.stage = Stage::Holding;
                // This fails only if the peer has closed the connection completely.
                connection.lost = shutdown(&connection.socket, Shutdown::Write).is_err();
                Ok(())
            }
        }
    }

    /// Closes a failed connection. The requests in its queue were sent, so they are counted.
    fn bury(&mut self, key: Key) -> Result<(), Error> {
        self.abandon(key);
        if let Some(connection) = self.slots.get(key) {
            connection.peer_going = true;
        }
        loop {
            self.count_rest(key);
            self.read(key, now_ns());
            if self.slots.get(key).is_none_or(|connection| connection.input.is_empty()) {
                return self.close(key, Closed::PeerReset);
            }
        }
    }

    /// Counts the requests in the input of a connection that will get no response.
    fn count_rest(&mut self, key: Key) {
        let most = self.raw_most();
        while let Some(connection) = self.slots.get(key) {
            let (used, heard) = connection.reader.feed(&connection.input[connection.used..], most);
            connection.used += used;
            match heard {
                Heard::Whole => self.count_unanswerable(key),
                Heard::WaitsForContinue => {}
                more => {
                    if matches!(more, Heard::Bad(_)) {
                        connection.reader.restart();
                    }
                    connection.input.clear();
                    connection.used = 0;
                    return;
                }
            }
        }
    }

    /// Drops the connection, and counts it for the side that ended it.
    pub(super) fn close(&mut self, key: Key, who: Closed) -> Result<(), Error> {
        self.abandon(key);
        self.feed_closed(key, who);
        self.socket_closed(key);
        let Some(connection) = self.slots.remove(key) else { return Ok(()) };
        if !connection.is_control {
            let counters = &mut self.recorder.counters;
            match who {
                Closed::Server => counters.closed_by_server += 1,
                Closed::Peer => counters.closed_by_peer += 1,
                Closed::PeerReset => {
                    counters.closed_by_peer += 1;
                    counters.resets_received += 1;
                }
            }
        }
        // Closing the socket also removes it from the epoll set.
        drop(connection);
        if self.is_full() { Ok(()) } else { self.arm_listener() }
    }
}
