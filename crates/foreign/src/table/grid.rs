//! From a grid of cells to rows of figures: which column is what, which cell belongs to which configuration.

use super::cell::{self, Clue};
use super::column::{Column, column, percentile};
use super::number::Commas;
use super::shape::{split_times, without_goals};
use super::unit::Kind;
use crate::model::{Document, Figure, Measure, Row, Table, Unread, Word};

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
    /// In a table that was turned, the line of each cell of a row; empty: all stand on the row's line.
    pub cell_lines: Vec<u32>,
}

/// Adds the table and its rows. A grid in which nothing is recognised is passed over, and named if it looks like a
/// result.
pub fn take(grid: &Grid, document: &mut Document) {
    let with_goals = turned(&headed(&split_times(&ungrouped(grid))));
    let without = without_goals(&with_goals);
    let has_goals = without.is_some();
    let grid = &without.unwrap_or(with_goals);
    let columns = columns(grid);
    let pairs: Vec<bool> = grid.header.iter().enumerate().map(|(i, h)| is_pair(grid, i, h)).collect();
    let last_line = grid.rows.last().map_or(grid.header_line, |(line, _)| *line);
    for line in grid.header_line..=last_line {
        document.taken.insert(line);
    }
    let figures = (1..grid.header.len()).filter(|&i| columns[i].is_some() || pairs[i]).count()
        + usize::from(columns.first().is_some_and(Option::is_some));
    let strange = |at: usize, text: &str| {
        columns.get(at).copied().flatten().is_some_and(|c| c.kind == Kind::Time)
            && cell::number(text, 0)
                .is_some_and(|n| n.kind == Kind::Plain && cell::has_unknown_unit(text, &n))
    };
    for (line, cells) in &grid.rows {
        for (_, text) in cells.iter().enumerate().filter(|(at, text)| strange(*at, text)) {
            document.unread.push(Unread {
                line: *line,
                what: text.clone(),
                why: "an unknown unit of time".into(),
            });
        }
    }
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
    let commas = commas(grid, &columns);
    let clues = clues(grid, &columns, commas);
    for (line, cells) in &grid.rows {
        let base = plain_row(
            grid,
            &Read { columns: &columns, pairs: &pairs, clues: &clues, commas },
            *line,
            cells,
            at,
        );
        let mut made = paired_rows(grid, &pairs, *line, cells, &base);
        if made.is_empty() {
            made.push(base);
        }
        for row in made {
            // Beside goals, a row without figures describes them: `95% of the requests end within it`.
            if !(row.figures.is_empty() && (has_goals || row.others.is_empty())) {
                table.rows.push(document.rows.len());
                document.rows.push(row);
            }
        }
    }
    if !table.rows.is_empty() {
        document.tables.push(table);
    }
}

/// Cells in which spaces or apostrophes separate groups of digits, without them.
fn ungrouped(grid: &Grid) -> Grid {
    let mut grid = grid.clone();
    for (_, cells) in &mut grid.rows {
        for text in cells {
            if let Some(number) = cell::ungrouped(text) {
                *text = number;
            }
        }
    }
    grid
}

/// A second row of names below a header with gaps: `Requests per second | |` above `Mean | Max`. Each column gets both.
fn headed(grid: &Grid) -> Grid {
    let gaps = grid.header.iter().skip(1).filter(|h| h.is_empty()).count();
    let Some((line, names)) = grid.rows.first().filter(|_| gaps > 0) else { return grid.clone() };
    let numeric = names.iter().any(|n| cell::is_bare(n) && cell::number(n, 0).is_some());
    let known = names.iter().filter(|n| column(n).is_some()).count();
    if numeric || known < 2 || grid.rows.len() < 2 {
        return grid.clone();
    }
    let (mut above, mut header) = (String::new(), Vec::new());
    for (at, top) in grid.header.iter().enumerate() {
        if !top.is_empty() {
            top.clone_into(&mut above);
        }
        let own = names.get(at).map_or("", String::as_str);
        header.push(if own.is_empty() { above.clone() } else { format!("{own} {above}") });
    }
    Grid { header, header_line: *line, rows: grid.rows[1..].to_vec(), ..grid.clone() }
}

