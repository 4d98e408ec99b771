//! What somebody did to a load by hand while it ran: the lines of the timeline that say so, and their reading back.
//!
//! The sentence in the file is all there is of it: it is written here and recognised here, and nowhere else.

use crate::event::{Note, NoteKind};
use plimsoll_plan::load::Load;
use plimsoll_plan::phrase::{counted, rate_per_s, ratio};

/// More of a note is cut off: it is to fit beside a chart.
pub const NOTE_CHARS: usize = 400;
/// How the sentence begins with which a load says why it does not do what it was told.
pub const REFUSED: &str = "not obeyed: ";

const PAUSED: &str = "paused by hand";
const RESUMED: &str = "resumed by hand";
const LEVEL: &str = "by hand the load was set to ";

/// One of the three things that can be done to a load besides ending it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Steered {
    Paused,
    Resumed,
    /// What it was set to, in words: `110/s (110 % of the plan)`.
    Level(String),
}

impl Steered {
    /// Another level than the one that `load` began with.
    pub fn level(load: &Load, to: f64) -> Steered {
        let level = match load {
            Load::Open { .. } => rate_per_s(to),
            Load::Closed { .. } => counted(to.round() as u64, "user"),
        };
        Steered::Level(format!("{level} ({} of the plan)", ratio(to / load.profile().start)))
    }

    /// The line of the timeline; `at_ns` from the start of the run.
    pub fn note(&self, at_ns: u64) -> Note {
        let text = match self {
            Steered::Paused => PAUSED.to_owned(),
            Steered::Resumed => RESUMED.to_owned(),
            Steered::Level(to) => format!("{LEVEL}{to}"),
        };
        Note { at_ns, kind: NoteKind::Control, text }
    }

    /// What a line of the timeline tells of, if it is one of these.
    pub fn of(note: &Note) -> Option<Steered> {
        if note.kind != NoteKind::Control {
            return None;
        }
        match note.text.as_str() {
            PAUSED => Some(Steered::Paused),
            RESUMED => Some(Steered::Resumed),
            other => other.strip_prefix(LEVEL).map(|to| Steered::Level(to.to_owned())),
        }
    }
}

/// The stretches in which a load stood still, from and to in ns from the start; the last one may reach up to `end_ns`.
pub fn pauses(notes: &[Note], end_ns: u64) -> Vec<(u64, u64)> {
    let mut pauses = Vec::new();
    let mut since_ns = None;
    for note in notes {
        match Steered::of(note) {
            Some(Steered::Paused) => since_ns = since_ns.or(Some(note.at_ns)),
            Some(Steered::Resumed) => pauses.extend(since_ns.take().map(|from_ns| (from_ns, note.at_ns))),
            Some(Steered::Level(_)) | None => {}
        }
    }
    pauses.extend(since_ns.filter(|from_ns| *from_ns < end_ns).map(|from_ns| (from_ns, end_ns)));
    pauses
}
