//! Manual changes of a running load.

use crate::event::{Note, NoteKind};
use plimsoll_plan::load::Load;
use plimsoll_plan::phrase::{counted, rate_per_s, ratio};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum length of a note, so that it fits next to a chart.
pub const NOTE_CHARS: usize = 400;
/// Prefix of the sentence with which a load explains why it rejects a command.
pub const REFUSED: &str = "rejected: ";

/// A manual change other than ending the load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steered {
    Paused,
    Resumed,
    Level(Level),
}

/// New level of a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Arrivals per second, or users.
    pub to: f64,
    /// Whether the level is arrivals; otherwise it is users.
    pub is_open: bool,
    /// `to` as a share of the initial level of the load.
    pub share: f64,
}

/// `110/s (110% of the plan)`.
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
    /// Returns a change to another level than the initial one of `load`.
    pub fn level(load: &Load, to: f64) -> Steered {
        let is_open = match load {
            Load::Open { .. } => true,
            Load::Closed { .. } => false,
        };
        Steered::Level(Level { to, is_open, share: to / load.profile().start })
    }

    /// Returns the entry of the timeline; `at_ns` is the time since the start of the run.
    pub fn note(self, at_ns: u64) -> Note {
        let text = match self {
            Steered::Paused => "paused manually".to_owned(),
            Steered::Resumed => "resumed manually".to_owned(),
            Steered::Level(to) => format!("load changed manually to {to}"),
        };
        Note { at_ns, kind: NoteKind::Steered(self), text }
    }

    /// Returns the manual change of a note, if it is one.
    pub fn of(note: &Note) -> Option<Steered> {
        match note.kind {
            NoteKind::Steered(steered) => Some(steered),
            NoteKind::Control | NoteKind::Gap | NoteKind::Note => None,
        }
    }
}

/// Returns the pauses of a load, from and to in ns since the start; an open pause ends at `end_ns`.
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
