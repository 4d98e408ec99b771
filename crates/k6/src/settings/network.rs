//! Settings of connections: TLS, addresses, and lookups.

mod address;

pub use address::{Host, IpRange};
pub(crate) use address::{blacklist, block_hostnames, host, hosts, local_ips, matches};
pub(crate) use address::{block_hostnames_of, ip_range, local_ips_text};

use crate::value::{self, Read, describe};
use plimsoll_plan::Problem;
use plimsoll_plan::cipher::cipher;
use plimsoll_plan::link::Versions;
use serde_json::Value;

/// A client certificate.
#[derive(Clone, PartialEq, Eq)]
pub struct TlsAuth {
    /// Hosts that it is presented to, which may start with `*.`; empty: all.
    pub domains: Vec<String>,
    /// The certificate, PEM.
    pub cert: String,
    /// Its key, PEM.
    pub key: String,
}

impl std::fmt::Debug for TlsAuth {
    /// Shows neither the certificate nor the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsAuth").field("domains", &self.domains).finish_non_exhaustive()
    }
}

/// The versions of TLS to offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlsVersions {
    pub versions: Versions,
    /// Whether the test also allows versions that plimsoll never offers (TLS 1.0 and 1.1).
    pub allows_older: bool,
}

/// Which of several addresses a lookup returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Select {
    First,
    Random,
    RoundRobin,
}

/// How hosts are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dns {
    /// How long an answer is kept, in ns; `u64::MAX`: for the whole test.
    pub ttl_ns: u64,
    pub select: Select,
}

impl Default for Dns {
    fn default() -> Dns {
        Dns { ttl_ns: 300_000_000_000, select: Select::Random }
    }
}

pub(crate) fn tls_auth(value: &Value) -> Read<Vec<TlsAuth>> {
    let Value::Array(items) = value else {
        return match value {
            Value::Null => Ok(None),
            other => Err(Problem::plain(format!("invalid value `{}`: expected a list", describe(other)))),
        };
    };
    items.iter().map(one_tls_auth).collect::<Result<_, _>>().map(Some)
}

fn one_tls_auth(value: &Value) -> Result<TlsAuth, Problem> {
    let Value::Object(fields) = value else {
        return Err(Problem::plain(format!("invalid certificate `{}`: expected an object", describe(value))));
    };
    let mut auth = TlsAuth { domains: Vec::new(), cert: String::new(), key: String::new() };
    for (key, value) in fields {
        match key.as_str() {
            "domains" => auth.domains = value::strings(value)?.unwrap_or_default(),
            "cert" => auth.cert = value::string(value)?.unwrap_or_default(),
            "key" => auth.key = value::string(value)?.unwrap_or_default(),
            "password" if matches!(value, Value::Null) || *value == "" => {}
            "password" => {
                return Err(Problem::new(
                    "`password` of a client certificate is not supported",
                    "store the key without a password, for example with `openssl pkey`",
                ));
            }
            other => return Err(Problem::plain(format!("unknown key `{other}` in a client certificate"))),
        }
    }
    if !auth.cert.contains("-----BEGIN") || !auth.key.contains("-----BEGIN") {
        return Err(Problem::new(
            "a client certificate requires `cert` and `key` in PEM format",
            "read them with `open(\"client.pem\")` and `open(\"client.key\")`",
        ));
    }
    Ok(auth)
}

pub(crate) fn tls_version(value: &Value) -> Read<Option<TlsVersions>> {
    let (min, max) = match value {
        Value::Null => return Ok(None),
        Value::String(text) if text.is_empty() => return Ok(None),
        Value::String(text) => (Some(tls_number(text)?), Some(tls_number(text)?)),
        Value::Object(fields) => {
            if let Some(key) = fields.keys().find(|key| !["min", "max"].contains(&key.as_str())) {
                return Err(Problem::new(format!("unknown key `{key}`"), "use `min` and `max`"));
            }
            let end = |key: &str| match fields.get(key).map(value::string).transpose()?.flatten() {
                Some(text) if !text.is_empty() => tls_number(&text).map(Some),
                _ => Ok(None),
            };
            (end("min")?, end("max")?)
        }
        other => {
            return Err(Problem::new(
                format!("invalid value `{}`", describe(other)),
                "write `\"tls1.3\"`, or `{ min: \"tls1.2\", max: \"tls1.3\" }`",
            ));
        }
    };
    let (low, high) = (min.unwrap_or(12), max.unwrap_or(13));
    if high < low.min(12) || min.zip(max).is_some_and(|(min, max)| min > max) {
        return Err(Problem::plain("the lowest TLS version is above the highest"));
    }
    let versions = match (low.max(12), high) {
        (_, ..12) => {
            return Err(Problem::new(
                "TLS 1.0, TLS 1.1, and SSL 3.0 are not supported: RFC 8996 forbids them",
                "allow `tls1.2` or `tls1.3`",
            ));
        }
        (12, 12) => Versions::Tls12,
        (12, _) => Versions::Both,
        _ => Versions::Tls13,
    };
    Ok(Some(Some(TlsVersions { versions, allows_older: low < 12 })))
}

