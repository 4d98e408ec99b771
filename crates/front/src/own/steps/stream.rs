//! Streams of events: when one ends, and how its events are accounted for.

use super::{check, list, rule};
use crate::own::key::{Row, Section};
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Pos, Scalar, Value};
use plimsoll_plan::answer::Source;
use plimsoll_plan::script::Ask;
use plimsoll_plan::stream::{Closer, Place, Stream, TimeUnit};
use plimsoll_plan::unit;

/// Reads `stream:`; nothing for `false`, and when its mistakes are reported.
pub fn read(node: &Node, row: &Row, ask: &Ask, pos: Pos, w: &mut Work<'_>) -> Option<Box<Stream>> {
    let mut stream = Stream::default();
    match &node.value {
        Value::Map(entries) => entries.iter().for_each(|entry| field(entry, &mut stream, w)),
        _ => {
            if !w.r.truth(node, row)? {
                return None;
            }
        }
    }
    let reads_body = ask.checks.iter().any(|check| check::needs_body(&check.on))
        || ask
            .extracts
            .iter()
            .any(|e| matches!(e.from, Source::Json(_) | Source::Regex { .. } | Source::Body));
    if reads_body {
        let hint =
            "check its status and headers; its events are accounted for by `events`, `every` and `sequence`";
        w.r.complain("F017", pos, "the body of a stream is not kept: it cannot be checked as a whole", hint);
    }
    if stream.closed_by == Some(Closer::Client) && stream.for_ns.is_none() && stream.events.is_none() {
        let hint = "add `for: 60s` or `events: 100`";
        w.r.complain("F016", pos, "`closed_by: client`, and nothing says when we close the stream", hint);
    }
    Some(Box::new(stream))
}

fn field(entry: &Entry, stream: &mut Stream, w: &mut Work<'_>) {
    let (node, Some(row)) = (&entry.value, w.r.row(Section::Stream, entry)) else { return };
    match row.name {
        "for" => stream.for_ns = length(node, row, w),
        "idle" => stream.idle_ns = length(node, row, w),
        "every" => stream.every_ns = length(node, row, w),
        "events" => stream.events = w.r.whole(node, row).filter(|events| above_zero(*events, node, row, w)),
        "sequence" => stream.sequence = sequence(node, row, w),
        "made_at" => stream.made_at = made_at(node, row, w),
        "reconnect" => stream.reconnects = w.r.count(node, row).unwrap_or_default(),
        "closed_by" => {
            let words = [("server", Closer::Server), ("client", Closer::Client)];
            stream.closed_by = w.r.choice(node, row, &words);
        }
        _ => {
            // Both go on at the same time: what is set on one side may be there on the other.
            w.scope.add_all_of(node);
            stream.beside = list(node, row, w);
        }
    }
}

fn length(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<u64> {
    let ns = w.r.parsed(node, row, unit::duration_ns)?;
    above_zero(ns, node, row, w).then_some(ns)
}

fn above_zero(number: u64, node: &Node, row: &Row, w: &mut Work<'_>) -> bool {
    if number == 0 {
        w.r.complain(
            "F015",
            node.pos,
            format!("`{}` of 0 means nothing", row.name),
            "leave it out, or give more",
        );
    }
    number > 0
}

/// `id`, a JSONPath, or a mapping with one of them or a pattern.
fn sequence(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Place> {
    match &node.value {
        Value::Map(entries) => {
            let [entry] = entries.as_slice() else {
                w.r.expected(node, row, "name one place");
                return None;
            };
            let row = w.r.row(Section::Sequence, entry)?;
            named(&entry.value, row, w)
        }
        _ => bare(node, row, w),
    }
}

fn bare(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Place> {
    let text = w.r.written(node, row)?.to_owned();
    if text == "id" {
        return Some(Place::Id);
    }
    if !text.starts_with('$') {
        w.r.expected(node, row, "a JSONPath begins with `$`");
        return None;
    }
    rule::json_path(&text, node.pos, w).map(|()| Place::Json(text))
}

fn named(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Place> {
    if row.name != "regex" {
        return bare(node, row, w);
    }
    let pattern = w.r.text(node, row)?.to_owned();
    if rule::regex(&pattern, node.pos, w)? == 0 {
        w.r.complain(
            "F015",
            node.pos,
            "the pattern has no group",
            "put brackets around the number: `\"seq=([0-9]+)\"`",
        );
        return None;
    }
    Some(Place::Regex(pattern))
}

fn made_at(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<(Place, TimeUnit)> {
    const WORDS: [(&str, TimeUnit); 4] = [
        ("s", TimeUnit::Seconds),
        ("ms", TimeUnit::Milliseconds),
        ("us", TimeUnit::Microseconds),
        ("ns", TimeUnit::Nanoseconds),
    ];
    let before = w.r.wrong.len();
    let (mut place, mut unit, mut places) = (None, None, 0);
    let Value::Map(entries) = &node.value else {
        if !matches!(&node.value, Value::Scalar(Scalar { spoiled: true, .. })) {
            w.r.expected(node, row, "");
        }
        return None;
    };
    for entry in entries {
        let Some(row) = w.r.row(Section::MadeAt, entry) else { continue };
        if row.name == "unit" {
            unit = w.r.choice(&entry.value, row, &WORDS);
        } else {
            places += 1;
            place = named(&entry.value, row, w);
        }
    }
    match (place, unit) {
        (Some(place), Some(unit)) if places == 1 => Some((place, unit)),
        _ => {
            if w.r.wrong.len() == before {
                w.r.expected(node, row, "give one place and the `unit` of its number");
            }
            None
        }
    }
}
