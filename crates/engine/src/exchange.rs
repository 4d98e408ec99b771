//! One request, from its intended start time to its end. Entries exist only for the requests in progress at the same
//! time; those of ended requests are reused.

use crate::link::NONE;
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::PHASE_UNIT_NS;
use plimsoll_plan::program::{BodyUse, COMPRESSED, Phases, RequestId, StepId};
use plimsoll_wire::{grpc, sse, ws};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The link is not open yet.
    Queued,
    /// The kernel has not taken the whole request yet.
    Sending,
    /// Sent, waiting for the response.
    Waiting,
    /// No connection could be opened: the step ends at the deadline, which is the end of a pause.
    Failed(Fault),
    /// The load generator had no connection for it: the request is no longer in progress, and its user returns at the
    /// deadline.
    SentBack,
    /// The same, but its user still has to send the request, with its intended start time.
    Owed,
}

/// The reader of a stream, by the content type of its head.
pub(crate) enum Parser {
    Events(sse::Parser),
    Messages(grpc::Parser),
}

/// Receives the name, the data, and the ID of an event.
type OnEvent<'e> = dyn FnMut(&[u8], &[u8], Option<&[u8]>) + 'e;

/// Why a stream cannot be read any further.
pub(crate) enum Unreadable {
    TooLong,
    Invalid,
}

impl Parser {
    pub fn of(head: Head<'_>) -> Parser {
        let is_grpc =
            |kind: &[u8]| kind.get(..16).is_some_and(|kind| kind.eq_ignore_ascii_case(b"application/grpc"));
        match head.field("content-type").is_some_and(is_grpc) {
            true => Parser::Messages(grpc::Parser::default()),
            false => Parser::Events(sse::Parser::new()),
        }
    }

    /// Calls `event` for each event or message that ends in `bytes`, with its name, its data, and its ID.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        spares: &mut sse::Spares,
        limit_bytes: usize,
        event: &mut OnEvent<'_>,
    ) -> Result<(), Unreadable> {
        match self {
            Parser::Events(parser) => parser
                .feed(bytes, spares, limit_bytes, &mut |one| event(one.name, one.data, one.id))
                .map_err(|_| Unreadable::TooLong),
            Parser::Messages(parser) => {
                let mut message = |one: grpc::Message<'_>| {
                    let name = if one.is_compressed { COMPRESSED } else { b"" };
                    event(name, one.bytes, None);
                };
                parser.feed(bytes, spares, limit_bytes, &mut message).map_err(|why| match why {
                    grpc::Unreadable::TooLong => Unreadable::TooLong,
                    grpc::Unreadable::Flag => Unreadable::Invalid,
                })
            }
        }
    }

    /// Returns the number of complete parts if the stream is in the middle of another one.
    pub fn unfinished(&self) -> Option<u64> {
        match self {
            Parser::Events(parser) => parser.unfinished(),
            Parser::Messages(parser) => parser.unfinished(),
        }
    }

    pub fn reset(&mut self, spares: &mut sse::Spares) {
        match self {
            Parser::Events(parser) => parser.reset(spares),
            Parser::Messages(parser) => parser.reset(spares),
        }
    }
}

/// What the body of a response is read as.
pub(crate) enum Reader {
    Events(Parser),
    /// The response has opened a WebSocket.
    Socket(Box<OpenSocket>),
    /// A WebSocket that was refused: its body is not read.
    Nothing,
}

/// An open WebSocket.
pub(crate) struct OpenSocket {
    pub reader: ws::Session,
    pub writer: ws::Writer,
    /// Its program has accepted the handshake, and it is counted as opened.
    pub is_open: bool,
    /// A close frame was sent.
    pub is_closing: bool,
    /// The server's close frame has come as well: over HTTP/2, it waits for the end of its stream.
    pub is_over: bool,
    /// The code of the server's close frame; 0: none.
    pub close_code: u16,
    /// Why it must be ended as failed.
    pub broken: Option<Fault>,
}

/// A response that is a stream of events, or that opens a WebSocket.
pub(crate) struct OpenStream {
    pub reader: Reader,
    pub status: u16,
    /// Time of the last event, or of the last message; 0: none has arrived.
    pub last_event_ns: u64,
    /// The block that the parser is in the middle of: one more than the number of blocks before it; 0: none.
    pub unfinished: u64,
}

impl OpenStream {
    /// Returns whether the status of its head accepts the stream.
    pub fn is_accepted(&self) -> bool {
        match &self.reader {
            Reader::Events(_) => (200..300).contains(&self.status),
            Reader::Socket(socket) => socket.is_open,
            Reader::Nothing => false,
        }
    }
}

