//! k6 archives: a tar file with `metadata.json`, the script, and every file that it reads.

use crate::files::Files;
use crate::locate::{Location, normalize, unescape};
use crate::problem;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The largest archive: all files together.
const LARGEST_BYTES: u64 = 2 << 30;

/// A k6 archive in memory.
#[derive(Debug, Clone)]
pub struct Archive {
    /// The options as the archived script had them, as JSON.
    pub options: serde_json::Value,
    /// The environment variables with which the script was archived.
    pub env: BTreeMap<String, String>,
    /// The folder from which relative paths start.
    pub folder: PathBuf,
    filename: String,
    /// The script, which is also kept apart from the files.
    data: Option<Vec<u8>>,
    files: HashMap<PathBuf, Vec<u8>>,
    remote: HashMap<String, Vec<u8>>,
}

impl Archive {
    /// Reads an archive.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a tar file, or if `metadata.json` is missing or invalid.
    pub fn read(bytes: &[u8]) -> Result<Self, Vec<Diagnostic>> {
        let mut archive = Self {
            options: serde_json::Value::Null,
            env: BTreeMap::new(),
            folder: PathBuf::new(),
            filename: String::new(),
            data: None,
            files: HashMap::new(),
            remote: HashMap::new(),
        };
        let metadata = archive
            .unpack(bytes)
            .map_err(|error| vec![wrong(format!("invalid archive: {error}"), "make it with `k6 archive`")])?;
        let Some(metadata) = metadata else {
            return Err(vec![wrong(
                "the archive has no `metadata.json`".into(),
                "make it with `k6 archive`",
            )]);
        };
        archive.describe(&metadata).map_err(|one| vec![one])?;
        Ok(archive)
    }

    fn unpack(&mut self, bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut metadata = None;
        let mut total = 0;
        for entry in tar::Archive::new(bytes).entries()? {
            let mut entry = entry?;
            let path = entry.path()?.into_owned();
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let mut content = Vec::new();
            total += entry.by_ref().take(LARGEST_BYTES - total).read_to_end(&mut content)? as u64;
            if total >= LARGEST_BYTES {
                return Err(io::Error::other("its files are larger than 2 GiB"));
            }
            let name = path.to_string_lossy();
            match name.split_once('/') {
                None if name == "metadata.json" => metadata = Some(content),
                None if name == "data" => self.data = Some(content),
                Some(("file", rest)) => {
                    self.files.insert(absolute(rest), content);
                }
                Some((scheme @ ("https" | "http"), rest)) => {
                    self.remote.insert(format!("{scheme}://{rest}"), content);
                }
                _ => {}
            }
        }
        Ok(metadata)
    }

    fn describe(&mut self, metadata: &[u8]) -> Result<(), Diagnostic> {
        let read: serde_json::Value = serde_json::from_slice(metadata)
            .map_err(|error| wrong(format!("invalid `metadata.json` in the archive: {error}"), ""))?;
        let text =
            |key: &str| read.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        let kind = text("type");
        if !kind.is_empty() && kind != "js" {
            return Err(wrong(format!("unsupported type `{kind}` of the archive"), "expected `js`"));
        }
        self.filename = text("filename");
        if self.filename.is_empty() {
            return Err(wrong(
                "`metadata.json` in the archive has no `filename`".into(),
                "make it with `k6 archive`",
            ));
        }
        self.folder = path_of(&text("pwd"));
        self.options = read.get("options").cloned().unwrap_or_default();
        let env = read.get("env").and_then(serde_json::Value::as_object);
        for (name, value) in env.into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.env.insert(name.clone(), value);
        }
        Ok(())
    }

    /// Returns the script: its location and its bytes.
    pub(crate) fn entry(&self) -> Result<(Location, Vec<u8>), Diagnostic> {
        let is_remote = self.filename.starts_with("https://") || self.filename.starts_with("http://");
        let (location, bytes) = if is_remote {
            (Location::Remote(self.filename.clone()), self.remote.get(&self.filename))
        } else {
            let path = path_of(&self.filename);
            let bytes = self.files.get(&path);
            (Location::File(path), bytes)
        };
        match bytes.or(self.data.as_ref()) {
            Some(bytes) => Ok((location, bytes.clone())),
            None => Err(wrong(format!("the archive does not contain its script `{}`", self.filename), "")),
        }
    }
}

impl Files for Archive {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = if path.is_absolute() { normalize(path) } else { normalize(&self.folder.join(path)) };
        self.files.get(&path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn remote(&self, address: &str) -> Option<Result<Vec<u8>, Problem>> {
        let missing = || {
            let message = format!("the archive does not contain the remote module `{address}`");
            Problem::new(message, "make the archive again with `k6 archive`")
        };
        Some(self.remote.get(address).cloned().ok_or_else(missing))
    }
}

/// Returns a path of the archive as an absolute one: `file/dir/a.js` and `file/C:/a.js`.
fn absolute(rest: &str) -> PathBuf {
    normalize(Path::new(&format!("/{}", rest.trim_start_matches('/'))))
}

/// Returns the path of a `file://` address or of a plain path.
fn path_of(address: &str) -> PathBuf {
    match address.strip_prefix("file://") {
        Some(rest) => absolute(&unescape(rest)),
        None => absolute(address),
    }
}

fn wrong(message: String, hint: &str) -> Diagnostic {
    problem::at(problem::ARCHIVE, Place::Whole, message, hint)
}
