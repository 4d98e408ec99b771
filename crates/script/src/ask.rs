//! Requests of a script on their way out: compiled once, rendered with each user's values, sent on behind redirects.
//!
//! Everything that a server reads is decided here: the order of the lines, `Content-Length`, the `Cookie` header. What
//! could change the meaning of a request when it comes from data (a line end in a header, a space in a path) makes the
//! request [`Unfilled::Unsendable`](crate::value::Unfilled::Unsendable), so that it is never sent.

use plimsoll_plan::origin::OriginId;

mod compile;
mod cookie_jar;
mod date;
mod follow;
mod form;
mod lines;
mod reference;

pub use cookie_jar::CookieJar;
pub use follow::{Next, Redirect, set_header};
pub use form::Form;

/// What all requests to one origin have in common.
#[derive(Debug, Clone)]
pub struct Site {
    /// Its number in the plan.
    pub number: OriginId,
    /// Value of the `Host` header: the port only when it is not the scheme's own, IPv6 in brackets.
    pub host: String,
    /// `https`: decides on `Secure` cookies, and on what the same place is behind a redirect.
    pub tls: bool,
    /// Requests say HTTP/1.0.
    pub http10: bool,
    /// Requests say `Connection: close`.
    pub close: bool,
    /// Name and version of the sender.
    pub user_agent: &'static str,
}

/// Whom an answer comes from, as far as its cookies ask.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Its number in the plan.
    pub(crate) number: OriginId,
    /// The hosts that a `Domain` may name, lower case, without port and brackets: the origin's, and the one in the
    /// author's own `Host` header. Empty when that header changes from request to request: any domain is then believed.
    pub(crate) hosts: Vec<String>,
    pub(crate) tls: bool,
}

impl Origin {
    /// An origin that a plan loads, when requests have no `Host` header of their own.
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

/// A host without its port and its brackets, lower case.
fn bare(authority: &str) -> String {
    let (host, _) = reference::host_and_port(authority.trim().as_bytes());
    String::from_utf8_lossy(host).trim_matches(['[', ']']).to_ascii_lowercase()
}
