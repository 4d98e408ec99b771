//! WebSockets: a response opens them, received messages and timers feed them, and either side ends them.

use super::Server;
use super::slots::{Closed, Stage};
use crate::clock::{both_ns, now_ns};
use crate::error::Error;
use crate::outgoing::End;
use crate::pages::Page;
use crate::timers::{Key, Task, Ticket};
use crate::websocket::{Over, Peer};
use tungstenite::Message;

impl Server {
    /// Answers the handshake, after which the connection speaks WebSocket.
    pub(super) fn open_socket(&mut self, ticket: Ticket) -> Result<(), Error> {
        let Some(connection) = self.slots.at(ticket) else { return Ok(()) };
        let page = connection.exchange.as_mut().and_then(|exchange| exchange.page.take());
        let Some(Page::Socket(script)) = page.map(|page| *page) else { return Ok(()) };
        let (now, wall) = both_ns();
        connection.out.clear();
        connection.out.bytes().extend_from_slice(script.head().as_bytes());
        let ping_ns = script.ping_every_ns;
        let peer = Peer::new(*script, now, wall, &mut self.recorder.counters.websockets);
        let planned_ns = peer.feed.as_ref().map(|feed| feed.due(now, wall).0);
        connection.peer = Some(Box::new(peer));
        connection.stage = Stage::Socket;
        self.conclude(ticket.key, now);
        if let Some(due_ns) = planned_ns {
            self.timers.push(due_ns, Task::Message(ticket));
        }
        if ping_ns > 0 {
            self.timers.push(now + ping_ns, Task::Ping(ticket));
        }
        self.write_socket(ticket.key)
    }

    /// Passes received bytes to the socket, and sends what it answers.
    pub(super) fn drive_socket(&mut self, key: Key) -> Result<(), Error> {
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        if connection.lost {
            return self.close(key, Closed::PeerReset);
        }
        let now = connection.read_ns.max(connection.free_since_ns);
        let Some(peer) = &mut connection.peer else { return Ok(()) };
        let before = peer.due_ns();
        let counts = &mut self.recorder.counters.websockets;
        let broadcast = peer.take(&connection.input[connection.used..], now, counts);
        connection.input.clear();
        connection.used = 0;
        let (room, due, turn) = (peer.script.room.clone(), peer.due_ns(), connection.turn);
        let (unread, at_end) = (connection.unread, connection.at_end);
        if let (Some(room), false) = (room, broadcast.is_empty()) {
            self.broadcast(&room, &broadcast)?;
        }
        if let Some(due_ns) = due.filter(|due| before.is_none_or(|before| *due < before)) {
            self.wait_for_echo(Ticket { key, turn }, due_ns)?;
        }
        self.write_socket(key)?;
        if unread {
            self.timers.push(now_ns(), Task::ReadOn(key));
            self.read(key, now_ns());
        } else if at_end {
            return self.close(key, Closed::Peer);
        }
        Ok(())
    }

    fn wait_for_echo(&mut self, ticket: Ticket, due_ns: u64) -> Result<(), Error> {
        let due_ns = self.held(due_ns);
        if due_ns <= now_ns() {
            return self.echo_due(ticket);
        }
        self.timers.push(due_ns, Task::Echo(ticket));
        Ok(())
    }

    /// Sends the echoes that are due, and waits for the next one.
    pub(super) fn echo_due(&mut self, ticket: Ticket) -> Result<(), Error> {
        let now = now_ns();
        let is_held = self.held(now) > now;
        let Some(connection) = self.slots.at(ticket) else { return Ok(()) };
        let unsent = connection.out.unsent();
        let Some(peer) = &mut connection.peer else { return Ok(()) };
        if !is_held {
            peer.send_due(now, unsent, &mut self.recorder.counters.websockets);
        }
        if let Some(due_ns) = peer.due_ns() {
            let due_ns = self.held(due_ns.max(now));
            self.timers.push(due_ns, Task::Echo(ticket));
        }
        self.write_socket(ticket.key)
    }

    pub(super) fn message_due(&mut self, ticket: Ticket, due_ns: u64) -> Result<(), Error> {
        let held_ns = self.held(due_ns);
        if held_ns > due_ns {
            self.timers.push(held_ns, Task::Message(ticket));
            return Ok(());
        }
        let clocks = both_ns();
        let Some(connection) = self.slots.at(ticket) else { return Ok(()) };
        let unsent = connection.out.unsent();
        let Some(peer) = &mut connection.peer else { return Ok(()) };
        if peer.send_planned(clocks, unsent, &mut self.recorder.counters.websockets)
            && let Some(feed) = &peer.feed
        {
            let next_ns = feed.due(clocks.0, clocks.1).0;
            self.timers.push(next_ns, Task::Message(ticket));
        }
        self.write_socket(ticket.key)
    }

    pub(super) fn ping_due(&mut self, ticket: Ticket, due_ns: u64) -> Result<(), Error> {
        let Some(connection) = self.slots.at(ticket) else { return Ok(()) };
        let Some(peer) = &mut connection.peer else { return Ok(()) };
        peer.ping();
        let next_ns = due_ns + peer.script.ping_every_ns;
        self.timers.push(next_ns, Task::Ping(ticket));
        self.write_socket(ticket.key)
    }

    /// Sends messages to all sockets of a room, the sender's as well.
    fn broadcast(&mut self, room: &str, messages: &[Message]) -> Result<(), Error> {
        for key in self.slots.keys() {
            let Some(connection) = self.slots.get(key) else { continue };
            let unsent = connection.out.unsent();
            let Some(peer) = &mut connection.peer else { continue };
            if peer.script.room.as_deref() != Some(room) {
                continue;
            }
            for message in messages {
                peer.send(message.clone(), unsent, &mut self.recorder.counters.websockets);
            }
            self.write_socket(key)?;
        }
        Ok(())
    }

    /// Sends what the socket has written, and ends the connection after the last byte if the socket is over.
    fn write_socket(&mut self, key: Key) -> Result<(), Error> {
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        let Some(peer) = &mut connection.peer else { return Ok(()) };
        connection.out.pieces().append(peer.output());
        if peer.over.is_some() {
            connection.out.end = End::Close;
            connection.stage = Stage::Writing;
        }
        if connection.blocked || connection.lost {
            return Ok(());
        }
        self.flush(key)
    }

    /// Counts the end of the socket, if there is one, of a connection that is closed.
    pub(super) fn socket_closed(&mut self, key: Key) {
        let Some(peer) = self.slots.get(key).and_then(|connection| connection.peer.take()) else { return };
        let counts = &mut self.recorder.counters.websockets;
        match (peer.over, peer.is_closing, peer.is_closed_by_peer) {
            (Some(Over::Cut), ..) | (_, false, _) => counts.cut += 1,
            (_, true, true) => counts.closed_by_peer += 1,
            (_, true, false) => counts.closed_by_server += 1,
        }
    }
}
