//! Resolution of a host name, once per run and timed, so that a slow resolver does not hide in the first request.

use crate::Error;
use plimsoll_engine::clock;
use plimsoll_engine::probe::Peer;
use plimsoll_engine::route::Route;
use plimsoll_plan::Target;
use plimsoll_plan::link::{Addresses, Link};
use plimsoll_plan::origin::{FIRST, OriginId};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;

/// Resolved addresses of the load's target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// At least one address, without duplicates, in the resolver's order; the first one is loaded.
    pub addresses: Vec<SocketAddr>,
    /// Duration of the lookup, ns; 0 for a literal address.
    pub dns_ns: u64,
    /// How connections are opened, if they do not simply go to the address.
    pub route: Option<Arc<Route>>,
    /// The URL of the proxy whose addresses these are, without its login.
    pub proxy: Option<String>,
    /// The weights of the addresses, if the plan names them.
    pub weights: Vec<(SocketAddr, u32)>,
}

impl Resolved {
    /// Returns the address to load.
    pub fn first(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// Returns one of the addresses for a trial connection.
    pub fn peer(&self, address: SocketAddr) -> Peer<'_> {
        Peer { address, route: self.route.as_deref() }
    }

    /// Returns the Unix domain socket that is loaded instead of an address.
    pub fn unix_socket(&self) -> Option<&Path> {
        self.route.as_ref()?.unix_socket.as_deref()
    }

    /// Returns the addresses to load.
    pub fn loaded(&self, which: Addresses) -> Vec<SocketAddr> {
        match which {
            Addresses::First => vec![self.first()],
            Addresses::All => self.addresses.clone(),
        }
    }

    /// Returns the weights of the addresses to load, in their order; empty if the plan names none.
    pub fn loaded_weights(&self, which: Addresses) -> Vec<u32> {
        if self.weights.is_empty() {
            return Vec::new();
        }
        let weight_of = |address| self.weights.iter().find(|(own, _)| own == address).map_or(1, |(_, n)| *n);
        self.loaded(which).iter().map(weight_of).collect()
    }

    /// Moves the address that accepted the trial connection to the front.
    pub fn prefer(&mut self, address: SocketAddr) {
        if let Some(at) = self.addresses.iter().position(|a| *a == address) {
            self.addresses[..=at].rotate_right(1);
        }
    }
}

/// Resolves like [`resolve`], except that the plan's own addresses for the target, and then those for a name, take
/// precedence.
///
/// # Errors
/// Returns an error under the conditions of [`resolve`].
pub fn resolve_with(origin: OriginId, target: &Target, link: &Link) -> Result<Resolved, Error> {
    if origin == FIRST && !link.weighted.is_empty() {
        let weights: Vec<_> = link.weighted.iter().map(|one| (one.socket(target.port), one.weight)).collect();
        return Ok(Resolved {
            weights: weights.clone(),
            ..found(weights.iter().map(|(one, _)| *one).collect(), 0)
        });
    }
    let own = link.resolve.iter().filter(|(host, _)| host.eq_ignore_ascii_case(&target.host));
    let addresses: Vec<SocketAddr> = own.map(|(_, ip)| SocketAddr::new(*ip, target.port)).collect();
    if addresses.is_empty() { resolve(target) } else { Ok(found(addresses, 0)) }
}

/// Resolves a name with the system's resolver (hosts file, then its configured sources). A literal address needs no
/// resolver.
///
/// # Errors
/// Returns an error if the name does not resolve, which is a client-side problem: no server was reached.
pub fn resolve(target: &Target) -> Result<Resolved, Error> {
    if let Ok(address) = target.host.parse::<IpAddr>() {
        return Ok(found(vec![SocketAddr::new(address, target.port)], 0));
    }
    let unresolved = |why: String| Error::Unresolved { host: target.host.clone(), why };
    let begin_ns = clock::now_ns();
    let answer = (target.host.as_str(), target.port).to_socket_addrs().map_err(|e| unresolved(plain(&e)))?;
    let dns_ns = clock::now_ns().saturating_sub(begin_ns);
    // The resolver returns an address once per socket type or per line of the hosts file.
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in answer {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(unresolved("the name exists but has no address".into()));
    }
    Ok(found(addresses, dns_ns))
}

/// Returns addresses that are reached directly and equally often.
pub(crate) fn found(addresses: Vec<SocketAddr>, dns_ns: u64) -> Resolved {
    Resolved { addresses, dns_ns, weights: Vec::new(), route: None, proxy: None }
}

/// Returns the resolver's message without the prefix of the standard library.
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.strip_prefix("failed to lookup address information: ").unwrap_or(&text).to_lowercase()
}
