//! A process with its descendants as one account. Threads and processes come and go between two looks, so what the tree
//! has used is added up from what each of them used, never taken as a difference of sums.

use super::census::Census;
use super::one::{Mask, Seen, Stat, Thread, descriptor_limit, name};
use crate::monitor::files::Files;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One process of the tree.
pub struct Member {
    pub name: String,
    pub seen: Seen,
    pub descriptor_limit: Option<f64>,
    /// CPU time since the first look, ticks: (user, system).
    pub used: (f64, f64),
    /// Of its busiest thread since the look before, ns.
    pub busiest_ns: Option<f64>,
    /// Looks that it was seen in.
    pub looks: u32,
}

/// Totals since the first look. They only rise.
#[derive(Default)]
pub struct Totals {
    /// Ticks.
    pub user: f64,
    pub system: f64,
    /// All threads' time of being ready to run without a CPU, ns.
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
    /// Which of the totals a kernel (or its refusal) leaves without an account.
    pub has_waited: bool,
    pub has_switches: bool,
    pub has_disk: bool,
    /// A process with so many threads that they are not looked at singly.
    pub crowded: Option<String>,
    begun: bool,
}

/// (user, system) in ticks.
type Pair = (f64, f64);

impl Tree {
    /// Reads all of the family. `limits` says whether what seldom changes is read again.
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
                // All that it has used was used since the look before.
                None if census.born(*pid) && self.begun => &zero,
                // It has been there for longer than it has been looked at.
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

    /// What children used that ended since the look before. Waiting for a child adds its whole life to its parent's
    /// account of children (`cutime`, `cstime`), so what was counted of the child while it lived comes off. Children
    /// that nobody waits for (SIGCHLD ignored) or that were given to the first process of the machine are in no such
    /// account: what they used after their last look is lost, and never is the sum negative.
    fn of_the_ended(&self, ended: &BTreeMap<u32, Member>, waited: &BTreeMap<u32, Pair>) -> Pair {
        let mut counted: BTreeMap<u32, Pair> = BTreeMap::new();
        for child in ended.values() {
            let mut parent = child.seen.stat.parent;
            // Whoever had ended as well was waited for in its turn: the account went up. Each step is to another
            // process of a finite tree; the bound is for numbers that were given to others meanwhile.
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

    /// Adds up what the threads of a process did, and returns what the busiest of them ran.
    fn threads(&mut self, seen: &Seen, from: &Seen) -> Option<f64> {
        let Some(threads) = &seen.threads else {
            (self.has_waited, self.has_switches) = (false, false);
            return None;
        };
        // A look without its threads (too many) knows no accounts: whole lives would be a rise of this second.
        let is_newborn = from.stat.start == 0;
        if from.threads.is_none() && !is_newborn {
            (self.has_waited, self.has_switches) = (false, false);
            return None;
        }
        let before: HashMap<u32, Thread> = from.threads.iter().flatten().copied().collect();
        let mut busiest: Option<f64> = None;
        for (number, now) in threads {
            let then = before.get(number).copied().unwrap_or_default();
            // A number that was given to a new thread has a smaller account than it had.
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

    /// CPUs that any of them may run on.
    pub fn cpus(&self) -> u32 {
        let mut all = Mask::default();
        self.members.values().for_each(|member| all.add(&member.seen.cpus));
        all.count()
    }

    pub fn sum(&self, of: impl Fn(&Member) -> f64) -> f64 {
        self.members.values().map(of).sum()
    }
}
