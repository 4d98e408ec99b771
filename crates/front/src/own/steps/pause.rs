//! Pauses: of fixed length, or random each time.

use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::{Entry, Node, Value};
use plimsoll_build::draft::StepDraft;
use plimsoll_plan::script::Delay;
use plimsoll_plan::unit;

/// Reads a `think` step.
pub fn think(entries: &[Entry], r: &mut Reader<'_>) -> Option<StepDraft> {
    let entry = entries.first()?;
    let (row, of::Think::Think) = r.key(entry)?;
    delay(&entry.value, row, r).map(StepDraft::Think)
}

/// Reads a duration, or a distribution of durations.
pub fn delay(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Delay> {
    let Value::Map(entries) = &node.value else {
        return r.parsed(node, row, unit::duration_ns).map(|ns| Delay::Constant { ns });
    };
    let [entry] = entries.as_slice() else {
        r.expected(node, row, "write one distribution: `uniform`, `normal`, or `exponential`");
        return None;
    };
    let (row, key) = r.key(entry)?;
    match key {
        of::Pause::Uniform => uniform(&entry.value, row, r),
        of::Pause::Exponential => {
            r.parsed(&entry.value, row, unit::duration_ns).map(|mean_ns| Delay::Exponential { mean_ns })
        }
        of::Pause::Normal => normal(&entry.value, row, r),
    }
}

fn uniform(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Delay> {
    let list = r.list(node, row)?;
    let [low, high] = list else {
        r.expected(node, row, "write the shortest and the longest duration");
        return None;
    };
    let low_ns = r.parsed(low, row, unit::duration_ns)?;
    let high_ns = r.parsed(high, row, unit::duration_ns)?;
    if low_ns > high_ns {
        r.complain(
            "F015",
            node.pos,
            "the first duration must not be longer than the second",
            "write the shorter duration first",
        );
        return None;
    }
    Some(Delay::Uniform { low_ns, high_ns })
}

fn normal(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Delay> {
    let (mut mean, mut deviation) = (None, None);
    let before = r.wrong.len();
    for entry in r.map(node, row)? {
        let Some((row, key)) = r.key(entry) else { continue };
        let time = r.parsed(&entry.value, row, unit::duration_ns);
        match key {
            of::Normal::Mean => mean = time,
            of::Normal::Deviation => deviation = time,
        }
    }
    match (mean, deviation) {
        (Some(mean_ns), Some(deviation_ns)) => Some(Delay::Normal { mean_ns, deviation_ns }),
        _ => {
            if r.wrong.len() == before {
                r.expected(node, row, "write both `mean` and `deviation`");
            }
            None
        }
    }
}
