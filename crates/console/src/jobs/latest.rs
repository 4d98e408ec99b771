//! The current run of a job and its plan, read from the files, whether or not anyone views it.

use super::stages::{Course, course};
use crate::index::is_being_written;
use plimsoll_experiment::folder::{AGENTS, INDEX, Index, WHOLE};
use plimsoll_record::run_file::Tail;
use plimsoll_record::steered::Steered;
use std::path::{Path, PathBuf};

/// Returns the file and the plan of the current run in `out`; `None` if it is `known` already or not readable yet.
pub fn planned(out: &Path, known: Option<&Path>, now_ns: u64) -> Option<(PathBuf, Course)> {
    let run = run_of(out, now_ns)?;
    if known == Some(&run) {
        return None;
    }
    let opening = Tail::open(&run).and_then(|mut tail| tail.more()).ok()?.opening?;
    let course = course(&opening.outline, run.parent().and_then(turns));
    Some((run, course))
}

/// Returns whether a run file exists, of the run or of any in an experiment. Does not follow links, so they can
/// neither lead out of the folder nor back into it.
pub fn has_run(out: &Path) -> bool {
    if !out.is_dir() {
        return out.exists();
    }
    std::fs::read_dir(out).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => has_run(&path),
            Ok(kind) => kind.is_file() && path.extension().is_some_and(|e| e == "plim"),
            Err(_) => false,
        }
    })
}

/// Returns the file that has the load as a whole, or the newest one of an experiment.
pub fn run_of(out: &Path, now_ns: u64) -> Option<PathBuf> {
    match out.is_dir() {
        true => newest(out, now_ns),
        false if !out.exists() && whole_of(out).exists() => Some(whole_of(out)),
        false => Some(out.to_path_buf()),
    }
}

/// Returns the file of a load from agents while it lasts; afterwards, `out` has everything.
pub fn whole_of(out: &Path) -> PathBuf {
    out.with_extension(AGENTS).join(WHOLE)
}

/// Returns the files of the parts of a load from agents; none for another load.
pub fn parts_of(run: &Path) -> Vec<PathBuf> {
    if run.file_name().is_none_or(|name| name != WHOLE) {
        return Vec::new();
    }
    let parts = (1..).map(|number: u32| run.with_file_name(format!("{number}.plim")));
    parts.take_while(|part| part.exists()).collect()
}

/// Returns whether a file is a part of a load from agents, whose sum is another file.
fn is_part(path: &Path) -> bool {
    let is_in = path.parent().is_some_and(|folder| folder.extension().is_some_and(|end| end == AGENTS));
    is_in && path.file_name().is_some_and(|name| name != WHOLE)
}

/// Whether the current run is paused, according to its timeline.
#[derive(Default)]
pub struct Pauses {
    of: Option<(PathBuf, Tail)>,
    is_paused: bool,
}

impl Pauses {
    /// Returns `None` if it cannot be read now.
    pub fn look(&mut self, out: &Path, now_ns: u64) -> Option<bool> {
        let Some(run) = run_of(out, now_ns) else {
            // Between two runs.
            *self = Self::default();
            return Some(false);
        };
        if self.of.as_ref().is_none_or(|(path, _)| *path != run) {
            *self = Self { of: Some((run.clone(), Tail::open(&run).ok()?)), is_paused: false };
        }
        let (_, tail) = self.of.as_mut()?;
        let fresh = tail.more().ok()?;
        for note in &fresh.notes {
            match Steered::of(note) {
                Some(Steered::Paused) => self.is_paused = true,
                Some(Steered::Resumed) => self.is_paused = false,
                Some(Steered::Level(_)) | None => {}
            }
        }
        Some(self.is_paused && !tail.has_ended())
    }
}

/// Returns the number of runs of the experiment in this folder; unknown for a search.
pub fn turns(folder: &Path) -> Option<usize> {
    let text = std::fs::read_to_string(folder.join(INDEX)).ok()?;
    let index: Index = serde_json::from_str(&text).ok()?;
    let experiment = &index.experiment;
    experiment.find.is_none().then(|| index.cells.len() * experiment.repeat.max(1) as usize)
}

/// Returns the run of a folder that is being written.
pub fn newest(folder: &Path, now_ns: u64) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut runs: Vec<PathBuf> = Vec::new();
    for path in entries {
        if path.is_dir() {
            // Parts are one folder below.
            runs.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else {
            runs.push(path);
        }
    }
    runs.retain(|path| !is_part(path));
    runs.retain(|path| path.extension().is_some_and(|e| e == "plim") && is_being_written(path, now_ns));
    runs.into_iter().max_by_key(|path| path.metadata().and_then(|meta| meta.modified()).ok())
}
