//! Rows of data files: CSV Data Sets, and the functions that read lines and cells.

use crate::files::Files;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The lines of a file.
#[derive(Debug)]
pub struct Lines {
    text: String,
    /// Begin and end of each line, without its line end.
    places: Vec<(usize, usize)>,
}

impl Lines {
    fn new(text: String) -> Lines {
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let mut places = Vec::new();
        let mut begin = 0;
        while begin < text.len() {
            let rest = &text.as_bytes()[begin..];
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
            places.push((begin, begin + end));
            let is_pair = rest.get(end) == Some(&b'\r') && rest.get(end + 1) == Some(&b'\n');
            begin += end + if is_pair { 2 } else { 1 };
        }
        Lines { text, places }
    }

    pub fn get(&self, number: usize) -> Option<&str> {
        let (begin, end) = *self.places.get(number)?;
        self.text.get(begin..end)
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }
}

/// The position in a file that several readers share.
#[derive(Debug)]
pub struct Source {
    pub lines: Arc<Lines>,
    next: Mutex<usize>,
}

/// How rows are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Lines at the beginning that are not rows: the names, or what is ignored.
    pub skipped: usize,
    pub recycles: bool,
    pub is_quoted: bool,
}

impl Source {
    /// Returns the names in the first line.
    pub fn names(&self, delimiter: &str) -> Vec<String> {
        let row = match quoted(&self.lines, 0, delimiter) {
            Ok((row, _)) => row,
            Err(_) => fields(self.lines.get(0).unwrap_or_default(), delimiter),
        };
        row.into_iter().map(|name| name.trim().to_owned()).collect()
    }

    /// Returns the fields of the next row; `None` at the end.
    ///
    /// # Errors
    /// Returns an error with the number of the line if its quotes are wrong.
    pub fn next(&self, reading: Reading, delimiter: &str) -> Result<Option<Vec<String>>, String> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(reading.skipped);
        if *next >= self.lines.len() {
            if !reading.recycles || self.lines.len() <= reading.skipped {
                return Ok(None);
            }
            *next = reading.skipped;
        }
        let begin = *next;
        if !reading.is_quoted {
            *next += 1;
            return Ok(Some(fields(self.lines.get(begin).unwrap_or_default(), delimiter)));
        }
        let (row, lines) = quoted(&self.lines, begin, delimiter)?;
        *next += lines;
        Ok(Some(row))
    }
}

/// Splits a line without quotes.
pub fn fields(line: &str, delimiter: &str) -> Vec<String> {
    match (line, delimiter) {
        ("", _) => Vec::new(),
        (_, "") => vec![line.to_owned()],
        _ => line.split(delimiter).map(str::to_owned).collect(),
    }
}

/// Reads a row with quotes, which may continue in the following lines; returns it with its number of lines.
fn quoted(lines: &Lines, begin: usize, delimiter: &str) -> Result<(Vec<String>, usize), String> {
    let delimiter = delimiter.chars().next().unwrap_or(',');
    let wrong = |what: &str| Err(format!("line {}: {what}", begin + 1));
    let mut row = Vec::new();
    let mut field = String::new();
    let mut at = begin;
    let mut signs = lines.get(at).unwrap_or_default().chars().peekable();
    let (mut is_inside, mut was_quoted) = (false, false);
    loop {
        let Some(sign) = signs.next() else {
            if !is_inside {
                row.push(field);
                return Ok((row, at - begin + 1));
            }
            at += 1;
            let Some(line) = lines.get(at) else { return wrong("a quoted value does not end") };
            field.push('\n');
            signs = line.chars().peekable();
            continue;
        };
        match sign {
            '"' if is_inside && signs.peek() == Some(&'"') => {
                signs.next();
                field.push('"');
            }
            '"' if is_inside => is_inside = false,
            '"' if field.is_empty() && !was_quoted => (is_inside, was_quoted) = (true, true),
            '"' => return wrong("a quote is in the middle of a value"),
            sign if sign == delimiter && !is_inside => {
                row.push(std::mem::take(&mut field));
                was_quoted = false;
            }
            _ if was_quoted && !is_inside => return wrong("text follows a quoted value"),
            other => field.push(other),
        }
    }
}

/// A cursor of `__CSVRead`: its file with all cells, and the current row.
type Cursor = (Arc<Vec<Vec<String>>>, usize);

