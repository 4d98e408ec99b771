//! Modules that a script imports from addresses: each is fixed by its hash in a lock file, and kept in a cache under
//! that hash. So a test does not change, or break, when an address does.

use plimsoll_plan::Problem;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The name of the lock file, in the folder of the script.
pub const LOCK_FILE: &str = "plimsoll.lock";

/// The first line of a lock file: its format.
const FORMAT: &str = "# plimsoll.lock 1: the SHA-256 of each module that the scripts of this folder import";

/// Fetches the bytes at an address; returns the reason why it cannot as a fragment.
pub type Fetch = dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync;

/// The modules of the scripts in one folder.
pub struct RemoteModules {
    lock: PathBuf,
    cache: PathBuf,
    fetch: Box<Fetch>,
    /// Hashes by address; `None`: the lock file was not read yet.
    known: Mutex<Option<BTreeMap<String, String>>>,
}

impl RemoteModules {
    /// Returns the modules of the scripts in `folder`. `cache` is a folder for bodies, which many scripts may share.
    pub fn new(folder: &Path, cache: PathBuf, fetch: Box<Fetch>) -> RemoteModules {
        RemoteModules { lock: folder.join(LOCK_FILE), cache, fetch, known: Mutex::new(None) }
    }

    /// Returns a module: from the cache, or from its address, whose body must be the one of the lock file. The first
    /// import of an address adds it to the lock file.
    ///
    /// # Errors
    /// Returns an error if the lock file is invalid, if the address cannot be fetched, or if its body has changed.
    pub fn get(&self, address: &str) -> Result<Vec<u8>, Problem> {
        if !address.starts_with("https://") {
            let message = format!("cannot import `{address}`: modules are fetched over `https://` only");
            return Err(Problem::new(
                message,
                "use an `https://` address, or save the file and import its path",
            ));
        }
        let mut known = self.known()?;
        let known = known.get_or_insert_default();
        let locked = known.get(address).cloned();
        if let Some(hash) = &locked
            && let Ok(body) = std::fs::read(self.cache.join(hash))
            && hash_of(&body) == *hash
        {
            return Ok(body);
        }
        let body = (self.fetch)(address).map_err(|why| {
            let hint = "check the address, or save the file and import its path";
            Problem::new(format!("cannot import `{address}`: {why}"), hint)
        })?;
        let hash = hash_of(&body);
        match locked {
            Some(locked) if locked != hash => {
                let message = format!(
                    "the module at `{address}` has changed: its SHA-256 is `{hash}`, and `{LOCK_FILE}` has `{locked}`"
                );
                let hint = "review the new module, and remove its line from `plimsoll.lock` to accept it";
                return Err(Problem::new(message, hint));
            }
            Some(_) => {}
            None => {
                known.insert(address.to_owned(), hash.clone());
                self.write(known)?;
            }
        }
        self.keep(&hash, &body);
        Ok(body)
    }

    /// Reads the lock file, once.
    fn known(&self) -> Result<MutexGuard<'_, Option<BTreeMap<String, String>>>, Problem> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            let text = match std::fs::read_to_string(&self.lock) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
                Err(error) => {
                    let message = format!("cannot read `{}`: {error}", self.lock.display());
                    return Err(Problem::new(message, "make it readable for this user"));
                }
            };
            *known = Some(self.parsed(&text)?);
        }
        Ok(known)
    }

    fn parsed(&self, text: &str) -> Result<BTreeMap<String, String>, Problem> {
        let mut all = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            if number == 1 && line != FORMAT {
                let message = format!("`{}` is not a lock file of this version", self.lock.display());
                return Err(Problem::new(message, "remove it to fetch the modules of the script again"));
            }
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            match line.split_once(' ').filter(|(hash, _)| is_hash(hash)) {
                Some((hash, address)) => drop(all.insert(address.to_owned(), hash.to_owned())),
                None => {
                    let message = format!("invalid line {number} of `{}`", self.lock.display());
                    return Err(Problem::new(message, "write a SHA-256 and an address, or remove the line"));
                }
            }
        }
        Ok(all)
    }

    fn write(&self, known: &BTreeMap<String, String>) -> Result<(), Problem> {
        let mut text = format!("{FORMAT}\n");
        for (address, hash) in known {
            text.push_str(&format!("{hash} {address}\n"));
        }
        std::fs::write(&self.lock, text).map_err(|error| {
            let message = format!("cannot write `{}`: {error}", self.lock.display());
            Problem::new(message, "make the folder of the script writable, or copy the script")
        })
    }

    /// Keeps a body. A cache that cannot be written costs a fetch in each run, and nothing else.
    fn keep(&self, hash: &str, body: &[u8]) {
        let aside = self.cache.join(format!("{hash}.{}", std::process::id()));
        // Renamed, because several processes may do this at once.
        let kept = std::fs::create_dir_all(&self.cache)
            .and_then(|()| std::fs::write(&aside, body))
            .and_then(|()| std::fs::rename(&aside, self.cache.join(hash)));
        if kept.is_err() {
            // Perhaps it was never made.
            let _ = std::fs::remove_file(&aside);
        }
    }
}

fn hash_of(body: &[u8]) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}
