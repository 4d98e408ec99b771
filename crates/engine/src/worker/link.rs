//! Links: finding and opening them, handling the kernel's events, and closing them.

use super::exchange::Bytes;
use super::multiplex::new_session;
use super::{Post, Worker};
use crate::driver::{Door, ERR, Flags, HUP, IN, OUT, RDHUP};
use crate::exchange::Exchange;
use crate::fault;
use crate::link::{Link, NONE, Peer, Session, State, Way};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{PHASE_UNIT_NS, RunFloor, RunHist, RunPeak, RunSum};
use plimsoll_plan::origin::{FIRST, OriginId};
use plimsoll_wire::h2::code;
use std::net::SocketAddr;

impl<D: Door, P: Post> Worker<D, P> {
    /// Returns a link for a step to an origin: the user's own, or another one if that is in use; if links are pooled,
    /// the one used last.
    pub(super) fn link_for(&mut self, user: u32, origin: OriginId) -> u32 {
        let own = self.users[user as usize].link;
        // HTTP/1 has one exchange on a link; HTTP/2 has streams, and a request without one waits for it.
        if own != NONE && origin == FIRST && self.links[own as usize].exchange == NONE {
            return own;
        }
        if let Some(held) = self.held_for(user, origin) {
            return held;
        }
        if self.pooled && self.places[usize::from(origin)].is_shared {
            return self.shared_link(origin);
        }
        self.unused_link(origin)
    }

    /// Returns a link that no user has.
    pub(super) fn unused_link(&mut self, origin: OriginId) -> u32 {
        if let Some(id) = self.spare[usize::from(origin)].pop() {
            if let Some(multiplex) = self.links[id as usize].session.multiplex() {
                multiplex.is_listed = false;
            }
            return id;
        }
        let session = new_session(&self.outline, &self.places[usize::from(origin)]);
        self.links.push(Link::new(origin, session));
        self.links.len() as u32 - 1
    }

    /// Lists a link that no user has, or that others may share; once, however many users have shared it.
    pub(super) fn list_unused(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        let origin = link.origin;
        let multiplex = link.session.multiplex();
        if !multiplex.is_some_and(|multiplex| std::mem::replace(&mut multiplex.is_listed, true)) {
            self.spare[usize::from(origin)].push(id);
        }
    }

    /// Removes the most recently released link from a user's list, which is short.
    fn held_for(&mut self, user: u32, origin: OriginId) -> Option<u32> {
        let (mut before, mut at) = (NONE, self.users[user as usize].first_held);
        while at != NONE {
            let Link { next, origin: to, .. } = self.links[at as usize];
            if to == origin {
                match before {
                    NONE => self.users[user as usize].first_held = next,
                    before => self.links[before as usize].next = next,
                }
                return Some(at);
            }
            (before, at) = (at, next);
        }
        None
    }

    fn holds(&self, user: u32, origin: OriginId) -> bool {
        let mut at = self.users[user as usize].first_held;
        while at != NONE {
            let link = &self.links[at as usize];
            if link.origin == origin {
                return true;
            }
            at = link.next;
        }
        false
    }

    /// Returns whether an origin is the target, to which users have their own links.
    #[inline]
    pub(super) fn is_target(&self, origin: OriginId) -> bool {
        origin == FIRST && self.has_target
    }

    /// Releases a link that is not its user's own link to the target. Others may use it, or the user holds it: all
    /// links for the rest of the iteration if iterations begin without one, otherwise one for each other origin.
    pub(super) fn release(&mut self, id: u32, user: u32) {
        if self.users[user as usize].link == id {
            return;
        }
        let link = &mut self.links[id as usize];
        let origin = link.origin;
        if let Session::H2(multiplex) = &mut link.session {
            // A link that has lost its users is listed when it is closed; one to the target that is not pooled was such
            // a link, and may be another user's by now.
            if multiplex.is_replaced || multiplex.is_listed || (self.is_target(origin) && !self.pooled) {
                return;
            }
        }
        let is_other = !self.is_target(origin);
        if self.anew || self.has_own_clients || (is_other && !self.pooled && !self.holds(user, origin)) {
            self.links[id as usize].next = std::mem::replace(&mut self.users[user as usize].first_held, id);
        } else {
            self.list_unused(id);
        }
    }

