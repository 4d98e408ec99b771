//! The latency breakdown, by slices of the response times, compared with the server's log.
//!
//! The ruler logs when each request arrived and when the last byte of its response was written; its configured times
//! in between are known. So the parts of each request follow without any number of plimsoll:
//!
//! - wait: its arrival - the instant that it was meant for (t0 + k / rate; t0 as the promptest of them has it);
//! - first byte: up to the `delay`, or up to the end where the answer comes in one piece;
//! - body: the rest.
//!
//! Sorted by their sum and cut at the same shares they are the slices that the tool must show, each phase within 10%
//! of itself. A phase that is next to nothing may be off by 3% of the whole: loopback and wake-ups are in it.

use crate::help;
use crate::support::{Ruler, Scratch, Tool, alone};
use plimsoll_analysis::picture::Slice;
use plimsoll_analysis::slices;
use plimsoll_record::run_file::read;
use std::path::Path;

/// One request's, ns.
#[derive(Debug, Clone, Copy)]
struct Phases {
    wait: f64,
    first_byte: f64,
    body: f64,
}

impl Phases {
    fn whole(&self) -> f64 {
        self.wait + self.first_byte + self.body
    }
}

/// From the log; `first_byte_ns`: when the first byte goes, from the arrival, if that is not the end of it all.
fn truth(ruler: &Ruler, rate_per_s: f64, first_byte_ns: Option<f64>) -> Vec<Phases> {
    let seen = help::log(ruler);
    let begin_ns = seen[0].arrive_ns;
    let late: Vec<f64> = (0..seen.len())
        .map(|k| (seen[k].arrive_ns - begin_ns) as f64 - k as f64 * 1e9 / rate_per_s)
        .collect();
    // Some are sent when they are meant to be; where the only connection is busy ever more of them wait.
    let origin = late.iter().copied().fold(f64::INFINITY, f64::min);
    let one = |(s, late): (&help::Seen, f64)| {
        let served = (s.answered_ns - s.arrive_ns) as f64;
        let first_byte = first_byte_ns.unwrap_or(served).min(served);
        Phases { wait: late - origin, first_byte, body: served - first_byte }
    };
    let mut all: Vec<Phases> = seen.iter().zip(late).map(one).collect();
    all.sort_by(|a, b| a.whole().total_cmp(&b.whole()));
    all
}

/// Phases of these slices that are not as the log has them.
fn wrong(said: &[Slice], truth: &[Phases]) -> Vec<String> {
    let n = truth.len() as f64;
    let mut wrong = Vec::new();
    for slice in said {
        let [from, to] = [slice.from_q, slice.to_q].map(|q| (q * n).round() as usize);
        let inside = &truth[from..to];
        let mean = |phase: fn(&Phases) -> f64| inside.iter().map(phase).sum::<f64>() / inside.len() as f64;
        let whole = mean(Phases::whole);
        for (name, said_ns, truth_ns) in [
            ("wait", slice.wait_ns, mean(|p| p.wait)),
            ("first byte", slice.first_byte_ns, mean(|p| p.first_byte)),
            ("body", slice.body_ns, mean(|p| p.body)),
        ] {
            if (said_ns - truth_ns).abs() > (truth_ns * 0.1).max(whole * 0.03) {
                let [said_ms, truth_ms] = [said_ns, truth_ns].map(|ns| ns / 1e6);
                wrong.push(format!("{name} of {from} to {to}: {said_ms:.2} ms, in truth {truth_ms:.2} ms"));
            }
        }
    }
    wrong
}

/// A server, the load on it, and the phase where most of the time of the slowest tenth goes.
struct Case {
    what: &'static str,
    server: &'static [&'static str],
    path: &'static str,
    load: &'static [&'static str],
    rate_per_s: f64,
    requests: usize,
    first_byte_ns: Option<f64>,
    most: fn(&Slice) -> f64,
}

