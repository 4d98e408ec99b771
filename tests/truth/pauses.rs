//! A service with pauses: the result of arithmetic, the open model that shows it, and the closed model that hides it.
//!
//! Let the service respond after d = 5 ms, but not during P = 1 s of every T = 10 s. A response that is due in the
//! pause is held to its end. Arrivals are uniform in time (open model), so a share P / T of them is held, and their
//! response times are uniform between d and P + d:
//!
//!     share(response > r) = (P + d - r) / T            for d < r < P + d
//!     p99: (P + d - r) / T = 0.01  ->  r = P + d - 0.01 T = 0.905 s
//!     p95: (P + d - r) / T = 0.05  ->  r = P + d - 0.05 T = 0.505 s
//!     p90: (P + d - r) / T = 0.10  ->  r = d, the edge: everything below it is an ordinary response
//!     mean: d + (P / T) P / 2 = 0.055 s
//!
//! A closed model with N users has N requests in flight when the pause starts, and sends nothing more until its end: N
//! of N (T - P) / d samples are slow, here 1 in 1,800, and p99 stays at d. But each user has spent P of T waiting for
//! them: 10% of the users' time in 0.06% of the requests. plimsoll detects this ratio.

use crate::help::{self, caution, cautions, continue_process, count, number};
use crate::support::{Ruler, Tool, alongside_first, provokes};
use serde_json::Value;
use std::time::{Duration, Instant};

const D_NS: f64 = 5e6;
const P_NS: f64 = 1e9;
const T_NS: f64 = 10e9;

/// Returns the response time that a share of `1 - q` exceeds, for q above 1 - P / T, in ns.
fn held_ns(q: f64) -> f64 {
    P_NS + D_NS - (1.0 - q) * T_NS
}

/// The tolerance is 1%, plus the time that the ruler needs to send a thousand held responses.
fn is_near(said_ns: f64, truth_ns: f64) -> bool {
    (said_ns - truth_ns).abs() <= truth_ns * 0.01 + 15e6
}

#[test]
fn the_open_model_shows_a_pause_and_the_closed_one_hides_it_and_says_so() {
    help::patiently_alongside_first("a pause of 1 s in every 10 s", || {
        // A period of 10 s includes one complete pause if the run starts within 3 s. Two equal servers, so that the
        // runs do not affect each other.
        let server = ["--delay", "5ms", "--pause", "1s/10s", "--pause-at", "3s"];
        let (ruler, other) = (Ruler::start(&server), Ruler::start(&server));
        let closed = Tool::new(&[&other.url("/"), "-c", "10", "-d", "10s", "--json"]).start();
        let args = [&ruler.url("/"), "-r", "1000", "-n", "10000", "--max-connections", "3000", "--json"];
        let open = Tool::run(&args).json();
        let closed = closed.wait().json();
        assert_eq!(ruler.requests(), 10_000);
        let wrong = [open_shows(&open, &ruler), closed_hides(&closed)].concat();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    });
}

/// Returns the differences from arithmetic and from the ruler.
fn open_shows(said: &Value, ruler: &Ruler) -> Vec<String> {
    let at = |place: &str| number(said, place);
    let seen = ruler.json("/_test-server/quantiles?q=0.95,0.99");
    let ms = |ns: f64| format!("{:.1} ms", ns / 1e6);
    let mut wrong = Vec::new();
    for (place, truth_ns) in [
        ("/response_time/p50_ns", D_NS),
        ("/response_time/p95_ns", held_ns(0.95)),
        ("/response_time/p99_ns", held_ns(0.99)),
        ("/response_time/max_ns", P_NS + D_NS),
        ("/response_time/mean_ns", D_NS + P_NS / T_NS * P_NS / 2.0),
        // After the send, the ruler's log has the time.
        ("/service_time/p95_ns", number(&seen, "/in_server_ns/0.95")),
        ("/service_time/p99_ns", number(&seen, "/in_server_ns/0.99")),
    ] {
        if !is_near(at(place), truth_ns) {
            wrong.push(format!("open: {place} {}, in truth {}", ms(at(place)), ms(truth_ns)));
        }
    }
    // The edge itself: d, or a little of the first held ones (10 samples are 10 ms of the pause).
    let edge_ns = at("/response_time/p90_ns");
    if !(D_NS * 0.99..=D_NS + 40e6).contains(&edge_ns) {
        wrong.push(format!("open: p90 {}, in truth {}", ms(edge_ns), ms(D_NS)));
    }
    wrong
}

