//! The files of a load: the coordinator lists and serves them by their content, and an agent gets those that it lacks.

use crate::exit::Failure;
use plimsoll_cluster::bus::Bus;
use plimsoll_cluster::bytes::sha256;
use plimsoll_cluster::message::{self, FILE_PART_BYTES, FileOutline, FileQuestion, Task};
use plimsoll_cluster::subject;
use plimsoll_plan::Problem;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Wait for a part of a file, and number of attempts.
const PART_WAIT: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 5;

/// The files of a load on the coordinator's machine.
pub struct Library {
    pub outlines: Vec<FileOutline>,
    by_sha256: BTreeMap<String, PathBuf>,
}

impl Library {
    /// Lists all files that this process has read for its plans.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be read any more.
    pub fn of_noted() -> Result<Library, Failure> {
        let mut library = Library { outlines: Vec::new(), by_sha256: BTreeMap::new() };
        for path in plimsoll_plan::inputs::noted() {
            let unreadable =
                |e: std::io::Error| Failure::machine(format!("cannot read `{}`: {e}", path.display()), None);
            // A missing file is a mistake that the plan has reported already, or not a mistake.
            let Ok(whole) = std::path::absolute(&path) else { continue };
            if !whole.is_file() {
                continue;
            }
            let content = std::fs::read(&whole).map_err(unreadable)?;
            let outline = FileOutline {
                path: clean(&whole).display().to_string(),
                sha256: sha256(&content),
                bytes: content.len() as u64,
            };
            library.by_sha256.insert(outline.sha256.clone(), whole);
            if !library.outlines.contains(&outline) {
                library.outlines.push(outline);
            }
        }
        Ok(library)
    }

    /// Returns the part of a file that an agent asks for; empty if there is none.
    pub fn part(&self, question: &FileQuestion) -> Vec<u8> {
        let mut bytes = vec![0; FILE_PART_BYTES];
        let Some(path) = self.by_sha256.get(&question.sha256) else { return Vec::new() };
        // The agent notices by the hash, and asks again.
        let read = File::open(path).and_then(|file| file.read_at(&mut bytes, question.offset));
        bytes.truncate(read.unwrap_or(0));
        bytes
    }
}

/// Returns a path without `.` and `..`.
fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(component),
        }
    }
    out
}

/// Returns where a path of the coordinator is below `root`, without leaving it.
pub fn below(root: &Path, path: &str) -> PathBuf {
    let mut out = root.to_path_buf();
    for component in clean(Path::new(path)).components() {
        if let Component::Normal(name) = component {
            out.push(name);
        }
    }
    out
}

/// Gets all files of a task into `root`, each once by its content from `cache`.
///
/// # Errors
/// Returns an error if one is unavailable, or cannot be written.
pub fn fetch(bus: &Bus, run: &str, task: &Task, root: &Path, cache: &Path) -> Result<(), Problem> {
    let cannot = |doing: &str, path: &Path, e: std::io::Error| {
        Problem::new(
            format!("cannot {doing} `{}`: {e}", path.display()),
            "check the free space and the permissions of the agent's `--dir`",
        )
    };
    let folder = below(root, &task.folder);
    std::fs::create_dir_all(&folder).map_err(|e| cannot("create", &folder, e))?;
    std::fs::create_dir_all(cache).map_err(|e| cannot("create", cache, e))?;
    for made in task.folders.iter().map(|folder| below(root, folder)) {
        std::fs::create_dir_all(&made).map_err(|e| cannot("create", &made, e))?;
    }
    for file in &task.files {
        if !file.sha256.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(Problem::plain(format!("invalid hash of `{}`", file.path)));
        }
        let kept = cache.join(&file.sha256);
        if !kept.is_file() {
            let content = download(bus, run, file)?;
            let partial = cache.join(format!("{}.partial", file.sha256));
            std::fs::write(&partial, content).map_err(|e| cannot("write", &partial, e))?;
            std::fs::rename(&partial, &kept).map_err(|e| cannot("write", &kept, e))?;
        }
        let path = below(root, &file.path);
        let parent = path.parent().unwrap_or(root);
        std::fs::create_dir_all(parent).map_err(|e| cannot("create", parent, e))?;
        // A copy, because a load may write to its files.
        std::fs::copy(&kept, &path).map_err(|e| cannot("write", &path, e))?;
    }
    Ok(())
}

fn download(bus: &Bus, run: &str, file: &FileOutline) -> Result<Vec<u8>, Problem> {
    let lost = |why: &str| {
        let hint = "check the coordinator and its connection, then run again";
        Problem::new(format!("cannot get the file `{}`: {why}", file.path), hint)
    };
    let subject = subject::files(run);
    let mut content = Vec::new();
    while (content.len() as u64) < file.bytes {
        let question = FileQuestion { sha256: file.sha256.clone(), offset: content.len() as u64 };
        let mut part = Err(String::new());
        for _ in 0..ATTEMPTS {
            part = bus.request(&subject, message::encode(&question), PART_WAIT);
            if part.is_ok() {
                break;
            }
        }
        let part = part.map_err(|why| lost(&why))?;
        if part.is_empty() {
            return Err(lost("it has become shorter"));
        }
        content.extend(part);
    }
    match sha256(&content) == file.sha256 {
        true => Ok(content),
        false => Err(lost("it has changed")),
    }
}
