//! One request under way, from the instant at which it was due to its end. Only as many are held as are under way at
//! once; those that are over are used again.

use crate::link::NONE;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::PHASE_UNIT_NS;
use plimsoll_plan::program::{BodyUse, Phases, RequestId, StepId};
use plimsoll_wire::h1::Ask;
use plimsoll_wire::sse;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its link is not open yet.
    Queued,
    /// The kernel did not take the whole request yet.
    Sending,
    /// Sent; the answer is awaited.
    Waiting,
    /// No connection came about: the step ends at the deadline, which is the end of a pause.
    Failed(Fault),
    /// This machine had no connection for it: the request is not under way any more, and its user comes back at the
    /// deadline.
    SentBack,
}

/// An answer that is a stream of events.
pub(crate) struct OpenStream {
    pub parser: sse::Parser,
    pub status: u16,
    /// When the last event came; 0: none has.
    pub last_event_ns: u64,
    /// What the parser is in the middle of: one more than the blocks before it; 0: nothing.
    pub unfinished: u64,
}

impl OpenStream {
    /// Its head said that it begins.
    pub fn is_accepted(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// See the module.
pub(crate) struct Exchange {
    /// When it should have begun, began (sent; 0: not yet), and was first answered (0: not yet); ns.
    pub intended_ns: u64,
    pub sent_ns: u64,
    pub first_ns: u64,
    /// When to give up, or to end a pause; 0: never. Queued: how long after the send to give up, for nothing of that
    /// time has passed.
    pub deadline_ns: u64,
    /// When the part of the answer that has begun (its head, a chunk line) must be complete; 0: none has.
    pub part_until_ns: u64,
    /// The body goes here when its step wants it; boxed, because nearly no exchange has one.
    #[allow(clippy::box_collection)]
    pub kept: Option<Box<Vec<u8>>>,
    /// A request that was rendered for this exchange and is not wholly sent.
    #[allow(clippy::box_collection)]
    pub out: Option<Box<Vec<u8>>>,
    pub stream: Option<Box<OpenStream>>,
    pub link: u32,
    /// `NONE`: the exchange is free.
    pub user: u32,
    pub request: RequestId,
    pub step: StepId,
    /// The next one of the same program.
    pub next: u32,
    /// Bytes of the request that the kernel has taken.
    pub written: u32,
    /// Of the bytes that are kept, those of the head.
    pub kept_head: u32,
    /// Where in the answer the part of `part_until_ns` begins: the lower half, because two looks are a read apart.
    pub part_at: u32,
    /// How long its connection and the handshake took that were made for it, in [`PHASE_UNIT_NS`].
    pub connect_units: u32,
    pub tls_units: u32,
    pub phase: Phase,
    pub ask: Ask,
    pub body: BodyUse,
    /// The program says whether the answer is a failure.
    pub judged: bool,
    /// The stream is to be ended by us, as soon as it has begun.
    pub cancelled: bool,
    /// There was no memory to keep the rest.
    pub short: bool,
}

impl Exchange {
    pub const FREE: Exchange = Exchange {
        intended_ns: 0,
        sent_ns: 0,
        first_ns: 0,
        deadline_ns: 0,
        part_until_ns: 0,
        kept: None,
        out: None,
        stream: None,
        link: NONE,
        user: NONE,
        request: 0,
        step: 0,
        next: NONE,
        written: 0,
        kept_head: 0,
        part_at: 0,
        connect_units: 0,
        tls_units: 0,
        phase: Phase::Queued,
        ask: Ask { head_only: false, http10: false, close: false },
        body: BodyUse::Discard,
        judged: false,
        cancelled: false,
        short: false,
    };

    /// Where its time went, when it ends now.
    pub fn phases(&self, now_ns: u64) -> Phases {
        let sent_ns = if self.sent_ns == 0 { now_ns } else { self.sent_ns };
        let first_ns = if self.first_ns == 0 { now_ns } else { self.first_ns };
        Phases {
            wait_ns: sent_ns.saturating_sub(self.intended_ns),
            connect_ns: u64::from(self.connect_units) * PHASE_UNIT_NS,
            tls_ns: u64::from(self.tls_units) * PHASE_UNIT_NS,
            first_byte_ns: first_ns.saturating_sub(sent_ns),
            body_ns: now_ns.saturating_sub(first_ns),
        }
    }

    /// The request is on its way or being answered.
    pub fn is_in_flight(&self) -> bool {
        matches!(self.phase, Phase::Sending | Phase::Waiting)
    }

    /// When to look at it next, at the latest; 0: never.
    pub fn due_ns(&self) -> u64 {
        match (self.deadline_ns, self.part_until_ns) {
            _ if self.phase == Phase::Queued => 0,
            (deadline_ns, 0) => deadline_ns,
            (0, part_ns) => part_ns,
            (deadline_ns, part_ns) => deadline_ns.min(part_ns),
        }
    }

    /// The body, or the head, is for somebody's eyes.
    pub fn keeps_body(&self) -> bool {
        matches!(self.body, BodyUse::Keep | BodyUse::Decide | BodyUse::Stream)
    }

    /// The program sees it before it is whole.
    pub fn is_looked_at(&self) -> bool {
        matches!(self.body, BodyUse::Stream | BodyUse::Decide)
    }

    /// A stream of events has begun on it.
    pub fn is_streaming(&self) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.is_accepted())
    }
}

#[cfg(test)]
mod tests {
    use super::{Exchange, OpenStream};

    #[test]
    fn an_exchange_is_smaller_than_a_link_and_a_stream_than_both() {
        assert_eq!(size_of::<Exchange>(), 112);
        // What the allocator rounds up to 96 with its own 8.
        assert_eq!(size_of::<OpenStream>(), 88);
    }
}
