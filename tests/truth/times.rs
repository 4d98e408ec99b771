//! The percentiles of known distributions, compared with the ruler's log, at three rates of the open model and in the
//! closed model. Each distribution is tested with one of these loads, and with all of them in `cargo xtask nightly`.
//!
//! **Comparison.** For each request, the ruler logs the arrival and the last byte of its response, including its own
//! delay. Without any number of plimsoll, this determines:
//!
//! - service time: last byte - arrival;
//! - response time in the open model: last byte - intended start time, which is t0 + k / rate for arrival k; t0 is the
//!   earliest one that explains the arrivals (their 5th percentile: a wake-up may cause a timestamp that is a little
//!   early);
//!
//! and both are convolved with the time that the path adds ([`crate::canary`]). Both sides have the same samples (the
//! runs end by count, without requests in flight) and use the nearest rank. So the comparison is not random, and the
//! tolerance is narrow: 1% (of which the histogram may use 0.4%), 50 us, or the result of the canary for this machine
//! at this time ([`Way::seen_at`]), whichever is largest. With the wake-ups of a quiet machine (20 to 100 us), the
//! tests still detect a clock that is off by 3%, a percentile of a wrong rank, and a time from the wrong start. If
//! plimsoll or the ruler waited for a CPU, by the kernel's accounting, times may be longer by that share: on a quiet
//! machine it is below 1%, and nothing is added.

use crate::canary::{Canary, Way, in_server_ns};
use crate::help::{self, Seen, count};
use crate::support::{Ruler, Tool, alone};
use serde_json::Value;

/// A quantile, and its field.
pub type Point = (f64, &'static str);

pub const POINTS: [Point; 5] =
    [(0.5, "p50_ns"), (0.75, "p75_ns"), (0.9, "p90_ns"), (0.95, "p95_ns"), (0.99, "p99_ns")];

/// Flags of the load, and its number of requests. Each load takes 1 to 2 s.
const LOADS: [(&[&str], u64); 4] = [
    (&["-r", "200"], 300),
    (&["-r", "1000"], 1_000),
    (&["-r", "5000"], 4_000),
    // Each user waits for its response: about 20 / mean requests per second.
    (&["-c", "20"], 1_200),
];

/// The effect of this machine on a comparison.
pub struct Machine<'a> {
    pub way: &'a Way,
    /// Share of their time that tool and ruler waited for a CPU.
    pub waited: f64,
}

/// Returns the allowed difference: 1%, 50 us, or the addition of this machine, plus the share of waiting for a CPU.
fn allowed_ns(truth_ns: u64, machine_ns: u64, waited: f64) -> u64 {
    let waited = if waited > 0.01 { waited } else { 0.0 };
    (truth_ns / 100).max(50_000).max(machine_ns) + (truth_ns as f64 * waited) as u64
}

/// Returns a sentence if a value is outside of the tolerance.
fn off(what: &str, said_ns: u64, truth_ns: u64, machine_ns: u64, waited: f64) -> Option<String> {
    let (off_ns, allowed_ns) = (said_ns.abs_diff(truth_ns), allowed_ns(truth_ns, machine_ns, waited));
    let us = |ns: u64| ns as f64 / 1e3;
    (off_ns > allowed_ns).then(|| {
        format!(
            "{what} {} us, the ruler {} us: off by {} us of {} us allowed",
            us(said_ns),
            us(truth_ns),
            us(off_ns),
            us(allowed_ns)
        )
    })
}

/// The figures of one time that are off, where the server's own times were `own_ns`.
pub fn wrong_figures(
    said: &Value,
    time: &str,
    points: &[Point],
    own_ns: &[u64],
    machine: &Machine,
) -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    for &(q, field) in points {
        let what = format!("{time} {field}");
        let said_ns = count(said, &format!("/{time}/{field}"));
        let (truth_ns, machine_ns) = machine.way.seen_at(own_ns, q);
        if let Some(sentence) = off(&what, said_ns, truth_ns, machine_ns, machine.waited) {
            wrong.push((what, sentence));
        }
    }
    wrong
}

/// Response times of even arrivals, as the server's log has them: from the instant that each was meant for.
fn responses_ns(seen: &[Seen], rate_per_s: f64) -> Vec<u64> {
    let step_ns = 1e9 / rate_per_s;
    let begin_ns = seen[0].arrive_ns;
    let late_ns = |k: usize| (seen[k].arrive_ns - begin_ns) as i64 - (k as f64 * step_ns) as i64;
    let mut late: Vec<i64> = (0..seen.len()).map(late_ns).collect();
    late.sort_unstable();
    let origin_ns = late[late.len() / 20];
    let response = |(k, s): (usize, &Seen)| {
        (s.answered_ns - s.arrive_ns).saturating_add_signed((late_ns(k) - origin_ns).max(0))
    };
    seen.iter().enumerate().map(response).collect()
}

