//! The protocol session on a link. Each protocol is a variant here and a file in `wire`: workers use what all of them
//! provide.

use super::multiplex::Multiplex;
use crate::probe::HTTP2;
use plimsoll_wire::h1::{self, Answer, Part, Shared};

/// An enum, not a trait: reads need a `match`, and the variants' needs differ (only HTTP/1 lets the kernel discard
/// bodies). It has exactly the size of `h1::Session`.
pub(crate) enum Session {
    /// One exchange at a time.
    H1(h1::Session),
    /// Many: HTTP/2, or HTTP/1.1 with pipelining.
    H2(Box<Multiplex>),
}

impl Session {
    /// Returns the session of HTTP/1.
    #[inline]
    pub fn http1(&mut self) -> Option<&mut h1::Session> {
        match self {
            Session::H1(session) => Some(session),
            Session::H2(_) => None,
        }
    }

    #[inline]
    pub fn multiplex(&mut self) -> Option<&mut Multiplex> {
        match self {
            Session::H1(_) => None,
            Session::H2(multiplex) => Some(multiplex),
        }
    }

    #[inline]
    pub fn is_multiplexed(&self) -> bool {
        matches!(self, Session::H2(_))
    }

    /// Returns how many bytes of a body the kernel may discard now.
    #[inline]
    pub fn skippable(&self) -> u64 {
        match self {
            Session::H1(session) => session.skippable(),
            // A frame head follows every few kilobytes.
            Session::H2(_) => 0,
        }
    }

    #[inline]
    pub fn skip(&mut self, bytes: u64) -> Option<Answer> {
        match self {
            Session::H1(session) => session.skip(bytes),
            Session::H2(_) => None,
        }
    }

    /// Returns the part of a response that must be complete in time.
    #[inline]
    pub fn part(&self) -> Part {
        match self {
            Session::H1(session) => session.part(),
            Session::H2(_) => Part::Body,
        }
    }

    /// Returns whether no response is expected.
    #[inline]
    pub fn is_idle(&self) -> bool {
        match self {
            Session::H1(session) => session.is_idle(),
            Session::H2(multiplex) => multiplex.open_streams() == 0,
        }
    }

    /// Returns whether bytes of a response have arrived.
    #[inline]
    pub fn started(&self) -> bool {
        match self {
            Session::H1(session) => session.started(),
            Session::H2(_) => true,
        }
    }

    /// Returns what has arrived of the response to an exchange; `place` is that of the exchange.
    pub fn progress(&self, place: u32) -> Answer {
        const NOTHING: Answer =
            Answer { status: 0, head_bytes: 0, body_bytes: 0, wire_bytes: 0, reusable: false };
        match self {
            Session::H1(session) => session.progress(),
            Session::H2(multiplex) => {
                multiplex.wire.as_ref().and_then(|wire| wire.progress(place)).unwrap_or(NOTHING)
            }
        }
    }

    pub fn reset(&mut self, shared: &mut Shared) {
        match self {
            Session::H1(session) => session.reset(shared),
            Session::H2(multiplex) => multiplex.reset(),
        }
    }

    /// Returns the name that TLS negotiates (ALPN) for this protocol, if it is required.
    pub fn required_alpn(&self) -> Option<&'static [u8]> {
        match self {
            Session::H1(_) => None,
            Session::H2(multiplex) => multiplex.pipe.is_none().then_some(HTTP2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Session, h1};

    #[test]
    fn a_session_costs_no_more_than_that_of_http1() {
        assert_eq!(size_of::<Session>(), size_of::<h1::Session>());
    }
}
