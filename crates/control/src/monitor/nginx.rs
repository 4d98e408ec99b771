//! Monitor of nginx: its status page of counters, and its access log, which shows latency from the server's side.

mod log;
mod times;

use super::http::Getter;
use super::previous_counters::{Page, PreviousCounters};
use super::probe::{Found, Moment, MonitorError, Probe};
use super::trust::Trust;
use crate::reach::Deadline;
use log::{Lines, Log};
use plimsoll_plan::watch;
use plimsoll_plan::watch::Unit;
use times::Times;

/// Reads one server and one log.
pub struct Nginx {
    status: Option<Result<Getter, MonitorError>>,
    log: Option<Log>,
    previous: PreviousCounters,
    /// Time of the last read of the log.
    then: Option<Moment>,
}

impl Nginx {
    pub fn new(nginx: &watch::Nginx, trust: &Trust) -> Nginx {
        Nginx {
            // An invalid address is reported at each sample, like all other errors.
            status: nginx.status.as_ref().map(|url| Getter::new(url.reveal(), trust)),
            log: nginx.access_log.as_ref().map(|path| Log::new(path)),
            previous: PreviousCounters::default(),
            then: None,
        }
    }
}

impl Probe for Nginx {
    fn asks(&self) -> Vec<(String, u16)> {
        self.status.iter().flatten().map(Getter::asks).collect()
    }

    fn look(&mut self, at: Moment) -> Result<Found, MonitorError> {
        let mut page = PreviousCounters::page(at);
        let mut facts = Vec::new();
        // The page first: if it is unavailable, the log stays for the next sample and no line is lost.
        if let Some(getter) = &mut self.status {
            let getter = getter.as_mut().map_err(|trouble| trouble.clone())?;
            let answer = getter.get(Deadline::of_a_look())?;
            if answer.status != 200 {
                return Err(getter.trouble(&format!("status {}", answer.status)));
            }
            let text = String::from_utf8_lossy(&answer.body);
            counters(&text, &mut page).ok_or_else(|| getter.trouble("not a `stub_status` page"))?;
            if !answer.server.is_empty() {
                facts.push(("server".to_owned(), answer.server));
            }
        }
        if let Some(log) = &mut self.log {
            // A log that does not exist yet has no lines of the time so far.
            let then = *self.then.get_or_insert(at);
            let lines = log.read()?;
            let span_s = (then != at).then(|| at.since_s(then));
            self.then = Some(at);
            if let Some(span_s) = span_s {
                logged(&lines, span_s, &mut page, &mut facts);
            }
        }
        Ok(Found { readings: self.previous.take(page), facts })
    }
}

/// Parses `Active connections: 2`, a line of names, `accepts handled requests` as numbers, and `Reading: 0 Writing: 1
/// Waiting: 1`.
fn counters(text: &str, page: &mut Page) -> Option<()> {
    let mut lines = text.lines();
    let active = lines.next()?.strip_prefix("Active connections:")?.trim().parse().ok()?;
    lines.next().filter(|names| names.contains("accepts handled requests"))?;
    let totals: Vec<f64> =
        lines.next()?.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [accepted, handled, requests, ..] = totals[..] else { return None };
    let states: Vec<&str> = lines.next()?.split_ascii_whitespace().collect();
    page.gauge("", "active", Unit::Count, None, active);
    for pair in states.chunks_exact(2) {
        let metric = match pair[0] {
            "Reading:" => "reading",
            "Writing:" => "writing",
            "Waiting:" => "waiting",
            _ => continue,
        };
        page.gauge("", metric, Unit::Count, None, pair[1].parse().ok()?);
    }
    page.counter("", "accepted", Unit::PerS, None, accepted);
    page.counter("", "handled", Unit::PerS, None, handled);
    // Closed immediately for lack of `worker_connections`.
    page.counter("", "dropped", Unit::PerS, None, accepted - handled);
    page.counter("", "requests", Unit::PerS, None, requests);
    Some(())
}

/// Adds what the lines since the last sample report.
fn logged(lines: &Lines, span_s: f64, page: &mut Page, facts: &mut Vec<(String, String)>) {
    let mut times = Times::default();
    lines.text.lines().for_each(|line| times.line(line));
    // Scales the number of lines of a sample by its share of the bytes.
    let per_s = |count: u64| count as f64 * lines.scale / span_s;
    page.gauge("", "logged_requests", Unit::PerS, None, per_s(times.lines));
    if lines.scale > 1.0 {
        let told = "too many lines per second: times come from a sample, and rates are extrapolated by bytes";
        facts.push(("access log".to_owned(), told.to_owned()));
    }
    if times.lines > 0 && times.request.is_empty() {
        let told = "no latency: its lines have no `request_time=`, `\"request_time\":`, or `reqtime:`";
        facts.push(("access log".to_owned(), told.to_owned()));
    }
    if times.has_status {
        page.gauge("", "status_4xx", Unit::PerS, None, per_s(times.status_4xx));
        page.gauge("", "status_5xx", Unit::PerS, None, per_s(times.status_5xx));
    }
    for (name, seconds) in
        [("request_time", &mut times.request), ("upstream_response_time", &mut times.upstream)]
    {
        if seconds.is_empty() {
            continue;
        }
        seconds.sort_unstable_by(f64::total_cmp);
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        page.gauge("", &format!("{name}_mean"), Unit::Seconds, None, mean);
        for (suffix, q) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)] {
            // The smallest value that at least this share does not exceed, which was actually logged.
            let rank = (q * seconds.len() as f64).ceil() as usize;
            let value = seconds[rank.clamp(1, seconds.len()) - 1];
            page.gauge("", &format!("{name}_{suffix}"), Unit::Seconds, None, value);
        }
    }
}
