//! From a host name to addresses, once per run and timed: a slow resolver must not hide in the first request.

use crate::Error;
use plimsoll_engine::clock;
use plimsoll_plan::Target;
use plimsoll_plan::link::{Addresses, Link};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// Where the load goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// At least one, each once, in the resolver's order; the first is loaded.
    pub addresses: Vec<SocketAddr>,
    /// Time of the look-up, ns; 0 for a literal address.
    pub dns_ns: u64,
}

impl Resolved {
    /// The address that is loaded.
    pub fn first(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// The addresses that are loaded.
    pub fn loaded(&self, which: Addresses) -> Vec<SocketAddr> {
        match which {
            Addresses::First => vec![self.first()],
            Addresses::All => self.addresses.clone(),
        }
    }

    /// Moves an address to the front: the one that took the trial connection.
    pub fn prefer(&mut self, address: SocketAddr) {
        if let Some(at) = self.addresses.iter().position(|a| *a == address) {
            self.addresses[..=at].rotate_right(1);
        }
    }
}

/// As [`resolve`], but the plan's own addresses for a name come before any resolver.
///
/// # Errors
/// As [`resolve`].
pub fn resolve_with(target: &Target, link: &Link) -> Result<Resolved, Error> {
    let own = link.resolve.iter().filter(|(host, _)| host.eq_ignore_ascii_case(&target.host));
    let addresses: Vec<SocketAddr> = own.map(|(_, ip)| SocketAddr::new(*ip, target.port)).collect();
    if addresses.is_empty() { resolve(target) } else { Ok(Resolved { addresses, dns_ns: 0 }) }
}

/// Asks the system's resolver (hosts file, then whatever it is configured to ask). A literal address asks
/// nobody.
///
/// # Errors
/// A sentence when the name leads nowhere. That is trouble on the client's side: no server was reached.
pub fn resolve(target: &Target) -> Result<Resolved, Error> {
    if let Ok(address) = target.host.parse::<IpAddr>() {
        return Ok(Resolved { addresses: vec![SocketAddr::new(address, target.port)], dns_ns: 0 });
    }
    let unresolved = |why: String| Error::Unresolved { host: target.host.clone(), why };
    let begin_ns = clock::now_ns();
    let found = (target.host.as_str(), target.port).to_socket_addrs().map_err(|e| unresolved(plain(&e)))?;
    let dns_ns = clock::now_ns().saturating_sub(begin_ns);
    // The resolver names an address once per socket type or per line of the hosts file.
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(unresolved("the resolver knows the name but no address for it".into()));
    }
    Ok(Resolved { addresses, dns_ns })
}

/// The resolver's words without the wrapping that the standard library puts around them.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.strip_prefix("failed to lookup address information: ").unwrap_or(&text).to_lowercase()
}
