//! Requests are rendered once, before the load; the hot path only sends the bytes.

use super::Ask;

/// One request in the words of its author. The parts must have passed [`super::check_method`],
/// [`super::check_target`] and [`super::check_header`]: rendering copies them as they are.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// In the case it is sent in: methods are case-sensitive.
    pub method: &'a str,
    /// Path and query, or `*`, or an absolute URL when a proxy is asked.
    pub target: &'a str,
    /// Host with port, unless the port is the usual one; IPv6 in brackets.
    pub host: &'a str,
    /// Name and value. Host, User-Agent, Accept, Content-Length and Connection replace ours.
    pub headers: &'a [(String, String)],
    /// Sent after the head as it is.
    pub body: Option<&'a [u8]>,
    /// Say HTTP/1.0, and `Connection: keep-alive` unless `close`.
    pub http10: bool,
    /// Say `Connection: close`.
    pub close: bool,
    /// Name and version of the sender.
    pub user_agent: &'a str,
}

impl Request<'_> {
    /// What a session has to know about this request, the author's own Connection header included.
    pub fn ask(&self) -> Ask {
        let says_close =
            |value: &str| value.split(',').any(|option| option.trim().eq_ignore_ascii_case("close"));
        let own = self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
        let mut own = own.map(|(_, value)| says_close(value)).peekable();
        let close = if own.peek().is_some() { own.any(|close| close) } else { self.close };
        Ask { head_only: self.method == "HEAD", http10: self.http10, close }
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
    }

    /// A body, or a method that a server expects one from: then its length is said, even if it is 0 (RFC 9110
    /// section 8.6). Not beside the author's own Transfer-Encoding: his body is in chunks already.
    fn content_length(&self) -> Option<usize> {
        let expects = matches!(self.method, "POST" | "PUT" | "PATCH");
        let silent = self.has("content-length") || self.has("transfer-encoding");
        if silent { None } else { self.body.map(<[u8]>::len).or(expects.then_some(0)) }
    }
}

/// Appends the request to `out`: request line, Host, the author's headers, then those of ours that he did not
/// give, then the body.
pub fn render(request: &Request<'_>, out: &mut Vec<u8>) {
    let version = if request.http10 { "HTTP/1.0" } else { "HTTP/1.1" };
    for part in [request.method, " ", request.target, " ", version, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
    // Host stands first (RFC 9112 section 3.2), the author's own too.
    let host = request.headers.iter().position(|(name, _)| name.eq_ignore_ascii_case("host"));
    match host {
        Some(at) => line(&request.headers[at].0, &request.headers[at].1, out),
        None => line("Host", request.host, out),
    }
    for (at, (name, value)) in request.headers.iter().enumerate() {
        if Some(at) != host {
            line(name, value, out);
        }
    }
    if !request.has("user-agent") {
        line("User-Agent", request.user_agent, out);
    }
    if !request.has("accept") {
        line("Accept", "*/*", out);
    }
    if let Some(bytes) = request.content_length() {
        line("Content-Length", &bytes.to_string(), out);
    }
    if !request.has("connection") {
        if request.close {
            line("Connection", "close", out);
        } else if request.http10 {
            line("Connection", "keep-alive", out);
        }
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(request.body.unwrap_or_default());
}

fn line(name: &str, value: &str, out: &mut Vec<u8>) {
    for part in [name, ": ", value, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
}
