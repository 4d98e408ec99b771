//! Host names of the server: the ones it accepts, and the origin of its pages.

use std::net::{IpAddr, SocketAddr};

/// Accepted host names. A foreign page can make its own name resolve to this machine (DNS rebinding); its requests
/// then carry that name.
pub struct Names {
    pub address: SocketAddr,
    /// Whether TLS and a password protect the console. The machine's names elsewhere are unknown, but a foreign name
    /// has neither a certificate that a browser accepts nor the console's cookie.
    pub is_secure: bool,
}

impl Names {
    /// Returns whether a `Host` header is accepted.
    pub fn fits(&self, host: &str) -> bool {
        let standard = if self.is_secure { 443 } else { 80 };
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port.parse().ok()),
            _ => (host, Some(standard)),
        };
        if port != Some(self.address.port()) {
            return false;
        }
        if self.is_secure {
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-.[]:".contains(&b);
            return !name.is_empty() && name.bytes().all(is_plain);
        }
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        name == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Returns the origin of the console's own pages.
    pub fn origin(&self, host: &str) -> String {
        format!("{}://{host}", if self.is_secure { "https" } else { "http" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_console_answers_to_the_names_of_this_machine_only() {
        let names = |is_secure| Names { address: SocketAddr::from(([127, 0, 0, 1], 7117)), is_secure };
        let plain = names(false);
        for host in ["127.0.0.1:7117", "localhost:7117", "[::1]:7117", "127.0.0.2:7117"] {
            assert!(plain.fits(host), "{host}");
        }
        for host in
            ["evil.example:7117", "127.0.0.1:80", "127.0.0.1", "127.0.0.1.evil.example:7117", "", "[::1]"]
        {
            assert!(!plain.fits(host), "{host}");
        }
        let secure = names(true);
        assert!(secure.fits("lab.example:7117") && !secure.fits("lab.example") && !secure.fits("a@b:7117"));
        assert_eq!(secure.origin("lab.example:7117"), "https://lab.example:7117");
    }
}
