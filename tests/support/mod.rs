//! Shared parts of the tests with the real binary: the tool as a child with a deadline, and the ruler as a child that
//! cannot outlive its test.
//!
//! Both are the binary itself (`CARGO_BIN_EXE_plimsoll`), so the tests run the same code as users.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::expect_used)]

pub mod jmx;
pub mod namespace;
pub mod nats;
pub mod peers;
pub mod relay;
mod ruler;
mod tool;
mod turn;

pub use ruler::Ruler;
pub use tool::{Output, Running, Tool};
pub use turn::{alone, alongside_first, note_retry, provokes, run_alongside};

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_plimsoll");

/// A folder of one test, removed when dropped.
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("plimsoll-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A path inside, as text for a command line.
    pub fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.folder.join(name), text).expect("the folder for temporary files is writable");
        self.path(name)
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
