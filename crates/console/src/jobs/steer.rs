//! Steering of a running load, and its effect. A command that was sent is not yet executed: whether a load is paused
//! is read from its timeline, and a rejection is shown in the load's own words.

use super::{Inner, Job, Jobs, SAID_BYTES_MAX, State};
use crate::answer::{Answer, ApiError};
use plimsoll_record::steered::{NOTE_CHARS, REFUSED};
use serde_json::{Value, json};

/// How long a pause is shown as requested; by then the load has confirmed or rejected it.
const ASKED_NS: u64 = 10_000_000_000;
/// Maximum length of a line that can be a rejection.
const LINE_BYTES_MAX: usize = 4_096;

/// Steering state of one job.
#[derive(Default)]
pub struct Steering {
    /// Whether a pause was ever requested, so that the timeline must be read.
    pub is_watched: bool,
    /// The requested pause or resumption, and its time.
    pending: Option<(bool, u64)>,
    /// Whether the current run is paused, according to its timeline.
    is_paused: bool,
    /// Why the last command was rejected.
    rejection: Option<String>,
    /// Output of the load since the last line break.
    line: Vec<u8>,
}

impl Steering {
    fn ask(&mut self, paused: bool, now_ns: u64) {
        (self.is_watched, self.pending) = (true, Some((paused, now_ns)));
    }

    pub fn pending_action(&self, now_ns: u64) -> Option<&'static str> {
        let (paused, at_ns) = self.pending?;
        let is_recent = now_ns.saturating_sub(at_ns) < ASKED_NS;
        is_recent.then_some(if paused { "pause" } else { "resume" })
    }

    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    pub fn rejection(&self) -> Option<&str> {
        self.rejection.as_deref()
    }

    /// Takes more output of the load.
    fn hear(&mut self, part: &[u8]) {
        self.line.extend_from_slice(part);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            if let Some((_, why)) = String::from_utf8_lossy(&line).split_once(REFUSED) {
                (self.rejection, self.pending) = (Some(why.trim().to_owned()), None);
            }
        }
        if self.line.len() > LINE_BYTES_MAX {
            self.line.clear();
        }
    }

    /// Returns whether this is a change.
    fn see(&mut self, is_paused: bool) -> bool {
        let is_answer = self.pending.is_some_and(|(paused, _)| paused == is_paused);
        if is_answer {
            self.pending = None;
        }
        std::mem::replace(&mut self.is_paused, is_paused) != is_paused || is_answer
    }
}

impl Jobs {
    /// Ends the load like a first Ctrl-C, with a report; a second one would end it without.
    pub fn stop(&self, id: &str) -> Answer<Job> {
        self.steered(id, |inner| {
            if inner.state != State::Ending {
                (self.tool.interrupt)(inner.pid);
                inner.state = State::Ending;
            }
            Ok(())
        })
    }

    /// Requests a pause or its end. The load decides, because between two runs there is nothing to pause.
    pub fn pause(&self, id: &str, paused: bool) -> Answer<Job> {
        let now_ns = (self.tool.now_unix_ns)();
        self.steered(id, |inner| {
            inner.say(&json!({ "do": if paused { "pause" } else { "resume" } }))?;
            inner.steering.ask(paused, now_ns);
            Ok(())
        })
    }

    pub fn annotate(&self, id: &str, text: &str) -> Answer<Job> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() || text.chars().count() > NOTE_CHARS {
            let sentence = format!("a note must have 1–{NOTE_CHARS} characters");
            return Err(ApiError::request(sentence, "change the note"));
        }
        self.steered(id, |inner| inner.say(&json!({ "do": "note", "text": text })))
    }

    pub fn level(&self, id: &str, factor: f64) -> Answer<Job> {
        if !(factor.is_finite() && (0.01..=100.0).contains(&factor)) {
            return Err(ApiError::request(
                format!("invalid factor `{factor}`"),
                "use a number from 0.01 to 100",
            ));
        }
        self.steered(id, |inner| inner.say(&json!({ "do": "level", "factor": factor })))
    }

    fn steered(&self, id: &str, steer: impl FnOnce(&mut Inner) -> Answer<()>) -> Answer<Job> {
        let mut all = self.lock();
        let inner = all.iter_mut().find(|inner| inner.id == id);
        let inner = inner.ok_or_else(|| ApiError::missing("there is no such load"))?;
        if inner.ended_unix_ns.is_some() {
            return Err(ApiError::conflict("the load has ended", "start it again"));
        }
        inner.look();
        steer(inner)?;
        let job = inner.refresh((self.tool.now_unix_ns)());
        drop(all);
        self.changed();
        Ok(job)
    }

    /// Takes the pause state from the timeline of the current run.
    pub(super) fn observed(&self, id: &str, is_paused: bool) {
        let mut is_news = false;
        self.with(id, |inner| is_news = inner.steering.see(is_paused));
        if is_news {
            self.changed();
        }
    }
}

impl Inner {
    fn say(&mut self, line: &Value) -> Answer<()> {
        let gone = || ApiError::conflict("the load no longer accepts commands", "wait until it has ended");
        let lines = self.lines.as_ref().ok_or_else(gone)?;
        lines.send(format!("{line}\n")).map_err(|_| gone())?;
        self.steering.rejection = None;
        Ok(())
    }

    /// Keeps the end of the child's output.
    pub(super) fn hear(&mut self, part: &[u8]) {
        self.said.extend_from_slice(part);
        let too_many = self.said.len().saturating_sub(SAID_BYTES_MAX);
        self.said.drain(..too_many);
        self.steering.hear(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_heard_in_pieces_and_ends_what_was_asked() {
        let mut steering = Steering::default();
        steering.ask(true, 5);
        assert_eq!(steering.pending_action(6), Some("pause"));
        steering.hear(b"something else\ngenerator 1 of 2: reje");
        assert_eq!((steering.rejection(), steering.pending_action(6)), (None, Some("pause")));
        steering.hear(b"cted: no load is running\nand more");
        assert_eq!((steering.rejection(), steering.pending_action(6)), (Some("no load is running"), None));
        steering.hear(&[b'x'; 2 * LINE_BYTES_MAX]);
        assert!(steering.line.is_empty(), "an endless line does not fill the memory");
    }

    #[test]
    fn a_load_is_paused_when_it_says_so_and_not_when_it_was_asked() {
        let mut steering = Steering::default();
        steering.ask(true, 0);
        assert!(!steering.is_paused() && !steering.see(false), "the command is in progress");
        assert_eq!(steering.pending_action(1), Some("pause"));
        assert!(steering.see(true) && steering.is_paused());
        assert_eq!(steering.pending_action(1), None);
        assert!(steering.see(false) && !steering.is_paused(), "the next run begins");
        steering.ask(false, 0);
        assert_eq!(
            (steering.pending_action(ASKED_NS - 1), steering.pending_action(ASKED_NS)),
            (Some("resume"), None)
        );
    }
}
