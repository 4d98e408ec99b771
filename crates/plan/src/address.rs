//! Addresses that a plan names instead of resolving its host, each with a weight.

use crate::link::Addresses;
use crate::{Problem, unit};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// The most addresses of a list, and the highest weight: the engine lists one cycle of connections.
pub const ADDRESSES_MAX: usize = 64;
pub const WEIGHT_MAX: u32 = 1_000;

/// An address of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightedAddress {
    pub address: IpAddr,
    /// By default the port of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Connections to it in each cycle; 1 to [`WEIGHT_MAX`].
    pub weight: u32,
}

impl WeightedAddress {
    /// Returns its socket address, with the port of the target if it has none.
    pub fn socket(&self, target_port: u16) -> SocketAddr {
        SocketAddr::new(self.address, self.port.unwrap_or(target_port))
    }
}

/// Returns an address as reports show it: with its port if that is not the one of its origin.
pub fn describe(address: SocketAddr, origin_port: u16) -> String {
    if address.port() == origin_port { address.ip().to_string() } else { address.to_string() }
}

/// Parses an IP address with or without a port, such as `127.0.0.1:8080`, `::1`, or `[::1]:8080`.
///
/// # Errors
/// Returns an error if it is neither, such as a host name.
pub fn address(text: &str) -> Result<WeightedAddress, Problem> {
    let text = text.trim();
    if let Ok(address) = text.trim_matches(['[', ']']).parse() {
        return Ok(WeightedAddress { address, port: None, weight: 1 });
    }
    match text.parse::<SocketAddr>() {
        Ok(socket) if socket.port() > 0 => {
            Ok(WeightedAddress { address: socket.ip(), port: Some(socket.port()), weight: 1 })
        }
        _ => Err(Problem::new(
            format!("invalid address `{text}`"),
            "write an IP address with or without a port, such as `127.0.0.1:8080` or `[::1]:8080`",
        )),
    }
}

/// Parses a weight.
///
/// # Errors
/// Returns an error if it is not a whole number from 1 to [`WEIGHT_MAX`].
pub fn weight(text: &str) -> Result<u32, Problem> {
    match unit::count(text).ok().and_then(|n| u32::try_from(n).ok()) {
        Some(n @ 1..=WEIGHT_MAX) => Ok(n),
        _ => Err(Problem::plain(format!("invalid weight `{text}`: expected a whole number from 1 to 1,000"))),
    }
}

/// Parses `first`, `all`, or a list of addresses, each with a weight after `=` if it is not 1.
///
/// # Errors
/// Returns an error if an address or a weight is invalid, or an address is written twice.
pub fn addresses(text: &str) -> Result<(Addresses, Vec<WeightedAddress>), Problem> {
    match text.trim() {
        "first" => return Ok((Addresses::First, Vec::new())),
        "all" => return Ok((Addresses::All, Vec::new())),
        _ => {}
    }
    let all = text.split(',').map(|item| match item.split_once('=') {
        None => address(item),
        Some((one, share)) => Ok(WeightedAddress { weight: weight(share)?, ..address(one)? }),
    });
    let all = all.collect::<Result<Vec<_>, _>>()?;
    check(&all)?;
    Ok((Addresses::All, all))
}

/// Checks a list of addresses as a whole.
///
/// # Errors
/// Returns an error if it is too long or has an address twice.
pub fn check(all: &[WeightedAddress]) -> Result<(), Problem> {
    if all.len() > ADDRESSES_MAX {
        return Err(Problem::plain(format!("too many addresses: {}, at most {ADDRESSES_MAX}", all.len())));
    }
    let same = |one: &WeightedAddress, other: &WeightedAddress| {
        (one.address, one.port) == (other.address, other.port)
    };
    match all.iter().enumerate().find(|(at, one)| all[..*at].iter().any(|other| same(one, other))) {
        Some((_, double)) => Err(Problem::new(
            format!("duplicate address `{}`", double.address),
            "write it once, with the sum of its weights",
        )),
        None => Ok(()),
    }
}
