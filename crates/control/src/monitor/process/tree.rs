//! A process and its descendants as one account. Threads and processes start and end between two samples, so the
//! tree's usage is the sum of each one's increase, never a difference of sums.

use super::census::Census;
use super::one::{Mask, Seen, Stat, Thread, descriptor_limit, name};
use crate::monitor::files::Files;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One process of the tree.
pub struct Member {
    pub name: String,
    pub seen: Seen,
    pub descriptor_limit: Option<f64>,
    /// CPU time since the first sample, ticks: (user, system).
    pub used: (f64, f64),
    /// CPU time of its busiest thread since the previous sample, ns.
    pub busiest_ns: Option<f64>,
    /// Number of samples that contain it.
    pub looks: u32,
}

/// Increasing totals since the first sample.
#[derive(Default)]
pub struct Totals {
    /// Ticks.
    pub user: f64,
    pub system: f64,
    /// Time of all threads waiting for a CPU, ns.
    pub waited_ns: f64,
    pub voluntary: f64,
    pub involuntary: f64,
    pub major_faults: f64,
    pub disk_read: f64,
    pub disk_written: f64,
}

#[derive(Default)]
pub struct Tree {
    pub members: BTreeMap<u32, Member>,
    pub totals: Totals,
    /// Whether the kernel accounts (and reveals) the waiting time.
    pub has_waited: bool,
    pub has_switches: bool,
    pub has_disk: bool,
    /// A process with too many threads to sample.
    pub crowded: Option<String>,
    begun: bool,
}

/// User and system time in ticks.
type Pair = (f64, f64);

impl Tree {
    /// Reads the whole family. `limits` says whether to reread what seldom changes.
    pub fn look(&mut self, files: &mut Files, census: &mut Census, family: &BTreeSet<u32>, limits: bool) {
        let mut before = std::mem::take(&mut self.members);
        (self.has_waited, self.has_switches, self.has_disk, self.crowded) = (true, true, true, None);
        let mut waited: BTreeMap<u32, Pair> = BTreeMap::new();
        for pid in family {
            let Some(stat) = Stat::of(files, *pid) else { continue };
            if census.start(*pid) != Some(stat.start) {
                census.correct(*pid, &stat);
                continue;
            }
            let Some(seen) = Seen::of(files, *pid, stat) else { continue };
            let old = match before.remove(pid) {
                Some(old) if old.seen.stat.start == seen.stat.start => Some(old),
                Some(other) => {
                    before.insert(*pid, other);
                    None
                }
                None => None,
            };
            let zero = Seen::default();
            let from = match &old {
                Some(old) => &old.seen,
                // All of its usage is since the previous sample.
                None if census.born(*pid) && self.begun => &zero,
                // It existed before it was first sampled.
                None => &seen,
            };
            let rise = |now: u64, then: u64| now.saturating_sub(then) as f64;
            let own: Pair = (rise(seen.stat.user, from.stat.user), rise(seen.stat.system, from.stat.system));
            let children = (
                rise(seen.stat.waited_user, from.stat.waited_user),
                rise(seen.stat.waited_system, from.stat.waited_system),
            );
            waited.insert(*pid, children);
            let faults = rise(seen.stat.major_faults, from.stat.major_faults);
            let disk = seen.disk.map(|now| {
                let then = from.disk.unwrap_or_default();
                ((now.0 - then.0).max(0.0), (now.1 - then.1).max(0.0))
            });
            let busiest_ns = self.threads(&seen, from);
            self.totals.user += own.0;
            self.totals.system += own.1;
            self.totals.major_faults += faults;
            self.has_disk &= disk.is_some();
            self.totals.disk_read += disk.unwrap_or_default().0;
            self.totals.disk_written += disk.unwrap_or_default().1;
            let used = old.as_ref().map_or((0.0, 0.0), |old| old.used);
            let descriptor_limit = match &old {
                Some(old) if !limits => old.descriptor_limit,
                _ => descriptor_limit(files, *pid),
            };
            let name = match &old {
                Some(old) if !limits && old.looks > 1 => old.name.clone(),
                _ => name(files, *pid, &seen.stat.comm),
            };
            if seen.threads.is_none() {
                self.crowded = Some(format!("{name} {pid}"));
            }
            let looks = old.as_ref().map_or(0, |old| old.looks) + 1;
            let used = (used.0 + own.0, used.1 + own.1);
            self.members.insert(*pid, Member { name, seen, descriptor_limit, used, busiest_ns, looks });
        }
        let ended = self.of_the_ended(&before, &waited);
        self.totals.user += ended.0;
        self.totals.system += ended.1;
        self.begun = true;
    }

