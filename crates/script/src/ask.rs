//! Requests of a script: compiled once, rendered with the values of each user, and redirected.
//!
//! This module decides everything that a server reads: the order of lines, `Content-Length`, and the `Cookie` header.
//! Data that could change the meaning of a request (a line end in a header, a space in a path) makes it
//! [`Unfilled::Unsendable`](crate::value::Unfilled::Unsendable), so that it is never sent.

use plimsoll_plan::origin::OriginId;

mod compile;
mod cookie_jar;
mod date;
mod follow;
mod form;
pub(crate) mod lines;
mod reference;

pub use cookie_jar::CookieJar;
pub use date::cookie_date;
pub use follow::{Next, Redirect, set_header};
pub use form::Form;

/// Settings of all requests to one origin.
#[derive(Debug, Clone)]
pub struct Site {
    /// Its number in the plan.
    pub number: OriginId,
    /// Value of the `Host` header: IPv6 in brackets, and without the default port of the scheme.
    pub host: String,
    /// Whether the scheme is `https`, which matters for `Secure` cookies and for the origin of a redirect.
    pub tls: bool,
    /// Whether requests use HTTP/1.0.
    pub http10: bool,
    /// Whether requests have `Connection: close`.
    pub close: bool,
    /// Name and version of the sender.
    pub user_agent: &'static str,
}

/// The origin of a response, for its cookies.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Its number in the plan.
    pub(crate) number: OriginId,
    /// The hosts that a `Domain` may name, in lower case, without port and brackets: that of the origin, and that of
    /// the `Host` header in the file. If that header changes with every request, this is empty and any domain is
    /// accepted.
    pub(crate) hosts: Vec<String>,
    pub(crate) tls: bool,
}

impl Origin {
    /// Returns an origin of the plan, for requests without a `Host` header in the file.
    pub fn new(site: &Site) -> Origin {
        Origin { number: site.number, hosts: vec![bare(&site.host)], tls: site.tls }
    }
}

impl Origin {
    /// Its number in the plan.
    pub fn number(&self) -> OriginId {
        self.number
    }
}

/// Returns a host in lower case, without port and brackets.
fn bare(authority: &str) -> String {
    let (host, _) = reference::host_and_port(authority.trim().as_bytes());
    String::from_utf8_lossy(host).trim_matches(['[', ']']).to_ascii_lowercase()
}
