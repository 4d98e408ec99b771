//! A file in memory, with the position of each row. All of it is validated when it is opened, so that a mistake in row
//! 900,000 is reported before the load.
//!
//! The file is read, not mapped: mapping would require `unsafe`, and a file that shrinks during the load would kill the
//! process. Reading 50 MB takes about 15 ms.

use super::{FIX, csv, json};
use memchr::memchr_iter;
use plimsoll_plan::Problem;
use plimsoll_plan::data::{Feeder, Format};
use plimsoll_plan::program::Unready;
use std::fs;
use std::path::Path;

/// The rows of one file.
#[derive(Debug)]
pub struct Table {
    bytes: Vec<u8>,
    /// The beginnings of the rows.
    starts: Vec<usize>,
    cut: Cut,
}

/// Reads a regular file. A pipe may have no writer, and a device no end.
fn content(path: &Path) -> std::io::Result<Vec<u8>> {
    match path.metadata()? {
        about if !about.is_file() && !about.is_dir() => {
            let why = "it is a pipe, a socket, or a device, not a regular file";
            Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, why))
        }
        _ => {
            plimsoll_plan::inputs::note(path);
            fs::read(path)
        }
    }
}

/// How to find a value in a row.
#[derive(Debug)]
enum Cut {
    /// The field numbers of the columns.
    Csv { delimiter: u8, fields: Box<[usize]> },
    /// The keys or paths of the columns.
    Json { paths: Box<[Box<[u8]>]> },
}

impl Table {
    /// Reads and validates a data file.
    ///
    /// # Errors
    /// Returns an error with name, file, and line.
    pub fn open(feeder: &Feeder) -> Result<Table, Unready> {
        let file = feeder.path.display();
        let bytes = content(&feeder.path).map_err(|error| {
            let by = if feeder.made_by_setup { " (setup should have written it)" } else { "" };
            let message = format!("cannot read `{file}` of data `{}`{by}: {error}", feeder.name);
            Unready::File(Problem::plain(message))
        })?;
        let opened = begin(&bytes).and_then(|begin| match &feeder.format {
            Format::Csv { delimiter, header } => {
                open_csv(&bytes, begin, feeder, *delimiter, header.as_deref())
            }
            Format::JsonLines => open_json(&bytes, begin, feeder),
        });
        let (starts, cut) = opened.map_err(|FileError { at, what, fix }| {
            let line = at.map(|at| 1 + memchr_iter(b'\n', &bytes[..at]).count());
            let place = line.map_or_else(String::new, |line| format!("line {line} of "));
            Unready::Data(Problem::new(format!("{place}`{file}` (data `{}`): {what}", feeder.name), fix))
        })?;
        Ok(Table { bytes, starts, cut })
    }

    pub fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Appends the value of a column. Returns false if there is no such row or column.
    pub fn value(&self, row: usize, column: usize, out: &mut Vec<u8>) -> bool {
        let Some(&begin) = self.starts.get(row) else { return false };
        match &self.cut {
            // Each value searches for its field, because an index of all fields would be larger than the file.
            Cut::Csv { delimiter, fields } => {
                let Some(&number) = fields.get(column) else { return false };
                let mut at = begin;
                for _ in 0..number {
                    match csv::field(&self.bytes, at, *delimiter) {
                        Ok(field) if !field.last => at = field.next,
                        _ => return false,
                    }
                }
                csv::field(&self.bytes, at, *delimiter).map(|field| field.push(&self.bytes, out)).is_ok()
            }
            Cut::Json { paths } => {
                let found = paths.get(column).and_then(|path| json::find(line(&self.bytes, begin), path));
                found.map(|value| json::push(value, out)).is_some()
            }
        }
    }
}

/// A mistake in a file, with its position if it has one, and the help line.
struct FileError {
    at: Option<usize>,
    what: String,
    fix: String,
}

impl FileError {
    fn with_fix(self, fix: impl Into<String>) -> FileError {
        FileError { fix: fix.into(), ..self }
    }
}

fn flaw(at: Option<usize>, what: impl Into<String>) -> FileError {
    FileError { at, what: what.into(), fix: FIX.into() }
}

fn trouble<T>(at: Option<usize>, what: impl Into<String>) -> Result<T, FileError> {
    Err(flaw(at, what))
}

/// Returns the beginning of the text, after a byte order mark if there is one.
fn begin(bytes: &[u8]) -> Result<usize, FileError> {
    match bytes {
        [] => trouble(None, "the file is empty"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Err(flaw(None, "the file is UTF-16").with_fix("save it as UTF-8"))
        }
        [0xef, 0xbb, 0xbf, ..] => Ok(3),
        _ => Ok(0),
    }
}

