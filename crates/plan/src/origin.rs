//! The origins that a plan loads. Every request names its origin.

use crate::link::Tls;
use crate::request::Target;
use serde::{Deserialize, Serialize};

/// Number of an origin; the target is [`FIRST`].
pub type OriginId = u16;

/// The target.
pub const FIRST: OriginId = 0;

/// The tag of requests in a plan with several origins: the name of the origin.
pub const ORIGIN_TAG: &str = "origin";

/// Maximum number of origins of a plan: before the load, each is resolved, asked for permission, and tried in sequence.
pub const ORIGINS_MAX: usize = 256;

/// An origin other than the target, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTarget {
    /// The name in the plan; empty if it has only an address.
    pub name: String,
    pub target: Target,
}

impl NamedTarget {
    /// Returns its name, or else host and port.
    pub fn describe(&self) -> String {
        if self.name.is_empty() { self.target.authority() } else { self.name.clone() }
    }
}

/// An origin of a sealed plan, which every report may show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The name in reports: its name in the plan, or else its authority.
    pub name: String,
    pub host: String,
    pub port: u16,
    /// The TLS settings, if the scheme is `https`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Whether its connections speak HTTP/2; known once the server has answered before the load.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_http2: bool,
}

impl Origin {
    /// Returns scheme and authority, such as `https://api.example:8443`.
    pub fn url(&self) -> String {
        url_of(&self.target())
    }

    /// Returns its URL, after its name if it has one.
    pub fn describe(&self) -> String {
        let (authority, url) = (self.authority(), self.url());
        if self.name == authority || self.name == url { url } else { format!("{}: {url}", self.name) }
    }

    /// Returns host and port as in the `Host` header.
    pub fn authority(&self) -> String {
        self.target().authority()
    }

    /// Returns host and port, also the default port of the scheme.
    pub fn host_and_port(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    pub fn target(&self) -> Target {
        Target { host: self.host.clone(), port: self.port, tls: self.tls.is_some() }
    }
}

/// Returns an origin that was found during the run, over HTTP/1.1 until the server chooses otherwise. `settings` are
/// the TLS settings of the plan; the name to verify is the host.
pub fn found(target: &Target, settings: Option<&Tls>) -> Origin {
    let tls = || Tls { server_name: target.host.clone(), ..settings.cloned().unwrap_or_default() };
    Origin {
        name: found_name(target),
        host: target.host.clone(),
        port: target.port,
        tls: target.tls.then(tls),
        is_http2: false,
    }
}

/// Returns the name of an origin that was found during the run: scheme and authority, such as
/// `https://api.example:8443`.
pub fn found_name(target: &Target) -> String {
    url_of(target)
}

fn url_of(target: &Target) -> String {
    format!("{}://{}", if target.tls { "https" } else { "http" }, target.authority())
}

/// Returns the origins of a plan in the order of their numbers. The TLS settings apply to all origins with TLS, except
/// the name to verify: each origin has its own, unless `settings` names one for the target.
pub fn origins(target: &Target, more: &[NamedTarget], settings: Option<&Tls>) -> Vec<Origin> {
    let tls_of = |target: &Target, server_name: Option<&str>| {
        let named = server_name.filter(|name| !name.is_empty()).unwrap_or(&target.host);
        let tls = settings.cloned().unwrap_or_default();
        target.tls.then(|| Tls { server_name: named.to_owned(), ..tls })
    };
    let own_name = settings.map(|tls| tls.server_name.as_str());
    let first = Origin {
        name: target.authority(),
        host: target.host.clone(),
        port: target.port,
        tls: tls_of(target, own_name),
        is_http2: false,
    };
    // `http` and `https` of one host and port differ only in the scheme, and each row needs its own name.
    let is_taken = |one: &NamedTarget| {
        let others = more.iter().filter(|other| !std::ptr::eq(*other, one)).map(NamedTarget::describe);
        std::iter::once(target.authority()).chain(others).any(|name| name == one.describe())
    };
    let rest = more.iter().map(|more| Origin {
        name: if is_taken(more) { url_of(&more.target) } else { more.describe() },
        host: more.target.host.clone(),
        port: more.target.port,
        tls: tls_of(&more.target, None),
        is_http2: false,
    });
    std::iter::once(first).chain(rest).collect()
}
