//! Decides which fields a request has and in which order: the user's, and the default ones that the user did not set.
//! It serves requests rendered once, before the load, and those filled for every user.

use super::{Ask, Writer};
use std::borrow::Cow;
use std::convert::Infallible;

/// One request as the user wrote it. The parts must have passed [`super::check_method`], [`super::check_target`], and
/// [`super::check_header`]: rendering copies them unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// In the case in which it is sent: methods are case-sensitive.
    pub method: &'a str,
    /// Path and query, or `*`, or an absolute URL for a proxy.
    pub target: &'a str,
    /// Host with port, unless it is the default port; IPv6 in brackets.
    pub host: &'a str,
    /// Name and value. Host, User-Agent, Accept, Content-Length, and Connection replace the default ones.
    pub headers: &'a [(String, String)],
    /// Sent unchanged after the head.
    pub body: Option<&'a [u8]>,
    /// Uses HTTP/1.0, and `Connection: keep-alive` unless `close`.
    pub http10: bool,
    /// Sends `Connection: close`.
    pub close: bool,
    /// Name and version of the sender.
    pub user_agent: &'a str,
}

impl Request<'_> {
    /// Returns the properties that a session needs, taking the user's own Connection header into account.
    pub fn ask(&self) -> Ask {
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let close = own_close(own).unwrap_or(self.close);
        Ask { head_only: self.method == "HEAD", http10: self.http10, close }
    }
}

/// Returns whether the user's `Connection` fields contain `close`; `None` if there are none.
pub fn own_close<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<bool> {
    let says_close = |value: &str| value.split(',').any(|option| option.trim().eq_ignore_ascii_case("close"));
    let own = fields.into_iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
    own.fold(None, |found, (_, value)| Some(found.unwrap_or(false) || says_close(value)))
}

/// The part of a body that is known before its bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    None,
    /// A body of this many bytes.
    Of(usize),
    /// Filled for each request, and measured then.
    Filled,
}

/// The input that determines the fields of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    pub method: &'a str,
    /// Names of the user's own fields, in order.
    pub own: &'a [&'a str],
    pub body: Body,
    /// Value of `Host` unless the user sets one.
    pub host: &'a str,
    pub user_agent: &'a str,
    /// Value of `Accept` unless the user sets one; empty: no such field.
    pub accept: &'a str,
    pub http10: bool,
    pub close: bool,
}

/// One field of a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// The user's own, by its index.
    Own(usize),
    Ours(&'static str, Cow<'a, str>),
    /// `Content-Length` of a body that is filled.
    Length,
}

/// Returns the fields in the order in which they are sent: Host first (RFC 9112 section 3.2), even if it is the user's
/// own, then the user's other fields, then the default ones that the user did not set.
pub fn fields<'a>(of: &RequestHead<'a>) -> Vec<Field<'a>> {
    let at = |wanted: &str| of.own.iter().position(|name| name.eq_ignore_ascii_case(wanted));
    let host = at("host");
    let mut all = vec![host.map_or(Field::Ours("Host", of.host.into()), Field::Own)];
    all.extend((0..of.own.len()).filter(|own| Some(*own) != host).map(Field::Own));
    if at("user-agent").is_none() {
        all.push(Field::Ours("User-Agent", of.user_agent.into()));
    }
    if at("accept").is_none() && !of.accept.is_empty() {
        all.push(Field::Ours("Accept", of.accept.into()));
    }
    // Omitted if the user sets Transfer-Encoding, because the body is in chunks already. Without a body, it is sent if
    // servers expect one (RFC 9110 section 8.6).
    if at("content-length").is_none() && at("transfer-encoding").is_none() {
        let bytes = match of.body {
            Body::None if matches!(of.method, "POST" | "PUT" | "PATCH") => Some(0),
            Body::None | Body::Filled => None,
            Body::Of(bytes) => Some(bytes),
        };
        all.extend(bytes.map(|bytes| Field::Ours("Content-Length", bytes.to_string().into())));
        all.extend((of.body == Body::Filled).then_some(Field::Length));
    }
    if at("connection").is_none() {
        if of.close {
            all.push(Field::Ours("Connection", "close".into()));
        } else if of.http10 {
            all.push(Field::Ours("Connection", "keep-alive".into()));
        }
    }
    all
}

/// Appends the request to `out`: request line, fields, body.
pub fn render(request: &Request<'_>, out: &mut Vec<u8>) {
    render_accepting(request, "*/*", out);
}

/// The same with another value of `Accept`; without the field if it is empty.
pub fn render_accepting(request: &Request<'_>, accept: &str, out: &mut Vec<u8>) {
    let own: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    let head = RequestHead {
        method: request.method,
        own: &own,
        body: request.body.map_or(Body::None, |body| Body::Of(body.len())),
        host: request.host,
        user_agent: request.user_agent,
        accept,
        http10: request.http10,
        close: request.close,
    };
    let mut writer = Writer::new(out);
    let Ok(_) = writer.line(request.method, request.http10, |out| {
        out.extend_from_slice(request.target.as_bytes());
        Ok::<(), Infallible>(())
    });
    let body = request.body.unwrap_or_default();
    for field in fields(&head) {
        match field {
            Field::Own(at) => writer.field(&request.headers[at].0, request.headers[at].1.as_bytes()),
            Field::Ours(name, value) => writer.field(name, value.as_bytes()),
            Field::Length => writer.field("Content-Length", body.len().to_string().as_bytes()),
        }
    }
    writer.end();
    writer.body(body);
}

/// Returns where the body of a rendered request begins.
pub fn body_at(request: &[u8]) -> usize {
    request.windows(4).position(|end| end == b"\r\n\r\n").map_or(request.len(), |at| at + 4)
}

/// Returns whether a rendered head has exactly this line.
pub fn has_line(head: &[u8], line: &str) -> bool {
    head.split(|&byte| byte == b'\n').any(|one| one.strip_suffix(b"\r") == Some(line.as_bytes()))
}

/// Appends a body in chunks of `chunk_bytes`, and its end (RFC 9112 section 7.1).
pub fn put_chunks(body: &[u8], chunk_bytes: usize, out: &mut Vec<u8>) {
    for chunk in body.chunks(chunk_bytes.max(1)) {
        out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
}
