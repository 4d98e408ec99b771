//! Non-blocking TCP sockets, and Unix domain sockets.

use super::Errno;
use std::mem::size_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A socket's file descriptor. It is deliberately `Copy`: the connection table owns it and closes it once.
pub type Socket = i32;

/// Opens a socket and starts to connect, from `source` and by `interface` if there are any, with a limited receive
/// buffer if its size is given. `Ok` means in progress (or done): writability reports completion.
pub fn connect(
    address: SocketAddr,
    source: Option<IpAddr>,
    interface: Option<&str>,
    receive_buffer_bytes: Option<u32>,
) -> Result<Socket, Errno> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(Errno::last());
    }
    // A request is one write; waiting for more data (Nagle) would only delay the tail of a large body.
    option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1);
    if let Some(bytes) = receive_buffer_bytes {
        // Before the connection: the window that it begins with cannot be taken back.
        option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, bytes.min(1 << 30) as libc::c_int);
    }
    if let Some(interface) = interface
        && let Err(errno) = bind_to_interface(fd, interface)
    {
        close(fd);
        return Err(errno);
    }
    if let Some(source) = source {
        // Without this, the kernel would choose a port at the bind, before it knows the target, and use each port only
        // once for all targets (ip(7)).
        option(fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1);
        // SAFETY: the call reads `size` bytes of the address that `raw` points to.
        let bound = with_raw(SocketAddr::new(source, 0), |raw, size| unsafe { libc::bind(fd, raw, size) });
        if bound < 0 {
            let errno = Errno::last();
            close(fd);
            return Err(errno);
        }
    }
    // SAFETY: as above.
    let result = with_raw(address, |raw, size| unsafe { libc::connect(fd, raw, size) });
    if result < 0 {
        let errno = Errno::last();
        if errno.0 != libc::EINPROGRESS {
            close(fd);
            return Err(errno);
        }
    }
    Ok(fd)
}

fn bind_to_interface(socket: Socket, interface: &str) -> Result<(), Errno> {
    let (name, size) = (interface.as_ptr().cast(), interface.len() as libc::socklen_t);
    // SAFETY: the kernel reads `size` bytes of the name.
    match unsafe { libc::setsockopt(socket, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, name, size) } {
        0 => Ok(()),
        _ => Err(Errno::last()),
    }
}

/// Returns whether sockets can be bound to a network interface.
///
/// # Errors
/// Returns the kernel's error: `ENODEV` if it does not exist, `EPERM` without the permission.
pub fn check_interface(interface: &str) -> Result<(), Errno> {
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(Errno::last());
    }
    let bound = bind_to_interface(fd, interface);
    close(fd);
    bound
}

/// Connects to a Unix domain socket. Such a connection is established at once or refused: `EAGAIN` means that the
/// server's accept queue is full, and nothing reports when it is not.
pub fn connect_unix(path: &Path) -> Result<Socket, Errno> {
    let bytes = path.as_os_str().as_bytes();
    // SAFETY: zero is a valid value of each field.
    let mut raw: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    raw.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // The last byte ends the path.
    if bytes.len() >= raw.sun_path.len() {
        return Err(Errno(libc::ENAMETOOLONG));
    }
    for (into, byte) in raw.sun_path.iter_mut().zip(bytes) {
        *into = *byte as libc::c_char;
    }
    // SAFETY: no pointers.
    let fd = unsafe {
        libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, 0)
    };
    if fd < 0 {
        return Err(Errno::last());
    }
    let size = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the call reads `size` bytes of `raw`.
    if unsafe { libc::connect(fd, (&raw const raw).cast(), size) } < 0 {
        let errno = Errno::last();
        close(fd);
        return Err(errno);
    }
    Ok(fd)
}

