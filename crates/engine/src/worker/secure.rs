//! Connections under TLS: the handshake before the first request, bytes sealed on their way out and opened on their
//! way in.

use super::exchange::Bytes;
use super::{Post, Worker};
use crate::conn::{Secured, State};
use crate::driver::{Door, Io};
use crate::fault;
use crate::link::tls::{Link, TlsFault};
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunHist, RunSum};
use plimsoll_plan::sample::{SAMPLES_MAX, Sample};

fn fault_of(fault: &TlsFault) -> Fault {
    match fault {
        TlsFault::Certificate(_) => Fault::Certificate,
        TlsFault::Alert(_) | TlsFault::Protocol(_) => Fault::Tls,
        TlsFault::Internal(_) => Fault::ClientOther,
    }
}

impl<D: Door, P: Post> Worker<D, P> {
    /// TCP stands; the time-out of the connection goes on.
    pub(super) fn begin_handshake(&mut self, id: u32) {
        let Some(setup) = &self.tls else { return };
        self.sealed.clear();
        let made = Link::new(setup, &mut self.sealed);
        let conn = &mut self.conns[id as usize];
        conn.state = State::Handshaking;
        conn.since_ns = self.now_ns;
        match made {
            Ok(link) => {
                conn.tls = Some(Box::new(Secured { link, unsent: Vec::new() }));
                self.flush(id);
            }
            Err(refused) => self.handshake_failed(id, fault_of(&refused), refused.sentence()),
        }
    }

    /// Why a handshake failed is worth a sentence: the number alone does not say which certificate.
    pub(super) fn handshake_failed(&mut self, id: u32, fault: Fault, sentence: &str) {
        self.tell_of(id, fault, sentence);
        self.close_socket(id);
        self.connect_failed(id, fault);
    }

    pub(super) fn tell_of(&mut self, id: u32, fault: Fault, sentence: &str) {
        if self.own_samples >= SAMPLES_MAX {
            // Enough of them are known; the rest is counted.
            return;
        }
        self.own_samples += 1;
        let request = self.conns[id as usize].request as usize;
        self.samples.push(Sample {
            at_ns: self.now_ns.saturating_sub(self.begin_ns),
            request: self.outline.requests.get(request).map(|r| r.name.clone()).unwrap_or_default(),
            check: fault.name().to_owned(),
            found: sentence.to_owned(),
            status: 0,
            excerpt: String::new(),
        });
    }

    /// Seals a request and sends it.
    pub(super) fn send_sealed(&mut self, id: u32, bytes: Bytes<'_>) {
        let conn = &mut self.conns[id as usize];
        let plain: &[u8] = match (bytes, &conn.out) {
            (Bytes::Fresh(bytes), _) => bytes,
            (_, Some(held)) => held,
            _ => &self.compiled.requests[conn.request as usize].bytes,
        };
        let Some(secured) = &mut conn.tls else { return };
        self.sealed.clear();
        conn.written = plain.len().try_into().unwrap_or(u32::MAX);
        if let Err(refused) = secured.link.seal(plain, &mut self.sealed) {
            self.tell_of(id, fault_of(&refused), refused.sentence());
            return self.failed(id, fault_of(&refused));
        }
        self.let_go(id);
        self.flush(id);
    }

    /// Sends what is unsent, then what was sealed just now; what the kernel does not take waits with the connection.
    pub(super) fn flush(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        let Some(secured) = &mut conn.tls else { return };
        let held = !secured.unsent.is_empty();
        if held {
            secured.unsent.append(&mut self.sealed);
        }
        let mut at = 0;
        loop {
            let bytes = if held { &secured.unsent[at..] } else { &self.sealed[at..] };
            if bytes.is_empty() {
                break;
            }
            match self.door.send(conn.socket, bytes) {
                Io::Done(n) => at += n,
                Io::WouldBlock => {
                    if held {
                        secured.unsent.drain(..at);
                    } else {
                        secured.unsent.extend_from_slice(&self.sealed[at..]);
                        self.sealed.clear();
                    }
                    return;
                }
                Io::Failed(errno) => {
                    let fault = fault::of_transfer(errno);
                    self.sealed.clear();
                    if conn.state == State::Sending && fault == Fault::Reset {
                        // The answer that explains it may be waiting to be read.
                        (conn.state, conn.peer_closed, conn.reset) = (State::Waiting, true, true);
                        return self.read_sealed(id);
                    }
                    return self.transfer_failed(id, fault);
                }
            }
        }
        self.sealed.clear();
        secured.unsent = Vec::new();
        if conn.state == State::Sending {
            conn.state = State::Waiting;
            if held {
                let stall_ns = self.now_ns.saturating_sub(conn.sent_ns);
                self.tally.record(RunHist::SendStall, stall_ns);
            }
        }
    }

