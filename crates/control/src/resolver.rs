//! Lookups of a host during the load, one for each connection, on separate threads: the system's resolver blocks,
//! and a worker must not.
//!
//! The system's resolver (`getaddrinfo`) tells no lifetime of its answers, so each connection is a lookup; whether the
//! answer comes from a cache is up to the machine.

use crate::Resolved;
use plimsoll_engine::clock;
use plimsoll_engine::names::{AnswerTo, LookedUp, Resolver};
use plimsoll_plan::origin::Origin;
use plimsoll_plan::policy::{AddressClass, address_class};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Most threads of one host. Each waits for one answer, so they cost no CPU; more lookups than these wait, and are
/// counted.
const THREADS_MAX: usize = 64;

/// A host, and which of its addresses may be loaded.
struct Host {
    name: String,
    port: u16,
    /// The run has permission for the host, for all of its public addresses.
    is_allowed: bool,
    /// The addresses of before the load, which have permission.
    known: Vec<IpAddr>,
    /// The family that accepted the trial connection.
    is_ipv4: bool,
}

struct Shared {
    host: Host,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// With whether they found no idle thread.
    waiting: VecDeque<(AnswerTo, bool)>,
    idle: usize,
    threads: usize,
    is_closed: bool,
}

/// The resolver of one host.
pub struct HostResolver {
    shared: Arc<Shared>,
}

impl HostResolver {
    /// Creates the resolver of an origin whose host is a name; `is_allowed` if the run has permission for the host.
    pub fn new(origin: &Origin, place: &Resolved, is_allowed: bool) -> HostResolver {
        let host = Host {
            name: origin.host.clone(),
            port: origin.port,
            is_allowed,
            known: place.addresses.iter().map(SocketAddr::ip).collect(),
            is_ipv4: place.first().is_ipv4(),
        };
        let shared = Shared { host, state: Mutex::default(), changed: Condvar::new() };
        HostResolver { shared: Arc::new(shared) }
    }
}

impl Resolver for HostResolver {
    fn look_up(&self, answer: AnswerTo) {
        let mut state = self.shared.state();
        let has_thread = state.idle > state.waiting.len();
        let is_new = !has_thread && state.threads < THREADS_MAX;
        state.waiting.push_back((answer, !has_thread && !is_new));
        if is_new {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("resolver".into()).spawn(move || shared.serve());
            // If the kernel allows no more threads, the others serve it; without any, it times out.
            state.threads += usize::from(thread.is_ok());
        }
        drop(state);
        self.shared.changed.notify_one();
    }
}

/// The threads end with the run. They are not waited for: a resolver may take many seconds to give up.
impl Drop for HostResolver {
    fn drop(&mut self) {
        self.shared.state().is_closed = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is a single push or count.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        loop {
            let mut state = self.state();
            let (answer, was_queued) = loop {
                if state.is_closed {
                    return;
                }
                if let Some(first) = state.waiting.pop_front() {
                    break first;
                }
                state.idle += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            };
            drop(state);
            let begin_ns = clock::now_ns();
            let found = self.host.look_up();
            let took_ns = clock::now_ns().saturating_sub(begin_ns);
            answer.send(LookedUp { found, took_ns, was_queued });
        }
    }
}

impl Host {
    fn look_up(&self) -> Result<SocketAddr, String> {
        let name = &self.name;
        let all = (name.as_str(), self.port).to_socket_addrs();
        let all: Vec<SocketAddr> =
            all.map_err(|error| format!("cannot resolve `{name}`: {}", crate::dns::plain(&error)))?.collect();
        let mut allowed = all.iter().filter(|address| self.may_load(address.ip()));
        let first = allowed.clone().find(|address| address.is_ipv4() == self.is_ipv4);
        first.or_else(|| allowed.next()).copied().ok_or_else(|| match all.first() {
            Some(other) => format!("`{name}` resolved to {}, which the run may not load", other.ip()),
            None => format!("`{name}` has no address"),
        })
    }

    /// The answer may change during the load, but not to a host that was never asked for permission.
    fn may_load(&self, address: IpAddr) -> bool {
        match address_class(address) {
            AddressClass::Loopback | AddressClass::Private => true,
            AddressClass::Public => self.is_allowed || self.known.contains(&address),
            AddressClass::Forbidden => false,
        }
    }
}
