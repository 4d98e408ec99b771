//! A response as a script sees it.

use crate::http::error::error_text;
use crate::http::error_code;
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::program::{Phases, Reply};
use plimsoll_plan::status;
use std::borrow::Cow;
use std::rc::Rc;

/// Largest decoded body, in bytes: a few kilobytes can decode to gigabytes.
const DECODED_BYTES_MAX: usize = 256 << 20;

/// Ranges of statuses that are not failures; `None` means that every status is accepted.
pub type Expected = Option<Rc<Vec<(u16, u16)>>>;

/// What is known of a request in flight.
pub struct Pending {
    pub request: Rc<Sent>,
    /// Statuses that are not failures; `None` means that every status is accepted.
    pub expected: Expected,
    pub keeps_body: bool,
}

/// A request as it was sent.
#[derive(Debug, Default)]
pub struct Sent {
    pub method: Cow<'static, str>,
    pub url: Rc<str>,
    pub headers: Vec<(String, String)>,
    pub body: Option<Rc<[u8]>>,
    pub cookies: Vec<(String, String)>,
}

/// Which type a script gets for a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BodyType {
    #[default]
    Text,
    Binary,
    None,
}

/// A response, or the failure of its request.
pub struct Response {
    /// The last request, after redirects.
    pub request: Rc<Sent>,
    pub status: u16,
    pub fault: Option<Fault>,
    /// An error that is not a fault of the exchange, such as an unknown host.
    pub error: String,
    /// The code of a failure without a fault; 0: that of the fault.
    pub code: u16,
    pub head: Vec<u8>,
    /// Decoded.
    pub body: Vec<u8>,
    pub body_type: BodyType,
    /// Whether it has a field `Set-Cookie`.
    pub sets_cookies: bool,
    /// Whether it is an event stream, which lasts as long as its server wants.
    pub is_event_stream: bool,
    pub phases: Phases,
}

impl Pending {
    /// Returns the response. A status that is not expected makes the request fail.
    pub fn finish(self, reply: &Reply<'_>) -> Response {
        let mut fault = reply.fault;
        let is_expected = |status| {
            self.expected
                .as_ref()
                .is_none_or(|all| all.iter().any(|(low, high)| (*low..=*high).contains(&status)))
        };
        if fault.is_none() && !is_expected(reply.status) {
            fault = Some(Fault::Status);
        }
        let Noted { is_coded, sets_cookies, is_event_stream } = noted(reply.head);
        let mut response = Response {
            request: self.request,
            status: reply.status,
            fault,
            error: String::new(),
            code: 0,
            head: reply.head.text().to_vec(),
            body: Vec::new(),
            body_type: BodyType::None,
            sets_cookies,
            is_event_stream,
            phases: reply.phases,
        };
        // RFC 9110 section 6.4.1: these have no body.
        let has_body = !matches!(reply.status, 100..=199 | 204 | 304);
        if self.keeps_body && has_body && reply.fault.is_none() {
            response.body_type = BodyType::Text;
            if !is_coded || response.header("content-encoding").is_none_or(|coding| !is_known(&coding)) {
                response.body = reply.body.to_vec();
            } else {
                match plimsoll_body::decoded(reply.head, reply.body, DECODED_BYTES_MAX) {
                    Ok(body) => response.body = body,
                    Err(why) => {
                        response.fault = Some(Fault::DecodeFailed);
                        response.error = format!("the response body cannot be decoded: {why}");
                    }
                }
            }
        }
        response
    }
}

impl Response {
    /// Returns the response of a request that was never sent.
    pub fn never(request: Rc<Sent>, fault: Fault, error: String) -> Response {
        Response {
            request,
            status: 0,
            fault: Some(fault),
            error,
            code: 0,
            head: Vec::new(),
            body: Vec::new(),
            body_type: BodyType::None,
            sets_cookies: false,
            is_event_stream: false,
            phases: Phases::default(),
        }
    }