fn tls_number(text: &str) -> Result<u8, Problem> {
    match text {
        "ssl3.0" => Ok(3),
        "tls1.0" => Ok(10),
        "tls1.1" => Ok(11),
        "tls1.2" => Ok(12),
        "tls1.3" => Ok(13),
        other => Err(Problem::new(format!("unknown TLS version `{other}`"), "use `tls1.2` or `tls1.3`")),
    }
}

pub(crate) fn cipher_suites(value: &Value) -> Read<Vec<String>> {
    let Some(names) = value::strings(value)? else { return Ok(None) };
    let known = names.iter().map(|name| match cipher(name) {
        Some(known) => Ok(known.name.to_owned()),
        None => {
            let all: Vec<&str> = plimsoll_plan::cipher::CIPHERS.iter().map(|one| one.name).collect();
            let message = format!("unknown or unsupported cipher suite `{name}`");
            Err(Problem::new(message, format!("use {}", all.join(", "))))
        }
    });
    known.collect::<Result<_, _>>().map(Some)
}

pub(crate) fn dns(value: &Value) -> Read<Dns> {
    let mut dns = Dns::default();
    match value {
        Value::Null => return Ok(None),
        Value::String(text) => return dns_text(text),
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    (_, Value::Null) => {}
                    (key, Value::String(text)) => set_dns(&mut dns, key, text)?,
                    ("ttl", Value::Number(number)) => set_dns(&mut dns, "ttl", &number.to_string())?,
                    (key, other) => {
                        let message = format!("invalid value `{}` of `{key}`", describe(other));
                        return Err(Problem::plain(message));
                    }
                }
            }
        }
        other => {
            let message = format!("invalid value `{}`", describe(other));
            return Err(Problem::new(message, "write `{ ttl: \"1m\", select: \"roundRobin\" }`"));
        }
    }
    Ok(Some(dns))
}

/// Reads `ttl=1m,select=first,policy=any`, as flags and variables have it.
pub(crate) fn dns_text(text: &str) -> Read<Dns> {
    if text.is_empty() {
        return Ok(None);
    }
    let mut dns = Dns::default();
    for part in text.split(',') {
        let (key, value) = part.split_once('=').ok_or_else(|| {
            Problem::new(format!("invalid DNS setting `{part}`"), "write `ttl=1m,select=roundRobin`")
        })?;
        set_dns(&mut dns, key.trim(), value.trim())?;
    }
    Ok(Some(dns))
}

fn set_dns(dns: &mut Dns, key: &str, text: &str) -> Result<(), Problem> {
    match (key, text) {
        ("ttl", "inf") => dns.ttl_ns = u64::MAX,
        ("ttl", "0") => dns.ttl_ns = 0,
        ("ttl", text) => dns.ttl_ns = value::duration_text_ns(text)?,
        ("select", "first") => dns.select = Select::First,
        ("select", "random") => dns.select = Select::Random,
        ("select", "roundRobin") => dns.select = Select::RoundRobin,
        ("select", other) => {
            let hint = "use `first`, `random`, or `roundRobin`";
            return Err(Problem::new(format!("unknown value `{other}` of `select`"), hint));
        }
        ("policy", "preferIPv4" | "any") => {}
        ("policy", known @ ("preferIPv6" | "onlyIPv4" | "onlyIPv6")) => {
            let hint = "name the address in `hosts`, or remove `policy`";
            return Err(Problem::new(format!("the DNS policy `{known}` is not supported"), hint));
        }
        ("policy", other) => {
            let hint = "use `preferIPv4` or `any`";
            return Err(Problem::new(format!("unknown value `{other}` of `policy`"), hint));
        }
        (other, _) => {
            let hint = "use `ttl`, `select`, or `policy`";
            return Err(Problem::new(format!("unknown key `{other}`"), hint));
        }
    }
    Ok(())
}
