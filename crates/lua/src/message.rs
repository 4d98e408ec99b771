//! The requests in a string: several may be concatenated for pipelining.

use plimsoll_plan::Request;
use plimsoll_plan::origin::FIRST;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Head and body, as sent.
    pub bytes: Vec<u8>,
    pub head_only: bool,
    /// Whether it has the header `Connection: close`.
    pub close: bool,
}

impl Message {
    /// Returns the request in parts, for a plan.
    pub fn request(&self) -> Request {
        let head_end = memchr::memmem::find(&self.bytes, b"\r\n\r\n").map_or(self.bytes.len(), |at| at + 4);
        let (head, body) = self.bytes.split_at(head_end);
        let head = String::from_utf8_lossy(head);
        let mut lines = head.lines().filter(|line| !line.is_empty());
        let mut first = lines.next().unwrap_or_default().split(' ');
        let method = first.next().unwrap_or_default().to_owned();
        let path = first.next().unwrap_or_default().to_owned();
        let header = |line: &str| line.split_once(':').map(|(n, v)| (n.to_owned(), v.trim().to_owned()));
        Request {
            name: format!("{method} {path}"),
            origin: FIRST,
            method,
            path,
            headers: lines.filter_map(header).collect(),
            body: (!body.is_empty()).then(|| body.to_vec()),
        }
    }
}

/// Splits a string into its requests.
///
/// # Errors
/// Returns an error if the string is not a sequence of whole requests.
pub fn split(text: &[u8]) -> Result<Vec<Message>, &'static str> {
    let (mut rest, mut all) = (text, Vec::new());
    while !rest.is_empty() {
        let (found, after) = first(rest)?;
        let bytes = rest[..rest.len() - after.len()].to_vec();
        all.push(Message { bytes, head_only: found.head_only, close: found.close });
        rest = after;
    }
    if all.is_empty() { Err("the request is empty") } else { Ok(all) }
}

/// Properties of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub head_only: bool,
    pub close: bool,
}

/// Returns the properties of the first request, and what follows it.
///
/// # Errors
/// Returns an error if the request is incomplete.
pub fn first(text: &[u8]) -> Result<(Found, &[u8]), &'static str> {
    let mut found = Found { head_only: text.starts_with(b"HEAD "), close: false };
    let mut body_bytes = 0;
    let mut at = 0;
    let mut is_first = true;
    loop {
        let end = memchr::memchr(b'\n', &text[at..]).ok_or("the request has no end of its head")?;
        let line = text[at..at + end].trim_ascii_end();
        at += end + 1;
        if line.is_empty() {
            break;
        }
        if is_first {
            is_first = false;
            if !line.ends_with(b" HTTP/1.1") && !line.ends_with(b" HTTP/1.0") {
                return Err("the first line is not a request line, such as `GET / HTTP/1.1`");
            }
            continue;
        }
        let colon = memchr::memchr(b':', line).ok_or("a header has no colon")?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let digits = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            body_bytes = digits.ok_or("invalid `Content-Length`")?;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Err("requests with `Transfer-Encoding` are not supported");
        } else if name.eq_ignore_ascii_case(b"connection") {
            found.close = value.eq_ignore_ascii_case(b"close");
        }
    }
    if is_first {
        return Err("the request is empty");
    }
    let after: &[u8] = text.get(at + body_bytes..).ok_or("the body is shorter than its `Content-Length`")?;
    Ok((found, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concatenated_requests_are_split_at_their_bodies() {
        let all = split(
            b"GET /a HTTP/1.1\r\nHost: h\r\n\r\nPOST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabcHEAD / \
                          HTTP/1.1\r\nConnection: close\r\n\r\n",
        )
        .unwrap();
        let texts: Vec<usize> = all.iter().map(|one| one.bytes.len()).collect();
        assert_eq!(texts, [28, 41, 38]);
        assert!(all[2].head_only && all[2].close && !all[0].close);
    }

    #[test]
    fn incomplete_requests_are_mistakes() {
        for text in [
            "",
            "GET / HTTP/1.1\r\nHost: h\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab",
            "x\r\n\r\n",
        ] {
            assert!(split(text.as_bytes()).is_err(), "{text}");
        }
    }
}