    pub(super) fn read_sealed(&mut self, id: u32) {
        let mut share = self.share();
        loop {
            let room = self.room(id);
            let conn = &mut self.conns[id as usize];
            let n = match self.door.recv(conn.socket, &mut self.buffer[..room]) {
                Io::Done(0) => return self.on_eof(id),
                Io::Done(n) => n,
                Io::WouldBlock => return self.drained(id),
                Io::Failed(errno) => return self.transfer_failed(id, fault::of_transfer(errno)),
            };
            let (generation, peer_closed) = (conn.generation, conn.peer_closed);
            if !self.take_in(id, n) {
                return;
            }
            // A short read has emptied the queue, unless an end is behind it.
            if self.conns[id as usize].generation != generation {
                return;
            }
            if n < room && !peer_closed {
                return self.drained(id);
            }
            if share.is_used_up(n, self.now_ns) {
                return self.put_off(id, &share);
            }
        }
    }

    /// Opens `n` bytes of the buffer. False: the socket is not ours any more.
    fn take_in(&mut self, id: u32, n: usize) -> bool {
        let conn = &mut self.conns[id as usize];
        let Some(secured) = &mut conn.tls else { return false };
        self.opened.clear();
        self.sealed.clear();
        let fed = secured.link.feed(&mut self.buffer[..n], &mut self.opened, &mut self.sealed);
        let (ready, closed) = (secured.link.is_ready(), secured.link.is_closed());
        // Nothing more can be asked here, whenever the end of TCP comes.
        conn.peer_closed |= closed || fed.is_err();
        let generation = conn.generation;
        if let Err(refused) = fed {
            self.broken(id, &refused);
            return false;
        }
        if !self.sealed.is_empty() {
            self.flush(id);
        }
        let conn = &self.conns[id as usize];
        if ready && conn.generation == generation && conn.state == State::Handshaking {
            self.conns[id as usize].early = !self.opened.is_empty();
            self.handshake_done(id);
        }
        if self.conns[id as usize].generation != generation {
            return false;
        }
        let opened = self.opened.len();
        if opened > 0 && !self.feed(id, opened, true) {
            return false;
        }
        if closed && self.conns[id as usize].tls.is_some() {
            self.on_eof(id);
            return false;
        }
        true
    }

    /// The link is dead; what it opened before counts, wherever the bytes were cut.
    fn broken(&mut self, id: u32, refused: &TlsFault) {
        self.tell_time();
        let (fault, sentence) = (fault_of(refused), refused.sentence());
        let conn = &self.conns[id as usize];
        if conn.tls.as_ref().is_some_and(|secured| secured.unsent.is_empty()) && !self.sealed.is_empty() {
            // An alert; that it finds nobody any more is no reason of its own.
            let _ = self.door.send(conn.socket, &self.sealed);
        }
        self.sealed.clear();
        if conn.state == State::Handshaking {
            return self.handshake_failed(id, fault, sentence);
        }
        self.tell_of(id, fault, sentence);
        let opened = self.opened.len();
        if opened == 0 || self.feed(id, opened, true) {
            self.transfer_failed(id, fault);
        }
    }

    fn handshake_done(&mut self, id: u32) {
        self.tell_time();
        let conn = &mut self.conns[id as usize];
        let took_ns = self.now_ns.saturating_sub(conn.since_ns);
        let resumed = conn
            .tls
            .as_ref()
            .and_then(|secured| secured.link.facts().map(|facts| facts.resumed))
            .unwrap_or(false);
        conn.state = State::Idle;
        self.tally.add(RunSum::Handshakes, 1);
        self.tally.add(RunSum::HandshakesResumed, u64::from(resumed));
        self.tally.record(RunHist::Handshake, took_ns);
        self.send(id, Bytes::Prepared);
    }
}
