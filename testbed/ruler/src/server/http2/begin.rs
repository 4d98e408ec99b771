//! Received requests over HTTP/2: read to their end, counted, and passed to the queue model.

use super::multiplex::{Accepted, Multiplex};
use super::streams::{Body, Stream};
use crate::control::PREFIX;
use crate::error::Error;
use crate::kept::{Arrival, Complete, Keep};
use crate::pages::{Body as PageBody, ECHO, Page};
use crate::record::Mark;
use crate::request::WHOLE_MOST;
use crate::server::Server;
use crate::server::content::is_unchanged;
use crate::server::exchange::origin;
use crate::server::slots::{Exchange, Stage};
use crate::settings::{Behavior, OnExpect};
use crate::timers::{Key, Ticket};
use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::request::Parts;
use http::{Method, Response, StatusCode};
use std::rc::Rc;
use std::task::{Context, Poll};

/// A request that is being received.
pub(super) struct Upload {
    id: u32,
    method: Method,
    target: Vec<u8>,
    /// The request in the form of HTTP/1 (see [`written_out`]), as far as it is kept.
    raw: Vec<u8>,
    most: usize,
    is_cut: bool,
    /// Its body is not read: the response is 417.
    is_refused: bool,
    body: RecvStream,
    respond: SendResponse<Bytes>,
}

impl Upload {
    /// Reads the available bytes; returns true at the end. A failure ends it, too: the reset is found on the wire.
    fn read(&mut self, context: &mut Context<'_>) -> Result<bool, h2::Error> {
        while !self.body.is_end_stream() {
            match self.body.poll_data(context) {
                Poll::Ready(Some(data)) => {
                    let data = data?;
                    self.body.flow_control().release_capacity(data.len())?;
                    let room = self.most.saturating_sub(self.raw.len()).min(data.len());
                    self.raw.extend_from_slice(&data[..room]);
                    self.is_cut |= room < data.len();
                }
                Poll::Ready(None) => break,
                Poll::Pending => return Ok(false),
            }
        }
        // Trailers end the request too; they are not kept.
        Ok(self.body.poll_trailers(context)?.is_ready())
    }
}

impl Multiplex {
    /// Returns a request that is complete, in the order in which they started.
    pub(super) fn complete_upload(&mut self) -> Option<Upload> {
        let mut context = Context::from_waker(&self.waker);
        let mut at = 0;
        while at < self.uploads.len() {
            match self.uploads[at].read(&mut context) {
                Ok(true) => return Some(self.uploads.remove(at)),
                Ok(false) => at += 1,
                Err(_) => drop(self.uploads.remove(at)),
            }
        }
        None
    }

    /// Drops a stream that the client has reset before its request was complete.
    pub(super) fn drop_upload(&mut self, stream: u32) {
        self.uploads.retain(|upload| upload.id != stream);
    }
}

impl Server {
    /// Accepts the head of a request.
    pub(super) fn take_request(
        &mut self,
        key: Key,
        multiplex: &mut Multiplex,
        accepted: Accepted,
    ) -> Result<(), Error> {
        let id = accepted.1.stream_id().as_u32();
        let last = multiplex.wire.borrow().last;
        if last.is_some_and(|last| id > last) {
            multiplex.beyond.push(accepted);
            return Ok(());
        }
        let (request, mut respond) = accepted;
        let (parts, body) = request.into_parts();
        let target = parts.uri.path_and_query().map_or("*", |target| target.as_str()).as_bytes().to_vec();
        let path = target.split(|&byte| byte == b'?').next().unwrap_or(&target);
        let most = if path == ECHO { WHOLE_MOST } else { self.raw_most() };
        let command = path.starts_with(PREFIX);
        if !command {
            multiplex.requests += 1;
            let http2 = &self.settings.service.http2;
            if http2.goaway_after > 0 && multiplex.requests >= http2.goaway_after {
                multiplex.wire.borrow_mut().go_away(id, http2.goaway_code);
            }
        }
        let waits = parts.headers.get("expect").is_some_and(|value| value == "100-continue");
        let on_expect = match waits && !body.is_end_stream() {
            true => self.on_expect(&target),
            false => OnExpect::Ignore,
        };
        let is_refused = on_expect == OnExpect::Refuse;
        self.recorder.counters.expectations_refused += u64::from(is_refused);
        if on_expect == OnExpect::Continue {
            self.recorder.counters.continues_sent += 1;
            let mut response = Response::new(());
            *response.status_mut() = StatusCode::CONTINUE;
            // It fails only when the stream is reset, which is seen elsewhere.
            let _ = respond.send_informational(response);
        }
        let raw = written_out(&parts, &target);
        let method = parts.method;
        let upload = Upload { id, method, target, raw, most, is_cut: false, is_refused, body, respond };
        multiplex.uploads.push(upload);
        let last = multiplex.uploads.len() - 1;
        if is_refused || multiplex.uploads[last].body.is_end_stream() {
            let upload = multiplex.uploads.remove(last);
            return self.begin_stream(key, multiplex, upload);
        }
        Ok(())
    }

