//! From a grid of cells to rows of figures: which column is what, which cell belongs to which configuration.

use super::cell::{self, Clue};
use super::column::{Column, column, percentile};
use super::unit::Kind;
use crate::foreign::model::{Document, Figure, Measure, Row, Table, Unread, Word};

/// Cells as they stand in the text.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    pub header: Vec<String>,
    pub header_line: u32,
    pub rows: Vec<(u32, Vec<String>)>,
    pub caption: String,
    pub headings: Vec<String>,
    /// The sentences around: they may say the unit of all times.
    pub said: Vec<String>,
}

/// Adds the table and its rows. A grid in which nothing is recognised is passed over, and named if it looks like a
/// result.
pub fn take(grid: &Grid, document: &mut Document) {
    let grid = &turned(grid);
    let columns = columns(grid);
    let pairs: Vec<bool> = grid.header.iter().enumerate().map(|(i, h)| is_pair(grid, i, h)).collect();
    let last_line = grid.rows.last().map_or(grid.header_line, |(line, _)| *line);
    for line in grid.header_line..=last_line {
        document.taken.insert(line);
    }
    let figures = (1..grid.header.len()).filter(|&i| columns[i].is_some() || pairs[i]).count()
        + usize::from(columns.first().is_some_and(Option::is_some));
    if figures == 0 && looks_like_a_result(grid) {
        document.unread.push(Unread {
            line: grid.header_line,
            what: format!("table `{}`", grid.header.join(" | ")),
            why: "none of its columns is a known quantity".into(),
        });
    }
    let at = document.tables.len();
    let mut table = Table {
        caption: grid.caption.clone(),
        columns: grid.header.clone(),
        rows: Vec::new(),
        lines: (grid.header_line, last_line),
        headings: grid.headings.clone(),
        around: Vec::new(),
    };
    let clues = clues(grid, &columns);
    for (line, cells) in &grid.rows {
        let base = plain_row(grid, &columns, &pairs, &clues, *line, cells, at);
        let mut made = paired_rows(grid, &pairs, *line, cells, &base);
        if made.is_empty() {
            made.push(base);
        }
        for row in made {
            if !(row.figures.is_empty() && row.others.is_empty()) {
                table.rows.push(document.rows.len());
                document.rows.push(row);
            }
        }
    }
    if !table.rows.is_empty() {
        document.tables.push(table);
    }
}

/// A table whose first column names the quantities and whose other columns are the configurations is turned.
fn turned(grid: &Grid) -> Grid {
    let known = |names: &mut dyn Iterator<Item = &String>| names.filter(|n| column(n).is_some()).count();
    let down = known(&mut grid.rows.iter().filter_map(|(_, cells)| cells.first()));
    let across = known(&mut grid.header.iter().skip(1));
    if across > 0 || grid.rows.len() < 2 || down * 2 <= grid.rows.len() || grid.header.len() < 2 {
        return grid.clone();
    }
    let mut header = vec![grid.header.first().cloned().unwrap_or_default()];
    header.extend(grid.rows.iter().map(|(_, cells)| cells.first().cloned().unwrap_or_default()));
    let rows = (1..grid.header.len()).map(|i| {
        let mut cells = vec![grid.header[i].clone()];
        cells.extend(grid.rows.iter().map(|(_, row)| row.get(i).cloned().unwrap_or_default()));
        (grid.header_line, cells)
    });
    Grid { header, rows: rows.collect(), ..grid.clone() }
}

fn columns(grid: &Grid) -> Vec<Option<Column>> {
    let mut columns: Vec<Option<Column>> = grid.header.iter().map(|h| column(h)).collect();
    let is_thread = |i: usize| grid.header[i].to_lowercase().contains("thread");
    let users = |c: &Option<Column>| c.is_some_and(|c| c.measure == Measure::Users);
    // Beside connections or users, threads are the generator's own.
    let other_users = (0..columns.len()).any(|i| users(&columns[i]) && !is_thread(i));
    for (i, found) in columns.iter_mut().enumerate() {
        if other_users && is_thread(i) && users(found) {
            *found = found.map(|c| Column { measure: Measure::GeneratorThreads, ..c });
        }
        // The first column names the row unless it holds numbers.
        let named = |(_, cells): &(u32, Vec<String>)| {
            cells.get(i).is_some_and(|c| cell::number(c, 0).is_none() && !c.is_empty())
        };
        if i == 0 && grid.rows.iter().any(named) {
            *found = None;
        }
    }
    // Of two columns with one meaning the first is kept as the measure; the other stays a named quantity.
    for i in 1..columns.len() {
        if columns[i].is_some_and(|c| columns[..i].iter().flatten().any(|before| before.measure == c.measure))
        {
            columns[i] = None;
        }
    }
    columns
}

/// `920.6 @ 413 ms` under a header with `@`, or in most of the cells.
fn is_pair(grid: &Grid, i: usize, header: &str) -> bool {
    let paired =
        grid.rows.iter().filter(|(_, c)| c.get(i).is_some_and(|c| cell::pair(c, 0).is_some())).count();
    paired > 0 && (header.contains('@') || paired * 2 > grid.rows.len())
}

