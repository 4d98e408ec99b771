//! Requests that are sent, or whose responses are read, in pieces: what of them is due, by numbers alone.
//!
//! Only a plan with such requests has a [`Courier`]; every other load asks once whether there is one.

use crate::wheel::Wheel;
use plimsoll_plan::delivery::{Delivery, piece_of, step_ns};
use plimsoll_plan::outline::Outline;
use plimsoll_plan::program::RequestId;
use plimsoll_plan::unit::SECOND_NS;

/// Bytes after the last chunk that belong to it: without them, it would not be the last.
const LAST_CHUNK_BYTES: u32 = 5;

/// The part of a request whose next piece is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Part {
    Head,
    /// The head is sent, and the body waits for `100 Continue`.
    Continue,
    Body,
    /// All of it may be sent.
    #[default]
    Whole,
}

/// The state of one such exchange.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Transfer {
    pub part: Part,
    /// The request contains `Expect: 100-continue`.
    pub expects: bool,
    /// The body is in chunks.
    pub is_framed: bool,
    /// Where the body begins, and the length of the whole request.
    pub body_at: u32,
    pub len: u32,
    /// Bytes that may be sent so far.
    pub granted: u32,
    /// When the next piece is due, or when the wait for `100 Continue` ends.
    pub next_ns: u64,
    /// When the next piece of the response may be read.
    pub read_ns: u64,
}

impl Transfer {
    /// Begins a request whose head is `body_at` bytes long.
    pub fn begin(mut self, of: &Delivery, now_ns: u64) -> Transfer {
        (self.part, self.granted, self.next_ns, self.read_ns) = (Part::Head, 0, now_ns, now_ns);
        self.advance(of, now_ns);
        self
    }

    /// Begins a request whose head is sent already.
    pub fn begin_body(mut self, of: &Delivery, now_ns: u64) -> Transfer {
        (self.granted, self.read_ns) = (self.body_at, now_ns);
        self.head_sent(of, now_ns);
        self
    }

    /// Grants the pieces that are due.
    pub fn advance(&mut self, of: &Delivery, now_ns: u64) {
        match self.part {
            Part::Head => {
                match of.head_bytes_per_s {
                    Some(rate) => {
                        let piece = piece_of(rate);
                        self.grant((piece, step_ns(piece, rate)), self.body_at, now_ns);
                    }
                    None => self.granted = self.body_at,
                }
                if self.granted >= self.body_at {
                    self.head_sent(of, now_ns);
                }
            }
            // The wait is over.
            Part::Continue => self.start_body(of, now_ns),
            Part::Body => self.grant_body(of, now_ns),
            Part::Whole => {}
        }
    }

    /// Begins the body: after `100 Continue`, or without it.
    pub fn start_body(&mut self, of: &Delivery, now_ns: u64) {
        (self.part, self.next_ns) = (Part::Body, now_ns);
        self.grant_body(of, now_ns);
    }

    fn head_sent(&mut self, of: &Delivery, now_ns: u64) {
        match of.continue_ns.filter(|_| self.expects && self.body_at < self.len) {
            Some(wait_ns) => (self.part, self.next_ns) = (Part::Continue, now_ns.saturating_add(wait_ns)),
            None => self.start_body(of, now_ns),
        }
    }

    fn grant_body(&mut self, of: &Delivery, now_ns: u64) {
        match (of.body_bytes_per_s, of.piece_bytes()) {
            (Some(rate), Some(piece)) => {
                let on_the_wire = if self.is_framed { framed_bytes(piece) } else { piece };
                self.grant((on_the_wire, step_ns(piece, rate)), self.len, now_ns);
                if self.is_framed && self.len - self.granted <= LAST_CHUNK_BYTES {
                    self.granted = self.len;
                }
            }
            (_, _) => self.granted = self.len,
        }
        if self.granted >= self.len {
            self.part = Part::Whole;
        }
    }

