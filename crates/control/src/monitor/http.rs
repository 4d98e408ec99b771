//! Pages that monitors read, over a connection that stays open between samples.

use super::probe::MonitorError;
use super::trust::Trust;
use crate::fetch::{Addressing, agent, why};
use crate::reach::{Deadline, Place};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_engine::link::tls::Setup;
use ureq::{Agent, Error};

/// Maximum size of a response, bytes.
pub const MOST_BYTES: u64 = 8 << 20;

/// A response with any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub status: u16,
    /// Value of the `Server` header; empty if missing.
    pub server: String,
    pub body: Vec<u8>,
}

/// A client of one address.
pub struct Getter {
    place: Place,
    tls: Option<Setup>,
    /// URL without credentials.
    url: String,
    /// Basic authentication.
    login: Option<String>,
    shown: String,
    /// Keeps one connection.
    agent: Agent,
    /// Whether the connection has delivered a response.
    kept: bool,
}

impl Getter {
    /// Creates a client for `http[s]://[user:password@]host[:port][/path][?query]`. The login is sent as basic
    /// authentication.
    ///
    /// # Errors
    /// Returns an error if the address is invalid or TLS cannot be used with the host.
    pub fn new(url: &str, trust: &Trust) -> Result<Getter, MonitorError> {
        let (scheme, rest) = match url.split_once("://") {
            None => ("http", url),
            Some((scheme @ ("http" | "https"), rest)) => (scheme, rest),
            // Hides what precedes `://`, which in a garbled address may be anything.
            Some(_) => {
                return Err(MonitorError(
                    "a monitor's address must begin with `http://` or `https://`".into(),
                ));
            }
        };
        // Cutting here would treat, and show, the beginning of a password as the host.
        let cut = rest.find(['/', '@', '?', '#']).filter(|at| rest[*at..].starts_with(['?', '#']));
        if cut.is_some_and(|at| rest[at..].contains('@')) {
            return Err(MonitorError(
                "in a monitor's address, write `#` as `%23` and `?` as `%3F` in the login, `@` as `%40` in the query"
                    .into(),
            ));
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        // A raw `/` in a password would end the host too early and turn the rest of the password into a path.
        if !authority.contains('@') && target.split('?').next().unwrap_or_default().contains('@') {
            return Err(MonitorError(
                "in a monitor's address, write `@` as `%40` in the path, and `/` as `%2F` in the login"
                    .into(),
            ));
        }
        let (login, authority) = match authority.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, authority),
        };
        let Some(place) = Place::parse(authority, if scheme == "https" { 443 } else { 80 }) else {
            return Err(MonitorError(
                "a monitor's address must have the form `http://host:port/path`".into(),
            ));
        };
        // Hides the path, because addresses often contain tokens.
        let shown = format!("{scheme}://{}", place.describe());
        let tls = match scheme {
            "https" => Some(trust.setup(&place.host, &[])?),
            _ => None,
        };
        let slash = if target.starts_with('/') { "" } else { "/" };
        let url = format!("{shown}{slash}{}", escaped(target));
        let login = login.map(|login| format!("Basic {}", STANDARD.encode(decoded(login))));
        let agent = agent(Addressing::Of(place.clone()), tls.clone());
        Ok(Getter { place, tls, url, login, shown, agent, kept: false })
    }

    /// Fetches one response of any status, over a new connection if the open one was closed meanwhile.
    ///
    /// # Errors
    /// Returns one sentence without secrets, and closes the connection.
    pub fn get(&mut self, until: Deadline) -> Result<Page, MonitorError> {
        let mut answer = self.fetch(until);
        // The server may close an idle connection at the very moment when it is reused.
        if self.kept && matches!(answer, Err(Error::Io(_))) {
            self.agent = agent(Addressing::Of(self.place.clone()), self.tls.clone());
            answer = self.fetch(until);
        }
        self.kept = answer.is_ok();
        answer.map_err(|error| match error {
            Error::Other(inner) => match inner.downcast::<MonitorError>() {
                Ok(trouble) => *trouble,
                Err(other) => self.trouble(&other.to_string()),
            },
            error => self.trouble(&why(&error)),
        })
    }

    fn fetch(&self, until: Deadline) -> Result<Page, Error> {
        let left = until.left()?;
        let mut request = self.agent.get(&self.url);
        if let Some(login) = &self.login {
            request = request.header("Authorization", login);
        }
        let mut answer = request.config().timeout_global(Some(left)).build().call()?;
        let server = answer.headers().get("server").and_then(|value| value.to_str().ok());
        let server = server.unwrap_or_default().to_owned();
        // Checked before the body is awaited.
        if answer.body().content_length().is_some_and(|length| length > MOST_BYTES) {
            return Err(Error::BodyExceedsLimit(MOST_BYTES));
        }
        let body = answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec()?;
        Ok(Page { status: answer.status().as_u16(), server, body })
    }

    /// Fetches the body of a response with status 200, as text.
    ///
    /// # Errors
    /// Returns an error under the conditions of [`Getter::get`], or for another status.
    pub fn get_text(&mut self, until: Deadline) -> Result<String, MonitorError> {
        let page = self.get(until)?;
        if page.status != 200 {
            return Err(self.trouble(&format!("status {}", page.status)));
        }
        Ok(String::from_utf8_lossy(&page.body).into_owned())
    }

    /// Returns the host and port of the address.
    pub fn asks(&self) -> (String, u16) {
        (self.place.host.clone(), self.place.port)
    }

    /// Returns `cannot read URL: WHY`.
    pub fn trouble(&self, why: &str) -> MonitorError {
        MonitorError(format!("cannot read `{}`: {why}", self.shown))
    }
}

/// Percent-encodes what is invalid in a request line; encoded characters stay.
fn escaped(target: &str) -> String {
    let mut out = String::with_capacity(target.len());
    for byte in target.bytes() {
        match byte {
            b'!'..=b'~' if !b"\"<>\\^`{|}".contains(&byte) => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Percent-encodes a query value: everything but letters, digits, and `-._~` (RFC 3986 section 2.3).
pub fn encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Percent-decodes text; a `%` without valid digits stays.
pub fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match code.filter(|_| byte == b'%').and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(coded) => {
                out.push(coded);
                rest = &after[2..];
            }
            None => {
                out.push(byte);
                rest = after;
            }
        }
    }
    out
}
