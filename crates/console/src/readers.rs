//! Reading of runs for whoever asks, where a file that is never read to its end holds up nobody but those who want
//! this one: a disk that is gone, or a pipe where SQLite expects its journal. Nothing can end such a reading, so what
//! it may take for ever is counted: threads by file, and threads in all.

use crate::answer::{Answer, ApiError, PATIENCE, broken_off};
use axum::http::StatusCode;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Of one file at a time: whoever comes next waits for one of these.
const OF_ONE_MAX: usize = 2;
/// Of all files; each takes a core and the memory of a whole run.
const AT_A_TIME: usize = 8;
/// From then on a reading does not count among these any more: it waits for a disk, and others may have its turn.
const SLOW: Duration = Duration::from_secs(2);
/// Readings that have not ended. There are threads for more: see `server.rs`.
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
    /// Who asks waits so long for an answer.
    fn with(patience: Duration) -> Self {
        let (turns, all) = (Semaphore::new(AT_A_TIME), Arc::new(Semaphore::new(ALL_MAX)));
        Self { by_path: Mutex::default(), turns, all, patience }
    }

    /// Does work that reads these files.
    ///
    /// # Errors
    /// When it takes too long, with what others are reading of the same files, or breaks off.
    pub async fn read<T: Send + 'static>(
        &self,
        paths: &[&Path],
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        let Ok(answer) = timeout(self.patience, self.patiently(paths, work)).await else {
            let names: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
            let sentence =
                format!("{} cannot be read within {} s", names.join(" and "), self.patience.as_secs_f64());
            return Err(unavailable(sentence));
        };
        answer
    }

    async fn patiently<T: Send + 'static>(
        &self,
        paths: &[&Path],
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        // All take them in the same order, so that no two wait for each other.
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
                .map_err(|_| unavailable(format!("{ALL_MAX} files are being read, and none of them ends")))?,
        );
        let (tell, mut told) = oneshot::channel();
        spawn_blocking(move || {
            // Whoever has asked may be gone.
            let _ = tell.send(work());
            drop(seats);
        });
        if let Ok(answer) = timeout(SLOW, &mut told).await {
            return answer.map_err(broken_off);
        }
        drop(turn);
        told.await.map_err(broken_off)
    }

    /// Those who may read this file.
    fn of(&self, path: &Path) -> Arc<Semaphore> {
        // A thread that panicked while holding the lock left nothing half-done in it.
        let mut all = self.by_path.lock().unwrap_or_else(PoisonError::into_inner);
        // Each reader, and each who waits, holds one.
        all.retain(|_, one| Arc::strong_count(one) > 1);
        all.entry(path.to_path_buf()).or_insert_with(|| Arc::new(Semaphore::new(OF_ONE_MAX))).clone()
    }
}

/// Nobody closes them.
fn closed(error: AcquireError) -> ApiError {
    ApiError::machine(error.to_string())
}

fn unavailable(sentence: String) -> ApiError {
    let hint = "look whether its disk answers, and what lies beside it";
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
            assert!(wrong.sentence.contains("`stuck` cannot be read within 0.1 s"), "{}", wrong.sentence);
        }
        assert_eq!(begun.load(Ordering::SeqCst), OF_ONE_MAX);
        // More of them than have a turn at a time.
        for number in 0..2 * AT_A_TIME {
            let (end, ended) = mpsc::channel::<()>();
            held.push(end);
            let path = PathBuf::from(number.to_string());
            assert!(readers.read(&[&path], move || ended.recv()).await.is_err());
        }
        readers.patience = PATIENCE;
        assert_eq!(readers.read(&[Path::new("other")], || 7).await.ok(), Some(7));
        let both = [Path::new("other"), Path::new("other")];
        assert_eq!(readers.read(&both, || 8).await.ok(), Some(8), "held against itself");
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
            refused += usize::from(wrong.sentence.contains("none of them ends"));
        }
        assert_eq!(refused, 3);
        drop(held);
        while readers.all.available_permits() < ALL_MAX {
            tokio::task::yield_now().await;
        }
        readers.patience = PATIENCE;
        assert_eq!(readers.read(&[Path::new("0")], || 7).await.ok(), Some(7));
        assert_eq!(readers.by_path.lock().unwrap().len(), 1, "files that nobody reads are forgotten");
    }
}
