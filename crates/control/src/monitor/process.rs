//! Monitor of a process and its descendants: their use of the machine and of their limits.

mod census;
mod one;
mod tree;

pub(super) use census::{Census, Finder};

use super::cgroup::Place;
use super::files::{Files, field};
use super::previous_counters::{Page, PreviousCounters, short};
use super::probe::{Found, Moment, MonitorError, Probe};
use plimsoll_plan::watch::{Unit, Who};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tree::{Member, Tree};

/// Reads processes below one `/proc`.
pub struct Process {
    files: Files,
    finder: Finder,
    census: Census,
    tree: Tree,
    previous: PreviousCounters,
    then: Option<Moment>,
    ticks_per_s: f64,
    looks: u64,
    bounds: Bounds,
    /// Processes that were reported separately, with their start times.
    parts: BTreeSet<(u32, u64)>,
    facts: Vec<(String, String)>,
}

/// Limits of the first process.
#[derive(Default)]
struct Bounds {
    cpu_quota: Option<f64>,
    memory_bytes: Option<f64>,
    cpus_online: u32,
}

/// Number of samples between two reads of the limits.
const AGAIN: u64 = 10;
/// Processes reported separately in one sample and in all samples. Otherwise, a server that starts a process per
/// request would create a row for each.
const PARTS: usize = 8;
const MOST_PARTS: usize = 32;

impl Process {
    /// Creates the probe. `root` contains `proc` and `sys`: `/`, or a recorded tree.
    pub fn new(who: &Who, root: &Path) -> Process {
        let files = Files::new(root);
        let (ticks_per_s, _) = files.ticks_and_page();
        Process {
            files,
            finder: Finder::new(who),
            census: Census::default(),
            tree: Tree::default(),
            previous: PreviousCounters::default(),
            then: None,
            ticks_per_s,
            looks: 0,
            bounds: Bounds::default(),
            parts: BTreeSet::new(),
            facts: Vec::new(),
        }
    }
}

impl Probe for Process {
    fn look(&mut self, at: Moment) -> Result<Found, MonitorError> {
        let roots = self.finder.find(&mut self.files, &mut self.census)?;
        // Includes processes that were reparented.
        let kept = self
            .tree
            .members
            .iter()
            .filter(|(pid, old)| self.census.start(**pid) == Some(old.seen.stat.start));
        let seeds: Vec<u32> = roots.iter().chain(kept.map(|(pid, _)| pid)).copied().collect();
        let family = self.census.family(seeds, self.finder.own());
        let again = self.looks.is_multiple_of(AGAIN);
        self.looks += 1;
        self.tree.look(&mut self.files, &mut self.census, &family, again);
        if self.tree.members.is_empty() {
            return Err(MonitorError("the processes ended during the sample".to_owned()));
        }
        if again {
            self.bounds = bounds(&mut self.files, roots.first().copied().unwrap_or_default());
            self.facts = self.learn(&roots);
        }
        let mut page = PreviousCounters::page(at);
        let span_s = self.then.map(|then| at.since_s(then));
        self.whole(&mut page, span_s);
        self.singly(&mut page, span_s);
        self.then = Some(at);
        let mut facts = self.facts.clone();
        if let Some(name) = &self.tree.crowded {
            facts.push(("threads".to_owned(), format!("`{name}` has too many threads to sample each")));
        }
        Ok(Found { readings: self.previous.take(page), facts })
    }
}

impl Process {
    fn cpu_limit(&self, allowed: u32) -> f64 {
        // The mask has a bit for each possible CPU.
        let online = self.bounds.cpus_online.max(1);
        let allowed = if allowed == 0 { online } else { allowed.min(online) };
        self.bounds.cpu_quota.unwrap_or(f64::INFINITY).min(f64::from(allowed))
    }

    fn whole(&self, page: &mut Page, span_s: Option<f64>) {
        let (tree, totals) = (&self.tree, &self.tree.totals);
        let seconds = |ticks: f64| ticks / self.ticks_per_s;
        let limit = Some(self.cpu_limit(tree.cpus()));
        page.counter("", "cpu", Unit::Cores, limit, seconds(totals.user + totals.system));
        page.counter("", "cpu_user", Unit::Cores, None, seconds(totals.user));
        page.counter("", "cpu_system", Unit::Cores, None, seconds(totals.system));
        let busiest = tree.members.values().filter_map(|member| member.busiest_ns).reduce(f64::max);
        busiest_thread(page, "", busiest, span_s);
        if tree.has_waited {
            page.counter("", "cpu_wait", Unit::Cores, None, totals.waited_ns / 1e9);
        }
        // Resident memory includes shared pages, so only private memory can be summed over several processes.
        let one = tree.members.len() == 1;
        let memory = self.bounds.memory_bytes;
        page.gauge("", "rss", Unit::Bytes, memory.filter(|_| one), tree.sum(|m| m.seen.rss_bytes));
        page.gauge("", "rss_anon", Unit::Bytes, memory, tree.sum(|m| m.seen.anon_bytes));
        page.gauge("", "processes", Unit::Count, None, tree.members.len() as f64);
        page.gauge("", "threads", Unit::Count, None, tree.sum(|m| m.seen.stat.threads as f64));
        if tree.members.values().all(|member| member.seen.fds.is_some()) {
            let limit = tree.members.values().next().and_then(|m| m.descriptor_limit).filter(|_| one);
            page.gauge("", "fds", Unit::Count, limit, tree.sum(|m| m.seen.fds.unwrap_or_default()));
        }
        let nearest = tree.members.values().filter_map(|m| Some(m.seen.fds? / m.descriptor_limit?));
        if let Some(share) = nearest.reduce(f64::max) {
            page.gauge("", "fds_share", Unit::Share, Some(1.0), share);
        }
        if tree.has_switches {
            page.counter("", "voluntary_switches", Unit::PerS, None, totals.voluntary);
            page.counter("", "involuntary_switches", Unit::PerS, None, totals.involuntary);
        }
        page.counter("", "major_faults", Unit::PerS, None, totals.major_faults);
        if tree.has_disk {
            page.counter("", "disk_read", Unit::BytesPerS, None, totals.disk_read);
            page.counter("", "disk_write", Unit::BytesPerS, None, totals.disk_written);
        }
    }

