//! Monitor of a control group: its use of its quotas, and how often it was throttled.

mod place;

pub use place::Place;

use super::files::{Files, field};
use super::host::pressure;
use super::previous_counters::{Page, PreviousCounters, short};
use super::probe::{Found, Moment, MonitorError, Probe};
use super::process::{Census, Finder, cpus_online};
use place::Folder;
use plimsoll_plan::watch::{Group, Unit};
use std::path::Path;

/// Reads one group below one `/sys/fs/cgroup`.
pub struct Cgroup {
    files: Files,
    group: Group,
    /// Finds the group of a process.
    finder: Option<(Finder, Census)>,
    /// The group and the process for which it was found.
    place: Option<(u32, Place)>,
    previous: PreviousCounters,
    ticks_per_s: f64,
    looks: u64,
}

/// Number of samples for which a process is assumed to stay in its group.
const AGAIN: u64 = 10;

impl Cgroup {
    /// Creates the probe. `root` contains `proc` and `sys`: `/`, or a recorded tree.
    pub fn new(group: &Group, root: &Path) -> Cgroup {
        let files = Files::new(root);
        let (ticks_per_s, _) = files.ticks_and_page();
        let finder = match group {
            Group::Of(who) => Some((Finder::new(who), Census::default())),
            Group::Path(_) => None,
        };
        let (group, previous) = (group.clone(), PreviousCounters::default());
        Cgroup { files, group, finder, place: None, previous, ticks_per_s, looks: 0 }
    }

    fn find(&mut self) -> Result<Place, MonitorError> {
        let again = self.looks.is_multiple_of(AGAIN);
        self.looks += 1;
        let pid = match &mut self.finder {
            // Several processes of one name or port are nearly always in one group, so the first one decides.
            Some((finder, census)) => {
                finder.find(&mut self.files, census)?.first().copied().unwrap_or_default()
            }
            None => 0,
        };
        if let Some((_, place)) = self.place.as_ref().filter(|(known, _)| *known == pid && !again) {
            return Ok(place.clone());
        }
        let place = match &self.group {
            Group::Path(path) => Place::at(&mut self.files, path)
                .ok_or_else(|| MonitorError(format!("`{}` is not a control group", path.display())))?,
            Group::Of(_) => Place::of(&mut self.files, pid)
                .ok_or_else(|| MonitorError(format!("cannot find the control group of process `{pid}`")))?,
        };
        self.place = Some((pid, place.clone()));
        Ok(place)
    }
}

impl Probe for Cgroup {
    fn look(&mut self, at: Moment) -> Result<Found, MonitorError> {
        let place = self.find()?;
        let mut page = PreviousCounters::page(at);
        let files = &mut self.files;
        let quota = place.cpu_limit(files);
        let cpus = f64::from(cpus_online(files));
        let cpu_limit = quota.map_or(cpus, |quota| quota.min(cpus));
        // A machine may have version 2 alongside version 1, without the controllers that version 1 uses.
        let mut has_cpu = cpu_of_one(files, &place, &mut page, cpu_limit, quota.is_some(), self.ticks_per_s);
        let mut has_memory = memory_of_one(files, &place, &mut page);
        if let Some(folder) = &place.unified {
            has_cpu |= !has_cpu && cpu_of_two(files, &folder.path, &mut page, cpu_limit, quota.is_some());
            has_memory |= !has_memory && memory_of_two(files, &place, folder, &mut page);
            pressure(files, &mut page, |what| format!("{}/{what}.pressure", folder.path));
        }
        let pids = place.controller("pids").or(place.unified.as_ref());
        if let Some(folder) = pids
            && let Some(count) = files.number(&format!("{}/pids.current", folder.path))
        {
            let limit = files.number(&format!("{}/pids.max", folder.path));
            page.gauge("", "pids", Unit::Count, limit, count);
        }
        if !has_cpu && !has_memory {
            return Err(MonitorError(
                "the control group has neither a CPU nor a memory controller".to_owned(),
            ));
        }
        let memory = place.memory_limit(files);
        let unlimited = || "none".to_owned();
        let facts = vec![
            ("version".to_owned(), if place.single.is_empty() { "2" } else { "1" }.to_owned()),
            ("cpu quota".to_owned(), quota.map_or_else(unlimited, short)),
            (
                "memory limit".to_owned(),
                memory.map_or_else(unlimited, |bytes| format!("{} MiB", short(bytes / f64::from(1 << 20)))),
            ),
        ];
        Ok(Found { readings: self.previous.take(page), facts })
    }
}

