//! Shortages on the load generator's machine.

use super::Sentences;
use crate::caution::Kind;
use plimsoll_plan::limit::OPEN_FILES;
use plimsoll_plan::phrase::{count, counted};

/// Ports below this are reserved for privileged programs.
const FIRST_PORT: u16 = 1_024;

/// `44 attempts failed on a, b`
pub fn attempts(attempts_count: u64, what: &str, hosts: &[String]) -> String {
    let on = if hosts.len() > 1 { format!(" on {}", hosts.join(", ")) } else { String::new() };
    format!("{} {what}{on}", counted(attempts_count, "attempt"))
}

/// `worker 3`, `worker 3 of machine 2`
pub fn worker(worker: u32, machine: Option<u32>) -> String {
    let of = machine.map_or(String::new(), |machine| format!(" of machine {machine}"));
    format!("worker {worker}{of}")
}

/// `44 attempts found none free on a, b; soft limit 256, hard limit 256`
pub fn descriptors(attempts_count: u64, hosts: &[String], [soft, hard]: [u64; 2], enough: u64) -> Sentences {
    let attempts = attempts(attempts_count, "found none free", hosts);
    let evidence = format!("{attempts}; soft limit {}, hard limit {}", count(soft), count(hard));
    Sentences::of(evidence).advising(match soft < hard {
        // Everything up to the hard limit was taken, unless the plan wants less.
        true => format!("remove the limit `{OPEN_FILES}` from the plan: {} are available", count(hard)),
        false => format!(
            "raise the hard limit (`ulimit -Hn {enough}` as root, `LimitNOFILE={enough}` in a systemd unit), or use \
             fewer than {} connections",
            count(soft)
        ),
    })
}

/// `44 attempts found none free; range 32768-60999, 28,232 ports`
pub fn ports(attempts_count: u64, hosts: &[String], range: Option<[u16; 2]>, keeps_alive: bool) -> Sentences {
    // Port numbers are names, not amounts: no commas.
    let facts = match range {
        Some([low, high]) => {
            let room = (u64::from(high) + 1).saturating_sub(low.into());
            format!("range {low}-{high}, {}", counted(room, "port"))
        }
        None => "unknown port range".to_owned(),
    };
    let mut ways = Vec::new();
    if !keeps_alive {
        ways.push(
            "keep connections open (remove `--no-keepalive`): each closed one holds its port for a minute",
        );
    }
    if range.is_none_or(|[low, high]| low > FIRST_PORT || high < u16::MAX) {
        ways.push(Kind::ClientPortsExhausted.advice());
    }
    ways.push("or use several load generators with `--shard`");
    Sentences::of(format!("{}; {facts}", attempts(attempts_count, "found none free", hosts)))
        .advising(ways.join("; ").trim_start_matches("or "))
}