/// A table whose first column names the quantities and whose other columns are the configurations is turned.
fn turned(grid: &Grid) -> Grid {
    let known = |names: &mut dyn Iterator<Item = &String>| names.filter(|n| column(n).is_some()).count();
    let down = known(&mut grid.rows.iter().filter_map(|(_, cells)| cells.first()));
    // `Achieved` beside `Target` names no quantity.
    let across = known(&mut grid.header.iter().skip(1).filter(|h| !h.eq_ignore_ascii_case("achieved")));
    if across > 0 || grid.rows.len() < 2 || down * 2 <= grid.rows.len() || grid.header.len() < 2 {
        return grid.clone();
    }
    let mut header = vec![grid.header.first().cloned().unwrap_or_default()];
    header.extend(grid.rows.iter().map(|(_, cells)| cells.first().cloned().unwrap_or_default()));
    let mut cell_lines = vec![grid.header_line];
    cell_lines.extend(grid.rows.iter().map(|(line, _)| *line));
    // The column of intervals beside the figures is no configuration of its own.
    let bounds = |name: &str| super::column::is_bound(name);
    let rows = (1..grid.header.len()).filter(|i| !bounds(&grid.header[*i])).map(|i| {
        let mut cells = vec![grid.header[i].clone()];
        cells.extend(grid.rows.iter().map(|(_, row)| row.get(i).cloned().unwrap_or_default()));
        (grid.header_line, cells)
    });
    Grid { header, rows: rows.collect(), cell_lines, ..grid.clone() }
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
    other_quantity(grid, &mut columns);
    plain_rates(grid, &mut columns);
    // Of two columns with one meaning the first is kept as the measure; the other stays a named quantity.
    for i in 1..columns.len() {
        if columns[i].is_some_and(|c| columns[..i].iter().flatten().any(|before| before.measure == c.measure))
        {
            columns[i] = None;
        }
    }
    columns
}

/// Below a heading `Requests per second`, a bare `Mean` is a rate, and below `Memory` it is not a time.
fn other_quantity(grid: &Grid, columns: &mut [Option<Column>]) {
    const TIMES: &[&str] = &["latenc", "time", "duration", "delay", "(ms)", "percentile"];
    const RATES: &[&str] = &["per second", "/sec", "/s", "rps", "qps", "tps", "throughput"];
    const OTHERS: &[&str] = &["memory", "cpu", "bundle", "binary size", "cost", "score", "allocation"];
    let caption = grid.caption.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|w| caption.contains(w));
    let is_rate = says(RATES);
    if says(TIMES) || !(is_rate || says(OTHERS)) {
        return;
    }
    let has_rate = columns.iter().flatten().any(|c| c.measure == Measure::Rate);
    for (at, found) in columns.iter_mut().enumerate() {
        let own = grid.header[at].to_lowercase();
        let is_bare = found.is_some_and(|c| c.kind == Kind::Time && c.unit.is_none())
            && !TIMES.iter().any(|w| own.contains(w));
        if is_bare {
            let mean = is_rate && !has_rate && found.is_some_and(|c| c.measure == Measure::Mean);
            *found =
                mean.then_some(Column { measure: Measure::Rate, kind: Kind::PerS, unit: Some((1.0, 1.0)) });
        }
    }
}

/// Beside what was achieved, `rate` is what was asked for; without any rate, one column of cells per second is it.
fn plain_rates(grid: &Grid, columns: &mut [Option<Column>]) {
    let is_rate = |c: &Option<Column>| c.is_some_and(|c| c.measure == Measure::Rate);
    let rates: Vec<usize> = (0..columns.len()).filter(|i| is_rate(&columns[*i])).collect();
    let bare = |i: &usize| {
        let name = grid.header[*i].to_lowercase();
        name.split(['(', '[', ',']).next().is_some_and(|n| n.trim() == "rate")
    };
    if rates.len() == 2 {
        if let Some(i) = rates.iter().copied().find(|i| bare(i)) {
            columns[i] = columns[i].map(|c| Column { measure: Measure::OfferedRate, ..c });
        }
        return;
    }
    let per_s = |i: &usize| {
        let of = |c: &String| cell::is_bare(c) && cell::number(c, 0).is_some_and(|n| n.kind == Kind::PerS);
        let rows = grid.rows.iter().filter(|(_, cells)| cells.get(*i).is_some_and(of)).count();
        rows * 2 > grid.rows.len()
    };
    let open: Vec<usize> = (1..columns.len()).filter(|i| columns[*i].is_none() && per_s(i)).collect();
    if let ([i], true) = (open.as_slice(), rates.is_empty())
        && !super::column::is_bound(&grid.header[*i])
    {
        columns[*i] = Some(Column { measure: Measure::Rate, kind: Kind::PerS, unit: Some((1.0, 1.0)) });
    }
}

/// `920.6 @ 413 ms` under a header with `@`, or in most of the cells.
fn is_pair(grid: &Grid, i: usize, header: &str) -> bool {
    let paired =
        grid.rows.iter().filter(|(_, c)| c.get(i).is_some_and(|c| cell::pair(c, 0).is_some())).count();
    paired > 0 && (header.contains('@') || paired * 2 > grid.rows.len())
}

