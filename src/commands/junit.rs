//! `--junit FILE`: the thresholds of the runs for CI systems. An earlier result of the same job is replaced.

use super::compare::refuse_other_kinds;
use crate::exit::{Exit, Failure};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{Outcome, Summary};
use plimsoll_output::junit::{Suite, Whole, document};
use plimsoll_record::run_file;
use std::path::{Path, PathBuf};

/// Checks the file before anything is sent.
///
/// # Errors
/// Returns an error if the file exists and is not JUnit XML, or cannot be removed. An earlier result is removed, so
/// that it does not remain if the run cannot start.
pub fn refuse_taken(to: Option<&str>) -> Result<(), Failure> {
    let Some(path) = to else { return Ok(()) };
    refuse_other_kinds(path)?;
    if !Path::new(path).symlink_metadata().is_ok_and(|there| there.is_file()) {
        return Ok(());
    }
    std::fs::remove_file(path).map_err(|e| Failure::machine(format!("cannot replace `{path}`: {e}"), None))
}

/// # Errors
/// Returns an error if the file cannot be written.
pub fn of_run(to: Option<&str>, summary: &Summary) -> Result<(), Failure> {
    write(to, || Ok(document(&[Suite { name: &summary.name, summary }], None)))
}

/// A suite for each run in a folder, in the order of their files, and one for the experiment if no run shows how it
/// ended.
///
/// # Errors
/// Returns an error if a run cannot be read again, or the file cannot be written.
pub fn of_folder(to: Option<&str>, folder: &Path, exit: Exit) -> Result<(), Failure> {
    write(to, || {
        let mut files = Vec::new();
        run_files(folder, &mut files);
        files.sort();
        let mut runs = Vec::new();
        for file in files {
            let name = file.strip_prefix(folder).unwrap_or(&file).with_extension("").display().to_string();
            runs.push((name, summarise(&run_file::read(&file)?)));
        }
        let suites: Vec<Suite> = runs.iter().map(|(name, summary)| Suite { name, summary }).collect();
        let is_told = suites.iter().any(|suite| suite.summary.verdict.result != Outcome::Pass);
        let result = if exit == Exit::ThresholdMissed { Outcome::Fail } else { Outcome::Inconclusive };
        let whole = Whole { result, sentence: exit.meaning() };
        Ok(document(&suites, (exit != Exit::Pass && !is_told).then_some(&whole)))
    })
}

fn write(to: Option<&str>, text: impl FnOnce() -> Result<String, Failure>) -> Result<(), Failure> {
    let Some(path) = to else { return Ok(()) };
    std::fs::write(path, text()?).map_err(|e| Failure::machine(format!("cannot write `{path}`: {e}"), None))
}

fn run_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => run_files(&path, into),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|e| e == "plim") => into.push(path),
            _ => {}
        }
    }
}
