//! The event loop: one thread, one epoll, sockets registered once and edge-triggered.
//!
//! Between any two events, the loop runs the timers that are due, so that a burst of arrivals does not delay
//! responses. `slots` contains the connections, `stream` moves bytes, `exchange` is the life of one request,
//! `content` defines the body of its response, `events` writes event streams, `command` serves `/_test-server/`.

mod command;
mod content;
mod events;
mod exchange;
mod http2;
mod slots;
mod stream;
mod websockets;

use crate::clock::{now_ns, timespec};
use crate::draw::Random;
use crate::error::Error;
use crate::fault::Fault;
use crate::flags::Options;
use crate::listener;
use crate::pages::Pages;
use crate::pressed::Pressed;
use crate::record::Recorder;
use crate::settings::Settings;
use crate::station::Station;
use crate::timers::{Key, Task, Timers};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};
use slots::{Connection, Slots};
use std::net::SocketAddr;
use std::num::NonZeroU64;

const LISTENER: u64 = u64::MAX;
const STDIN: u64 = u64::MAX - 1;
const TLS_LISTENER: u64 = u64::MAX - 2;
/// Events per wake-up: few, because all of them get the timestamp of that wake-up.
const EVENTS: usize = 32;
/// Connections accepted at once.
const ACCEPTS: usize = 32;
/// Timers served at once, so that an overload of due responses does not starve the sockets.
const DUE: usize = 128;
/// Time without accepting after the file descriptors have run out.
const ACCEPT_REST_NS: u64 = 10_000_000;
/// Size of the shared read buffer, and so the maximum of one read.
const SCRATCH: usize = 64 << 10;

/// Why the loop ended.
pub(crate) enum Ending {
    StdinClosed,
    LifeOver { seconds: u64 },
}

/// A separate sequence of random numbers for each use.
struct Streams {
    delay: Random,
    service: Random,
    error: Random,
    fault: Random,
    jitter: Random,
}

impl Streams {
    fn new(seed: u64) -> Self {
        let [delay, service, error, fault, jitter] = [1, 2, 3, 4, 5].map(|stream| Random::new(seed, stream));
        Streams { delay, service, error, fault, jitter }
    }
}

pub(crate) struct Server {
    epoll: OwnedFd,
    address: SocketAddr,
    tls: Option<http2::Front>,
    /// None while the listener is off.
    listener: Option<OwnedFd>,
    /// The listener is in the epoll set.
    listener_armed: bool,
    slots: Slots,
    /// The streams of connections with HTTP/2.
    multiplexed: http2::Streams,
    /// Connections with HTTP/2 that have something to write.
    listed: Vec<Key>,
    timers: Timers,
    station: Station,
    settings: Settings,
    streams: Streams,
    recorder: Recorder,
    pages: Pages,
    pressed: Pressed,
    streams_open: u64,
    fan: events::Fan,
    /// When the first pause starts.
    pause_from_ns: u64,
    scratch: Vec<u8>,
    busy_poll_ns: u64,
    life_s: u64,
    /// epoll cannot wait for stdin (a file, /dev/null), so it counts as closed.
    stdin_is_over: bool,
}

