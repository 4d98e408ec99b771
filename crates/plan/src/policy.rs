//! Which addresses may be loaded without permission. This only classifies addresses and looks nothing up.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressClass {
    /// This machine.
    Loopback,
    /// Private networks (RFC 1918, RFC 4193, link-local, carrier-grade NAT).
    Private,
    /// Public networks, which require permission.
    Public,
    /// Never a valid target: cloud metadata services, multicast, broadcast.
    Forbidden,
}

/// Addresses at which cloud providers serve credentials or control machines, so a load there is always a mistake. Some
/// are in private ranges, some in public ones.
const SPECIAL_V4: [Ipv4Addr; 7] = [
    // Metadata service of most clouds, and a resolver.
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 169, 253),
    // Credentials of containers.
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    // The host of Azure, and the metadata services of Oracle and Alibaba.
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(100, 100, 100, 200),
];

/// The same for IPv6: AWS, Google, and OpenStack.
const SPECIAL_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
];

/// Classifies an address. IPv4 inside IPv6 is classified as IPv4.
pub fn address_class(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(v4) => class_v4(v4),
        IpAddr::V6(v6) => match (v6.to_ipv4_mapped(), translated(v6)) {
            (Some(v4), _) => class_v4(v4),
            // A loopback address after translation belongs to the translator, not to this machine.
            (None, Some(v4)) if class_v4(v4) == AddressClass::Loopback => AddressClass::Public,
            (None, Some(v4)) => class_v4(v4),
            (None, None) => class_v6(v6),
        },
    }
}

/// Returns the IPv4 address that a translator forwards to: NAT64 (`64:ff9b::/96`, RFC 6052) or 6to4 (`2002::/16`, RFC
/// 3056).
fn translated(a: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match a.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0x2002, high, low, ..] => v4(high, low),
        _ => None,
    }
}

fn class_v4(a: Ipv4Addr) -> AddressClass {
    let [first, second, ..] = a.octets();
    if SPECIAL_V4.contains(&a) || a.is_multicast() || a.is_broadcast() {
        AddressClass::Forbidden
    } else if a.is_loopback() || a.is_unspecified() {
        AddressClass::Loopback
    } else if a.is_private() || a.is_link_local() || (first == 100 && (64..128).contains(&second)) {
        AddressClass::Private
    } else {
        AddressClass::Public
    }
}

fn class_v6(a: Ipv6Addr) -> AddressClass {
    if SPECIAL_V6.contains(&a) || a.is_multicast() {
        AddressClass::Forbidden
    } else if a.is_loopback() || a.is_unspecified() {
        AddressClass::Loopback
    } else if a.is_unique_local() || a.is_unicast_link_local() {
        AddressClass::Private
    } else {
        AddressClass::Public
    }
}

/// The path of the file with which the owner of a host permits load.
pub const PROOF_PATH: &str = "/.well-known/plimsoll.txt";

/// Reads an ownership file with lines `key: value`: `allow: HOST` permits load, and `expires: YYYY-MM-DD` ends it.
///
/// `today` is the date as `YYYY-MM-DD`.
///
/// # Errors
/// Returns an error if the file does not permit load on `host`, or has expired.
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
