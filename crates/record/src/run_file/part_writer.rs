//! Writes the part of a run that another process measures. One process may write a thousand of these files at once, so
//! a transaction has several seconds, and a file has only what the merged run will need: no rows of single series, no
//! reserved space, and totals every few minutes. What waits is lost if the process is killed; such a process must know
//! it from elsewhere.

use super::{Error, Finished, Writer};
use crate::event::{Opening, RunEvent, Sink};
use crate::record::EncodedTick;
use std::path::{Path, PathBuf};

/// Writer of one part.
pub struct PartWriter {
    path: PathBuf,
    opening: Opening,
    /// `None` before the first transaction.
    writer: Option<Writer>,
    /// Seconds per transaction.
    size: u32,
    /// Seconds until the next one.
    left: u32,
    waiting: Vec<Waiting>,
}

enum Waiting {
    Tick(EncodedTick),
    Event(RunEvent),
}

/// Why a part is not written.
#[derive(Debug)]
pub enum Refused {
    /// Its interval is damaged.
    Damaged(plimsoll_stats::Error),
    /// There is no file.
    NoFile(Error),
}

impl PartWriter {
    /// Prepares a run file that gets `size` seconds per transaction. The first one has only `first`, so that not all
    /// files are created and written in the same second.
    pub fn new(path: &Path, opening: &Opening, size: u32, first: u32) -> PartWriter {
        let left = first.clamp(1, size.max(1));
        let (path, opening) = (path.to_path_buf(), opening.clone());
        PartWriter { path, opening, writer: None, size, left, waiting: Vec::new() }
    }

    /// Takes a tick.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created, or if an interval that waited is damaged.
    pub fn tick(&mut self, tick: EncodedTick) -> Result<(), Refused> {
        self.waiting.push(Waiting::Tick(tick));
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { self.store() } else { Ok(()) }
    }

    /// Takes any other event.
    ///
    /// # Errors
    /// Returns the errors of [`PartWriter::tick`].
    pub fn event(&mut self, event: &RunEvent) -> Result<(), Refused> {
        self.waiting.push(Waiting::Event(event.clone()));
        if matches!(event, RunEvent::Ended(_)) { self.store() } else { Ok(()) }
    }

    /// Reads the seconds back and closes the file.
    ///
    /// # Errors
    /// Returns the errors of [`PartWriter::tick`].
    pub fn finish(mut self) -> Result<Finished, Refused> {
        self.store()?;
        match self.writer {
            Some(writer) => Ok(writer.finish()),
            None => Err(Refused::NoFile(Error::Gone { path: self.path })),
        }
    }

    /// Writes what waits, in its order.
    fn store(&mut self) -> Result<(), Refused> {
        self.left = self.size;
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let created = Writer::create(&self.path, &self.opening, false);
                none.insert(created.map_err(Refused::NoFile)?)
            }
        };
        // Ticks in a row, so that only the first one has to fetch the totals from memory: those of a thousand agents
        // are far larger than a cache.
        let mut ticks = Vec::new();
        for one in self.waiting.drain(..) {
            match one {
                Waiting::Tick(tick) => ticks.push(tick),
                Waiting::Event(event) => {
                    writer.encoded_ticks(&std::mem::take(&mut ticks)).map_err(Refused::Damaged)?;
                    writer.event(&event);
                }
            }
        }
        writer.encoded_ticks(&ticks).map_err(Refused::Damaged)
    }
}
