//! `data:`: the files whose rows feed the users, with their formats and columns.
//!
//! Only the first lines are read here, to find a misspelled column before the load; the interpreter reads the rows.

use super::key::{Row, Section, find, of};
use super::reader::Reader;
use super::yaml::{Node, Scalar, Value};
use plimsoll_build::body::{lower, regular};
use plimsoll_build::draft::FeederDraft;
use plimsoll_build::source::Pos;
use plimsoll_build::wrong_name;
use plimsoll_plan::Problem;
use plimsoll_plan::data::{AtEnd, Feeder, Format, RowOrder, Sharing};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A file that a setup step writes.
pub struct Made {
    path: PathBuf,
    columns: Vec<String>,
}

/// Finds the files that the setup steps write, at any depth.
pub fn made_by(steps: &Node, folder: &Path, all: &mut Vec<Made>) {
    match &steps.value {
        Value::Scalar(_) => {}
        Value::List(list) => list.iter().for_each(|item| made_by(item, folder, all)),
        Value::Map(entries) => {
            for entry in entries {
                if matches!(entry.key.as_str(), "append" | "generate")
                    && let Value::Map(inner) = &entry.value.value
                {
                    let of = |name: &str| inner.iter().find(|e| e.key == name).map(|e| &e.value.value);
                    if let (Some(Value::Scalar(Scalar { text, .. })), Some(Value::Map(columns))) =
                        (of("file"), of("columns"))
                    {
                        let columns = columns.iter().map(|column| column.key.clone()).collect();
                        all.push(Made { path: folder.join(text), columns });
                    }
                }
                // Bodies contain no steps.
                if !matches!(entry.key.as_str(), "json" | "form" | "headers") {
                    made_by(&entry.value, folder, all);
                }
            }
        }
    }
}

/// Reads `data:`.
pub fn read(node: &Node, row: &Row, made: &[Made], r: &mut Reader<'_>) -> BTreeMap<String, FeederDraft> {
    let mut all = BTreeMap::new();
    for entry in r.map(node, row).unwrap_or_default() {
        if let Some((message, hint)) = wrong_name(&entry.key) {
            r.complain("F015", entry.pos, message, hint);
            continue;
        }
        if r.constants.contains_key(&entry.key) {
            let message = format!("duplicate name `{}`: it is already defined under `vars`", entry.key);
            r.complain("F013", entry.pos, message, "rename one of them");
        }
        let before = r.wrong.len();
        let known = feeder(&entry.key, &entry.value, made, r);
        let spoiled = known.is_none() || r.wrong.len() > before;
        let nothing = || Feeder {
            name: entry.key.clone(),
            path: PathBuf::new(),
            format: Format::JsonLines,
            columns: Vec::new(),
            share: Sharing::All,
            order: RowOrder::Sequential,
            at_end: AtEnd::Recycle,
            made_by_setup: false,
        };
        let (feeder, columns) = known.unwrap_or_else(|| (nothing(), None));
        all.insert(entry.key.clone(), FeederDraft { feeder, columns, spoiled });
    }
    all
}

fn feeder(
    name: &str,
    node: &Node,
    made: &[Made],
    r: &mut Reader<'_>,
) -> Option<(Feeder, Option<Vec<String>>)> {
    let whole = find(Section::Top, "data")?;
    let Value::Map(entries) = &node.value else {
        let hint = format!("write `{name}: {{ file: {name}.csv }}`");
        r.expected(node, whole, &hint);
        return None;
    };
    let (mut file, mut format, mut delimiter, mut header) = (None, None, None, None);
    let (mut share, mut order, mut at_end) = (Sharing::All, RowOrder::Sequential, AtEnd::Recycle);
    let mut delimiter_pos = node.pos;
    let before = r.wrong.len();
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::Feeder::File => file = r.text(node, row).map(|text| (text.to_owned(), node.pos)),
            of::Feeder::Format => format = r.choice(node, row, &[("csv", false), ("jsonl", true)]),
            of::Feeder::Delimiter => {
                delimiter = r.parsed(node, row, one_byte);
                delimiter_pos = entry.pos;
            }
            of::Feeder::Columns => header = names(node, row, r).map(|names| (names, entry.pos)),
            of::Feeder::Sharing => {
                let words =
                    [("all", Sharing::All), ("partitioned", Sharing::Partition), ("unique", Sharing::Unique)];
                let help = "write `all` (every user reads all rows), `partitioned` (every user reads different rows), \
                            or `unique` (all users take the next row of one sequence)";
                share = r.choice_or(node, row, &words, help).unwrap_or_default();
            }
            of::Feeder::Order => {
                let words = [("sequential", RowOrder::Sequential), ("random", RowOrder::Random)];
                order = r.choice(node, row, &words).unwrap_or_default();
            }
            of::Feeder::OnEnd => {
                let words = [("recycle", AtEnd::Recycle), ("stop", AtEnd::Stop)];
                at_end = r.choice(node, row, &words).unwrap_or_default();
            }
        }
    }
    let Some((file, pos)) = file else {
        if r.wrong.len() == before {
            let message = format!("missing `file` in data file `{name}`");
            r.complain("F016", node.pos, message, format!("add a file name, such as `file: {name}.csv`"));
        }
        return None;
    };
    let path = r.path(&file, pos)?;
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let lines = match (format, ending.as_str()) {
        (Some(lines), _) => lines,
        (None, "csv" | "tsv") => false,
        (None, "jsonl" | "ndjson") => true,
        (None, _) => {
            let message = format!("unknown format of `{file}`: its extension does not say");
            r.complain("F016", pos, message, "add `format: csv` or `format: jsonl`");
            return None;
        }
    };
    let format = if lines {
        for (given, pos, key) in [
            (delimiter.is_some(), delimiter_pos, "delimiter"),
            (header.is_some(), header.as_ref().map_or(node.pos, |(_, pos)| *pos), "columns"),
        ] {
            if given {
                let message =
                    format!("`{key}` does not apply to JSON Lines, where each line names its values");
                r.complain("F017", pos, message, format!("remove `{key}`"));
            }
        }
        Format::JsonLines
    } else {
        let usual = if ending == "tsv" { b'\t' } else { b',' };
        Format::Csv { delimiter: delimiter.unwrap_or(usual), header: header.map(|(names, _)| names) }
    };
    let made = made.iter().find(|made| made.path == path);
    let columns = match made {
        Some(made) => Some(match &format {
            Format::Csv { header: Some(names), .. } => names.clone(),
            _ => made.columns.clone(),
        }),
        None => match first_lines(&path, &format) {
            Ok(columns) => Some(columns),
            Err((message, hint)) => {
                r.complain("F026", pos, message, hint);
                None
            }
        },
    };
    let made_by_setup = made.is_some();
    let feeder =
        Feeder { name: name.into(), path, format, columns: Vec::new(), share, order, at_end, made_by_setup };
    Some((feeder, columns))
}

