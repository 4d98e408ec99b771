//! What all threads of a run share, over all workers.

use crate::data::Data;
use crate::files::Files;
use crate::jtl::SampleSink;
use crate::log::{Level, Log};
use crate::template::{Template, dynamic};
use crate::vars::Names;
use jiff::tz::TimeZone;
use plimsoll_jmx::plan::Columns;
use plimsoll_jmx::text::{Pos, Text};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The shared state of a run.
pub struct Run {
    pub names: Arc<Names>,
    pub plan_name: String,
    groups: Vec<GroupState>,
    all_threads: AtomicU32,
    properties: RwLock<BTreeMap<String, String>>,
    /// Counts over all threads, by call.
    pub counters: Vec<AtomicI64>,
    pub files: Files,
    pub data: Data,
    pub zone: TimeZone,
    /// Name and address of this machine.
    pub machine: (String, String),
    pub log: Log,
    /// The results of all samples, if they are wanted.
    pub results: Option<Arc<dyn SampleSink>>,
    /// Of the lines of `results`.
    pub columns: Columns,
    pub locks: Locks,
    is_stopped: AtomicBool,
    is_stopped_now: AtomicBool,
    warned: Mutex<BTreeSet<String>>,
}

/// The state of a thread group.
pub struct GroupState {
    pub title: Arc<str>,
    active: AtomicU32,
    ended: AtomicU32,
    /// The number of its threads, as planned.
    pub threads: u32,
}

/// What [`Run::new`] needs.
pub struct Parts {
    pub names: Arc<Names>,
    pub plan_name: String,
    /// Titles and numbers of threads.
    pub groups: Vec<(Arc<str>, u32)>,
    pub properties: BTreeMap<String, String>,
    pub instances: usize,
    pub folder: std::path::PathBuf,
    pub log: Log,
    pub results: Option<Arc<dyn SampleSink>>,
    pub columns: Columns,
}

/// Warnings of different texts that are shown; more of them would hide everything else.
const WARNINGS_MAX: usize = 100;

impl Run {
    pub fn new(parts: Parts) -> Run {
        let group = |(title, threads)| GroupState {
            title,
            active: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            threads,
        };
        Run {
            names: parts.names,
            plan_name: parts.plan_name,
            groups: parts.groups.into_iter().map(group).collect(),
            all_threads: AtomicU32::new(0),
            properties: RwLock::new(parts.properties),
            counters: (0..parts.instances).map(|_| AtomicI64::new(0)).collect(),
            files: Files::new(&parts.folder),
            data: Data::default(),
            zone: crate::date::machine_zone(),
            machine: machine(),
            log: parts.log,
            results: parts.results,
            columns: parts.columns,
            locks: Locks::default(),
            is_stopped: AtomicBool::new(false),
            is_stopped_now: AtomicBool::new(false),
            warned: Mutex::default(),
        }
    }

    /// Returns a property of the run.
    pub fn property(&self, name: &str) -> Option<String> {
        self.properties.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Returns all properties of the run, sorted by name.
    pub fn properties(&self) -> BTreeMap<String, String> {
        self.properties.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_property(&self, name: &str, value: &str) {
        let mut all = self.properties.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(name.to_owned(), value.to_owned());
    }

    pub fn remove_property(&self, name: &str) {
        self.properties.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// Writes a warning, each text once.
    pub fn warn_once(&self, text: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.len() < WARNINGS_MAX && warned.insert(text.to_owned()) {
            drop(warned);
            self.log.write(Level::Warning, text);
        }
    }

    /// Compiles a text that appears during the load.
    pub fn dynamic(&self, text: &str) -> Template {
        match Text::new(text, Pos::default()) {
            Ok(text) => dynamic(&text, &self.names),
            Err(_) => Template::literal(text),
        }
    }

    pub fn group_title(&self, group: usize) -> &str {
        self.groups.get(group).map_or("", |group| &group.title)
    }

    /// Returns how many threads a group has in all.
    pub fn group_size(&self, group: usize) -> u32 {
        self.groups.get(group).map_or(0, |group| group.threads)
    }

    pub fn thread_started(&self, group: usize) {
        self.all_threads.fetch_add(1, Ordering::Relaxed);
        if let Some(group) = self.groups.get(group) {
            group.active.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn thread_ended(&self, group: usize) {
        self.all_threads.fetch_sub(1, Ordering::Relaxed);
        if let Some(group) = self.groups.get(group) {
            group.active.fetch_sub(1, Ordering::Relaxed);
            group.ended.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns whether all threads of a group have run and ended.
    pub fn is_through(&self, group: usize) -> bool {
        self.groups.get(group).is_none_or(|group| group.ended.load(Ordering::Relaxed) >= group.threads)
    }

    /// Returns how many threads run: of a group, and of all.
    pub fn active(&self, group: usize) -> (u32, u32) {
        let own = self.groups.get(group).map_or(0, |group| group.active.load(Ordering::Relaxed));
        (own, self.all_threads.load(Ordering::Relaxed))
    }

    /// Ends the test: each thread ends after its current sampler, or immediately.
    pub fn stop(&self, is_now: bool) {
        self.is_stopped.store(true, Ordering::Relaxed);
        if is_now {
            self.is_stopped_now.store(true, Ordering::Relaxed);
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Lets threads run again: those of tearDown groups, after the test was stopped.
    pub fn restart(&self) {
        self.is_stopped.store(false, Ordering::Relaxed);
        self.is_stopped_now.store(false, Ordering::Relaxed);
    }
}

/// The locks of Critical Section Controllers, by name.
#[derive(Debug, Default)]
pub struct Locks(Mutex<HashMap<String, u64>>);

impl Locks {
    /// Takes a lock for a thread; returns whether the thread has it.
    pub fn take(&self, name: &str, thread: u64) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry(name.to_owned()).or_insert(thread) == thread
    }

    pub fn free(&self, name: &str, thread: u64) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(name) == Some(&thread) {
            all.remove(name);
        }
    }
}

/// Returns name and address of this machine, as Java finds them.
fn machine() -> (String, String) {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = if name.trim().is_empty() { "localhost".to_owned() } else { name.trim().to_owned() };
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let mut lines = hosts.lines().map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
    let address = lines.find_map(|mut words| {
        let address = words.next()?;
        words.any(|word| word == name).then(|| address.to_owned())
    });
    (name, address.unwrap_or_else(|| "127.0.0.1".to_owned()))
}
