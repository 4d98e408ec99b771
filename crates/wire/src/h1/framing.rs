//! Determines the end of a body, and whether the connection survives it, from the header lines (RFC 9112 sections 6,
//! 9).

use super::Malformed;

/// How the end of a body is found, if the response has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
    /// Reported only if a body is expected: HEAD, 204, and 304 end with their head "regardless of the header fields".
    Refused(Malformed),
}

/// The meaning of a head for the session, independent of the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub status: u16,
    pub minor: u8,
    /// 1xx, 204, 304: never a body.
    pub bodiless: bool,
    /// The server leaves the connection open, according to version and Connection.
    pub persists: bool,
    /// The head contains `Connection: keep-alive`, which a request in HTTP/1.0 requires.
    pub keep_alive: bool,
    pub framing: Framing,
}

impl Facts {
    pub const NONE: Facts = Facts {
        status: 0,
        minor: 1,
        bodiless: false,
        persists: false,
        keep_alive: false,
        framing: Framing::UntilClose,
    };
}

/// Longest body and longest chunk: the largest signed 64-bit offset.
pub(super) const LENGTH_MAX: u64 = i64::MAX as u64;

/// Reads the three relevant headers; all others are skipped by the length of their names.
pub(super) fn read(status: u16, minor: u8, headers: &[httparse::Header<'_>]) -> Facts {
    let (mut close, mut keep_alive) = (false, false);
    let (mut length, mut codings) = (Length::default(), Codings::default());
    for header in headers {
        match header.name.len() {
            10 if header.name.eq_ignore_ascii_case("connection") => {
                for option in members(header.value) {
                    close |= option.eq_ignore_ascii_case(b"close");
                    keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            14 if header.name.eq_ignore_ascii_case("content-length") => length.add(header.value),
            17 if header.name.eq_ignore_ascii_case("transfer-encoding") => codings.add(header.value),
            _ => {}
        }
    }
    let framing = match (codings.framing(), length.framing()) {
        // Two different lengths allow response smuggling: never choose one.
        (Some(_), Some(_)) => Framing::Refused(Malformed::ConflictingLength),
        (Some(framing), None) | (None, Some(framing)) => framing,
        (None, None) => Framing::UntilClose,
    };
    Facts {
        status,
        minor,
        bodiless: matches!(status, 100..=199 | 204 | 304),
        // HTTP/1.0 has no Transfer-Encoding: a server that sends it there must not get a second request on the
        // connection (section 6.1). After 101, the connection uses another protocol.
        persists: !close && status != 101 && (minor == 1 || (keep_alive && codings.framing().is_none())),
        keep_alive,
        framing,
    }
}

/// Content-Length over all its lines and list members: equal repetitions are one value.
#[derive(Default)]
struct Length {
    bytes: Option<u64>,
    fault: Option<Malformed>,
}

impl Length {
    fn add(&mut self, value: &[u8]) {
        for member in members(value) {
            let found = match decimal(member) {
                None => Some(Malformed::BadLength),
                Some(bytes) if *self.bytes.get_or_insert(bytes) != bytes => {
                    Some(Malformed::ConflictingLength)
                }
                Some(_) => None,
            };
            self.fault = self.fault.or(found);
        }
    }

    fn framing(&self) -> Option<Framing> {
        self.fault.map(Framing::Refused).or(self.bytes.map(Framing::Length))
    }
}

/// Transfer-Encoding over all its lines, in order.
#[derive(Default)]
struct Codings {
    seen: bool,
    chunked: bool,
    last_is_chunked: bool,
    unknown: bool,
}

impl Codings {
    fn add(&mut self, value: &[u8]) {
        // An empty value counts as unknown: one reader might see a name in it that another does not.
        self.unknown |= value.trim_ascii().is_empty();
        for member in members(value).filter(|member| !member.is_empty()) {
            let name = member.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
            // "identity" was removed from the standard, but old servers still send it along with a Content-Length.
            if name.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            // Chunked has no parameters, so the whole member must match.
            let chunked = member.eq_ignore_ascii_case(b"chunked");
            self.unknown |= if chunked { self.chunked } else { !known(name) };
            self.chunked |= chunked;
            self.last_is_chunked = chunked;
            self.seen = true;
        }
    }

    fn framing(&self) -> Option<Framing> {
        if self.unknown {
            Some(Framing::Refused(Malformed::UnknownTransferEncoding))
        } else if !self.seen {
            None
        } else if self.last_is_chunked {
            Some(Framing::Chunked)
        } else {
            Some(Framing::UntilClose)
        }
    }
}

/// Returns whether this is a registered transfer coding other than chunked. The payload of these is not decoded.
fn known(name: &[u8]) -> bool {
    [&b"gzip"[..], b"deflate", b"compress", b"x-gzip", b"x-compress"]
        .iter()
        .any(|coding| name.eq_ignore_ascii_case(coding))
}

/// Returns the members of a comma-separated list, trimmed (folded lines leave CR and LF there).
pub(crate) fn members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// Parses digits only: no sign, no space, no fraction, at most [`LENGTH_MAX`].
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, &digit| {
        let digit = u64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        number.checked_mul(10)?.checked_add(digit).filter(|&number| number <= LENGTH_MAX)
    })
}