fn one_byte(text: &str) -> Result<u8, Problem> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        [byte]
            if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\n' | b'\r') =>
        {
            Ok(*byte)
        }
        _ => Err(Problem::new(
            format!("invalid delimiter `{text}`: expected one character, or `tab`"),
            "write a delimiter such as `\";\"`",
        )),
    }
}

fn names(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Vec<String>> {
    let list = r.list(node, row)?;
    let mut names: Vec<String> = Vec::new();
    for item in list {
        let name = r.written(item, row)?.to_owned();
        if names.contains(&name) {
            twice(&name, item.pos, r);
        }
        names.push(name);
    }
    if names.is_empty() {
        r.expected(node, row, "name at least one column");
        return None;
    }
    Some(names)
}

fn twice(name: &str, pos: Pos, r: &mut Reader<'_>) {
    r.complain("F013", pos, format!("duplicate column `{name}`"), "give each column its own name");
}

/// Returns the columns of a file, from its first line. A CSV header without rows is an error.
fn first_lines(path: &Path, format: &Format) -> Result<Vec<String>, (String, String)> {
    let shown = path.display();
    let opened = regular(path);
    let file = opened.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => (
            format!("no such file: `{shown}`"),
            "check the path, or write the file in `setup` with `generate` or `append`".into(),
        ),
        std::io::ErrorKind::IsADirectory => (format!("`{shown}` is a directory"), "name a file in it".into()),
        _ => (format!("cannot read `{shown}`: {}", lower(&error)), "make it readable for this user".into()),
    })?;
    /// A longer first line is not a header.
    const LONGEST_BYTES: u64 = 1 << 20;
    let file = BufReader::new(file.take(LONGEST_BYTES));
    match format {
        Format::Csv { delimiter, header } => {
            csv_columns(file, &shown.to_string(), *delimiter, header.as_ref())
        }
        Format::JsonLines => json_columns(file, &shown.to_string()),
    }
}

fn csv_columns(
    file: impl Read,
    shown: &str,
    delimiter: u8,
    header: Option<&Vec<String>>,
) -> Result<Vec<String>, (String, String)> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(file);
    let mut record = csv::StringRecord::new();
    let mut next = |record: &mut csv::StringRecord| {
        reader.read_record(record).map_err(|_| {
            (
                format!("invalid CSV in the first lines of `{shown}`"),
                "save the file as CSV in UTF-8".to_owned(),
            )
        })
    };
    let empty = || (format!("`{shown}` has no rows"), "add at least one row".to_owned());
    if !next(&mut record)? {
        return Err(empty());
    }
    if let Some(header) = header {
        if record.len() != header.len() {
            let message = format!(
                "the first row of `{shown}` has {} values, but `columns` has {} names",
                record.len(),
                header.len()
            );
            return Err((message, "name every column, and check the delimiter".into()));
        }
        return Ok(header.clone());
    }
    let names: Vec<String> =
        record.iter().map(|name| name.trim_start_matches('\u{feff}').trim().to_owned()).collect();
    if let Some((i, name)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        let message = format!(
            "duplicate column `{name}` in `{shown}`: columns {} and {}",
            1 + names.iter().position(|n| n == name).unwrap_or(i),
            i + 1
        );
        return Err((message, "give each column its own name, in the first line or with `columns`".into()));
    }
    if !next(&mut record)? {
        let (message, _) = empty();
        return Err((
            message,
            "add rows below its first line, or name the columns with `columns: [...]`".into(),
        ));
    }
    Ok(names)
}

fn json_columns(file: impl BufRead, shown: &str) -> Result<Vec<String>, (String, String)> {
    let first = file.lines().map_while(Result::ok).find(|line| !line.trim().is_empty());
    let Some(first) = first else {
        return Err((
            format!("`{shown}` has no rows"),
            "add at least one row, such as `{\"email\": \"a@example.com\"}`".into(),
        ));
    };
    match serde_json::from_str::<serde_json::Value>(first.trim_start_matches('\u{feff}')) {
        Ok(serde_json::Value::Object(object)) => Ok(object.keys().cloned().collect()),
        _ => Err((
            format!("invalid first line of `{shown}`: expected a JSON object"),
            "write one object per line, such as `{\"email\": \"a@example.com\"}`".into(),
        )),
    }
}