/// Waits for a connection in progress, at most `timeout_ms`, and makes its socket blocking.
pub fn connected(socket: Socket, timeout_ms: i32) -> Result<OwnedFd, Errno> {
    // SAFETY: the caller passes on a socket that nothing else owns.
    let owned = unsafe { OwnedFd::from_raw_fd(socket) };
    let mut poll = libc::pollfd { fd: socket, events: libc::POLLOUT, revents: 0 };
    // SAFETY: `poll` is one entry, and lives through the call.
    match unsafe { libc::poll(&mut poll, 1, timeout_ms) } {
        0 => return Err(Errno(libc::ETIMEDOUT)),
        n if n < 0 => return Err(Errno::last()),
        _ => connect_result(socket)?,
    }
    // SAFETY: no pointers.
    let flags = unsafe { libc::fcntl(socket, libc::F_GETFL) };
    // SAFETY: no pointers.
    match unsafe { libc::fcntl(socket, libc::F_SETFL, flags & !libc::O_NONBLOCK) } {
        n if n < 0 => Err(Errno::last()),
        _ => Ok(owned),
    }
}

/// Returns the local address of a socket; a Unix domain socket has none.
pub fn local_address(socket: Socket) -> Option<SocketAddr> {
    // SAFETY: the kernel writes at most `size` bytes into the address.
    address_of(|raw, size| unsafe { libc::getsockname(socket, raw, size) })
}

/// Returns the address that a socket is connected to; a Unix domain socket has none.
pub fn remote_address(socket: Socket) -> Option<SocketAddr> {
    // SAFETY: the kernel writes at most `size` bytes into the address.
    address_of(|raw, size| unsafe { libc::getpeername(socket, raw, size) })
}

/// Reads an address that a call writes.
fn address_of(
    call: impl FnOnce(*mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int,
) -> Option<SocketAddr> {
    // SAFETY: zero is a valid value of each field.
    let mut raw: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let mut size = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    if call((&raw mut raw).cast(), &mut size) < 0 {
        return None;
    }
    match i32::from(raw.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says which structure the kernel has written, and `raw` is aligned for each.
            let a = unsafe { &*(&raw const raw).cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(u32::from_be(a.sin_addr.s_addr));
            Some(SocketAddr::new(ip.into(), u16::from_be(a.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let a = unsafe { &*(&raw const raw).cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(a.sin6_addr.s6_addr);
            Some(SocketAddr::new(ip.into(), u16::from_be(a.sin6_port)))
        }
        _ => None,
    }
}

/// Converts an address to the kernel's format for the duration of a call.
fn with_raw(
    address: SocketAddr,
    call: impl FnOnce(*const libc::sockaddr, libc::socklen_t) -> libc::c_int,
) -> libc::c_int {
    match address {
        SocketAddr::V4(a) => {
            let raw = libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: a.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(a.ip().octets()) },
                sin_zero: [0; 8],
            };
            call((&raw as *const libc::sockaddr_in).cast(), size_of::<libc::sockaddr_in>() as u32)
        }
        SocketAddr::V6(a) => {
            let raw = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: a.port().to_be(),
                sin6_flowinfo: a.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: a.ip().octets() },
                sin6_scope_id: a.scope_id(),
            };
            call((&raw as *const libc::sockaddr_in6).cast(), size_of::<libc::sockaddr_in6>() as u32)
        }
    }
}

/// The result of a read or write: bytes transferred (0 on a read: the peer closed), would block, or an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Io {
    Done(usize),
    WouldBlock,
    Failed(Errno),
}

#[inline]
fn io(n: isize) -> Io {
    if n >= 0 {
        return Io::Done(n as usize);
    }
    match Errno::last() {
        Errno(libc::EAGAIN) => Io::WouldBlock,
        errno => Io::Failed(errno),
    }
}

#[inline]
pub fn send(socket: Socket, bytes: &[u8]) -> Io {
    // SAFETY: the slice is valid for its length. MSG_NOSIGNAL: a closed peer is an error, not a signal.
    io(unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) })
}

#[inline]
pub fn recv(socket: Socket, buffer: &mut [u8]) -> Io {
    // SAFETY: the slice is valid and exclusively borrowed for its length.
    io(unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), 0) })
}

