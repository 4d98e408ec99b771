//! Pauses: of one length, or drawn anew each time.

use crate::own::key::{Row, Section};
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Value};
use plimsoll_plan::script::{self, Delay};
use plimsoll_plan::unit;

/// The step `think`.
pub fn think(entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<script::Node>> {
    let entry = entries.first()?;
    let row = w.r.row(Section::Think, entry)?;
    delay(&entry.value, row, w).map(|delay| vec![script::Node::Think(delay)])
}

/// A time, or a spread of times.
pub fn delay(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Delay> {
    let Value::Map(entries) = &node.value else {
        return w.r.parsed(node, row, unit::duration_ns).map(|ns| Delay::Constant { ns });
    };
    let [entry] = entries.as_slice() else {
        w.r.expected(node, row, "name one spread");
        return None;
    };
    let row = w.r.row(Section::Pause, entry)?;
    match row.name {
        "uniform" => uniform(&entry.value, row, w),
        "exponential" => {
            w.r.parsed(&entry.value, row, unit::duration_ns).map(|mean_ns| Delay::Exponential { mean_ns })
        }
        _ => normal(&entry.value, row, w),
    }
}

fn uniform(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Delay> {
    let list = w.r.list(node, row)?;
    let [low, high] = list else {
        w.r.expected(node, row, "give the shortest and the longest");
        return None;
    };
    let low_ns = w.r.parsed(low, row, unit::duration_ns)?;
    let high_ns = w.r.parsed(high, row, unit::duration_ns)?;
    if low_ns > high_ns {
        w.r.complain(
            "F015",
            node.pos,
            "the first time is longer than the second",
            "write the shorter one first",
        );
        return None;
    }
    Some(Delay::Uniform { low_ns, high_ns })
}

fn normal(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Delay> {
    let (mut mean, mut deviation) = (None, None);
    let before = w.r.wrong.len();
    for entry in w.r.map(node, row)? {
        let Some(row) = w.r.row(Section::Normal, entry) else { continue };
        let time = w.r.parsed(&entry.value, row, unit::duration_ns);
        if row.name == "mean" { mean = time } else { deviation = time }
    }
    match (mean, deviation) {
        (Some(mean_ns), Some(deviation_ns)) => Some(Delay::Normal { mean_ns, deviation_ns }),
        _ => {
            if w.r.wrong.len() == before {
                w.r.expected(node, row, "give both `mean` and `deviation`");
            }
            None
        }
    }
}
