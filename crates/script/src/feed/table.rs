//! A file in memory with the place of each of its rows, checked as a whole when it is opened: what is wrong with row
//! 900,000 is said before the load, not in the middle of it.
//!
//! The file is read, not mapped: a map would need `unsafe`, and a file that shrinks during the load would kill the
//! process. Reading 50 MB takes some 15 ms.

use super::{MEND, csv, json};
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
    /// Where each row begins; a row finds its own end.
    starts: Vec<usize>,
    cut: Cut,
}

/// A pipe may have nobody at its other end, and a device no end.
fn content(path: &Path) -> std::io::Result<Vec<u8>> {
    match path.metadata()? {
        about if !about.is_file() && !about.is_dir() => {
            let why = "it is a pipe, a socket or a device, not a regular file";
            Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, why))
        }
        _ => fs::read(path),
    }
}

/// How a value is cut out of a row.
#[derive(Debug)]
enum Cut {
    /// By column: number of the field in the line.
    Csv { delimiter: u8, fields: Box<[usize]> },
    /// By column: key or path.
    Json { paths: Box<[Box<[u8]>]> },
}

impl Table {
    /// Reads and checks a feeder's file.
    ///
    /// # Errors
    /// A message with feeder, file and line.
    pub fn open(feeder: &Feeder) -> Result<Table, Unready> {
        let file = feeder.path.display();
        let bytes = content(&feeder.path).map_err(|error| {
            let mend = if feeder.made_by_setup { "; the set-up was to write it" } else { "" };
            let message = format!("data `{}`: cannot read `{file}`: {error}{mend}", feeder.name);
            Unready::File(Problem::plain(message))
        })?;
        let opened = begin(&bytes).and_then(|begin| match &feeder.format {
            Format::Csv { delimiter, header } => {
                open_csv(&bytes, begin, feeder, *delimiter, header.as_deref())
            }
            Format::JsonLines => open_json(&bytes, begin, feeder),
        });
        let (starts, cut) = opened.map_err(|FileError { at, what, mend }| {
            let line = at.map(|at| 1 + memchr_iter(b'\n', &bytes[..at]).count());
            let line = line.map_or_else(String::new, |line| format!(" line {line}:"));
            Unready::Data(Problem::new(format!("data `{}`: `{file}`{line} {what}", feeder.name), mend))
        })?;
        Ok(Table { bytes, starts, cut })
    }

    pub fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Appends the value of a column; `false`: there is no such row or column.
    pub fn value(&self, row: usize, column: usize, out: &mut Vec<u8>) -> bool {
        let Some(&begin) = self.starts.get(row) else { return false };
        match &self.cut {
            // Fields are found again for each value: an index of them would be larger than the file.
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

/// What is wrong with a file, at which byte if it is one place, and how to mend it.
struct FileError {
    at: Option<usize>,
    what: String,
    mend: String,
}

impl FileError {
    fn mended_by(self, mend: impl Into<String>) -> FileError {
        FileError { mend: mend.into(), ..self }
    }
}

fn flaw(at: Option<usize>, what: impl Into<String>) -> FileError {
    FileError { at, what: what.into(), mend: MEND.into() }
}

fn trouble<T>(at: Option<usize>, what: impl Into<String>) -> Result<T, FileError> {
    Err(flaw(at, what))
}

/// Where the text begins: behind a byte order mark, if there is one.
fn begin(bytes: &[u8]) -> Result<usize, FileError> {
    match bytes {
        [] => trouble(None, "is empty"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(flaw(None, "is UTF-16").mended_by("save it as UTF-8")),
        [0xef, 0xbb, 0xbf, ..] => Ok(3),
        _ => Ok(0),
    }
}

type Opened = Result<(Vec<usize>, Cut), FileError>;

fn open_csv(bytes: &[u8], begin: usize, feeder: &Feeder, delimiter: u8, header: Option<&[String]>) -> Opened {
    if matches!(delimiter, b'"' | b'\r' | b'\n') {
        let shown = char::from(delimiter).escape_default();
        let what = format!("cannot be cut at `{shown}`");
        return Err(flaw(None, what).mended_by("expected a delimiter such as `,` or `;`"));
    }
    if memchr::memchr(b'\n', bytes).is_none() && bytes[..bytes.len() - 1].contains(&b'\r') {
        let what = "has lines that end in a bare carriage return";
        return Err(flaw(None, what).mended_by("save it with line feeds"));
    }
    // With `header` the first line is data, and a mistake in it is reported as one in the data.
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
        return trouble(None, "holds no rows");
    }
    Ok((starts, Cut::Csv { delimiter, fields }))
}

/// The names in the first record, and where the second one begins.
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

/// A name that stands there twice is refused only if it is used: which of the two was meant cannot be known.
fn find_column(column: &str, names: &[String]) -> Result<usize, FileError> {
    let mut places = names.iter().enumerate().filter(|(_, name)| *name == column).map(|(place, _)| place);
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => trouble(None, format!("has more than one column `{column}`")),
        (None, _) => {
            let what = format!("has no column `{column}`");
            Err(flaw(None, what).mended_by(format!("it has `{}`", names.join("`, `"))))
        }
    }
}

fn csv_trouble(flaw: csv::TableError, width: usize, header_given: bool) -> FileError {
    match flaw {
        csv::TableError::Unclosed { at } => self::flaw(Some(at), "the quote that opens here is never closed"),
        csv::TableError::Behind { at } => self::flaw(Some(at), "text follows a closing quote")
            .mended_by("a quote inside a quoted field is written twice"),
        csv::TableError::Width { at, fields } => {
            let header = if header_given { "the columns given are" } else { "the header has" };
            let what = format!("it has {fields} field{}, {header} {width}", plural(fields));
            match fields > width {
                true => {
                    self::flaw(Some(at), what).mended_by("a field with a delimiter in it stands in quotes")
                }
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
        return trouble(Some(error.valid_up_to()), "it is not UTF-8");
    }
    let paths: Box<[Box<[u8]>]> = feeder.columns.iter().map(|name| name.as_bytes().into()).collect();
    let mut starts = Vec::new();
    let mut at = begin;
    while at < bytes.len() {
        let row = line(bytes, at);
        if !row.trim_ascii().is_empty() {
            json::check(row).map_err(|json::Unsound { at: place, what, mend }| {
                let flaw = flaw(Some(at), format!("byte {}: {what}", place + 1));
                match mend {
                    Some(mend) => flaw.mended_by(mend),
                    None => flaw,
                }
            })?;
            for (path, column) in paths.iter().zip(&feeder.columns) {
                if json::find(row, path).is_none() {
                    return trouble(Some(at), format!("the object has no `{column}`"));
                }
            }
            starts.push(at);
        }
        at += row.len() + 1;
    }
    if starts.is_empty() {
        return trouble(None, "holds no rows");
    }
    Ok((starts, Cut::Json { paths }))
}

/// The line at `at`, without its line feed.
fn line(bytes: &[u8], at: usize) -> &[u8] {
    let rest = &bytes[at..];
    &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]
}
