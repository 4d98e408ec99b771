//! An experiment on disk: a folder with one run file per cell and repeat, and the index `experiment.json` with the
//! plan. A run file is never appended to or overwritten, and records its own cell. Without the index, the folder can
//! still be read, but missing runs are unknown.

pub mod parts;

use plimsoll_analysis::{Digest, digest};
use plimsoll_plan::experiment::{Axis, CellOutline, Experiment, Setting, number};
use plimsoll_record::run_file::{self, Error as RunFileError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// The name of the index file.
pub const INDEX: &str = "experiment.json";

/// Extension of the directory of a load from agents while it lasts, next to its run file.
pub const AGENTS: &str = "agents";

/// The name of the file in it that has the load as a whole. Those of the parts are numbers.
pub const WHOLE: &str = "whole.plim";

/// Version of the index.
pub const INDEX_VERSION: u32 = 2;

/// The plan of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Index {
    pub version: u32,
    pub experiment: Experiment,
    /// By number of the cell; the settings are in the order of the parameters.
    pub cells: Vec<Vec<Setting>>,
    /// Seed of the order of the runs.
    pub seed: u64,
    /// The resolved plan of each cell, to detect that a file has changed since.
    pub plans: Vec<String>,
}

impl Index {
    /// Whether the run belongs to one of its cells.
    fn holds(&self, digest: &Digest) -> bool {
        let is_ours = |cell: &CellOutline| {
            cell.experiment == self.experiment.name && self.cells.contains(&cell.settings)
        };
        digest.cell.as_ref().is_some_and(is_ours)
    }
}

/// The content of a folder.
#[derive(Debug, Clone)]
pub struct Folder {
    /// `None` if there is no index.
    pub index: Option<Index>,
    pub runs: Vec<Run>,
    /// Excluded run files, each with the reason: unreadable, or not part of the experiment.
    pub left_out: Vec<String>,
}

/// A run file of the folder.
#[derive(Debug, Clone)]
pub struct Run {
    pub path: PathBuf,
    pub digest: Digest,
}

/// Why a folder cannot be read or written.
#[derive(Debug)]
pub enum Error {
    Run(RunFileError),
    Io {
        path: PathBuf,
        doing: &'static str,
        source: std::io::Error,
    },
    Index {
        path: PathBuf,
        why: String,
    },
    /// It has no run file.
    Empty {
        path: PathBuf,
    },
    /// Several experiments, each in its own folder.
    Parts {
        path: PathBuf,
        folders: Vec<String>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Run(error) => error.fmt(f),
            Error::Io { path, doing, source } => write!(f, "cannot {doing} `{}`: {source}", path.display()),
            Error::Index { path, why } => {
                write!(f, "`{}` is not a valid index of an experiment: {why}", path.display())
            }
            Error::Empty { path } => {
                write!(f, "the folder `{}` has no runs of an experiment", path.display())
            }
            Error::Parts { path, folders } => {
                let folders = folders.join("`, `");
                write!(f, "the folder `{}` has several experiments: `{folders}`", path.display())
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Run(error) => Some(error),
            Error::Io { source, .. } => Some(source),
            Error::Index { .. } | Error::Empty { .. } | Error::Parts { .. } => None,
        }
    }
}

impl Error {
    /// Returns how to fix it, if known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Run(error) => error.hint(),
            Error::Index { .. } => {
                Some("remove it: the run files in the same folder contain all measurements".into())
            }
            Error::Empty { .. } => Some("name a folder written by `plimsoll run` or `plimsoll find`".into()),
            Error::Parts { path, folders } => {
                let first = folders.first().map_or("NAME", String::as_str);
                Some(format!("name one of them, such as `{}`", path.join(first).display()))
            }
            Error::Io { .. } => None,
        }
    }
}

impl From<RunFileError> for Error {
    fn from(error: RunFileError) -> Self {
        Error::Run(error)
    }
}