fn holds(case: &Case) {
    let _alone = alone();
    let (ruler, scratch) = (Ruler::start(case.server), Scratch::new());
    help::patiently(case.what, || {
        ruler.get("/_test-server/clear");
        let (file, url) = (scratch.path("run.plim"), ruler.url(case.path));
        let _ = std::fs::remove_file(&file);
        let (rate, n) = (case.rate_per_s.to_string(), case.requests.to_string());
        let args = [&url, "-r", &rate, "-n", &n, "--json", "--out", &file];
        let output = Tool::run(&[&args, case.load].concat());
        assert!([0, 3].contains(&output.code), "{}", output.stderr);
        let said = slices(&read(Path::new(&file)).expect("it is a run file"));
        let truth = truth(&ruler, case.rate_per_s, case.first_byte_ns);
        assert_eq!(truth.len(), case.requests);
        assert_eq!(said.iter().map(|s| s.requests).sum::<u64>(), case.requests as u64);
        let edges: Vec<f64> = said.iter().map(|s| s.from_q).collect();
        assert_eq!(edges, [0.0, 0.5, 0.9], "ten requests and more in each");
        let last = &said[2];
        let mut wrong = wrong(&said, &truth);
        if (case.most)(last) < last.response_ns * 0.7 {
            wrong.push(format!("most of the slowest tenth's time is elsewhere: {last:?}"));
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    });
}

#[test]
fn a_late_first_byte_is_seen_where_it_is() {
    holds(&Case {
        what: "a delay of two speeds",
        server: &["--delay", "bimodal:20ms:100ms:0.2"],
        path: "/",
        load: &[],
        rate_per_s: 100.0,
        requests: 200,
        first_byte_ns: None,
        most: |slice| slice.first_byte_ns,
    });
}

#[test]
fn a_body_that_trickles_is_seen_where_it_is() {
    holds(&Case {
        what: "a byte every half a millisecond",
        server: &[],
        path: "/?delay=20ms&fault=drip&drip_every=500us",
        load: &[],
        rate_per_s: 50.0,
        requests: 100,
        first_byte_ns: Some(20e6),
        most: |slice| slice.body_ns,
    });
}

#[test]
fn a_full_service_keeps_them_waiting_at_its_own_door() {
    holds(&Case {
        what: "a queue in the server",
        server: &["--workers", "1", "--service", "15ms", "--queue", "1000"],
        path: "/",
        load: &["--max-connections", "1000"],
        rate_per_s: 100.0,
        requests: 200,
        first_byte_ns: None,
        most: |slice| slice.first_byte_ns,
    });
}

/// The same server with one connection to it: they wait before they are sent, and the log sees it by their arrivals.
#[test]
fn requests_that_find_no_connection_wait_before_they_are_sent() {
    holds(&Case {
        what: "a queue in front of the only connection",
        server: &["--workers", "1", "--service", "15ms", "--queue", "1000"],
        path: "/",
        load: &["--max-connections", "1"],
        rate_per_s: 100.0,
        requests: 200,
        first_byte_ns: None,
        most: |slice| slice.wait_ns,
    });
}

/// The twin: phases that have changed places, and one that is a fifth too long, are seen.
#[test]
fn phases_in_each_others_place_would_be_seen() {
    let one = Phases { wait: 1e6, first_byte: 20e6, body: 5e6 };
    let slice = |wait_ns, first_byte_ns, body_ns| Slice {
        from_q: 0.0,
        to_q: 1.0,
        requests: 10,
        cut_off: 0,
        response_ns: 26e6,
        wait_ns,
        first_byte_ns,
        body_ns,
    };
    assert_eq!(wrong(&[slice(1e6, 20e6, 5e6)], &[one; 10]), Vec::<String>::new());
    assert_eq!(wrong(&[slice(1e6, 5e6, 20e6)], &[one; 10]).len(), 2);
    assert_eq!(wrong(&[slice(1e6, 20e6, 6e6)], &[one; 10]).len(), 1);
    assert_eq!(wrong(&[slice(4e6, 20e6, 5e6)], &[one; 10]).len(), 1);
}
