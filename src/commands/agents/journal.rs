//! The journal of a load from agents: with it, a coordinator that was killed continues when it is started again with
//! the same command. It contains the envelopes in the order of their arrival, so the same code makes the same records.

use crate::exit::Failure;
use plimsoll_cluster::bytes::sha256;
use plimsoll_cluster::message::Identity;
use plimsoll_engine::machine;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const NAME: &str = "journal";
const ENVELOPE: u8 = b'E';
const BEGIN: u8 = b'B';
const BEGUN: u8 = b'S';

/// What a journal remembers, in its order.
pub enum Entry {
    Envelope(Vec<u8>),
    /// The common start: on the coordinator's clock and since 1970, ns.
    Begin(u64, u64),
    /// The load of an agent has begun: its index, its delay, and the bound of the clocks, ns.
    Begun(usize, u64, u64),
}

/// A journal that this process writes. It is locked for as long as it is open.
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// The journal of a coordinator that has ended without a result.
pub struct Past {
    pub run: String,
    pub agents: Vec<Identity>,
    /// The common start on the coordinator's clock, ns.
    pub begin_ns: u64,
    entries: BufReader<File>,
    journal: Journal,
}

/// Returns what two starts of the same load have in common. The words may contain secrets.
pub fn fingerprint<'a>(words: impl Iterator<Item = &'a String>) -> String {
    let words: Vec<&str> = words.map(String::as_str).filter(|word| !word.starts_with("--seed=")).collect();
    sha256(words.join("\0").as_bytes())
}

fn failed(doing: &str, path: &Path, e: &std::io::Error) -> Failure {
    Failure::machine(format!("cannot {doing} `{}`: {e}", path.display()), None)
}

impl Journal {
    /// Creates the journal of a run in the directory of its parts.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn create(
        folder: &Path,
        run: &str,
        fingerprint: &str,
        agents: &[Identity],
    ) -> Result<Journal, Failure> {
        let path = folder.join(NAME);
        let file = File::options().read(true).append(true).create_new(true).open(&path);
        let file = file.map_err(|e| failed("create", &path, &e))?;
        let mut journal = Journal { file, path };
        journal.lock()?;
        let boot_id = machine::boot_id();
        let head = serde_json::json!({ "run": run, "load": fingerprint, "boot": boot_id, "agents": agents });
        journal.append(format!("{head}\n").as_bytes())?;
        Ok(journal)
    }

    fn lock(&self) -> Result<(), Failure> {
        match self.file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(Failure::machine(
                format!("another coordinator works on `{}`", self.path.display()),
                Some("wait for it, or use another `--out`".into()),
            )),
            Err(TryLockError::Error(e)) => Err(failed("lock", &self.path, &e)),
        }
    }

    /// Deletes it: a journal with a gap must not be continued.
    pub fn delete(self) {
        // On a full disk, deleting a file needs no space; what is left has no whole last entry.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Adds an entry. It must be there before anything depends on it.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn write(&mut self, entry: &Entry) -> Result<(), Failure> {
        let pair = |a: u64, b: u64| [a.to_le_bytes(), b.to_le_bytes()].concat();
        let numbers;
        let (kind, content): (u8, &[u8]) = match entry {
            Entry::Envelope(bytes) => (ENVELOPE, bytes),
            Entry::Begin(at_ns, unix_ns) => {
                numbers = pair(*at_ns, *unix_ns);
                (BEGIN, &numbers)
            }
            Entry::Begun(part, late_ns, bound_ns) => {
                numbers = [&(*part as u64).to_le_bytes()[..], &pair(*late_ns, *bound_ns)].concat();
                (BEGUN, &numbers)
            }
        };
        let mut bytes = Vec::with_capacity(content.len() + 5);
        bytes.push(kind);
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(content);
        self.append(&bytes)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|e| failed("write", &self.path, &e))
    }
}

impl Past {
    /// Returns the journal in a directory if a load had begun there; deletes what another start has left otherwise.
    ///
    /// # Errors
    /// Returns an error if another process works on it, if it is of another load, or if it cannot be read.
    pub fn found(folder: &Path, fingerprint: &str, is_local: bool) -> Result<Option<Past>, Failure> {
        let path = folder.join(NAME);
        let file = match File::options().read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(failed("open", &path, &e)),
        };
        let journal = Journal { file, path };
        journal.lock()?;
        let unreadable = |e: &std::io::Error| failed("read", &journal.path, e);
        let mut entries = BufReader::new(File::open(&journal.path).map_err(|e| unreadable(&e))?);
        let mut head = String::new();
        entries.read_line(&mut head).map_err(|e| unreadable(&e))?;
        let begin = entries.stream_position().map_err(|e| unreadable(&e))?;
        let known: serde_json::Value = serde_json::from_str(&head).unwrap_or_default();
        let agents: Option<Vec<Identity>> = serde_json::from_value(known["agents"].clone()).ok();
        let text = |name: &str| known[name].as_str().unwrap_or_default();
        // A process that was killed may have written a part of the last one.
        let (mut whole, mut begin_ns) = (begin, None);
        while let Some(entry) = read(&mut entries).map_err(|e| unreadable(&e))? {
            whole = entries.stream_position().map_err(|e| unreadable(&e))?;
            if let Entry::Begin(at_ns, _) = entry {
                begin_ns = Some(at_ns);
            }
        }
        // The time of another boot cannot be compared, and agents of this machine have ended with the coordinator.
        let is_over = is_local || text("boot") != machine::boot_id();
        let (Some(begin_ns), Some(agents), false) = (begin_ns, agents, is_over) else {
            std::fs::remove_dir_all(folder).map_err(|e| failed("delete", folder, &e))?;
            return Ok(None);
        };
        if text("load") != fingerprint {
            let message = format!("`{}` belongs to another load that has not ended", folder.display());
            let hint = "start that one again to end it, or delete the directory";
            return Err(Diagnostic::new("U020", Place::Flag("--out".into()), message, hint).into());
        }
        journal.file.set_len(whole).map_err(|e| failed("write", &journal.path, &e))?;
        entries.seek(SeekFrom::Start(begin)).map_err(|e| unreadable(&e))?;
        Ok(Some(Past { run: text("run").to_owned(), agents, begin_ns, entries, journal }))
    }

    /// Returns the next entry.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, Failure> {
        read(&mut self.entries).map_err(|e| failed("read", &self.journal.path, &e))
    }

    /// Returns the journal, to continue it.
    pub fn journal(self) -> Journal {
        self.journal
    }
}

/// Reads an entry; returns `None` at the end, or if the last one is incomplete.
fn read(from: &mut impl Read) -> std::io::Result<Option<Entry>> {
    let mut head = [0; 5];
    let mut fill = |bytes: &mut [u8]| match from.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    };
    if !fill(&mut head)? {
        return Ok(None);
    }
    let [kind, length @ ..] = head;
    let mut content = vec![0; u32::from_le_bytes(length) as usize];
    if !fill(&mut content)? {
        return Ok(None);
    }
    let number = |at: usize| {
        let bytes = content.get(8 * at..8 * at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    };
    Ok(Some(match kind {
        ENVELOPE => Entry::Envelope(content),
        BEGIN => Entry::Begin(number(0), number(1)),
        BEGUN => Entry::Begun(number(0) as usize, number(1), number(2)),
        _ => {
            return Err(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                "it is not a journal of a load",
            ));
        }
    }))
}
