//! Files that plans read and append to. Relative names begin in the working directory, as in Java; if there is no such
//! file, in the folder of the plan.

use crate::jtl;
use plimsoll_jmx::plan::Columns;
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files that are open for appending, over all threads.
#[derive(Debug, Default)]
pub struct Files {
    folder: PathBuf,
    open: Mutex<HashMap<PathBuf, BufWriter<File>>>,
    results: Mutex<Results>,
    /// The first error of a write.
    failed: Mutex<Option<String>>,
}

/// Files of results.
#[derive(Debug, Default)]
struct Results {
    begun: HashSet<String>,
    /// Those that need an end.
    xml: Vec<String>,
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

    /// Appends a sample to a file of results, which begins with its first lines if it is empty or new.
    ///
    /// # Errors
    /// Returns an error with the name of the file.
    pub fn append_result(&self, name: &str, columns: &Columns, text: &str) -> Result<(), String> {
        // The lock also keeps another thread from writing before the first lines.
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked up first, because a name is copied only once.
        if !results.begun.contains(name) {
            results.begun.insert(name.to_owned());
            make_folder(name);
            let failed = |e: std::io::Error| self.note(format!("cannot write `{name}`: {e}"));
            let has_begun = match columns.is_xml {
                true => {
                    results.xml.push(name.to_owned());
                    jtl::xml::reopen(Path::new(name)).map_err(failed)?
                }
                false => std::fs::metadata(name).is_ok_and(|file| file.len() > 0),
            };
            let header = if has_begun { String::new() } else { jtl::header(columns) };
            if !header.is_empty() {
                self.append(name, &(header + "\n"))?;
            }
        }
        self.append(name, text)
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
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        // Samples may follow, of thread groups after the load.
        for name in std::mem::take(&mut *results).xml {
            self.append(&name, jtl::xml::END)?;
        }
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

/// Makes the folder of a file, as JMeter does for results. If that fails, writing the file says why.
pub fn make_folder(name: &str) {
    if let Some(folder) = Path::new(name).parent() {
        let _ = std::fs::create_dir_all(folder);
    }
}