/// Reads a folder: its index and all its runs, in the order in which they ran.
///
/// # Errors
/// Returns an error if the folder or its index cannot be read. An unreadable run file is excluded and named; a folder
/// without runs is not an error here.
pub fn read(path: &Path) -> Result<Folder, Error> {
    let index = read_index(path)?;
    if let (None, Some(parts)) = (&index, parts::read(path)?) {
        let folders = parts.parts.into_iter().map(|part| part.folder).collect();
        return Err(Error::Parts { path: path.into(), folders });
    }
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    for file in run_files(path)? {
        // One truncated or foreign file must not affect the others.
        let digest = match run_file::read(&file) {
            Ok(record) => digest(&record),
            Err(error) => {
                left_out.push(error.to_string());
                continue;
            }
        };
        match &index {
            Some(index) if !index.holds(&digest) => {
                left_out.push(format!("`{}` is not part of this experiment", file.display()));
            }
            _ => runs.push(Run { path: file, digest }),
        }
    }
    runs.sort_by_key(|run| {
        let turn = run.digest.cell.as_ref().map_or(u32::MAX, |cell| cell.run_index);
        (turn, run.digest.started_unix_ns, run.path.clone())
    });
    Ok(Folder { index, runs, left_out })
}

/// Writes the index of an experiment and creates its folder if necessary. An existing index is replaced: more
/// repeats, or other expectations, can be requested for the same runs.
///
/// # Errors
/// Returns an error if the folder or the file cannot be written.
pub fn write_index(path: &Path, index: &Index) -> Result<(), Error> {
    write_json(path, INDEX, index)
}

/// Replaces a file of the folder atomically: after a kill, it is either the old one or the new one.
fn write_json(path: &Path, name: &str, value: &impl Serialize) -> Result<(), Error> {
    let failed = |doing, path: &Path, source| Error::Io { path: path.into(), doing, source };
    std::fs::create_dir_all(path).map_err(|e| failed("create the folder", path, e))?;
    let (file, new) = (path.join(name), path.join(format!("{name}.new")));
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Error::Index { path: file.clone(), why: e.to_string() })?;
    std::fs::write(&new, format!("{text}\n")).map_err(|e| failed("write", &new, e))?;
    std::fs::rename(&new, &file).map_err(|e| failed("write", &file, e))
}

fn read_index(path: &Path) -> Result<Option<Index>, Error> {
    let file = path.join(INDEX);
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Io { path: file, doing: "read", source }),
    };
    let wrong = |why: String| Error::Index { path: file.clone(), why };
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let found: Versioned = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    match found.version {
        INDEX_VERSION => serde_json::from_str(&text).map(Some).map_err(|e| wrong(e.to_string())),
        // Its fields had other names. The run files contain the same information, so it is treated as missing.
        older if older < INDEX_VERSION => Ok(None),
        newer => Err(wrong(format!("it has version {newer}; this plimsoll reads version {INDEX_VERSION}"))),
    }
}

fn run_files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::Io { path: path.into(), doing: "read the folder", source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|e| e == "plim") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// Rebuilds a missing index from the runs: their parameters and cells.
pub fn rebuilt(runs: &[Run]) -> Option<Index> {
    let cells_of = || runs.iter().filter_map(|run| run.digest.cell.as_ref());
    let first = cells_of().next()?;
    let mut axes: Vec<Axis> = Vec::new();
    let mut cells: Vec<Vec<Setting>> = Vec::new();
    for cell in cells_of() {
        for setting in &cell.settings {
            let at = axes.iter().position(|axis| axis.name == setting.parameter).unwrap_or_else(|| {
                axes.push(Axis { name: setting.parameter.clone(), values: Vec::new(), is_numeric: true });
                axes.len() - 1
            });
            if !axes[at].values.contains(&setting.value) {
                axes[at].values.push(setting.value.clone());
            }
        }
        if !cells.contains(&cell.settings) {
            cells.push(cell.settings.clone());
        }
    }
    for axis in &mut axes {
        axis.is_numeric = axis.values.iter().all(|value| number(value).is_some());
    }
    let repeat = cells_of().map(|cell| cell.repeat.saturating_add(1)).max().unwrap_or(1);
    let experiment = Experiment { name: first.experiment.clone(), axes, repeat, ..Experiment::default() };
    Some(Index { version: INDEX_VERSION, experiment, cells, seed: first.seed, plans: Vec::new() })
}
