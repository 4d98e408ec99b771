//! The files and environment variables that this process has read to make its plans: load generators on other machines
//! need them, too. This is a list, not a reader: the code that reads a file or a variable notes it here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static NOTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static VARIABLES: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

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

/// Notes an environment variable that determines what is sent. Its value may be a secret.
pub fn note_variable(name: &str, value: &str) {
    let mut noted = VARIABLES.lock().unwrap_or_else(PoisonError::into_inner);
    noted.insert(name.to_owned(), value.to_owned());
}

/// Returns all noted variables with their values.
pub fn noted_variables() -> BTreeMap<String, String> {
    VARIABLES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