    pub fn head(&self) -> Head<'_> {
        Head::new(&self.head)
    }

    /// Returns the first value of a field.
    pub fn header(&self, name: &str) -> Option<String> {
        self.head().field(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// Returns the status line after the version, such as `200 OK`.
    pub fn status_text(&self) -> String {
        let line = self.head.split(|byte| *byte == b'\r' || *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let text = line.split_once(' ').map_or("", |(_, rest)| rest).trim();
        match text.len() {
            0 => String::new(),
            // HTTP/2 has no reason phrase.
            1..=3 => format!("{} {}", self.status, status::phrase(self.status)).trim().to_owned(),
            _ => text.to_owned(),
        }
    }

    pub fn protocol(&self) -> &'static str {
        match &self.head {
            head if head.is_empty() => "",
            head if head.starts_with(b"HTTP/2") => "HTTP/2.0",
            head if head.starts_with(b"HTTP/1.0") => "HTTP/1.0",
            _ => "HTTP/1.1",
        }
    }

    /// Returns whether it is a failure of the transport, so that there is no status.
    pub fn has_failed(&self) -> bool {
        self.fault.is_some_and(|fault| fault != Fault::Status)
    }

    pub fn error(&self) -> String {
        match self.fault {
            Some(fault) if fault != Fault::Status && error_text(self.error_code()).is_some() => {
                error_text(self.error_code()).unwrap_or_default().to_owned()
            }
            Some(_) if !self.error.is_empty() => self.error.clone(),
            Some(fault) if fault != Fault::Status => fault.sentence().to_owned(),
            _ => String::new(),
        }
    }

    pub fn error_code(&self) -> u16 {
        let fault = self.fault.filter(|fault| *fault != Fault::Status);
        if self.code > 0 { self.code } else { error_code(fault, self.status) }
    }

    /// Returns the body as text; invalid UTF-8 is replaced.
    pub fn text(&self) -> Cow<'_, str> {
        // `from_utf8_lossy` looks at each byte, this at whole words.
        match std::str::from_utf8(&self.body) {
            Ok(text) => text.into(),
            Err(_) => String::from_utf8_lossy(&self.body),
        }
    }

    /// Returns names and values of all fields, as received and in their order.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let lines = self.head.split(|byte| *byte == b'\n').skip(1).map(<[u8]>::trim_ascii_end);
        lines.take_while(|line| !line.is_empty()).filter_map(|line| {
            let colon = memchr::memchr(b':', line)?;
            let name = line[..colon].trim_ascii();
            // How the body was framed is not part of the response.
            (!name.eq_ignore_ascii_case(b"transfer-encoding"))
                .then_some((name, line[colon + 1..].trim_ascii()))
        })
    }
}

/// What most responses do not have.
#[derive(Default)]
struct Noted {
    is_coded: bool,
    sets_cookies: bool,
    is_event_stream: bool,
}

/// Looks for it in one pass.
fn noted(head: Head<'_>) -> Noted {
    let mut found = Noted::default();
    let text = head.text();
    for end in memchr::memchr_iter(b'\n', text) {
        let line = &text[end + 1..];
        let begins = |name: &[u8]| line.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name));
        match line.first() {
            Some(b'c' | b'C') => {
                found.is_coded |= begins(b"content-encoding:");
                found.is_event_stream |= begins(b"content-type:")
                    && line[13..].trim_ascii_start().starts_with(b"text/event-stream");
            }
            Some(b's' | b'S') => found.sets_cookies |= begins(b"set-cookie:"),
            _ => {}
        }
    }
    found
}

/// Returns whether a body can be decoded. Scripts get others as they are.
fn is_known(codings: &str) -> bool {
    let is_one = |name: &str| {
        let known = ["gzip", "x-gzip", "deflate", "br", "zstd", "identity"];
        known.iter().any(|known| known.eq_ignore_ascii_case(name.trim()))
    };
    codings.split(',').all(is_one)
}

/// Returns a field name in the form in which scripts look it up: `Content-Type`.
pub fn canonical(name: &str) -> String {
    let mut name = name.trim().to_owned();
    let mut is_first = true;
    // ASCII letters stay one byte, and no byte of another character is one.
    for at in 0..name.len() {
        let part = &mut name[at..];
        let Some(part) = part.get_mut(..1) else { continue };
        if is_first {
            part.make_ascii_uppercase()
        } else {
            part.make_ascii_lowercase()
        }
        is_first = part == "-";
    }
    name
}
