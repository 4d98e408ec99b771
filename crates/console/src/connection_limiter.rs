//! Limits connections and closes some when there are too many. Unauthenticated ones go first, so that other
//! clients cannot shut out a signed-in browser. A connection is authenticated once a request on it carries a session.
//! When all unauthenticated places are taken, a new connection replaces the oldest one of the address that holds the
//! most, so flooding shuts out only the flooder. A browser with a session sends it immediately, long before a flood can
//! replace it.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Maximum number of authenticated connections. A browser opens six connections to a server, one of them for a live
/// view.
const KNOWN_MAX: usize = 192;
/// Maximum number per session, because its cookie alone, which others may have obtained, must not fill all places.
const OF_SESSION_MAX: usize = 24;
/// Maximum number of unauthenticated connections, which only need a page and a stylesheet.
const STRANGERS_MAX: usize = 64;

#[derive(Default)]
pub struct ConnectionLimiter {
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    next: u64,
    /// By number, and so by age.
    places: BTreeMap<u64, One>,
}

struct One {
    peer: IpAddr,
    /// The session that was sent on the connection.
    session: Option<u64>,
    /// Closes the connection when dropped.
    _stay: oneshot::Sender<()>,
}

/// Place of a connection; released when dropped.
pub struct Place {
    crowd: Arc<ConnectionLimiter>,
    number: u64,
    peer: IpAddr,
}

/// Resolves when the connection must close.
pub type Dismissed = oneshot::Receiver<()>;

impl ConnectionLimiter {
    /// Returns a place for a new connection, possibly closing another one.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> (Arc<Place>, Dismissed) {
        let peer = peer_network(address);
        let (stay, dismissed) = oneshot::channel();
        let mut all = self.lock();
        if let Some(number) = all.too_many() {
            all.places.remove(&number);
        }
        all.next += 1;
        let number = all.next;
        all.places.insert(number, One { peer, session: None, _stay: stay });
        (Arc::new(Place { crowd: self.clone(), number, peer }), dismissed)
    }

    /// A thread that panicked while holding the lock cannot have left the state inconsistent.
    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    /// Returns the connection that must close before another unauthenticated one can be accepted.
    fn too_many(&self) -> Option<u64> {
        let strangers = || self.places.iter().filter(|(_, one)| one.session.is_none());
        let mut held: HashMap<IpAddr, usize> = HashMap::new();
        for (_, one) in strangers() {
            *held.entry(one.peer).or_default() += 1;
        }
        let most = *held.values().max()?;
        let mut oldest = strangers().filter(|(_, one)| held.get(&one.peer) == Some(&most));
        (held.values().sum::<usize>() >= STRANGERS_MAX).then(|| oldest.next().map(|(number, _)| *number))?
    }
}

impl Place {
    /// Marks the connection as authenticated by the session of this number. If all such places, or those of the
    /// session, are taken, it stays unauthenticated and is still served.
    pub fn know(&self, session: u64) {
        let mut all = self.crowd.lock();
        let known = || all.places.values().filter_map(|one| one.session);
        let is_room = known().count() < KNOWN_MAX;
        let has_share = known().filter(|own| *own == session).count() >= OF_SESSION_MAX;
        if is_room
            && !has_share
            && let Some(one) = all.places.get_mut(&self.number)
        {
            // The next request on the same connection may carry another session.
            one.session.get_or_insert(session);
        }
    }

    /// Returns the address that identifies the other side; see [`peer_network`].
    pub fn peer(&self) -> IpAddr {
        self.peer
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.crowd.lock().places.remove(&self.number);
    }
}

/// Reduces an IPv6 address to its 64-bit network, which a single subscriber controls entirely (RFC 6177).
fn peer_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() >> 64 << 64).into()),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_there(place: &mut Dismissed) -> bool {
        matches!(place.try_recv(), Err(oneshot::error::TryRecvError::Empty))
    }

    #[test]
    fn an_address_that_opens_many_connections_loses_its_own() {
        let crowd = Arc::new(ConnectionLimiter::default());
        let [owner, other] = ["10.203.0.1", "10.203.0.2"].map(|text| text.parse().unwrap());
        let (known, mut known_stays) = crowd.enter(owner);
        known.know(0);
        let (_stranger, mut stranger_stays) = crowd.enter(owner);
        let mut flood: Vec<_> = (0..1_000).map(|_| crowd.enter(other)).collect();
        assert!(is_there(&mut known_stays) && is_there(&mut stranger_stays));
        let left = flood.iter_mut().filter_map(|(_, stays)| is_there(stays).then_some(())).count();
        assert_eq!(left, STRANGERS_MAX - 1);
        assert!(is_there(&mut flood.last_mut().unwrap().1), "the newest one stays");
    }

    #[test]
    fn a_session_holds_its_place_also_among_strangers_of_its_own_address() {
        let crowd = Arc::new(ConnectionLimiter::default());
        let here: IpAddr = "127.0.0.1".parse().unwrap();
        let (known, mut stays) = crowd.enter(here);
        known.know(0);
        let _flood: Vec<_> = (0..1_000).map(|_| crowd.enter(here)).collect();
        assert!(is_there(&mut stays));
        let (late, mut late_stays) = crowd.enter(here);
        let _some: Vec<_> = (1..STRANGERS_MAX).map(|_| crowd.enter(here)).collect();
        assert!(is_there(&mut late_stays), "it has the time in which all other places change hands");
        late.know(0);
        let _flood: Vec<_> = (0..1_000).map(|_| crowd.enter(here)).collect();
        assert!(is_there(&mut late_stays));
    }

    #[test]
    fn places_come_back_and_known_ones_have_an_end() {
        let crowd = Arc::new(ConnectionLimiter::default());
        let here: IpAddr = "::1".parse().unwrap();
        let all: Vec<_> = (0..KNOWN_MAX + STRANGERS_MAX)
            .map(|number| {
                let entered = crowd.enter(here);
                entered.0.know(number as u64);
                entered
            })
            .collect();
        assert_eq!(crowd.lock().places.len(), KNOWN_MAX + STRANGERS_MAX);
        let (_one_more, _) = crowd.enter(here);
        assert_eq!(crowd.lock().places.len(), KNOWN_MAX + STRANGERS_MAX);
        drop(all);
        assert_eq!(crowd.lock().places.len(), 1);
    }

    #[test]
    fn one_session_takes_no_more_than_its_share() {
        let crowd = Arc::new(ConnectionLimiter::default());
        let here: IpAddr = "127.0.0.1".parse().unwrap();
        let (owner, mut owner_stays) = crowd.enter(here);
        let _thieves: Vec<_> = (0..KNOWN_MAX)
            .map(|_| {
                let entered = crowd.enter(here);
                // Another request on the same connection takes no second place.
                (0..3).for_each(|_| entered.0.know(7));
                owner.know(1);
                entered
            })
            .collect();
        let of =
            |session: u64| crowd.lock().places.values().filter(|one| one.session == Some(session)).count();
        assert_eq!((of(7), of(1)), (OF_SESSION_MAX, 1));
        let (_late, mut late_stays) = crowd.enter(here);
        _late.know(2);
        let _flood: Vec<_> = (0..1_000).map(|_| crowd.enter(here)).collect();
        assert!(is_there(&mut owner_stays) && is_there(&mut late_stays));
    }

    #[test]
    fn addresses_of_one_network_are_one_peer() {
        let of = |text: &str| peer_network(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.203.0.1"), of("10.203.0.1"));
    }
}