/// All data of a run.
#[derive(Debug, Default)]
pub struct Data {
    lines: Mutex<HashMap<PathBuf, Arc<Lines>>>,
    /// Positions by the key that its readers share.
    sources: Mutex<HashMap<String, Arc<Source>>>,
    /// Positions of `__StringFromFile`, by call and file.
    positions: Mutex<HashMap<(u32, String), usize>>,
    /// Files of `__CSVRead`, and their next rows over all threads.
    tables: Mutex<HashMap<String, Cursor>>,
    /// Rows of `__CSVRead` by thread and file.
    cursors: Mutex<HashMap<(String, String), Cursor>>,
    /// Other names of files.
    aliases: Mutex<HashMap<String, String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Decodes a text.
///
/// # Errors
/// Returns an error for an unknown encoding.
pub fn decoded(bytes: Vec<u8>, encoding: &str) -> Result<String, String> {
    match encoding.trim().to_ascii_lowercase().replace('_', "-").as_str() {
        "" | "utf-8" | "utf8" | "us-ascii" | "ascii" => Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())),
        "iso-8859-1" | "iso8859-1" | "latin1" => Ok(bytes.into_iter().map(char::from).collect()),
        "utf-16" | "utf-16le" | "utf-16be" => {
            let is_big = match bytes.get(..2) {
                Some([0xFF, 0xFE]) => false,
                Some([0xFE, 0xFF]) => true,
                _ => !encoding.to_ascii_lowercase().ends_with("le"),
            };
            let units = bytes.chunks_exact(2).map(|pair| match is_big {
                true => u16::from_be_bytes([pair[0], pair[1]]),
                false => u16::from_le_bytes([pair[0], pair[1]]),
            });
            Ok(String::from_utf16_lossy(&units.collect::<Vec<_>>()))
        }
        other => Err(format!("the encoding `{other}` is not supported: use UTF-8, ISO-8859-1, or UTF-16")),
    }
}

impl Data {
    /// Returns the lines of a file, read once.
    ///
    /// # Errors
    /// Returns an error with its name.
    pub fn lines(&self, path: PathBuf, encoding: &str) -> Result<Arc<Lines>, String> {
        if let Some(known) = locked(&self.lines).get(&path) {
            return Ok(Arc::clone(known));
        }
        plimsoll_plan::inputs::note(&path);
        let bytes =
            std::fs::read(&path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
        let lines = Arc::new(Lines::new(decoded(bytes, encoding)?));
        locked(&self.lines).insert(path, Arc::clone(&lines));
        Ok(lines)
    }

    /// Returns the position that all readers with a key share.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn source(&self, key: &str, path: PathBuf, encoding: &str) -> Result<Arc<Source>, String> {
        if let Some(known) = locked(&self.sources).get(key) {
            return Ok(Arc::clone(known));
        }
        let lines = self.lines(path, encoding)?;
        let mut sources = locked(&self.sources);
        let source =
            sources.entry(key.to_owned()).or_insert_with(|| Arc::new(Source { lines, next: Mutex::new(0) }));
        Ok(Arc::clone(source))
    }

    /// Returns a position of one reader.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn own_source(&self, path: PathBuf, encoding: &str) -> Result<Arc<Source>, String> {
        Ok(Arc::new(Source { lines: self.lines(path, encoding)?, next: Mutex::new(0) }))
    }

    /// Returns the next line for a call of `__StringFromFile`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is empty.
    pub fn next_line(&self, call: u32, name: &str, files: &Files) -> Result<String, String> {
        let lines = self.lines(files.find(name), "")?;
        let mut positions = locked(&self.positions);
        let next = positions.entry((call, name.to_owned())).or_insert(0);
        if *next >= lines.len() {
            *next = 0;
        }
        let line = lines.get(*next).ok_or_else(|| format!("`{name}` is empty"))?;
        *next += 1;
        Ok(line.to_owned())
    }

    /// Gives a file another name for `__CSVRead`.
    pub fn name_file(&self, alias: &str, name: &str) {
        locked(&self.aliases).insert(alias.to_owned(), name.to_owned());
    }

    /// Returns a cell of the current row of a thread; its first use takes the next row of the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or has no such column.
    pub fn cell(&self, thread: &str, name: &str, column: usize, files: &Files) -> Result<String, String> {
        let key = (thread.to_owned(), name.to_owned());
        if let Some((rows, row)) = locked(&self.cursors).get(&key) {
            return cell_of(rows, *row, column, name);
        }
        let file = locked(&self.aliases).get(name).cloned().unwrap_or_else(|| name.to_owned());
        let rows = {
            let mut tables = locked(&self.tables);
            if !tables.contains_key(&file) {
                let lines = self.lines(files.find(&file), "")?;
                let all = (0..lines.len()).filter_map(|at| lines.get(at)).filter(|line| !line.is_empty());
                let rows: Vec<Vec<String>> = all.map(|line| fields(line, ",")).collect();
                tables.insert(file.clone(), (Arc::new(rows), 0));
            }
            let Some((rows, next)) = tables.get_mut(&file) else {
                return Err(format!("cannot read `{file}`"));
            };
            let row = *next;
            *next = (row + 1) % rows.len().max(1);
            (Arc::clone(rows), row)
        };
        let value = cell_of(&rows.0, rows.1, column, name);
        locked(&self.cursors).insert(key, rows);
        value
    }

    /// Ends the current row of a thread.
    pub fn next_row(&self, thread: &str, name: &str) {
        locked(&self.cursors).remove(&(thread.to_owned(), name.to_owned()));
    }
}

fn cell_of(rows: &[Vec<String>], row: usize, column: usize, name: &str) -> Result<String, String> {
    let row = rows.get(row).ok_or_else(|| format!("`{name}` has no rows"))?;
    row.get(column).cloned().ok_or_else(|| format!("`{name}` has no column {column}"))
}