    /// Grants pieces up to `end`. A late timer grants those that it has missed, but at most those of a second.
    fn grant(&mut self, (piece, step_ns): (u32, u64), end: u32, now_ns: u64) {
        self.next_ns = self.next_ns.max(now_ns.saturating_sub(SECOND_NS));
        if self.next_ns > now_ns {
            return;
        }
        let step_ns = step_ns.max(1);
        let pieces = (now_ns - self.next_ns) / step_ns + 1;
        let bytes = pieces.saturating_mul(u64::from(piece));
        self.granted = u64::from(end).min(u64::from(self.granted).saturating_add(bytes)) as u32;
        self.next_ns += pieces * step_ns;
    }

    /// Puts the next piece off, because the connection has not taken the last one: no burst follows.
    pub fn put_off(&mut self, of: &Delivery, now_ns: u64) {
        let rate = if self.part == Part::Head { of.head_bytes_per_s } else { of.body_bytes_per_s };
        let Some(rate) = rate else { return };
        let piece = if self.part == Part::Head { Some(piece_of(rate)) } else { of.piece_bytes() };
        self.next_ns = now_ns + step_ns(piece.unwrap_or(1), rate).max(1);
    }

    /// Takes the next piece of a response that is read at a rate: how many bytes may be read now, and 0 if it is too
    /// early.
    pub fn take_read(&mut self, bytes_per_s: u64, now_ns: u64) -> u32 {
        if self.read_ns > now_ns {
            return 0;
        }
        let piece = piece_of(bytes_per_s);
        let step_ns = step_ns(piece, bytes_per_s).max(1);
        // Of a late timer, one more piece is made up for.
        self.read_ns = (self.read_ns + step_ns).max(now_ns.saturating_sub(step_ns));
        piece
    }
}

/// Returns the length of a chunk with its framing.
fn framed_bytes(payload: u32) -> u32 {
    let digits = (32 - payload.leading_zeros()).div_ceil(4);
    payload + digits + 4
}

/// The deliveries of a plan, and the state of the exchanges that have one.
pub(crate) struct Courier {
    /// By request.
    deliveries: Box<[Option<Delivery>]>,
    /// By exchange.
    transfers: Vec<Transfer>,
    pub wheel: Wheel,
}

impl Courier {
    /// Returns the courier of a plan, if it has any work for one.
    pub fn new(outline: &Outline, now_ns: u64) -> Option<Box<Courier>> {
        let last = outline.deliveries.iter().map(|(request, _)| *request as usize).max()?;
        let mut deliveries = vec![None; last + 1];
        for (request, delivery) in &outline.deliveries {
            deliveries[*request as usize] = Some(*delivery);
        }
        Some(Box::new(Courier {
            deliveries: deliveries.into(),
            transfers: Vec::new(),
            wheel: Wheel::new(now_ns),
        }))
    }

    /// Returns how a request is delivered, if not at once.
    #[inline]
    pub fn of(&self, request: RequestId) -> Option<Delivery> {
        self.deliveries.get(request as usize).copied().flatten()
    }

    /// Sets the state of an exchange.
    pub fn set(&mut self, exchange: u32, transfer: Transfer) {
        let at = exchange as usize;
        if self.transfers.len() <= at {
            self.transfers.resize(at + 1, Transfer::default());
            self.wheel.grow(at + 1);
        }
        self.transfers[at] = transfer;
    }

    pub fn get(&self, exchange: u32) -> Transfer {
        self.transfers.get(exchange as usize).copied().unwrap_or_default()
    }