/// Reads CPU time in version 1 and returns whether there is any. Usage and quota may be in separate trees.
fn cpu_of_one(
    files: &mut Files,
    place: &Place,
    page: &mut Page,
    limit: f64,
    has_quota: bool,
    ticks_per_s: f64,
) -> bool {
    let held = place.controller("cpu").filter(|_| has_quota);
    let held = held.and_then(|folder| files.text(&format!("{}/cpu.stat", folder.path)));
    if let Some(text) = held {
        throttled(text, page, field(text, "throttled_time").map(|ns| ns / 1e9));
    }
    let has_quota = held.is_some();
    let Some(folder) = place.controller("cpuacct").map(|folder| folder.path.as_str()) else {
        return has_quota;
    };
    let Some(usage_ns) = files.number(&format!("{folder}/cpuacct.usage")) else { return has_quota };
    page.counter("", "cpu", Unit::Cores, Some(limit), usage_ns / 1e9);
    if let Some(text) = files.text(&format!("{folder}/cpuacct.stat")) {
        for (name, metric) in [("user", "cpu_user"), ("system", "cpu_system")] {
            if let Some(ticks) = field(text, name) {
                page.counter("", metric, Unit::Cores, None, ticks / ticks_per_s);
            }
        }
    }
    true
}

fn cpu_of_two(files: &mut Files, folder: &str, page: &mut Page, limit: f64, has_quota: bool) -> bool {
    let text = files.text(&format!("{folder}/cpu.stat")).unwrap_or_default();
    let seconds = |name| field(text, name).map(|us| us / 1e6);
    let Some(usage_s) = seconds("usage_usec") else { return false };
    page.counter("", "cpu", Unit::Cores, Some(limit), usage_s);
    for (name, metric) in [("user_usec", "cpu_user"), ("system_usec", "cpu_system")] {
        if let Some(used_s) = seconds(name) {
            page.counter("", metric, Unit::Cores, None, used_s);
        }
    }
    if has_quota {
        throttled(text, page, seconds("throttled_usec"));
    }
    true
}

/// A quota is renewed in each period (100 ms by default). A group that has used up its quota is throttled until the
/// next period, even if it used little over a second.
fn throttled(stat: &str, page: &mut Page, throttled_s: Option<f64>) {
    if let Some((throttled, periods)) = field(stat, "nr_throttled").zip(field(stat, "nr_periods")) {
        page.ratio("", "throttled", Unit::Share, None, throttled, periods);
    }
    // Summed over the CPUs on which the group was throttled.
    if let Some(throttled_s) = throttled_s {
        page.counter("", "throttled_time", Unit::Cores, None, throttled_s);
    }
}

/// Reads memory in version 1 and returns whether there is any.
fn memory_of_one(files: &mut Files, place: &Place, page: &mut Page) -> bool {
    let Some(folder) = place.controller("memory").map(|folder| folder.path.clone()) else { return false };
    let Some(used) = files.number(&format!("{folder}/memory.usage_in_bytes")) else { return false };
    let stat = files.text(&format!("{folder}/memory.stat")).unwrap_or_default();
    let cached = field(stat, "total_inactive_file").or_else(|| field(stat, "inactive_file"));
    memory(files, place, page, used, cached);
    if let Some(hits) = files.number(&format!("{folder}/memory.failcnt")) {
        page.counter("", "memory_limit_hits", Unit::PerS, None, hits);
    }
    let kills = files.text(&format!("{folder}/memory.oom_control")).and_then(|text| field(text, "oom_kill"));
    if let Some(kills) = kills {
        page.counter("", "oom_kills", Unit::PerS, None, kills);
    }
    true
}

fn memory_of_two(files: &mut Files, place: &Place, folder: &Folder, page: &mut Page) -> bool {
    let folder = &folder.path;
    let Some(used) = files.number(&format!("{folder}/memory.current")) else { return false };
    let cached = files.text(&format!("{folder}/memory.stat")).and_then(|stat| field(stat, "inactive_file"));
    memory(files, place, page, used, cached);
    if let Some(text) = files.text(&format!("{folder}/memory.events")) {
        for (name, metric) in [("max", "memory_limit_hits"), ("oom_kill", "oom_kills")] {
            if let Some(count) = field(text, name) {
                page.counter("", metric, Unit::PerS, None, count);
            }
        }
    }
    true
}

/// Cached files fill a group up to its limit and are dropped when the memory is needed, so only the rest counts
/// toward the limit.
fn memory(files: &mut Files, place: &Place, page: &mut Page, used: f64, cached: Option<f64>) {
    page.gauge("", "memory", Unit::Bytes, None, used);
    if let Some(cached) = cached {
        let limit = place.memory_limit(files);
        page.gauge("", "memory_working_set", Unit::Bytes, limit, (used - cached).max(0.0));
    }
}
