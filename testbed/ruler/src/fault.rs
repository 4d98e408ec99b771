//! The vocabulary of faults: one table of names, what each does, and what it counts as.

/// Something wrong that the ruler does on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    ResetBefore,
    CloseBefore,
    ResetMidBody,
    CloseMidBody,
    HalfClose,
    Drip,
    StallHead,
    Never,
    BadStatusLine,
    BadHeader,
    ConflictingLength,
    BadChunk,
    EndlessHead,
    GarbageAfter,
    TwoAnswers,
    AcceptThenReset,
    ResetIdleRace,
    StallMidBody,
    Refused,
}

/// Name, fault, and one line for the help.
pub(crate) const FAULTS: [(&str, Fault, &str); 19] = [
    ("reset_before", Fault::ResetBefore, "RST before any byte of the answer"),
    ("close_before", Fault::CloseBefore, "FIN before any byte of the answer"),
    ("reset_mid_body", Fault::ResetMidBody, "whole head, half the body, RST"),
    ("close_mid_body", Fault::CloseMidBody, "whole head, half the body, FIN"),
    ("half_close", Fault::HalfClose, "head, then FIN of the writing side; reads on"),
    ("drip", Fault::Drip, "whole answer, one byte every `drip_every`"),
    ("stall_head", Fault::StallHead, "half the head, then nothing"),
    ("never", Fault::Never, "no answer"),
    ("bad_status_line", Fault::BadStatusLine, "a first line that is not HTTP"),
    ("bad_header", Fault::BadHeader, "a header line without a colon"),
    ("conflicting_length", Fault::ConflictingLength, "two Content-Length headers that differ"),
    ("bad_chunk", Fault::BadChunk, "a chunk size that is no number"),
    ("endless_head", Fault::EndlessHead, "headers without end, 64 KiB a millisecond"),
    ("garbage_after", Fault::GarbageAfter, "a whole answer, then bytes that belong to none"),
    ("two_answers", Fault::TwoAnswers, "two whole answers to one request"),
    ("accept_then_reset", Fault::AcceptThenReset, "RST at once on connect (server-wide only)"),
    ("reset_idle_race", Fault::ResetIdleRace, "a whole answer, then RST on the connection's next request"),
    ("stall_mid_body", Fault::StallMidBody, "complete head, half of the body, then nothing"),
    ("refused", Fault::Refused, "RST_STREAM with REFUSED_STREAM; over HTTP/1 as reset_before"),
];

impl Fault {
    /// The fault called `name`.
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        FAULTS.iter().find(|row| row.0 == name).map(|row| row.1).ok_or_else(|| {
            let names: Vec<&str> = FAULTS.iter().map(|row| row.0).collect();
            format!("`{name}` is no fault; there are none, {}", names.join(", "))
        })
    }

    pub(crate) fn name(self) -> &'static str {
        FAULTS[self.index()].0
    }

    /// HTTP/2 knows it too. It has no status lines and no chunks, a head is sent as a whole, and one response does not
    /// decide what follows on its connection.
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

    /// Its place in [`FAULTS`], which is also its place in counters.
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// True when the client still gets one whole, well-formed answer to its request.
    pub(crate) fn answers_in_full(self) -> bool {
        matches!(self, Fault::Drip | Fault::GarbageAfter | Fault::TwoAnswers | Fault::ResetIdleRace)
    }
}
