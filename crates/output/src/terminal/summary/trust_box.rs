//! The trust box: what the load generator says of itself, in a frame, so that nobody takes it for the server's figures.

use super::head;
use crate::line::{Line, flow};
use crate::style::{Look, TextStyle};
use crate::terminal::chart::bar;
use crate::trust::{Row, rows};
use plimsoll_analysis::summary::Summary;

const TITLE: &str = "the load generator";
/// Sign, label and the blanks around them.
const LABEL: usize = 12;
const BAR: usize = 8;

pub fn trust_box(s: &Summary, look: &Look, columns: usize) -> Vec<Line> {
    let signs = look.signs();
    let [top_left, top_right, bottom_left, bottom_right] = signs.corners;
    let inner = columns - 4;
    let top = Line::of(TextStyle::Dim, top_left)
        .ink(TextStyle::Dim, signs.rule)
        .text(" ")
        .ink(TextStyle::Strong, TITLE)
        .text(" ");
    let rest = columns - 1 - top.width();
    let mut lines = vec![top.ink(TextStyle::Dim, &signs.rule.repeat(rest)).ink(TextStyle::Dim, top_right)];
    for row in rows(s) {
        for line in content(&row, look, inner) {
            let line = Line::of(TextStyle::Dim, signs.side).text(" ").line(line.pad(inner)).text(" ");
            lines.push(line.ink(TextStyle::Dim, signs.side));
        }
    }
    let bottom = Line::of(TextStyle::Dim, bottom_left).ink(TextStyle::Dim, &signs.rule.repeat(columns - 2));
    lines.push(bottom.ink(TextStyle::Dim, bottom_right));
    lines
}

fn content(row: &Row, look: &Look, inner: usize) -> Vec<Line> {
    let (sign, ink) =
        row.weight.map_or((look.signs().ok, TextStyle::Good), |weight| head::sign(weight, look));
    let label = if row.weight.is_some() { ink } else { TextStyle::Plain };
    let front =
        Line::of(ink, sign).text(" ").line(Line::of(label, &row.label).cut(LABEL, look).pad(LABEL)).text(" ");
    let indent = front.width();
    let mut facts: Vec<Line> = row.facts.iter().map(|fact| Line::new().text(fact)).collect();
    let room = inner.saturating_sub(indent);
    // A bar is welcome as long as it does not push figures onto a second line.
    let fits = |facts: &[Line]| flow(facts.to_vec(), room.saturating_sub(BAR + 1), look).len() == 1;
    if let (Some(share), true) = (row.bar, fits(&facts))
        && let Some(first) = facts.first_mut()
    {
        *first = bar(share, BAR, TextStyle::Accent, look).text(" ").line(std::mem::take(first));
    }
    let mut lines = Vec::new();
    for (at, line) in flow(facts, room, look).into_iter().enumerate() {
        lines.push(if at == 0 { front.clone().line(line) } else { Line::new().pad(indent).line(line) });
    }
    lines
}
