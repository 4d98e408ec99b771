//! The network itself: future events in order of time, and both ends of every connection.

use super::{Answer, Calls, Server, SimConditions, SimRequest, Then};
use crate::driver::{ERR, Flags, HUP, IN, OUT, RDHUP, Socket};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

/// A future event. Events of sockets closed in the meantime are skipped.
pub(super) enum SimEvent {
    Connected(Socket),
    Refused(Socket),
    AtServer(Socket, Vec<u8>),
    AtClient(Socket, Vec<u8>),
    Fin(Socket),
    Reset(Socket),
    Acknowledged(Socket, usize),
    Wake,
}

/// Both ends of one connection.
pub(super) struct Link {
    pub token: u64,
    pub number: u64,
    pub established: bool,
    pub inbox: VecDeque<u8>,
    pub fin: bool,
    pub reset: bool,
    /// The next call that checks for errors gets it.
    pub error: Option<i32>,
    pub low_water: usize,
    pub room: usize,
    pub edge: bool,
    /// At the server: the received part of the next request, the number of requests received, and whether the server
    /// has closed its end.
    pub partial: Vec<u8>,
    pub asked: u64,
    pub gone: bool,
    /// The time when the last byte sent so far arrives at the client: later bytes arrive later.
    pub until_ns: u64,
}

impl Link {
    pub fn new(token: u64, number: u64, room: usize, gone: bool) -> Link {
        Link {
            token,
            number,
            established: false,
            inbox: VecDeque::new(),
            fin: false,
            reset: false,
            error: None,
            low_water: 1,
            room,
            edge: false,
            partial: Vec::new(),
            asked: 0,
            gone,
            until_ns: 0,
        }
    }

    pub fn flags(&self) -> Flags {
        let end = self.fin || self.reset || self.error.is_some();
        let mut flags = 0;
        if end || (!self.inbox.is_empty() && self.inbox.len() >= self.low_water) {
            flags |= IN;
        }
        if (self.established && self.room > 0) || self.reset {
            flags |= OUT;
        }
        if end {
            flags |= RDHUP;
        }
        if self.reset {
            flags |= HUP;
        }
        if self.error.is_some() {
            flags |= ERR;
        }
        flags
    }
}

pub(super) struct State {
    pub now_ns: u64,
    pub nature: SimConditions,
    pub server: Box<dyn Server>,
    pub links: BTreeMap<Socket, Link>,
    /// The numbers of connections that the client has closed: bytes on their way still arrive at the server.
    pub closed: BTreeMap<Socket, u64>,
    /// By time, then in the order of creation.
    pub ahead: BTreeMap<(u64, u64), SimEvent>,
    pub sequence: u64,
    pub edges: VecDeque<Socket>,
    pub woken: bool,
    pub attempts: u64,
    pub total: u64,
    pub calls: Calls,
    pub opened: Vec<(SocketAddr, Option<IpAddr>)>,
}

impl State {
    pub fn new(begin_ns: u64, nature: SimConditions, server: Box<dyn Server>) -> State {
        State {
            now_ns: begin_ns,
            nature,
            server,
            links: BTreeMap::new(),
            closed: BTreeMap::new(),
            ahead: BTreeMap::new(),
            sequence: 0,
            edges: VecDeque::new(),
            woken: false,
            attempts: 0,
            total: 0,
            calls: Calls::default(),
            opened: Vec::new(),
        }
    }

    pub fn later(&mut self, at_ns: u64, what: SimEvent) {
        self.sequence += 1;
        self.ahead.insert((at_ns, self.sequence), what);
    }

    /// Advances the time; a stall on the way delays it further.
    pub fn advance(&mut self, to_ns: u64) {
        self.now_ns = self.now_ns.max(to_ns);
        while let Some(&(at_ns, for_ns)) = self.nature.stalls.first()
            && at_ns <= self.now_ns
        {
            self.now_ns = self.now_ns.max(at_ns + for_ns);
            self.nature.stalls.remove(0);
        }
    }

    pub fn spend(&mut self) {
        self.advance(self.now_ns + self.nature.call_cost_ns);
    }

    pub fn edge(&mut self, socket: Socket) {
        if let Some(link) = self.links.get_mut(&socket)
            && link.flags() != 0
            && !std::mem::replace(&mut link.edge, true)
        {
            self.edges.push_back(socket);
        }
    }

