//! The protocol session on a link. Each protocol is a variant here and a file in `wire`: workers use what all of them
//! provide, and know none by name.

use plimsoll_wire::h1::{self, Answer, Ask, Eof, Fed, Malformed, Part, Shared, Sink};

/// An enum, not a trait: reads need a `match`, and the variants' needs differ (only HTTP/1 lets the kernel discard
/// bodies). It has exactly the size of `h1::Session`.
pub(crate) enum Session {
    H1(h1::Session),
}

impl Session {
    pub const fn new() -> Session {
        Session::H1(h1::Session::new())
    }

    #[inline]
    pub fn submit(&mut self, ask: Ask) {
        match self {
            Session::H1(session) => session.submit(ask),
        }
    }

    #[inline]
    pub fn feed<S: Sink>(
        &mut self,
        bytes: &[u8],
        shared: &mut Shared,
        sink: &mut S,
    ) -> Result<Fed, Malformed> {
        match self {
            Session::H1(session) => session.feed(bytes, shared, sink),
        }
    }

    #[inline]
    pub fn skippable(&self) -> u64 {
        match self {
            Session::H1(session) => session.skippable(),
        }
    }

    #[inline]
    pub fn skip(&mut self, bytes: u64) -> Option<Answer> {
        match self {
            Session::H1(session) => session.skip(bytes),
        }
    }

    pub fn eof(&mut self) -> Eof {
        match self {
            Session::H1(session) => session.eof(),
        }
    }

    pub fn progress(&self) -> Answer {
        match self {
            Session::H1(session) => session.progress(),
        }
    }

    #[inline]
    pub fn part(&self) -> Part {
        match self {
            Session::H1(session) => session.part(),
        }
    }

    #[inline]
    pub fn is_idle(&self) -> bool {
        match self {
            Session::H1(session) => session.is_idle(),
        }
    }

    #[inline]
    pub fn started(&self) -> bool {
        match self {
            Session::H1(session) => session.started(),
        }
    }

    pub fn reset(&mut self, shared: &mut Shared) {
        match self {
            Session::H1(session) => session.reset(shared),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Session, h1};

    #[test]
    fn one_session_costs_no_tag() {
        assert_eq!(size_of::<Session>(), size_of::<h1::Session>());
    }
}
