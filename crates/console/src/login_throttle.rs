//! Whoever guesses a password is answered at once and made to wait: for some time after a wrong
//! password none of the same address is looked at. Nobody else waits for that, nothing is kept open meanwhile, and the
//! printed address lets its owner in whatever goes on here: its token is too long to be guessed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// So many in a row may be wrong without a wait: people mistype. The next one is looked at, too, and has one.
const FREE: u32 = 3;
/// After one more, ns; doubled by each further one.
const FIRST_WAIT_NS: u64 = 500_000_000;
/// 32 s: a list of 10,000 takes days, from one address. There is no limit for all addresses together: one guesser with
/// many of them would shut out everybody who has no more than the password.
const DOUBLED_AT_MOST: u32 = 6;
/// Addresses that are remembered. Of more the one that was seen longest ago is forgotten.
const PEERS_MAX: usize = 4_096;
/// An address that was silent for so long is forgiven, ns.
const FORGIVEN_NS: u64 = 3_600_000_000_000;

/// Who has guessed.
#[derive(Default)]
pub struct LoginThrottle {
    peers: Mutex<HashMap<IpAddr, FailedLogins>>,
}

/// Of one address.
#[derive(Clone, Copy, Default)]
struct FailedLogins {
    /// In a row.
    wrong: u32,
    last_ns: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum LoginVerdict {
    Right,
    Wrong,
    /// It was not looked at: the next one will be after so many ns.
    TooSoon(u64),
}

impl FailedLogins {
    /// How long none is looked at after the last one, ns.
    fn wait_ns(self) -> u64 {
        match self.wrong.checked_sub(FREE) {
            Some(more @ 1..) => FIRST_WAIT_NS << (more - 1).min(DOUBLED_AT_MOST),
            _ => 0,
        }
    }
}

impl LoginThrottle {
    /// Whether the password of this address is right, if it is looked at.
    pub fn judge(&self, peer: IpAddr, now_ns: u64, is_right: impl FnOnce() -> bool) -> LoginVerdict {
        // A thread that panicked while holding the lock left nothing half-done in it.
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut guesses = peers.get(&peer).copied().unwrap_or_default();
        // A clock that was set back must lock out nobody for the difference.
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
        // A thousand each second for an hour.
        for at in 0..3_600_000 {
            let judged = throttle.judge(peer(1), 1_000 * S + at * S / 1_000, || false);
            looked_at += u32::from(judged == LoginVerdict::Wrong);
            assert_ne!(judged, LoginVerdict::Right);
        }
        assert!((100..130).contains(&looked_at), "{looked_at}");
        assert_eq!(throttle.judge(peer(2), 4_600 * S, || true), LoginVerdict::Right);
        assert!(
            matches!(throttle.judge(peer(1), 4_600 * S, || true), LoginVerdict::TooSoon(1..)),
            "not looked at"
        );
        assert_eq!(throttle.judge(peer(1), 4_640 * S, || true), LoginVerdict::Right);
        assert_eq!(throttle.judge(peer(1), 4_640 * S, || false), LoginVerdict::Wrong, "and it begins anew");
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
