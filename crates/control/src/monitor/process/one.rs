//! One process as described by `/proc/PID` (proc(5)).

use crate::monitor::files::{Files, field};

/// Content of `/proc/PID/stat`, with times in ticks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stat {
    pub comm: String,
    pub parent: u32,
    pub major_faults: u64,
    pub user: u64,
    pub system: u64,
    /// CPU time of ended children that were waited for, including their own waited-for children.
    pub waited_user: u64,
    pub waited_system: u64,
    pub threads: u64,
    /// Start time in ticks after boot, which distinguishes processes that had the same number.
    pub start: u64,
}

impl Stat {
    pub fn parse(text: &str) -> Option<Stat> {
        // The name is in parentheses and may contain parentheses and spaces.
        let (head, rest) = text.rsplit_once(')')?;
        let comm = head.split_once('(')?.1.to_owned();
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        // proc(5) numbers the fields from 1; the state, field 3, is the first one after the name.
        let number = |field: usize| words.get(field - 3)?.parse::<u64>().ok();
        Some(Stat {
            comm,
            parent: u32::try_from(number(4)?).ok()?,
            major_faults: number(12)?,
            user: number(14)?,
            system: number(15)?,
            waited_user: number(16)?,
            waited_system: number(17)?,
            threads: number(20)?,
            start: number(22)?,
        })
    }

    pub fn of(files: &mut Files, pid: u32) -> Option<Stat> {
        Stat::parse(files.text(&format!("/proc/{pid}/stat"))?)
    }
}

/// CPU usage of one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Thread {
    /// Time running and time waiting for a CPU, ns; `None` if the kernel does not account it.
    pub ran_waited_ns: Option<(u64, u64)>,
    /// Context switches, voluntary and involuntary.
    pub switches: Option<(u64, u64)>,
}

/// One sample of one process.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub stat: Stat,
    pub rss_bytes: f64,
    /// Private memory without file mappings, which can be summed over processes without counting anything twice.
    pub anon_bytes: f64,
    pub cpus: Mask,
    pub fds: Option<f64>,
    /// Bytes read from and written to disk.
    pub disk: Option<(f64, f64)>,
    /// Threads by number; `None` if they are too many to sample every second.
    pub threads: Option<Vec<(u32, Thread)>>,
}

/// Maximum number of threads of one process that are sampled, because each needs two small files.
const MOST_THREADS: u64 = 256;

impl Seen {
    /// Samples a process whose `stat` was just read. Returns `None` if it has ended meanwhile.
    pub fn of(files: &mut Files, pid: u32, stat: Stat) -> Option<Seen> {
        let status = files.text(&format!("/proc/{pid}/status"))?;
        // The context switches in this file are those of the first thread only.
        let first = switches(status);
        let kib = |name| field(status, name).map_or(0.0, |kib| kib * 1024.0);
        let (rss_bytes, anon_bytes) = (kib("VmRSS"), kib("RssAnon"));
        let cpus = Mask::parse(status).unwrap_or_default();
        let threads = match stat.threads {
            0 | 1 => Some(vec![(pid, thread(files, &format!("/proc/{pid}"), first))]),
            2..=MOST_THREADS => {
                let mut all = Vec::with_capacity(stat.threads as usize);
                for number in files.numbers(&format!("/proc/{pid}/task")) {
                    let folder = format!("/proc/{pid}/task/{number}");
                    let own = match files.text(&format!("{folder}/status")) {
                        _ if number == pid => first,
                        Some(status) => switches(status),
                        // The thread ended after it was listed.
                        None => continue,
                    };
                    all.push((number, thread(files, &folder, own)));
                }
                Some(all)
            }
            _ => None,
        };
        let disk = files.text(&format!("/proc/{pid}/io")).and_then(|io| {
            // Cancelled writes (a file deleted before it was written back) never reached the disk.
            let kept = field(io, "write_bytes")? - field(io, "cancelled_write_bytes").unwrap_or(0.0);
            Some((field(io, "read_bytes")?, kept.max(0.0)))
        });
        let fds = descriptors(files, pid);
        Some(Seen { stat, rss_bytes, anon_bytes, cpus, fds, disk, threads })
    }
}