    /// Processes everything that has happened by now.
    pub fn catch_up(&mut self) {
        while let Some(entry) = self.ahead.first_entry()
            && entry.key().0 <= self.now_ns
        {
            let at_ns = entry.key().0;
            let what = entry.remove();
            self.happen(at_ns, what);
        }
    }

    fn happen(&mut self, at_ns: u64, what: SimEvent) {
        let socket = match what {
            SimEvent::Wake => {
                self.woken = true;
                return;
            }
            SimEvent::AtServer(socket, bytes) => return self.at_server(socket, at_ns, &bytes),
            SimEvent::Connected(s)
            | SimEvent::Refused(s)
            | SimEvent::AtClient(s, _)
            | SimEvent::Fin(s)
            | SimEvent::Reset(s)
            | SimEvent::Acknowledged(s, _) => s,
        };
        let Some(link) = self.links.get_mut(&socket) else { return };
        let mut is_edge = true;
        match what {
            SimEvent::Connected(_) => link.established = true,
            SimEvent::Refused(_) => (link.reset, link.error) = (true, Some(libc::ECONNREFUSED)),
            SimEvent::AtClient(_, bytes) => {
                link.inbox.extend(bytes);
                is_edge = link.inbox.len() >= link.low_water;
            }
            SimEvent::Fin(_) => link.fin = true,
            SimEvent::Reset(_) => (link.reset, link.error) = (true, Some(libc::ECONNRESET)),
            SimEvent::Acknowledged(_, bytes) => {
                is_edge = link.room == 0;
                link.room += bytes;
            }
            SimEvent::AtServer(..) | SimEvent::Wake => {}
        }
        if is_edge {
            self.edge(socket);
        }
    }

    fn at_server(&mut self, socket: Socket, at_ns: u64, bytes: &[u8]) {
        let latency_ns = self.nature.latency_ns;
        let Some(link) = self.links.get_mut(&socket) else {
            if let Some(number) = self.closed.get(&socket) {
                self.server.heard(*number, at_ns, bytes);
            }
            return;
        };
        if link.gone {
            // The server has closed: its kernel responds with a reset.
            return self.later(at_ns + latency_ns, SimEvent::Reset(socket));
        }
        if let Some(answer) = self.server.heard(link.number, at_ns, bytes) {
            link.gone = answer.then != Then::Stay;
            return send(&mut self.ahead, &mut self.sequence, link, (socket, at_ns + latency_ns), answer);
        }
        link.partial.extend_from_slice(bytes);
        while let Some(length) = request_length(&link.partial) {
            let request: Vec<u8> = link.partial.drain(..length).collect();
            let (connection, number) = (link.number, link.asked);
            link.asked += 1;
            let asked = SimRequest { connection, number, total: self.total, now_ns: at_ns, bytes: &request };
            self.total += 1;
            let answer = self.server.answer(&asked);
            link.gone = answer.then != Then::Stay;
            send(&mut self.ahead, &mut self.sequence, link, (socket, at_ns + latency_ns), answer);
        }
    }
}

/// Schedules the pieces of a response, and the end that follows them.
fn send(
    ahead: &mut BTreeMap<(u64, u64), SimEvent>,
    sequence: &mut u64,
    link: &mut Link,
    (socket, from_ns): (Socket, u64),
    answer: Answer,
) {
    let mut then_ns = from_ns.max(link.until_ns);
    let mut lay = |at_ns: u64, what: SimEvent| {
        *sequence += 1;
        ahead.insert((at_ns, *sequence), what);
    };
    if answer.is_apart {
        then_ns = from_ns;
    }
    for (after_ns, bytes) in answer.pieces {
        let at_ns = if answer.is_apart { from_ns + after_ns } else { then_ns + after_ns };
        then_ns = then_ns.max(at_ns);
        lay(at_ns, SimEvent::AtClient(socket, bytes));
    }
    match answer.then {
        Then::Stay => {}
        Then::Close => lay(then_ns, SimEvent::Fin(socket)),
        Then::Reset => lay(then_ns, SimEvent::Reset(socket)),
    }
    link.until_ns = link.until_ns.max(then_ns);
}

/// Returns the length of the request at the front, if it is complete.
fn request_length(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|w| w == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let body = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok())
        .unwrap_or(0);
    (bytes.len() >= head + body).then_some(head + body)
}
