//! The store of resumable sessions. The store in rustls is made for a browser: it keeps 8 tickets per server, and a TLS
//! 1.3 ticket can be used once. With hundreds of connections to one server, almost every reconnection would find it
//! empty and do an unrequested full handshake.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls_pki_types::ServerName;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most tickets kept. The limit is needed because servers send two for each one used: about 1 KiB each and, unless it
/// is shared, the server's certificate chain.
const MOST: usize = 1024;

/// The sessions of one server name: a [`super::Setup`] has exactly one, so the names in the calls are ignored.
#[derive(Default)]
pub struct Tickets {
    kept: Mutex<Kept>,
    /// TLS 1.3 has no other way to resume a session.
    ignores_tickets: bool,
}

#[derive(Default)]
struct Kept {
    hint: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    /// Oldest first.
    tls13: VecDeque<Tls13ClientSessionValue>,
}

impl Tickets {
    /// Creates an empty store; one that ignores tickets keeps only sessions of TLS 1.2.
    pub fn new(ignores_tickets: bool) -> Tickets {
        Tickets { ignores_tickets, ..Tickets::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Every change is a single push or take: a thread that panicked in between left nothing half done.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.kept().hint = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.kept().hint
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.kept().tls12 = Some(value);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.kept().tls12.clone()
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.kept().tls12 = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        if self.ignores_tickets {
            return;
        }
        let mut kept = self.kept();
        if kept.tls13.len() == MOST {
            kept.tls13.pop_front();
        }
        kept.tls13.push_back(value);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        // The newest: it has the longest remaining lifetime.
        self.kept().tls13.pop_back()
    }
}

impl fmt::Debug for Tickets {
    // No contents: these are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tickets").finish_non_exhaustive()
    }
}
