//! Facts about the load generator's machine, for the run file and for `doctor`.

use crate::sys::{epoll, facts};
use std::net::IpAddr;

/// The limit on open files, before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nofile {
    pub soft_found: u64,
    pub soft: u64,
    pub hard: u64,
}

/// Raises the soft limit to the hard one, and never the hard one.
pub fn raise_nofile() -> Nofile {
    set_nofile(0)
}

/// Sets the soft limit to `most`, or to the hard limit if that is lower or `most` is 0.
pub fn set_nofile(most: u64) -> Nofile {
    let (soft_found, hard) = facts::nofile();
    let wanted = if most == 0 { hard } else { most.min(hard) };
    if soft_found != wanted {
        facts::set_nofile_soft(wanted);
    }
    // Read again: the kernel may have refused.
    let (soft, hard) = facts::nofile();
    Nofile { soft_found, soft, hard }
}

/// Makes room for `sockets` sockets in addition to the files already open. Call it before any thread is started.
///
/// The kernel doubles a process's table of file descriptors when it is full (at 64, 256, 512, 1,024 ...), and a process
/// with threads waits for an RCU grace period each time: 10 to 15 ms in `socket`, during a run, for every worker. The
/// table never shrinks, so one copy at a high number, closed immediately, enlarges it before a wait can do harm.
pub fn reserve_descriptors(sockets: u64) {
    /// Standard streams, the run file, a few for each worker.
    const BESIDE: u64 = 128;
    let (soft, _) = facts::nofile();
    // If the kernel refuses, the only cost is those waits.
    facts::reach_descriptor((sockets + BESIDE).min(soft.saturating_sub(1)));
}

/// Returns the addresses of this machine's interfaces, including loopback.
pub fn local_addresses() -> Vec<IpAddr> {
    facts::local_addresses()
}

/// Returns the number of CPUs this process may use (affinity and cgroup quota respected).
pub fn cpus() -> u32 {
    facts::cpus()
}

/// Returns the number of the machine's online CPUs, whether this process may use them or not.
pub fn cpus_online() -> u32 {
    facts::cpus_online()
}

/// Returns the kernel's name and release.
pub fn kernel() -> String {
    facts::kernel_and_host().0
}

pub fn host() -> String {
    facts::kernel_and_host().1
}

/// Returns the random name of the boot of the kernel; empty if the kernel does not report it.
pub fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    text.map_or_else(|_| String::new(), |text| text.trim().to_owned())
}

pub fn cpu_model() -> String {
    field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// Returns the total memory of the machine; 0 if the kernel does not report it.
pub fn memory_bytes() -> u64 {
    field("/proc/meminfo", "MemTotal")
        .and_then(|v| v.split_ascii_whitespace().next().and_then(|n| n.parse::<u64>().ok()))
        .map_or(0, |kib| kib * 1024)
}

/// Returns the memory that this process may still allocate, within the limits of the machine, the process, and its
/// control groups; `u64::MAX` if none of them reports a value.
pub fn memory_left_bytes() -> u64 {
    let kib = |path: &str, name: &str| {
        let value = field(path, name)?;
        Some(value.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 1_024)
    };
    let (addresses, data) = facts::memory_limits();
    let left = |limit: u64, name: &str| match limit {
        u64::MAX => u64::MAX,
        limit => limit.saturating_sub(kib("/proc/self/status", name).unwrap_or(0)),
    };
    [
        kib("/proc/meminfo", "MemAvailable").unwrap_or(u64::MAX),
        left(addresses, "VmSize"),
        left(data, "VmData"),
        group_left_bytes(),
    ]
    .into_iter()
    .fold(u64::MAX, u64::min)
}

/// Returns the memory left in the control groups of this process and their ancestors; `u64::MAX` without a limit.
fn group_left_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let mut least = u64::MAX;
    for line in text.lines() {
        // `0::/path` in version 2, `7:memory:/path` in version 1 (cgroups(7)).
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, most, used) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            c if c.split(',').any(|c| c == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        let mut group = path.trim_end_matches('/');
        loop {
            let limit = number(&format!("{root}{group}/{most}"));
            let taken = number(&format!("{root}{group}/{used}"));
            least = least.min(limit.map_or(u64::MAX, |limit| limit.saturating_sub(taken.unwrap_or(0))));
            match group.rfind('/') {
                Some(at) => group = &group[..at],
                None => break,
            }
        }
    }
    least
}

/// Returns the range of ephemeral ports, both ends included; (0, 0) if the kernel does not report it.
pub fn port_range() -> (u16, u16) {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut ports = text.split_ascii_whitespace().filter_map(|p| p.parse().ok());
    (ports.next().unwrap_or(0), ports.next().unwrap_or(0))
}

/// Returns whether sleeps can be given in nanoseconds (Linux 5.11).
pub fn has_epoll_pwait2() -> bool {
    epoll::has_pwait2()
}

pub fn clock_source() -> String {
    std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .map_or_else(|_| "unknown".to_owned(), |s| s.trim().to_owned())
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|l| l.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
