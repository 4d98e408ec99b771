//! A plain GET for monitors: HTTP/1.1 on a connection that is kept between looks. Small on purpose, and not the
//! engine's: what watches the server must not be driven by the loop that loads it.

use super::probe::Trouble;
use super::reach::{Deadline, Place, read_some, words, write_all};
use std::io::ErrorKind;
use std::net::TcpStream;

/// Longest answer that a monitor reads, head and body alike, bytes.
pub const MOST_BYTES: usize = 8 << 20;

/// Header lines that are understood; metrics come with a dozen.
const MOST_HEADERS: usize = 64;

/// An answer of any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub status: u16,
    /// Empty when there is none.
    pub content_type: String,
    /// What it calls itself; empty when it does not say.
    pub server: String,
    pub body: Vec<u8>,
}

/// One address that is asked again and again.
pub struct Getter {
    place: Place,
    /// The whole request: it is the same each time.
    request: Vec<u8>,
    shown: String,
    kept: Option<TcpStream>,
}

/// Whether a failure may be the fate of a connection that had been idle: then a new one is worth a second try.
struct Broken {
    before_the_answer: bool,
    why: String,
}

impl Getter {
    /// Takes `http://[user:password@]host[:port][/path][?query]`. The login is sent as basic authentication.
    ///
    /// # Errors
    /// A sentence when it is not such an address; `https` is refused, because a monitor knows no certificates.
    pub fn new(url: &str) -> Result<Getter, Trouble> {
        let rest = match url.split_once("://") {
            None => url,
            Some(("http", rest)) => rest,
            Some(("https", _)) => {
                return Err(Trouble("a monitor cannot speak `https`: give it an `http` address".into()));
            }
            // What stands before `://` is not shown: in a garbled address it may be anything.
            Some(_) => return Err(Trouble("a monitor's address begins with `http://`".into())),
        };
        // Cut there, the front of a password would be taken for the host, and be shown.
        let cut = rest.find(['/', '@', '?', '#']).filter(|at| rest[*at..].starts_with(['?', '#']));
        if cut.is_some_and(|at| rest[at..].contains('@')) {
            return Err(Trouble(
                "in the login of a monitor's address `#` is written `%23` and `?` `%3F`, in its query `@` `%40`"
                    .into(),
            ));
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        // A raw `/` in a password would end the host too early, and the rest of the password would be a path.
        if !authority.contains('@') && target.split('?').next().unwrap_or_default().contains('@') {
            return Err(Trouble(
                "`@` in the path of a monitor's address is written `%40`, `/` in its login `%2F`".into(),
            ));
        }
        let (login, authority) = match authority.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, authority),
        };
        let Some(place) = Place::parse(authority, 80) else {
            return Err(Trouble("a monitor's address is `http://host:port/path`".into()));
        };
        // A path may be a secret as well: addresses with a token in them are common.
        let shown = format!("http://{}", place.shown());
        let slash = if target.starts_with('/') { "" } else { "/" };
        let mut request = format!(
            "GET {slash}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: plimsoll\r\nAccept: */*\r\n\
             Accept-Encoding: identity\r\n",
            escaped(target),
            place.shown()
        );
        if let Some(login) = login {
            let coded = plimsoll_plan::request::base64(&decoded(login));
            request.push_str(&format!("Authorization: Basic {coded}\r\n"));
        }
        request.push_str("\r\n");
        Ok(Getter { place, request: request.into_bytes(), shown, kept: None })
    }

    /// One answer, of whatever status. A connection that was kept and has been closed meanwhile is replaced.
    ///
    /// # Errors
    /// One sentence without secrets; the connection is given up.
    pub fn get(&mut self, until: Deadline) -> Result<Page, Trouble> {
        if let Some(kept) = self.kept.take() {
            match self.exchange(kept, until) {
                Ok(page) => return Ok(page),
                Err(broken) if broken.before_the_answer => {}
                Err(broken) => return Err(self.trouble(&broken.why)),
            }
        }
        let fresh = self.place.connect(until)?;
        self.exchange(fresh, until).map_err(|broken| self.trouble(&broken.why))
    }

    /// The body of an answer with status 200, as text.
    ///
    /// # Errors
    /// As [`Getter::get`]; another status.
    pub fn get_text(&mut self, until: Deadline) -> Result<String, Trouble> {
        let page = self.get(until)?;
        if page.status != 200 {
            return Err(self.trouble(&format!("status {}", page.status)));
        }
        Ok(String::from_utf8_lossy(&page.body).into_owned())
    }

    /// Host and port that it asks.
    pub fn asks(&self) -> (String, u16) {
        (self.place.host.clone(), self.place.port)
    }

    /// `cannot read URL: WHY`.
    pub fn trouble(&self, why: &str) -> Trouble {
        Trouble(format!("cannot read `{}`: {why}", self.shown))
    }

    fn exchange(&mut self, mut stream: TcpStream, until: Deadline) -> Result<Page, Broken> {
        let mut seen = Vec::new();
        let early = |error: std::io::Error| Broken {
            // After a time-out there is no time for a second try.
            before_the_answer: !matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock),
            why: words(&error),
        };
        write_all(&mut stream, &self.request, until).map_err(early)?;
        let head = loop {
            if let Some(head) = head(&seen).map_err(late)? {
                break head;
            }
            if seen.len() > MOST_BYTES {
                return Err(late("its head does not end"));
            }
            match read_some(&mut stream, &mut seen, until) {
                Ok(0) if seen.is_empty() => return Err(early(ErrorKind::UnexpectedEof.into())),
                Ok(0) => return Err(late("the connection was closed in the head")),
                Ok(_) => {}
                Err(error) if seen.is_empty() => return Err(early(error)),
                Err(error) => return Err(late(&words(&error))),
            }
        };
        let mut rest = seen.split_off(head.bytes);
        let body = loop {
            if rest.len() > MOST_BYTES {
                return Err(late("longer than 8 MB"));
            }
            if let Some(body) = head.length.body(&rest).map_err(late)? {
                break body;
            }
            match read_some(&mut stream, &mut rest, until) {
                Ok(0) if head.length == Length::ToTheEnd => break rest,
                Ok(0) => return Err(late("the connection was closed in the body")),
                Ok(_) => {}
                Err(error) => return Err(late(&words(&error))),
            }
        };
        if head.kept && head.length != Length::ToTheEnd {
            self.kept = Some(stream);
        }
        Ok(Page { status: head.status, content_type: head.content_type, server: head.server, body })
    }
}

