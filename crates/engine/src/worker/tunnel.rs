//! The beginning of connections that do not belong to the server at once: the header of the PROXY protocol, TLS with a
//! proxy, and its handshake. All of it belongs to the time of connecting.

use super::{Post, Worker};
use crate::driver::{Door, ERR, Flags, HUP, IN, Io, OUT, RDHUP};
use crate::fault;
use crate::link::tls::{Channel, Enclosure, TlsFault};
use crate::link::{State, Way};
use plimsoll_pace::WorkerSlot;
use plimsoll_plan::Fault;
use plimsoll_wire::proxy::Handshake;
use std::collections::HashMap;

/// The openings in progress. Without routes, it stays empty.
#[derive(Debug)]
pub(super) struct Tunnels {
    /// By the number of their link.
    openings: HashMap<u32, Opening>,
    /// Number of the next connection over all workers, which rotates claimed addresses.
    turn: usize,
}

impl Tunnels {
    pub fn new(seat: WorkerSlot) -> Tunnels {
        Tunnels { openings: HashMap::new(), turn: seat.offset as usize }
    }

    /// Forgets the opening of a link that is closed.
    pub fn forget(&mut self, id: u32) {
        self.openings.remove(&id);
    }
}

/// The opening of one link.
struct Opening {
    /// TLS with the proxy, until it is established.
    outer: Option<Box<Channel>>,
    /// `None`: the connection belongs to the server as soon as everything is sent.
    handshake: Option<Handshake>,
    /// Bytes that the kernel has not taken yet.
    unsent: Vec<u8>,
}

impl std::fmt::Debug for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opening").field("handshake", &self.handshake).finish_non_exhaustive()
    }
}

impl<D: Door, P: Post> Worker<D, P> {
    /// Begins the opening on an established connection; the connect timeout continues.
    pub(super) fn begin_tunnel(&mut self, id: u32) {
        self.links[id as usize].state = State::Tunneling;
        let origin = self.links[id as usize].origin;
        let route = self.places[usize::from(origin)].route.as_ref();
        let Some(setup) = route.and_then(|route| route.outer.as_ref()) else { return self.begin_inside(id) };
        let mut unsent = Vec::new();
        match Channel::new(setup, &mut unsent) {
            Ok(channel) => {
                let opening = Opening { outer: Some(Box::new(channel)), handshake: None, unsent };
                self.tunnels.openings.insert(id, opening);
                self.send_opening(id);
            }
            Err(refused) => self.outer_failed(id, &refused),
        }
    }

    /// Begins what follows TLS with the proxy, or what there is without.
    fn begin_inside(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        let socket = link.socket;
        let place = &self.places[usize::from(link.origin)];
        let Some(route) = &place.route else { return };
        let (mut local, mut remote) = (None, place.addresses[0]);
        if route.preface.is_some() {
            local = self.door.local_address(socket);
            // An address that was looked up for this connection does not belong to the place.
            remote = self.door.remote_address(socket).unwrap_or(remote);
        }
        let mut unsent = Vec::new();
        let handshake = route.begin(self.tunnels.turn, (local, remote), &mut unsent);
        self.tunnels.turn = self.tunnels.turn.wrapping_add(self.seat.stride as usize);
        self.tunnels.openings.insert(id, Opening { outer: None, handshake, unsent });
        self.send_opening(id);
    }

    /// Handles the events of a link that is opening.
    pub(super) fn on_tunneling(&mut self, id: u32, flags: Flags) {
        self.tell_time();
        let generation = self.links[id as usize].generation;
        if flags & OUT != 0 {
            self.send_opening(id);
        }
        let link = &self.links[id as usize];
        if flags & (IN | RDHUP | HUP | ERR) == 0 || link.generation != generation {
            return;
        }
        match link.state {
            State::Tunneling => self.read_opening(id),
            // The last bytes of the opening were sent now; what came before has no further edge.
            State::Handshaking | State::Open => self.read(id),
            State::Closed | State::Resolving | State::Connecting => {}
        }
    }

    /// Sends what the kernel takes.
    fn send_opening(&mut self, id: u32) {
        let socket = self.links[id as usize].socket;
        let Some(opening) = self.tunnels.openings.get_mut(&id) else { return };
        while !opening.unsent.is_empty() {
            match self.door.send(socket, &opening.unsent) {
                Io::Done(n) => drop(opening.unsent.drain(..n)),
                Io::WouldBlock => return,
                Io::Failed(errno) => return self.opening_broken(id, fault::of_transfer(errno)),
            }
        }
        if opening.handshake.is_none() && opening.outer.is_none() {
            self.tunnels.openings.remove(&id);
            self.connected(id);
        }
    }

