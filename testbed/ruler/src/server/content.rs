//! The body of a response: the pattern, a configured text, or the page of a special endpoint, compressed or not.

use super::Server;
use super::exchange::origin;
use super::slots::{Exchange, Stage};
use crate::answer::Order;
use crate::error::Error;
use crate::kept::Keep;
use crate::observed::Seen;
use crate::outgoing::pattern;
use crate::pages::{Body, Page};
use crate::pressed::Source;
use crate::request::{RAW_MOST, WHOLE_MOST};
use crate::settings::Behavior;
use crate::timers::{Key, Ticket};
use std::rc::Rc;

/// A body (None: the pattern), or a sentence that says why there is none.
pub(super) type Content = Result<Option<Rc<[u8]>>, String>;

impl Server {
    /// Returns how many bytes of a request to keep.
    pub(super) fn raw_most(&self) -> usize {
        if self.settings.service.keep == Keep::None { RAW_MOST } else { WHOLE_MOST }
    }

    /// Returns the page for the request in the parser, if its path is a special endpoint.
    pub(super) fn page(&mut self, key: Key, behavior: &Behavior) -> Result<Option<Box<Page>>, String> {
        let Some(connection) = self.slots.get(key) else { return Ok(None) };
        let (target, raw) = (connection.reader.target(), connection.reader.raw.as_slice());
        if is_unchanged(behavior, raw) {
            return Ok(Some(Box::new(Page::Body(Body::empty(304)))));
        }
        let at = target.iter().position(|&byte| byte == b'?');
        let (path, query) = at.map_or((target, [].as_slice()), |at| (&target[..at], &target[at + 1..]));
        let origin = || origin(connection, connection.turn.wrapping_add(1));
        let counts = &mut self.recorder.counters.pages;
        Ok(self.pages.find((path, query), raw, behavior, origin, counts)?.map(Box::new))
    }

    /// Returns the body of the response that is due. Also stops streams, because that response contains their number.
    pub(super) fn content(&mut self, ticket: Ticket) -> Result<Content, Error> {
        if self.slots.at(ticket).is_some_and(|connection| connection.stage != Stage::Waiting) {
            return Ok(Ok(None));
        }
        let Some(exchange) = self.exchange(ticket) else { return Ok(Ok(None)) };
        let (behavior, served) = (exchange.behavior.clone(), exchange.fault.is_none());
        let own = match exchange.page.as_deref_mut() {
            Some(Page::Body(body)) => Some(std::mem::take(&mut body.bytes)),
            // A stream that does not open has no body.
            Some(Page::Feed(_) | Page::Socket(_)) => Some(Vec::new()),
            Some(&mut Page::StopFeeds { reset }) => {
                let closed = if served { self.stop_feeds(reset)? } else { 0 };
                Some(format!("{{\"closed\":{closed}}}").into_bytes())
            }
            None => None,
        };
        Ok(match (own, &behavior.text, behavior.encoding) {
            (None, None, None) => Ok(None),
            (Some(own), _, None) => Ok(Some(own.into())),
            (Some(own), _, Some(encoding)) => encoding.press(&own).map(|bytes| Some(bytes.into())),
            (None, Some(text), None) => Ok(Some(text.as_bytes().into())),
            (None, Some(text), Some(encoding)) => {
                self.pressed.get(encoding, Source::Text(text.clone()), || text.as_bytes().to_vec()).map(Some)
            }
            (None, None, Some(encoding)) => {
                let bytes = behavior.body_bytes;
                self.pressed.get(encoding, Source::Pattern(bytes), || pattern(bytes)).map(Some)
            }
        })
    }
}

impl Exchange {
    pub(super) fn order(&self, content: Option<Rc<[u8]>>) -> Order<'_> {
        let (kind, lines) = match self.page.as_deref() {
            Some(Page::Body(body)) => (body.kind, body.lines.as_str()),
            Some(Page::Feed(_)) => ("text/event-stream", "Cache-Control: no-cache\r\n"),
            Some(Page::StopFeeds { .. }) => ("application/json", ""),
            Some(Page::Socket(_)) => ("text/plain", ""),
            None => ("text/plain", ""),
        };
        Order {
            behavior: &self.behavior,
            status: self.status,
            fault: self.fault,
            head_only: self.head_only,
            to_http10: self.to_http10,
            may_keep_alive: self.keep_alive,
            asks_keep_alive: self.asks_keep_alive,
            content,
            kind,
            lines,
        }
    }

    /// Returns true if the response opens a WebSocket. With a fault or another status, it is an ordinary one.
    pub(super) fn opens_socket(&self) -> bool {
        let socket = matches!(self.page.as_deref(), Some(Page::Socket(_)));
        socket && self.fault.is_none() && self.status == 101
    }

    /// Returns true if the response is an event stream. With a fault, another status, or HEAD, it is an ordinary one.
    pub(super) fn opens_feed(&self) -> bool {
        let feed = matches!(self.page.as_deref(), Some(Page::Feed(_)));
        feed && self.fault.is_none() && self.status == 200 && !self.head_only
    }
}

/// Returns true if the client already has the entity, by the `etag` key and its If-None-Match.
pub(super) fn is_unchanged(behavior: &Behavior, raw: &[u8]) -> bool {
    behavior.etag.as_deref().is_some_and(|etag| {
        behavior.status == 200
            && Seen::of(raw).header(b"if-none-match").is_some_and(|given| names(given, etag))
    })
}

/// Returns true if an If-None-Match names this entity tag (RFC 9110, 13.1.2: weak comparison, a list, or any).
fn names(given: &[u8], etag: &str) -> bool {
    given.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).any(|one| {
        let tag = one.strip_prefix(b"W/").unwrap_or(one);
        one == b"*"
            || tag.strip_prefix(b"\"").and_then(|tag| tag.strip_suffix(b"\"")) == Some(etag.as_bytes())
    })
}
