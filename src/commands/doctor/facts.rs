//! Facts about this machine, read from the kernel; the parent module rates them.

use super::cgroup;
use plimsoll_engine::machine;

/// Facts; unknown ones are `None`, because a container may hide parts of `/proc` and `/sys`.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Limits of open file descriptors: soft (before a run raises it) and hard.
    pub nofile: (u64, u64),
    pub ports: (u16, u16),
    pub tw_reuse: Option<u64>,
    pub fin_timeout_s: Option<u64>,
    pub somaxconn: Option<u64>,
    pub cpus: u32,
    /// CPU time limit of the cgroup, in cores.
    pub cpu_quota: Option<f64>,
    pub memory: u64,
    pub memory_limit: Option<u64>,
    pub clock_source: String,
    pub kernel: String,
    /// Whether sleeps have nanosecond precision.
    pub precise_sleep: bool,
    pub steal_ratio: Option<f64>,
    pub congestion: Option<String>,
    pub timer_slack_ns: Option<u32>,
}

impl Facts {
    pub fn of_this_machine() -> Self {
        // Raising the limit has no side effects here; the result contains the previous one.
        let nofile = machine::raise_nofile();
        let own_groups = text("/proc/self/cgroup").unwrap_or_default();
        Self {
            nofile: (nofile.soft_found, nofile.hard),
            ports: machine::port_range(),
            tw_reuse: number("/proc/sys/net/ipv4/tcp_tw_reuse"),
            fin_timeout_s: number("/proc/sys/net/ipv4/tcp_fin_timeout"),
            somaxconn: number("/proc/sys/net/core/somaxconn"),
            cpus: machine::cpus(),
            cpu_quota: cgroup::cpu_quota(&own_groups, &text),
            memory: machine::memory_bytes(),
            memory_limit: cgroup::memory_limit(&own_groups, &text),
            clock_source: machine::clock_source(),
            kernel: machine::kernel(),
            precise_sleep: machine::has_epoll_pwait2(),
            steal_ratio: text("/proc/stat").and_then(|stat| steal_ratio(&stat)),
            congestion: text("/proc/sys/net/ipv4/tcp_congestion_control"),
            timer_slack_ns: number("/proc/self/timerslack_ns").and_then(|ns| ns.try_into().ok()),
        }
    }
}

/// Returns the share of CPU time since boot that the hypervisor gave to others. Columns of the `cpu` line (proc(5)):
/// user, nice, system, idle, iowait, irq, softirq, steal; user and nice include the guest columns after them.
fn steal_ratio(stat: &str) -> Option<f64> {
    let line = stat.lines().find(|line| line.starts_with("cpu "))?;
    let columns: Vec<u64> =
        line.split_ascii_whitespace().skip(1).take(8).filter_map(|n| n.parse().ok()).collect();
    let all: u64 = columns.iter().sum();
    Some(*columns.get(7)? as f64 / all.max(1) as f64)
}

fn text(path: &str) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

fn number(path: &str) -> Option<u64> {
    text(path)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_a_share_of_all_time_and_guests_are_not_counted_twice() {
        let stat = "cpu  40 0 10 40 0 0 0 10 40 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(steal_ratio(stat), Some(0.1));
        assert_eq!(steal_ratio("cpu  40 0 10\n"), None);
    }
}
