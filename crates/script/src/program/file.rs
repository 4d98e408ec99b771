//! CSV files that users append rows to, shared by all users of this machine.

use plimsoll_plan::Problem;
use plimsoll_plan::data::OutFile;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// Size of the write buffer, so that not every row needs a system call.
const BUFFER_BYTES: usize = 65_536;

/// A CSV file that users append rows to.
#[derive(Debug)]
pub struct Sink {
    path: String,
    header: Vec<u8>,
    anew: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// `None` until the first phase, so that checking a plan creates no files.
    writer: Option<BufWriter<File>>,
    /// The first error, which is reported when the files are closed.
    trouble: Option<String>,
}

impl Sink {
    /// Checks an existing file without changing it: it must begin with the same header, unless it will be replaced.
    ///
    /// # Errors
    /// Returns an error with the name of the file if it has other columns, or cannot be read.
    pub fn new(file: &OutFile) -> Result<Sink, Problem> {
        let mut header = Vec::new();
        let names: Vec<&[u8]> = file.columns.iter().map(String::as_bytes).collect();
        push_row(&names, &mut header);
        let path = file.path.display().to_string();
        let sink = Sink { path, header, anew: file.anew, state: Mutex::default() };
        if !file.anew {
            match File::open(&file.path) {
                Ok(there) => sink.judge(there).map(drop)?,
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(sink.refused(&e)),
            }
        }
        Ok(sink)
    }

    /// Opens or creates the file, once.
    ///
    /// # Errors
    /// Returns an error with the name of the file.
    pub fn open(&self) -> Result<(), Problem> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.writer.is_some() {
            return Ok(());
        }
        let refused = |e: std::io::Error| self.refused(&e);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        let handle = options.open(&self.path).map_err(refused)?;
        if self.anew {
            handle.set_len(0).map_err(refused)?;
        }
        let is_empty = self.judge(handle.try_clone().map_err(refused)?)?;
        let mut writer = BufWriter::with_capacity(BUFFER_BYTES, handle);
        if is_empty {
            writer.write_all(&self.header).map_err(refused)?;
        } else if !ends_in_line(writer.get_mut()).map_err(refused)? {
            // The last line has no line end, so the next row would become part of it.
            writer.write_all(b"\r\n").map_err(refused)?;
        }
        state.writer = Some(writer);
        Ok(())
    }

    fn refused(&self, e: &std::io::Error) -> Problem {
        Problem::plain(format!("cannot append to `{}`: {e}", self.path))
    }

    /// Returns whether the file is empty. If it is not, it must begin with the header.
    fn judge(&self, file: File) -> Result<bool, Problem> {
        // A device or a pipe does not return what was written to it.
        if !file.metadata().map_err(|e| self.refused(&e))?.is_file() {
            return Ok(true);
        }
        let mut first = Vec::new();
        // A longer first line belongs to another file.
        let longest = self.header.len() as u64 + 2;
        BufReader::new(file.take(longest)).read_until(b'\n', &mut first).map_err(|e| self.refused(&e))?;
        let bare = |line: &[u8]| line.trim_ascii_end().to_vec();
        if !first.is_empty() && bare(&first) != bare(&self.header) {
            let message = format!(
                "cannot append to `{}`: it begins with `{}` instead of `{}`",
                self.path,
                String::from_utf8_lossy(&bare(&first)),
                String::from_utf8_lossy(&bare(&self.header)),
            );
            return Err(Problem::new(message, "name another file, or move this one"));
        }
        Ok(first.is_empty())
    }

    /// Appends a complete row from [`push_row`]. Returns false if it could not be written.
    pub fn append(&self, row: &[u8]) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let written = match &mut state.writer {
            Some(writer) => writer.write_all(row),
            None => Err(ErrorKind::NotFound.into()),
        };
        match written {
            Ok(()) => true,
            Err(e) => {
                let path = &self.path;
                state.trouble.get_or_insert_with(|| format!("cannot write `{path}`: {e}"));
                false
            }
        }
    }

    /// Flushes the write buffer.
    ///
    /// # Errors
    /// Returns the first error of this or an earlier write, with the name of the file.
    pub fn flush(&self) -> Result<(), Problem> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let flushed = state.writer.as_mut().map_or(Ok(()), Write::flush);
        match (&state.trouble, flushed) {
            (Some(trouble), _) => Err(Problem::plain(trouble)),
            (None, Err(e)) => Err(Problem::plain(format!("cannot write `{}`: {e}", self.path))),
            (None, Ok(())) => Ok(()),
        }
    }
}

fn ends_in_line(file: &mut File) -> std::io::Result<bool> {
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last[0] == b'\n')
}

/// Appends one record (RFC 4180) with its line end.
pub fn push_row(fields: &[&[u8]], out: &mut Vec<u8>) {
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push_field(field, out);
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a field, with quotes if necessary (RFC 4180 section 2). An empty field gets quotes too, because a row with
/// one empty field would be an empty line.
pub fn push_field(field: &[u8], out: &mut Vec<u8>) {
    if !field.is_empty() && !field.iter().any(|b| matches!(b, b',' | b'"' | b'\r' | b'\n')) {
        return out.extend_from_slice(field);
    }
    out.push(b'"');
    for byte in field {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}
