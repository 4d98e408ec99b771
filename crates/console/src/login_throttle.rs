//! Throttles password guessing. After a wrong password, further ones from the same address are rejected immediately
//! and unchecked for some time. Other addresses are unaffected, no connection stays open, and the printed address
//! always works, because its token is too long to guess.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Number of consecutive wrong passwords without a wait, for typing errors. The next one is still checked, and starts
/// a wait.
const FREE: u32 = 3;
/// Wait after one more, ns; each further one doubles it.
const FIRST_WAIT_NS: u64 = 500_000_000;
/// 32 s: a list of 10,000 takes days from one address. There is no limit over all addresses, because a guesser with
/// many of them could shut out everyone who only has the password.
const DOUBLED_AT_MOST: u32 = 6;
/// Maximum number of remembered addresses; beyond it, the least recent one is dropped.
const PEERS_MAX: usize = 4_096;
/// Time without attempts after which an address is cleared, ns.
const FORGIVEN_NS: u64 = 3_600_000_000_000;

/// Addresses with failed logins.
#[derive(Default)]
pub struct LoginThrottle {
    peers: Mutex<HashMap<IpAddr, FailedLogins>>,
}

/// Failed logins of one address.
#[derive(Clone, Copy, Default)]
struct FailedLogins {
    /// Consecutive failures.
    wrong: u32,
    last_ns: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum LoginVerdict {
    Right,
    Wrong,
    /// Not checked; contains the remaining wait, ns.
    TooSoon(u64),
}

impl FailedLogins {
    /// Returns the wait after the last failure, ns.
    fn wait_ns(self) -> u64 {
        match self.wrong.checked_sub(FREE) {
            Some(more @ 1..) => FIRST_WAIT_NS << (more - 1).min(DOUBLED_AT_MOST),
            _ => 0,
        }
    }
}

impl LoginThrottle {
    /// Checks the password of an address unless it must wait.
    pub fn judge(&self, peer: IpAddr, now_ns: u64, is_right: impl FnOnce() -> bool) -> LoginVerdict {
        // A thread that panicked while holding the lock cannot have left the state inconsistent.
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut guesses = peers.get(&peer).copied().unwrap_or_default();
        // A clock that was set back must not extend the wait.
        let since_ns = now_ns.saturating_sub(guesses.last_ns.min(now_ns));
        if since_ns > FORGIVEN_NS {
            guesses = FailedLogins::default();
        }
        if since_ns < guesses.wait_ns() {
            guesses.last_ns = guesses.last_ns.min(now_ns);
            peers.insert(peer, guesses);
            return LoginVerdict::TooSoon(guesses.wait_ns() - since_ns);
        }
        if is_right() {
            peers.remove(&peer);
            return LoginVerdict::Right;
        }
        if peers.len() >= PEERS_MAX && !peers.contains_key(&peer) {
            let oldest = peers.iter().min_by_key(|(_, one)| one.last_ns).map(|(peer, _)| *peer);
            oldest.and_then(|oldest| peers.remove(&oldest));
        }
        peers.insert(peer, FailedLogins { wrong: guesses.wrong.saturating_add(1), last_ns: now_ns });
        LoginVerdict::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn peer(n: u32) -> IpAddr {
        IpAddr::from(n.to_be_bytes())
    }

    #[test]
    fn guesses_come_ever_more_rarely_and_hold_up_nobody_else() {
        let throttle = LoginThrottle::default();
        let mut looked_at = 0;
        // A thousand per second for an hour.
        for at in 0..3_600_000 {
            let judged = throttle.judge(peer(1), 1_000 * S + at * S / 1_000, || false);
            looked_at += u32::from(judged == LoginVerdict::Wrong);
            assert_ne!(judged, LoginVerdict::Right);
        }
        assert!((100..130).contains(&looked_at), "{looked_at}");
        assert_eq!(throttle.judge(peer(2), 4_600 * S, || true), LoginVerdict::Right);
        assert!(
            matches!(throttle.judge(peer(1), 4_600 * S, || true), LoginVerdict::TooSoon(1..)),
            "not checked"
        );
        assert_eq!(throttle.judge(peer(1), 4_640 * S, || true), LoginVerdict::Right);
        assert_eq!(throttle.judge(peer(1), 4_640 * S, || false), LoginVerdict::Wrong, "and it starts over");
    }

    #[test]
    fn people_mistype_and_clocks_are_set_back() {
        let throttle = LoginThrottle::default();
        for _ in 0..=FREE {
            assert_eq!(throttle.judge(peer(1), 100_000 * S, || false), LoginVerdict::Wrong);
        }
        let LoginVerdict::TooSoon(wait_ns) = throttle.judge(peer(1), 100 * S, || true) else {
            panic!("too soon")
        };
        assert_eq!(wait_ns, FIRST_WAIT_NS);
        assert_eq!(throttle.judge(peer(1), 101 * S, || true), LoginVerdict::Right);
    }

    #[test]
    fn guessing_from_everywhere_fills_no_memory() {
        let throttle = LoginThrottle::default();
        for n in 0..2 * PEERS_MAX as u32 {
            throttle.judge(peer(n), u64::from(n), || false);
        }
        assert_eq!(throttle.peers.lock().unwrap().len(), PEERS_MAX);
    }
}
