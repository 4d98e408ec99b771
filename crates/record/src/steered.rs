//! What somebody did to a load by hand while it ran.

use crate::event::{Note, NoteKind};
use plimsoll_plan::load::Load;
use plimsoll_plan::phrase::{counted, rate_per_s, ratio};
use serde::{Deserialize, Serialize};
use std::fmt;

/// More of a note is cut off: it is to fit beside a chart.
pub const NOTE_CHARS: usize = 400;
/// How the sentence begins with which a load says why it does not do what it was told.
pub const REFUSED: &str = "not obeyed: ";

/// One of the three things that can be done to a load besides ending it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steered {
    Paused,
    Resumed,
    Level(Level),
}

/// What a load was set to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Arrivals a second, or users.
    pub to: f64,
    /// Arrivals; otherwise users.
    pub is_open: bool,
    /// `to` as a share of the level that the load began with.
    pub share: f64,
}

/// `110/s (110% of the plan)`
impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.is_open {
            true => rate_per_s(self.to),
            false => counted(self.to.round() as u64, "user"),
        };
        write!(f, "{level} ({} of the plan)", ratio(self.share))
    }
}

impl Steered {
    /// Another level than the one that `load` began with.
    pub fn level(load: &Load, to: f64) -> Steered {
        let is_open = match load {
            Load::Open { .. } => true,
            Load::Closed { .. } => false,
        };
        Steered::Level(Level { to, is_open, share: to / load.profile().start })
    }

    /// The line of the timeline; `at_ns` from the start of the run.
    pub fn note(self, at_ns: u64) -> Note {
        let text = match self {
            Steered::Paused => "paused by hand".to_owned(),
            Steered::Resumed => "resumed by hand".to_owned(),
            Steered::Level(to) => format!("by hand the load was set to {to}"),
        };
        Note { at_ns, kind: NoteKind::Steered(self), text }
    }

    /// What a line of the timeline tells of, if it is one of these.
    pub fn of(note: &Note) -> Option<Steered> {
        match note.kind {
            NoteKind::Steered(steered) => Some(steered),
            NoteKind::Control | NoteKind::Gap | NoteKind::Note => None,
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
