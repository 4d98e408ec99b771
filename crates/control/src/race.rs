//! Trial connections to several addresses (Happy Eyeballs, RFC 8305): an address that does not answer costs
//! 250 ms, not a connect timeout.

use plimsoll_engine::probe::{self, Peer, ProbeError};
use plimsoll_engine::route::Route;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time until the next attempt begins although the last one has no result (RFC 8305, section 5).
const STAGGER: Duration = Duration::from_millis(250);

/// Returns the first address that accepts a connection, and how long that took, ns. Attempts that lose the race end by
/// themselves, and close what they open.
///
/// # Errors
/// Returns the error of each address, in the order of the attempts, if none accepts a connection.
pub fn connect(
    addresses: &[SocketAddr],
    route: Option<&Arc<Route>>,
    patience: Duration,
) -> Result<(SocketAddr, u64), Vec<(SocketAddr, ProbeError)>> {
    let order = interleaved(addresses);
    if let [only] = order[..] {
        let peer = Peer { address: only, route: route.map(Arc::as_ref) };
        return probe::connect(peer, patience).map(|ns| (only, ns)).map_err(|why| vec![(only, why)]);
    }
    let (results, incoming) = channel();
    let mut failed: Vec<Option<ProbeError>> = vec![None; order.len()];
    let (mut begun, mut ended) = (0, 0);
    while ended < order.len() {
        if begun < order.len() {
            let (at, address, results, route) = (begun, order[begun], results.clone(), route.cloned());
            // A lost receiver means that another address has won.
            let attempt = move || {
                let peer = Peer { address, route: route.as_deref() };
                drop(results.send((at, probe::connect(peer, patience))));
            };
            begun += 1;
            if let Err(why) = std::thread::Builder::new().name("trial".into()).spawn(attempt) {
                failed[at] = Some(ProbeError::Client(why.to_string()));
                ended += 1;
                continue;
            }
        }
        // Each attempt sends its result in time; the last ones are waited for.
        let wait = if begun < order.len() { STAGGER } else { patience + STAGGER };
        match incoming.recv_timeout(wait) {
            Ok((at, Ok(connect_ns))) => return Ok((order[at], connect_ns)),
            Ok((at, Err(why))) => {
                failed[at] = Some(why);
                ended += 1;
            }
            Err(RecvTimeoutError::Timeout) if begun < order.len() => {}
            Err(_) => break,
        }
    }
    Err(order.into_iter().zip(failed).map(|(one, why)| (one, why.unwrap_or(ProbeError::TimedOut))).collect())
}

/// Returns the addresses with the families in alternation, beginning with that of the first (RFC 8305, section 4).
fn interleaved(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let Some(first) = addresses.first() else { return Vec::new() };
    let (mut same, mut other): (VecDeque<SocketAddr>, VecDeque<SocketAddr>) =
        addresses.iter().partition(|address| address.is_ipv4() == first.is_ipv4());
    let mut order = Vec::with_capacity(addresses.len());
    while order.len() < addresses.len() {
        order.extend(same.pop_front());
        order.extend(other.pop_front());
    }
    order
}

#[cfg(test)]
mod tests {
    use super::{ProbeError, connect, interleaved};
    use std::net::{SocketAddr, TcpListener};
    use std::time::Duration;

    fn addresses(all: &[&str]) -> Vec<SocketAddr> {
        all.iter().map(|one| one.parse().unwrap()).collect()
    }

    #[test]
    fn families_take_turns_beginning_with_that_of_the_first_address() {
        let all = addresses(&["[::1]:1", "[::2]:1", "[::3]:1", "127.0.0.1:1", "127.0.0.2:1"]);
        let order = addresses(&["[::1]:1", "127.0.0.1:1", "[::2]:1", "127.0.0.2:1", "[::3]:1"]);
        assert_eq!(interleaved(&all), order);
    }

    #[test]
    fn an_address_that_refuses_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let answers = listener.local_addr().unwrap();
        // The port of the second loopback address has no listener.
        let refuses = SocketAddr::from(([127, 0, 0, 2], answers.port()));
        let patience = Duration::from_secs(30);
        assert_eq!(connect(&[refuses, answers], None, patience).unwrap().0, answers);
        drop(listener);
        let failed = connect(&[refuses, answers], None, patience).unwrap_err();
        assert_eq!(failed, [(refuses, ProbeError::Refused), (answers, ProbeError::Refused)]);
    }
}
