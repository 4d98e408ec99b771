//! Processes and their parents, and the ones that a monitor names.

use super::one::{Stat, program};
use crate::monitor::files::Files;
use crate::monitor::probe::MonitorError;
use plimsoll_plan::watch::Who;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

/// All processes of the machine. Each is read when it is new, in the next sample (a fork keeps its parent's name
/// until it executes its program), and then once every [`AGAIN`] samples. Reading hundreds of unrelated processes
/// every second would cost more than reading the monitored ones.
#[derive(Default)]
pub struct Census {
    known: BTreeMap<u32, Entry>,
    looks: u64,
}

/// Number of samples in which every process is read once more, some in each sample.
const AGAIN: u64 = 10;

#[derive(Debug, Clone)]
struct Entry {
    start: u64,
    parent: u32,
    comm: String,
    /// Read only if names are needed, because the kernel locks the process's memory for it.
    program: Option<String>,
    since: u64,
    /// Whether it was missing from the previous sample.
    born: bool,
}

/// What to read of all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asks {
    /// Every process, however long it has been known.
    pub all: bool,
    /// The names of their programs.
    pub names: bool,
}

impl Census {
    pub fn take(&mut self, files: &mut Files, asks: Asks) {
        self.looks += 1;
        let pids: BTreeSet<u32> = files.numbers("/proc").into_iter().collect();
        self.known.retain(|pid, _| pids.contains(pid));
        for pid in pids {
            let mut since = None;
            if let Some(entry) = self.known.get_mut(&pid) {
                entry.born = false;
                since = Some(entry.since);
                let due = u64::from(pid) % AGAIN == self.looks % AGAIN;
                if !asks.all && !due && entry.since + 1 < self.looks {
                    continue;
                }
            }
            let Some(stat) = Stat::of(files, pid) else {
                self.known.remove(&pid);
                continue;
            };
            let entry = Entry {
                start: stat.start,
                parent: stat.parent,
                comm: stat.comm,
                program: if asks.names { name_of(files, pid) } else { None },
                since: since.unwrap_or(self.looks),
                born: since.is_none() && self.looks > 1,
            };
            self.known.insert(pid, entry);
        }
    }

    /// Returns its start time, if known.
    pub fn start(&self, pid: u32) -> Option<u64> {
        self.known.get(&pid).map(|entry| entry.start)
    }

    /// Returns whether it started after the previous sample, so that all its usage is recent.
    pub fn born(&self, pid: u32) -> bool {
        self.known.get(&pid).is_some_and(|entry| entry.born)
    }

    /// Notes that the number belongs to another process now.
    pub fn correct(&mut self, pid: u32, stat: &Stat) {
        if let Some(entry) = self.known.get_mut(&pid) {
            // Its age is unknown, so its usage is not an increase of this second.
            (entry.start, entry.parent, entry.born) = (stat.start, stat.parent, false);
            // Its name is read again in the next sample.
            (entry.comm, entry.since) = (stat.comm.clone(), self.looks);
        }
    }

    fn called(&self, name: &str) -> Vec<u32> {
        // The kernel keeps 15 bytes of a name.
        let short = name.get(..15).unwrap_or(name);
        let means = |entry: &Entry| {
            entry.comm == name
                || (name.len() > 15 && entry.comm == short)
                || entry.program.as_deref() == Some(name)
        };
        self.known.iter().filter(|(_, entry)| means(entry)).map(|(pid, _)| *pid).collect()
    }

    /// Returns the seeds with all their descendants, except `but` and its descendants.
    pub fn family(&self, seeds: impl IntoIterator<Item = u32>, but: u32) -> BTreeSet<u32> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (pid, entry) in &self.known {
            children.entry(entry.parent).or_default().push(*pid);
        }
        let mut family = BTreeSet::new();
        let mut open: Vec<u32> = seeds.into_iter().collect();
        while let Some(pid) = open.pop() {
            if pid != but && self.known.contains_key(&pid) && family.insert(pid) {
                open.extend(children.get(&pid).into_iter().flatten());
            }
        }
        family
    }
}

/// Finds the processes that a monitor names, and again after they changed.
pub struct Finder {
    who: Who,
    /// This program, whose own usage is not the server's.
    own: u32,
    /// Processes with their start times.
    roots: Vec<(u32, u64)>,
    /// Inodes of the port's listening sockets.
    sockets: BTreeSet<u64>,
}

impl Finder {
    pub fn new(who: &Who) -> Finder {
        Finder { who: who.clone(), own: std::process::id(), roots: Vec::new(), sockets: BTreeSet::new() }
    }

    pub fn own(&self) -> u32 {
        self.own
    }

