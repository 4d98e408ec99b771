//! The listening socket, and the two ways to close a connection.

use crate::error::Error;
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with, sockopt};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::net::SocketAddr;
use std::time::Duration;

/// Listens on `address`; returns the socket and the address with the actual port.
pub(crate) fn open(address: SocketAddr, backlog: u64) -> Result<(OwnedFd, SocketAddr), Error> {
    let failed = |what: &str| Error::machine(format!("{what} `{address}`"));
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None).map_err(failed("open a socket for"))?;
    // The same port must reopen while earlier connections are in TIME_WAIT.
    sockopt::set_socket_reuseaddr(&socket, true).map_err(failed("reuse"))?;
    // Accepted sockets inherit this, which saves a system call per connection.
    sockopt::set_tcp_nodelay(&socket, true).map_err(failed("set TCP_NODELAY on"))?;
    bind(&socket, &address).map_err(failed("bind to"))?;
    listen(&socket, i32::try_from(backlog).unwrap_or(i32::MAX)).map_err(failed("listen on"))?;
    let got = getsockname(&socket).map_err(failed("read the address of"))?;
    let got = SocketAddr::try_from(got).map_err(failed("read the address of"))?;
    Ok((socket, got))
}

/// Makes the later close of a socket send RST and discard unsent bytes.
pub(crate) fn make_close_reset(socket: impl AsFd) -> rustix::io::Result<()> {
    sockopt::set_socket_linger(socket, Some(Duration::ZERO))
}

/// Raises the soft limit on open files to the hard limit, so that the ruler does not limit a test.
pub(crate) fn raise_open_files() -> Result<(), Error> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).map_err(Error::machine("raise the limit on open files"))
}
