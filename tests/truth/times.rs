//! The percentiles of known distributions against the ruler's own log, at three rates of the open model and in the
//! closed one.
//!
//! **How it is compared.** The ruler logs for each request the time from its arrival to the last byte of its answer,
//! its own lateness included, and sorts exactly. What the tool sees is longer by the way there and back and by the
//! wake-ups on it; that is measured with a plain blocking socket ([`help::loopback_ns`]) and added. Both sides have the same
//! samples (the runs end by count, nothing is cut off) and take the nearest rank, so chance plays no part and the
//! tolerance can be narrow: 1 % or 50 us, whichever is larger. Of that the histogram may use 0.4 %.

use crate::help::{self, count, loopback_ns};
use crate::support::{Ruler, Tool, alone};
use serde_json::Value;

pub const POINTS: [(&str, &str); 5] =
    [("0.5", "p50_ns"), ("0.75", "p75_ns"), ("0.9", "p90_ns"), ("0.95", "p95_ns"), ("0.99", "p99_ns")];

/// Flags of the load, and how many requests end it. Each makes about 2 s of load.
const LOADS: [(&[&str], u64); 4] = [
    (&["-r", "200"], 500),
    (&["-r", "1000"], 2_000),
    (&["-r", "5000"], 7_500),
    // Each user waits for its answer: about 20 / mean arrivals a second.
    (&["-c", "20"], 3_000),
];

/// What may lie between the two: 1 % or 50 us, whichever is larger.
fn allowed_ns(truth_ns: u64) -> u64 {
    (truth_ns / 100).max(50_000)
}

/// One figure that is off, as a sentence; nothing when it is right.
pub fn off(what: &str, said_ns: u64, truth_ns: u64) -> Option<String> {
    let off_ns = said_ns.abs_diff(truth_ns);
    let us = |ns: u64| ns as f64 / 1e3;
    (off_ns > allowed_ns(truth_ns)).then(|| {
        format!(
            "{what} {} us, the ruler {} us: off by {} us of {} us allowed",
            us(said_ns),
            us(truth_ns),
            us(off_ns),
            us(allowed_ns(truth_ns))
        )
    })
}

/// Both times at all points against the ruler's.
fn compare(said: &Value, ruler: &Value) -> Vec<(String, Option<String>)> {
    let mut rows = Vec::new();
    for time in ["service_time", "response_time"] {
        for (q, field) in POINTS {
            let truth_ns = count(ruler, &format!("/in_server_ns/{q}")) + loopback_ns();
            let what = format!("{time} {field}");
            let wrong = off(&what, count(said, &format!("/{time}/{field}")), truth_ns);
            rows.push((what, wrong));
        }
    }
    rows
}

fn holds(distribution: &str) {
    let _alone = alone();
    let ruler = Ruler::start(&["--delay", distribution]);
    for (load, requests) in LOADS {
        // What no try so far got right.
        let mut wrong: Option<Vec<String>> = None;
        help::patiently(&format!("percentiles of {distribution} under {load:?}"), || {
            ruler.get("/_ruler/forget");
            let (url, n) = (ruler.url("/"), requests.to_string());
            let args = [&[url.as_str(), "-n", n.as_str(), "--seed", "7", "--json"], load].concat();
            let said = Tool::run(&args).json();
            let seen = ruler.json("/_ruler/quantiles?q=0.5,0.75,0.9,0.95,0.99");
            // The same samples on both sides.
            assert_eq!(count(&seen, "/count"), requests);
            assert_eq!(count(&said, "/service_time/count"), requests);
            assert_eq!(count(&said, "/response_time/count"), requests);
            let rows = compare(&said, &seen);
            let open = wrong.take();
            let left: Vec<String> = rows
                .into_iter()
                .filter(|(what, _)| open.as_ref().is_none_or(|names| names.contains(what)))
                .filter_map(|(what, sentence)| sentence.map(|s| (what, s)))
                .map(|(what, sentence)| {
                    wrong.get_or_insert_default().push(what);
                    sentence
                })
                .collect();
            if left.is_empty() { Ok(()) } else { Err(left.join("; ")) }
        });
    }
}

#[test]
fn percentiles_of_a_uniform_service_are_those_of_the_servers_log() {
    holds("uniform:1ms-20ms");
}

#[test]
fn percentiles_of_a_service_with_two_speeds_are_those_of_the_servers_log() {
    holds("bimodal:5ms:200ms:0.02");
}

#[test]
fn percentiles_of_a_lognormal_service_are_those_of_the_servers_log() {
    holds("lognormal:10ms:0.8");
}

#[test]
fn percentiles_of_an_exponential_service_are_those_of_the_servers_log() {
    holds("exponential:10ms");
}

/// The twin: a ruler that is a little off is seen to be off, so the comparison above can fail.
#[test]
fn a_difference_of_three_per_cent_would_be_seen() {
    for truth_ns in [1_000_000, 5_000_000, 50_000_000, 500_000_000] {
        let slow = truth_ns + (truth_ns / 33).max(51_000);
        assert!(off("p50_ns", slow, truth_ns).is_some());
        assert!(off("p50_ns", truth_ns + 49_000, truth_ns).is_none());
    }
}
