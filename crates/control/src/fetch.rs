//! HTTP fetches alongside the load: pages of metrics, and the proof of ownership. The client is `ureq`; this module
//! decides where it connects, for how long, and whom it trusts. It does not use the engine, because the loop that
//! loads the server must not also monitor it.

use crate::reach::{Deadline, MonitorError, Place, connect, words};
use crate::stream::Stream;
use plimsoll_engine::link::tls::Setup;
use std::fmt;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Agent, Body, Timeout};

/// Maximum size of response headers, bytes.
const HEAD_MOST: usize = 65_536;
const BUFFER: usize = 16_384;

/// Addresses to connect to.
#[derive(Debug, Clone)]
pub enum Addressing {
    /// Addresses of a name, looked up for each connection.
    Of(Place),
    /// This address, even if the host name resolves to others.
    At(SocketAddr),
}

/// Returns a client for one server that ignores proxy variables, follows no redirects, accepts every status, and
/// decodes no bodies.
pub fn agent(asked: Addressing, tls: Option<Setup>) -> Agent {
    let config = Agent::config_builder()
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("identity")
        .max_response_header_size(HEAD_MOST)
        .max_idle_connections(1)
        .build();
    Agent::with_parts(config, Connect { asked: asked.clone(), tls }, Addresses(asked))
}

/// Fetches a path of a host from one of its addresses, over TLS if `tls` is set. Returns the status and up to `most`
/// bytes of the body.
///
/// # Errors
/// Returns the reason as a fragment.
pub fn from_address(
    address: SocketAddr,
    tls: Option<&Setup>,
    authority: &str,
    path: &str,
    most: usize,
    patience: Duration,
) -> Result<(u16, Vec<u8>), String> {
    page_from(address, tls, authority, path, most, patience).map(|page| (page.status, page.body))
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub status: u16,
    /// Where a redirect leads.
    pub location: Option<String>,
    pub body: Vec<u8>,
}

/// Fetches a path as [`from_address`] does, with where a redirect leads.
///
/// # Errors
/// Returns the reason as a fragment.
pub fn page_from(
    address: SocketAddr,
    tls: Option<&Setup>,
    authority: &str,
    path: &str,
    most: usize,
    patience: Duration,
) -> Result<Page, String> {
    let scheme = if tls.is_some() { "https" } else { "http" };
    let agent = agent(Addressing::At(address), tls.cloned());
    let request = agent.get(format!("{scheme}://{authority}{path}")).header("Connection", "close");
    let answer = request.config().timeout_global(Some(patience)).build().call();
    let mut answer = answer.map_err(|error| why(&error))?;
    let location = answer.headers().get("location").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let body = body(answer.body_mut(), most)?;
    Ok(Page { status: answer.status().as_u16(), location, body })
}

/// Reads up to `most` bytes of a body.
fn body(body: &mut Body, most: usize) -> Result<Vec<u8>, String> {
    let mut read = Vec::new();
    let taken = body.as_reader().take(most as u64).read_to_end(&mut read);
    taken.map(|_| read).map_err(|error| why(&ureq::Error::from(error)))
}

/// Returns why a fetch failed, as a fragment.
pub fn why(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => words(error),
        ureq::Error::Timeout(_) => "no response in time".into(),
        ureq::Error::BodyExceedsLimit(_) => "longer than 8 MB".into(),
        ureq::Error::LargeResponseHeader(..) => "its headers are too long".into(),
        ureq::Error::Other(trouble) => trouble.to_string(),
        // The remaining errors concern the protocol, because the addresses were parsed before.
        _ => "not an HTTP/1.1 response".into(),
    }
}

struct Addresses(Addressing);

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Resolver for Addresses {
    fn resolve(
        &self,
        _: &Uri,
        _: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut found = self.empty();
        match &self.0 {
            Addressing::At(address) => found.push(*address),
            Addressing::Of(place) => {
                let all = place.addresses(Deadline::after(*timeout.after)).map_err(other)?;
                // The client has room for this many.
                all.into_iter().take(16).for_each(|address| found.push(address));
            }
        }
        Ok(found)
    }
}

struct Connect {
    asked: Addressing,
    tls: Option<Setup>,
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Connector for Connect {
    type Out = Wire;

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<()>) -> Result<Option<Wire>, ureq::Error> {
        let until = Deadline::after(*details.timeout.after);
        let trouble = |error: std::io::Error| match &self.asked {
            Addressing::Of(place) => other(place.trouble("connect to", &error)),
            Addressing::At(_) => ureq::Error::Io(error),
        };
        let socket = connect(&details.addrs, until).map_err(trouble)?;
        let stream = Stream::open(socket, self.tls.as_ref(), until).map_err(trouble)?;
        Ok(Some(Wire { stream, buffers: LazyBuffers::new(BUFFER, BUFFER) }))
    }
}

fn other(trouble: MonitorError) -> ureq::Error {
    ureq::Error::Other(Box::new(trouble))
}

#[derive(Debug)]
struct Wire {
    stream: Stream,
    buffers: LazyBuffers,
}

impl Transport for Wire {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.until(Deadline::after(*timeout.after));
        let written = self.stream.write_all(&self.buffers.output()[..amount]);
        written.and_then(|()| self.stream.flush()).map_err(in_time)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.until(Deadline::after(*timeout.after));
        let came = self.stream.read(self.buffers.input_append_buf()).map_err(in_time)?;
        self.buffers.input_appended(came);
        Ok(came > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.is_open()
    }

    fn is_tls(&self) -> bool {
        self.stream.is_tls()
    }
}

fn in_time(error: std::io::Error) -> ureq::Error {
    match error.kind() {
        std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => {
            ureq::Error::Timeout(Timeout::Global)
        }
        _ => ureq::Error::Io(error),
    }
}