    pub(super) fn open(&mut self, id: u32) {
        self.tally.add(RunSum::ConnAttempts, 1);
        let place = &mut self.places[usize::from(self.links[id as usize].origin)];
        let turn = place.turn;
        place.turn = turn.wrapping_add(1);
        let (at, count) = match place.cycle.len() {
            0 => (turn % place.addresses.len(), place.addresses.len()),
            count => (usize::from(place.cycle[turn % count]), count),
        };
        let number = if place.first == NONE { NONE } else { place.first + at as u32 };
        let address = place.addresses[at];
        if place.resolves {
            return self.look_up(id);
        }
        self.connect_from(id, address, number, turn / count);
    }

    /// Connects to an address that was looked up for this connection.
    pub(super) fn connect(&mut self, id: u32, address: SocketAddr, number: u32) {
        let turn = self.places[usize::from(self.links[id as usize].origin)].turn;
        self.connect_from(id, address, number, turn);
    }

    /// Opens a socket to an address; `round` counts how often all addresses have had their turn.
    fn connect_from(&mut self, id: u32, address: SocketAddr, number: u32, round: usize) {
        let token = self.links[id as usize].token(id);
        let place = &self.places[usize::from(self.links[id as usize].origin)];
        let way = if place.tls.is_some() { Way::Sealed } else { Way::Plain };
        let source = match self.sources.len() {
            0 => None,
            // Each address is reached from each source: two counters in step would always combine the same pairs.
            sources => Some(self.sources[round % sources]),
        };
        if self.courier.is_some() {
            self.limit_receive_buffer(id);
        }
        let place = &self.places[usize::from(self.links[id as usize].origin)];
        let opened = match &place.route {
            None => self.door.open(address, source, token),
            Some(route) => self.door.open_by(route, address, source, token),
        };
        match opened {
            Ok(socket) => {
                let link = &mut self.links[id as usize];
                link.socket = socket;
                link.address = number;
                link.state = State::Connecting;
                link.way = way;
                link.since_ns = self.now_ns;
                link.served = 0;
                link.retransmits_seen = 0;
                link.peer = Peer::Speaks;
                link.low_water = 0;
                link.read_shift = 0;
                let generation = link.generation;
                self.openings.add(id, generation);
                self.open_sockets += 1;
                self.tally.peak(RunPeak::Connections, self.open_sockets);
            }
            Err(errno) => {
                let fault = if place.has_unix_socket() {
                    fault::of_connect_unix(errno)
                } else {
                    fault::of_connect(errno)
                };
                self.refused_at_once(id, fault);
            }
        }
    }

    /// Handles all events that the kernel reports on a socket.
    pub(super) fn on_ready(&mut self, token: u64, flags: Flags) {
        let id = token as u32;
        let Some(link) = self.links.get_mut(id as usize) else { return };
        // An event of a socket that was closed earlier in this batch.
        if link.token(id) != token || link.socket < 0 {
            return;
        }
        if flags & (RDHUP | HUP | ERR) != 0 {
            link.peer_closes();
        }
        // Rare: a socket has room once when it is open, and then only after it was full.
        if flags & OUT != 0 && self.places[usize::from(link.origin)].is_enclosed() {
            self.door.push(link.socket);
        }
        let link = &self.links[id as usize];
        if matches!(link.state, State::Connecting | State::Tunneling) {
            if link.state == State::Tunneling {
                return self.on_tunneling(id, flags);
            }
            self.on_connecting(id, flags);
            // The edge is consumed: bytes or an end reported with it (a greeting, say) would never be reported again.
            let link = &self.links[id as usize];
            if link.state == State::Tunneling {
                return self.on_tunneling(id, flags & !OUT);
            }
            let greets = link.state == State::Open && link.session.is_multiplexed();
            let speaks = link.state == State::Handshaking || greets || self.is_in_flight(link.exchange);
            if flags & (IN | RDHUP | HUP | ERR) != 0 && link.token(id) == token && speaks {
                self.read(id);
            }
            return;
        }
        if flags & OUT != 0 {
            self.on_room(id);
        }
        // A link that waits for its share is read after those before it.
        let link = &self.links[id as usize];
        if flags & (IN | RDHUP | HUP | ERR) != 0 && link.token(id) == token && !link.unread {
            self.read(id);
        }
    }

