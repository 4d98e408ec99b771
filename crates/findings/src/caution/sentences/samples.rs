//! What the samples cannot say, in words.

use super::Sentences;
use crate::caution::evidence::{StatusCount, ThinQuantile};
use plimsoll_plan::phrase::{count, counted, duration_ns, quantile_name, ratio};

/// `301 x 1,200, 302 x 3, not followed; the first led to /en/`
pub fn redirects(redirects: &[StatusCount], location: Option<&str>, leads_elsewhere: bool) -> Sentences {
    let counts: Vec<String> =
        redirects.iter().map(|one| format!("{} x {}", one.status, count(one.responses_count))).collect();
    let led = location.map_or(String::new(), |location| format!("; the first led to {location}"));
    let words = Sentences::of(format!("{}, not followed{led}", counts.join(", ")));
    match location.filter(|_| leads_elsewhere) {
        Some(elsewhere) => words.advising(format!(
            "test {elsewhere} itself: plimsoll never follows redirects to another host, port, or scheme"
        )),
        None => words,
    }
}

/// `4,311 samples for response_time p99.9; p99.9 needs 10,000`
pub fn thin(samples_count: u64, needed_count: u64, quantiles: &[ThinQuantile]) -> Sentences {
    let (Some(first), Some(last)) = (quantiles.first(), quantiles.last()) else {
        return Sentences::of(counted(samples_count, "sample"));
    };
    let name = |one: &ThinQuantile| quantile_name(one.quantile);
    let names: Vec<String> =
        quantiles
            .iter()
            .map(|one| {
                if one.subject == first.subject {
                    name(one)
                } else {
                    format!("{} {}", one.subject, name(one))
                }
            })
            .collect();
    let evidence = format!(
        "{} for {} {}; {} needs {}",
        counted(samples_count, "sample"),
        first.subject,
        names.join(", "),
        name(first),
        count(needed_count)
    );
    let (low, high) = (name(first), name(last));
    let range = if low == high { low } else { format!("{low} to {high}") };
    Sentences::of(evidence).titled(format!("too few samples for {range}"))
}

/// `120 segments retransmitted in 30,000 requests (0.4%)`
pub fn resent(segments: u64, requests: u64, resent_ratio: f64, is_same_machine: bool) -> Sentences {
    let words = Sentences::of(format!(
        "{} retransmitted in {} ({})",
        counted(segments, "segment"),
        counted(requests, "request"),
        ratio(resent_ratio)
    ));
    if !is_same_machine {
        return words;
    }
    words.titled("TCP segments were retransmitted on loopback").meaning("loopback itself loses no packets").advising(
        "look for a full listen queue (`nstat -az TcpExtListenDrops`), a process that stopped or got no CPU, or a \
         firewall rule that drops packets",
    )
}

/// `12 requests on a reused connection that the server closed before the first byte, idle for 5.00 s to 5.01 s before`
pub fn stale(requests: u64, idle: [Option<u64>; 2], is_in_use: bool) -> Sentences {
    let after = match idle {
        [Some(min), Some(max)] if max > 0 => {
            format!(" after {} to {} idle", duration_ns(min), duration_ns(max))
        }
        _ => String::new(),
    };
    let words = Sentences::of(format!(
        "{} on a reused connection that the server closed before the first byte{after}",
        counted(requests, "request")
    ));
    if !is_in_use {
        return words;
    }
    words.titled("the server closed connections in use").meaning("no idle timeout closed these connections").advising(
        "check the log of the server or its proxy for a worker that ended, a restart, or a limit on requests per \
         connection",
    )
}
