//! The cipher suites that a plan may name, and how they are written.

use crate::Problem;

/// A cipher suite of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cipher {
    /// Its number in a ClientHello (IANA registry).
    pub code: u16,
    /// Its name in the IANA registry.
    pub name: &'static str,
    /// Its name in OpenSSL and nginx.
    pub openssl: &'static str,
    /// Whether it belongs to TLS 1.3; all others belong to 1.2.
    pub is_tls13: bool,
}

const fn row(code: u16, name: &'static str, openssl: &'static str, is_tls13: bool) -> Cipher {
    Cipher { code, name, openssl, is_tls13 }
}

/// All suites, in the order in which they are offered by default: those of rustls, which has only suites with forward
/// secrecy and authenticated encryption.
pub const CIPHERS: [Cipher; 9] = [
    row(0x1302, "TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384", true),
    row(0x1301, "TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", true),
    row(0x1303, "TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256", true),
    row(0xc02c, "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384", false),
    row(0xc02b, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256", false),
    row(0xcca9, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305", false),
    row(0xc030, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384", false),
    row(0xc02f, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", false),
    row(0xcca8, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305", false),
];

/// Returns the suite with this name, as IANA or OpenSSL writes it.
pub fn cipher(name: &str) -> Option<&'static Cipher> {
    CIPHERS.iter().find(|one| [one.name, one.openssl].iter().any(|own| own.eq_ignore_ascii_case(name)))
}

/// Parses a list of suites, separated as in OpenSSL (colons) or by commas; returns their IANA names in the order
/// written, which is the order of preference.
///
/// # Errors
/// Returns an error that lists the supported suites if one is not among them, and an error if one is written twice.
pub fn ciphers(text: &str) -> Result<Vec<String>, Problem> {
    let mut names: Vec<String> = Vec::new();
    for word in text.split([':', ',']).map(str::trim) {
        let Some(found) = cipher(word) else { return Err(unsupported(word)) };
        if names.iter().any(|name| name == found.name) {
            return Err(Problem::new(format!("duplicate cipher suite `{word}`"), "name each suite once"));
        }
        names.push(found.name.to_owned());
    }
    Ok(names)
}

fn unsupported(word: &str) -> Problem {
    let all: Vec<&str> = CIPHERS.iter().map(|one| one.openssl).collect();
    let hint = format!("use {}", all.join(", "));
    // `HIGH`, `!aNULL`, `kECDHE+AES`, `@SECLEVEL=1`: a suite has a hyphen or an underscore.
    let is_keyword =
        word.starts_with(['!', '-', '+', '@']) || word.contains('+') || !word.contains(['-', '_']);
    let message = match (word.is_empty(), is_keyword) {
        (true, _) => "empty name in a list of cipher suites".to_owned(),
        (_, true) => format!("unsupported cipher list word `{word}`: only names of suites are supported"),
        (_, false) => format!("unknown or unsupported cipher suite `{word}`"),
    };
    Problem::new(message, hint)
}
