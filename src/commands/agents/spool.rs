//! Envelopes without a receipt, in an unnamed file: however long a coordinator is away, they take no memory.

use plimsoll_cluster::envelope::Spool;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A spool in the directory for temporary files.
#[derive(Debug, Default)]
pub struct FileSpool {
    file: Option<File>,
    /// Where each envelope is: offset and length.
    places: VecDeque<(u64, usize)>,
    end: u64,
}

impl Spool for FileSpool {
    fn push(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        let said = |e: std::io::Error| e.to_string().to_lowercase();
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(unnamed().map_err(said)?),
        };
        if self.places.is_empty() {
            // Nothing in it is needed any more.
            self.end = 0;
        }
        file.write_all_at(&bytes, self.end).map_err(said)?;
        self.places.push_back((self.end, bytes.len()));
        self.end += bytes.len() as u64;
        Ok(())
    }

    fn get(&mut self, at: usize) -> Result<Vec<u8>, String> {
        let place = self.places.get(at).zip(self.file.as_ref());
        let ((offset, length), file) = place.ok_or("the envelope is not in the spool")?;
        let mut bytes = vec![0; *length];
        file.read_exact_at(&mut bytes, *offset).map_err(|e| e.to_string().to_lowercase())?;
        Ok(bytes)
    }

    fn forget(&mut self, count: usize) {
        self.places.drain(..count.min(self.places.len()));
    }

    fn len(&self) -> usize {
        self.places.len()
    }
}

/// Returns a file that vanishes with this process.
fn unnamed() -> std::io::Result<File> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("plimsoll-spool-{}-{number}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
