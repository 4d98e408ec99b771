//! The table of faults: name, effect, and counter of each.

/// A failure that the ruler provokes on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    ResetBefore,
    CloseBefore,
    ResetMidBody,
    CloseMidBody,
    HalfClose,
    Drip,
    StallHead,
    NoResponse,
    BadStatusLine,
    BadHeader,
    ConflictingLength,
    BadChunk,
    EndlessHead,
    GarbageAfter,
    TwoResponses,
    AcceptThenReset,
    ResetIdleRace,
    StallMidBody,
    Refused,
}

/// Name, fault, and one line for the help.
pub(crate) const FAULTS: [(&str, Fault, &str); 19] = [
    ("reset_before", Fault::ResetBefore, "RST before any byte of the response"),
    ("close_before", Fault::CloseBefore, "FIN before any byte of the response"),
    ("reset_mid_body", Fault::ResetMidBody, "Complete head, half the body, RST"),
    ("close_mid_body", Fault::CloseMidBody, "Complete head, half the body, FIN"),
    ("half_close", Fault::HalfClose, "Complete head, then FIN of the writing side; continues to read"),
    ("drip", Fault::Drip, "Complete response, one byte every `drip_every`"),
    ("stall_head", Fault::StallHead, "Half the head, then nothing"),
    ("no_response", Fault::NoResponse, "Nothing; the connection stays open"),
    ("bad_status_line", Fault::BadStatusLine, "First line that is not HTTP"),
    ("bad_header", Fault::BadHeader, "Header line without a colon"),
    ("conflicting_length", Fault::ConflictingLength, "Two Content-Length headers that differ"),
    ("bad_chunk", Fault::BadChunk, "Chunk size that is not a number"),
    ("endless_head", Fault::EndlessHead, "Headers without end, 64 KiB per millisecond"),
    ("garbage_after", Fault::GarbageAfter, "Complete response, then bytes that belong to no response"),
    ("two_responses", Fault::TwoResponses, "Two complete responses to one request"),
    ("accept_then_reset", Fault::AcceptThenReset, "RST immediately after connecting (server-wide only)"),
    ("reset_idle_race", Fault::ResetIdleRace, "Complete response, then RST on the connection's next request"),
    ("stall_mid_body", Fault::StallMidBody, "Complete head, half the body, then nothing"),
    ("refused", Fault::Refused, "RST_STREAM with REFUSED_STREAM; over HTTP/1 as `reset_before`"),
];

impl Fault {
    /// Returns the fault with this name.
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        FAULTS.iter().find(|row| row.0 == name).map(|row| row.1).ok_or_else(|| {
            let names: Vec<&str> = FAULTS.iter().map(|row| row.0).collect();
            format!("unknown fault `{name}`: expected none, {}", names.join(", "))
        })
    }

    pub(crate) fn name(self) -> &'static str {
        FAULTS[self.index()].0
    }

    /// Returns true if HTTP/2 has this fault. It has no status lines and no chunks, a head is sent as a whole, and one
    /// response does not decide what follows on its connection.
    pub(crate) fn fits_http2(self) -> bool {
        !matches!(
            self,
            Fault::HalfClose
                | Fault::StallHead
                | Fault::BadStatusLine
                | Fault::BadHeader
                | Fault::BadChunk
                | Fault::EndlessHead
                | Fault::ResetIdleRace
        )
    }

    /// Returns its index in [`FAULTS`], which is also its index in the counters.
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Returns true if the client still gets one complete, well-formed response to its request.
    pub(crate) fn answers_in_full(self) -> bool {
        matches!(self, Fault::Drip | Fault::GarbageAfter | Fault::TwoResponses | Fault::ResetIdleRace)
    }
}
