//! A worker's interface to the outside: sockets, time, readiness. [`epoll`] implements it with the kernel, and [`sim`]
//! for tests in which network and time are numbers.

pub mod epoll;
pub mod sim;

use crate::link::tls::Enclosure;
use crate::route::Route;
pub use crate::sys::Errno;
pub use crate::sys::epoll::{ERR, Flags, HUP, IN, OUT, RDHUP};
pub use crate::sys::socket::{Io, Socket, TcpFacts};
use std::net::{IpAddr, SocketAddr};

/// CPU times of the calling worker and its machine, cumulative, ns.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuReading {
    pub thread_cpu_ns: u64,
    pub run_queue_ns: u64,
    pub steal_ns: u64,
    pub host_busy_ns: u64,
}

/// Access to sockets, time, and readiness. Sockets are non-blocking and registered once, for edge-triggered readiness.
pub trait Door {
    fn now_ns(&self) -> u64;
    /// Starts to connect, from a local address if one is given; every event of this socket carries the token.
    fn open(&mut self, address: SocketAddr, source: Option<IpAddr>, token: u64) -> Result<Socket, Errno>;
    /// Starts to connect by a Unix domain socket or a network interface. A door without them opens the address.
    fn open_by(
        &mut self,
        _route: &Route,
        address: SocketAddr,
        source: Option<IpAddr>,
        token: u64,
    ) -> Result<Socket, Errno> {
        self.open(address, source, token)
    }
    /// Returns the local address of a connected socket, if it has one.
    fn local_address(&mut self, _socket: Socket) -> Option<SocketAddr> {
        None
    }
    /// Returns the address that a socket is connected to, if it has one.
    fn remote_address(&mut self, _socket: Socket) -> Option<SocketAddr> {
        None
    }
    /// Limits the receive buffers of the sockets that are opened later; `None`: the kernel's default. A network without
    /// buffers has nothing to limit.
    fn limit_receive_buffers(&mut self, _bytes: Option<u32>) {}
    fn connect_result(&mut self, socket: Socket) -> Result<(), Errno>;
    /// Lets TLS with a proxy carry all further bytes of a socket. A door without proxies carries none.
    fn enclose(&mut self, _socket: Socket, _enclosure: Enclosure) {}
    /// Sends what an enclosed socket has taken and the kernel has not.
    fn push(&mut self, _socket: Socket) {}
    fn send(&mut self, socket: Socket, bytes: &[u8]) -> Io;
    fn recv(&mut self, socket: Socket, buffer: &mut [u8]) -> Io;
    /// Discards received bytes without copying them.
    fn discard(&mut self, socket: Socket, bytes: usize) -> Io;
    fn set_low_water(&mut self, socket: Socket, bytes: usize);
    fn facts(&mut self, socket: Socket) -> TcpFacts;
    fn close(&mut self, socket: Socket);
    /// Waits at most `timeout_ns` (0 polls) and returns the number of events.
    fn wait(&mut self, timeout_ns: u64) -> usize;
    fn event(&self, i: usize) -> (u64, Flags);
    fn cpu(&mut self) -> CpuReading;
    /// Token of a wake-up by another thread.
    const WAKE: u64 = u64::MAX;
    /// Clears a wake-up.
    fn clear_wake(&mut self);
}
