//! Follows a run file once per second and sends events to viewers. The file is only read, briefly; the load does not
//! notice.

use super::by_agents::Parts;
use super::ended;
use crate::app::App;
use crate::hub::{Course, Frame, Hub, Target};
use crate::index::{id_of, is_being_written};
use crate::jobs::State;
use crate::jobs::latest::{run_of, turns};
use crate::jobs::stages::course;
use plimsoll_analysis::{Follow, Fresh};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// Interval of reads; a run writes once per second.
const LOOK: Duration = Duration::from_secs(1);
/// Number of reads without a sign of life after which the run counts as dead.
const SILENT_MAX: u32 = 5;

/// Follows a run until it has ended or has no viewers.
pub async fn follow(app: Arc<App>, target: Target, hub: Arc<Hub>) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut changes = app.jobs.changes();
    let mut reader = Reader::default();
    let mut silent = 0;
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            // The sender lives as long as the server.
            _ = changes.changed(), if target.job.is_some() => {
                tell_job(&app, &target, &hub);
                continue;
            }
        }
        if app.hubs.leave(&target, &hub, false) {
            return;
        }
        tell_job(&app, &target, &hub);
        let now_ns = (app.config.tool.now_unix_ns)();
        let out = target.out.clone();
        // Reading blocks, so it runs on a pool thread, which returns the reader.
        let looked = app
            .looks
            .read(&[&target.out], move || {
                let look = reader.look(&out, now_ns);
                (reader, look)
            })
            .await;
        let Ok((back, look)) = looked else {
            // The next viewer starts another reader.
            app.hubs.leave(&target, &hub, true);
            return;
        };
        reader = back;
        let has_ended = look.fresh.as_ref().is_some_and(|fresh| fresh.ending.is_some());
        let turns = look.turns;
        if let Some(fresh) = look.fresh {
            if let (Some(job), Some(opening)) = (&target.job, &fresh.opening) {
                app.jobs.plan(job, course(&opening.outline, turns));
            }
            hub.tell(|seen| {
                if look.is_another {
                    seen.course = Course::of(turns);
                }
                seen.course.take(fresh)
            });
        }
        if let Some(agents) = look.agents {
            hub.tell(|seen| {
                let told = json!({ "agents": agents });
                let frame = Frame::new("agents", &told);
                seen.agents = Some(told);
                vec![frame]
            });
        }
        let is_over = match target.job.as_deref().and_then(|job| app.jobs.job(job)) {
            // Of several consecutive runs, only the job knows when all are done.
            Some(job) => matches!(job.state, State::Ended | State::Failed),
            None => {
                silent = if look.is_alive { 0 } else { silent + 1 };
                (has_ended && target.out.is_file()) || silent >= SILENT_MAX
            }
        };
        if is_over {
            tell_job(&app, &target, &hub);
            let run = target.out.exists().then(|| id_of(&target.out));
            hub.tell(|_| vec![ended(run)]);
            app.hubs.leave(&target, &hub, true);
            return;
        }
    }
}

/// Sends the job's state if it has changed.
fn tell_job(app: &App, target: &Target, hub: &Hub) {
    let Some(mut job) = target.job.as_deref().and_then(|job| app.jobs.job(job)) else { return };
    let elapsed_s = std::mem::take(&mut job.elapsed_s);
    let steady = json!(job);
    hub.tell(|seen| {
        let is_news = seen.job.as_ref().is_none_or(|last| {
            let mut last = last.clone();
            last["elapsed_s"] = json!(0.0);
            last != steady
        });
        if !is_news {
            return Vec::new();
        }
        let mut told = steady;
        told["elapsed_s"] = json!(elapsed_s);
        let frame = Frame::new("job", &told);
        seen.job = Some(told);
        vec![frame]
    });
}

/// Position of a reader.
#[derive(Default)]
struct Reader {
    tail: Option<(PathBuf, Follow)>,
    /// Whether anything was read yet.
    is_known: bool,
    parts: Parts,
}

struct Look {
    fresh: Option<Fresh>,
    /// Whether the run differs from the previous one.
    is_another: bool,
    /// Number of runs in the experiment, if the run changed.
    turns: Option<usize>,
    is_alive: bool,
    /// A row per agent, if they have news.
    agents: Option<Vec<Value>>,
}

impl Reader {
    fn look(&mut self, out: &Path, now_ns: u64) -> Look {
        let nothing = Look { fresh: None, is_another: false, turns: None, is_alive: false, agents: None };
        let run = run_of(out, now_ns);
        // Between two runs, the last one stays.
        let Some(run) = run.or_else(|| self.tail.as_ref().map(|(path, _)| path.clone())) else {
            return nothing;
        };
        if self.tail.as_ref().is_none_or(|(path, _)| *path != run) {
            // The file may exist and still be empty; the next read will tell.
            let Ok(tail) = Follow::open(&run) else { return nothing };
            self.tail = Some((run.clone(), tail));
            self.is_known = false;
        }
        let Some((_, tail)) = &mut self.tail else { return nothing };
        // A file that vanishes or is unreadable now has no news; a dead run is detected soon.
        let fresh = tail.more().ok();
        let is_another = fresh.is_some() && !std::mem::replace(&mut self.is_known, fresh.is_some());
        let turns = if is_another { run.parent().and_then(turns) } else { None };
        let is_alive = is_being_written(&run, now_ns);
        let agents = self.parts.look(&run);
        Look { fresh, is_another, turns, is_alive, agents }
    }
}
