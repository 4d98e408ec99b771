//! Where the runs of an experiment go: a new folder, or one that was begun before and is gone on with.

use crate::exit::Failure;
use crate::{home, say, wall};
use plimsoll_experiment::folder::{self, Index, Run};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::{Path, PathBuf};

/// A folder ready to be written to.
pub struct Ready {
    pub path: PathBuf,
    /// The order of the runs goes by this seed: that of the first time.
    pub seed: u64,
    /// Runs that are there already.
    pub runs: Vec<Run>,
}

/// Makes the folder, or takes up the one that is there.
///
/// # Errors
/// When it cannot be written, or holds another experiment.
pub fn ready(out: Option<&str>, name: &str, index: Index) -> Result<Ready, Failure> {
    let path = match out {
        Some(out) => PathBuf::from(out),
        None => {
            let file = home::name(name, wall::now_unix_ns())?;
            home::state_folder()?.join(file.trim_end_matches(".plim"))
        }
    };
    if path.is_file() {
        let message = format!("`{}` is a file, and an experiment is a folder of run files", path.display());
        return Err(Diagnostic::new("U020", Place::Flag("--out".into()), message, "name a folder").into());
    }
    if !path.join(folder::INDEX).exists() {
        refuse_strangers(&path)?;
        folder::write_index(&path, &index)?;
        return Ok(Ready { path, seed: index.seed, runs: Vec::new() });
    }
    let there = folder::read(&path)?;
    let Some(before) = there.index else {
        return Err(Failure::machine(format!("the index of `{}` vanished", path.display()), None));
    };
    if let Some(what) = differs(&before, &index) {
        let message = format!("the folder `{}` holds another experiment: {what} differ", path.display());
        let hint = "name another folder, or bring back what was changed";
        return Err(Diagnostic::new("U027", Place::Flag("--out".into()), message, hint).into());
    }
    folder::write_index(&path, &Index { seed: before.seed, ..index })?;
    for sentence in &there.left_out {
        say::talk(&format!("left out: {sentence}\n"));
    }
    Ok(Ready { path, seed: before.seed, runs: there.runs })
}

/// Run files that belong to nothing here would be counted in.
fn refuse_strangers(path: &Path) -> Result<(), Failure> {
    let Ok(entries) = std::fs::read_dir(path) else { return Ok(()) };
    let strange = entries.flatten().any(|entry| entry.path().extension().is_some_and(|e| e == "plim"));
    if !strange {
        return Ok(());
    }
    let message = format!("the folder `{}` holds run files, but no experiment", path.display());
    Err(Diagnostic::new("U027", Place::Flag("--out".into()), message, "name another folder").into())
}

/// More repeats may be asked for than before: they are run in addition.
fn differs(before: &Index, now: &Index) -> Option<&'static str> {
    let (a, b) = (&before.experiment, &now.experiment);
    [
        ("the cells", before.cells != now.cells || a.axes != b.axes),
        ("the plans", before.plans != now.plans),
        ("the searches", a.find != b.find),
        ("the generators", a.generators.max(1) != b.generators.max(1)),
    ]
    .into_iter()
    .find(|(_, differ)| *differ)
    .map(|(what, _)| what)
}
