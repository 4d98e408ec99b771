//! Columns of a terminal: which ones fit, which ones use shorter texts, and how wide a picture among them may be.

use super::ink_of;
use crate::line::{Line, width, wrap};
use crate::style::{Look, TextStyle};
use crate::table::{Cell, Column, Emphasis, Mark, Row, Spread, Table, Value};
use crate::text::chart::bar;
use crate::text::table::{Align, Table as Lines};
use crate::{On, Tone, rest, worst};

/// The gap between two columns.
const GAP: usize = 2;

/// The form in which a column is shown.
struct Shown<'a> {
    column: &'a Column,
    at: usize,
    is_brief: bool,
    /// The width of a picture.
    wide: usize,
}

/// Returns the table in at most `room` columns; the first column is truncated.
pub fn lines(table: &Table, room: usize, look: &Look, view: On) -> Vec<Line> {
    let all = || table.rows.iter().filter(|row| row.on.has(view));
    if all().next().is_none() {
        return Vec::new();
    }
    let mut shown = fitted(table, room, look, view);
    let wrapped = shown.pop_if(|one| one.column.is_wrapped);
    let (rows, left_out) = match table.by {
        "" => (all().collect(), 0),
        _ => worst(all(), |row| row.rank),
    };
    let aligns: Vec<Align> =
        shown.iter().map(|one| if one.column.is_right { Align::Right } else { Align::Left }).collect();
    let mut out = Lines::new(&aligns);
    let has_heads = shown.iter().any(|one| !head(one.column).is_empty());
    if has_heads {
        out.row(shown.iter().map(|one| head_line(table, one, look)).collect());
    }
    for row in &rows {
        out.row(shown.iter().filter_map(|one| line(row, one, look)).collect());
    }
    let mut lines = out.lines(room, look);
    if let Some(one) = wrapped {
        let heads = has_heads.then(|| head(one.column).to_owned());
        let cells = rows.iter().map(|row| row.cells.get(one.at).map(|cell| text(cell, false, look)));
        let texts = heads.into_iter().chain(cells.map(Option::unwrap_or_default)).collect();
        lines = side_by_side(lines, texts, room, ink_of(one.column.role));
    }
    let rest = rest(left_out, table.by).unwrap_or_default();
    let parts = wrap(&rest, room).into_iter().filter(|part| !part.is_empty());
    lines.extend(parts.map(|part| Line::of(TextStyle::Dim, &part)));
    lines
}

/// The minimum room for a sentence next to the values; below it, the sentence is omitted.
const SENTENCE: usize = 24;

/// Appends texts to the lines, each wrapped within its column.
fn side_by_side(lines: Vec<Line>, texts: Vec<String>, room: usize, ink: TextStyle) -> Vec<Line> {
    let from = lines.iter().map(Line::width).max().unwrap_or(0) + GAP;
    let room = room.saturating_sub(from);
    if room < SENTENCE {
        return lines;
    }
    let mut out = Vec::new();
    for (line, text) in lines.into_iter().zip(texts) {
        let mut front = Some(line);
        for part in wrap(&text, room) {
            out.push(front.take().unwrap_or_default().pad(from).ink(ink, &part));
        }
    }
    out
}

fn head(column: &Column) -> &str {
    column.brief.as_deref().unwrap_or(&column.head)
}

fn head_wide(column: &Column) -> usize {
    width(head(column)).min(column.head_most)
}

