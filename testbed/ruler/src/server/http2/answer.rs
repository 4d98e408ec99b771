//! Responses over HTTP/2, correct or with a configured fault.

use super::Multiplex;
use super::begin::GRPC;
use super::body::{after, head, put, put_lines};
use super::streams::{After, Body};
use super::wire::Ending;
use crate::answer::BodyPlan;
use crate::error::Error;
use crate::fault::Fault;
use crate::server::Server;
use crate::server::exchange::{conclude, note_answer};
use crate::server::slots::{Closed, Stage};
use crate::settings::{Behavior, Framing};
use crate::timers::{Key, Task, Ticket};
use bytes::Bytes;
use h2::Reason;
use http::header::HeaderValue;
use http::{Response, StatusCode};
use std::task::Context;

/// Bodies up to this size are passed to the library in one piece; it waits for the windows.
const INLINE_MOST: u64 = 16 << 10;
/// Headers that HTTP/2 forbids (RFC 9113, 8.2.2).
const FORBIDDEN: [&str; 6] =
    ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te"];

/// Checks that HTTP/2 can express the configured response.
pub(super) fn check(behavior: &Behavior) -> Result<(), String> {
    if let Some(fault) = behavior.fault
        && !fault.fits_http2()
    {
        return Err(format!("`fault={}` needs HTTP/1", fault.name()));
    }
    if behavior.reason.is_some() || behavior.http10 {
        return Err("`reason` and `http=1.0` need HTTP/1".into());
    }
    if behavior.status.min(behavior.error_status) < 200 {
        return Err(format!(
            "`status={}` needs HTTP/1; see `informational`",
            behavior.status.min(behavior.error_status)
        ));
    }
    for line in behavior.lines.lines() {
        let name = line.split(':').next().unwrap_or_default();
        if FORBIDDEN.iter().any(|forbidden| name.eq_ignore_ascii_case(forbidden)) {
            return Err(format!("HTTP/2 does not allow the header `{name}`"));
        }
    }
    Ok(())
}

impl Server {
    /// Starts the response, which was due at `due_ns`.
    pub(in crate::server) fn answer_stream(&mut self, ticket: Ticket, due_ns: u64) -> Result<(), Error> {
        let key = ticket.key;
        let content = match self.content(ticket)? {
            Ok(content) => content,
            Err(sentence) => {
                return self.reply_stream(key, 500, "text/plain", "", format!("{sentence}\n").as_bytes());
            }
        };
        let Some(stream) = self.multiplexed.get(key) else { return Ok(()) };
        let (connection, Stage::Waiting) = (stream.connection, stream.stage) else { return Ok(()) };
        let wire = stream.wire.clone();
        let Some(exchange) = &stream.exchange else { return Ok(()) };
        note_answer(&mut self.recorder, exchange, due_ns, false);
        let behavior = exchange.behavior.clone();
        let (fault, feed) = (exchange.fault, exchange.opens_feed());
        stream.stage = Stage::Writing;
        match fault {
            Some(Fault::ResetBefore) => self.reset_stream(key, behavior.reset_code),
            Some(Fault::Refused) => self.reset_stream(key, Reason::REFUSED_STREAM.into()),
            Some(Fault::CloseBefore) => wire.borrow_mut().ending = Some(Ending::Now),
            Some(Fault::NoResponse) => {}
            _ => {
                let order = exchange.order(content);
                let plan = if feed { BodyPlan::open() } else { BodyPlan::new(&order) };
                match head(&order, &plan) {
                    Err(sentence) => {
                        let text = format!("{sentence}\n");
                        return self.reply_stream(key, 500, "text/plain", "", text.as_bytes());
                    }
                    Ok(response) => {
                        let content = order.content.as_deref().map(Bytes::copy_from_slice);
                        let body = Body {
                            content,
                            offset: 0,
                            left: plan.sent_bytes,
                            chunk: match plan.framing {
                                Some(Framing::Chunked) => behavior.chunk_bytes,
                                _ => u64::MAX,
                            },
                            after: after(fault, &behavior, order.kind == GRPC),
                        };
                        stream.respond_with(response, behavior.informational, body, !feed);
                    }
                }
                if feed {
                    return self.open_stream_feed(key);
                }
                if fault == Some(Fault::Drip) {
                    self.timers.push(crate::clock::now_ns(), Task::WriteOn(ticket));
                } else {
                    self.start_body(key);
                }
                if behavior.close {
                    let mut wire = wire.borrow_mut();
                    let last = wire.highest;
                    wire.go_away(last, 0);
                }
            }
        }
        self.list(connection, &wire);
        Ok(())
    }

    /// Sends a plain response that ignores all keys. `lines` are further header lines.
    pub(super) fn reply_stream(
        &mut self,
        key: Key,
        status: u16,
        kind: &str,
        lines: &str,
        body: &[u8],
    ) -> Result<(), Error> {
        let Some(stream) = self.multiplexed.get(key) else { return Ok(()) };
        if let Some(exchange) = &mut stream.exchange {
            // This is a complete response instead of the configured one.
            (exchange.status, exchange.fault) = (status, None);
            if let Some(entry) = self.recorder.entry(exchange.mark) {
                entry.status = u32::from(status);
                entry.begin_service_ns = exchange.arrive_ns;
            }
        }
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert("server", HeaderValue::from_static("ruler"));
        headers.insert("content-length", HeaderValue::from(body.len()));
        // Kinds and lines are the ruler's own, and valid.
        let _ = put(headers, "content-type", kind).and_then(|()| put_lines(headers, lines));
        let left = if stream.is_head() { 0 } else { body.len() as u64 };
        let content = Some(Bytes::copy_from_slice(body));
        stream.stage = Stage::Writing;
        let body = Body { content, left, ..Body::empty() };
        stream.respond_with(response, 0, body, true);
        let (connection, wire) = (stream.connection, stream.wire.clone());
        self.start_body(key);
        self.list(connection, &wire);
        Ok(())
    }

