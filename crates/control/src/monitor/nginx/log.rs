//! Follows a log that grows, is rotated, or is truncated.

use crate::monitor::probe::MonitorError;
use crate::reach::words;
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A log, read from its end at the first sample.
pub struct Log {
    path: PathBuf,
    open: Option<Open>,
    /// Whether a first read was attempted; a file that appears later is entirely new.
    looked: bool,
}

struct Open {
    file: File,
    at: u64,
    /// Beginning of a line whose end is not written yet.
    rest: Vec<u8>,
}

/// Complete lines written since the last read.
#[derive(Debug, Default)]
pub struct Lines {
    pub text: String,
    /// Ratio of everything written to `text`; above 1, `text` is the newest part.
    pub scale: f64,
}

/// Maximum bytes of one read, about 30,000 lines.
const MOST_BYTES: u64 = 4 << 20;

impl Log {
    pub fn new(path: &Path) -> Log {
        Log { path: path.to_owned(), open: None, looked: false }
    }

    /// Reads the new lines.
    ///
    /// # Errors
    /// Returns an error if the file is missing or unreadable.
    pub fn read(&mut self) -> Result<Lines, MonitorError> {
        let trouble = |error: std::io::Error| {
            MonitorError(format!("cannot read the access log `{}`: {}", self.path.display(), words(&error)))
        };
        let looked = std::mem::replace(&mut self.looked, true);
        let named = std::fs::metadata(&self.path);
        let mut bytes = Vec::new();
        let mut skipped = 0;
        let mut moved = self.open.is_none();
        if let Some(open) = &mut self.open {
            skipped += open.rise(&mut bytes).map_err(trouble)?;
            let own = open.file.metadata().map_err(trouble)?;
            let same = |named: &Metadata| (named.dev(), named.ino()) == (own.dev(), own.ino());
            match &named {
                Ok(named) => moved = !same(named),
                // Renamed, and the new file does not exist yet; the server still writes to the old one.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(_) => moved = true,
            }
        }
        if moved {
            let mut file = File::open(&self.path).map_err(trouble)?;
            let at = if looked { 0 } else { file.seek(SeekFrom::End(0)).map_err(trouble)? };
            let mut open = Open { file, at, rest: Vec::new() };
            skipped += open.rise(&mut bytes).map_err(trouble)?;
            self.open = Some(open);
        }
        let read = bytes.len() as f64;
        let scale = if skipped > 0 && read > 0.0 { (read + skipped as f64) / read } else { 1.0 };
        Ok(Lines { text: String::from_utf8_lossy(&bytes).into_owned(), scale })
    }
}

impl Open {
    /// Appends complete new lines and returns the number of bytes skipped because there were too many.
    fn rise(&mut self, into: &mut Vec<u8>) -> std::io::Result<u64> {
        let length = self.file.metadata()?.len();
        if length < self.at {
            // Truncated.
            (self.at, self.rest) = (0, Vec::new());
        }
        let mut skipped = 0;
        if length - self.at > MOST_BYTES {
            skipped = length - self.at - MOST_BYTES;
            self.at += skipped;
            self.rest.clear();
        }
        self.file.seek(SeekFrom::Start(self.at))?;
        let begin = into.len();
        into.append(&mut self.rest);
        self.at += Read::by_ref(&mut self.file).take(MOST_BYTES).read_to_end(into)? as u64;
        if skipped > 0 {
            // The piece begins within a line.
            let line = into[begin..]
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(into.len(), |end| begin + end + 1);
            into.drain(begin..line);
        }
        let whole =
            into[begin..].iter().rposition(|byte| *byte == b'\n').map_or(begin, |end| begin + end + 1);
        self.rest = into.split_off(whole);
        Ok(skipped)
    }
}