/// Selects required columns first, then optional ones, then longer texts, as long as a picture keeps its room.
fn fitted<'a>(table: &'a Table, room: usize, look: &Look, view: On) -> Vec<Shown<'a>> {
    let is_there = |column: &Column| column.on.has(view) && column.windows.contains(&look.columns());
    let all = || table.columns.iter().enumerate().filter(|(_, column)| is_there(column));
    let wide = |at: usize, is_brief: bool| {
        let cells = table
            .rows
            .iter()
            .filter_map(|row| row.cells.get(at))
            .map(|cell| width(&text(cell, is_brief, look)));
        cells.chain([head_wide(&table.columns[at])]).max().unwrap_or(0) + GAP
    };
    let first = all().next().map(|(at, _)| at);
    let has_brief =
        |at: usize| table.rows.iter().any(|row| row.cells.get(at).is_some_and(|c| c.brief.is_some()));
    let fixed =
        || all().filter(|(_, column)| !column.is_optional && column.picture.is_none() && !column.is_wrapped);
    let used = |is_brief: bool| -> usize {
        fixed().map(|(at, _)| wide(at, if Some(at) == first { is_brief } else { true })).sum()
    };
    let is_narrow = used(false).saturating_sub(GAP) > room;
    let mut left = room.saturating_sub(used(is_narrow));
    let (least, most) = all().find_map(|(_, column)| column.picture).unwrap_or((0, 0));
    let mut take = |wide: usize| {
        let fits = left >= wide + least;
        left -= if fits { wide } else { 0 };
        fits
    };
    let optional: Vec<usize> =
        all().filter(|(at, column)| column.is_optional && take(wide(*at, false))).map(|(at, _)| at).collect();
    let long: Vec<usize> = fixed()
        .filter(|(at, _)| Some(*at) != first && has_brief(*at))
        .filter(|(at, _)| take(wide(*at, false).saturating_sub(wide(*at, true))))
        .map(|(at, _)| at)
        .collect();
    let drawn = Some(left.min(most)).filter(|wide| *wide >= least);
    let describe = |(at, column): (usize, &'a Column)| {
        let is_shown = match (column.is_optional, column.picture) {
            (true, _) => optional.contains(&at),
            (_, Some(_)) => drawn.is_some(),
            _ => true,
        };
        let is_brief = if Some(at) == first { is_narrow } else { !long.contains(&at) };
        is_shown.then(|| Shown { column, at, is_brief, wide: drawn.unwrap_or(0) })
    };
    all().filter_map(describe).collect()
}

fn text(cell: &Cell, is_brief: bool, look: &Look) -> String {
    let text = match (&cell.brief, &cell.value) {
        (Some(brief), _) if is_brief => brief.clone(),
        (_, Value::Facts(all)) => all.join(look.signs().between),
        (_, value) => value.text(),
    };
    plain(&text, look)
}

/// Returns the text with the signs of this terminal.
pub fn plain(text: &str, look: &Look) -> String {
    match look.unicode {
        true => text.to_owned(),
        false => text.replace('±', "+-").replace('≥', ">=").replace('≤', "<="),
    }
}

fn head_line(table: &Table, shown: &Shown, look: &Look) -> Line {
    let scale =
        table.rows.iter().filter_map(|row| row.cells.get(shown.at)).find_map(|cell| match &cell.value {
            Value::Spread(spread) => Some(&spread.edge),
            _ => None,
        });
    let head = Line::of(TextStyle::Dim, head(shown.column));
    match (scale, shown.column.picture) {
        (Some(edge), _) => super::spread::scale(edge, shown.wide),
        (None, Some(_)) => head.cut(shown.wide, look),
        (None, None) => head.cut(shown.column.head_most, look),
    }
}

fn line(row: &Row, shown: &Shown, look: &Look) -> Option<Line> {
    let cell = row.cells.get(shown.at)?;
    let ink = match cell.emphasis {
        Some(Emphasis::Status(tone) | Emphasis::Marked(tone) | Emphasis::Toned(tone)) => match tone {
            Tone::Note => TextStyle::Plain,
            tone => super::ink_of_tone(tone),
        },
        Some(Emphasis::Bad) => TextStyle::Bad,
        Some(Emphasis::Strong) => TextStyle::Strong,
        Some(Emphasis::Signed(_)) => TextStyle::Plain,
        None if row.mark == Some(Mark::Faint) => TextStyle::Dim,
        None if matches!(cell.value, Value::Bar(_)) => TextStyle::Accent,
        None => ink_of(shown.column.role),
    };
    Some(match &cell.value {
        Value::Bar(share) => bar(*share, shown.wide, ink, look),
        Value::Spread(Spread { reach, ends, .. }) => {
            super::spread::drawn(*ends, *reach, shown.wide, ink, look)
        }
        _ => {
            let front = match cell.emphasis {
                Some(Emphasis::Signed(tone)) => {
                    Line::of(super::ink_of_tone(tone), super::sign(tone, look)).text(" ")
                }
                _ => Line::new(),
            };
            let line = front.line(Line::of(ink, &text(cell, shown.is_brief, look)));
            match &cell.tail {
                Some((Tone::Note, tail)) => line.text(" ").ink(TextStyle::Dim, tail),
                Some((tone, tail)) => line.text(" ").ink(super::ink_of_tone(*tone), tail),
                None => line,
            }
        }
    })
}