/// Returns the differences between a closed run of the same server and its expected result.
fn closed_hides(said: &Value) -> Vec<String> {
    let at = |field: &str| number(said, &format!("/response_time/{field}"));
    let mut wrong = Vec::new();
    if said["verdict"]["result"] != "PASS" {
        wrong.push(format!("closed: {}", said["verdict"]));
    }
    // Each of the 10 users saw the pause once. p99 is below the true value by a factor of at least 30, and a report
    // without a caution would print only that.
    if !is_near(at("max_ns"), P_NS + D_NS) || at("p99_ns") > 30e6 {
        wrong.push(format!("closed: {}", said["response_time"]));
    }
    let blind = caution(said, "coordinated_omission");
    // The caution has the evidence and the advice.
    let evidence = blind["evidence"].as_str().unwrap_or_default();
    let share = evidence.split("took ").nth(1).and_then(|rest| rest.split('%').next()?.parse::<f64>().ok());
    let advice = blind["advice"].as_str().unwrap_or_default();
    if blind["severity"] != "warning" || !advice.contains("`-r RATE`") {
        wrong.push(format!("closed: {blind}"));
    }
    if !share.is_some_and(|percent| (8.5..=13.0).contains(&percent))
        || !evidence.contains("of the users' time")
    {
        wrong.push(format!("closed: not 10% of the users' time: {evidence}"));
    }
    wrong
}

/// With at most 100 connections, 100 requests wait in the server (3% of all) and 200 arrivals (7%) wait for a
/// connection. The users of a real service would not see a difference, and neither does the response time. The service
/// time does: its p95 is not a held request. With P = 300 ms and T = 3 s, the response time has p95 = P + d - 0.05 T =
/// 155 ms.
#[test]
fn a_cap_on_connections_does_not_hide_a_pause_from_the_response_time() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "5ms", "--pause", "300ms/3s", "--pause-at", "1s"]);
        let said =
            Tool::run(&[&ruler.url("/"), "-r", "1000", "-n", "3000", "--max-connections", "100", "--json"])
                .json();
        assert_eq!(ruler.requests(), 3_000);
        assert!(ruler.accepted() <= 101, "the limit of 100, and the trial connection");
        assert_eq!(caution(&said, "connection_limit_reached")["severity"], "warning");
        assert!(count(&said, "/offered/arrivals_queued") >= 150, "{}", said["offered"]);
        // Waiting arrivals are sent when connections become free, 100 at a time every d: at most two rounds later.
        let response_ns = number(&said, "/response_time/p95_ns");
        assert!(is_near(response_ns, 155e6), "{}", said["response_time"]);
        assert!(number(&said, "/service_time/p95_ns") < 50e6, "{}", said["service_time"]);
    });
}

/// The load generator may stall, too (here, a signal stops it for a time S of a run of T). Nothing is skipped: the
/// arrivals due in that time are sent afterward, and their response time starts at their intended start time, with the
/// same arithmetic as for a pause of the service: p90 = S - 0.1 T. The service time does not include it, and the
/// verdict names the cause.
#[test]
fn a_stall_of_the_generator_is_in_the_response_time_and_in_the_verdict() {
    alongside_first(|| {
        provokes(&["client_stalled", "late_sends", "offered_rate_missed"]);
        let ruler = Ruler::start(&[]);
        let running =
            Tool::new(&[&ruler.url("/"), "-r", "500", "-d", "3s", "--max-connections", "600", "--json"])
                .start();
        ruler.wait_for_requests(500);
        let begin = Instant::now();
        running.signal("STOP");
        let mut stood_ns = 0.0;
        let output = running.watch(Duration::from_millis(600), Duration::from_secs(30), |pid| {
            if stood_ns == 0.0 {
                continue_process(pid);
                stood_ns = begin.elapsed().as_nanos() as f64;
            }
        });
        // No threshold of this run is about times, so the verdict is conclusive; the caution is still reported.
        let said = output.expect_code(0).json();
        assert_eq!(ruler.requests(), 1_500);
        assert_eq!(count(&said, "/offered/arrivals"), 1_500);
        let p90 = number(&said, "/response_time/p90_ns");
        // The backlog of 300 is sent and completed quickly, on a busy machine less quickly.
        let above_ns = p90 - (stood_ns - 0.3e9);
        assert!((-15e6..80e6).contains(&above_ns), "p90 {p90} ns after a stall of {stood_ns} ns");
        assert!(number(&said, "/service_time/p90_ns") < 100e6, "{}", said["service_time"]);
        assert!(cautions(&said).contains(&"late_sends"), "{}", said["cautions"]);
    });
}

/// The twin.
#[test]
fn a_closed_run_of_a_server_without_stalls_omits_nothing() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "5ms"]);
        let said = Tool::run(&[&ruler.url("/"), "-c", "10", "-d", "3s", "--json"]).expect_code(0).json();
        assert!(!cautions(&said).contains(&"coordinated_omission"), "{}", said["cautions"]);
    });
}
