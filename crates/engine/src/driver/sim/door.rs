//! The worker's side of the simulated network: the calls, and the kernel's results.

use super::Connect;
use super::net::{Link, SimEvent, State};
use crate::driver::{CpuReading, Door, Errno, Flags, IN, Io, Socket, TcpFacts};
use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// The simulated door.
pub struct SimDoor {
    pub(super) state: Rc<RefCell<State>>,
    pub(super) ready: Vec<(u64, Flags)>,
}

/// The number of events that the real door takes at once.
const BATCH: usize = 256;

impl SimDoor {
    fn take(&mut self, socket: Socket, most: usize, into: Option<&mut [u8]>) -> Io {
        let mut state = self.state.borrow_mut();
        state.spend();
        let Some(link) = state.links.get_mut(&socket) else { return Io::Failed(Errno(libc::EBADF)) };
        let n = link.inbox.len().min(most);
        if n > 0 {
            if let Some(buffer) = into {
                let (front, back) = link.inbox.as_slices();
                let cut = front.len().min(n);
                buffer[..cut].copy_from_slice(&front[..cut]);
                buffer[cut..n].copy_from_slice(&back[..n - cut]);
            }
            link.inbox.drain(..n);
            return Io::Done(n);
        }
        match link.error.take() {
            Some(errno) => Io::Failed(Errno(errno)),
            None if link.fin || link.reset => Io::Done(0),
            None => Io::WouldBlock,
        }
    }
}

impl Door for SimDoor {
    fn now_ns(&self) -> u64 {
        let mut state = self.state.borrow_mut();
        let now_ns = state.now_ns + state.nature.clock_cost_ns;
        state.advance(now_ns);
        state.now_ns
    }

    fn open(&mut self, address: SocketAddr, source: Option<IpAddr>, token: u64) -> Result<Socket, Errno> {
        let state = &mut *self.state.borrow_mut();
        state.spend();
        state.calls.open += 1;
        state.opened.push((address, source));
        let number = state.attempts;
        state.attempts += 1;
        let now_ns = state.now_ns;
        let round_trip_ns = 2 * state.nature.latency_ns;
        let socket = number as Socket;
        let there_ns = now_ns + round_trip_ns;
        let mut gone = false;
        match state.server.connect(number, now_ns + state.nature.latency_ns) {
            Connect::Errno(errno) => return Err(Errno(errno)),
            Connect::Never => {}
            Connect::Refuse => state.later(there_ns, SimEvent::Refused(socket)),
            Connect::Accept { after_ns } => state.later(there_ns + after_ns, SimEvent::Connected(socket)),
            Connect::Greet { bytes, close } => {
                state.later(there_ns, SimEvent::Connected(socket));
                state.later(there_ns, SimEvent::AtClient(socket, bytes.to_vec()));
                gone = close;
                if close {
                    state.later(there_ns, SimEvent::Fin(socket));
                }
            }
        }
        let link = Link::new(token, number, state.nature.send_window, gone);
        state.links.insert(socket, link);
        state.calls.open_now += 1;
        state.calls.open_max = state.calls.open_max.max(state.calls.open_now);
        Ok(socket)
    }

    fn connect_result(&mut self, socket: Socket) -> Result<(), Errno> {
        let mut state = self.state.borrow_mut();
        let link = state.links.get_mut(&socket).ok_or(Errno(libc::EBADF))?;
        link.error.take().map_or(Ok(()), |errno| Err(Errno(errno)))
    }

    fn send(&mut self, socket: Socket, bytes: &[u8]) -> Io {
        let state = &mut *self.state.borrow_mut();
        state.spend();
        state.calls.send += 1;
        let (now_ns, latency_ns) = (state.now_ns, state.nature.latency_ns);
        let Some(link) = state.links.get_mut(&socket) else { return Io::Failed(Errno(libc::EBADF)) };
        if link.reset {
            return Io::Failed(Errno(link.error.take().unwrap_or(libc::EPIPE)));
        }
        let n = if link.established { bytes.len().min(link.room) } else { 0 };
        if n == 0 {
            return Io::WouldBlock;
        }
        if link.room < usize::MAX {
            link.room -= n;
            state.later(now_ns + 2 * latency_ns, SimEvent::Acknowledged(socket, n));
        }
        state.later(now_ns + latency_ns, SimEvent::AtServer(socket, bytes[..n].to_vec()));
        Io::Done(n)
    }

    fn recv(&mut self, socket: Socket, buffer: &mut [u8]) -> Io {
        self.state.borrow_mut().calls.recv += 1;
        self.take(socket, buffer.len(), Some(buffer))
    }

    fn discard(&mut self, socket: Socket, bytes: usize) -> Io {
        self.state.borrow_mut().calls.discard += 1;
        self.take(socket, bytes, None)
    }

    fn set_low_water(&mut self, socket: Socket, bytes: usize) {
        let mut state = self.state.borrow_mut();
        if let Some(link) = state.links.get_mut(&socket) {
            link.low_water = bytes;
        }
        // As in the kernel: the bytes already received may be enough for the new mark.
        if state.links.get(&socket).is_some_and(|l| l.flags() & IN != 0) {
            state.edge(socket);
        }
    }

    fn facts(&mut self, _socket: Socket) -> TcpFacts {
        self.state.borrow().nature.facts
    }

    fn close(&mut self, socket: Socket) {
        let mut state = self.state.borrow_mut();
        state.calls.close += 1;
        if let Some(link) = state.links.remove(&socket) {
            state.calls.open_now -= 1;
            if !link.gone {
                state.closed.insert(socket, link.number);
            }
        }
    }

    fn wait(&mut self, timeout_ns: u64) -> usize {
        let state = &mut *self.state.borrow_mut();
        state.calls.wait += 1;
        state.spend();
        self.ready.clear();
        let deadline_ns = state.now_ns.saturating_add(timeout_ns);
        loop {
            state.catch_up();
            if std::mem::take(&mut state.woken) {
                self.ready.push((Self::WAKE, IN));
            }
            while self.ready.len() < BATCH
                && let Some(socket) = state.edges.pop_front()
            {
                if let Some(link) = state.links.get_mut(&socket) {
                    link.edge = false;
                    // The current state, not the state at the time of the edge.
                    self.ready.extend(Some((link.token, link.flags())).filter(|e| e.1 != 0));
                }
            }
            if !self.ready.is_empty() || state.now_ns >= deadline_ns {
                return self.ready.len();
            }
            let next_ns = state.ahead.first_key_value().map_or(u64::MAX, |(key, _)| key.0);
            state.advance(next_ns.min(deadline_ns));
        }
    }

    fn event(&self, i: usize) -> (u64, Flags) {
        self.ready[i]
    }

    fn cpu(&mut self) -> CpuReading {
        CpuReading::default()
    }

    fn clear_wake(&mut self) {}
}
