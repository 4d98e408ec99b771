//! Files that plans read and append to. Relative names begin in the working directory, as in Java; if there is no such
//! file, in the folder of the plan.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files that are open for appending, over all threads.
#[derive(Debug, Default)]
pub struct Files {
    folder: PathBuf,
    open: Mutex<HashMap<PathBuf, BufWriter<File>>>,
    /// The first error of a write.
    failed: Mutex<Option<String>>,
}

/// Most files that are open at the same time.
const OPEN_MAX: usize = 256;

impl Files {
    pub fn new(folder: &Path) -> Files {
        Files { folder: folder.to_owned(), ..Files::default() }
    }

    /// Returns the path of an existing file.
    pub fn find(&self, name: &str) -> PathBuf {
        let path = Path::new(name);
        let inside = self.folder.join(path);
        if path.exists() || !inside.exists() { path.to_owned() } else { inside }
    }

    /// Returns the path of a file in the folder of the plan, or of the working directory.
    pub fn find_beside_plan(&self, name: &str) -> PathBuf {
        let inside = self.folder.join(name);
        if inside.exists() { inside } else { PathBuf::from(name) }
    }

    /// Returns the path of a file in the folder of the plan.
    pub fn in_plan_folder(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }

    /// Returns whether a file is empty, or does not exist.
    pub fn is_empty(&self, name: &str) -> bool {
        std::fs::metadata(name).map_or(true, |file| file.len() == 0)
    }

    pub fn exists(&self, name: &str) -> bool {
        self.find(name).exists()
    }

    /// Returns the content of a file, including what was appended to it.
    ///
    /// # Errors
    /// Returns an error with its name.
    pub fn read(&self, name: &str) -> Result<String, String> {
        self.flush(name)?;
        let bytes =
            std::fs::read(self.find(name)).map_err(|error| format!("cannot read `{name}`: {error}"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Appends a text.
    ///
    /// # Errors
    /// Returns an error with its name.
    pub fn append(&self, name: &str, text: &str) -> Result<(), String> {
        let mut open = self.lock();
        let path = PathBuf::from(name);
        if !open.contains_key(&path) {
            if open.len() >= OPEN_MAX {
                // Dropping a writer flushes it; an error is that of a later write.
                open.clear();
            }
            let file = OpenOptions::new().append(true).create(true).open(&path);
            let file = file.map_err(|error| self.note(format!("cannot write `{name}`: {error}")))?;
            open.insert(path.clone(), BufWriter::new(file));
        }
        match open.get_mut(&path) {
            Some(writer) => writer
                .write_all(text.as_bytes())
                .map_err(|error| self.note(format!("cannot write `{name}`: {error}"))),
            None => Ok(()),
        }
    }

    /// Empties a file, or creates it.
    ///
    /// # Errors
    /// Returns an error with its name.
    pub fn truncate(&self, name: &str) -> Result<(), String> {
        self.lock().remove(Path::new(name));
        File::create(name).map_err(|error| self.note(format!("cannot write `{name}`: {error}")))?;
        Ok(())
    }

    /// Writes what was appended to a file.
    ///
    /// # Errors
    /// Returns an error with its name.
    pub fn flush(&self, name: &str) -> Result<(), String> {
        match self.lock().get_mut(Path::new(name)) {
            Some(writer) => {
                writer.flush().map_err(|error| self.note(format!("cannot write `{name}`: {error}")))
            }
            None => Ok(()),
        }
    }

    /// Writes what was appended to all files.
    ///
    /// # Errors
    /// Returns the first error of a write, now or earlier.
    pub fn close(&self) -> Result<(), String> {
        for (path, writer) in &mut *self.lock() {
            if let Err(error) = writer.flush() {
                self.note(format!("cannot write `{}`: {error}", path.display()));
            }
        }
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            Some(why) => Err(why),
            None => Ok(()),
        }
    }

    fn note(&self, why: String) -> String {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.clone());
        why
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, BufWriter<File>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
