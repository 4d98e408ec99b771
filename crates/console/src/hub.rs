//! Those who watch runs: all of them are told the same, and who comes late is told the whole course first.

mod course;
mod frame;

pub use course::Course;
pub use frame::Frame;

use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// Whoever is so many events behind begins anew: browsers come again by themselves.
const BEHIND_MAX: usize = 256;
/// Those who watch one run.
pub struct Hub {
    send: broadcast::Sender<Frame>,
    seen: Mutex<Seen>,
}

/// What a new watcher is told first.
#[derive(Default)]
pub struct Seen {
    pub course: Course,
    pub job: Option<Value>,
}

/// By run file, or folder of runs: who watches.
#[derive(Default)]
pub struct Hubs {
    all: Mutex<HashMap<PathBuf, Arc<Hub>>>,
}

/// What is watched.
#[derive(Debug, Clone)]
pub struct Target {
    /// A run file, or a folder in which one run comes after the other.
    pub out: PathBuf,
    /// The job that writes it, if it was started here.
    pub job: Option<String>,
}

impl Hub {
    /// Tells all watchers, in the order in which the state changes: nobody who comes in between misses one or sees it
    /// twice.
    pub fn tell(&self, change: impl FnOnce(&mut Seen) -> Vec<Frame>) {
        let mut seen = self.observed();
        for frame in change(&mut seen) {
            // Nobody watches any more: the reader will notice.
            let _ = self.send.send(frame);
        }
    }

    /// A thread that panicked while holding the lock left a course that the next second goes on with.
    fn observed(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hubs {
    /// Comes in; `start` starts the reader for the first one.
    pub fn enter(
        &self,
        target: &Target,
        start: impl FnOnce(Arc<Hub>),
    ) -> (VecDeque<Frame>, broadcast::Receiver<Frame>) {
        let mut all = self.lock();
        if let Some(hub) = all.get(&target.out) {
            let seen = hub.observed();
            let mut first = VecDeque::new();
            first.extend(seen.job.as_ref().map(|job| Frame::new("job", job)));
            first.extend(seen.course.whole());
            return (first, hub.send.subscribe());
        }
        let (send, receive) = broadcast::channel(BEHIND_MAX);
        let hub = Arc::new(Hub { send, seen: Mutex::default() });
        all.insert(target.out.clone(), hub.clone());
        start(hub);
        (VecDeque::new(), receive)
    }

    /// Forgets the hub if nobody watches, or if it has told everything.
    pub fn leave(&self, target: &Target, hub: &Hub, has_ended: bool) -> bool {
        let mut all = self.lock();
        let is_over = has_ended || hub.send.receiver_count() == 0;
        if is_over {
            all.remove(&target.out);
        }
        is_over
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Hub>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