impl Server {
    /// Listens; connections are accepted by [`Server::run`].
    pub(crate) fn open(options: Options) -> Result<Self, Error> {
        listener::raise_open_files()?;
        // Timers must fire when they are due, not up to 50 us later (the default slack).
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))
            .map_err(Error::machine("set the timer slack"))?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(Error::machine("open an epoll"))?;
        let settings = options.settings;
        let (socket, address) = listener::open(options.listen, settings.service.backlog)?;
        let mut stdin_is_over = false;
        if options.until_stdin_closes {
            let data = EventData::new_u64(STDIN);
            match epoll::add(&epoll, rustix::stdio::stdin(), data, EventFlags::IN) {
                Ok(()) => {}
                Err(Errno::PERM) => stdin_is_over = true,
                Err(errno) => return Err(Error::machine("wait for stdin")(errno)),
            }
        }
        let mut server = Server {
            epoll,
            address,
            tls: None,
            listener: settings.service.listen.then_some(socket),
            listener_armed: false,
            slots: Slots::default(),
            multiplexed: http2::Streams::default(),
            listed: Vec::new(),
            timers: Timers::default(),
            station: Station::default(),
            streams: Streams::new(settings.service.seed),
            recorder: Recorder::new(options.log_max),
            pages: Pages::new(now_ns()),
            pressed: Pressed::default(),
            streams_open: 0,
            fan: events::Fan::default(),
            pause_from_ns: now_ns() + settings.service.pause_at_ns,
            settings,
            scratch: vec![0; SCRATCH],
            busy_poll_ns: options.busy_poll_ns,
            life_s: options.life_s,
            stdin_is_over,
        };
        if let Some(tls) = &options.tls {
            server.tls = Some(http2::Front::open(tls, server.settings.service.backlog)?);
            server.arm_tls(TLS_LISTENER)?;
        }
        server.arm_listener()?;
        Ok(server)
    }

    /// Returns the address with the actual port.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn tls_address(&self) -> Option<SocketAddr> {
        self.tls.as_ref().map(|tls| tls.address)
    }

    /// Serves until stdin closes (with `--until-stdin-closes`) or the time is over.
    pub(crate) fn run(&mut self) -> Result<Ending, Error> {
        let end_ns = now_ns() + self.life_s * 1_000_000_000;
        if self.stdin_is_over {
            return Ok(Ending::StdinClosed);
        }
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            let now = self.serve_due(now_ns())?;
            if now >= end_ns {
                return Ok(Ending::LifeOver { seconds: self.life_s });
            }
            let next_ns = self.timers.next_due_ns().unwrap_or(end_ns).min(end_ns);
            let sleep = timespec(next_ns.saturating_sub(now).saturating_sub(self.busy_poll_ns));
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&sleep)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::machine("wait for events")(errno)),
            }
            if events.is_empty() {
                continue;
            }
            let woke_ns = now_ns();
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept(woke_ns)?,
                    TLS_LISTENER => self.accept_tls(woke_ns)?,
                    STDIN => {
                        let read = rustix::io::read(rustix::stdio::stdin(), &mut self.scratch[..]);
                        match read {
                            Ok(0) => return Ok(Ending::StdinClosed),
                            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
                            Err(errno) => return Err(Error::machine("read stdin")(errno)),
                        }
                    }
                    packed => self.ready(Key::unpack(packed), event.flags, woke_ns)?,
                }
                self.serve_due(now_ns())?;
            }
        }
    }

    /// Runs the tasks that are due; returns the time afterward.
    fn serve_due(&mut self, mut now: u64) -> Result<u64, Error> {
        for _ in 0..DUE {
            let Some((due_ns, task)) = self.timers.pop_due(now) else { break };
            match task {
                Task::Answer(ticket) => self.answer_due(ticket, due_ns)?,
                Task::EndService(ticket) => self.service_ends(ticket, due_ns)?,
                Task::WriteOn(ticket) => self.write_on(ticket)?,
                Task::Event(ticket) => self.event_due(ticket, due_ns)?,
                Task::Emit(ticket) => self.emit(ticket, due_ns)?,
                Task::Comment(ticket) => self.comment_due(ticket, due_ns)?,
                Task::Message(ticket) => self.message_due(ticket, due_ns)?,
                Task::Echo(ticket) => self.echo_due(ticket)?,
                Task::Ping(ticket) => self.ping_due(ticket, due_ns)?,
                Task::Idle(key) => self.look_if_idle(key, now)?,
                Task::ReadOn(key) => self.pump(key)?,
                Task::AcceptAgain => {
                    self.arm_listener()?;
                    self.accept_tls(now)?;
                }
            }
            if !self.listed.is_empty() && self.writes_singly() {
                self.drive_listed()?;
            }
            now = now_ns();
        }
        if !self.listed.is_empty() {
            self.drive_listed()?;
        }
        Ok(now)
    }

    /// Adds the listener to the epoll set, if there is one and it is not in the set.
    fn arm_listener(&mut self) -> Result<(), Error> {
        if let (Some(listener), false) = (&self.listener, self.listener_armed) {
            epoll::add(&self.epoll, listener, EventData::new_u64(LISTENER), EventFlags::IN)
                .map_err(Error::machine("wait for connections"))?;
            self.listener_armed = true;
        }
        Ok(())
    }

    fn disarm_listener(&mut self) -> Result<(), Error> {
        if let (Some(listener), true) = (&self.listener, self.listener_armed) {
            epoll::delete(&self.epoll, listener).map_err(Error::machine("stop waiting for connections"))?;
        }
        self.listener_armed = false;
        Ok(())
    }

    fn is_full(&self) -> bool {
        let most = self.settings.service.max_connections;
        most > 0 && self.slots.open() >= most
    }

    fn accept(&mut self, now: u64) -> Result<(), Error> {
        for _ in 0..ACCEPTS {
            if self.is_full() && self.settings.service.leave_in_backlog {
                return self.disarm_listener();
            }
            let Some(listener) = &self.listener else { return Ok(()) };
            let socket = match accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    self.recorder.counters.accept_errors += 1;
                    self.timers.push(now + ACCEPT_REST_NS, Task::AcceptAgain);
                    return self.disarm_listener();
                }
                Err(errno) => return Err(Error::machine("accept a connection")(errno)),
            };
            self.take_in(socket, now)?;
        }
        Ok(())
    }

    /// Counts a new connection, and resets it if that is commanded; None then.
    fn take_in(&mut self, socket: OwnedFd, now: u64) -> Result<Option<Key>, Error> {
        self.recorder.counters.accepted += 1;
        let behavior = &self.settings.behavior;
        let to_reset =
            behavior.fault == Some(Fault::AcceptThenReset) && self.streams.fault.hits(behavior.fault_rate);
        if to_reset || self.is_full() {
            let counters = &mut self.recorder.counters;
            if to_reset {
                counters.by_fault[Fault::AcceptThenReset.index()] += 1;
            } else {
                counters.over_limit += 1;
            }
            counters.closed_by_server += 1;
            listener::make_close_reset(&socket).map_err(Error::machine("prepare a reset"))?;
            return Ok(None);
        }
        let connection = Connection::new(socket, self.recorder.epoch(), now);
        let key = self.slots.insert(connection);
        let Some(connection) = self.slots.get(key) else { return Ok(None) };
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &connection.socket, EventData::new_u64(key.pack()), flags)
            .map_err(Error::machine("wait for a connection's bytes"))?;
        self.watch_idleness(key, now);
        Ok(Some(key))
    }

    /// Sets the timer that closes the connection when it has been idle for too long. A connection has at most one such
    /// timer; after traffic, the timer is set again when it fires.
    fn watch_idleness(&mut self, key: Key, now: u64) {
        let limit_ns = self.settings.service.idle_close_ns;
        let Some(connection) = self.slots.get(key) else { return };
        connection.idle_since_ns = now;
        if limit_ns > 0 && !connection.idle_watched && !connection.is_control {
            connection.idle_watched = true;
            self.timers.push(now + limit_ns, Task::Idle(key));
        }
    }

    fn look_if_idle(&mut self, key: Key, now: u64) -> Result<(), Error> {
        let limit_ns = self.settings.service.idle_close_ns;
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        connection.idle_watched = false;
        if limit_ns == 0 || connection.is_control {
            return Ok(());
        }
        let until_ns =
            if connection.is_idle() { connection.idle_since_ns + limit_ns } else { now + limit_ns };
        if until_ns <= now {
            return self.leave_idle(key);
        }
        connection.idle_watched = true;
        self.timers.push(until_ns, Task::Idle(key));
        Ok(())
    }
}
