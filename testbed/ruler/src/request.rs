//! The parser of requests: a state machine that consumes bytes, and keeps them for `/_test-server/last_request`.
//!
//! It is deliberately strict and plain. It rejects everything that it does not understand with 400, so a test
//! notices if a load generator sends something unusual.

use crate::kept::Arrival;
use crate::observed::BODY_MOST;
use crate::pages::wants_whole_body;
use std::ops::Range;

/// The longest head that is accepted, in bytes.
const HEAD_MOST: usize = 64 << 10;
/// Bytes of a request that are kept by default.
pub(crate) const RAW_MOST: usize = 1 << 20;
/// Bytes that are kept on demand: the largest body that is shown completely, its head, and the chunk sizes.
pub(crate) const WHOLE_MOST: usize = BODY_MOST + BODY_MOST / 8 + HEAD_MOST;
/// A buffer that has grown above this size is freed after its request.
const BUFFER_MOST: usize = 256 << 10;
/// A head is copied in pieces of this size, so that a long pipeline is not copied once per request.
const PIECE: usize = 1 << 10;

/// The result of feeding bytes.
pub(crate) enum Heard {
    /// Everything was consumed and the request is not complete.
    More,
    /// The client waits for `100 Continue` before it sends the body.
    WaitsForContinue,
    /// A complete request; read it, then call [`Reader::restart`].
    Whole,
    /// Not valid HTTP/1.
    Bad(&'static str),
}

/// The relevant parts of a head.
#[derive(Default)]
pub(crate) struct Head {
    target: Range<usize>,
    pub(crate) asks_head_only: bool,
    pub(crate) http10: bool,
    pub(crate) keep_alive: bool,
    /// The request contains `Connection: keep-alive`, as old clients send it.
    pub(crate) asks_keep_alive: bool,
    length: Option<u64>,
    chunked: bool,
    expects_continue: bool,
    /// The body is not read: the response is 417.
    pub(crate) is_refused: bool,
}

enum State {
    Head,
    Sized { left: u64 },
    ChunkSize { size: u64, digits: u8, in_extension: bool },
    ChunkData { left: u64 },
    ChunkEnd,
    Trailer { line_bytes: u32 },
    Whole,
}

/// The parser of one connection.
pub(crate) struct Reader {
    state: State,
    pub(crate) head: Head,
    /// Maximum number of bytes that are kept of the current request.
    most: usize,
    /// The request as received, up to `most`.
    pub(crate) raw: Vec<u8>,
    pub(crate) raw_is_cut: bool,
    /// When the bytes that are fed arrived; set by the owner.
    pub(crate) now_ns: u64,
    pub(crate) arrival: Arrival,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Reader {
            state: State::Head,
            head: Head::default(),
            most: RAW_MOST,
            raw: Vec::new(),
            raw_is_cut: false,
            now_ns: 0,
            arrival: Arrival::default(),
        }
    }

    /// Ends the request after its head: its body will not come.
    pub(crate) fn refuse_body(&mut self) {
        self.head.is_refused = true;
        self.head.keep_alive = false;
        self.state = State::Whole;
    }

    pub(crate) fn restart(&mut self) {
        self.state = State::Head;
        self.raw.clear();
        self.raw.shrink_to(BUFFER_MOST);
        self.raw_is_cut = false;
        self.arrival = Arrival::default();
    }

    /// Returns true between requests, before the first byte of the next one.
    pub(crate) fn is_fresh(&self) -> bool {
        matches!(self.state, State::Head) && self.raw.is_empty()
    }

    /// Returns the request's target in origin form.
    pub(crate) fn target(&self) -> &[u8] {
        &self.raw[self.head.target.clone()]
    }