    fn is_in_flight(&self, exchange: u32) -> bool {
        exchange != NONE && self.exchanges[exchange as usize].is_in_flight()
    }

    /// Handles room in the send buffer. The kernel reports it with almost every response, even if nothing is left to
    /// send.
    #[inline]
    fn on_room(&mut self, id: u32) {
        let link = &self.links[id as usize];
        if link.session.is_multiplexed() {
            return self.on_room_for_frames(id);
        }
        match link.way {
            Way::Sealed => {
                if link.tls.as_ref().is_some_and(|tls| !tls.unsent.is_empty()) {
                    self.tell_time();
                    self.flush(id);
                    if self.courier.is_some() {
                        self.send_more(id);
                    }
                }
            }
            Way::Plain => {
                let exchange = link.exchange;
                if self.is_sending(exchange) {
                    self.tell_time();
                    if self.courier.is_some() && self.is_delivered(exchange) {
                        return self.send_granted(exchange);
                    }
                    self.send_rest(exchange, Bytes::Prepared);
                }
            }
        }
    }

    fn on_connecting(&mut self, id: u32, flags: Flags) {
        self.tell_time();
        if flags & (ERR | HUP) != 0 {
            let socket = self.links[id as usize].socket;
            if let Err(errno) = self.door.connect_result(socket) {
                self.close_socket(id);
                return self.connect_failed(id, fault::of_connect(errno));
            }
        }
        if flags & OUT == 0 {
            return;
        }
        self.tally.add(RunSum::ConnOpened, 1);
        let link = &mut self.links[id as usize];
        link.early = flags & IN != 0;
        if self.places[usize::from(link.origin)].route.as_ref().is_some_and(|route| route.has_opening()) {
            return self.begin_tunnel(id);
        }
        self.connected(id);
    }

    /// Continues when the connection belongs to the server: with TCP, or with the tunnel of a proxy.
    pub(super) fn connected(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        let took_ns = self.now_ns - link.since_ns;
        link.failures = 0;
        let way = link.way;
        self.for_waiting(id, |exchange| exchange.connect_units = units(took_ns));
        self.tally.record(RunHist::Connect, took_ns);
        self.tally.floor(RunFloor::ConnectNs, took_ns);
        // A server may send bytes or close before the first request; reading now would show that before a request is
        // wasted on it. But the request is due now and is sent anyway, because the result is what a real user would
        // see.
        match way {
            Way::Plain => self.opened(id),
            Way::Sealed => self.begin_handshake(id),
        }
    }

    /// Marks the link as open and sends the request that waited for it.
    pub(super) fn opened(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        link.state = State::Open;
        if link.session.is_multiplexed() {
            return self.start_session(id);
        }
        let exchange = link.exchange;
        self.send(exchange, Bytes::Prepared);
    }

    /// Changes each exchange that waits for a link.
    pub(super) fn for_waiting(&mut self, id: u32, change: impl Fn(&mut Exchange)) {
        let link = &self.links[id as usize];
        match &link.session {
            Session::H1(_) => {
                if let Some(exchange) = self.exchanges.get_mut(link.exchange as usize) {
                    change(exchange);
                }
            }
            Session::H2(multiplex) => {
                multiplex.all_waiting().for_each(|waits| change(&mut self.exchanges[*waits as usize]));
            }
        }
    }

    /// Returns when the earliest connection attempt times out, or the earliest wait for settings, if there is one.
    pub(super) fn next_opening_ns(&mut self) -> Option<u64> {
        let links = &self.links;
        let is_opening = |id: u32, generation: u32| {
            links.get(id as usize).is_some_and(|link| {
                (link.is_opening() || link.is_unsettled()) && link.generation == generation
            })
        };
        let first = self.openings.next(is_opening)?;
        Some(links[first as usize].since_ns + self.outline.limits.connect_timeout_ns)
    }