    /// Returns the processes.
    ///
    /// # Errors
    /// Returns an error that names what was searched if there is no such process.
    pub fn find(&mut self, files: &mut Files, census: &mut Census) -> Result<Vec<u32>, MonitorError> {
        // A missing process may have changed its name meanwhile.
        let names = matches!(self.who, Who::Name(_));
        census.take(files, Asks { all: self.roots.is_empty(), names });
        let found = match self.who.clone() {
            Who::Pid(pid) => self.by_pid(files, census, pid)?,
            Who::Name(name) => {
                let all: Vec<u32> = census.called(&name).into_iter().filter(|pid| *pid != self.own).collect();
                if all.is_empty() {
                    self.roots.clear();
                    return Err(MonitorError(format!("no process is called `{name}`")));
                }
                all
            }
            Who::Port(port) => self.by_port(files, census, port)?,
        };
        self.roots = found.iter().filter_map(|pid| Some((*pid, census.start(*pid)?))).collect();
        Ok(found)
    }

    fn by_pid(&self, files: &mut Files, census: &Census, pid: u32) -> Result<Vec<u32>, MonitorError> {
        if pid == self.own {
            return Err(MonitorError(format!(
                "process `{pid}` is plimsoll itself: name the server's process"
            )));
        }
        // Read again, because the census may contain the number's previous owner.
        let start = Stat::of(files, pid).map(|stat| stat.start).filter(|_| census.start(pid).is_some());
        match (self.roots.first(), start) {
            (None, None) => Err(MonitorError(format!("there is no process `{pid}`"))),
            (Some(_), None) => Err(MonitorError(format!("process `{pid}` has ended"))),
            (Some((_, before)), Some(start)) if *before != start => {
                Err(MonitorError(format!("process `{pid}` has ended, and another process has its number")))
            }
            _ => Ok(vec![pid]),
        }
    }

    fn by_port(&mut self, files: &mut Files, census: &Census, port: u16) -> Result<Vec<u32>, MonitorError> {
        let alive = |(pid, start): &(u32, u64)| census.start(*pid) == Some(*start);
        // The kernel walks its whole connection table for the list, which takes milliseconds.
        if !self.roots.is_empty() && self.roots.iter().all(alive) && !census.looks.is_multiple_of(AGAIN) {
            return Ok(self.roots.iter().map(|(pid, _)| *pid).collect());
        }
        let sockets = listening(files, port);
        if sockets.is_empty() {
            self.roots.clear();
            return Err(MonitorError(format!("nothing listens on TCP port `{port}`")));
        }
        if sockets != self.sockets || self.roots.is_empty() || !self.roots.iter().all(alive) {
            self.roots.clear();
            let holders = holders(files, census, &sockets, self.own);
            if holders.is_empty() {
                return Err(MonitorError(format!(
                    "the process that listens on TCP port `{port}` is not visible: run plimsoll as the same user"
                )));
            }
            self.sockets = sockets;
            return Ok(holders);
        }
        Ok(self.roots.iter().map(|(pid, _)| *pid).collect())
    }
}

/// Returns the inodes of the listening sockets of a port, IPv4 and IPv6. The kernel lists them first, so tens of
/// thousands of connections after them are never read.
fn listening(files: &mut Files, port: u16) -> BTreeSet<u64> {
    let mut inodes = BTreeSet::new();
    for list in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let mut file: Option<File> = None;
        // A piece may end within a line.
        let mut rest = String::new();
        'list: while let Some(piece) = files.front(list, &mut file).filter(|piece| !piece.is_empty()) {
            rest.push_str(piece);
            let whole = rest.rfind('\n').map_or(0, |end| end + 1);
            for line in rest[..whole].lines() {
                match row(line) {
                    Some((state, _, _)) if state != LISTEN => break 'list,
                    Some((_, own, inode)) if own == port => inodes.insert(inode),
                    // The heading, or another socket.
                    _ => false,
                };
            }
            rest.drain(..whole);
        }
    }
    inodes
}

const LISTEN: &str = "0A";

/// Returns the state, local port, and inode of a line `number: local remote state queues timer retransmits user
/// timeout inode`.
fn row(line: &str) -> Option<(&str, u16, u64)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let port = u16::from_str_radix(words.get(1)?.rsplit_once(':')?.1, 16).ok()?;
    Some((words.get(3)?, port, words.get(9)?.parse().ok()?))
}

fn name_of(files: &mut Files, pid: u32) -> Option<String> {
    files.text(&format!("/proc/{pid}/cmdline")).and_then(program).map(str::to_owned)
}

/// Returns the processes that have one of the sockets open. The first process of the machine may hold a socket for a
/// service that it starts (socket activation). All others are its descendants, so it counts only if no other process
/// has the socket.
fn holders(files: &Files, census: &Census, sockets: &BTreeSet<u64>, own: u32) -> Vec<u32> {
    let names: Vec<String> = sockets.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let holds = |pid: u32| {
        let Ok(open) = std::fs::read_dir(files.path(&format!("/proc/{pid}/fd"))) else { return false };
        open.flatten().any(|entry| {
            std::fs::read_link(entry.path()).is_ok_and(|to| {
                to.to_str().is_some_and(|to| to.starts_with("socket:") && names.iter().any(|name| name == to))
            })
        })
    };
    let mut all: Vec<u32> = census.known.keys().copied().filter(|pid| *pid != own && holds(*pid)).collect();
    if all.len() > 1 {
        all.retain(|pid| *pid != 1);
    }
    all
}
