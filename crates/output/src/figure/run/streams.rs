//! Streams of events over time: how many stood, what they brought, how often they were opened.

use super::{Rows, over_time, per_s};
use crate::format::counted;
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{Second, Summary};
use plimsoll_chart::{Axis, Chart, Form, Panel, Series, Unit};

pub fn streams(s: &Summary, p: &Picture, rows: &[Second]) -> Option<Chart> {
    if s.streams.is_empty() || !rows.iter().any(|row| row.streams_open.is_some() || row.events.is_some()) {
        return None;
    }
    let mut chart = over_time("streams", "Event streams", s, p);
    let opened = s.streams.iter().map(|row| row.streams).sum();
    let events = s.streams.iter().map(|row| row.events).sum();
    chart.subtitle = format!("{}, {}", counted(opened, "stream"), counted(events, "event"));
    let at = Rows::of(rows);
    chart.xs = at.xs();
    chart.panels = panels(&at);
    Some(chart)
}

pub fn panels(at: &Rows) -> Vec<Panel> {
    let alive = at.values(|t| t.streams_open.map(|n| n as f64));
    let events = at.values(|t| t.events.and_then(|n| per_s(n, t)));
    let connects = at.values(|t| per_s(t.connections_opened, t));
    let panel = |id: &str, label: &str, unit: Unit, color: u8, y| {
        Panel::new(id, Axis::new(label, unit), vec![Series::new(id, label, color, Form::Line, y)])
    };
    vec![
        panel("alive", "open streams", Unit::Count, 0, alive),
        panel("events", "events", Unit::PerSecond, 2, events),
        panel("connects", "connections opened", Unit::PerSecond, 1, connects),
    ]
}
