//! Folder of an experiment's runs: a new one, or one to resume.

use crate::exit::Failure;
use crate::{home, say, wall};
use plimsoll_experiment::folder::{self, Index, Run};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::{Path, PathBuf};

/// A folder that is ready for more runs.
pub struct Ready {
    pub path: PathBuf,
    /// Seed of the run order, as chosen when the folder was created.
    pub seed: u64,
    /// Runs that exist already.
    pub runs: Vec<Run>,
}

/// Creates the folder or opens the existing one.
///
/// # Errors
/// Returns an error if the folder is not writable or belongs to another experiment.
pub fn ready(out: Option<&str>, name: &str, index: Index) -> Result<Ready, Failure> {
    let path = match out {
        Some(out) => PathBuf::from(out),
        None => {
            let file = home::name(name, wall::now_unix_ns())?;
            home::state_folder()?.join(file.trim_end_matches(".plim"))
        }
    };
    if path.is_file() {
        let message = format!("`{}` is a file, but an experiment is saved as a directory", path.display());
        return Err(Diagnostic::new("U020", Place::Flag("--out".into()), message, "name a directory").into());
    }
    if !path.join(folder::INDEX).exists() {
        refuse_strangers(&path)?;
        folder::write_index(&path, &index)?;
        return Ok(Ready { path, seed: index.seed, runs: Vec::new() });
    }
    let there = folder::read(&path)?;
    let Some(before) = there.index else {
        return Err(Failure::machine(format!("the index of `{}` disappeared", path.display()), None));
    };
    if let Some(what) = differs(&before, &index) {
        let message = format!("directory `{}` contains another experiment: {what} differ", path.display());
        let hint = "name another directory, or undo the change";
        return Err(Diagnostic::new("U027", Place::Flag("--out".into()), message, hint).into());
    }
    folder::write_index(&path, &Index { seed: before.seed, ..index })?;
    for sentence in &there.left_out {
        say::talk(&format!("ignored: {sentence}\n"));
    }
    Ok(Ready { path, seed: before.seed, runs: there.runs })
}

/// Rejects a folder with run files of no experiment, which would otherwise be counted.
fn refuse_strangers(path: &Path) -> Result<(), Failure> {
    let Ok(entries) = std::fs::read_dir(path) else { return Ok(()) };
    let strange = entries.flatten().any(|entry| entry.path().extension().is_some_and(|e| e == "plim"));
    if !strange {
        return Ok(());
    }
    let message = format!("directory `{}` contains run files but no experiment", path.display());
    Err(Diagnostic::new("U027", Place::Flag("--out".into()), message, "name another directory").into())
}

/// Names the difference between two indexes. A higher number of repeats is not one; the additional repeats are run.
fn differs(before: &Index, now: &Index) -> Option<&'static str> {
    let (a, b) = (&before.experiment, &now.experiment);
    [
        ("the combinations", before.cells != now.cells || a.axes != b.axes),
        ("the plans", before.plans != now.plans),
        ("the searches", a.find != b.find),
        ("the generators", a.generators.max(1) != b.generators.max(1)),
    ]
    .into_iter()
    .find(|(_, differ)| *differ)
    .map(|(what, _)| what)
}
