//! One generator, run once: pinned, watched until it ends, its CPU and its peak memory taken from the kernel.

use super::Context;
use nix::sys::resource::{UsageWho, getrusage};
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How the kernel says that a generator was.
pub struct Ended {
    /// Exit code; nothing when a signal ended it.
    pub code: Option<i32>,
    pub user_s: f64,
    pub system_s: f64,
    /// Highest resident memory of the process and its children, as last seen (looked at every 20 ms).
    pub peak_rss_kib: u64,
}

impl Ended {
    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// A process that ends with its round.
pub struct Owned(pub Child);

impl Owned {
    pub fn start(command: &mut Command) -> Result<Owned, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).spawn().map(Owned).map_err(|e| format!("cannot start `{name}`: {e}"))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program on one core. `core` is left out where there is only one.
pub fn spawn(
    context: &Context,
    core: usize,
    program: &Path,
    arguments: &[String],
    log: &str,
) -> Result<Child, String> {
    let path = context.folder.join("log").join(format!("{log}.out"));
    let cannot = |e: std::io::Error| format!("cannot start `{}`: {e}", program.display());
    let out = File::create(&path).map_err(|e| format!("cannot write `{}`: {e}", path.display()))?;
    let err = out.try_clone().map_err(cannot)?;
    let mut command = pinned(context, core, program);
    // Its own folder: some tools leave files where they stand.
    command.args(arguments).current_dir(&context.folder).stdin(Stdio::null()).stdout(out).stderr(err);
    command.spawn().map_err(cannot)
}

/// A command that will run on `core`. `taskset` replaces itself by the program: one process, one pid.
pub fn pinned(context: &Context, core: usize, program: &Path) -> Command {
    if !context.pinned {
        return Command::new(program);
    }
    let mut command = Command::new("taskset");
    command.arg("-c").arg(core.to_string()).arg(program);
    command
}

/// Runs a generator to its end, or kills it `secs` x 3 + 20 s after the start.
pub fn run(
    context: &Context,
    program: &Path,
    arguments: &[String],
    log: &str,
    secs: u32,
) -> Result<Ended, String> {
    // RUSAGE_CHILDREN counts children that were waited for. The server is not one of them until it is stopped, so
    // the difference around this wait is the generator (with its own children), start-up included.
    let before = children_cpu()?;
    let mut child = spawn(context, 0, program, arguments, log)?;
    let deadline = Instant::now() + Duration::from_secs(u64::from(secs) * 3 + 20);
    let mut peak_rss_kib = 0;
    let status = loop {
        peak_rss_kib = peak_rss_kib.max(memory_kib(child.id(), "VmHWM:"));
        match child.try_wait().map_err(|e| format!("cannot wait for `{log}`: {e}"))? {
            Some(status) => break status,
            None if Instant::now() > deadline => kill(&mut child)?,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let after = children_cpu()?;
    Ok(Ended { code: status.code(), user_s: after.0 - before.0, system_s: after.1 - before.1, peak_rss_kib })
}

pub fn kill(child: &mut Child) -> Result<(), String> {
    child.kill().map_err(|e| format!("cannot kill a generator: {e}"))
}

fn children_cpu() -> Result<(f64, f64), String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|e| format!("cannot read CPU times: {e}"))?;
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
    Ok((seconds(usage.user_time()), seconds(usage.system_time())))
}

/// A field of `/proc/PID/status` in KiB, summed over the process and its children. A process that has just gone
/// counts nothing: that is the ordinary end of every measurement, not an error.
pub fn memory_kib(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    let own: u64 = line.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    own + children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .map(|pid| memory_kib(pid, field))
        .sum::<u64>()
}

/// The last lines that a generator said, for the sentence about why it failed.
pub fn last_words(context: &Context, log: &str) -> String {
    let path = context.folder.join("log").join(format!("{log}.out"));
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join("\n")
}
