//! Addresses in options: overrides of hosts, local addresses, ranges, and patterns of hosts.

use crate::value::{self, Read};
use plimsoll_plan::Problem;
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Most local addresses of one test.
const LOCAL_MAX: usize = 65_536;

/// An address that replaces the lookup of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The name in lower case; `*.` at the start matches any subdomain.
    pub pattern: String,
    /// The port that it applies to; `None`: all.
    pub of_port: Option<u16>,
    pub address: IpAddr,
    /// The port to connect to; `None`: that of the request.
    pub port: Option<u16>,
}

/// A network: an address and the length of its prefix in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpRange {
    pub address: IpAddr,
    pub prefix: u8,
}

impl IpRange {
    /// Returns whether an address is in the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        let own_mask = |bits: u32| u128::MAX.checked_shl(bits - u32::from(self.prefix)).unwrap_or(0);
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (u128::from(own.to_bits()) ^ u128::from(other.to_bits())) & own_mask(32) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits() ^ other.to_bits()) & own_mask(128) == 0,
            _ => false,
        }
    }
}

impl std::fmt::Display for IpRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// Parses a network such as `10.0.0.0/8`.
pub(crate) fn ip_range(text: &str) -> Result<IpRange, Problem> {
    let range = text.split_once('/').and_then(|(address, prefix)| {
        let (address, prefix): (IpAddr, u8) = (address.parse().ok()?, prefix.parse().ok()?);
        let most = if address.is_ipv4() { 32 } else { 128 };
        (prefix <= most).then_some(IpRange { address, prefix })
    });
    range.ok_or_else(|| {
        Problem::new(
            format!("invalid network `{text}`"),
            "write an address and a prefix, such as `10.0.0.0/8`",
        )
    })
}

pub(crate) fn blacklist(value: &Value) -> Read<Vec<IpRange>> {
    let Some(texts) = value::strings(value)? else { return Ok(None) };
    texts.iter().map(|text| ip_range(text)).collect::<Result<_, _>>().map(Some)
}

pub(crate) fn block_hostnames(value: &Value) -> Read<Vec<String>> {
    let Some(texts) = value::strings(value)? else { return Ok(None) };
    block_hostnames_of(texts).map(Some)
}

/// Checks patterns of hosts, and returns them in lower case.
pub(crate) fn block_hostnames_of(texts: Vec<String>) -> Result<Vec<String>, Problem> {
    texts.into_iter().map(|text| pattern(&text)).collect()
}

/// Checks a pattern: a name, `*`, or a name after `*.`.
fn pattern(text: &str) -> Result<String, Problem> {
    let lower = text.to_lowercase();
    let name = lower.strip_prefix('*').unwrap_or(&lower);
    let is_valid = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_'));
    if text.is_empty() || !is_valid {
        return Err(Problem::new(
            format!("invalid pattern of hosts `{text}`"),
            "write a name such as `example.com`, or `*.example.com`",
        ));
    }
    Ok(lower)
}

/// Returns whether a host matches a pattern in lower case.
pub(crate) fn matches(pattern: &str, host: &str) -> bool {
    let host = host.trim_end_matches('.').to_lowercase();
    match pattern.strip_prefix('*') {
        Some(end) => host.ends_with(end),
        None => host == pattern,
    }
}

pub(crate) fn hosts(value: &Value) -> Read<Vec<Host>> {
    let Some(pairs) = value::pairs(value)? else { return Ok(None) };
    pairs.into_iter().map(|(name, address)| one_host(&name, &address)).collect::<Result<_, _>>().map(Some)
}

fn one_host(name: &str, text: &str) -> Result<Host, Problem> {
    let (name, of_port) = match name.rsplit_once(':') {
        Some((name, port)) => match port.parse() {
            Ok(port) => (name, Some(port)),
            Err(_) => return Err(Problem::plain(format!("invalid port `{port}` of the host `{name}`"))),
        },
        None => (name, None),
    };
    let pattern = pattern(name)?;
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let (address, port) = match (bare.parse::<IpAddr>(), text.parse::<SocketAddr>()) {
        (Ok(address), _) => (address, None),
        (_, Ok(socket)) => (socket.ip(), Some(socket.port())),
        _ => {
            return Err(Problem::new(
                format!("invalid address `{text}` of the host `{name}`"),
                "write an IP address, with or without a port, such as `127.0.0.1:8080`",
            ));
        }
    };
    Ok(Host { pattern, of_port, address, port })
}

/// Finds the override of a host.
pub(crate) fn host(hosts: &[Host], name: &str, port: u16) -> Option<(IpAddr, Option<u16>)> {
    let fits = |host: &&Host| host.of_port.is_none_or(|own| own == port) && matches(&host.pattern, name);
    // Exact names before patterns, then longer before shorter, then with a port before without.
    let rank = |host: &&Host| (!host.pattern.starts_with('*'), host.pattern.len(), host.of_port.is_some());
    hosts.iter().filter(fits).max_by_key(rank).map(|host| (host.address, host.port))
}

pub(crate) fn local_ips(value: &Value) -> Read<Vec<IpAddr>> {
    match value::string(value)? {
        Some(text) => local_ips_text(&text).map(Some),
        None => Ok(None),
    }
}

/// Parses local addresses: single ones, ranges such as `192.168.0.10-192.168.0.25`, and networks, with commas between.
pub(crate) fn local_ips_text(text: &str) -> Result<Vec<IpAddr>, Problem> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = ends(part)?;
        let count = last.saturating_sub(first).saturating_add(1);
        if count.saturating_add(all.len() as u128) > LOCAL_MAX as u128 {
            return Err(Problem::plain(format!("`{text}` has more than 65,536 local addresses")));
        }
        let is_v4 = part.contains('.') && !part.contains(':');
        all.extend((first..=last).map(|bits| match is_v4 {
            true => IpAddr::V4(Ipv4Addr::from_bits(bits as u32)),
            false => IpAddr::V6(Ipv6Addr::from_bits(bits)),
        }));
    }
    Ok(all)
}

/// Returns the first and the last address of a part as numbers.
fn ends(part: &str) -> Result<(u128, u128), Problem> {
    let wrong = || {
        Problem::new(
            format!("invalid local addresses `{part}`"),
            "write `192.168.0.10`, `192.168.0.10-192.168.0.25`, or `192.168.0.0/24`",
        )
    };
    let bits = |address: IpAddr| match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    };
    if part.contains('/') {
        let range = ip_range(part)?;
        let (size, width) = if range.address.is_ipv4() { (32u32, 32) } else { (128, 128) };
        let host_bits = size - u32::from(range.prefix);
        let hosts = 1u128.checked_shl(host_bits).map_or(u128::MAX, |count| count - 1);
        let first = bits(range.address) & !hosts;
        // As in k6, the addresses of an IPv4 network itself and of its broadcast are left out.
        return Ok(match width == 32 && host_bits >= 2 {
            true => (first + 1, (first | hosts) - 1),
            false => (first, first | hosts),
        });
    }
    let (from, to) = part.split_once('-').unwrap_or((part, part));
    let from: IpAddr = from.trim().parse().map_err(|_| wrong())?;
    let to: IpAddr = to.trim().parse().map_err(|_| wrong())?;
    if from.is_ipv4() != to.is_ipv4() || bits(from) > bits(to) {
        return Err(wrong());
    }
    Ok((bits(from), bits(to)))
}
