//! Texts of the demo: before and after each part, the comparison table, and the next steps.

use super::Done;
use super::service::{CAPACITY_PER_S, PAUSE_MS, PERIOD_S, SERVICE_MS, WORKERS};
use plimsoll_analysis::summary::{Outcome, Summary};
use plimsoll_output::line::wrap;
use plimsoll_output::{Look, format};
use plimsoll_plan::seal::DEFAULT_BANDS_NS;
use std::fmt::Write;
use std::net::SocketAddr;

/// One load of the demo.
pub struct Part {
    /// Short name; part of the run file's name.
    pub name: &'static str,
    /// Head of the part's column.
    pub title: &'static str,
    pub users: Option<u32>,
    pub rate_per_s: Option<f64>,
    pub seconds: u64,
    pub thresholds: &'static [&'static str],
    pub shown_in_full: bool,
    /// What is about to happen, and what to expect.
    before: &'static str,
    after: fn(&Summary) -> String,
}

/// The same threshold for all parts, so that they are comparable.
const RULE: &str = "response_time p99 < 100ms";
/// The same threshold in ns, which is an edge of the latency buckets.
const RULE_NS: u64 = DEFAULT_BANDS_NS[0];

pub const PARTS: [Part; 3] = [
    Part {
        name: "closed",
        title: "8 users",
        users: Some(8),
        rate_per_s: None,
        seconds: 8,
        thresholds: &[RULE, "error_rate == 0%"],
        shown_in_full: false,
        before: "1. Closed model: 8 users; each waits for its response before it sends the next request, as with wrk, \
                 ab, and most tools.",
        after: closed,
    },
    Part {
        name: "open",
        title: "1,000/s",
        users: None,
        rate_per_s: Some(CAPACITY_PER_S as f64 * 0.5),
        // Ten thousand arrivals: enough for p99.9.
        seconds: 10,
        thresholds: &[RULE, "error_rate == 0%", "achieved >= 99%"],
        shown_in_full: true,
        before: "2. Open model: 1,000 arrivals/s, half the capacity, independent of response times, as with real \
                 visitors.",
        after: open,
    },
    Part {
        name: "overload",
        title: "2,600/s",
        users: None,
        rate_per_s: Some(CAPACITY_PER_S as f64 * 1.3),
        seconds: 6,
        thresholds: &[RULE, "error_rate == 0%", "achieved >= 99%"],
        shown_in_full: false,
        before: "3. Open model above capacity: 2,600 arrivals/s, 130% of what the service can handle.",
        after: overload,
    },
];

pub fn opening(address: SocketAddr, look: &Look) -> String {
    let text = format!(
        "A small service listens on {address}: {WORKERS} workers, {SERVICE_MS} ms per request, so its capacity is \
         {} req/s. It stalls for {PAUSE_MS} ms every {PERIOD_S} s. The demo loads it three times; each time, 99% of \
         the responses must arrive within 100 ms.",
        format::count(CAPACITY_PER_S.into())
    );
    wrapped(&text, 0, look)
}

pub fn before(part: &Part, look: &Look) -> String {
    format!("\n{}", wrapped(part.before, 3, look))
}

pub fn after(part: &Part, summary: &Summary, look: &Look) -> String {
    let text = format!("{}: {}", word(summary.verdict.result), (part.after)(summary));
    format!("   {}", wrapped(&text, 3, look))
}

/// Wraps text to the width of the window, indenting all lines but the first.
fn wrapped(text: &str, indent: usize, look: &Look) -> String {
    let lines = wrap(text, look.columns().saturating_sub(indent));
    lines.join(&format!("\n{:indent$}", "")) + "\n"
}

fn closed(s: &Summary) -> String {
    let slow: u64 =
        s.buckets.iter().filter(|b| b.up_to_ns.is_none_or(|ns| ns > RULE_NS)).map(|b| b.count).sum();
    // The users wait for the same stall and get their responses together, so a stall shows in one second.
    let pauses = s.timeline.iter().filter(|second| second.max_ns.is_some_and(|ns| ns > RULE_NS)).count();
    let paused_s = pauses as f64 * f64::from(PAUSE_MS) / 1e3;
    let rate_per_s = s.totals.requests as f64 / (s.totals.measured_s - paused_s).max(f64::MIN_POSITIVE);
    format!(
        "p99 is {}, yet the slowest response took {}. {} of {} responses took longer than 100 ms, because users that \
         wait for a stall to end send nothing (coordinated omission). An open model at the rate between stalls, {}, \
         would have had about {} arrivals in those stalls ({pauses} × {PAUSE_MS} ms).",
        format::quantile(s.response_time.quantile(0.99)),
        format::maybe_ns(s.response_time.max_ns),
        format::count(slow),
        format::count(s.totals.requests),
        format::rate_per_s(rate_per_s),
        format::count((rate_per_s * paused_s).round() as u64)
    )
}

fn open(s: &Summary) -> String {
    format!(
        "The same service, the same stalls, less load, and p99 is {}. Arrivals continued during the stalls, and each \
         request is timed from its intended start time.",
        format::quantile(s.response_time.quantile(0.99))
    )
}

fn overload(s: &Summary) -> String {
    let offered = s.offered.as_ref().map_or(0.0, |o| o.rate_per_s);
    format!(
        "{} offered, {} achieved. Requests beyond the capacity wait, so response times grow as long as the load lasts: \
         the median is {}, the maximum {}. Percentiles of such a run describe only its length, not the service.",
        format::rate_per_s(offered),
        format::rate_per_s(s.achieved.rate_per_s),
        format::quantile(s.response_time.quantile(0.5)),
        format::maybe_ns(s.response_time.max_ns)
    )
}

/// Returns a table with one column per part.
pub fn side_by_side(done: &[Done<'_>]) -> String {
    type Cell = fn(&Summary) -> String;
    let rows: [(&str, Cell); 7] = [
        ("offered", |s| s.offered.as_ref().map_or("-".into(), |o| format::rate_per_s(o.rate_per_s))),
        ("achieved", |s| format::rate_per_s(s.achieved.rate_per_s)),
        ("response p50", |s| format::quantile(s.response_time.quantile(0.5))),
        ("response p99", |s| format::quantile(s.response_time.quantile(0.99))),
        ("response max", |s| format::maybe_ns(s.response_time.max_ns)),
        ("service p99", |s| format::quantile(s.service_time.quantile(0.99))),
        ("verdict", |s| word(s.verdict.result).into()),
    ];
    let mut text = format!("\nSide by side{:>4}", "");
    // Writing to a string cannot fail.
    done.iter().for_each(|(part, _)| _ = write!(text, "{:>14}", part.title));
    text.push('\n');
    for (name, cell) in rows {
        let _ = write!(text, "  {name:<14}");
        done.iter().for_each(|(_, measured)| _ = write!(text, "{:>14}", cell(&measured.summary)));
        text.push('\n');
    }
    text
}

pub fn before_report(part: &Part) -> String {
    format!("\nFull report of the second load ({}):\n\n", part.title)
}

pub fn closing(done: &[Done<'_>]) -> String {
    let mut text = String::from("\nThe runs are saved:\n");
    for (_, measured) in done {
        let _ = writeln!(text, "  plimsoll report {}", measured.run_file.display());
    }
    text.push_str("\nNow load your own service:\n  plimsoll http://127.0.0.1:8080/ -r 100 -d 15s\n");
    text
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "PASS",
        Outcome::Fail => "FAIL",
        Outcome::Inconclusive => "INCONCLUSIVE",
        Outcome::Interrupted => "INTERRUPTED",
    }
}