fn late(why: &str) -> Broken {
    Broken { before_the_answer: false, why: why.to_owned() }
}

struct Head {
    /// Its own length.
    bytes: usize,
    status: u16,
    content_type: String,
    server: String,
    length: Length,
    kept: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Bytes(usize),
    Chunked,
    ToTheEnd,
}

/// The head, as soon as it is whole. Interim answers (1xx) are passed over.
fn head(seen: &[u8]) -> Result<Option<Head>, &'static str> {
    let mut skipped = 0;
    loop {
        let mut lines = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut answer = httparse::Response::new(&mut lines);
        let bytes = match answer.parse(&seen[skipped..]) {
            Ok(httparse::Status::Complete(bytes)) => skipped + bytes,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err("not an answer of HTTP/1.1"),
        };
        let status = answer.code.unwrap_or_default();
        if (100..200).contains(&status) {
            skipped = bytes;
            continue;
        }
        let line = |name: &str| {
            let found = answer.headers.iter().find(|line| line.name.eq_ignore_ascii_case(name));
            found.map_or("", |line| std::str::from_utf8(line.value).unwrap_or_default().trim())
        };
        // RFC 9112 section 6.3: a coding wins over a length; these two statuses have no body.
        let length = if status == 204 || status == 304 {
            Length::Bytes(0)
        } else if line("transfer-encoding").to_ascii_lowercase().ends_with("chunked") {
            Length::Chunked
        } else if line("content-length").is_empty() {
            Length::ToTheEnd
        } else {
            let length = line("content-length").parse().map_err(|_| "its content-length is not a number")?;
            Length::Bytes(length)
        };
        let connection = line("connection").to_ascii_lowercase();
        let kept =
            !connection.contains("close") && (answer.version == Some(1) || connection.contains("keep-alive"));
        let (content_type, server) = (line("content-type").to_owned(), line("server").to_owned());
        return Ok(Some(Head { bytes, status, content_type, server, length, kept }));
    }
}

impl Length {
    /// The body, when all of it is there.
    fn body(self, rest: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
        match self {
            Length::Bytes(length) if length > MOST_BYTES => Err("longer than 8 MB"),
            Length::Bytes(length) => Ok((rest.len() >= length).then(|| rest[..length].to_vec())),
            Length::Chunked => unchunked(rest),
            Length::ToTheEnd => Ok(None),
        }
    }
}

/// RFC 9112 section 7.1. Whatever its trailer, it ends with an empty line: until then it is not looked through, or a
/// long page would be looked through at each block that comes.
fn unchunked(mut rest: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    if !rest.ends_with(b"\r\n\r\n") {
        return Ok(None);
    }
    let mut body = Vec::new();
    loop {
        let (at, size) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete(found)) => found,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err("its chunks have no sizes"),
        };
        let Some(size) = usize::try_from(size).ok().filter(|size| *size <= MOST_BYTES) else {
            return Err("longer than 8 MB");
        };
        rest = &rest[at..];
        if size == 0 {
            // Trailer lines, then an empty one.
            let ended = rest.starts_with(b"\r\n") || rest.windows(4).any(|four| four == b"\r\n\r\n");
            return Ok(ended.then_some(body));
        }
        let Some(chunk) = rest.get(..size + 2) else { return Ok(None) };
        if !chunk.ends_with(b"\r\n") {
            return Err("a chunk does not end where it should");
        }
        body.extend_from_slice(&chunk[..size]);
        rest = &rest[size + 2..];
    }
}

/// What may not stand in a request line is percent-coded; what is coded already stays.
fn escaped(target: &str) -> String {
    let mut out = String::with_capacity(target.len());
    for byte in target.bytes() {
        match byte {
            b'!'..=b'~' if !b"\"<>\\^`{|}".contains(&byte) => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A value for a query: all but letters, digits and `-._~` is percent-coded (RFC 3986 section 2.3).
pub fn encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The other way round; a `%` that codes nothing means itself.
pub fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match code.filter(|_| byte == b'%').and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(coded) => {
                out.push(coded);
                rest = &after[2..];
            }
            None => {
                out.push(byte);
                rest = after;
            }
        }
    }
    out
}
