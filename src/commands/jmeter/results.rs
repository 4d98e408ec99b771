//! The file of results (`-l`) and the line that sums them up.

use crate::exit::Failure;
use plimsoll_analysis::summary::Summary;
use plimsoll_jmeter::{SampleSink, xml};
use plimsoll_jmx::plan::Columns;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The beginning of the message of a transaction's sample: the sum of others, which totals leave out.
pub const TRANSACTION: &str = "Number of samples in transaction : ";

/// Receives the samples of all workers.
#[derive(Default)]
pub struct Results(Mutex<State>);

#[derive(Default)]
struct State {
    file: Option<BufWriter<File>>,
    /// The last lines of the file.
    end: &'static str,
    /// The first problem of the file.
    problem: Option<std::io::Error>,
    totals: Totals,
}

/// Sums over all samples; times are in ms.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    pub samples: u64,
    pub failed: u64,
    sum_ms: u64,
    min_ms: u64,
    max_ms: u64,
    /// Since 1970.
    begin_ms: u64,
    end_ms: u64,
}

impl Results {
    /// Opens a file for the lines, with the names of the columns if it is new.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn open(&self, path: &str, columns: &Columns) -> Result<(), Failure> {
        let file = file(path, columns)?;
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.file = Some(file);
        state.end = if columns.is_xml { xml::END } else { "" };
        Ok(())
    }

    /// Writes what is left, and returns the sums.
    ///
    /// # Errors
    /// Returns an error if a line could not be written.
    pub fn finish(&self) -> Result<Totals, Failure> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = state.end;
        let flushed = state.file.as_mut().map_or(Ok(()), |file| {
            file.write_all(end.as_bytes())?;
            file.flush()
        });
        match state.problem.take().or(flushed.err()) {
            Some(e) => Err(Failure::machine(format!("cannot write the file of `-l`: {e}"), None)),
            None => Ok(state.totals),
        }
    }
}

fn file(path: &str, columns: &Columns) -> Result<BufWriter<File>, Failure> {
    let failed = |e: std::io::Error| Failure::machine(format!("cannot write `{path}`: {e}"), None);
    let is_new = match columns.is_xml {
        true => !xml::reopen(Path::new(path)).map_err(failed)?,
        false => Path::new(path).metadata().map_or(true, |known| known.len() == 0),
    };
    let header = plimsoll_jmeter::header(columns);
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
    let mut file = BufWriter::new(file);
    if is_new && !header.is_empty() {
        writeln!(file, "{header}").map_err(failed)?;
    }
    Ok(file)
}

impl SampleSink for Results {
    fn sample(&self, line: &str, begin_ms: u64, elapsed_ms: u64, is_success: bool) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !line.lines().next().unwrap_or_default().contains(TRANSACTION) {
            state.totals.add(begin_ms, elapsed_ms, is_success);
        }
        let written = state.file.as_mut().map_or(Ok(()), |file| writeln!(file, "{line}"));
        if let Err(e) = written {
            // Reported at the end: the load continues as without the file.
            state.problem.get_or_insert(e);
            state.file = None;
        }
    }
}

impl Totals {
    /// Returns the sums of a load from agents, which report requests, not samples.
    pub fn of_requests(summary: &Summary) -> Totals {
        let times = &summary.service_time;
        let ms = |ns: Option<u64>| ns.unwrap_or(0) / 1_000_000;
        let samples = summary.totals.requests;
        Totals {
            samples,
            failed: summary.totals.errors,
            sum_ms: (times.mean_ns.unwrap_or(0.0) * samples as f64 / 1e6) as u64,
            min_ms: ms(times.min_ns),
            max_ms: ms(times.max_ns),
            begin_ms: 0,
            end_ms: (summary.totals.measured_s * 1e3) as u64,
        }
    }

    fn add(&mut self, begin_ms: u64, elapsed_ms: u64, is_success: bool) {
        self.min_ms = if self.samples == 0 { elapsed_ms } else { self.min_ms.min(elapsed_ms) };
        self.max_ms = self.max_ms.max(elapsed_ms);
        self.samples += 1;
        self.failed += u64::from(!is_success);
        self.sum_ms += elapsed_ms;
        self.begin_ms = if self.begin_ms == 0 { begin_ms } else { self.begin_ms.min(begin_ms) };
        self.end_ms = self.end_ms.max(begin_ms + elapsed_ms);
    }

    /// Returns the last line of JMeter's summary.
    pub fn line(&self) -> String {
        let length_ms = self.end_ms.saturating_sub(self.begin_ms);
        let (s, samples) = (length_ms / 1_000, self.samples.max(1));
        let mut text =
            format!("summary = {:6} in {:02}:{:02}:{:02} = ", self.samples, s / 3_600, s / 60 % 60, s % 60);
        // Writing to a string cannot fail.
        let _ = match length_ms {
            0 => write!(text, "******"),
            _ => write!(text, "{:6.1}", self.samples as f64 * 1_000.0 / length_ms as f64),
        };
        let _ = write!(
            text,
            "/s Avg: {:5} Min: {:5} Max: {:5} Err: {:5} ({:.2}%)",
            self.sum_ms / samples,
            self.min_ms,
            self.max_ms,
            self.failed,
            self.failed as f64 * 100.0 / samples as f64
        );
        text
    }
}