    /// Sends the body after its head: immediately if it is small, otherwise as the windows allow.
    fn start_body(&mut self, key: Key) {
        let Some(stream) = self.multiplexed.get(key) else { return };
        let left = stream.body.left;
        if !matches!(stream.body.after, After::End | After::Trailers | After::GrpcStatus) {
            stream.wire.borrow_mut().watch(stream.id, left);
        }
        if left > INLINE_MOST.min(stream.body.chunk) {
            stream.wire.borrow_mut().has_more_of(key);
        } else if left > 0 {
            stream.send_piece(left);
        }
    }

    /// Sends the next byte of a dripping response.
    pub(in crate::server) fn drip_stream(&mut self, ticket: Ticket) {
        let Some(stream) = self.multiplexed.get(ticket.key) else { return };
        if stream.stage != Stage::Writing || stream.body.left == 0 {
            return;
        }
        stream.send_piece(1);
        let (left, connection, wire) = (stream.body.left, stream.connection, stream.wire.clone());
        let every_ns = stream.exchange.as_ref().map_or(0, |exchange| exchange.behavior.drip_every_ns);
        if left > 0 {
            self.timers.push(crate::clock::now_ns() + every_ns, Task::WriteOn(ticket));
        }
        self.list(connection, &wire);
    }

    /// Continues bodies and event streams that waited for a window.
    pub(super) fn write_bodies(&mut self, multiplex: &mut Multiplex) {
        let writers = std::mem::take(&mut multiplex.wire.borrow_mut().writers);
        let mut context = Context::from_waker(&multiplex.waker);
        for key in writers {
            let Some(stream) = self.multiplexed.get(key) else { continue };
            let done = match stream.is_feed {
                true => stream.write_events(&mut context),
                false => stream.write_body(&mut context),
            };
            if !done {
                multiplex.wire.borrow_mut().writers.push(key);
            }
        }
    }

    /// Ends a stream by RST_STREAM. Its request is counted already.
    pub(super) fn reset_stream(&mut self, key: Key, code: u32) {
        let Some(stream) = self.multiplexed.get(key) else { return };
        stream.respond.send_reset(Reason::from(code));
        let (connection, wire, id) = (stream.connection, stream.wire.clone(), stream.id);
        self.feed_of_stream_closed(key, Closed::Server);
        self.multiplexed.remove(key);
        wire.borrow_mut().gone.push(id);
        self.list(connection, &wire);
    }

    /// Handles resets by the client, streams that the ruler has reset, and half bodies that are written.
    pub(super) fn apply_resets(&mut self, multiplex: &mut Multiplex) {
        let (reset, reached, gone) = {
            let mut wire = multiplex.wire.borrow_mut();
            let wire = &mut *wire;
            (
                std::mem::take(&mut wire.reset),
                std::mem::take(&mut wire.reached),
                std::mem::take(&mut wire.gone),
            )
        };
        for id in reset {
            multiplex.drop_upload(id);
            if let Some(key) = multiplex.streams.remove(&id) {
                self.abandon_stream(key, Closed::Peer);
            }
        }
        for id in reached {
            let Some(&key) = multiplex.streams.get(&id) else { continue };
            let Some(stream) = self.multiplexed.get(key) else { continue };
            match stream.body.after {
                After::Reset(code) => self.reset_stream(key, code),
                After::Close => multiplex.wire.borrow_mut().ending = Some(Ending::Now),
                After::End | After::Trailers | After::GrpcStatus | After::Nothing => {}
            }
        }
        for id in gone {
            multiplex.streams.remove(&id);
        }
    }

    /// Concludes a stream: the kernel took the last byte of its response.
    pub(super) fn conclude_stream(&mut self, key: Key, multiplex: &mut Multiplex, id: u32, now: u64) {
        let Some(stream) = multiplex.streams.remove(&id).and_then(|key| self.multiplexed.remove(key)) else {
            return;
        };
        if let Some(exchange) = stream.exchange {
            match exchange.fault {
                Some(Fault::GarbageAfter) => {
                    multiplex.wire.borrow_mut().append_garbage(b"these bytes belong to no response\r\n\r\n");
                }
                Some(Fault::TwoResponses) => {
                    multiplex.wire.borrow_mut().inject(&super::frames::second_response(id));
                }
                _ => {}
            }
            conclude(&mut self.recorder, &exchange, now);
        }
        if multiplex.is_idle() {
            self.watch_idleness(key, now);
        }
    }

    /// Abandons a stream that the client has left, or whose connection has ended.
    fn abandon_stream(&mut self, key: Key, who: Closed) {
        self.feed_of_stream_closed(key, who);
        let Some(mut stream) = self.multiplexed.remove(key) else { return };
        let begun = stream.stage == Stage::Writing;
        if let Some(exchange) = stream.exchange.take() {
            self.abandoned(&exchange, begun);
        }
    }

    pub(super) fn abandon_streams(&mut self, multiplex: &mut Multiplex, who: Closed) {
        for key in std::mem::take(&mut multiplex.streams).into_values() {
            self.abandon_stream(key, who);
        }
    }
}
