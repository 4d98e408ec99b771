//! The names of the server: which ones it answers to, and what its pages are called by them.

use std::net::{IpAddr, SocketAddr};

/// The names that the server answers to. A page elsewhere can make a name of its own point to this machine (DNS
/// rebinding); its requests then carry that name.
pub struct Names {
    pub address: SocketAddr,
    /// TLS and a password: which names the machine has elsewhere is not known here, but none of them comes with a
    /// certificate that a browser accepts, or with our cookie.
    pub is_secure: bool,
}

impl Names {
    /// Whether a `Host` header may say this.
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

    /// The origin of the console's own pages.
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