/// Returns the number of open files. Since Linux 6.2 it is the size of the folder, which takes one call; before, the
/// size is 0.
fn descriptors(files: &Files, pid: u32) -> Option<f64> {
    let folder = files.path(&format!("/proc/{pid}/fd"));
    match std::fs::metadata(&folder) {
        // A real folder on a disk (a recorded tree) has a size, too, but unlike the kernel's it also has blocks.
        Ok(meta) if meta.len() > 0 && std::os::unix::fs::MetadataExt::blocks(&meta) == 0 => {
            Some(meta.len() as f64)
        }
        _ => Some(std::fs::read_dir(folder).ok()?.count() as f64),
    }
}

fn switches(status: &str) -> Option<(u64, u64)> {
    let count = |name| field(status, name).map(|count| count as u64);
    Some((count("voluntary_ctxt_switches")?, count("nonvoluntary_ctxt_switches")?))
}

fn thread(files: &mut Files, folder: &str, switches: Option<(u64, u64)>) -> Thread {
    // Nanoseconds running, nanoseconds waiting, number of time slices.
    let ran_waited_ns = files.text(&format!("{folder}/schedstat")).and_then(|text| {
        let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    });
    Thread { ran_waited_ns, switches }
}

/// Returns the soft limit of open files; `None` if unlimited or unreadable.
pub fn descriptor_limit(files: &mut Files, pid: u32) -> Option<f64> {
    let text = files.text(&format!("/proc/{pid}/limits"))?;
    let row = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    row.split_ascii_whitespace().next()?.parse().ok()
}

/// CPUs that a process may use, one bit each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mask(Vec<u32>);

impl Mask {
    /// Parses `Cpus_allowed`: 32-bit words in hexadecimal, the highest first.
    fn parse(status: &str) -> Option<Mask> {
        let words = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed:"))?.trim();
        let words: Option<Vec<u32>> =
            words.split(',').rev().map(|word| u32::from_str_radix(word, 16).ok()).collect();
        words.map(Mask)
    }

    pub fn add(&mut self, other: &Mask) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// Returns the program's name from the arguments in `/proc/PID/cmdline`, which end with zeros: the last path
/// component of the first one. A server that writes a title over its arguments (`nginx: worker process`) gets the
/// title's first word.
pub fn program(cmdline: &str) -> Option<&str> {
    let first = cmdline.split('\0').next()?;
    // A path may contain spaces, and a title may contain slashes after its first word.
    let name = if first.starts_with('/') { first.rsplit('/').next()? } else { first };
    let word = name.split_ascii_whitespace().next()?.rsplit('/').next()?;
    let word = word.trim_end_matches(':').trim_start_matches('-');
    (!word.is_empty()).then_some(word)
}

/// Returns the name of a process in reports: its program, or the kernel's name.
pub fn name(files: &mut Files, pid: u32, comm: &str) -> String {
    let told = files.text(&format!("/proc/{pid}/cmdline")).and_then(program);
    told.unwrap_or(comm).to_owned()
}

const SCRIPTS: &[&str] =
    &[".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".php", ".pl", ".sh", ".jar", ".exs", ".lua"];

/// Returns a command line that is safe to show: the program and its script. Other arguments may be passwords.
pub fn describe(cmdline: &str) -> Option<String> {
    let program = program(cmdline)?;
    let mut script = None;
    for word in cmdline.split('\0').skip(1) {
        // After these options, the next argument is the program text.
        if matches!(word, "-c" | "-e" | "-p" | "--eval" | "--print") {
            break;
        }
        let name = word.rsplit('/').next().unwrap_or_default();
        if !word.starts_with('-') && SCRIPTS.iter().any(|end| name.ends_with(end)) {
            script = Some(name);
            break;
        }
    }
    Some(script.map_or_else(|| program.to_owned(), |script| format!("{program} {script}")))
}
