//! Trusted certificates of monitors.

use super::probe::MonitorError;
use plimsoll_engine::link::tls::{Setup, Wanted};
use plimsoll_plan::watch;

/// Whom monitors trust with TLS: the plan's authorities, or any server.
#[derive(Debug, Clone, Default)]
pub struct Trust(watch::Trust);

impl Trust {
    pub fn of(trust: &watch::Trust) -> Trust {
        Trust(trust.clone())
    }

    /// Returns settings that encrypt but verify no certificate.
    pub fn anybody() -> Trust {
        Trust(watch::Trust { ca: Vec::new(), insecure: true })
    }

    /// Returns the TLS settings for a host; `protocols` are offered by name (ALPN).
    ///
    /// # Errors
    /// Returns an error if no certificate can contain the host's name, or if an own authority cannot be read.
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
