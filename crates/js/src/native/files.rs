//! `open()`, and arrays that all users share.

use super::Row;
use super::core::index;
use crate::host::Host;
use plimsoll_quickjs::{Call, Realm, Thrown, Value};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

pub(super) const ROWS: &[Row] = &[
    ("open", 2, open),
    ("sharedSize", 1, shared_size),
    ("sharedKeep", 2, shared_keep),
    ("sharedElement", 2, shared_element),
];

pub(super) fn install(realm: &Realm) -> Result<(), Thrown> {
    realm.global().define("open", realm.function("open", 2, open), true, false)
}

/// Reads a file in the init part: as text, or with `b` as an `ArrayBuffer`.
fn open(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    if !host.is_init.get() {
        return Err(realm.error("Error", "open() can only be called in the init part of a script"));
    }
    let name = call.argument(0).to_text()?;
    if name.is_empty() {
        return Err(realm.error("TypeError", "open() requires the path of a file"));
    }
    let path = host.path_in(host.evaluating.get(), &name);
    let bytes =
        host.file(&path).map_err(|why| realm.error("Error", &format!("cannot open `{name}`: {why}")))?;
    let is_binary = call.argument(1).as_text().is_some_and(|mode| mode == "b");
    Ok(if is_binary { realm.buffer(&bytes) } else { realm.text(&String::from_utf8_lossy(&bytes)) })
}

impl Host {
    /// Returns the path of a file, relative to the folder of the script.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path_in(None, name)
    }

    /// Returns the path of a file, relative to the folder of a module, or of the script.
    pub fn path_in(&self, module: Option<usize>, name: &str) -> PathBuf {
        let name = name.strip_prefix("file://").unwrap_or(name);
        let bundle = &self.shared.script.bundle;
        let module = bundle.modules.get(module.unwrap_or(bundle.entry));
        match module.and_then(|module| module.path.parent()) {
            Some(folder) => folder.join(name),
            None => PathBuf::from(name),
        }
    }

    /// Returns the content of a file, which all users share.
    ///
    /// # Errors
    /// Returns the reason of the system.
    pub fn file(&self, path: &Path) -> Result<Arc<[u8]>, String> {
        let mut files = self.shared.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = files.get(path) {
            return Ok(Arc::clone(found));
        }
        let bytes: Arc<[u8]> = (self.shared.script.read_file)(path)?.into();
        files.insert(path.to_owned(), Arc::clone(&bytes));
        Ok(bytes)
    }
}

/// Returns the number of elements of a shared array; -1 if it does not exist yet.
fn shared_size(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let name = call.argument(0).to_text()?;
    let arrays = host.shared.arrays.lock().unwrap_or_else(PoisonError::into_inner);
    match arrays.get(&name) {
        Some(array) => Ok(realm.number(array.len() as f64)),
        None if host.is_init.get() => Ok(realm.number(-1.0)),
        None => Err(realm.error("Error", "a SharedArray must be made in the init part of a script")),
    }
}

/// Keeps the elements of a shared array, as JSON; the first user's apply.
fn shared_keep(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let name = call.argument(0).to_text()?;
    let list = call.argument(1);
    let mut elements = Vec::new();
    for at in 0..list.length()? {
        elements.push(list.get_index(at)?.to_text()?);
    }
    let mut arrays = host.shared.arrays.lock().unwrap_or_else(PoisonError::into_inner);
    let array = arrays.entry(name).or_insert_with(|| elements.into());
    Ok(realm.number(array.len() as f64))
}

fn shared_element(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let array = call.argument(0).with_text(|name| {
        let arrays = host.shared.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        arrays.get(name).map(Arc::clone)
    })?;
    match array.as_ref().and_then(|array| array.get(index(call, 1))) {
        Some(json) => realm.parse_json(json, "SharedArray"),
        None => Ok(realm.undefined()),
    }
}
