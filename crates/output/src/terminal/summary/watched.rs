//! The system under test: one line or two a monitor, and what their numbers say.

use super::{heading, indented};
use crate::line::{Line, wrap};
use crate::style::{Look, TextStyle};
use crate::watched::{Entry, entries, environment, findings, is_watched};
use plimsoll_analysis::summary::{MonitorRow, Summary};

/// Widest name of a monitor that stands in front of its line.
const NAME: usize = 14;

pub fn watched(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    if !is_watched(s) {
        return Vec::new();
    }
    let mut lines = vec![heading("system under test", "means and peaks")];
    let told = environment(s);
    let names = s.monitors.iter().map(|m| crate::line::width(&m.name));
    let label = names.chain([2]).max().unwrap_or(2).min(NAME) + 2;
    let room = columns.saturating_sub(2 + label);
    let mut say = |name: &str, ink: TextStyle, parts: Vec<Line>| {
        for (at, part) in parts.into_iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            let name = Line::of(ink, name).cut(label - 1, look).pad(label);
            lines.push(indented(name.line(part).cut(columns - 2, look)));
        }
    };
    if let Some((_, text)) = told.iter().find(|(of, _)| of.is_empty()) {
        say("", TextStyle::Dim, wrap(text, room).iter().map(|part| Line::of(TextStyle::Dim, part)).collect());
    }
    for monitor in &s.monitors {
        let mut parts = numbers(monitor, room, look);
        if let Some((_, text)) = told.iter().find(|(of, _)| *of == monitor.name) {
            parts.extend(wrap(text, room).iter().map(|part| Line::of(TextStyle::Dim, part)));
        }
        say(&monitor.name, TextStyle::Strong, parts);
    }
    for text in findings(s) {
        lines.extend(marked(&text, columns - 2).into_iter().map(indented));
    }
    if let Some(window) = &s.raw_window {
        let parts = wrap(&window.sentence, columns - 2);
        lines.extend(parts.iter().map(|part| indented(Line::of(TextStyle::Dim, part))));
    }
    lines
}

/// Entries with a comma between them, broken between two of them; what stood at its limit is marked.
fn numbers(monitor: &MonitorRow, room: usize, look: &Look) -> Vec<Line> {
    let entries = entries(monitor);
    if entries.is_empty() {
        let why = monitor.first_lapse.as_ref().map_or("no sample", |lapse| lapse.why.as_str());
        return wrap(&format!("nothing: {why}"), room)
            .iter()
            .map(|part| Line::of(TextStyle::Warn, part))
            .collect();
    }
    let last = entries.len() - 1;
    let mut lines = vec![Line::new()];
    for (at, Entry { text, is_full }) in entries.into_iter().enumerate() {
        let mark = if is_full { look.signs().warn } else { "" };
        let ink = if is_full { TextStyle::Warn } else { TextStyle::Plain };
        let entry = Line::of(ink, mark).ink(ink, &text).text(if at < last { "; " } else { "" });
        let line = lines.pop().unwrap_or_default();
        if line.width() > 0 && line.width() + entry.width() > room + 2 {
            lines.extend([line, entry]);
        } else {
            lines.push(line.line(entry));
        }
    }
    lines
}

fn marked(text: &str, room: usize) -> Vec<Line> {
    let mark = |at: usize| if at == 0 { "- " } else { "  " };
    wrap(text, room.saturating_sub(2))
        .iter()
        .enumerate()
        .map(|(at, part)| Line::of(TextStyle::Dim, mark(at)).text(part))
        .collect()
}
