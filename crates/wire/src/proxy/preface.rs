//! The PROXY protocol, versions 1 and 2: the header that a proxy sends first on each connection, so that the server
//! learns the address of the client (haproxy.org, `proxy-protocol.txt`).

use std::net::{IpAddr, SocketAddr};

/// The version of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// One line of text.
    V1,
    /// Binary.
    V2,
}

/// The first bytes of version 2, which no other protocol begins with.
const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Version 2, command PROXY.
const PROXY: u8 = 0x21;
const UNSPECIFIED: u8 = 0;
const TCP4: u8 = 0x11;
const TCP6: u8 = 0x21;

/// Appends the header of a connection from the first to the second address, or of one whose addresses are unknown. If
/// one of them is an IPv6 address, the other one is mapped to IPv6, because a header has one family.
pub fn preface(version: Version, ends: Option<(SocketAddr, SocketAddr)>, out: &mut Vec<u8>) {
    let ends = ends.map(|(from, to)| match (from.ip(), to.ip()) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (IpAddr::V4(a), IpAddr::V4(b), from.port(), to.port()),
        (a, b) => (mapped(a), mapped(b), from.port(), to.port()),
    });
    match version {
        Version::V1 => line(ends, out),
        Version::V2 => binary(ends, out),
    }
}

/// Source, destination, and their ports.
type Ends = (IpAddr, IpAddr, u16, u16);

fn mapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) => IpAddr::V6(v4.to_ipv6_mapped()),
        IpAddr::V6(_) => address,
    }
}

fn line(ends: Option<Ends>, out: &mut Vec<u8>) {
    let text = match ends {
        None => "PROXY UNKNOWN\r\n".to_owned(),
        Some((from, to, from_port, to_port)) => {
            let family = if from.is_ipv4() { "TCP4" } else { "TCP6" };
            format!("PROXY {family} {from} {to} {from_port} {to_port}\r\n")
        }
    };
    out.extend_from_slice(text.as_bytes());
}

fn binary(ends: Option<Ends>, out: &mut Vec<u8>) {
    out.extend_from_slice(SIGNATURE);
    let Some((from, to, from_port, to_port)) = ends else {
        return out.extend_from_slice(&[PROXY, UNSPECIFIED, 0, 0]);
    };
    let octets = |address: IpAddr| match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    };
    let (from, to) = (octets(from), octets(to));
    let family = if from.len() == 4 { TCP4 } else { TCP6 };
    let length = (2 * from.len() + 4) as u16;
    out.extend_from_slice(&[PROXY, family]);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&from);
    out.extend_from_slice(&to);
    out.extend_from_slice(&from_port.to_be_bytes());
    out.extend_from_slice(&to_port.to_be_bytes());
}
