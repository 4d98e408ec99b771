//! A service with a known capacity: 20 workers x 50 ms of service time = 400 responses per second under any load.
//! plimsoll reports that as achieved. The limit is the service's, so the verdict is FAIL, not INCONCLUSIVE.

use crate::help::{caution, cautions, count, number};
use crate::support::{Ruler, Tool, alongside_first};
use serde_json::Value;

const CAPACITY: f64 = 400.0;

fn service() -> Ruler {
    Ruler::start(&["--workers", "20", "--service", "50ms", "--queue", "5000"])
}

#[track_caller]
fn is_within_two_percent(said: f64, truth: f64, what: &str) {
    assert!((said / truth - 1.0).abs() <= 0.02, "{what}: {said:.2}, in truth {truth:.2}");
}

fn doubts(said: &Value) -> Vec<&Value> {
    let all = said["cautions"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().filter(|caution| caution["severity"] == "inconclusive").collect()
}

/// One of the bounds of `achieved >= 99%`.
fn bound(said: &Value, which: &str) -> f64 {
    let all = said["thresholds"].as_array().map_or(&[][..], Vec::as_slice);
    let achieved = all.iter().find(|one| one["subject"] == "achieved").unwrap();
    achieved[which].as_f64().unwrap()
}

#[test]
fn twice_the_capacity_is_offered_and_half_of_it_is_achieved() {
    alongside_first(|| {
        let ruler = service();
        let args = [&ruler.url("/"), "-r", "800", "-d", "4s", "--max-connections", "4000", "--json"];
        let said = Tool::run(&args).expect_code(99).json();
        assert_eq!(said["verdict"]["result"], "FAIL", "{}", said["verdict"]);
        assert_eq!(said["verdict"]["reasons"], serde_json::json!(["achieved >= 99%"]));
        assert!(doubts(&said).is_empty(), "{:?}", doubts(&said));
        is_within_two_percent(number(&said, "/offered/rate_per_s"), 800.0, "offered rate");
        is_within_two_percent(number(&said, "/achieved/rate_per_s"), CAPACITY, "achieved rate");
        let ratio = number(&said, "/achieved/ratio");
        assert!((0.49..0.51).contains(&ratio), "{}", said["achieved"]);
        // Requests that a healthy service would have in flight may still succeed: X R, with the measured R.
        assert!(bound(&said, "best") < 0.99, "{}", said["thresholds"]);
        // The backlog grows by 400 per second, so an arrival at t waits for t more seconds: completed requests
        // waited for up to half of the run.
        let max_s = number(&said, "/response_time/max_ns") / 1e9;
        assert!((1.9..=4.1).contains(&max_s), "{max_s}");
        assert_eq!(count(&said, "/totals/errors"), 0, "a slow response is not an error");
    });
}

#[test]
fn a_tenth_above_the_capacity_fails_and_a_twentieth_below_it_passes() {
    alongside_first(|| {
        // With constant arrivals and constant service times, a queue only forms above the capacity; here, it grows
        // by 40 of 440 per second.
        for (rate, code, result) in [("440", 99, "FAIL"), ("380", 0, "PASS")] {
            let ruler = service();
            let args = [&ruler.url("/"), "-r", rate, "-d", "4s", "--json"];
            let said = Tool::run(&args).expect_code(code).json();
            assert_eq!(said["verdict"]["result"], result, "{}", said["verdict"]);
            let served = rate.parse::<f64>().unwrap().min(CAPACITY);
            is_within_two_percent(number(&said, "/achieved/rate_per_s"), served, rate);
            assert!(doubts(&said).is_empty(), "{:?}", doubts(&said));
        }
    });
}

/// A backlog seems to excuse itself: with 500 per second into 400, the queue grows by 100 per second, and all of them
/// are "in flight". After a warm-up, as many were in flight at the start.
#[test]
fn a_warm_up_hides_no_overload_and_blames_no_slow_service() {
    alongside_first(|| {
        for (length, warmup) in [("3s", "1s"), ("6s", "3s")] {
            let ruler = service();
            let args = [
                &ruler.url("/"),
                "-r",
                "500",
                "-d",
                length,
                "--warmup",
                warmup,
                "--max-connections",
                "4000",
                "--json",
            ];
            let said = Tool::run(&args).expect_code(99).json();
            assert!(number(&said, "/achieved/ratio") < 0.97, "{}", said["achieved"]);
        }
        // Responses take twice as long as the warm-up, so requests that start in it end in the measurement period.
        for delay in ["100ms", "2s"] {
            let ruler = Ruler::start(&["--delay", delay]);
            let args = [&ruler.url("/"), "-r", "200", "-d", "6s", "--warmup", "1s", "--json"];
            let said = Tool::run(&args).expect_code(0).json();
            assert!(bound(&said, "worst") >= 0.99, "{delay}: {}", said["thresholds"]);
        }
    });
}

#[test]
fn half_the_capacity_passes_and_nothing_waits() {
    alongside_first(|| {
        let ruler = service();
        let said = Tool::run(&[&ruler.url("/"), "-r", "200", "-d", "3s", "--json"]).expect_code(0).json();
        assert_eq!(said["verdict"]["result"], "PASS");
        assert_eq!(count(&said, "/offered/arrivals"), 600);
        assert!(bound(&said, "worst") >= 0.99, "{}", said["thresholds"]);
        assert!(doubts(&said).is_empty(), "{:?}", doubts(&said));
        assert_eq!(said["spikes"].as_array().map(Vec::len), Some(0), "{}", said["spikes"]);
        // One service time and the path; twice that would be a request that waited in the queue.
        assert!((50e6..55e6).contains(&number(&said, "/response_time/p90_ns")), "{}", said["response_time"]);
    });
}

/// Little's law: forty users of a service with 400 responses per second wait 100 ms each, regardless of the service
/// time.
#[test]
fn more_users_than_workers_get_the_capacity_and_wait_as_little_has_it() {
    alongside_first(|| {
        let ruler = service();
        let said = Tool::run(&[&ruler.url("/"), "-c", "40", "-d", "4s", "--json"]).expect_code(0).json();
        is_within_two_percent(number(&said, "/achieved/rate_per_s"), CAPACITY, "achieved rate");
        is_within_two_percent(number(&said, "/service_time/p50_ns"), 100e6, "median service time");
        let little = |field: &str| number(&said, &format!("/client/littles_law/{field}"));
        is_within_two_percent(little("in_flight_mean"), 40.0, "requests in flight");
        is_within_two_percent(little("users_mean"), 40.0, "users");
        // The first responses arrive before the queue has its length, and the last ones after the end: 0.1 s of 4 s
        // at each end.
        assert!((36.0..=40.8).contains(&little("in_flight_computed")), "{}", said["client"]["littles_law"]);
        assert!(!cautions(&said).contains(&"littles_law"));
    });
}

/// Two connections to a service of 10 ms achieve 200 of 400 arrivals per second. The user's own limit explains the
/// shortfall, so the run is conclusive, and the limit is named.
#[test]
fn a_cap_on_connections_that_holds_the_load_back_is_named_and_no_reason_to_doubt() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "10ms"]);
        let args = [&ruler.url("/"), "-r", "400", "-d", "3s", "--max-connections", "2", "--json"];
        let said = Tool::run(&args).expect_code(99).json();
        assert_eq!(said["verdict"]["result"], "FAIL");
        assert_eq!(caution(&said, "connection_limit_reached")["severity"], "warning");
        assert!(doubts(&said).is_empty(), "{:?}", doubts(&said));
        let rate = number(&said, "/achieved/rate_per_s");
        assert!((190.0..=200.5).contains(&rate), "{rate}");
    });
}
