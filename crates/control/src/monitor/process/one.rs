//! One process as `/proc/PID` tells it (proc(5)).

use crate::monitor::files::{Files, field};

/// `/proc/PID/stat`. Times are in ticks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stat {
    pub comm: String,
    pub parent: u32,
    pub major_faults: u64,
    pub user: u64,
    pub system: u64,
    /// Of children that have ended and were waited for, with all that those had waited for.
    pub waited_user: u64,
    pub waited_system: u64,
    pub threads: u64,
    /// Ticks after the boot. A number that is given to another process later has another start.
    pub start: u64,
}

impl Stat {
    pub fn parse(text: &str) -> Option<Stat> {
        // The name is in parentheses and may hold parentheses and spaces itself.
        let (head, rest) = text.rsplit_once(')')?;
        let comm = head.split_once('(')?.1.to_owned();
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        // proc(5) numbers the fields from 1; the state, field 3, is the first after the name.
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

/// What one thread has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Thread {
    /// Run, and ready to run while no CPU was free, ns; nothing from a kernel without that account.
    pub ran_waited_ns: Option<(u64, u64)>,
    /// Context switches, voluntary and not.
    pub switches: Option<(u64, u64)>,
}

/// One look at one process.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub stat: Stat,
    pub rss_bytes: f64,
    /// Private memory without file mappings: nothing of it is counted twice in a sum over processes.
    pub anon_bytes: f64,
    pub cpus: Mask,
    pub fds: Option<f64>,
    /// Read from the disk and written to it, bytes.
    pub disk: Option<(f64, f64)>,
    /// By number; nothing when they are too many to look at each second.
    pub threads: Option<Vec<(u32, Thread)>>,
}

/// Threads of one process that are looked at singly: each costs two small files.
const MOST_THREADS: u64 = 256;

impl Seen {
    /// `stat` has been read just now. Nothing when the process has gone meanwhile.
    pub fn of(files: &mut Files, pid: u32, stat: Stat) -> Option<Seen> {
        let status = files.text(&format!("/proc/{pid}/status"))?;
        // The context switches in it are the first thread's alone, whatever the name of the file promises.
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
                        // It ended between the list and here.
                        None => continue,
                    };
                    all.push((number, thread(files, &folder, own)));
                }
                Some(all)
            }
            _ => None,
        };
        let disk = files.text(&format!("/proc/{pid}/io")).and_then(|io| {
            // What was cancelled (a file deleted before it was written back) never reached the disk.
            let kept = field(io, "write_bytes")? - field(io, "cancelled_write_bytes").unwrap_or(0.0);
            Some((field(io, "read_bytes")?, kept.max(0.0)))
        });
        let fds = descriptors(files, pid);
        Some(Seen { stat, rss_bytes, anon_bytes, cpus, fds, disk, threads })
    }
}

/// Open descriptors. Since Linux 6.2 their number is the size of the folder, which is one call; before, it is 0.
fn descriptors(files: &Files, pid: u32) -> Option<f64> {
    let folder = files.path(&format!("/proc/{pid}/fd"));
    match std::fs::metadata(&folder) {
        // A real folder on a disk (a recorded tree) has a size of its own: the kernel's has no blocks.
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
    // Nanoseconds run, nanoseconds ready, number of turns.
    let ran_waited_ns = files.text(&format!("{folder}/schedstat")).and_then(|text| {
        let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    });
    Thread { ran_waited_ns, switches }
}

/// Soft limit of descriptors; nothing when it is unlimited or unreadable.
pub fn descriptor_limit(files: &mut Files, pid: u32) -> Option<f64> {
    let text = files.text(&format!("/proc/{pid}/limits"))?;
    let row = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    row.split_ascii_whitespace().next()?.parse().ok()
}

/// CPUs that a process may run on, a bit for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mask(Vec<u32>);

impl Mask {
    /// `Cpus_allowed` is words of 32 bits in hexadecimal, the highest first.
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

/// Name of a program from its arguments as `/proc/PID/cmdline` has them, ended by zeros: the last part of the first
/// one. Servers that write a title over their arguments (`nginx: worker process`) are called by its first word.
pub fn program(cmdline: &str) -> Option<&str> {
    let first = cmdline.split('\0').next()?;
    // A path may hold spaces, a title may hold slashes behind its first word.
    let name = if first.starts_with('/') { first.rsplit('/').next()? } else { first };
    let word = name.split_ascii_whitespace().next()?.rsplit('/').next()?;
    let word = word.trim_end_matches(':').trim_start_matches('-');
    (!word.is_empty()).then_some(word)
}

/// What reports call a process: its program, or what the kernel calls it.
pub fn name(files: &mut Files, pid: u32, comm: &str) -> String {
    let told = files.text(&format!("/proc/{pid}/cmdline")).and_then(program);
    told.unwrap_or(comm).to_owned()
}

const SCRIPTS: &[&str] =
    &[".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".php", ".pl", ".sh", ".jar", ".exs", ".lua"];

/// A command line that may be shown: the program and the script that it runs. Other arguments may be passwords.
pub fn describe(cmdline: &str) -> Option<String> {
    let program = program(cmdline)?;
    let mut script = None;
    for word in cmdline.split('\0').skip(1) {
        // After these the program's text itself is an argument.
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