    /// Adds the processes that have used the most CPU time since the first sample. A single process equals the whole.
    fn singly(&mut self, page: &mut Page, span_s: Option<f64>) {
        if self.tree.members.len() < 2 && self.parts.is_empty() {
            return;
        }
        let mut all: Vec<(&u32, &Member)> = self.tree.members.iter().filter(|(_, m)| m.looks >= 2).collect();
        let used = |member: &Member| member.used.0 + member.used.1;
        all.sort_by(|a, b| used(b.1).total_cmp(&used(a.1)));
        for (pid, member) in all.into_iter().take(PARTS) {
            let key = (*pid, member.seen.stat.start);
            if !self.parts.contains(&key) && self.parts.len() >= MOST_PARTS {
                continue;
            }
            self.parts.insert(key);
            let part = format!("{} {pid}", member.name);
            let limit = Some(self.cpu_limit(member.seen.cpus.count()));
            page.counter(&part, "cpu", Unit::Cores, limit, used(member) / self.ticks_per_s);
            busiest_thread(page, &part, member.busiest_ns, span_s);
            page.gauge(&part, "rss", Unit::Bytes, self.bounds.memory_bytes, member.seen.rss_bytes);
            page.gauge(&part, "threads", Unit::Count, None, member.seen.stat.threads as f64);
            if let Some(fds) = member.seen.fds {
                page.gauge(&part, "fds", Unit::Count, member.descriptor_limit, fds);
            }
        }
    }

    fn learn(&mut self, roots: &[u32]) -> Vec<(String, String)> {
        let mut programs: BTreeMap<String, usize> = BTreeMap::new();
        for pid in roots {
            let shown = self.files.text(&format!("/proc/{pid}/cmdline")).and_then(one::describe);
            let own = self.tree.members.get(pid).map(|member| member.name.clone());
            *programs.entry(shown.or(own).unwrap_or_default()).or_default() += 1;
        }
        let told = programs.into_iter().map(|(name, n)| if n > 1 { format!("{n} x {name}") } else { name });
        let mut facts = vec![("program".to_owned(), told.collect::<Vec<_>>().join(", "))];
        facts.push(("usable CPUs".to_owned(), short(self.cpu_limit(self.tree.cpus()))));
        let limits = self.tree.members.values().filter_map(|member| member.descriptor_limit);
        if let Some(least) = limits.reduce(f64::min) {
            facts.push(("open file limit".to_owned(), short(least)));
        }
        facts
    }
}

/// Adds the busiest thread, whose limit is 1 because a thread runs on one CPU at a time.
fn busiest_thread(page: &mut Page, part: &str, busiest_ns: Option<f64>, span_s: Option<f64>) {
    if let Some((busiest_ns, span_s)) = busiest_ns.zip(span_s) {
        page.gauge(part, "busiest_thread", Unit::Cores, Some(1.0), busiest_ns / 1e9 / span_s);
    }
}

fn bounds(files: &mut Files, pid: u32) -> Bounds {
    let total = files.text("/proc/meminfo").and_then(|text| field(text, "MemTotal")).map(|kib| kib * 1024.0);
    let place = Place::of(files, pid);
    let group = place.as_ref().and_then(|place| place.memory_limit(files));
    Bounds {
        cpu_quota: place.as_ref().and_then(|place| place.cpu_limit(files)),
        memory_bytes: [total, group].into_iter().flatten().reduce(f64::min),
        cpus_online: cpus_online(files),
    }
}

/// Returns the number of online CPUs: the lines `cpu0`, `cpu1`, and so on of `/proc/stat`.
pub(super) fn cpus_online(files: &mut Files) -> u32 {
    let text = files.text("/proc/stat").unwrap_or_default();
    let is_one = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    text.lines().filter(is_one).count() as u32
}