/// What the whole column says about the unit of its bare numbers.
fn clues(grid: &Grid, columns: &[Option<Column>], commas: Commas) -> Vec<Option<Clue>> {
    let said = said_time_unit(&grid.said);
    let time_column = |i: usize| columns[i].is_some_and(|c| c.kind == Kind::Time);
    let mut bare: Vec<f64> = Vec::new();
    for (_, cells) in &grid.rows {
        bare.extend((0..cells.len().min(columns.len())).filter(|&i| time_column(i)).filter_map(|i| {
            cell::number_with(&cells[i], 0, commas).filter(|n| n.kind == Kind::Plain).map(|n| n.figure.value)
        }));
    }
    bare.sort_by(f64::total_cmp);
    // Without a word on it: response times in seconds are hardly ever above 15, in milliseconds hardly ever below.
    let guess = bare.get(bare.len() / 2).filter(|m| **m >= 15.0).and_then(|_| guess(grid, columns));
    let sure = said.or_else(|| is_of_a_tool_in_ms(grid).then_some(1e-3));
    let time = sure.or(guess);
    columns
        .iter()
        .map(|c| {
            let c = (*c)?;
            // A test lasts seconds or longer: a bare number there is no response time.
            let fallback =
                if c.measure == Measure::Duration || c.measure == Measure::RampUp { Some(1.0) } else { time };
            let unit = c.unit.or((c.kind == Kind::Time).then_some(fallback.map(|t| (t, t))).flatten());
            let guessed = c.kind == Kind::Time && c.unit.is_none() && sure.is_none() && fallback == time;
            Some(Clue { kind: c.kind, unit, guessed })
        })
        .collect()
}

/// Headers of tools that are known to write milliseconds: JMeter's reports and Locust's.
fn is_of_a_tool_in_ms(grid: &Grid) -> bool {
    let has = |name: &str| grid.header.iter().any(|h| h == name);
    has("# Samples") && has("Average") || is_of_locust(grid)
}

fn is_of_locust(grid: &Grid) -> bool {
    let has = |name: &str| grid.header.iter().any(|h| h == name);
    has("Request Count") && has("Failure Count") && has("Average Content Size")
}

/// Milliseconds unless a row then had more in flight than users, or a time longer than its run; then microseconds, if
/// they fill the users, or nothing: a guess that contradicts the rest was wrong.
fn guess(grid: &Grid, columns: &[Option<Column>]) -> Option<f64> {
    let at = |m: Measure| columns.iter().position(|c| c.is_some_and(|c| c.measure == m));
    let value = |cells: &[String], i: usize, size: f64| {
        let number = cell::number(cells.get(i)?, 0)?;
        let unit = columns[i].and_then(|c| c.unit).map_or(size, |u| u.0);
        Some(if number.kind == Kind::Plain { number.figure.value * unit } else { number.figure.value })
    };
    let (Some(mean), Some(rate), Some(users)) = (at(Measure::Mean), at(Measure::Rate), at(Measure::Users))
    else {
        return Some(1e-3);
    };
    let shares = |size: f64| -> Vec<f64> {
        let share = |c: &[String]| Some(value(c, mean, size)? * value(c, rate, 1.0)? / value(c, users, 1.0)?);
        grid.rows.iter().filter_map(|(_, c)| share(c)).collect()
    };
    let holds = |size: f64, least: f64| shares(size).iter().all(|s| *s <= 1.05 && *s >= least);
    if holds(1e-3, 0.0) { Some(1e-3) } else { holds(1e-6, 0.3).then_some(1e-6) }
}

/// `Latencies in µs`, `times (ms)`: the nearest sentence that names a unit of time for all.
fn said_time_unit(said: &[String]) -> Option<f64> {
    const BEFORE_IN: &[&str] = &[
        "are",
        "is",
        "time",
        "times",
        "latency",
        "latencies",
        "all",
        "values",
        "given",
        "duration",
        "durations",
    ];
    let unit = |word: &str| {
        let word = word.trim_end_matches(['.', ',', ':', ';']);
        let time = super::unit::parse(word, false).filter(|u| u.kind == Kind::Time);
        time.map(|u| u.size).filter(|s| *s <= 1.0)
    };
    said.iter().rev().find_map(|s| {
        let lower = s.to_lowercase();
        if !(lower.contains("time") || lower.contains("latenc") || lower.contains("duration")) {
            return None;
        }
        let words: Vec<&str> = lower.split_whitespace().collect();
        let all = words.windows(2).enumerate().find_map(|(i, pair)| {
            let before = i.checked_sub(1).and_then(|b| words.get(b)).copied().unwrap_or("");
            // `the time fell in seconds` is about no unit.
            unit(pair[1]).filter(|u| pair[0] == "in" && (*u < 1.0 || BEFORE_IN.contains(&before)))
        });
        let bracket = |w: &&str| {
            let w = w.trim_end_matches(['.', ',', ':', ';']);
            w.strip_prefix(['(', '[']).and_then(|w| w.strip_suffix([')', ']'])).and_then(unit)
        };
        all.or_else(|| words.iter().find_map(bracket))
    })
}

