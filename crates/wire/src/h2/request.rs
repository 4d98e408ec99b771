//! Requests as header blocks: prepared ones, whose fields are numbered, and those of programs.

use super::Ask;
use super::writer::{Writer, is_omitted};
use crate::h1::{self, Body, Field, RequestHead};
use crate::hpack::{Encoder, FieldId, Fields, literal};
use std::convert::Infallible;

/// The head of a request, as [`super::Session::open`] takes it.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// A prepared request, with the list that it was prepared with. A connection must always be given the same list.
    Prepared(&'a Prepared, &'a Fields),
    /// A block that fits any connection, from a [`Writer`] or [`from_http1`].
    Block(&'a [u8]),
}

/// A fixed request of a plan: a row of numbered fields, and of bytes that fit any connection. On a connection that has
/// sent it once, it takes about a byte for each field.
#[derive(Debug)]
pub struct Prepared {
    parts: Box<[Part]>,
    raw: Box<[u8]>,
    ask: Ask,
}

#[derive(Debug)]
enum Part {
    Field(FieldId),
    /// The next bytes of [`Prepared::raw`].
    Raw(u32),
}

impl Prepared {
    /// Prepares a request with the fields that it has in HTTP/1, as far as HTTP/2 has them, and adds those to `fields`
    /// that fit. `scheme` is `http` or `https`; `protocol` belongs to an extended CONNECT (RFC 8441). The body is sent
    /// with [`super::Session::write`].
    pub fn new(
        request: &h1::Request<'_>,
        scheme: &str,
        protocol: Option<&str>,
        fields: &mut Fields,
    ) -> Prepared {
        let own: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
        let all = h1::fields(&RequestHead {
            method: request.method,
            own: &own,
            body: request.body.map_or(Body::None, |body| Body::Of(body.len())),
            host: request.host,
            user_agent: request.user_agent,
            accept: "*/*",
            http10: false,
            close: false,
        });
        let mut row = Row { parts: Vec::new(), raw: Vec::new(), fields };
        row.add(b":method", request.method.as_bytes());
        row.add(b":scheme", scheme.as_bytes());
        if let Some(protocol) = protocol {
            row.add(b":protocol", protocol.as_bytes());
        }
        let length = request.body.map_or(0, <[u8]>::len).to_string();
        for field in all {
            let (name, value) = match &field {
                Field::Own(at) => (request.headers[*at].0.as_str(), request.headers[*at].1.as_str()),
                Field::Ours(name, value) => (*name, &**value),
                Field::Length => ("content-length", length.as_str()),
            };
            if name.eq_ignore_ascii_case("host") {
                row.add(b":authority", value.as_bytes());
                row.add(b":path", request.target.as_bytes());
            } else if !is_omitted(name, value.as_bytes()) {
                row.add(name.to_ascii_lowercase().as_bytes(), value.as_bytes());
            }
        }
        let has_body = request.body.is_some_and(|body| !body.is_empty());
        let ask = Ask { head_only: request.method == "HEAD", has_body, ..Ask::default() };
        Prepared { parts: row.parts.into(), raw: row.raw.into(), ask }
    }

    /// Returns the properties of the request; the caller sets those of the stream.
    pub fn ask(&self) -> Ask {
        self.ask
    }

    /// Appends the header block for a connection.
    #[inline]
    pub(super) fn put(&self, encoder: &mut Encoder, fields: &Fields, out: &mut Vec<u8>) {
        encoder.begin(out);
        let mut raw = &self.raw[..];
        for part in &self.parts {
            match part {
                Part::Field(field) => encoder.put(*field, fields, out),
                Part::Raw(len) => {
                    let (bytes, rest) = raw.split_at(*len as usize);
                    out.extend_from_slice(bytes);
                    raw = rest;
                }
            }
        }
    }
}

struct Row<'f> {
    parts: Vec<Part>,
    raw: Vec<u8>,
    fields: &'f mut Fields,
}

impl Row<'_> {
    fn add(&mut self, name: &[u8], value: &[u8]) {
        if let Some(field) = self.fields.add(name, value) {
            return self.parts.push(Part::Field(field));
        }
        let before = self.raw.len();
        literal(&mut self.raw, name, value);
        let len = (self.raw.len() - before) as u32;
        match self.parts.last_mut() {
            Some(Part::Raw(bytes)) => *bytes += len,
            _ => self.parts.push(Part::Raw(len)),
        }
    }
}

/// Appends the header block of a request that was rendered for HTTP/1, and returns its body, a part of `request`.
/// `None` if the bytes are not a request as [`h1::Writer`] makes it; `out` may have a part of the block then.
pub fn from_http1<'r>(request: &'r [u8], scheme: &'static str, out: &mut Vec<u8>) -> Option<&'r [u8]> {
    converted(request, scheme, None, out)
}

/// Appends the header block of an extended CONNECT (RFC 8441) that means the same as an upgrade to `protocol` that was
/// rendered for HTTP/1, without the key of a WebSocket. Otherwise, it is [`from_http1`].
pub fn connect_from_http1<'r>(
    request: &'r [u8],
    scheme: &'static str,
    protocol: &str,
    out: &mut Vec<u8>,
) -> Option<&'r [u8]> {
    converted(request, scheme, Some(protocol), out)
}

fn converted<'r>(
    request: &'r [u8],
    scheme: &'static str,
    protocol: Option<&str>,
    out: &mut Vec<u8>,
) -> Option<&'r [u8]> {
    let (line, mut rest) = next_line(request)?;
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let (method, target) = (str::from_utf8(words.next()?).ok()?, words.next()?);
    let mut writer = Writer::new(out, scheme, "");
    let method = if protocol.is_some() { "CONNECT" } else { method };
    let Ok(_) = writer.line(method, |out| {
        out.extend_from_slice(target);
        Ok::<(), Infallible>(())
    });
    if let Some(protocol) = protocol {
        writer.protocol(protocol);
    }
    loop {
        let (line, after) = next_line(rest)?;
        rest = after;
        if line.is_empty() {
            writer.end();
            return Some(rest);
        }
        let colon = line.iter().position(|&byte| byte == b':')?;
        let name = str::from_utf8(&line[..colon]).ok()?;
        if protocol.is_some() && name.eq_ignore_ascii_case("sec-websocket-key") {
            continue;
        }
        writer.field(name, line[colon + 1..].trim_ascii());
    }
}

/// Returns the first line without its CRLF, and the bytes after it.
fn next_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(2).position(|end| end == b"\r\n")?;
    Some((&bytes[..end], &bytes[end + 2..]))
}
