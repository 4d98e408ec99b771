//! Tables drawn with lines, as programs print them: `┌──┬──┐` and `│ a │ b │`, `+---+---+` and `| a | b |`, columns
//! below rules (`----  ----`), or columns that only spaces or tabs separate.

use super::cell;
use super::column::column;

/// A table, its header and its rows with their lines (from 1), and the line (from 0) after it.
pub struct Drawn {
    pub header: Vec<String>,
    pub header_line: u32,
    pub rows: Vec<(u32, Vec<String>)>,
    pub next: usize,
}

const BARS: [char; 5] = ['|', '│', '┃', '║', '╎'];

fn bare(line: &str) -> &str {
    line.trim().trim_start_matches('>').trim()
}

/// A line between rows, with ends of a frame.
fn is_border(line: &str) -> bool {
    let line = bare(line);
    let drawn = |c: char| ('\u{2500}'..='\u{257f}').contains(&c) && !BARS.contains(&c);
    let dashes = line.chars().filter(|c| matches!(c, '-' | '=') || drawn(*c)).count();
    let only = line.chars().all(|c| drawn(c) || matches!(c, '+' | '-' | '=' | ' ') || BARS.contains(&c));
    let cornered = line.starts_with('+') && line.ends_with('+') || line.chars().any(drawn);
    only && dashes >= 3 && (cornered || line.chars().all(|c| c == '-') && dashes >= 10)
}

fn is_row(line: &str) -> bool {
    let line = bare(line);
    line.starts_with(BARS) && line.chars().filter(|c| BARS.contains(c)).count() >= 3
}

fn cells(line: &str) -> Vec<String> {
    let inner = bare(line).strip_prefix(BARS).unwrap_or(line);
    let inner = inner.strip_suffix(BARS).unwrap_or(inner);
    inner.split(BARS).map(|cell| super::markup::plain(cell.trim())).collect()
}

/// The table that begins at this line, if one does: with its upper border.
pub fn read(lines: &[&str], at: usize) -> Option<Drawn> {
    framed(lines, at).or_else(|| aligned(lines, at))
}

/// Columns that at least two spaces or a tab separate, with or without rules below their names.
fn aligned(lines: &[&str], at: usize) -> Option<Drawn> {
    /// Names that are known quantities; fewer make a sentence with gaps.
    const KNOWN: usize = 2;
    let header: Vec<String> = gaps(lines.get(at)?);
    if header.len() < 3 || header.iter().filter(|name| column(name).is_some()).count() < KNOWN {
        return None;
    }
    let is_rule =
        |line: &str| line.contains("---") && line.chars().all(|c| matches!(c, '-' | '=' | ' ' | '\t'));
    let mut next = at + 1;
    let mut rows = Vec::new();
    while let Some(line) = lines.get(next) {
        let cells = gaps(line);
        if is_rule(bare(line)) {
            next += 1;
            continue;
        }
        let figures = cells.iter().filter(|text| cell::number(text, 0).is_some()).count();
        if cells.len() != header.len() || figures < KNOWN {
            break;
        }
        rows.push((u32::try_from(next + 1).unwrap_or(u32::MAX), cells));
        next += 1;
    }
    let header_line = u32::try_from(at + 1).unwrap_or(u32::MAX);
    (!rows.is_empty()).then_some(Drawn { header, header_line, rows, next })
}

fn gaps(line: &str) -> Vec<String> {
    let split = bare(line).split("  ").flat_map(|part| part.split('\t'));
    split.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn framed(lines: &[&str], at: usize) -> Option<Drawn> {
    let line = lines.get(at)?;
    if !is_border(line) || !is_row(lines.get(at + 1)?) {
        return None;
    }
    let mut header: Vec<String> = Vec::new();
    let mut next = at + 1;
    while let Some(line) = lines.get(next).filter(|line| is_row(line)) {
        for (column, text) in cells(line).into_iter().enumerate() {
            match header.get_mut(column) {
                // A name over two lines.
                Some(name) if !text.is_empty() => *name = format!("{name} {text}").trim().to_owned(),
                Some(_) => {}
                None => header.push(text),
            }
        }
        next += 1;
    }
    lines.get(next).filter(|line| is_border(line))?;
    let mut rows = Vec::new();
    while let Some(line) = lines.get(next) {
        if is_row(line) {
            rows.push((u32::try_from(next + 1).unwrap_or(u32::MAX), cells(line)));
        } else if !is_border(line) {
            break;
        }
        next += 1;
    }
    let header_line = u32::try_from(at + 2).unwrap_or(u32::MAX);
    (header.len() > 1 && !rows.is_empty()).then_some(Drawn { header, header_line, rows, next })
}
