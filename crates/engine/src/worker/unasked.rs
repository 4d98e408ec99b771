//! Answers to requests that the server cannot have read. HTTP/1.1 matches answers to requests by their order alone, so
//! one answer too many makes every later one on its connection another request's.
//!
//! What comes on an idle connection or behind a whole answer is seen for nothing. What comes just after the next
//! request was sent looks like its answer; but a server that has read a request has acknowledged it, so an answer that
//! stands in the socket while the request in front of it is unacknowledged was sent before. That costs a question to
//! the kernel, so it is asked of a connection's first answers and then ever more seldom. (A server that delays no
//! acknowledgement may get past it once; it is caught at the next answer that comes together with another.)

use super::{Post, Worker};
use crate::driver::Door;
use crate::exchange::Phase;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunSum, SeriesSum, fault_id};

/// Room for what TLS adds to a request, bytes.
const SEALING: u32 = 64;

/// Is an answer to the `served`-th request of its connection looked at closely? Of 1,000 eleven are.
#[inline]
pub(super) fn is_looked_at(served: u32) -> bool {
    served.is_power_of_two() || served == 3
}

/// Bytes behind a whole answer that may be taken for another one. Not: an empty line, which some servers do not count
/// as part of a body, and 408, by which many servers take leave of an idle connection (RFC 9110, section 15.5.9).
#[inline]
pub(super) fn is_dangerous(rest: &[u8]) -> bool {
    !rest.is_empty() && !rest.trim_ascii_start().is_empty() && status_of(rest.trim_ascii_start()) != Some(408)
}

/// The status that begins here, if one does.
fn status_of(bytes: &[u8]) -> Option<u16> {
    let line = bytes.strip_prefix(b"HTTP/1.1 ").or_else(|| bytes.strip_prefix(b"HTTP/1.0 "))?;
    std::str::from_utf8(line.get(..3)?).ok()?.parse().ok()
}

impl<D: Door, P: Post> Worker<D, P> {
    fn came(&self, n: usize, opened: bool) -> &[u8] {
        if opened { &self.opened[..n] } else { &self.buffer[..n] }
    }

    /// Bytes have come although no request is out: the connection is given up. The answer before them was counted; it
    /// has failed now, because nobody can say which of the two was the answer.
    pub(super) fn unasked(&mut self, id: u32, n: usize, opened: bool) {
        let bytes = self.came(n, opened).trim_ascii_start();
        let link = &self.links[id as usize];
        // With a close behind it an error is the server's last word on an idle connection, and no answer.
        let notice =
            matches!(status_of(bytes), Some(408)) || link.is_peer_closed() && status_of(bytes) >= Some(400);
        let (request, failed, peer_closed) = (link.request, link.failed, link.is_peer_closed());
        let danger = !notice && is_dangerous(bytes);
        self.tally.add(RunSum::UnexpectedBytes, u64::from(danger || !notice && !peer_closed));
        self.tally.add(if danger { RunSum::ClosedAfterError } else { RunSum::ClosedByServer }, 1);
        if danger {
            let series = self.tally.series(request);
            series.add(SeriesSum::Failed.id(), u64::from(!failed));
            series.add(fault_id(Fault::UnsafeResponse), 1);
        }
        self.close_socket(id);
    }

    /// Was the answer that begins here sent before its request was read? Then the exchange is over. A refusal (4xx,
    /// 5xx) is one whether or not the server has waited for the request: it counts, and its connection is not used
    /// again.
    pub(super) fn is_early(&mut self, id: u32, n: usize, opened: bool) -> bool {
        let status = status_of(self.came(n, opened));
        let link = &self.links[id as usize];
        let (early, at) = (link.early, link.exchange);
        let exchange = &self.exchanges[at as usize];
        let whole = exchange.phase == Phase::Waiting;
        // What is no answer is somebody else's business; a request in several segments may be refused in its middle.
        if status.is_none() || !(early || whole) {
            return false;
        }
        if !early {
            let written = exchange.written.saturating_add(SEALING);
            let facts = self.read_facts(id);
            if facts.unacknowledged == 0 || written > facts.segment_bytes {
                return false;
            }
        }
        let link = &mut self.links[id as usize];
        link.early = false;
        match status {
            Some(408) if link.served > 1 => self.stale(at),
            Some(400..) => {
                link.peer_closes();
                return false;
            }
            _ => {
                self.tally.add(RunSum::UnexpectedBytes, 1);
                self.failed(at, Fault::UnsafeResponse);
            }
        }
        true
    }
}