    /// Returns the usage of children that ended since the previous sample. Waiting for a child adds its whole life to
    /// its parent's account (`cutime`, `cstime`), so what was counted while the child lived is subtracted. Children
    /// that are not waited for (SIGCHLD ignored) or were reparented to the first process appear in no such account;
    /// their usage after their last sample is lost. The result is never negative.
    fn of_the_ended(&self, ended: &BTreeMap<u32, Member>, waited: &BTreeMap<u32, Pair>) -> Pair {
        let mut counted: BTreeMap<u32, Pair> = BTreeMap::new();
        for child in ended.values() {
            let mut parent = child.seen.stat.parent;
            // An ended parent was waited for in turn, so its account moved up. Each step leads to another process of
            // a finite tree; the bound is for numbers that were reused meanwhile.
            for _ in 0..ended.len() {
                match ended.get(&parent) {
                    Some(above) if !self.members.contains_key(&parent) => parent = above.seen.stat.parent,
                    _ => break,
                }
            }
            let stat = &child.seen.stat;
            let sum = counted.entry(parent).or_default();
            sum.0 += (stat.user + stat.waited_user) as f64;
            sum.1 += (stat.system + stat.waited_system) as f64;
        }
        waited.iter().fold((0.0, 0.0), |sum, (pid, waited)| {
            let counted = counted.get(pid).copied().unwrap_or_default();
            (sum.0 + (waited.0 - counted.0).max(0.0), sum.1 + (waited.1 - counted.1).max(0.0))
        })
    }

    /// Adds the usage of a process's threads and returns that of the busiest.
    fn threads(&mut self, seen: &Seen, from: &Seen) -> Option<f64> {
        let Some(threads) = &seen.threads else {
            (self.has_waited, self.has_switches) = (false, false);
            return None;
        };
        // If the previous sample lacked the threads (too many), their whole lives would count as an increase of this
        // second.
        let is_newborn = from.stat.start == 0;
        if from.threads.is_none() && !is_newborn {
            (self.has_waited, self.has_switches) = (false, false);
            return None;
        }
        let before: HashMap<u32, Thread> = from.threads.iter().flatten().copied().collect();
        let mut busiest: Option<f64> = None;
        for (number, now) in threads {
            let then = before.get(number).copied().unwrap_or_default();
            // A smaller value means that the number was reused for a new thread.
            let rise = |now: u64, then: u64| if now < then { now as f64 } else { (now - then) as f64 };
            match now.ran_waited_ns {
                Some((ran, waited)) => {
                    let (ran_then, waited_then) = then.ran_waited_ns.unwrap_or_default();
                    self.totals.waited_ns += rise(waited, waited_then);
                    busiest = Some(busiest.unwrap_or(0.0).max(rise(ran, ran_then)));
                }
                None => self.has_waited = false,
            }
            match now.switches {
                Some((voluntary, involuntary)) => {
                    let then = then.switches.unwrap_or_default();
                    self.totals.voluntary += rise(voluntary, then.0);
                    self.totals.involuntary += rise(involuntary, then.1);
                }
                None => self.has_switches = false,
            }
        }
        busiest
    }

    /// Returns the number of CPUs that any of them may use.
    pub fn cpus(&self) -> u32 {
        let mut all = Mask::default();
        self.members.values().for_each(|member| all.add(&member.seen.cpus));
        all.count()
    }

    pub fn sum(&self, of: impl Fn(&Member) -> f64) -> f64 {
        self.members.values().map(of).sum()
    }
}
