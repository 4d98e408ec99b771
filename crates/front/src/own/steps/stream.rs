//! Event streams: when they end, and how their events are accounted for.

use super::{list, rule, socket};
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Scalar, Value};
use plimsoll_build::draft::StreamDraft;
use plimsoll_build::source::Pos;
use plimsoll_plan::stream::{Closer, Place, Stream, TimeUnit};
use plimsoll_plan::unit;

/// Reads `stream:`, whose key is at `pos`. Returns `None` for `false`, and if it reported a mistake.
pub fn read(node: &Node, row: &Row, pos: Pos, w: &mut Work<'_>) -> Option<StreamDraft> {
    let mut draft = StreamDraft { pos, stream: Stream::default(), beside: Vec::new(), correlation: None };
    match &node.value {
        Value::Map(entries) => entries.iter().for_each(|entry| field(entry, &mut draft, w)),
        Value::Scalar(_) | Value::List(_) => {
            if !w.r.truth(node, row)? {
                return None;
            }
        }
    }
    Some(draft)
}

fn field(entry: &Entry, draft: &mut StreamDraft, w: &mut Work<'_>) {
    let (node, Some((row, key))) = (&entry.value, w.r.key(entry)) else { return };
    let (stream, r) = (&mut draft.stream, &mut w.r);
    match key {
        of::Stream::Duration => stream.for_ns = length(node, row, r),
        of::Stream::IdleTimeout => stream.idle_ns = length(node, row, r),
        of::Stream::ExpectedInterval => stream.every_ns = length(node, row, r),
        of::Stream::Events => {
            stream.events = r.whole(node, row).filter(|events| above_zero(*events, node, row, r))
        }
        of::Stream::Sequence => stream.sequence = sequence(node, row, r),
        of::Stream::Timestamp => stream.made_at = timestamp(node, row, r),
        of::Stream::Reconnect => stream.reconnects = r.count(node, row).unwrap_or_default(),
        of::Stream::Correlation => {
            draft.correlation = socket::correlation(node, row, r).map(|correlation| (correlation, entry.pos));
        }
        of::Stream::ClosedBy => {
            let words = [("server", Closer::Server), ("client", Closer::Client)];
            stream.closed_by = r.choice(node, row, &words);
        }
        of::Stream::WhileOpen => draft.beside = list(node, row, w),
    }
}

pub fn length(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<u64> {
    let ns = r.parsed(node, row, unit::duration_ns)?;
    above_zero(ns, node, row, r).then_some(ns)
}

pub fn above_zero(number: u64, node: &Node, row: &Row, r: &mut Reader<'_>) -> bool {
    if number == 0 {
        r.complain(
            "F015",
            node.pos,
            format!("`{}` must be above 0", row.name),
            format!("write {}, or remove `{}`", row.expects, row.name),
        );
    }
    number > 0
}

/// Reads `id`, a JSONPath, or a mapping with a JSONPath or a pattern.
pub fn sequence(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Place> {
    match &node.value {
        Value::Map(entries) => {
            let [entry] = entries.as_slice() else {
                r.expected(node, row, "write either `json` or `regex`");
                return None;
            };
            match r.key(entry)? {
                (row, of::Sequence::Json) => bare(&entry.value, row, r),
                (row, of::Sequence::Regex) => pattern(&entry.value, row, r),
            }
        }
        _ => bare(node, row, r),
    }
}

fn bare(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Place> {
    let text = r.written(node, row)?.to_owned();
    if text == "id" {
        return Some(Place::Id);
    }
    if !text.starts_with('$') {
        r.expected(node, row, "write a JSONPath that begins with `$`");
        return None;
    }
    rule::json_path(&text, node.pos, r).map(|()| Place::Json(text))
}

fn pattern(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Place> {
    let pattern = r.text(node, row)?.to_owned();
    if rule::regex(&pattern, node.pos, r)? == 0 {
        r.complain(
            "F015",
            node.pos,
            "the pattern has no group",
            "put parentheses around the number: `\"seq=([0-9]+)\"`",
        );
        return None;
    }
    Some(Place::Regex(pattern))
}

pub fn timestamp(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<(Place, TimeUnit)> {
    const WORDS: [(&str, TimeUnit); 4] = [
        ("s", TimeUnit::Seconds),
        ("ms", TimeUnit::Milliseconds),
        ("us", TimeUnit::Microseconds),
        ("ns", TimeUnit::Nanoseconds),
    ];
    let before = r.wrong.len();
    let (mut place, mut unit, mut places) = (None, None, 0);
    let Value::Map(entries) = &node.value else {
        if !matches!(&node.value, Value::Scalar(Scalar { spoiled: true, .. })) {
            r.expected(node, row, "");
        }
        return None;
    };
    for entry in entries {
        let Some((row, key)) = r.key(entry) else { continue };
        match key {
            of::Timestamp::Unit => unit = r.choice(&entry.value, row, &WORDS),
            of::Timestamp::Json | of::Timestamp::At => {
                places += 1;
                place = bare(&entry.value, row, r);
            }
            of::Timestamp::Regex => {
                places += 1;
                place = pattern(&entry.value, row, r);
            }
        }
    }
    match (place, unit) {
        (Some(place), Some(unit)) if places == 1 => Some((place, unit)),
        _ => {
            if r.wrong.len() == before {
                r.expected(node, row, "write one place, and the `unit` of its number");
            }
            None
        }
    }
}
