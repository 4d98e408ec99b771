//! The target of a redirect, kept once per worker: if a run gets only redirects, it can report what to load instead.

use super::{Post, Worker};
use crate::driver::Door;
use plimsoll_plan::failure_example::{FailureExample, REDIRECT};
use plimsoll_plan::program::RequestId;
use plimsoll_plan::request::redacted_url;

/// Longer targets do not help a reader.
const LOCATION_MAX: usize = 300;

impl<D: Door, P: Post> Worker<D, P> {
    /// Looks for `Location` in the last `n` bytes received. A head split over several reads is left for the next
    /// redirect.
    #[cold]
    pub(super) fn seek_redirect(&mut self, request: RequestId, status: u16, n: usize, opened: bool) {
        let bytes = if opened { &self.opened[..n] } else { &self.buffer[..n] };
        let target = location(bytes).map(redacted_url);
        self.note_redirect(request, status, target);
    }

    /// Looks for `Location` in a head.
    #[cold]
    pub(super) fn seek_redirect_in(&mut self, request: RequestId, status: u16, head: &[u8]) {
        self.note_redirect(request, status, location(head).map(redacted_url));
    }

    fn note_redirect(&mut self, request: RequestId, status: u16, target: Option<String>) {
        let Some(target) = target else { return };
        self.redirect_noted = true;
        self.samples.push(FailureExample {
            at_ns: self.now_ns.saturating_sub(self.begin_ns),
            request: self.outline.requests.get(request as usize).map(|r| r.name.clone()).unwrap_or_default(),
            check: REDIRECT.to_owned(),
            observed: target,
            status,
            excerpt: String::new(),
        });
    }
}

/// Returns the value of the first `Location` line of a head. It accepts only characters allowed in a URL, because users
/// see it.
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
