//! Where a redirect led, kept once per worker: a run of nothing but redirects says what to load instead.

use super::{Post, Worker};
use crate::driver::Door;
use plimsoll_plan::failure_example::{FailureExample, REDIRECT};
use plimsoll_plan::program::RequestId;
use plimsoll_plan::request::redacted_url;

/// Longer ones are of no use to a reader.
const LOCATION_MAX: usize = 300;

impl<D: Door, P: Post> Worker<D, P> {
    /// Looks for `Location` in the first `n` bytes that came last. A head that came in pieces is left for the next
    /// redirect.
    #[cold]
    pub(super) fn note_redirect(&mut self, request: RequestId, status: u16, n: usize, opened: bool) {
        let bytes = if opened { &self.opened[..n] } else { &self.buffer[..n] };
        let Some(location) = location(bytes) else { return };
        self.redirect_noted = true;
        self.samples.push(FailureExample {
            at_ns: self.now_ns.saturating_sub(self.begin_ns),
            request: self.outline.requests.get(request as usize).map(|r| r.name.clone()).unwrap_or_default(),
            check: REDIRECT.to_owned(),
            observed: redacted_url(location),
            status,
            excerpt: String::new(),
        });
    }
}

/// The value of the first `Location` line of a head. Only what a URL may hold: it is shown to people.
fn location(head: &[u8]) -> Option<&str> {
    for line in head.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        let Some((name, value)) = line.iter().position(|byte| *byte == b':').map(|at| line.split_at(at))
        else {
            continue;
        };
        if name.eq_ignore_ascii_case(b"location") {
            let value = std::str::from_utf8(value[1..].trim_ascii()).ok()?;
            let is_shown = value.len() <= LOCATION_MAX && value.bytes().all(|byte| byte.is_ascii_graphic());
            return (is_shown && !value.is_empty()).then_some(value);
        }
    }
    None
}
