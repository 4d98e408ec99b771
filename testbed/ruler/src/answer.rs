//! Composes a response, well-formed or faulty, as configured.

use crate::fault::Fault;
use crate::outgoing::{End, Outgoing, Tail, push_text};
use crate::settings::{Behavior, Framing};
use std::rc::Rc;

/// The parts of a response that the settings do not define.
pub(crate) struct Order<'a> {
    pub(crate) behavior: &'a Behavior,
    pub(crate) status: u16,
    pub(crate) fault: Option<Fault>,
    /// HEAD: the head of the response, no body.
    pub(crate) head_only: bool,
    /// The request is HTTP/1.0, which has neither chunks nor 1xx.
    pub(crate) to_http10: bool,
    /// The request and the server allow the connection to stay open.
    pub(crate) may_keep_alive: bool,
    /// The request contains `Connection: keep-alive`, which HTTP/1.0 requires.
    pub(crate) asks_keep_alive: bool,
    /// The body, if it is not the pattern.
    pub(crate) content: Option<Rc<[u8]>>,
    /// The Content-Type, unless a key sets another one.
    pub(crate) kind: &'a str,
    /// Header lines besides those of the keys.
    pub(crate) lines: &'a str,
}

/// A fault in the middle of a body needs a body of at least this size.
const LEAST_TO_CUT: u64 = 64;

/// Fills `out` with the response, and sets the state of the connection after it.
pub(crate) fn compose(order: &Order<'_>, out: &mut Outgoing) {
    out.clear();
    let behavior = order.behavior;
    match order.fault {
        Some(Fault::ResetBefore | Fault::AcceptThenReset | Fault::Refused) => out.end = End::Reset,
        Some(Fault::CloseBefore) => out.end = End::Close,
        Some(Fault::NoResponse) => out.end = End::Hold,
        _ => {
            whole(order, out);
            if order.fault == Some(Fault::Drip) {
                out.drip_every_ns = Some(behavior.drip_every_ns);
            }
        }
    }
}

/// Fills `out` with the head of an event stream, and sets the state of the connection after the last event.
/// Returns whether the stream is sent in chunks.
pub(crate) fn compose_stream_head(order: &Order<'_>, out: &mut Outgoing) -> bool {
    out.clear();
    let http10 = order.behavior.http10 || order.to_http10;
    let framing = if http10 { Framing::Close } else { Framing::Chunked };
    let plan = BodyPlan { framing: Some(framing), announced_bytes: 0, sent_bytes: 0 };
    let keep_alive = keeps_alive(order, &plan);
    head(order, &plan, keep_alive, http10, out.bytes());
    out.end = if keep_alive { End::KeepAlive } else { End::Close };
    !http10
}

fn keeps_alive(order: &Order<'_>, plan: &BodyPlan) -> bool {
    let http10 = order.behavior.http10 || order.to_http10;
    order.may_keep_alive
        && !order.behavior.close
        && plan.framing != Some(Framing::Close)
        && (!http10 || order.asks_keep_alive)
}

