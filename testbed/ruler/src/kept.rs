//! Complete requests that `keep_requests` keeps, byte by byte, for tests of what a client sends.

use crate::json::bytes_member;
use crate::observed::{Origin, Seen};
use crate::units::whole;
use std::collections::VecDeque;

/// Maximum size of all kept requests together, in bytes.
const BYTES_MOST: usize = 256 << 20;

/// Which requests are kept, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    None,
    First(usize),
    Last(usize),
}

impl Keep {
    /// Reads `100` or `last:100`, `first:100`, and `0` for none.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (which, number) = text.split_once(':').unwrap_or(("last", text));
        let number = whole(number, 0, 10_000_000)? as usize;
        match which {
            _ if number == 0 => Ok(Keep::None),
            "first" => Ok(Keep::First(number)),
            "last" => Ok(Keep::Last(number)),
            _ => Err(format!("invalid value `{text}`: expected for example 100, last:100, or first:100")),
        }
    }
}

/// How a request arrived.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arrival {
    /// Its first byte, and the first byte of its body; 0: it has none.
    first_ns: u64,
    body_ns: u64,
    /// The last of its reads so far, and their number.
    last_ns: u64,
    reads: u64,
    /// Chunks, or DATA frames, and the size of the largest chunk.
    pieces: u64,
    piece_most: u64,
}

impl Arrival {
    /// Notes bytes that arrived at this time; bytes with one timestamp were read together.
    pub(crate) fn read(&mut self, now_ns: u64) {
        if self.first_ns == 0 {
            self.first_ns = now_ns;
        }
        self.reads += u64::from(self.last_ns != now_ns);
        self.last_ns = now_ns;
    }

    pub(crate) fn begin_body(&mut self, now_ns: u64) {
        if self.body_ns == 0 {
            self.body_ns = now_ns;
        }
    }

    pub(crate) fn piece(&mut self, bytes: u64) {
        self.pieces += 1;
        self.piece_most = self.piece_most.max(bytes);
    }

    fn json(&self) -> String {
        format!(
            "{{\"first_byte_ns\":{},\"body_ns\":{},\"reads\":{},\"pieces\":{},\"piece_bytes_max\":{}}}",
            self.first_ns, self.body_ns, self.reads, self.pieces, self.piece_most
        )
    }
}

/// A request to keep.
pub(crate) struct Complete<'r> {
    pub(crate) raw: &'r [u8],
    pub(crate) is_cut: bool,
    pub(crate) arrive_ns: u64,
    pub(crate) arrival: Arrival,
    pub(crate) origin: Origin,
}

/// One request.
struct Request {
    raw: Vec<u8>,
    is_cut: bool,
    arrive_ns: u64,
    arrival: Arrival,
    origin: Origin,
}

/// The kept requests, oldest first.
#[derive(Default)]
pub(crate) struct Kept {
    requests: VecDeque<Request>,
    bytes: usize,
    /// Requests that were not kept, or are no longer kept, for lack of room.
    pub(crate) discarded: u64,
}

impl Kept {
    pub(crate) fn add(&mut self, keep: Keep, request: Complete<'_>) {
        let Complete { raw, is_cut, arrive_ns, arrival, origin } = request;
        let most = match keep {
            Keep::None => return,
            Keep::First(most) if self.requests.len() >= most || self.bytes + raw.len() > BYTES_MOST => {
                self.discarded += 1;
                return;
            }
            Keep::First(most) | Keep::Last(most) => most,
        };
        self.requests.push_back(Request { raw: raw.to_vec(), is_cut, arrive_ns, arrival, origin });
        self.bytes += raw.len();
        while self.requests.len() > most || self.bytes > BYTES_MOST {
            let Some(oldest) = self.requests.pop_front() else { break };
            self.bytes -= oldest.raw.len();
            self.discarded += 1;
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.requests.len() as u64
    }

    pub(crate) fn clear(&mut self) {
        *self = Kept::default();
    }

    /// Returns all of them as a JSON object.
    pub(crate) fn json(&self) -> String {
        let requests: Vec<String> = (self.requests.iter())
            .map(|request| {
                let seen = Seen::of(&request.raw);
                format!(
                    "{{\"arrive_ns\":{},\"arrival\":{},\"cut\":{},{},{}}}",
                    request.arrive_ns,
                    request.arrival.json(),
                    request.is_cut,
                    bytes_member("head", seen.head),
                    seen.members(&request.origin)
                )
            })
            .collect();
        format!(
            "{{\"kept\":{},\"discarded\":{},\"requests\":[{}]}}",
            requests.len(),
            self.discarded,
            requests.join(",")
        )
    }
}
