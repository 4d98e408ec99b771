//! The processes, links, and folders of a system. They are saved first, so that `lab down` finds them after a crash.

use chore::Outcome;
use chore::look;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

#[derive(Debug, Default, Deserialize, Serialize)]
pub struct State {
    pub base: u16,
    /// PIDs and start times are only valid until the next boot.
    pub boot: String,
    pub processes: Vec<Running>,
    pub links: Vec<Linked>,
    /// Folders outside of the state folder, removed at the end.
    pub folders: Vec<PathBuf>,
    /// All processes were healthy.
    pub whole: bool,
    #[serde(skip)]
    pub folder: PathBuf,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Running {
    pub name: String,
    /// Leader of its process group.
    pub pid: i32,
    pub start: u64,
    pub ports: Vec<u16>,
    /// Address of the ports: the loopback, or the far end of a link.
    pub host: String,
    pub health: Option<String>,
    /// Number of the signal for an orderly end.
    pub stop: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Linked {
    pub name: String,
    /// Third byte of its network 10.203.N.0/30, and in the names of its devices.
    pub number: u8,
}

impl Running {
    pub fn lives(&self) -> bool {
        look::lives(self.pid, self.start)
    }
}

impl State {
    pub fn new(folder: &Path, base: u16) -> State {
        State { base, boot: look::boot(), folder: folder.to_path_buf(), ..State::default() }
    }

    /// Reads the saved state; None if the system was never started or is down.
    pub fn read(folder: &Path) -> Result<Option<State>, String> {
        let path = folder.join("lab.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(format!("cannot read `{}`: {e}", path.display())),
        };
        let mut state: State = serde_json::from_str(&text)
            .map_err(|e| format!("invalid state in `{}`: {e}\nhelp: delete it", path.display()))?;
        state.folder = folder.to_path_buf();
        Ok(Some(state))
    }

    /// Writes a new file and renames it, so that a crash leaves either the old or the new text.
    pub fn save(&self) -> Outcome {
        let (path, new) = (self.folder.join("lab.json"), self.folder.join("lab.json.new"));
        let text = serde_json::to_string_pretty(self).map_err(|e| format!("cannot write the state: {e}"))?;
        let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &path));
        written.map_err(|e| format!("cannot write `{}`: {e}", path.display()))
    }

    pub fn forget(&self) -> Outcome {
        super::remove_file(&self.folder.join("lab.json"))
    }

    pub fn this_boot(&self) -> bool {
        self.boot == look::boot()
    }

    /// Returns the variable that the lab sets in the environment of every process that it starts.
    pub fn mark(&self) -> String {
        mark(&self.folder)
    }
}

pub fn mark(folder: &Path) -> String {
    format!("PLIMSOLL_LAB={}", folder.display())
}

/// Held while a system is started, stopped, or tested; the kernel releases it at any end of this process.
pub struct Lock {
    _file: File,
}

pub fn lock(folder: &Path, name: &str) -> Result<Lock, String> {
    super::make_folder(folder)?;
    let path = folder.join("lock");
    let file = File::create(&path).map_err(|e| format!("cannot write `{}`: {e}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { _file: file }),
        Err(TryLockError::WouldBlock) => {
            Err(format!("another `cargo xtask lab` is using `{name}`\nhelp: wait for it, or interrupt it"))
        }
        Err(TryLockError::Error(e)) => Err(format!("cannot lock `{}`: {e}", path.display())),
    }
}