    /// Handles a complete request.
    pub(super) fn begin_stream(
        &mut self,
        key: Key,
        multiplex: &mut Multiplex,
        upload: Upload,
    ) -> Result<(), Error> {
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        let read_ns = connection.read_ns;
        let arrive_ns = multiplex.wire.borrow().arrived_ns(upload.id).unwrap_or(read_ns);
        let command = upload.target.starts_with(PREFIX);
        if command {
            self.exempt(key);
        }
        let wanted = if command { None } else { Some(self.wanted(key, &upload)) };
        if let Some(connection) = self.slots.get(key) {
            connection.turn = connection.turn.wrapping_add(1);
        }
        let (exchange, refusal) = match wanted {
            None => (None, None),
            Some(wanted) => {
                multiplex.wire.borrow_mut().counts.streams += 1;
                let arrival = multiplex.wire.borrow_mut().take_arrival(upload.id);
                let mark = self.count_stream(key, &upload, arrive_ns, arrival);
                let ((behavior, page), refusal) = match wanted {
                    Ok(wanted) => (wanted, None),
                    Err(sentence) => ((self.settings.behavior.clone(), None), Some(sentence)),
                };
                let (status, fault) = match &refusal {
                    None => self.decide(key, &behavior, page.as_deref()),
                    Some(_) => (400, None),
                };
                let status = if upload.is_refused && refusal.is_none() { 417 } else { status };
                let exchange = Exchange {
                    mark,
                    behavior,
                    status,
                    fault,
                    page,
                    overflowed: false,
                    arrive_ns,
                    head_only: upload.method == Method::HEAD,
                    to_http10: false,
                    keep_alive: true,
                    asks_keep_alive: false,
                };
                (Some(exchange), refusal)
            }
        };
        let stream = self.multiplexed.insert(Stream {
            connection: key,
            id: upload.id,
            wire: multiplex.wire.clone(),
            exchange,
            stage: Stage::Waiting,
            respond: upload.respond,
            sender: None,
            body: Body::empty(),
            is_feed: false,
            feed: None,
            out: Vec::new(),
        });
        multiplex.streams.insert(upload.id, stream);
        if command {
            let (status, kind, lines, body) = self.run_command(&upload.target);
            return self.reply_stream(stream, status, kind, &lines, &body);
        }
        match refusal {
            None => self.admit(Ticket { key: stream, turn: 0 }, arrive_ns),
            Some(sentence) => {
                self.reply_stream(stream, 400, "text/plain", "", format!("{sentence}\n").as_bytes())
            }
        }
    }

    /// Returns the response to `Expect: 100-continue` of a request with this target.
    fn on_expect(&self, target: &[u8]) -> OnExpect {
        let query = target.iter().position(|&byte| byte == b'?').map(|at| &target[at + 1..]);
        let own = query.and_then(|query| self.settings.for_request(query).ok());
        own.as_ref().unwrap_or(&self.settings.behavior).on_expect
    }

