//! Whom monitors trust.

use super::probe::MonitorError;
use plimsoll_engine::link::tls::{Setup, Wanted};
use plimsoll_plan::watch;

/// Whom monitors trust when they ask by TLS: what the plan says, or nobody in particular.
#[derive(Debug, Clone, Default)]
pub struct Trust(watch::Trust);

impl Trust {
    pub fn of(trust: &watch::Trust) -> Trust {
        Trust(trust.clone())
    }

    /// Encrypts, and checks nothing: whoever answers is the server.
    pub fn anybody() -> Trust {
        Trust(watch::Trust { ca: Vec::new(), insecure: true })
    }

    /// What a connection to a host needs; `protocols` are offered by name (ALPN).
    ///
    /// # Errors
    /// One sentence: the host has no name that a certificate could bear, or an own authority cannot be read.
    pub fn setup(&self, host: &str, protocols: &[&str]) -> Result<Setup, MonitorError> {
        let wanted = Wanted {
            server_name: host.to_owned(),
            ca_pem: self.0.ca.clone(),
            insecure: self.0.insecure,
            alpn: protocols.iter().map(|name| name.as_bytes().to_vec()).collect(),
            ..Wanted::default()
        };
        Setup::new(&wanted).map_err(|problem| MonitorError(problem.message))
    }
}
