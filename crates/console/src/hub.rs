//! Broadcast to the viewers of runs. All receive the same events; a new viewer first receives the whole history.

mod course;
mod frame;

pub use course::Course;
pub use frame::Frame;

use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// Number of events after which a slow viewer must restart; browsers reconnect automatically.
const BEHIND_MAX: usize = 256;
/// Viewers of one run.
pub struct Hub {
    send: broadcast::Sender<Frame>,
    seen: Mutex<Seen>,
}

/// State that a new viewer receives first.
#[derive(Default)]
pub struct Seen {
    pub course: Course,
    pub job: Option<Value>,
    /// The last second of each agent.
    pub agents: Option<Value>,
}

/// Hubs by run file or folder of runs.
#[derive(Default)]
pub struct Hubs {
    all: Mutex<HashMap<PathBuf, Arc<Hub>>>,
}

/// A followed run or experiment.
#[derive(Debug, Clone)]
pub struct Target {
    /// A run file, or a folder of consecutive runs.
    pub out: PathBuf,
    /// The job that writes it, if it was started here.
    pub job: Option<String>,
}

impl Hub {
    /// Changes the state and sends the resulting events to all viewers, atomically, so that a new viewer neither
    /// misses an event nor receives it twice.
    pub fn tell(&self, change: impl FnOnce(&mut Seen) -> Vec<Frame>) {
        let mut seen = self.observed();
        for frame in change(&mut seen) {
            // No viewers are left; the reader will notice.
            let _ = self.send.send(frame);
        }
    }

    /// After a panic while holding the lock, the next second repairs the history.
    fn observed(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hubs {
    /// Joins the hub of a target; `start` starts the reader for the first viewer.
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
            first.extend(seen.agents.as_ref().map(|agents| Frame::new("agents", agents)));
            return (first, hub.send.subscribe());
        }
        let (send, receive) = broadcast::channel(BEHIND_MAX);
        let hub = Arc::new(Hub { send, seen: Mutex::default() });
        all.insert(target.out.clone(), hub.clone());
        start(hub);
        (VecDeque::new(), receive)
    }

    /// Removes the hub if it has no viewers or has sent everything.
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
