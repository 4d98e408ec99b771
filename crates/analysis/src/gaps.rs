//! What the record does not hold: seconds, ends, machines.

use super::facts::{Facts, Machine};
use crate::summary::Gap;
use plimsoll_plan::outline::TICK_NS;
use plimsoll_record::event::NoteKind;

/// A gap, and whether the totals hold what happened in it.
pub(super) struct RecordGap {
    pub gap: Gap,
    /// Only the rows of the seconds are lost (a full disk); the totals were kept in memory and written later.
    pub in_totals: bool,
}

/// All gaps, by origin and time.
pub(super) fn holes(facts: &Facts) -> Vec<RecordGap> {
    facts.machines.iter().flat_map(holes_of).collect()
}

fn holes_of(machine: &Machine) -> Vec<RecordGap> {
    let mut holes = Vec::new();
    let mut expected = 0;
    let ticks = &machine.origin.ticks;
    // A run that ended has a tick up to its end; of one that was cut off the last row is the last that is known.
    let end = match &machine.origin.ending {
        Some(_) => tick_count(machine),
        None => ticks.keys().next_back().map_or(0, |last| last.saturating_add(1)),
    };
    for tick in ticks.keys().copied().chain([end]) {
        if tick > expected {
            holes.push(missing(machine, expected, tick));
        }
        expected = expected.max(tick.saturating_add(1));
    }
    if machine.origin.ending.is_none() {
        let planned_ns = machine.plan().stop.duration_ns.unwrap_or(0).max(machine.elapsed_ns);
        holes.push(RecordGap {
            gap: gap(machine, machine.elapsed_ns, planned_ns, "the run ended early".into()),
            in_totals: false,
        });
    }
    holes
}

/// Returns the number of ticks of a run of this length.
fn tick_count(machine: &Machine) -> u32 {
    let first_ns = machine.plan().tick_bounds_ns(0).1;
    let after_ns = machine.elapsed_ns.saturating_sub(first_ns);
    // Rounded up: the last tick ends with the run. One that ends on an edge may have a last tick of no length.
    let after = u32::try_from(after_ns.div_ceil(TICK_NS)).unwrap_or(u32::MAX - 1);
    if machine.elapsed_ns == 0 { 0 } else { after + 1 }
}

/// Returns the gap of the missing ticks `from..to`.
fn missing(machine: &Machine, from: u32, to: u32) -> RecordGap {
    let plan = machine.plan();
    let (from_ns, to_ns) = (plan.tick_bounds_ns(from).0, plan.tick_bounds_ns(to.max(1) - 1).1);
    let to_ns = to_ns.min(machine.elapsed_ns.max(from_ns));
    // The disk's note is written by the writer of the file, at one of the two ends.
    let near = from_ns.saturating_sub(TICK_NS)..=to_ns.saturating_add(TICK_NS);
    let note =
        machine.origin.notes.iter().find(|note| note.kind == NoteKind::Gap && near.contains(&note.at_ns));
    let why = note.map_or_else(|| "these seconds were never reported".into(), |note| note.text.clone());
    // Without an ending, the totals are those of the last transaction, and a gap may follow it.
    let in_totals = note.is_some() && machine.origin.ending.is_some();
    RecordGap { gap: gap(machine, from_ns, to_ns, why), in_totals }
}

fn gap(machine: &Machine, from_ns: u64, to_ns: u64, why: String) -> Gap {
    Gap {
        generator: machine.name.to_owned(),
        from_s: from_ns as f64 / 1e9,
        to_s: to_ns as f64 / 1e9,
        reason: why,
    }
}
