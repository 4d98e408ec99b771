//! Reads runs for requests. A file that never finishes reading (a lost disk, or a pipe in place of SQLite's journal)
//! blocks only requests for the same file. Such a read cannot be aborted, so threads are limited per file and in
//! total.

use crate::answer::{Answer, ApiError, PATIENCE, broken_off};
use axum::http::StatusCode;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Concurrent reads per file; further ones wait.
const OF_ONE_MAX: usize = 2;
/// Concurrent reads of all files; each uses a core and the memory of a whole run.
const AT_A_TIME: usize = 8;
/// Time after which a read no longer counts toward this limit, because it waits for a disk and others may proceed.
const SLOW: Duration = Duration::from_secs(2);
/// Maximum number of unfinished reads; `server.rs` provides more threads than that.
pub const ALL_MAX: usize = 64;

pub struct Readers {
    by_path: Mutex<HashMap<PathBuf, Arc<Semaphore>>>,
    turns: Semaphore,
    all: Arc<Semaphore>,
    patience: Duration,
}

impl Default for Readers {
    fn default() -> Self {
        Self::with(PATIENCE)
    }
}

impl Readers {
    /// Creates readers with this maximum wait.
    fn with(patience: Duration) -> Self {
        let (turns, all) = (Semaphore::new(AT_A_TIME), Arc::new(Semaphore::new(ALL_MAX)));
        Self { by_path: Mutex::default(), turns, all, patience }
    }

    /// Runs work that reads these files.
    ///
    /// # Errors
    /// Returns an error if it panics or takes too long, which includes waiting for other reads of the same files.
    pub async fn read<T: Send + 'static>(
        &self,
        paths: &[&Path],
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        let Ok(answer) = timeout(self.patience, self.patiently(paths, work)).await else {
            let names: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
            let sentence =
                format!("{} could not be read within {} s", names.join(" and "), self.patience.as_secs_f64());
            return Err(unavailable(sentence));
        };
        answer
    }

    async fn patiently<T: Send + 'static>(
        &self,
        paths: &[&Path],
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        // The same order for all, so that no two wait for each other.
        let mut sorted = paths.to_vec();
        sorted.sort();
        sorted.dedup();
        let mut seats: Vec<OwnedSemaphorePermit> = Vec::new();
        for path in sorted {
            seats.push(self.of(path).acquire_owned().await.map_err(closed)?);
        }
        let turn = self.turns.acquire().await.map_err(closed)?;
        seats.push(
            self.all
                .clone()
                .try_acquire_owned()
                .map_err(|_| unavailable(format!("{ALL_MAX} files are being read, and none has finished")))?,
        );
        let (tell, mut told) = oneshot::channel();
        spawn_blocking(move || {
            // The requester may be gone.
            let _ = tell.send(work());
            drop(seats);
        });
        if let Ok(answer) = timeout(SLOW, &mut told).await {
            return answer.map_err(broken_off);
        }
        drop(turn);
        told.await.map_err(broken_off)
    }

    /// Returns the permits for this file.
    fn of(&self, path: &Path) -> Arc<Semaphore> {
        // A thread that panicked while holding the lock cannot have left the state inconsistent.
        let mut all = self.by_path.lock().unwrap_or_else(PoisonError::into_inner);
        // Every reader, running or waiting, holds one reference.
        all.retain(|_, one| Arc::strong_count(one) > 1);
        all.entry(path.to_path_buf()).or_insert_with(|| Arc::new(Semaphore::new(OF_ONE_MAX))).clone()
    }
}

/// The semaphores are never closed.
fn closed(error: AcquireError) -> ApiError {
    ApiError::machine(error.to_string())
}

fn unavailable(sentence: String) -> ApiError {
    let hint = "check its disk, and the files next to it";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, sentence, hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    const MOMENT: Duration = Duration::from_millis(100);

    #[tokio::test]
    async fn what_never_ends_takes_two_threads_and_gives_up_its_turn() {
        let mut readers = Readers::with(MOMENT);
        let begun = Arc::new(AtomicUsize::new(0));
        let mut held = Vec::new();
        for _ in 0..5 {
            let (end, ended) = mpsc::channel::<()>();
            held.push(end);
            let begun = begun.clone();
            let stuck = move || {
                begun.fetch_add(1, Ordering::SeqCst);
                ended.recv()
            };
            let wrong = readers.read(&[Path::new("stuck")], stuck).await.expect_err("it does not end");
            assert_eq!(wrong.status, StatusCode::SERVICE_UNAVAILABLE);
            assert!(wrong.sentence.contains("`stuck` could not be read within 0.1 s"), "{}", wrong.sentence);
        }
        assert_eq!(begun.load(Ordering::SeqCst), OF_ONE_MAX);
        // More reads than may run at a time.
        for number in 0..2 * AT_A_TIME {
            let (end, ended) = mpsc::channel::<()>();
            held.push(end);
            let path = PathBuf::from(number.to_string());
            assert!(readers.read(&[&path], move || ended.recv()).await.is_err());
        }
        readers.patience = PATIENCE;
        assert_eq!(readers.read(&[Path::new("other")], || 7).await.ok(), Some(7));
        let both = [Path::new("other"), Path::new("other")];
        assert_eq!(readers.read(&both, || 8).await.ok(), Some(8), "compared with itself");
        drop(held);
        assert_eq!(readers.read(&[Path::new("stuck")], || 9).await.ok(), Some(9), "it has ended after all");
    }

    #[tokio::test]
    async fn threads_that_never_end_have_a_limit_and_come_back() {
        let mut readers = Readers::with(MOMENT / 10);
        let (mut held, mut refused) = (Vec::new(), 0);
        for number in 0..ALL_MAX + 3 {
            let (end, ended) = mpsc::channel::<()>();
            held.push(end);
            let path = PathBuf::from(number.to_string());
            let wrong = readers.read(&[&path], move || ended.recv()).await.expect_err("it does not end");
            refused += usize::from(wrong.sentence.contains("none has finished"));
        }
        assert_eq!(refused, 3);
        drop(held);
        while readers.all.available_permits() < ALL_MAX {
            tokio::task::yield_now().await;
        }
        readers.patience = PATIENCE;
        assert_eq!(readers.read(&[Path::new("0")], || 7).await.ok(), Some(7));
        assert_eq!(readers.by_path.lock().unwrap().len(), 1, "files without readers are dropped");
    }
}
