//! Responses to requests that the server cannot have read. HTTP/1.1 matches responses to requests only by order, so one
//! extra response assigns every later one on its connection to the wrong request.
//!
//! Bytes on an idle connection or after a complete response are detected at no cost. Bytes that arrive just after the
//! next request was sent look like its response. But a server that has read a request has acknowledged it, so a
//! response that is in the socket while the last request is unacknowledged was sent before that request arrived. This
//! check needs a system call, so it is done for a connection's first responses and then ever less often. (A server
//! whose acknowledgements are never delayed may escape it once; it is caught at the next response that arrives together
//! with another.)

use super::{Post, Worker};
use crate::driver::Door;
use crate::exchange::Phase;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunSum, SeriesSum, fault_id};

/// Most bytes that TLS adds to a request.
const SEALING: u32 = 64;

/// Returns whether the response to the `served`-th request of its connection is checked closely: 11 of 1,000 are.
#[inline]
pub(super) fn is_looked_at(served: u32) -> bool {
    served.is_power_of_two() || served == 3
}

/// Returns whether bytes after a complete response could be taken for another one. Exceptions: an empty line, which
/// some servers do not count as part of a body, and 408, which many servers send before they close an idle connection
/// (RFC 9110, section 15.5.9).
#[inline]
pub(super) fn is_dangerous(rest: &[u8]) -> bool {
    !rest.is_empty() && !rest.trim_ascii_start().is_empty() && status_of(rest.trim_ascii_start()) != Some(408)
}

/// Returns the status that begins here, if any.
fn status_of(bytes: &[u8]) -> Option<u16> {
    let line = bytes.strip_prefix(b"HTTP/1.1 ").or_else(|| bytes.strip_prefix(b"HTTP/1.0 "))?;
    std::str::from_utf8(line.get(..3)?).ok()?.parse().ok()
}

impl<D: Door, P: Post> Worker<D, P> {
    fn came(&self, n: usize, opened: bool) -> &[u8] {
        if opened { &self.opened[..n] } else { &self.buffer[..n] }
    }

    /// Handles bytes that arrived without a request: the connection is closed. The response before them was counted; it
    /// now fails, because it is unclear which of the two was the response.
    pub(super) fn unasked(&mut self, id: u32, n: usize, opened: bool) {
        let bytes = self.came(n, opened).trim_ascii_start();
        let link = &self.links[id as usize];
        // Followed by a close, an error status is the server's notice about an idle connection, not a response.
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

    /// Returns whether the response that begins here was sent before its request was read; if so, the exchange is over.
    /// A refusal (4xx, 5xx) is valid whether or not the server has waited for the request: it counts, and its
    /// connection is not used again.
    pub(super) fn is_early(&mut self, id: u32, n: usize, opened: bool) -> bool {
        let status = status_of(self.came(n, opened));
        let link = &self.links[id as usize];
        let (early, at) = (link.early, link.exchange);
        let exchange = &self.exchanges[at as usize];
        let whole = exchange.phase == Phase::Waiting;
        // Bytes that are not a response are handled elsewhere; a request in several segments may be refused before it
        // is complete.
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