    /// Consumes bytes of `input` up to the end of one request, and returns their number. Keeps at most `most` of them.
    pub(crate) fn feed(&mut self, input: &[u8], most: usize) -> (usize, Heard) {
        let mut used = 0;
        self.most = most;
        if !input.is_empty() {
            self.arrival.read(self.now_ns);
        }
        loop {
            let rest = &input[used..];
            let (taken, heard) = match self.state {
                State::Head => self.feed_head(rest),
                State::Whole => (0, Some(Heard::Whole)),
                _ if rest.is_empty() => (0, Some(Heard::More)),
                _ => self.feed_body(rest),
            };
            used += taken;
            if let Some(heard) = heard {
                return (used, heard);
            }
        }
    }

    fn feed_head(&mut self, input: &[u8]) -> (usize, Option<Heard>) {
        let mut used = 0;
        // An empty line before a request is allowed (RFC 9112, 2.2).
        while self.raw.is_empty() && matches!(input.get(used), Some(b'\r' | b'\n')) {
            used += 1;
        }
        while used < input.len() {
            let piece = &input[used..input.len().min(used + PIECE)];
            let before = self.raw.len();
            self.raw.extend_from_slice(piece);
            let from = before.saturating_sub(3);
            if let Some(at) = self.raw[from..].windows(4).position(|four| four == b"\r\n\r\n") {
                let end = from + at + 4;
                self.raw.truncate(end);
                used += end - before;
                return (
                    used,
                    self.understand_head().err().map(Heard::Bad).or_else(|| self.after_head(used, input)),
                );
            }
            used += piece.len();
            if self.raw.len() > HEAD_MOST {
                return (used, Some(Heard::Bad("the head is longer than 64 KiB")));
            }
        }
        (used, Some(Heard::More))
    }

    fn after_head(&mut self, used: usize, input: &[u8]) -> Option<Heard> {
        self.state = match (self.head.chunked, self.head.length) {
            (true, _) => State::ChunkSize { size: 0, digits: 0, in_extension: false },
            (false, None | Some(0)) => State::Whole,
            (false, Some(left)) => State::Sized { left },
        };
        let waits = self.head.expects_continue && !matches!(self.state, State::Whole) && used == input.len();
        waits.then_some(Heard::WaitsForContinue)
    }