fn whole(order: &Order<'_>, out: &mut Outgoing) {
    let behavior = order.behavior;
    let plan = BodyPlan::new(order);
    let http10 = behavior.http10 || order.to_http10;
    let keep_alive = keeps_alive(order, &plan);
    out.made_of(order.content.clone());
    if !http10 {
        for turn in 0..behavior.informational {
            out.bytes().extend_from_slice(match turn % 2 {
                0 => b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n".as_slice(),
                _ => b"HTTP/1.1 100 Continue\r\n\r\n".as_slice(),
            });
        }
    }
    let head_start = out.bytes().len();
    head(order, &plan, keep_alive, http10, out.bytes());
    match order.fault {
        Some(Fault::EndlessHead) => {
            // Without the empty line at its end.
            let length = out.bytes().len();
            out.bytes().truncate(length - 2);
            out.follow_with(Tail::Headers);
            out.end = End::Hold;
            return;
        }
        Some(Fault::StallHead) => {
            let length = out.bytes().len();
            out.bytes().truncate(head_start + (length - head_start) / 2);
            out.end = End::Hold;
            return;
        }
        Some(Fault::HalfClose) => {
            out.end = End::HalfClose;
            return;
        }
        _ => {}
    }
    body(order, &plan, out);
    out.end = match order.fault {
        Some(Fault::ResetMidBody) => End::Reset,
        Some(Fault::CloseMidBody) => End::Close,
        Some(Fault::StallMidBody) => End::Hold,
        _ if keep_alive => End::KeepAlive,
        _ => End::Close,
    };
    match order.fault {
        Some(Fault::GarbageAfter) => out.append(b"these bytes belong to no response\r\n\r\n"),
        Some(Fault::TwoResponses) => out.append(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"),
        _ => {}
    }
}

/// The framing and size of a body according to its head, and the size that is sent.
pub(crate) struct BodyPlan {
    /// None: a status that has neither a body nor a length.
    pub(crate) framing: Option<Framing>,
    /// The size in the head.
    pub(crate) announced_bytes: u64,
    /// The size that is sent.
    pub(crate) sent_bytes: u64,
}

impl BodyPlan {
    /// A body that comes in pieces until it ends.
    pub(crate) fn open() -> Self {
        BodyPlan { framing: Some(Framing::Chunked), announced_bytes: 0, sent_bytes: 0 }
    }

    pub(crate) fn new(order: &Order<'_>) -> Self {
        let behavior = order.behavior;
        if matches!(order.status, 100..=199 | 204 | 304) {
            return BodyPlan { framing: None, announced_bytes: 0, sent_bytes: 0 };
        }
        let framing = match (behavior.framing, order.fault) {
            (_, Some(Fault::ConflictingLength)) => Framing::Length,
            (_, Some(Fault::BadChunk)) => Framing::Chunked,
            (Framing::Chunked, _) if order.to_http10 => Framing::Close,
            (framing, _) => framing,
        };
        let cut = matches!(
            order.fault,
            Some(
                Fault::ResetMidBody
                    | Fault::CloseMidBody
                    | Fault::StallMidBody
                    | Fault::HalfClose
                    | Fault::BadChunk
            )
        );
        let bytes = order.content.as_ref().map_or(behavior.body_bytes, |content| content.len() as u64);
        let announced_bytes = if cut { bytes.max(LEAST_TO_CUT) } else { bytes };
        let sent_bytes = match order.head_only {
            true => 0,
            // Short content ends early: the head announces more.
            false if cut && order.content.is_some() => (announced_bytes / 2).min(bytes),
            false if cut => announced_bytes / 2,
            false => announced_bytes,
        };
        BodyPlan { framing: Some(framing), announced_bytes, sent_bytes }
    }
}

fn head(order: &Order<'_>, plan: &BodyPlan, keep_alive: bool, http10: bool, to: &mut Vec<u8>) {
    let start = to.len();
    let behavior = order.behavior;
    if order.fault == Some(Fault::BadStatusLine) {
        to.extend_from_slice(b"HTPP/one.one ok 200\r\n");
    } else {
        let version = if behavior.http10 { "1.0" } else { "1.1" };
        let reason = behavior.reason.as_deref().unwrap_or_else(|| usual_reason(order.status));
        push_text(to, format_args!("HTTP/{version} {} {reason}\r\n", order.status));
    }
    to.extend_from_slice(b"Server: ruler\r\n");
    if order.fault == Some(Fault::BadHeader) {
        to.extend_from_slice(b"this line has no colon\r\n");
    }
    if plan.framing.is_some() {
        let kind = behavior.content_type.as_deref().unwrap_or(order.kind);
        push_text(to, format_args!("Content-Type: {kind}\r\n"));
        if let Some(encoding) = behavior.encoding {
            push_text(to, format_args!("Content-Encoding: {}\r\n", encoding.name()));
        }
    }
    match plan.framing {
        Some(Framing::Length) => {
            push_text(to, format_args!("Content-Length: {}\r\n", plan.announced_bytes));
            if order.fault == Some(Fault::ConflictingLength) {
                push_text(to, format_args!("Content-Length: {}\r\n", plan.announced_bytes + 10));
            }
        }
        Some(Framing::Chunked) => {
            to.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
            if behavior.trailers {
                to.extend_from_slice(b"Trailer: X-Ruler-Trailer\r\n");
            }
        }
        Some(Framing::Close) | None => {}
    }
    if let Some(location) = &behavior.location {
        push_text(to, format_args!("Location: {location}\r\n"));
    }
    if let Some(etag) = &behavior.etag {
        push_text(to, format_args!("ETag: \"{etag}\"\r\n"));
    }
    to.extend_from_slice(behavior.lines.as_bytes());
    to.extend_from_slice(order.lines.as_bytes());
    if !keep_alive {
        to.extend_from_slice(b"Connection: close\r\n");
    } else if http10 {
        to.extend_from_slice(b"Connection: keep-alive\r\n");
    }
    const PAD: &[u8] = b"X-Pad: \r\n";
    let least = to.len() - start + PAD.len() + 2;
    let wanted = usize::try_from(behavior.head_bytes).unwrap_or(0);
    if wanted >= least {
        to.extend_from_slice(&PAD[..PAD.len() - 2]);
        to.resize(to.len() + wanted - least, b'x');
        to.extend_from_slice(b"\r\n");
    }
    to.extend_from_slice(b"\r\n");
}

fn body(order: &Order<'_>, plan: &BodyPlan, out: &mut Outgoing) {
    let behavior = order.behavior;
    match plan.framing {
        Some(Framing::Chunked) if !order.head_only => {
            out.follow_with(Tail::Chunks {
                offset: 0,
                left: plan.sent_bytes,
                chunk: behavior.chunk_bytes,
                finish: plan.sent_bytes == plan.announced_bytes,
                trailers: behavior.trailers,
            });
            if order.fault == Some(Fault::BadChunk) {
                out.append(b"no size\r\n");
            }
        }
        Some(Framing::Length | Framing::Close) if plan.sent_bytes > 0 => {
            out.follow_with(Tail::Body { offset: 0, left: plan.sent_bytes });
        }
        _ => {}
    }
}

fn usual_reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Configured",
    }
}
