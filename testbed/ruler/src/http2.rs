//! The vocabulary of HTTP/2 (RFC 9113): how connections behave, error codes by name, and counts taken from frames.

use crate::json::quoted;
use crate::units::whole;
use std::fmt::Write;

/// How responses of one connection are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Each response has its own write, as with nginx and Go.
    Single,
    /// Responses that are ready at the same time share one, as with nghttpd and Node.
    Batched,
}

/// How HTTP/2 connections behave. New connections take the first five; the others apply at once.
#[derive(Debug, Clone)]
pub(crate) struct Http2 {
    pub(crate) enabled: bool,
    /// None: no limit is announced.
    pub(crate) max_streams: Option<u32>,
    pub(crate) initial_window: u32,
    pub(crate) connection_window: u32,
    pub(crate) max_frame: u32,
    /// 0: never.
    pub(crate) goaway_after: u64,
    pub(crate) goaway_code: u32,
    pub(crate) writes: Writes,
}

impl Default for Http2 {
    fn default() -> Self {
        Http2 {
            enabled: false,
            max_streams: Some(100),
            initial_window: 1 << 20,
            connection_window: 1 << 20,
            max_frame: LEAST_FRAME as u32,
            goaway_after: 0,
            goaway_code: 0,
            writes: Writes::Batched,
        }
    }
}

/// The least and the greatest SETTINGS_MAX_FRAME_SIZE (RFC 9113, 6.5.2).
pub(crate) const LEAST_FRAME: u64 = 1 << 14;
pub(crate) const MOST_FRAME: u64 = (1 << 24) - 1;
/// A connection's window starts with this size and only grows (6.9.2).
pub(crate) const LEAST_CONNECTION_WINDOW: u64 = (1 << 16) - 1;
/// The greatest window (6.9.1).
pub(crate) const MOST_WINDOW: u64 = (1 << 31) - 1;

/// Error codes by their number (section 7).
const CODES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// Reads an error code, as a name or a number.
pub(crate) fn code(text: &str) -> Result<u32, String> {
    if let Some(number) = CODES.iter().position(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(number as u32);
    }
    let number = whole(text, 0, u64::from(u32::MAX));
    number.map(|number| number as u32).map_err(|_| {
        format!("unknown error code `{text}`: expected a number, or a name such as {}", CODES[7])
    })
}

/// Reads a limit on streams.
pub(crate) fn max_streams(text: &str) -> Result<Option<u32>, String> {
    match text {
        "none" => Ok(None),
        _ => whole(text, 0, MOST_WINDOW).map(|most| Some(most as u32)),
    }
}

/// Frames of one kind by error code; the last place is for codes without a name.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ByCode([u64; CODES.len() + 1]);

impl ByCode {
    pub(crate) fn add(&mut self, code: u32) {
        let place = usize::try_from(code).unwrap_or(CODES.len()).min(CODES.len());
        self.0[place] += 1;
    }

    fn merge(&mut self, other: &ByCode) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    fn json(&self) -> String {
        let names = CODES.iter().copied().chain(["other"]);
        let members = names.zip(self.0).filter(|row| row.1 > 0);
        let members: Vec<String> = members.map(|(name, count)| format!("{}:{count}", quoted(name))).collect();
        format!("{{{}}}", members.join(","))
    }
}

/// The names of settings by their number; 0 and 7 have none (RFC 9113, 6.5.2; RFC 8441 has number 8).
const SETTINGS: [&str; 9] = [
    "",
    "header_table_size",
    "enable_push",
    "max_concurrent_streams",
    "initial_window_size",
    "max_frame_size",
    "max_header_list_size",
    "",
    "enable_connect_protocol",
];

/// Counts since the start or the last `/_test-server/clear`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) connections: u64,
    /// Requests that came over HTTP/2.
    pub(crate) streams: u64,
    /// The most streams that one connection had open at the same time.
    pub(crate) streams_most: u64,
    /// Streams that a client opened beyond the last one of a GOAWAY: they get no response and are not requests.
    pub(crate) unprocessed: u64,
    /// GOAWAY frames that a key demanded; the library also sends one when a client sends one.
    pub(crate) goaways: u64,
    /// TLS handshakes that succeeded, and that failed.
    pub(crate) handshakes: u64,
    pub(crate) handshakes_failed: u64,
    /// Writes that the kernel took.
    pub(crate) writes: u64,
    pub(crate) resets_received: ByCode,
    pub(crate) resets_sent: ByCode,
    pub(crate) goaways_received: ByCode,
    pub(crate) goaways_sent: ByCode,
    pub(crate) pings_received: u64,
    pub(crate) window_updates_received: u64,
    pub(crate) settings_received: u64,
    /// The last announced value of each setting, by its number.
    pub(crate) settings: [Option<u32>; SETTINGS.len()],
}

impl Counts {
    /// Adds the counts of one connection.
    pub(crate) fn merge(&mut self, other: &Counts) {
        self.connections += other.connections;
        self.streams += other.streams;
        self.streams_most = self.streams_most.max(other.streams_most);
        self.unprocessed += other.unprocessed;
        self.goaways += other.goaways;
        self.handshakes += other.handshakes;
        self.handshakes_failed += other.handshakes_failed;
        self.writes += other.writes;
        self.resets_received.merge(&other.resets_received);
        self.resets_sent.merge(&other.resets_sent);
        self.goaways_received.merge(&other.goaways_received);
        self.goaways_sent.merge(&other.goaways_sent);
        self.pings_received += other.pings_received;
        self.window_updates_received += other.window_updates_received;
        self.settings_received += other.settings_received;
        for (mine, theirs) in self.settings.iter_mut().zip(other.settings) {
            *mine = theirs.or(*mine);
        }
    }

    /// Notes the payload of a SETTINGS frame.
    pub(crate) fn announced(&mut self, payload: &[u8]) {
        self.settings_received += 1;
        for entry in payload.chunks_exact(6) {
            let number = usize::from(u16::from_be_bytes([entry[0], entry[1]]));
            if let Some(place) = self.settings.get_mut(number) {
                *place = Some(u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]));
            }
        }
    }

    /// Appends the members of `/_test-server/counters`, each with a comma after it.
    pub(crate) fn push_json(&self, to: &mut String) {
        for (name, value) in [
            ("connections", self.connections),
            ("streams", self.streams),
            ("streams_most", self.streams_most),
            ("unprocessed", self.unprocessed),
            ("goaways_commanded", self.goaways),
            ("tls_handshakes", self.handshakes),
            ("tls_handshakes_failed", self.handshakes_failed),
            ("writes", self.writes),
            ("goaways_received", self.goaways_received.total()),
            ("goaways_sent", self.goaways_sent.total()),
            ("pings_received", self.pings_received),
            ("window_updates_received", self.window_updates_received),
            ("settings_received", self.settings_received),
        ] {
            // Writing to a String cannot fail, here and below.
            let _ = write!(to, "\"http2_{name}\":{value},");
        }
        for (name, codes) in [
            ("resets_received", &self.resets_received),
            ("resets_sent", &self.resets_sent),
            ("goaway_codes_received", &self.goaways_received),
            ("goaway_codes_sent", &self.goaways_sent),
        ] {
            let _ = write!(to, "\"http2_{name}\":{},", codes.json());
        }
        let known = SETTINGS.iter().zip(self.settings).filter(|row| !row.0.is_empty());
        let members = known.filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
        let members: Vec<String> = members.collect();
        let _ = write!(to, "\"http2_settings\":{{{}}},", members.join(","));
    }
}
