//! Reads `/proc` and `/sys`: small files that the kernel generates while they are read.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Folder that contains `proc` and `sys`, and one buffer for all files. The buffer is large because a file that is
/// read in one call is consistent, and because each call is a system call.
pub struct Files {
    root: PathBuf,
    buffer: Vec<u8>,
}

const BUFFER: usize = 64 * 1024;

impl Files {
    pub fn new(root: &Path) -> Files {
        Files { root: root.to_owned(), buffer: vec![0; BUFFER] }
    }

    /// Returns the path of a kernel file such as `/proc/stat`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Reads a whole file; returns `None` if it is missing or unreadable, or its process has just ended.
    pub fn text(&mut self, path: &str) -> Option<&str> {
        let mut file = File::open(self.path(path)).ok()?;
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(filled * 2, 0);
            }
            match file.read(&mut self.buffer[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        // Names of processes and arguments may contain any bytes; what follows invalid UTF-8 is not needed.
        Some(match std::str::from_utf8(&self.buffer[..filled]) {
            Ok(text) => text,
            Err(cut) => std::str::from_utf8(&self.buffer[..cut.valid_up_to()]).unwrap_or_default(),
        })
    }

    /// Reads the beginning of a file in one call, for lists whose relevant part comes first.
    pub fn front(&mut self, path: &str, from: &mut Option<File>) -> Option<&str> {
        if from.is_none() {
            *from = Some(File::open(self.path(path)).ok()?);
        }
        let read = from.as_mut()?.read(&mut self.buffer[..BUFFER]).ok()?;
        std::str::from_utf8(&self.buffer[..read]).ok()
    }

    /// Reads a file with a single number.
    pub fn number(&mut self, path: &str) -> Option<f64> {
        self.text(path)?.trim().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Returns the names in a folder.
    pub fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(path)) else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Returns the numeric names in a folder, such as processes in `/proc` or threads of a process.
    pub fn numbers(&self, path: &str) -> Vec<u32> {
        let Ok(entries) = std::fs::read_dir(self.path(path)) else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// Returns the ticks per second that count CPU time, and the page size in bytes: entries 17 (`AT_CLKTCK`) and 6
    /// (`AT_PAGESZ`) of the auxiliary vector, pairs of words (getauxval(3)). This needs no further system call.
    pub fn ticks_and_page(&self) -> (f64, f64) {
        let mut found = (100.0, 4096.0);
        let bytes = std::fs::read(self.path("/proc/self/auxv")).unwrap_or_default();
        let word = size_of::<usize>();
        for pair in bytes.chunks_exact(2 * word) {
            let number = |bytes: &[u8]| {
                bytes.try_into().ok().map_or(0, |bytes: [u8; size_of::<usize>()]| usize::from_ne_bytes(bytes))
            };
            match (number(&pair[..word]), number(&pair[word..])) {
                (17, ticks) if ticks > 0 => found.0 = ticks as f64,
                (6, page) if page > 0 => found.1 = page as f64,
                _ => {}
            }
        }
        found
    }
}

/// Returns the first number after a name at the start of a line, as in `MemTotal:  1 kB` or `ctxt 5`.
pub fn field(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        rest.starts_with([':', ' ', '\t']).then_some(rest)
    })?;
    rest.trim_start_matches(':').split_ascii_whitespace().next()?.parse().ok()
}
