//! Which addresses may be loaded without asking: pure classification, no look-up.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of neighbour an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbour {
    /// This machine.
    Loopback,
    /// Private networks (RFC 1918, RFC 4193, link-local, carrier-grade NAT).
    Private,
    /// Anybody's: needs permission.
    Public,
    /// Never a target: cloud metadata services, multicast, broadcast.
    Forbidden,
}

/// Classifies an address; IPv4 inside IPv6 counts as what it is.
pub fn neighbour(address: IpAddr) -> Neighbour {
    match address {
        IpAddr::V4(v4) => neighbour_v4(v4),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => neighbour_v4(v4),
            None => neighbour_v6(v6),
        },
    }
}

fn neighbour_v4(a: Ipv4Addr) -> Neighbour {
    let [first, second, ..] = a.octets();
    // The address under which clouds hand out credentials; a load there is never meant.
    if a == Ipv4Addr::new(169, 254, 169, 254) || a.is_multicast() || a.is_broadcast() {
        Neighbour::Forbidden
    } else if a.is_loopback() || a.is_unspecified() {
        Neighbour::Loopback
    } else if a.is_private() || a.is_link_local() || (first == 100 && (64..128).contains(&second)) {
        Neighbour::Private
    } else {
        Neighbour::Public
    }
}

fn neighbour_v6(a: Ipv6Addr) -> Neighbour {
    if a.is_multicast() || a == Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254) {
        Neighbour::Forbidden
    } else if a.is_loopback() || a.is_unspecified() {
        Neighbour::Loopback
    } else if a.is_unique_local() || a.is_unicast_link_local() {
        Neighbour::Private
    } else {
        Neighbour::Public
    }
}

/// Where an owner permits load: a file on the host itself.
pub const PROOF_PATH: &str = "/.well-known/plimsoll.txt";

/// Reads an ownership file: lines `key: value`; `allow: HOST` permits, `expires: YYYY-MM-DD` ends it.
///
/// `today` is the date as `YYYY-MM-DD`. Returns whether the file permits load on `host`.
///
/// # Errors
/// A sentence when the file speaks of other hosts only or has expired.
pub fn proof_permits(text: &str, host: &str, today: &str) -> Result<(), String> {
    let mut allowed = false;
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        match (key.trim().to_ascii_lowercase().as_str(), value.trim()) {
            ("allow", value) if value.eq_ignore_ascii_case(host) => allowed = true,
            // ISO dates compare as text.
            ("expires", value) if value < today => return Err(format!("its permission expired on {value}")),
            _ => {}
        }
    }
    if allowed { Ok(()) } else { Err(format!("it has no line `allow: {host}`")) }
}
