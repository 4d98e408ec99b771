//! CSV and TSV files with a header.

use super::column::column;
use super::grid::Grid;

/// The whole text as a grid when it is a delimited file with at least two known columns.
pub fn read(text: &str) -> Option<Grid> {
    let mut lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
    let (first, header) = lines.next()?;
    let delimiter = ['\t', ';', ','].into_iter().find(|d| header.matches(*d).count() >= 1)?;
    let header: Vec<String> = fields(header, delimiter);
    // `time` beside `ms` in prose is no header: two known names are asked for.
    if header.iter().filter(|h| column(h).is_some()).count() < 2 || header.iter().any(|h| h.len() > 60) {
        return None;
    }
    let mut rows = Vec::new();
    let (mut odd, mut total) = (0usize, 0usize);
    for (i, line) in lines {
        let cells = fields(line, delimiter);
        total += 1;
        odd += usize::from(cells.len() != header.len());
        rows.push((i as u32 + 1, cells));
    }
    (total > 0 && odd * 4 <= total).then(|| Grid {
        header,
        header_line: first as u32 + 1,
        rows,
        ..Grid::default()
    })
}

/// Fields of one line; quotes are taken off, doubled quotes stand for one.
fn fields(line: &str, delimiter: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(last) = fields.last_mut() else { break };
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                last.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            c if c == delimiter && !quoted => fields.push(String::new()),
            c => last.push(c),
        }
    }
    fields.iter().map(|f| f.trim().trim_start_matches('\u{feff}').to_owned()).collect()
}