/// The column that names the rows: the first, or the name beside a type that many rows share.
fn naming(grid: &Grid) -> usize {
    let first = grid.header.first().map(|h| h.to_lowercase()).unwrap_or_default();
    let named = grid.header.get(1).is_some_and(|h| h.eq_ignore_ascii_case("name"));
    usize::from(named && ["type", "method"].contains(&first.as_str()))
}

/// What is known about the columns.
struct Read<'a> {
    columns: &'a [Option<Column>],
    pairs: &'a [bool],
    clues: &'a [Option<Clue>],
    commas: Commas,
}

/// Decided once for the table: `120,250` beside `99,5` is decimal.
fn commas(grid: &Grid, columns: &[Option<Column>]) -> Commas {
    let counts = |i: usize| columns.get(i).copied().flatten().is_some_and(|c| c.kind == Kind::Plain);
    let named = |i: usize| columns.get(i).copied().flatten().is_some();
    let cells = grid.rows.iter().flat_map(|(_, c)| c.iter().enumerate());
    cell::commas(cells.filter(|(i, _)| named(*i)).map(|(i, c)| (c.as_str(), counts(i))))
}

fn plain_row(grid: &Grid, read: &Read, line: u32, cells: &[String], table: usize) -> Row {
    let mut row = Row {
        lines: (line, line),
        headings: grid.headings.clone(),
        table: Some(table),
        label: cells.get(naming(grid)).cloned().unwrap_or_default(),
        ..Row::default()
    };
    let Read { columns, pairs, clues, commas } = *read;
    let row_line = line;
    for (i, text) in cells.iter().enumerate().take(grid.header.len()) {
        let line = grid.cell_lines.get(i).copied().unwrap_or(row_line);
        let name = grid.header[i].to_lowercase();
        if pairs[i] || text.is_empty() {
            continue;
        }
        match (columns[i], clues[i].as_ref()) {
            (Some(c), Some(clue)) => measure_cell(&mut row, (c, clue), &name, text, line, commas),
            _ => match cell::number_with(text, line, commas).filter(|_| i > 0 || cell::is_bare(text)) {
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
    if is_of_locust(grid) {
        widen_percentiles(&mut row);
    }
    row.words.insert("row".into(), Word { text: row.label.clone(), line });
    row
}

/// Locust keeps its times in steps of 10 ms from 100 ms on, of 100 ms from 1 s on, of 1 s from 10 s on: two digits.
fn widen_percentiles(row: &mut Row) {
    for (_, figure) in row.figures.iter_mut().filter(|(m, _)| matches!(m, Measure::Percentile(_))) {
        let step = match figure.value {
            v if v < 0.1 => 0.001,
            v if v < 1.0 => 0.01,
            v if v < 10.0 => 0.1,
            _ => 1.0,
        };
        figure.low = figure.low.min(figure.value - step / 2.0);
        figure.high = figure.high.max(figure.value + step / 2.0);
    }
}

fn measure_cell(
    row: &mut Row,
    (c, clue): (Column, &Clue),
    name: &str,
    text: &str,
    line: u32,
    commas: Commas,
) {
    let Some(number) = cell::number_with(text, line, commas) else {
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
    // `3 lunas` is not read, least of all as seconds.
    if c.kind == Kind::Time && number.kind == Kind::Plain && cell::has_unknown_unit(text, &number) {
        row.words.insert(name.to_owned(), Word { text: text.to_owned(), line });
        return;
    }
    let Some(mut figure) = cell::in_unit(&number, clue) else {
        row.others.insert(name.to_owned(), number.figure);
        return;
    };
    if clue.guessed && number.kind == Kind::Plain {
        figure.unit = super::GUESSED.to_owned();
    }
    if measure == Measure::Mean
        && let Some(spread) = cell::spread(text, line, commas).and_then(|n| cell::in_unit(&n, clue))
    {
        row.figures.entry(Measure::StdDev).or_insert(spread);
    }
    if measure == Measure::Errors
        && let Some(share) = cell::second(text, line, commas).filter(|n| n.kind == Kind::Percent)
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
