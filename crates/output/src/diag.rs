//! Mistakes in user input: the message, the place with its line, and the fix.

use crate::line::{Line, width, write_all};
use crate::style::{Look, TextStyle};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;

/// Returns all of them, separated by blank lines.
pub fn render(diagnostics: &[Diagnostic], look: &Look) -> String {
    let blocks: Vec<Vec<Line>> = diagnostics.iter().map(|d| one(d, look)).collect();
    write_all(&blocks.join(&Line::new()), look)
}

fn one(d: &Diagnostic, look: &Look) -> Vec<Line> {
    let head = Line::of(TextStyle::Bad, &format!("error[{}]", d.code)).ink(TextStyle::Strong, ": ");
    let head = match &d.place {
        Place::Flag(flag) => head.ink(TextStyle::Accent, flag).text(": "),
        Place::Field(field) => head.ink(TextStyle::Accent, field.key).text(": "),
        Place::Text { .. } | Place::Whole => head,
    };
    let mut lines = vec![head.ink(TextStyle::Strong, &d.message)];
    if let Place::Text { file, line, column, excerpt } = &d.place {
        lines.extend(excerpted(file, *line, *column, excerpt, look));
    }
    if !d.hint.is_empty() {
        for (at, hint) in d.hint.lines().enumerate() {
            lines.push(Line::of(TextStyle::Accent, if at == 0 { "  help: " } else { "        " }).text(hint));
        }
    }
    lines
}

/// Returns `file:line:column`, the line itself, and a caret below the place.
fn excerpted(file: &str, line: u32, column: u32, excerpt: &str, look: &Look) -> Vec<Line> {
    let number = line.to_string();
    let margin = " ".repeat(number.len() + 1);
    let mut lines = vec![
        Line::new().text(&margin).ink(TextStyle::Accent, "--> ").text(&format!("{file}:{line}:{column}")),
    ];
    let first = excerpt.lines().next().unwrap_or_default();
    if first.trim().is_empty() {
        return lines;
    }
    let before = (column.max(1) - 1) as usize;
    // The width of a tab depends on the terminal; a single blank keeps the caret below its place.
    let text: Vec<char> = first.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
    let room = look.columns().saturating_sub(margin.len() + 4);
    // Of a long line, only the part around the place is shown.
    let from = if text.len() > room { before.saturating_sub(room / 2).min(text.len() - room) } else { 0 };
    let shown: String = text.iter().skip(from).take(room).collect();
    let ahead: String = text.iter().skip(from).take(before - from.min(before)).collect();
    let bar = |line: Line| line.ink(TextStyle::Accent, "| ");
    lines.push(
        bar(Line::new().ink(TextStyle::Accent, &number).text(" ")).text(&shown).cut(look.columns(), look),
    );
    let caret = " ".repeat(width(&ahead));
    lines
        .push(bar(Line::new().text(&margin)).text(&caret).ink(TextStyle::Bad, "^").cut(look.columns(), look));
    lines
}
