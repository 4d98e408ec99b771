//! A service that stops now and then: what arithmetic says, what the open model shows, and what the closed one hides.
//!
//! Let the service answer after d = 5 ms, but not at all during P = 1 s of every T = 10 s. A request whose answer falls
//! due in the pause is held to its end. Arrivals come at any instant alike (open model), so a share P / T of them is
//! held, and their response times are even between d and P + d:
//!
//!     share(response > r) = (P + d - r) / T            for d < r < P + d
//!     p99: (P + d - r) / T = 0.01  ->  r = P + d - 0.01 T = 0.905 s
//!     p95: (P + d - r) / T = 0.05  ->  r = P + d - 0.05 T = 0.505 s
//!     p90: (P + d - r) / T = 0.10  ->  r = d, the very edge: everything below it is an ordinary answer
//!     mean: d + (P / T) P / 2 = 0.055 s
//!
//! A closed model of N users has N requests in flight when the pause begins and sends nothing more until its end: N of
//! N (T - P) / d samples are slow, here 1 in 1,800, and p99 stays at d. All the same each user has spent P of T waiting for
//! them: 10 % of the users' time in 0.06 % of the requests, which is how the tool can tell.

use crate::help::{self, caution, cautions, count, number};
use crate::support::{Ruler, Tool, alone};

const D_NS: f64 = 5e6;
const P_NS: f64 = 1e9;
const T_NS: f64 = 10e9;

/// Response time that a share of `1 - q` exceeds, for q above 1 - P / T; times in ns.
fn held_ns(q: f64) -> f64 {
    P_NS + D_NS - (1.0 - q) * T_NS
}

/// 1 %, and the time that a thousand held answers need to get through the ruler and back.
fn is_near(said_ns: f64, truth_ns: f64) -> bool {
    (said_ns - truth_ns).abs() <= truth_ns * 0.01 + 15e6
}

#[test]
fn the_open_model_shows_a_pause_as_arithmetic_has_it() {
    let _alone = alone();
    help::patiently("a pause of 1 s in 10 s at 1,000/s", || {
        // In the window of 10 s lies one whole pause, whenever the run begins within 3 s.
        let ruler = Ruler::start(&["--delay", "5ms", "--pause", "1s/10s", "--pause-at", "3s"]);
        let args = [&ruler.url("/"), "-r", "1000", "-n", "10000", "-c", "3000", "--json"];
        let said = Tool::run(&args).json();
        assert_eq!(ruler.requests(), 10_000);
        assert_eq!(count(&said, "/response_time/count"), 10_000);
        let at = |field: &str| number(&said, &format!("/response_time/{field}"));
        let seen = ruler.json("/_ruler/quantiles?q=0.5,0.9,0.95,0.99");
        let mut wrong = Vec::new();
        for (field, truth_ns) in [
            ("p50_ns", D_NS),
            ("p95_ns", held_ns(0.95)),
            ("p99_ns", held_ns(0.99)),
            ("max_ns", P_NS + D_NS),
            ("mean_ns", D_NS + P_NS / T_NS * P_NS / 2.0),
        ] {
            if !is_near(at(field), truth_ns) {
                wrong.push(format!("{field} {:.1} ms, arithmetic {:.1} ms", at(field) / 1e6, truth_ns / 1e6));
            }
        }
        // The edge itself: d, or a little of the first held ones (10 samples are 10 ms of the pause).
        if !(D_NS * 0.99..=D_NS + 40e6).contains(&at("p90_ns")) {
            wrong.push(format!("p90 {:.1} ms, arithmetic {:.1} ms", at("p90_ns") / 1e6, D_NS / 1e6));
        }
        // And the ruler's log agrees, to the way over the loopback.
        for (field, q) in [("p95_ns", "0.95"), ("p99_ns", "0.99")] {
            let truth_ns = number(&seen, &format!("/in_server_ns/{q}"));
            if (at(field) - truth_ns).abs() > truth_ns * 0.01 + 5e6 {
                wrong.push(format!("{field} {:.1} ms, the ruler {:.1} ms", at(field) / 1e6, truth_ns / 1e6));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    });
}

/// With 100 connections at most, 100 requests wait in the server and 900 arrivals wait for a connection: the users of a real
/// service would not know the difference, and neither does the response time. The service time does.
#[test]
fn a_cap_on_connections_does_not_hide_a_pause_from_the_response_time() {
    let _alone = alone();
    help::patiently("a pause of 300 ms in 3 s at 1,000/s over 100 connections", || {
        // A tenth of the time again, at three tenths of the scale: p99 = 300 + 5 - 0.01 x 3000 ms.
        let ruler = Ruler::start(&["--delay", "5ms", "--pause", "300ms/3s", "--pause-at", "1s"]);
        let args = [&ruler.url("/"), "-r", "1000", "-n", "3000", "-c", "100", "--json"];
        let said = Tool::run(&args).json();
        assert_eq!(ruler.requests(), 3_000);
        assert!(ruler.accepted() <= 101, "the cap of 100 and the one that looked whether somebody is there");
        let held = caution(&said, "connection_cap_hit");
        assert_eq!(held["weight"], "warning");
        assert!(count(&said, "/offered/starved") >= 150, "{}", said["offered"]);
        let (response, service) = (number(&said, "/response_time/p99_ns"), number(&said, "/service_time/p99_ns"));
        // The 200 that waited are sent as connections come free, 100 at a time each d: two rounds later at the most.
        if !is_near(response, 275e6) {
            return Err(format!("response p99 {:.1} ms, arithmetic 275 ms", response / 1e6));
        }
        // What the server saw: 100 requests held, of 3,000.
        if service > response {
            return Err(format!("service p99 {:.1} ms is above response p99 {:.1} ms", service / 1e6, response / 1e6));
        }
        Ok(())
    });
}

#[test]
fn the_closed_model_hides_the_pause_and_says_so() {
    let _alone = alone();
    let ruler = Ruler::start(&["--delay", "5ms", "--pause", "1s/10s", "--pause-at", "3s"]);
    let said = Tool::run(&[&ruler.url("/"), "-c", "10", "-d", "10s", "--json"]).expect_code(0).json();
    // The pause was there, for 10 users once each.
    assert!(is_near(number(&said, "/response_time/max_ns"), P_NS + D_NS), "{}", said["response_time"]);
    // 30 times below the truth at the least, and that is what a report without a caution would have printed.
    let p99 = number(&said, "/response_time/p99_ns");
    assert!(p99 < 30e6, "p99 {:.1} ms", p99 / 1e6);
    let blind = caution(&said, "closed_model_blind_spot");
    assert_eq!(blind["weight"], "warning");
    // It says why, in numbers: 10 % of the users' time.
    let evidence = blind["evidence"].as_str().unwrap_or_default();
    assert!(["9 %", "9.", "10 %", "10.", "11 %", "11."].iter().any(|share| evidence.contains(share)), "{evidence}");
    assert!(blind["advice"].as_str().is_some_and(|advice| advice.contains("-r")), "{blind}");
}

/// The twin.
#[test]
fn a_closed_run_of_a_server_without_pauses_has_no_blind_spot() {
    let _alone = alone();
    let ruler = Ruler::start(&["--delay", "5ms"]);
    let said = Tool::run(&[&ruler.url("/"), "-c", "10", "-d", "3s", "--json"]).expect_code(0).json();
    assert!(!cautions(&said).contains(&"closed_model_blind_spot"), "{}", said["cautions"]);
}