/// What the whole column says about the unit of its bare numbers.
fn clues(grid: &Grid, columns: &[Option<Column>]) -> Vec<Option<Clue>> {
    let said = said_time_unit(&grid.said);
    let time_column = |i: usize| columns[i].is_some_and(|c| c.kind == Kind::Time);
    let mut bare: Vec<f64> = Vec::new();
    for (_, cells) in &grid.rows {
        bare.extend((0..cells.len().min(columns.len())).filter(|&i| time_column(i)).filter_map(|i| {
            cell::number(&cells[i], 0).filter(|n| n.kind == Kind::Plain).map(|n| n.figure.value)
        }));
    }
    bare.sort_by(f64::total_cmp);
    // Without a word on it: response times in seconds are hardly ever above 15, in milliseconds hardly ever below.
    let guess = bare.get(bare.len() / 2).filter(|m| **m >= 15.0).map(|_| 1e-3);
    let time = said.or(guess);
    columns
        .iter()
        .map(|c| {
            let c = (*c)?;
            // A test lasts seconds or longer: a bare number there is no response time.
            let fallback =
                if c.measure == Measure::Duration || c.measure == Measure::RampUp { Some(1.0) } else { time };
            let unit = c.unit.or((c.kind == Kind::Time).then_some(fallback.map(|t| (t, t))).flatten());
            Some(Clue { kind: c.kind, unit })
        })
        .collect()
}

fn said_time_unit(said: &[String]) -> Option<f64> {
    said.iter().rev().find_map(|s| {
        let lower = s.to_lowercase();
        let about = lower.contains("time") || lower.contains("latenc");
        let unit = ["in millisecond", "in ms", "(ms)"].iter().any(|u| lower.contains(u)).then_some(1e-3);
        let unit = unit.or_else(|| lower.contains("in microsecond").then_some(1e-6));
        unit.or_else(|| lower.contains("are in second").then_some(1.0)).filter(|_| about)
    })
}

fn plain_row(
    grid: &Grid,
    columns: &[Option<Column>],
    pairs: &[bool],
    clues: &[Option<Clue>],
    line: u32,
    cells: &[String],
    table: usize,
) -> Row {
    let mut row = Row {
        lines: (line, line),
        headings: grid.headings.clone(),
        table: Some(table),
        label: cells.first().cloned().unwrap_or_default(),
        ..Row::default()
    };
    for (i, text) in cells.iter().enumerate().take(grid.header.len()) {
        let name = grid.header[i].to_lowercase();
        if pairs[i] || text.is_empty() {
            continue;
        }
        match (columns[i], clues[i].as_ref()) {
            (Some(c), Some(clue)) => measure_cell(&mut row, c, clue, &name, text, line),
            _ => match cell::number(text, line).filter(|_| i > 0 || cell::is_bare(text)) {
                Some(n) => {
                    row.others.insert(name, n.figure);
                }
                None => {
                    row.words.insert(name, Word { text: text.clone(), line });
                }
            },
        }
    }
    if columns.first().is_some_and(Option::is_some) {
        let name = grid.header.first().map_or("", String::as_str);
        row.label = format!("{name} {}", row.label).trim().to_owned();
    }
    row.words.insert("row".into(), Word { text: row.label.clone(), line });
    row
}

fn measure_cell(row: &mut Row, c: Column, clue: &Clue, name: &str, text: &str, line: u32) {
    let Some(number) = cell::number(text, line) else {
        if !cell::is_nothing(text) {
            row.words.insert(name.to_owned(), Word { text: text.to_owned(), line });
        }
        return;
    };
    // `0.5%` in a column of errors is their share.
    let measure = match (c.measure, number.kind) {
        (Measure::Errors, Kind::Percent) => Measure::ErrorRatio,
        (measure, _) => measure,
    };
    let Some(figure) = cell::in_unit(&number, clue) else {
        row.others.insert(name.to_owned(), number.figure);
        return;
    };
    if measure == Measure::Mean
        && let Some(spread) = cell::spread(text, line).and_then(|n| cell::in_unit(&n, clue))
    {
        row.figures.entry(Measure::StdDev).or_insert(spread);
    }
    if measure == Measure::Errors
        && let Some(share) = cell::second(text, line).filter(|n| n.kind == Kind::Percent)
    {
        row.figures.entry(Measure::ErrorRatio).or_insert(share.figure);
    }
    row.figures.insert(measure, figure);
}

/// One row for each `rate @ time` cell: `content/read, 2 servers`.
fn paired_rows(grid: &Grid, pairs: &[bool], line: u32, cells: &[String], base: &Row) -> Vec<Row> {
    let mut rows = Vec::new();
    for (i, text) in cells.iter().enumerate().take(grid.header.len()).filter(|(i, _)| pairs[*i]) {
        let Some((rate, time)) = cell::pair(text, line) else { continue };
        let mut row = base.clone();
        let header = &grid.header[i];
        let config = header.split(['(', '@']).next().unwrap_or("").trim();
        if let Some(n) = cell::number(config, line)
            && let Some(measure) = config_measure(config)
        {
            row.figures.insert(measure, Figure { line, ..n.figure });
        }
        row.label = format!("{}, {config}", base.label);
        row.figures.insert(Measure::Rate, rate);
        let lower = header.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || "%.".contains(c))).collect();
        row.figures.insert(percentile(&words).map_or(Measure::Mean, Measure::Percentile), time);
        rows.push(row);
    }
    rows
}

fn config_measure(header: &str) -> Option<Measure> {
    column(header).map(|c| c.measure).filter(|m| {
        matches!(m, Measure::Users | Measure::Servers | Measure::Generators | Measure::GeneratorThreads)
    })
}

fn looks_like_a_result(grid: &Grid) -> bool {
    let header = grid.header.join(" ").to_lowercase();
    let named =
        ["latency", "throughput", "response", "req/", "rps", "percentile"].iter().any(|w| header.contains(w));
    let numeric = grid.rows.iter().flat_map(|(_, c)| c).filter(|c| cell::number(c, 0).is_some()).count();
    named && numeric >= 2
}
