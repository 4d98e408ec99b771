//! The files that this process has read to make its plans: load generators on other machines need them, too. This is
//! a list, not a reader: the code that reads a file notes its path here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static NOTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Notes a file that determines what is sent.
pub fn note(path: &Path) {
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !noted.contains(path) {
        noted.insert(path.to_path_buf());
    }
}

/// Returns all noted files, each once, as they were named.
pub fn noted() -> Vec<PathBuf> {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}
