//! The service went away: it had answered, and then nothing succeeded any more for a while.

use super::Case;
use crate::cause::{Cause, Claim, Kind};
use crate::phrase::{chosen_ns, count};
use crate::summary::{ErrorRow, Second};

/// Seconds without a success that are no outage: one may be cut by its edges.
const LEAST: usize = 2;
/// As good as nothing succeeded.
const NONE: f64 = 0.01;

pub(super) fn gone(case: &Case) -> Option<Cause> {
    let s = case.s;
    let seconds: Vec<&Second> = s.timeline.iter().filter(|second| !second.warmup).collect();
    let good =
        |second: &Second| second.requests.saturating_sub(second.errors) as f64 / second.length_s.max(0.001);
    let usual = seconds.iter().map(|second| good(second)).fold(0.0, f64::max);
    if usual < 5.0 {
        return None;
    }
    // Somebody asked: requests failed, or are in flight.
    let is_dead =
        |second: &&Second| good(second) <= usual * NONE && (second.errors > 0 || second.in_flight > 0.5);
    let first = seconds.iter().position(|second| good(second) > usual * NONE)?;
    let (mut best, mut run) = (0..0, first..first);
    for (at, second) in seconds.iter().enumerate().skip(first) {
        run = if is_dead(second) { run.start..at + 1 } else { at + 1..at + 1 };
        if run.len() > best.len() {
            best = run.clone();
        }
    }
    let dead = seconds.get(best.clone()).filter(|dead| dead.len() >= LEAST)?;
    let failed: u64 = dead.iter().map(|second| second.errors).sum();
    let waiting: f64 = dead.iter().map(|second| second.in_flight).fold(0.0, f64::max);
    let from_s = dead.first().map_or(0.0, |second| second.from_s);
    let to_s = dead.last().map_or(0.0, |second| second.from_s + second.length_s);
    let at = |s: f64| chosen_ns((s * 1e9).round() as u64);
    let is_end = best.end == seconds.len();
    let until = if is_end { "to the end".to_owned() } else { format!("to {}", at(to_s)) };
    let how = how(&s.errors).filter(|_| failed > 0);
    let sentence = match how {
        Some("connect_refused") => "the service went away: nothing listens on its port",
        Some("http_status") => "the service answers only with errors",
        Some("timeout") | None => "the service stopped answering",
        Some(_) => "the service went away",
    };
    let evidence = format!(
        "no request succeeded from {} {until}; {} failed then, {} were waiting",
        at(from_s),
        count(failed),
        count(waiting.round() as u64)
    );
    Some(Kind::ServiceGone.claim(Claim::Certain, evidence).saying(sentence))
}

/// The class of failure that says most of how it went; ended connections are only the beginning.
fn how(errors: &[ErrorRow]) -> Option<&'static str> {
    let ends = ["stale_connection", "reset", "closed_before_response", "closed_mid_response"];
    let telling = errors.iter().filter(|row| !ends.contains(&row.class)).max_by_key(|row| row.count);
    telling.or_else(|| errors.first()).map(|row| row.class)
}
