//! Files with a line for each sample: `--out json=FILE` and `--out csv=FILE` of k6.

mod csv;
mod json;
mod target;
mod time;

pub use target::{SampleTarget, TimeFormat};

use csv::Csv;
use flate2::Compression;
use flate2::write::GzEncoder;
use json::Json;
use plimsoll_k6::settings::Settings;
use plimsoll_k6::threshold::{Kind, Threshold};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A metric of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnMetric {
    pub name: String,
    pub kind: Kind,
    /// Whether its values are times.
    pub is_time: bool,
}

/// What a file depends on besides its samples.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    pub settings: &'a Settings,
    pub thresholds: &'a [Threshold],
    pub metrics: &'a [OwnMetric],
}

/// A file that grows with each sample. All workers write to it.
pub struct SampleFile {
    format: Format,
    /// How often lines are passed on to the operating system, ns.
    flush_ns: u64,
    written: Mutex<Written>,
}

enum Format {
    Csv(Csv),
    Json(Json),
}

struct Written {
    /// `None` once it is complete.
    out: Option<Out>,
    flushed_ns: u64,
    /// The first error.
    error: Option<io::Error>,
}

enum Out {
    Plain(BufWriter<Box<dyn Write + Send>>),
    Gzip(GzEncoder<BufWriter<File>>),
}

impl Out {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Out::Plain(out) => out,
            Out::Gzip(out) => out,
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Out::Plain(mut out) => out.flush(),
            Out::Gzip(out) => out.finish()?.flush(),
        }
    }
}

impl SampleFile {
    /// Creates the file.
    ///
    /// # Errors
    /// Returns an error if it cannot be created or written.
    pub fn create(target: &SampleTarget, about: &About<'_>) -> io::Result<SampleFile> {
        let out = match &target.path {
            None => Out::Plain(BufWriter::new(Box::new(io::stdout()))),
            Some(path) => {
                let file = File::create(path)?;
                match path.extension().is_some_and(|ending| ending == "gz") {
                    true => Out::Gzip(GzEncoder::new(BufWriter::new(file), Compression::default())),
                    false => Out::Plain(BufWriter::new(Box::new(file))),
                }
            }
        };
        let format = match target.times {
            Some(times) => Format::Csv(Csv::new(about.settings, times)),
            None => Format::Json(Json::new(about)),
        };
        let mut written = Written { out: Some(out), flushed_ns: 0, error: None };
        if let Format::Csv(csv) = &format {
            written.put(csv.header().as_bytes());
        }
        match written.error.take() {
            Some(error) => Err(error),
            None => Ok(SampleFile { format, flush_ns: target.flush_ns, written: Mutex::new(written) }),
        }
    }

    /// Adds samples with the same time, ns since 1970, and the same tags. Times are in ms.
    pub fn add(&self, unix_ns: u64, values: &[(&str, f64)], tags: &[(&str, &str)]) {
        let mut lines = String::new();
        match &self.format {
            Format::Csv(csv) => csv.lines(unix_ns, values, tags, &mut lines),
            Format::Json(json) => json.lines(unix_ns, values, tags, &mut lines),
        }
        let mut written = self.written();
        if let Format::Json(json) = &self.format {
            for (name, _) in values {
                if let Some(definition) = json.definition_once(name) {
                    written.put(definition.as_bytes());
                }
            }
        }
        written.put(lines.as_bytes());
        if unix_ns.saturating_sub(written.flushed_ns) >= self.flush_ns {
            written.flushed_ns = unix_ns;
            written.flush();
        }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Returns the first error since it was created.
    pub fn finish(&self) -> io::Result<()> {
        let mut written = self.written();
        let end = written.out.take().map_or(Ok(()), Out::finish);
        match written.error.take() {
            Some(error) => Err(error),
            None => end,
        }
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Written {
    /// After an error, nothing more is written: a gap in the middle would not be seen.
    fn put(&mut self, bytes: &[u8]) {
        self.attempt(|out| out.write_all(bytes));
    }

    fn flush(&mut self) {
        self.attempt(|out| out.flush());
    }

    fn attempt(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if let Some(out) = self.out.as_mut().filter(|_| self.error.is_none())
            && let Err(error) = write(out.writer())
        {
            self.error = Some(error);
        }
    }
}