/// One request in progress.
pub(crate) struct Exchange {
    /// Intended start time, send time (0: not sent), and time of the first byte (0: none); ns.
    pub intended_ns: u64,
    pub sent_ns: u64,
    pub first_ns: u64,
    /// Time of the timeout, or of the end of a pause; 0: never. Before the send, it is the timeout after it instead,
    /// because none of that time has passed yet.
    pub deadline_ns: u64,
    /// Time by which a part of the response that has begun (its head, a chunk line) must be complete; 0: none has
    /// begun.
    pub part_until_ns: u64,
    /// The body, if the step needs it; boxed, because almost no exchange has one.
    #[allow(clippy::box_collection)]
    pub kept: Option<Box<Vec<u8>>>,
    /// A request rendered for this exchange that is not completely sent.
    #[allow(clippy::box_collection)]
    pub out: Option<Box<Vec<u8>>>,
    pub stream: Option<Box<OpenStream>>,
    pub link: u32,
    /// `NONE`: the exchange is free.
    pub user: u32,
    pub request: RequestId,
    pub step: StepId,
    /// The next exchange of the same program.
    pub next: u32,
    /// Bytes of the request that the kernel has taken.
    pub written: u32,
    /// Bytes of the head among the kept bytes.
    pub kept_head: u32,
    /// HTTP/1: position in the response at which the part of `part_until_ns` begins: its lower half, because two checks
    /// are one read apart. HTTP/2: the number of its stream; 0: none.
    pub place: u32,
    /// Duration of the connect and of the TLS handshake made for it, in [`PHASE_UNIT_NS`].
    pub connect_units: u32,
    pub tls_units: u32,
    pub phase: Phase,
    /// The method is HEAD.
    pub head_only: bool,
    /// The request has `Connection: close`.
    pub close: bool,
    /// It was sent once, and the server has not processed it; or it cannot be retried, because what was sent is not
    /// held any more.
    pub is_resent: bool,
    pub body: BodyUse,
    /// The program decides whether the response is a failure.
    pub judged: bool,
    /// The client must end the stream as soon as it has begun.
    pub cancelled: bool,
    /// There was not enough memory to keep the rest.
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
        place: 0,
        connect_units: 0,
        tls_units: 0,
        phase: Phase::Queued,
        head_only: false,
        close: false,
        is_resent: false,
        body: BodyUse::Discard,
        judged: false,
        cancelled: false,
        short: false,
    };

    /// Returns the latency breakdown if it ends now.
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

    /// Returns whether its frames wait to be sent together with others: the time of the timeout is not known yet.
    pub fn is_begun(&self) -> bool {
        self.sent_ns == 0 && self.is_in_flight()
    }

    /// Returns whether the request is being sent or is waiting for its response.
    pub fn is_in_flight(&self) -> bool {
        matches!(self.phase, Phase::Sending | Phase::Waiting)
    }

    /// Returns whether the request must not be retried, although the server has not processed it: the server says
    /// so for the second time, or after a part of the response.
    pub fn is_final(&self) -> bool {
        self.sent_ns > 0 && (self.is_resent || self.first_ns > 0)
    }

    /// Returns the latest time for the next check; 0: never.
    pub fn due_ns(&self) -> u64 {
        match (self.deadline_ns, self.part_until_ns) {
            _ if self.phase == Phase::Queued || self.is_begun() => 0,
            (deadline_ns, 0) => deadline_ns,
            (0, part_ns) => part_ns,
            (deadline_ns, part_ns) => deadline_ns.min(part_ns),
        }
    }

    /// Returns whether the body, or the head, is read by a program.
    pub fn keeps_body(&self) -> bool {
        self.body.is_stream() || matches!(self.body, BodyUse::Keep | BodyUse::Decide | BodyUse::WebSocket)
    }

    /// Returns whether the program sees the response before it is complete.
    pub fn is_looked_at(&self) -> bool {
        self.body.is_stream() || matches!(self.body, BodyUse::Decide | BodyUse::WebSocket)
    }

    /// Returns whether the sink receives its body piece by piece.
    pub fn is_read_in_pieces(&self) -> bool {
        self.body.is_stream() || self.body == BodyUse::WebSocket
    }

    /// Returns whether more may follow what was sent of the request: its stream stays open.
    pub fn stays_open(&self) -> bool {
        match self.body {
            BodyUse::Duplex => true,
            BodyUse::WebSocket => self.stream.as_deref().is_none_or(|stream| match &stream.reader {
                Reader::Socket(socket) => !socket.is_over,
                Reader::Events(_) | Reader::Nothing => true,
            }),
            _ => false,
        }
    }

    /// Returns whether a WebSocket is open on it.
    pub fn is_socket(&self) -> bool {
        self.stream.as_ref().is_some_and(|stream| matches!(stream.reader, Reader::Socket(_)))
    }

    /// Returns whether a stream of events has begun on it.
    pub fn is_streaming(&self) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.is_accepted())
    }
}

#[cfg(test)]
mod tests {
    use super::{Exchange, OpenStream, Phase};

    #[test]
    fn a_request_that_has_begun_and_is_not_sent_has_no_deadline() {
        let begun = Exchange { deadline_ns: 10, phase: Phase::Waiting, ..Exchange::FREE };
        assert_eq!(begun.due_ns(), 0, "this is how long it may take, not when");
        assert_eq!(Exchange { sent_ns: 5, deadline_ns: 15, ..begun }.due_ns(), 15);
    }

    #[test]
    fn an_exchange_is_smaller_than_a_link_and_a_stream_than_both() {
        assert_eq!(size_of::<Exchange>(), 112);
        // The allocator adds 8 bytes and rounds up to 96.
        assert_eq!(size_of::<OpenStream>(), 88);
    }
}
