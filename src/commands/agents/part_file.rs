//! The record of one agent, as the coordinator knows it.

use crate::exit::Failure;
use plimsoll_cluster::coordinator::Output;
use plimsoll_cluster::message::Identity;
use plimsoll_plan::load::Share;
use plimsoll_record::event::{AgentOutline, Environment, Note, Opening};
use plimsoll_record::record::GeneratorRecord;
use plimsoll_record::run_file::PartWriter;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Extension of the samples of a part.
const SAMPLES: &str = "samples";
/// Transactions per second for all parts together: each takes as long as receiving and merging a second of an agent.
const WRITES_PER_S: usize = 64;
/// Most seconds in one transaction. They are in memory until then; the journal has them, too.
const SECONDS_MAX: usize = 20;

/// The record of one part, as far as it has arrived.
pub struct PartFile {
    pub identity: Identity,
    pub path: PathBuf,
    pub writer: Option<PartWriter>,
    /// Events and seconds before the start of the load is known.
    pub early: Vec<Output>,
    /// Delay of its start, and the bound of the clocks, ns.
    pub begun: Option<(u64, u64)>,
    pub record: Option<GeneratorRecord>,
    /// What its load generator said on standard error.
    pub said: String,
    pub notes: Vec<Note>,
    /// Samples of the load, for a file of the coordinator.
    samples: Option<File>,
}

impl PartFile {
    /// Creates the record of an agent's part, which will be written to `path`.
    ///
    /// # Errors
    /// Returns an error if the file of an interrupted coordinator cannot be replaced.
    pub fn new(identity: Identity, path: PathBuf) -> Result<PartFile, Failure> {
        clear(&path)?;
        clear(&path.with_extension(SAMPLES))?;
        Ok(PartFile {
            identity,
            path,
            writer: None,
            early: Vec::new(),
            begun: None,
            record: None,
            said: String::new(),
            notes: Vec::new(),
            samples: None,
        })
    }

    /// Keeps a piece of the samples.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn keep_samples(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let path = self.path.with_extension(SAMPLES);
        let failed =
            |e: std::io::Error| Failure::machine(format!("cannot write `{}`: {e}", path.display()), None);
        let file = match &mut self.samples {
            Some(file) => file,
            None => {
                let create = File::options().create_new(true).read(true).write(true).open(&path);
                self.samples.insert(create.map_err(failed)?)
            }
        };
        file.write_all(piece).map_err(failed)
    }

    /// Returns the samples from their beginning. They remain readable when the directory is deleted.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn take_samples(&mut self) -> Result<Option<File>, Failure> {
        let rewound = self.samples.take().map(|mut file| file.rewind().map(|()| file)).transpose();
        rewound.map_err(|e| Failure::machine(format!("cannot read the samples of an agent: {e}"), None))
    }

    /// Begins the run file. With up to [`WRITES_PER_S`] agents, the console can follow each second of it; with more,
    /// several seconds at once. `at` is the index of the part, and `of` the number of agents.
    pub fn open(&mut self, opening: &Opening, at: usize, of: usize) {
        let size = of.div_ceil(WRITES_PER_S).clamp(1, SECONDS_MAX);
        let first = at % size + 1;
        self.writer = Some(PartWriter::new(&self.path, opening, size as u32, first as u32));
    }

    /// Returns the record of an agent of which nothing has arrived. `like` is the opening of another one.
    pub fn missing(&self, like: &Opening, run: &str, part: u32, of: u32) -> GeneratorRecord {
        let mut opening = like.clone();
        opening.origin = format!("{run}-{part:04}");
        opening.outline.share = Share { part, of };
        opening.environment = Environment {
            host: self.identity.host.clone(),
            cpus: self.identity.cpus,
            agent: Some(AgentOutline {
                name: self.identity.name.clone(),
                labels: self.identity.labels.clone(),
                ..AgentOutline::default()
            }),
            ..Environment::default()
        };
        GeneratorRecord::new(Arc::new(opening))
    }
}

/// Deletes a run file of an interrupted coordinator.
///
/// # Errors
/// Returns an error if it cannot be deleted.
pub fn clear(path: &Path) -> Result<(), Failure> {
    for old in [path.to_path_buf(), path.with_extension("plim-wal"), path.with_extension("plim-shm")] {
        match std::fs::remove_file(&old) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::machine(format!("cannot delete `{}`: {e}", old.display()), None));
            }
            _ => {}
        }
    }
    Ok(())
}