/// Discards up to `bytes` received bytes inside the kernel, without a copy (tcp(7), MSG_TRUNC).
#[inline]
pub fn discard(socket: Socket, bytes: usize) -> Io {
    // SAFETY: with MSG_TRUNC on TCP the kernel writes nothing, so a null buffer is never touched.
    io(unsafe { libc::recv(socket, std::ptr::null_mut(), bytes, libc::MSG_TRUNC) })
}

/// Returns the outcome of a connection attempt.
pub fn connect_result(socket: Socket) -> Result<(), Errno> {
    let mut error: libc::c_int = 0;
    let mut size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `error` and `size` are valid and of the size that SO_ERROR writes.
    let r = unsafe {
        libc::getsockopt(
            socket,
            libc::SOL_SOCKET,
            libc::SO_ERROR,
            (&mut error as *mut libc::c_int).cast(),
            &mut size,
        )
    };
    match (r, error) {
        (0, 0) => Ok(()),
        (0, e) => Err(Errno(e)),
        _ => Err(Errno::last()),
    }
}

/// Wakes only when at least this many bytes (or the end) have arrived: fewer wake-ups in a large body.
pub fn set_low_water(socket: Socket, bytes: usize) {
    option(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes.min(i32::MAX as usize) as libc::c_int);
}

fn option(socket: Socket, level: libc::c_int, name: libc::c_int, value: libc::c_int) {
    // SAFETY: `value` lives through the call, and its size is given. An error only costs speed.
    unsafe {
        libc::setsockopt(
            socket,
            level,
            name,
            (&value as *const libc::c_int).cast(),
            size_of::<libc::c_int>() as u32,
        )
    };
}

/// The kernel's facts about a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpFacts {
    pub retransmits: u32,
    /// Smoothed, ns; 0 if never measured.
    pub rtt_ns: u64,
    /// Lowest measured, ns; 0 if never measured.
    pub min_rtt_ns: u64,
    /// Data segments received out of order; 0 on kernels before 5.4, which do not count them.
    pub out_of_order: u32,
    /// Sent segments that the peer has not acknowledged.
    pub unacknowledged: u32,
    /// Most data in one sent segment, bytes.
    pub segment_bytes: u32,
}

pub fn tcp_facts(socket: Socket) -> TcpFacts {
    // The kernel's `struct tcp_info` (linux/tcp.h) as 32-bit words after eight single bytes; newer kernels only append.
    // `tcpi_min_rtt` is after two 64-bit pacing rates and two 64-bit counters, at byte 148, and `tcpi_rcv_ooopack`
    // after six further 64-bit numbers.
    const SND_MSS_AT: usize = 16;
    const UNACKED_AT: usize = 24;
    const RTT_AT: usize = 68;
    const TOTAL_RETRANS_AT: usize = 100;
    const MIN_RTT_AT: usize = 148;
    const OUT_OF_ORDER_AT: usize = 224;
    let mut raw = [0u8; 256];
    let mut size = raw.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes into `raw`.
    let r = unsafe {
        libc::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, raw.as_mut_ptr().cast(), &mut size)
    };
    if r < 0 {
        return TcpFacts::default();
    }
    let word = |at: usize| {
        if at + 4 <= size as usize {
            u32::from_ne_bytes([raw[at], raw[at + 1], raw[at + 2], raw[at + 3]])
        } else {
            0
        }
    };
    let min = word(MIN_RTT_AT);
    TcpFacts {
        retransmits: word(TOTAL_RETRANS_AT),
        rtt_ns: u64::from(word(RTT_AT)) * 1_000,
        // All ones mean "never measured".
        min_rtt_ns: if min == u32::MAX { 0 } else { u64::from(min) * 1_000 },
        out_of_order: word(OUT_OF_ORDER_AT),
        unacknowledged: word(UNACKED_AT),
        segment_bytes: word(SND_MSS_AT),
    }
}

pub fn close(socket: Socket) {
    // SAFETY: the connection table closes each file descriptor once and forgets it.
    unsafe { libc::close(socket) };
}