    /// Returns the behavior for the request, or a sentence for a 400.
    fn wanted(&mut self, key: Key, upload: &Upload) -> Result<(Rc<Behavior>, Option<Box<Page>>), String> {
        let at = upload.target.iter().position(|&byte| byte == b'?');
        let (path, query) = match at {
            Some(at) => (&upload.target[..at], &upload.target[at + 1..]),
            None => (upload.target.as_slice(), [].as_slice()),
        };
        let behavior = match at {
            Some(_) => self.settings.for_request(query)?,
            None => self.settings.behavior.clone(),
        };
        super::answer::check(&behavior)?;
        if is_unchanged(&behavior, &upload.raw) {
            return Ok((behavior, Some(Box::new(Page::Body(PageBody::empty(304))))));
        }
        if let Some(message) = message_of(upload, &behavior) {
            let bytes = message.to_vec();
            // A compressed message stays as it is.
            let lines = if bytes.first() == Some(&1) { "grpc-encoding: gzip\r\n" } else { "" };
            let page = PageBody { status: 200, kind: GRPC, lines: lines.to_owned(), bytes };
            return Ok((behavior, Some(Box::new(Page::Body(page)))));
        }
        let Some(connection) = self.slots.get(key) else { return Ok((behavior, None)) };
        let origin = || origin(connection, connection.turn.wrapping_add(1));
        let counts = &mut self.recorder.counters.pages;
        let page = self.pages.find((path, query), &upload.raw, &behavior, origin, counts)?;
        Ok((behavior, page.map(Box::new)))
    }

    /// Counts, logs, and keeps the request.
    fn count_stream(&mut self, key: Key, upload: &Upload, arrive_ns: u64, arrival: Arrival) -> Mark {
        let path = upload.target.split(|&byte| byte == b'?').next().unwrap_or(&upload.target);
        let connection = self.slots.get(key);
        let number = connection.as_ref().map_or(0, |connection| connection.number);
        let mark = self.recorder.arrived(path, arrive_ns, number);
        let keep = self.settings.service.keep;
        if keep != Keep::None
            && let Some(connection) = connection
        {
            let origin = origin(connection, connection.turn);
            let (raw, is_cut) = (&upload.raw[..], upload.is_cut);
            self.recorder.kept.add(keep, Complete { raw, is_cut, arrive_ns, arrival, origin });
        }
        self.recorder.last_request_is_cut = upload.is_cut;
        self.recorder.last_request.clear();
        self.recorder.last_request.extend_from_slice(&upload.raw);
        mark
    }
}

/// The content type of gRPC calls and of their responses.
pub(super) const GRPC: &str = "application/grpc";

/// Returns the body of a gRPC call: its response is the same message, unless keys define another response.
fn message_of<'u>(upload: &'u Upload, behavior: &Behavior) -> Option<&'u [u8]> {
    let own = behavior.text.is_none() && behavior.content_type.is_none() && behavior.status == 200;
    let end = upload.raw.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = upload.raw.split_at(end + 4);
    let line = format!("\r\ncontent-type: {GRPC}");
    let is_call = head.windows(line.len()).any(|part| part == line.as_bytes());
    (own && is_call && !upload.is_cut).then_some(body)
}

/// The head in the form of HTTP/1, which is how the ruler keeps and shows requests: the version is `HTTP/2.0`, and
/// `:scheme` and `:authority` come first among the headers. Headers of the same name are next to each other.
fn written_out(parts: &Parts, target: &[u8]) -> Vec<u8> {
    let mut raw = Vec::with_capacity(256);
    raw.extend_from_slice(parts.method.as_str().as_bytes());
    raw.push(b' ');
    raw.extend_from_slice(target);
    raw.extend_from_slice(b" HTTP/2.0\r\n");
    let mut line = |name: &str, value: &[u8]| {
        raw.extend_from_slice(name.as_bytes());
        raw.extend_from_slice(b": ");
        raw.extend_from_slice(value);
        raw.extend_from_slice(b"\r\n");
    };
    if let Some(scheme) = parts.uri.scheme_str() {
        line(":scheme", scheme.as_bytes());
    }
    if let Some(authority) = parts.uri.authority() {
        line(":authority", authority.as_str().as_bytes());
    }
    for (name, value) in &parts.headers {
        line(name.as_str(), value.as_bytes());
    }
    raw.extend_from_slice(b"\r\n");
    raw
}
