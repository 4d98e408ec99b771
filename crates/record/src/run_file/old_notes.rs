//! Manual changes in run files of builds that stored them only as sentences, with the kind `control`.

use crate::event::NoteKind;
use crate::steered::{Level, Steered};

/// Returns the kind that a note would have now.
pub fn kind(kind: NoteKind, text: &str) -> NoteKind {
    match kind {
        NoteKind::Control => steered(text).map_or(NoteKind::Control, NoteKind::Steered),
        NoteKind::Gap | NoteKind::Note | NoteKind::Steered(_) => kind,
    }
}

fn steered(text: &str) -> Option<Steered> {
    match text {
        "paused by hand" => Some(Steered::Paused),
        "resumed by hand" => Some(Steered::Resumed),
        _ => level(text.strip_prefix("by hand the load was set to ")?).map(Steered::Level),
    }
}

/// Parses a level and its share of the plan in parentheses; these builds wrote a space before the percent sign.
fn level(text: &str) -> Option<Level> {
    let number = |text: &str| text.replace(',', "").parse::<f64>().ok().filter(|n| n.is_finite());
    let (level, share) = text.strip_suffix(" % of the plan)")?.split_once(" (")?;
    let (to, is_open) = match level.strip_suffix("/s") {
        Some(rate) => (rate, true),
        None => (level.strip_suffix(" users").or_else(|| level.strip_suffix(" user"))?, false),
    };
    Some(Level { to: number(to)?, is_open, share: number(share)? / 100.0 })
}
