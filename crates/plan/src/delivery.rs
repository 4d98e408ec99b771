//! How a request is sent and its response is read, if neither happens as fast as the connection allows.

use crate::{Problem, unit};
use serde::{Deserialize, Serialize};

/// The default time to wait for `100 Continue`, as curl has it.
pub const CONTINUE_NS: u64 = unit::SECOND_NS;
/// The default size of a chunk.
pub const CHUNK_BYTES: u32 = 16_384;
/// The largest chunk.
pub const CHUNK_BYTES_MAX: u32 = 1 << 24;

/// How one request is sent and its response is read. Rates are in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Delivery {
    /// The body waits for `100 Continue`, at most for this long (RFC 9110 section 10.1.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continue_ns: Option<u64>,
    /// The body is sent in chunks, without its length.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_chunked: bool,
    /// The size of a chunk, if the plan sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_bytes_per_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_bytes_per_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<u64>,
}

impl Delivery {
    /// Returns whether it requires HTTP/1.1: over HTTP/2, a head is one frame, and a connection that is not read would
    /// delay all of its streams.
    pub fn requires_http1(&self) -> bool {
        self.head_bytes_per_s.is_some() || self.read_bytes_per_s.is_some()
    }

    /// Returns whether it applies to the body of the request.
    pub fn requires_body(&self) -> bool {
        self.continue_ns.is_some() || self.is_chunked || self.body_bytes_per_s.is_some()
    }

    /// Returns the size of the pieces in which the body is sent, if it is not sent as a whole.
    pub fn piece_bytes(&self) -> Option<u32> {
        match (self.body_bytes_per_s, self.is_chunked) {
            (Some(rate), _) => Some(self.chunk_bytes.unwrap_or_else(|| piece_of(rate))),
            (None, true) => Some(self.chunk_bytes.unwrap_or(CHUNK_BYTES)),
            (None, false) => None,
        }
    }
}

/// Returns the size of pieces that are sent or read at a rate: 20 per second, but at least a byte and at most 16 KiB.
pub fn piece_of(bytes_per_s: u64) -> u32 {
    (bytes_per_s / 20).clamp(1, u64::from(CHUNK_BYTES)) as u32
}

/// Returns the time from one piece to the next, ns.
pub fn step_ns(piece_bytes: u32, bytes_per_s: u64) -> u64 {
    u64::from(piece_bytes) * unit::SECOND_NS / bytes_per_s.max(1)
}

/// Parses `100KB/s` or `10B/s`: bytes per second, at least 1.
///
/// # Errors
/// Returns an error if the text is not such a rate.
pub fn bytes_per_s(text: &str) -> Result<u64, Problem> {
    const EXPECTED: &str = "write a rate such as `100KB/s` or `10B/s`";
    let invalid = || Problem::new(format!("invalid rate `{text}`"), EXPECTED);
    let (size, unit) = text.trim().split_once('/').ok_or_else(invalid)?;
    // Without a unit, `100/s` would look like requests.
    let has_unit = size.trim().ends_with(|c: char| c.is_ascii_alphabetic());
    if !has_unit || !matches!(unit.trim(), "s" | "sec") {
        return Err(invalid());
    }
    match unit::size_bytes(size).map_err(|_| invalid())? {
        0 => Err(Problem::new(format!("rate `{text}` must be at least 1 byte per second"), EXPECTED)),
        bytes if bytes > 1 << 40 => Err(Problem::new(format!("rate `{text}` is above 1 TB/s"), EXPECTED)),
        bytes => Ok(bytes),
    }
}

/// Parses the size of a chunk.
///
/// # Errors
/// Returns an error if it is not a size from 1 byte to 16 MiB.
pub fn chunk_bytes(text: &str) -> Result<u32, Problem> {
    match unit::size_bytes(text).ok().and_then(|bytes| u32::try_from(bytes).ok()) {
        Some(bytes @ 1..=CHUNK_BYTES_MAX) => Ok(bytes),
        _ => Err(Problem::new(
            format!("invalid size of a chunk `{text}`"),
            "write a size from `1` to `16MB`, such as `16KB`",
        )),
    }
}

/// Parses the time to wait for `100 Continue`.
///
/// # Errors
/// Returns an error if it is not a duration above 0.
pub fn continue_ns(text: &str) -> Result<u64, Problem> {
    match unit::duration_ns(text)? {
        0 => Err(Problem::new(
            format!("invalid wait `{text}` for `100 Continue`: must be above 0"),
            "write a duration such as `1s`",
        )),
        ns => Ok(ns),
    }
}

#[cfg(test)]
mod tests {
    use super::{Delivery, bytes_per_s, chunk_bytes, piece_of, step_ns};

    #[test]
    fn a_rate_requires_a_unit_of_bytes() {
        assert_eq!(bytes_per_s("100KB/s").ok(), Some(102_400));
        assert_eq!(bytes_per_s("10B/s").ok(), Some(10));
        for wrong in ["100/s", "100KB", "0B/s", "100KB/m", "fast", "", "99999TB/s"] {
            assert!(bytes_per_s(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_chunk_has_at_least_a_byte() {
        assert_eq!(chunk_bytes("16KB").ok(), Some(16_384));
        assert!(chunk_bytes("0").is_err() && chunk_bytes("17MB").is_err());
    }

    #[test]
    fn pieces_and_their_distance_give_the_rate() {
        for rate in [1, 10, 999, 1_000, 102_400, 10_000_000, 1 << 40] {
            let piece = piece_of(rate);
            let made = f64::from(piece) * 1e9 / step_ns(piece, rate).max(1) as f64;
            assert!(made >= rate as f64 * 0.99 || piece == 16_384, "{rate}: {made}");
        }
        let chunked = Delivery { is_chunked: true, ..Delivery::default() };
        assert_eq!(chunked.piece_bytes(), Some(16_384));
        assert_eq!(Delivery { body_bytes_per_s: Some(1_000), ..chunked }.piece_bytes(), Some(50));
    }
}