    /// Returns how much of a request may be sent, and in pieces of which size.
    pub fn granted(&self, exchange: u32, request: RequestId, len: usize) -> (usize, usize) {
        match self.of(request) {
            Some(delivery) => {
                let piece = delivery.piece_bytes().map_or(usize::MAX, |piece| piece as usize);
                (len.min(self.get(exchange).granted as usize), piece)
            }
            None => (len, usize::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Transfer, framed_bytes};
    use plimsoll_plan::delivery::Delivery;

    const MS: u64 = 1_000_000;

    fn request(body_at: u32, len: u32) -> Transfer {
        Transfer { body_at, len, ..Transfer::default() }
    }

    #[test]
    fn a_throttled_body_is_granted_at_its_rate() {
        let of = Delivery { body_bytes_per_s: Some(1_000), ..Delivery::default() };
        let mut transfer = request(100, 1_100).begin(&of, 0);
        // The head and the first of 20 pieces; then one each 50 ms.
        assert_eq!((transfer.part, transfer.granted, transfer.next_ns), (Part::Body, 150, 50 * MS));
        transfer.advance(&of, 49 * MS);
        assert_eq!(transfer.granted, 150);
        transfer.advance(&of, 151 * MS);
        assert_eq!((transfer.granted, transfer.next_ns), (300, 200 * MS), "a late timer catches up");
        transfer.advance(&of, 950 * MS);
        assert_eq!((transfer.part, transfer.granted), (Part::Whole, 1_100));
    }

    #[test]
    fn a_piece_that_the_connection_did_not_take_is_not_made_up_for() {
        let of = Delivery { body_bytes_per_s: Some(1_000), ..Delivery::default() };
        let mut transfer = request(100, 1_100).begin(&of, 0);
        transfer.put_off(&of, 700 * MS);
        transfer.advance(&of, 749 * MS);
        assert_eq!(transfer.granted, 150);
        transfer.advance(&of, 750 * MS);
        assert_eq!(transfer.granted, 200);
    }

    #[test]
    fn a_body_waits_for_continue_or_the_end_of_the_wait() {
        let of = Delivery { continue_ns: Some(MS), ..Delivery::default() };
        let begun = Transfer { expects: true, ..request(100, 200) }.begin(&of, 5);
        assert_eq!((begun.part, begun.granted, begun.next_ns), (Part::Continue, 100, 5 + MS));
        let mut after_wait = begun;
        after_wait.advance(&of, 5 + MS);
        assert_eq!((after_wait.part, after_wait.granted), (Part::Whole, 200));
        let redirected = request(100, 100).begin(&of, 0);
        assert_eq!(
            (redirected.part, redirected.granted),
            (Part::Whole, 100),
            "without a body, nothing waits"
        );
    }

    #[test]
    fn a_head_is_sent_byte_by_byte() {
        let of = Delivery { head_bytes_per_s: Some(10), ..Delivery::default() };
        let mut transfer = request(30, 40).begin(&of, 0);
        for sent in 1..30 {
            assert_eq!((transfer.part, transfer.granted), (Part::Head, sent));
            transfer.advance(&of, u64::from(sent) * 100 * MS);
        }
        assert_eq!((transfer.part, transfer.granted), (Part::Whole, 40));
    }

    #[test]
    fn chunks_are_granted_with_their_framing() {
        let of = Delivery {
            is_chunked: true,
            chunk_bytes: Some(16),
            body_bytes_per_s: Some(160),
            ..Delivery::default()
        };
        // Two chunks of 16 bytes, one of 2, and the end.
        let len = 50 + 2 * framed_bytes(16) + framed_bytes(2) + 5;
        let mut transfer = Transfer { is_framed: true, ..request(50, len) }.begin(&of, 0);
        assert_eq!(transfer.granted, 50 + 22);
        transfer.advance(&of, 100 * MS);
        assert_eq!(transfer.granted, 50 + 44);
        transfer.advance(&of, 200 * MS);
        assert_eq!((transfer.part, transfer.granted), (Part::Whole, len), "the end goes with the last chunk");
    }

    #[test]
    fn a_response_is_read_at_its_rate() {
        let mut transfer = request(10, 10).begin(&Delivery::default(), 0);
        let (mut read, mut now_ns) = (0, 0);
        while now_ns < 10_000 * MS {
            read += u64::from(transfer.take_read(1_000, now_ns));
            now_ns += 7 * MS;
        }
        assert!((9_900..=10_100).contains(&read), "{read}");
    }

    #[test]
    fn a_chunk_has_its_size_in_hexadecimal_digits() {
        assert_eq!([1, 15, 16, 255, 256, 16_384].map(|n| framed_bytes(n) - n), [5, 5, 6, 6, 7, 8]);
    }
}