/// Tests with the load of this number, or with all loads in the nightly tests.
fn holds(distribution: &str, points: &[Point], load: usize) {
    let loads = if help::is_nightly() { &LOADS[..] } else { &LOADS[load..=load] };
    compare(distribution, points, loads, &[]);
}

/// Tests with each of these loads, with these flags of plimsoll in addition.
pub fn compare(distribution: &str, points: &[Point], loads: &[(&[&str], u64)], more: &[&str]) {
    let _alone = alone();
    let ruler = Ruler::start(&["--delay", distribution, "--http2"]);
    for &(load, requests) in loads {
        // Values that were wrong in every attempt so far.
        let mut open: Option<Vec<String>> = None;
        help::patiently(&format!("percentiles of {distribution} under {load:?}"), || {
            ruler.get("/_test-server/clear");
            let (url, n) = (ruler.url("/"), requests.to_string());
            let args = [&[url.as_str(), "-n", n.as_str(), "--seed", "7", "--json"], load, more].concat();
            let (canary, waits) = (Canary::start(), help::Waits::of(ruler.pid()));
            let said = Tool::run(&args).json();
            let waited = waits.share_since() + help::waited_share(&said);
            let machine = Machine { way: &canary.end(), waited };
            let seen = help::log(&ruler);
            // The same samples on both sides.
            assert_eq!(seen.len() as u64, requests);
            assert_eq!(count(&said, "/service_time/count"), requests);
            assert_eq!(count(&said, "/response_time/count"), requests);
            let service = in_server_ns(&seen);
            let response = match load {
                ["-r", rate] => responses_ns(&seen, rate.parse().expect("a rate")),
                // A user's request is meant for the moment at which it is sent.
                _ => service.clone(),
            };
            let mut wrong = wrong_figures(&said, "service_time", points, &service, &machine);
            wrong.extend(wrong_figures(&said, "response_time", points, &response, &machine));
            if let Some(open) = &open {
                wrong.retain(|(what, _)| open.contains(what));
            }
            open = Some(wrong.iter().map(|(what, _)| what.clone()).collect());
            let sentences: Vec<String> = wrong.into_iter().map(|(_, sentence)| sentence).collect();
            if sentences.is_empty() { Ok(()) } else { Err(sentences.join("; ")) }
        });
    }
}

#[test]
fn percentiles_of_a_uniform_service_are_those_of_the_servers_log() {
    holds("uniform:1ms-20ms", &POINTS, 1);
}

#[test]
fn percentiles_of_a_service_with_two_speeds_are_those_of_the_servers_log() {
    // Inside of the two speeds, not where one ends: there, a moment of noise is a factor of 40.
    let points = POINTS.into_iter().filter(|(q, _)| *q != 0.75).collect::<Vec<_>>();
    holds("bimodal:5ms:200ms:0.15", &points, 0);
}

#[test]
fn percentiles_of_a_lognormal_service_are_those_of_the_servers_log() {
    holds("lognormal:10ms:0.8", &POINTS, 2);
}

#[test]
fn percentiles_of_an_exponential_service_are_those_of_the_servers_log() {
    holds("exponential:10ms", &POINTS, 3);
}

/// The twin: a ruler that is a little off is seen to be off, so the comparison above can fail.
#[test]
fn a_difference_of_three_percent_fails() {
    for truth_ns in [1_000_000, 5_000_000, 50_000_000, 500_000_000] {
        let slow = truth_ns + (truth_ns / 33).max(51_000);
        assert!(off("p50_ns", slow, truth_ns, 0, 0.01).is_some());
        assert!(off("p50_ns", truth_ns + 49_000, truth_ns, 0, 0.0).is_none());
    }
    // The same with wake-ups of 100 us, at times of which these are at most 3%; one round trip does not excuse two.
    let way = Way::of(vec![100_000; 600]);
    for truth_ns in [5_000_000, 50_000_000, 500_000_000] {
        let (seen_ns, machine_ns) = way.seen_at(&[truth_ns; 100], 0.5);
        assert_eq!((seen_ns, machine_ns), (truth_ns + 100_000, 100_000));
        assert!(off("p50_ns", seen_ns + truth_ns / 33, seen_ns, machine_ns, 0.0).is_some());
        assert!(off("p50_ns", seen_ns + 99_000, seen_ns, machine_ns, 0.0).is_none());
        assert!(off("p50_ns", truth_ns - truth_ns / 50, seen_ns, machine_ns, 0.0).is_some());
    }
}
