//! Heads and bodies of responses, passed to the library in pieces as the windows allow.

use super::streams::{After, Body, Stream};
use crate::answer::{BodyPlan, Order};
use crate::fault::Fault;
use crate::outgoing::pattern_at;
use crate::settings::{Behavior, Framing};
use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use std::task::{Context, Poll};

/// Maximum window that one stream reserves at a time.
const RESERVE_MOST: u64 = 256 << 10;

impl Stream {
    pub(super) fn is_head(&self) -> bool {
        self.exchange.as_ref().is_some_and(|exchange| exchange.head_only)
    }

    /// Sends the head. Errors mean that the client has reset the stream: that is seen on the wire.
    pub(super) fn respond_with(
        &mut self,
        response: Response<()>,
        informational: u64,
        body: Body,
        may_end: bool,
    ) {
        for turn in 0..informational {
            let mut hint = Response::new(());
            *hint.status_mut() = if turn % 2 == 0 { StatusCode::EARLY_HINTS } else { StatusCode::CONTINUE };
            if turn % 2 == 0 {
                let link = HeaderValue::from_static("</style.css>; rel=preload");
                hint.headers_mut().insert("link", link);
            }
            let _ = self.respond.send_informational(hint);
        }
        let ends = may_end && body.left == 0 && body.after == After::End;
        self.sender = self.respond.send_response(response, ends).ok();
        self.body = body;
        if may_end && self.body.left == 0 {
            self.send_trailers();
        }
    }

    /// Passes the next `bytes` of the body to the library, and the end if these are the last.
    pub(super) fn send_piece(&mut self, bytes: u64) {
        let Body { content, offset, left, after, .. } = &mut self.body;
        let mut to_send = bytes.min(*left);
        while to_send > 0 {
            let piece = match content {
                Some(content) => {
                    // proof: what is left of a content lies within it.
                    let from = *offset as usize;
                    content.slice(from..from + to_send as usize)
                }
                None => Bytes::from_static(pattern_at(*offset, to_send)),
            };
            let length = piece.len() as u64;
            (*offset, *left, to_send) = (*offset + length, *left - length, to_send - length);
            let ends = *left == 0 && *after == After::End;
            if let Some(sender) = &mut self.sender {
                let _ = sender.send_data(piece, ends);
            }
        }
        if self.body.left == 0 {
            self.send_trailers();
        }
    }

    fn send_trailers(&mut self) {
        let (name, value) = match self.body.after {
            After::Trailers => ("x-ruler-trailer", "the end"),
            After::GrpcStatus => ("grpc-status", "0"),
            After::End | After::Reset(_) | After::Close | After::Nothing => return,
        };
        let mut trailers = HeaderMap::new();
        trailers.insert(name, HeaderValue::from_static(value));
        if let Some(sender) = &mut self.sender {
            let _ = sender.send_trailers(trailers);
        }
    }

    /// Returns how much of the wanted bytes may be sent now; None without a window.
    pub(super) fn room(&mut self, wanted: u64, context: &mut Context<'_>) -> Option<u64> {
        let sender = self.sender.as_mut()?;
        if sender.capacity() == 0 {
            sender.reserve_capacity(wanted.min(RESERVE_MOST) as usize);
            match sender.poll_capacity(context) {
                Poll::Ready(Some(Ok(room))) if room > 0 => {}
                _ => return None,
            }
        }
        Some(wanted.min(sender.capacity() as u64))
    }

    /// Returns true if the library has the complete body.
    pub(super) fn write_body(&mut self, context: &mut Context<'_>) -> bool {
        while self.body.left > 0 {
            let Some(room) = self.room(self.body.left, context) else { return false };
            self.send_piece(room.min(self.body.chunk));
        }
        true
    }
}

pub(super) fn after(fault: Option<Fault>, behavior: &Behavior, is_call: bool) -> After {
    match fault {
        Some(Fault::ResetMidBody) => After::Reset(behavior.reset_code),
        Some(Fault::CloseMidBody) => After::Close,
        Some(Fault::StallMidBody) => After::Nothing,
        _ if is_call => After::GrpcStatus,
        _ if behavior.trailers => After::Trailers,
        _ => After::End,
    }
}

pub(super) fn head(order: &Order<'_>, plan: &BodyPlan) -> Result<Response<()>, String> {
    let behavior = order.behavior;
    let mut response = Response::new(());
    *response.status_mut() =
        StatusCode::from_u16(order.status).map_err(|_| format!("invalid status `{}`", order.status))?;
    let headers = response.headers_mut();
    headers.insert("server", HeaderValue::from_static("ruler"));
    if plan.framing.is_some() {
        put(headers, "content-type", behavior.content_type.as_deref().unwrap_or(order.kind))?;
        if let Some(encoding) = behavior.encoding {
            put(headers, "content-encoding", encoding.name())?;
        }
    }
    if plan.framing == Some(Framing::Length) {
        // A length that the body does not have makes a response malformed (RFC 9113, 8.1.1).
        let wrong = if order.fault == Some(Fault::ConflictingLength) { 10 } else { 0 };
        headers.insert("content-length", HeaderValue::from(plan.announced_bytes + wrong));
    }
    if let Some(location) = &behavior.location {
        put(headers, "location", location)?;
    }
    if let Some(etag) = &behavior.etag {
        put(headers, "etag", &format!("\"{etag}\""))?;
    }
    put_lines(headers, &behavior.lines)?;
    put_lines(headers, order.lines)?;
    if behavior.head_bytes > 0 {
        put(headers, "x-pad", &"x".repeat(behavior.head_bytes as usize))?;
    }
    Ok(response)
}

/// Adds lines, each `Name: value` with its line end.
pub(super) fn put_lines(headers: &mut HeaderMap, lines: &str) -> Result<(), String> {
    lines.lines().try_for_each(|line| {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        put(headers, name, value.trim())
    })
}

pub(super) fn put(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    let name =
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("invalid header name `{name}`"))?;
    let value = HeaderValue::from_str(value)
        .or_else(|_| HeaderValue::from_bytes(value.as_bytes()))
        .map_err(|_| format!("invalid value of the header `{name}`"))?;
    headers.append(name, value);
    Ok(())
}