    fn understand_head(&mut self) -> Result<(), &'static str> {
        let mut head = Head::default();
        let text = &self.raw[..self.raw.len() - 4];
        let line_end = text.windows(2).position(|two| two == b"\r\n").unwrap_or(text.len());
        let line = &text[..line_end];
        let mut words = line.split(|&byte| byte == b' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err("the request line is not METHOD TARGET VERSION");
        };
        if method.is_empty() || target.is_empty() {
            return Err("the request line is not METHOD TARGET VERSION");
        }
        head.asks_head_only = method == b"HEAD";
        head.http10 = match version {
            b"HTTP/1.1" => false,
            b"HTTP/1.0" => true,
            _ => return Err("the version is neither HTTP/1.1 nor HTTP/1.0"),
        };
        head.keep_alive = !head.http10;
        let start = method.len() + 1;
        head.target = start..start + target.len();
        if let Some(after_scheme) = target.strip_prefix(b"http://") {
            // Absolute form, as sent to a proxy: the path starts after the authority.
            match after_scheme.iter().position(|&byte| byte == b'/') {
                Some(at) => head.target.start += 7 + at,
                None => return Err("the target has no path"),
            }
        }
        for line in text[line_end..].split(|&byte| byte == b'\n').skip(1) {
            head.understand_line(line.strip_suffix(b"\r").unwrap_or(line))?;
        }
        if head.chunked && head.length.is_some() {
            return Err("both Content-Length and Transfer-Encoding");
        }
        self.head = head;
        Ok(())
    }

    fn feed_body(&mut self, input: &[u8]) -> (usize, Option<Heard>) {
        let mut taken = 1;
        let byte = input[0];
        self.arrival.begin_body(self.now_ns);
        let next = match self.state {
            State::Sized { left } | State::ChunkData { left } => {
                taken = input.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                let left = left - taken as u64;
                Ok(match self.state {
                    State::Sized { .. } if left == 0 => State::Whole,
                    State::Sized { .. } => State::Sized { left },
                    _ if left == 0 => State::ChunkEnd,
                    _ => State::ChunkData { left },
                })
            }
            State::ChunkSize { size, digits, in_extension } => match (byte as char).to_digit(16) {
                Some(digit) if !in_extension && digits < 15 => Ok(State::ChunkSize {
                    size: size * 16 + u64::from(digit),
                    digits: digits + 1,
                    in_extension,
                }),
                _ if byte == b'\n' && digits > 0 && size == 0 => Ok(State::Trailer { line_bytes: 0 }),
                _ if byte == b'\n' && digits > 0 => Ok(State::ChunkData { left: size }),
                _ if in_extension || (digits > 0 && (byte == b';' || byte == b'\r')) => {
                    Ok(State::ChunkSize { size, digits, in_extension: true })
                }
                _ => Err("invalid chunk size: expected a hexadecimal number"),
            },
            State::ChunkEnd => match byte {
                b'\r' => Ok(State::ChunkEnd),
                b'\n' => Ok(State::ChunkSize { size: 0, digits: 0, in_extension: false }),
                _ => Err("a chunk is longer than it says"),
            },
            State::Trailer { line_bytes } => match byte {
                b'\r' => Ok(State::Trailer { line_bytes }),
                b'\n' if line_bytes == 0 => Ok(State::Whole),
                b'\n' => Ok(State::Trailer { line_bytes: 0 }),
                _ if line_bytes as usize > HEAD_MOST => Err("a trailer is longer than 64 KiB"),
                _ => Ok(State::Trailer { line_bytes: line_bytes + 1 }),
            },
            // `feed` handles these two itself.
            State::Head | State::Whole => return (0, Some(Heard::More)),
        };
        let most = if wants_whole_body(&self.head, &self.raw) { WHOLE_MOST } else { self.most };
        let room = most.saturating_sub(self.raw.len()).min(taken);
        self.raw.extend_from_slice(&input[..room]);
        self.raw_is_cut |= room < taken;
        match next {
            Ok(state) => {
                if let (State::ChunkData { left }, State::ChunkSize { .. }) = (&state, &self.state) {
                    self.arrival.piece(*left);
                }
                self.state = state;
                (taken, None)
            }
            Err(reason) => (taken, Some(Heard::Bad(reason))),
        }
    }
}

impl Head {
    /// Returns the path, without the query, of the request at the start of `raw`.
    pub(crate) fn path<'a>(&self, raw: &'a [u8]) -> &'a [u8] {
        let target = raw.get(self.target.clone()).unwrap_or_default();
        target.split(|&byte| byte == b'?').next().unwrap_or(target)
    }

    fn understand_line(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            return Err("a header line has no colon");
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.is_empty() || name.iter().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control()) {
            return Err("a header name is empty or has spaces");
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let digits = !value.is_empty() && value.len() < 19 && value.iter().all(u8::is_ascii_digit);
            if !digits || self.length.is_some() {
                return Err("invalid or repeated Content-Length");
            }
            self.length = Some(value.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')));
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if !value.eq_ignore_ascii_case(b"chunked") {
                return Err("unknown Transfer-Encoding: expected chunked");
            }
            self.chunked = true;
        } else if name.eq_ignore_ascii_case(b"connection") {
            for option in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
                if option.eq_ignore_ascii_case(b"close") {
                    self.keep_alive = false;
                } else if option.eq_ignore_ascii_case(b"keep-alive") {
                    self.keep_alive = true;
                    self.asks_keep_alive = true;
                }
            }
        } else if name.eq_ignore_ascii_case(b"expect") {
            self.expects_continue = value.eq_ignore_ascii_case(b"100-continue");
        }
        Ok(())
    }
}