    /// Handles the timeout of a connection attempt.
    pub(super) fn link_due(&mut self, id: u32) {
        let fault = match self.links[id as usize].state {
            State::Connecting => Fault::ConnectTimeout,
            State::Tunneling => Fault::ProxyTimeout,
            State::Handshaking => Fault::TlsTimeout,
            State::Resolving => {
                self.end_look_up(id);
                return self.connect_failed(id, Fault::DnsTimeout);
            }
            State::Open => return self.unsettled_too_long(id),
            State::Closed => return,
        };
        self.close_socket(id);
        self.connect_failed(id, fault);
    }

    /// Returns the series of the link's address, if there are several.
    pub(super) fn address_of(&self, id: u32) -> Option<u32> {
        let address = self.links[id as usize].address;
        // Origins that were found during the load have none.
        if address == NONE { None } else { Some(self.address_series? + address) }
    }

    /// Closes all links that a user holds, including its own.
    pub(super) fn close_all_of(&mut self, user: u32) {
        let own = self.users[user as usize].link;
        if own != NONE && !self.is_needed_by_others(own) {
            self.close_planned(own);
        }
        let mut held = std::mem::replace(&mut self.users[user as usize].first_held, NONE);
        while held != NONE {
            let next = self.links[held as usize].next;
            self.close_planned(held);
            self.list_unused(held);
            held = next;
        }
    }

    /// Closes the idle links that a user holds to an origin, including its own.
    pub(super) fn close_links_to(&mut self, user: u32, origin: OriginId) {
        let own = self.users[user as usize].link;
        if own != NONE && self.links[own as usize].origin == origin && !self.is_needed_by_others(own) {
            self.close_planned(own);
        }
        while let Some(held) = self.held_for(user, origin) {
            self.close_planned(held);
            self.list_unused(held);
        }
    }

    /// Returns whether active users share a link: one of them may only pause between two requests.
    fn is_needed_by_others(&self, id: u32) -> bool {
        self.outline.link.streams > 1
            && self.links[id as usize].session.is_multiplexed()
            && (0..self.users.len() as u32).any(|user| {
                let state = &self.users[user as usize];
                state.link == id && !state.retired && (state.busy || self.is_active(user))
            })
    }

    /// Closes an idle link as planned.
    fn close_planned(&mut self, id: u32) {
        if self.links[id as usize].is_at_rest() {
            self.tally.add(RunSum::ClosedByClient, 1);
            self.send_goaway(id, code::NO_ERROR);
            self.close_socket(id);
        }
    }

    /// Closes and forgets the socket, after reading its last TCP counters.
    pub(super) fn close_socket(&mut self, id: u32) {
        let link = &self.links[id as usize];
        if link.is_opening() {
            // Retransmitted SYNs count, too.
            self.read_facts(id);
        } else {
            let served = u64::from(link.served);
            let facts = self.read_facts(id);
            self.tally.record(RunHist::ConnRequests, served);
            self.tally.add(RunSum::SegmentsOutOfOrder, u64::from(facts.out_of_order));
            if facts.rtt_ns > 0 {
                self.tally.record(RunHist::Rtt, facts.rtt_ns);
            }
        }
        let link = &mut self.links[id as usize];
        self.door.close(link.socket);
        self.open_sockets -= 1;
        link.socket = -1;
        link.generation = link.generation.wrapping_add(1);
        if std::mem::replace(&mut link.state, State::Closed) == State::Tunneling {
            self.tunnels.forget(id);
        }
        link.unread = false;
        link.tls = None;
        link.session.reset(&mut self.shared);
    }
}

/// Converts a duration to the units of an exchange; durations over four minutes are not distinguished.
pub(super) fn units(ns: u64) -> u32 {
    u32::try_from(ns / PHASE_UNIT_NS).unwrap_or(u32::MAX)
}