    fn read_opening(&mut self, id: u32) {
        loop {
            let socket = self.links[id as usize].socket;
            let n = match self.door.recv(socket, &mut self.buffer) {
                Io::Done(0) => {
                    let sentence = "the proxy closed the connection during its handshake";
                    return self.handshake_failed(id, Fault::ProxyFailed, sentence);
                }
                Io::Done(n) => n,
                Io::WouldBlock => return,
                Io::Failed(errno) => return self.opening_broken(id, fault::of_transfer(errno)),
            };
            let Some(opening) = self.tunnels.openings.get_mut(&id) else { return };
            if let Some(channel) = &mut opening.outer {
                let mut plain = Vec::new();
                let fed = channel.feed(&mut self.buffer[..n], &mut plain, &mut opening.unsent);
                let is_ready = channel.is_ready();
                if let Err(refused) = fed {
                    // An alert; failing to deliver it is not a separate error.
                    let _ = self.door.send(socket, &opening.unsent);
                    return self.outer_failed(id, &refused);
                }
                if is_ready {
                    return self.enclose(id, plain);
                }
                let generation = self.links[id as usize].generation;
                self.send_opening(id);
                if self.links[id as usize].generation != generation {
                    return;
                }
                continue;
            }
            // Without a handshake, the bytes are the server's, who sees the header first: there are none.
            let Some(handshake) = &mut opening.handshake else { return };
            match handshake.feed(&self.buffer[..n], &mut self.shared, &mut opening.unsent) {
                Err(refused) => {
                    let sentence = format!("the proxy refused a connection: {refused}");
                    return self.handshake_failed(id, fault::of_proxy(refused), &sentence);
                }
                Ok(fed) if fed.is_done => return self.tunnel_open(id, fed.consumed, n),
                Ok(_) => {
                    let generation = self.links[id as usize].generation;
                    self.send_opening(id);
                    if self.links[id as usize].generation != generation {
                        return;
                    }
                }
            }
        }
    }

    /// Continues inside TLS with the proxy.
    fn enclose(&mut self, id: u32, plain: Vec<u8>) {
        let Some(Opening { outer: Some(channel), unsent, .. }) = self.tunnels.openings.remove(&id) else {
            return;
        };
        self.tell_time();
        let socket = self.links[id as usize].socket;
        self.door.enclose(socket, Enclosure::new(*channel, plain, unsent));
        self.begin_inside(id);
    }

    fn outer_failed(&mut self, id: u32, refused: &TlsFault) {
        let sentence = format!("the TLS handshake with the proxy failed: {}", refused.problem().message);
        self.handshake_failed(id, Fault::ProxyFailed, &sentence);
    }

    /// Continues when the proxy has opened the tunnel; the rest of the buffer comes from the server.
    fn tunnel_open(&mut self, id: u32, consumed: usize, n: usize) {
        self.tell_time();
        if let Some(Opening { handshake: Some(handshake), .. }) = self.tunnels.openings.remove(&id) {
            handshake.end(&mut self.shared);
        }
        // Usually empty: servers wait for the client.
        let rest = self.buffer[consumed..n].to_vec();
        let is_whole = n < self.buffer.len();
        let link = &mut self.links[id as usize];
        link.early = !rest.is_empty();
        let generation = link.generation;
        self.connected(id);
        if self.links[id as usize].generation != generation {
            return;
        }
        if !rest.is_empty() {
            self.buffer[..rest.len()].copy_from_slice(&rest);
            let is_alive = match self.links[id as usize].way {
                Way::Plain => self.feed(id, rest.len(), false),
                Way::Sealed => self.take_in(id, rest.len()),
            };
            if !is_alive || self.links[id as usize].generation != generation {
                return;
            }
        }
        // What came with the end of the handshake has no further edge.
        if !is_whole || self.links[id as usize].is_peer_closed() {
            self.read(id);
        }
    }

    /// Handles a connection that broke while it was opening.
    fn opening_broken(&mut self, id: u32, fault: Fault) {
        self.close_socket(id);
        self.connect_failed(id, fault);
    }
}
