//! A load from agents in progress: its last second on each of them, from the run files of its parts.

use crate::jobs::latest::parts_of;
use plimsoll_analysis::Follow;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Follows the parts of a load.
#[derive(Default)]
pub struct Parts {
    folder: PathBuf,
    all: BTreeMap<PathBuf, Part>,
}

struct Part {
    follow: Follow,
    row: Value,
    requests: u64,
    errors: u64,
}

impl Parts {
    /// Returns a row per agent if anything has changed. `run` is the file that is followed for the load as a whole.
    pub fn look(&mut self, run: &Path) -> Option<Vec<Value>> {
        let folder = run.parent().unwrap_or(Path::new(""));
        if self.folder != folder {
            *self = Parts { folder: folder.to_path_buf(), all: BTreeMap::new() };
        }
        let mut is_news = false;
        for path in parts_of(run) {
            if !self.all.contains_key(&path) {
                // It may exist and still be empty; the next look will tell.
                let Ok(follow) = Follow::open(&path) else { continue };
                let part = Part { follow, row: json!({}), requests: 0, errors: 0 };
                self.all.insert(path.clone(), part);
            }
            if let Some(part) = self.all.get_mut(&path) {
                is_news |= part.look();
            }
        }
        let rows = || self.all.values().filter(|part| part.row.get("name").is_some());
        is_news.then(|| rows().map(|part| part.row.clone()).collect())
    }
}

impl Part {
    /// Returns whether there was anything new.
    fn look(&mut self) -> bool {
        let Ok(fresh) = self.follow.more() else { return false };
        let Some(row) = self.row.as_object_mut() else { return false };
        let is_news = fresh.opening.is_some() || !fresh.seconds.is_empty() || fresh.ending.is_some();
        if let Some(agent) = fresh.opening.as_ref().and_then(|opening| opening.environment.agent.as_ref()) {
            row.insert("name".into(), json!(agent.name));
            row.insert("labels".into(), json!(agent.labels));
            row.insert("start_delay_ns".into(), json!(agent.start_delay_ns));
            row.insert("clock_bound_ns".into(), json!(agent.clock_bound_ns));
        }
        for second in &fresh.seconds {
            self.requests += second.requests;
            self.errors += second.errors;
        }
        if let Some(second) = fresh.seconds.last() {
            let (busy_ns, wall_ns) =
                fresh.pulses.iter().fold((0, 0), |sum, pulse| (sum.0 + pulse.busy_ns, sum.1 + pulse.wall_ns));
            row.insert("elapsed_s".into(), json!(second.from_s + second.length_s));
            row.insert("rate_per_s".into(), json!(second.achieved_rate_per_s));
            row.insert("p99_ns".into(), json!(second.quantile(0.99).value_ns()));
            row.insert("max_ns".into(), json!(second.max_ns));
            row.insert("schedule_lag_p99_ns".into(), json!(second.schedule_lag_p99().value_ns()));
            let busy_ratio = (wall_ns > 0).then(|| busy_ns as f64 / wall_ns as f64);
            row.insert("busy_ratio".into(), json!(busy_ratio));
        }
        row.insert("requests".into(), json!(self.requests));
        row.insert("errors".into(), json!(self.errors));
        if fresh.ending.is_some() {
            row.insert("has_ended".into(), json!(true));
        }
        is_news
    }
}
