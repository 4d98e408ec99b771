//! Runs while they go on: one reader of the run file per run that somebody watches, however many watch. All of them
//! are told the same, and who comes late is told the whole course first.

mod course;
mod follow;

use crate::answer::Answer;
use crate::api::App;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use course::Course;
use follow::follow;
use futures_util::stream::unfold;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;

/// Whoever is so many events behind begins anew: browsers come again by themselves.
const BEHIND_MAX: usize = 256;
/// Silence on a connection is broken after this, so that both sides notice when the other is gone.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// What is told.
#[derive(Debug, Clone)]
pub struct Frame {
    pub event: &'static str,
    pub data: Arc<str>,
}

impl Frame {
    pub fn new(event: &'static str, data: &Value) -> Self {
        Self { event, data: data.to_string().into() }
    }
}

/// Those who watch one run.
pub struct Hub {
    send: broadcast::Sender<Frame>,
    seen: Mutex<Seen>,
}

/// What a new watcher is told first.
#[derive(Default)]
struct Seen {
    course: Course,
    job: Option<Value>,
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
    fn tell(&self, change: impl FnOnce(&mut Seen) -> Vec<Frame>) {
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
    /// Comes in; starts the reader for the first one.
    fn enter(&self, app: &Arc<App>, target: Target) -> (VecDeque<Frame>, broadcast::Receiver<Frame>) {
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
        tokio::spawn(follow(app.clone(), target, hub));
        (VecDeque::new(), receive)
    }

    /// Forgets the hub if nobody watches, or if it has told everything.
    fn leave(&self, target: &Target, hub: &Hub, has_ended: bool) -> bool {
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

/// The events of a run, as `text/event-stream`.
pub async fn watch(app: Arc<App>, id: String) -> Answer<Response> {
    let target = match app.jobs.out(&id) {
        Some(out) => Target { out, job: Some(id) },
        None => {
            let out = app.path(&id).await?;
            let job = app.jobs.of_out(&out);
            Target { out, job }
        }
    };
    let (first, receive) = app.hubs.enter(&app, target);
    let stream = unfold((first, receive, false), |(mut first, mut receive, has_ended)| async move {
        if has_ended {
            return None;
        }
        let frame = match first.pop_front() {
            Some(frame) => frame,
            // Too far behind, or over: the browser comes again.
            None => receive.recv().await.ok()?,
        };
        let has_ended = frame.event == "ended";
        let event = Event::default().event(frame.event).data(&*frame.data);
        Some((Ok::<_, Infallible>(event), (first, receive, has_ended)))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(SILENCE_MAX)).into_response())
}

/// The last event: there is a report now.
fn ended(run: Option<String>) -> Frame {
    Frame::new("ended", &json!({ "run": run }))
}
