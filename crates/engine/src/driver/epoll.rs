//! The real door: epoll on Linux.

mod enclosed;

use super::{CpuReading, Door, Errno, Flags, Io, Socket, TcpFacts};
use crate::link::tls::Enclosure;
use crate::route::Route;
use crate::sys::epoll::{Epoll, Waker};
use crate::sys::thread::{HostCpu, RunQueue, set_tight_timers};
use crate::sys::{socket, time};
use enclosed::Enclosed;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

pub struct EpollDoor {
    epoll: Epoll,
    waker: Arc<Waker>,
    run_queue: RunQueue,
    /// Only one worker reads the machine's CPU times.
    host: Option<HostCpu>,
    receive_buffer_bytes: Option<u32>,
    /// Empty without proxies that are reached over TLS.
    enclosed: Enclosed,
}

impl EpollDoor {
    /// Creates the door of the calling thread.
    pub fn new(waker: Arc<Waker>, reads_host: bool) -> Result<EpollDoor, Errno> {
        set_tight_timers();
        let epoll = Epoll::new()?;
        epoll.add_level(waker.fd(), Self::WAKE)?;
        let host = reads_host.then(HostCpu::new);
        let enclosed = Enclosed::default();
        Ok(EpollDoor { epoll, waker, run_queue: RunQueue::new(), host, receive_buffer_bytes: None, enclosed })
    }

    fn registered(&mut self, fd: Socket, token: u64) -> Result<Socket, Errno> {
        match self.epoll.add(fd, token) {
            Ok(()) => Ok(fd),
            Err(errno) => {
                socket::close(fd);
                Err(errno)
            }
        }
    }
}

impl Door for EpollDoor {
    #[inline]
    fn now_ns(&self) -> u64 {
        crate::clock::now_ns()
    }

    fn open(&mut self, address: SocketAddr, source: Option<IpAddr>, token: u64) -> Result<Socket, Errno> {
        let fd = socket::connect(address, source, None, self.receive_buffer_bytes)?;
        self.registered(fd, token)
    }

    fn open_by(
        &mut self,
        route: &Route,
        address: SocketAddr,
        source: Option<IpAddr>,
        token: u64,
    ) -> Result<Socket, Errno> {
        let fd = match &route.unix_socket {
            Some(path) => socket::connect_unix(path)?,
            None => socket::connect(address, source, route.interface.as_deref(), self.receive_buffer_bytes)?,
        };
        self.registered(fd, token)
    }

    fn local_address(&mut self, socket: Socket) -> Option<SocketAddr> {
        socket::local_address(socket)
    }

    fn limit_receive_buffers(&mut self, bytes: Option<u32>) {
        self.receive_buffer_bytes = bytes;
    }

    fn remote_address(&mut self, socket: Socket) -> Option<SocketAddr> {
        socket::remote_address(socket)
    }

    fn connect_result(&mut self, socket: Socket) -> Result<(), Errno> {
        socket::connect_result(socket)
    }

    fn enclose(&mut self, socket: Socket, enclosure: Enclosure) {
        self.enclosed.add(socket, enclosure);
    }

    fn push(&mut self, socket: Socket) {
        self.enclosed.push(socket);
    }

    #[inline]
    fn send(&mut self, socket: Socket, bytes: &[u8]) -> Io {
        match self.enclosed.is_empty() {
            true => socket::send(socket, bytes),
            false => self.enclosed.send(socket, bytes),
        }
    }

    #[inline]
    fn recv(&mut self, socket: Socket, buffer: &mut [u8]) -> Io {
        match self.enclosed.is_empty() {
            true => socket::recv(socket, buffer),
            false => self.enclosed.recv(socket, buffer),
        }
    }

    #[inline]
    fn discard(&mut self, socket: Socket, bytes: usize) -> Io {
        socket::discard(socket, bytes)
    }

    fn set_low_water(&mut self, socket: Socket, bytes: usize) {
        // The kernel counts sealed bytes.
        if !self.enclosed.has(socket) {
            socket::set_low_water(socket, bytes);
        }
    }

    fn facts(&mut self, socket: Socket) -> TcpFacts {
        socket::tcp_facts(socket)
    }

    fn close(&mut self, socket: Socket) {
        self.enclosed.end(socket);
        socket::close(socket);
    }

    #[inline]
    fn wait(&mut self, timeout_ns: u64) -> usize {
        self.epoll.wait(timeout_ns)
    }

    #[inline]
    fn event(&self, i: usize) -> (u64, Flags) {
        self.epoll.event(i)
    }

    fn cpu(&mut self) -> CpuReading {
        let (steal_ns, host_busy_ns) = self.host.as_ref().map_or((0, 0), HostCpu::read_ns);
        CpuReading {
            thread_cpu_ns: time::thread_cpu_ns(),
            run_queue_ns: self.run_queue.waited_ns(),
            steal_ns,
            host_busy_ns,
        }
    }

    fn clear_wake(&mut self) {
        self.waker.clear();
    }
}