type Opened = Result<(Vec<usize>, Cut), FileError>;

fn open_csv(bytes: &[u8], begin: usize, feeder: &Feeder, delimiter: u8, header: Option<&[String]>) -> Opened {
    if matches!(delimiter, b'"' | b'\r' | b'\n') {
        let shown = char::from(delimiter).escape_default();
        let what = format!("invalid delimiter `{shown}`");
        return Err(flaw(None, what).with_fix("use a delimiter such as `,` or `;`"));
    }
    if memchr::memchr(b'\n', bytes).is_none() && bytes[..bytes.len() - 1].contains(&b'\r') {
        let what = "lines end with a carriage return only";
        return Err(flaw(None, what).with_fix("save it with line feeds"));
    }
    // With `header`, the first line is data, and a mistake in it is one in the data.
    let flawed = |flaw, width| csv_trouble(flaw, width, header.is_some());
    let (names, rows) = match header {
        Some(names) => (names.to_vec(), begin),
        None => {
            read_header(bytes, csv::skip_blank(bytes, begin), delimiter).map_err(|flaw| flawed(flaw, 0))?
        }
    };
    let fields = feeder.columns.iter().map(|column| find_column(column, &names)).collect::<Result<_, _>>()?;
    let starts = csv::index(bytes, rows, delimiter, names.len()).map_err(|flaw| flawed(flaw, names.len()))?;
    if starts.is_empty() {
        return trouble(None, "the file has no rows");
    }
    Ok((starts, Cut::Csv { delimiter, fields }))
}

/// Returns the names in the first record, and the beginning of the second record.
fn read_header(bytes: &[u8], mut at: usize, delimiter: u8) -> Result<(Vec<String>, usize), csv::TableError> {
    let mut names = Vec::new();
    loop {
        let field = csv::field(bytes, at, delimiter)?;
        let mut name = Vec::new();
        field.push(bytes, &mut name);
        names.push(String::from_utf8_lossy(&name).into_owned());
        at = field.next;
        if field.last {
            return Ok((names, at));
        }
    }
}

/// Finds a column. A duplicate name is rejected only if it is used, because either column could be meant.
fn find_column(column: &str, names: &[String]) -> Result<usize, FileError> {
    let mut places = names.iter().enumerate().filter(|(_, name)| *name == column).map(|(place, _)| place);
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => trouble(None, format!("duplicate column `{column}`")),
        (None, _) => {
            let what = format!("missing column `{column}`");
            Err(flaw(None, what).with_fix(format!("use one of `{}`", names.join("`, `"))))
        }
    }
}

fn csv_trouble(flaw: csv::TableError, width: usize, header_given: bool) -> FileError {
    match flaw {
        csv::TableError::Unclosed { at } => self::flaw(Some(at), "unclosed quote"),
        csv::TableError::TextAfterQuote { at } => {
            self::flaw(Some(at), "unexpected text after a closing quote")
                .with_fix("double quotes inside a quoted field")
        }
        csv::TableError::Width { at, fields } => {
            let header = if header_given { "`columns` has" } else { "the header has" };
            let what = format!("the row has {fields} field{}, but {header} {width}", plural(fields));
            match fields > width {
                true => self::flaw(Some(at), what).with_fix("quote fields that contain a delimiter"),
                false => self::flaw(Some(at), what),
            }
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn open_json(bytes: &[u8], begin: usize, feeder: &Feeder) -> Opened {
    if let Err(error) = std::str::from_utf8(bytes) {
        return trouble(Some(error.valid_up_to()), "invalid UTF-8");
    }
    let paths: Box<[Box<[u8]>]> = feeder.columns.iter().map(|name| name.as_bytes().into()).collect();
    let mut starts = Vec::new();
    let mut at = begin;
    while at < bytes.len() {
        let row = line(bytes, at);
        if !row.trim_ascii().is_empty() {
            json::check(row).map_err(|json::Unsound { at: place, what, fix }| {
                let flaw = flaw(Some(at), format!("byte {}: {what}", place + 1));
                match fix {
                    Some(fix) => flaw.with_fix(fix),
                    None => flaw,
                }
            })?;
            for (path, column) in paths.iter().zip(&feeder.columns) {
                if json::find(row, path).is_none() {
                    return trouble(Some(at), format!("missing key `{column}`"));
                }
            }
            starts.push(at);
        }
        at += row.len() + 1;
    }
    if starts.is_empty() {
        return trouble(None, "the file has no rows");
    }
    Ok((starts, Cut::Json { paths }))
}

/// Returns the line at `at`, without its line feed.
fn line(bytes: &[u8], at: usize) -> &[u8] {
    let rest = &bytes[at..];
    &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]
}
