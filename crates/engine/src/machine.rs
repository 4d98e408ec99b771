//! Facts about the machine that makes the load, for the record and for `doctor`.

use crate::sys::{epoll, facts};
use std::net::IpAddr;

/// The limit on open descriptors, before and after.
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

/// Sets the soft limit to `most`, or to the hard limit when that is lower or `most` is 0.
pub fn set_nofile(most: u64) -> Nofile {
    let (soft_found, hard) = facts::nofile();
    let wanted = if most == 0 { hard } else { most.min(hard) };
    if soft_found != wanted {
        facts::set_nofile_soft(wanted);
    }
    // Asked again: the kernel may have refused.
    let (soft, hard) = facts::nofile();
    Nofile { soft_found, soft, hard }
}

/// Makes room for so many sockets beside what is open already. Call it before any thread is started.
///
/// The kernel doubles a process's table of descriptors when it is full (at 64, 256, 512, 1,024 ...), and a process with
/// threads waits for an RCU grace period each time: 10 to 15 ms in `socket`, in the middle of a run, for every worker.
/// The table never shrinks, so one copy at a high number, closed at once, makes it large while nobody waits.
pub fn reserve_descriptors(sockets: u64) {
    /// Standard streams, the run file, a few for each worker.
    const BESIDE: u64 = 128;
    let (soft, _) = facts::nofile();
    // A refusal costs those waits and nothing else.
    facts::reach_descriptor((sockets + BESIDE).min(soft.saturating_sub(1)));
}

/// Addresses of this machine's interfaces, loopback included.
pub fn local_addresses() -> Vec<IpAddr> {
    facts::local_addresses()
}

/// CPUs this process may use (affinity and cgroup quota respected).
pub fn cpus() -> u32 {
    facts::cpus()
}

/// CPUs of the machine that are switched on, whether this process may use them or not.
pub fn cpus_online() -> u32 {
    facts::cpus_online()
}

/// Name and release.
pub fn kernel() -> String {
    facts::kernel_and_host().0
}

pub fn host() -> String {
    facts::kernel_and_host().1
}

pub fn cpu_model() -> String {
    field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// All memory of the machine; 0 when the kernel does not say.
pub fn memory_bytes() -> u64 {
    field("/proc/meminfo", "MemTotal")
        .and_then(|v| v.split_ascii_whitespace().next().and_then(|n| n.parse::<u64>().ok()))
        .map_or(0, |kib| kib * 1024)
}

/// Local ports that outgoing connections use, both ends included; (0, 0) when the kernel does not say.
pub fn port_range() -> (u16, u16) {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut ports = text.split_ascii_whitespace().filter_map(|p| p.parse().ok());
    (ports.next().unwrap_or(0), ports.next().unwrap_or(0))
}

/// Whether sleeps can be given in nanoseconds (Linux 5.11).
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
