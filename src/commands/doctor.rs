//! `plimsoll doctor`: the limits of this machine that a load can reach, and how to raise each of them.

mod cgroup;
mod facts;

use crate::exit::{Exit, Failure};
use crate::{flags, say};
use facts::Facts;
use plimsoll_output::doctor::{DoctorRow, State, render};
use plimsoll_output::format;

/// Enough for 50,000 connections and the rest of the process.
const NOFILE_AMPLE: u64 = 65_536;
/// Number of ports in the kernel's default range, 32768 to 60999.
const PORTS_USUAL: u32 = 28_232;

pub fn command(flags: &flags::verbs::Doctor) -> Result<Exit, Failure> {
    say::result(&render(&rows_of_this_machine(), &say::look_of_results(flags.no_color)))?;
    Ok(Exit::Pass)
}

/// Returns the rated facts about this machine.
pub fn rows_of_this_machine() -> Vec<DoctorRow> {
    rows(&Facts::of_this_machine())
}

/// Rates the facts. A row is bad if results will suffer, and a notice if some may.
pub fn rows(facts: &Facts) -> Vec<DoctorRow> {
    let mut rows = vec![nofile(facts), ports(facts), tw_reuse(facts), fin_timeout(facts), somaxconn(facts)];
    rows.extend([cores(facts), memory(facts), clock(facts), kernel(facts), steal(facts)]);
    rows.extend([congestion(facts), timer_slack(facts)]);
    rows
}

fn row(name: &str, value: String, state: State, advice: impl Into<Option<String>>) -> DoctorRow {
    DoctorRow { name: name.into(), value, state, advice: advice.into() }
}

fn nofile(facts: &Facts) -> DoctorRow {
    let (soft, hard) = facts.nofile;
    let value = format!("{} (hard {})", format::count(soft), format::count(hard));
    let fix = || {
        format!(
            "each connection uses a file descriptor; raise the hard limit before the start: `ulimit -Hn \
             {NOFILE_AMPLE}` as root, `* hard nofile {NOFILE_AMPLE}` in /etc/security/limits.conf, \
             `LimitNOFILE={NOFILE_AMPLE}` in a systemd unit, or `--ulimit nofile={NOFILE_AMPLE}` for a container"
        )
    };
    match hard {
        0..1_024 => row("open files", value, State::Bad, fix()),
        1_024..NOFILE_AMPLE => row("open files", value, State::Notice, fix()),
        _ if soft < hard => {
            // Explained, because a shell shows the soft limit.
            row(
                "open files",
                value,
                State::Good,
                Some("a run raises the soft limit to the hard limit".into()),
            )
        }
        _ => row("open files", value, State::Good, None),
    }
}

fn ports(facts: &Facts) -> DoctorRow {
    let (low, high) = facts.ports;
    let count = u32::from(high).saturating_sub(u32::from(low)) + 1;
    let value = format!("{low}–{high} ({} per target address and port)", format::count(count.into()));
    let fix = || {
        "without keep-alive, each request occupies a port for one minute; widen the range: \
         `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`"
            .to_owned()
    };
    match count {
        0..5_000 => row("ephemeral ports", value, State::Bad, fix()),
        5_000..PORTS_USUAL => row("ephemeral ports", value, State::Notice, fix()),
        _ => row("ephemeral ports", value, State::Good, None),
    }
}

fn tw_reuse(facts: &Facts) -> DoctorRow {
    let name = "ports in TIME_WAIT";
    match facts.tw_reuse {
        None => row(name, "unknown".into(), State::Notice, None),
        Some(0) => row(
            name,
            "not reused (tcp_tw_reuse 0)".into(),
            State::Notice,
            "without keep-alive, ports run out at about 470 req/s; reuse them: `sysctl -w net.ipv4.tcp_tw_reuse=1`"
                .to_owned(),
        ),
        Some(2) => row(name, "reused on loopback (tcp_tw_reuse 2)".into(), State::Good, None),
        Some(n) => row(name, format!("reused (tcp_tw_reuse {n})"), State::Good, None),
    }
}

fn fin_timeout(facts: &Facts) -> DoctorRow {
    let value = facts.fin_timeout_s.map_or("unknown".into(), |s| format!("{s} s (tcp_fin_timeout)"));
    row("half-closed connections", value, State::Good, None)
}

fn somaxconn(facts: &Facts) -> DoctorRow {
    let name = "listen queue";
    match facts.somaxconn {
        None => row(name, "unknown".into(), State::Notice, None),
        Some(n) if n < 1_024 => row(
            name,
            format!("{} (somaxconn)", format::count(n)),
            State::Notice,
            "a service on this machine cannot queue more new connections; raise the limit: `sysctl -w \
             net.core.somaxconn=4096`"
                .to_owned(),
        ),
        Some(n) => row(name, format!("{} (somaxconn)", format::count(n)), State::Good, None),
    }
}

