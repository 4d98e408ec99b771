//! A request taken apart again for a person or a test to look at: by a second, plainer reading of the bytes that
//! were kept, so that what is shown is what was sent and not what the server made of it.

use crate::json::{bytes_member, header_text, quoted};
use std::net::SocketAddr;

/// Bytes of a body that are kept where complete bodies are shown.
pub(crate) const BODY_MOST: usize = 16 << 20;

/// Names and values in order, the values without surrounding spaces.
type Fields<'a> = Vec<(&'a [u8], &'a [u8])>;

/// The parts of a request's bytes.
pub(crate) struct Seen<'a> {
    /// Up to and including the empty line.
    pub(crate) head: &'a [u8],
    line: &'a [u8],
    pub(crate) headers: Fields<'a>,
    body: Vec<u8>,
    trailers: Fields<'a>,
}

/// The origin of a request.
pub(crate) struct Origin {
    pub(crate) connection: u32,
    /// From 1.
    pub(crate) turn: u32,
    /// None if the peer reset the connection before its address was read.
    pub(crate) peer: Option<SocketAddr>,
}

impl<'a> Seen<'a> {
    /// Splits a request that the parser found complete (or complete up to a cut).
    pub(crate) fn of(raw: &'a [u8]) -> Self {
        let end = raw.windows(4).position(|four| four == b"\r\n\r\n").map_or(raw.len(), |at| at + 4);
        let (head, rest) = raw.split_at(end);
        let (line, lines) = cut(head, b"\r\n");
        let headers = fields(lines);
        let chunked = header(&headers, b"transfer-encoding").is_some();
        let (body, trailers) = if chunked { unchunked(rest) } else { (rest.to_vec(), Vec::new()) };
        Seen { head, line, headers, body, trailers }
    }

    /// Returns the value of the first header with this name.
    pub(crate) fn header(&self, name: &[u8]) -> Option<&'a [u8]> {
        header(&self.headers, name)
    }

    /// Returns the members that `/echo` and `/_test-server/requests` have in common, without braces.
    pub(crate) fn members(&self, origin: &Origin) -> String {
        let mut words = self.line.split(|&byte| byte == b' ').map(header_text);
        let mut word = || quoted(&words.next().unwrap_or_default());
        let (method, target, version) = (word(), word(), word());
        let peer = origin.peer.map_or("null".to_owned(), |peer| format!("\"{peer}\""));
        format!(
            "\"method\":{method},\"target\":{target},\"http_version\":{version},\"headers\":{},\
             \"trailers\":{},{},\"body_bytes\":{},\"connection\":{},\"request_on_connection\":{},\"peer\":{peer}",
            pairs(&self.headers),
            pairs(&self.trailers),
            bytes_member("body", &self.body),
            self.body.len(),
            origin.connection,
            origin.turn,
        )
    }
}

fn header<'a>(headers: &[(&'a [u8], &'a [u8])], name: &[u8]) -> Option<&'a [u8]> {
    headers.iter().find(|pair| pair.0.eq_ignore_ascii_case(name)).map(|pair| pair.1)
}

fn pairs(fields: &[(&[u8], &[u8])]) -> String {
    let pairs: Vec<String> = (fields.iter())
        .map(|(name, value)| format!("[{},{}]", quoted(&header_text(name)), quoted(&header_text(value))))
        .collect();
    format!("[{}]", pairs.join(","))
}

/// Returns the lines of a head or of trailers up to the empty one.
fn fields(lines: &[u8]) -> Fields<'_> {
    let lines = lines.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines = lines.take_while(|line| !line.is_empty());
    lines
        // A first colon belongs to the name: so HTTP/2 writes what HTTP/1 has in its first line.
        .map(|line| match line.iter().skip(1).position(|&byte| byte == b':').map(|at| at + 1) {
            Some(at) => (&line[..at], line[at + 1..].trim_ascii()),
            None => (line, &line[line.len()..]),
        })
        .collect()
}

/// Returns the content of chunks, and the trailers, without the part that was not kept.
fn unchunked(mut rest: &[u8]) -> (Vec<u8>, Fields<'_>) {
    let mut body = Vec::new();
    loop {
        let (line, after) = cut(rest, b"\n");
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let text = std::str::from_utf8(&line[..digits]).unwrap_or_default();
        match usize::from_str_radix(text, 16) {
            Ok(0) => return (body, fields(after)),
            Ok(size) => {
                let (data, after) = after.split_at(size.min(after.len()));
                body.extend_from_slice(data);
                rest = cut(after, b"\n").1;
            }
            // The parser rejects invalid sizes, so the kept bytes end here.
            Err(_) => return (body, Vec::new()),
        }
    }
}

/// Returns the bytes before and after the first `mark`.
fn cut<'a>(bytes: &'a [u8], mark: &[u8]) -> (&'a [u8], &'a [u8]) {
    match bytes.windows(mark.len()).position(|window| window == mark) {
        Some(at) => (&bytes[..at], &bytes[at + mark.len()..]),
        None => (bytes, &[]),
    }
}
