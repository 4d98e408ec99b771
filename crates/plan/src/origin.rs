//! Where requests go: a plan loads one origin or several, and every request names its own.

use crate::link::Tls;
use crate::request::Target;
use serde::{Deserialize, Serialize};

/// Number of an origin; the plan's target is [`FIRST`].
pub type OriginId = u16;

/// The plan's target.
pub const FIRST: OriginId = 0;

/// The tag that requests of a plan with several origins bear: the name of theirs.
pub const ORIGIN_TAG: &str = "origin";

/// Most origins of a plan: each is resolved, asked for permission and tried before the load, one after the other.
pub const ORIGINS_MAX: usize = 256;

/// Another origin than the target, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTarget {
    /// What the plan calls it; empty: it has only its address.
    pub name: String,
    pub target: Target,
}

impl NamedTarget {
    /// Its name, else host and port.
    pub fn describe(&self) -> String {
        if self.name.is_empty() { self.target.authority() } else { self.name.clone() }
    }
}

/// An origin of a sealed plan, as every report may show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// What reports call it: its name in the plan, else its authority.
    pub name: String,
    pub host: String,
    pub port: u16,
    /// `https`, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
}

impl Origin {
    /// Scheme and authority, such as `https://api.example:8443`.
    pub fn url(&self) -> String {
        url_of(&self.target())
    }

    /// Its URL, with the name in front where it has one of its own.
    pub fn describe(&self) -> String {
        let (authority, url) = (self.authority(), self.url());
        if self.name == authority || self.name == url { url } else { format!("{}: {url}", self.name) }
    }

    /// Host and port as in the `Host` header.
    pub fn authority(&self) -> String {
        self.target().authority()
    }

    pub fn target(&self) -> Target {
        Target { host: self.host.clone(), port: self.port, tls: self.tls.is_some() }
    }
}

fn url_of(target: &Target) -> String {
    format!("{}://{}", if target.tls { "https" } else { "http" }, target.authority())
}

/// The origins of a plan in the order of their numbers; what is said about TLS holds for all that speak it, but
/// the name to be verified, which is each origin's own unless `settings` name one for the target.
pub(crate) fn origins(target: &Target, more: &[NamedTarget], settings: Option<&Tls>) -> Vec<Origin> {
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
    };
    // `http` and `https` of one host and port differ by nothing but the scheme, and a row needs a name of its own.
    let is_taken = |one: &NamedTarget| {
        let others = more.iter().filter(|other| !std::ptr::eq(*other, one)).map(NamedTarget::describe);
        std::iter::once(target.authority()).chain(others).any(|name| name == one.describe())
    };
    let rest = more.iter().map(|more| Origin {
        name: if is_taken(more) { url_of(&more.target) } else { more.describe() },
        host: more.target.host.clone(),
        port: more.target.port,
        tls: tls_of(&more.target, None),
    });
    std::iter::once(first).chain(rest).collect()
}