fn cores(facts: &Facts) -> DoctorRow {
    let cores = format!("{} usable", facts.cpus);
    match facts.cpu_quota {
        Some(quota) if quota < f64::from(facts.cpus) => row(
            "cores",
            format!("{cores}, limited to {} by the cgroup", format::quantity(quota)),
            State::Notice,
            "the kernel throttles workers that exceed the quota; raise it, or set `-t` to the number of whole cores"
                .to_owned(),
        ),
        _ if facts.cpus < 2 => row(
            "cores",
            cores,
            State::Notice,
            "with one core, the load generator and a local service compete for CPU; load from another machine"
                .to_owned(),
        ),
        _ => row("cores", cores, State::Good, None),
    }
}

fn memory(facts: &Facts) -> DoctorRow {
    let limit = facts.memory_limit.filter(|limit| *limit < facts.memory);
    let value = match limit {
        Some(limit) => format!("{} (cgroup limit {})", format::bytes(facts.memory), format::bytes(limit)),
        None => format::bytes(facts.memory),
    };
    if limit.unwrap_or(facts.memory) < 128 << 20 {
        let advice = "the kernel may kill the process during a run; provide 128 MiB or more".to_owned();
        row("memory", value, State::Notice, advice)
    } else {
        row("memory", value, State::Good, None)
    }
}

fn clock(facts: &Facts) -> DoctorRow {
    let slow = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"].contains(&facts.clock_source.as_str());
    if slow {
        let advice = "reading this clock is a slow system call; use a kernel or a host that offers `tsc`, see \
                      /sys/devices/system/clocksource/clocksource0/available_clocksource";
        row("clock", facts.clock_source.clone(), State::Bad, advice.to_owned())
    } else {
        row("clock", facts.clock_source.clone(), State::Good, None)
    }
}

fn kernel(facts: &Facts) -> DoctorRow {
    if facts.precise_sleep {
        row("kernel", facts.kernel.clone(), State::Good, None)
    } else {
        let advice = "older than 5.11, or epoll_pwait2 is blocked: sleeps are rounded to milliseconds, and workers \
                      busy-poll longer before a send";
        row("kernel", facts.kernel.clone(), State::Notice, advice.to_owned())
    }
}

fn steal(facts: &Facts) -> DoctorRow {
    let name = "steal since boot";
    match facts.steal_ratio {
        None => row(name, "unknown".into(), State::Notice, None),
        Some(ratio) if ratio > 0.05 => row(
            name,
            format::ratio(ratio),
            State::Notice,
            "the hypervisor gives this CPU time to others; expect late sends and long tails that the service does not \
             cause"
                .to_owned(),
        ),
        Some(ratio) => row(name, format::ratio(ratio), State::Good, None),
    }
}

fn congestion(facts: &Facts) -> DoctorRow {
    row("congestion control", facts.congestion.clone().unwrap_or_else(|| "unknown".into()), State::Good, None)
}

fn timer_slack(facts: &Facts) -> DoctorRow {
    let value = facts.timer_slack_ns.map_or("unknown".into(), |ns| format::duration_ns(ns.into()));
    row("timer slack", value, State::Good, Some("workers set their own to the minimum".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn healthy() -> Facts {
        Facts {
            nofile: (1_048_576, 1_048_576),
            ports: (32_768, 60_999),
            tw_reuse: Some(2),
            fin_timeout_s: Some(60),
            somaxconn: Some(4_096),
            cpus: 8,
            cpu_quota: None,
            memory: 16 << 30,
            memory_limit: None,
            clock_source: "tsc".into(),
            kernel: "Linux 6.1".into(),
            precise_sleep: true,
            steal_ratio: Some(0.001),
            congestion: Some("cubic".into()),
            timer_slack_ns: Some(50_000),
        }
    }

    #[test]
    fn a_healthy_machine_gets_no_complaints() {
        assert!(rows(&healthy()).iter().all(|row| row.state == State::Good));
    }

    #[test]
    fn every_ailment_is_found_and_its_mend_named() {
        let ailing = |change: fn(&mut Facts)| {
            let mut facts = healthy();
            change(&mut facts);
            facts
        };
        let cases: [(Facts, &str); 9] = [
            (ailing(|f| f.nofile = (256, 256)), "ulimit -Hn 65536"),
            (ailing(|f| f.nofile = (1_024, 4_096)), "ulimit -Hn 65536"),
            (ailing(|f| f.ports = (60_000, 60_999)), "ip_local_port_range=\"1024 65535\""),
            (ailing(|f| f.tw_reuse = Some(0)), "tcp_tw_reuse=1"),
            (ailing(|f| f.somaxconn = Some(128)), "somaxconn=4096"),
            (ailing(|f| f.cpu_quota = Some(1.5)), "raise it, or set `-t`"),
            (ailing(|f| f.memory_limit = Some(64 << 20)), "128 MiB"),
            (ailing(|f| f.clock_source = "hpet".into()), "tsc"),
            (ailing(|f| f.precise_sleep = false), "5.11"),
        ];
        for (facts, fix) in cases {
            let complaints: Vec<_> =
                rows(&facts).into_iter().filter(|row| row.state != State::Good).collect();
            assert_eq!(complaints.len(), 1, "{fix}");
            assert!(complaints[0].advice.as_ref().is_some_and(|a| a.contains(fix)), "{fix}: {complaints:?}");
        }
    }
}
