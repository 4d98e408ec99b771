//! Connections (opened, reused, closed by whom, after how many requests) and what was in flight on them.

use super::{silent, warns};
use crate::help::{count, number};
use crate::provoke::{FIREWALL, faults, firewall, json, middle};
use crate::support::{Ruler, alone, alongside_first, namespace, run_alongside};
use serde_json::Value;

struct Connections(Value);

impl Connections {
    #[track_caller]
    fn are(&self, wanted: &[(&str, u64)]) {
        for (name, value) in wanted {
            assert_eq!(self.0[name], *value, "{name}: {:#}", self.0);
        }
    }
}

fn connections(said: &Value) -> Connections {
    Connections(said["client"]["connections"].clone())
}

#[test]
fn connections_that_stay_open_are_counted_as_the_server_counts_them() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let said = json(&[&ruler.url("/"), "-n", "500", "-c", "5", "-t", "2"], 0);
    let wanted = [("attempts", 5), ("opened", 5), ("reused_requests", 495), ("open_at_end", 5), ("peak", 5)];
    connections(&said).are(&wanted);
    connections(&said).are(&[("closed_by_server", 0), ("closed_by_client", 0), ("closed_after_error", 0)]);
    let counters = ruler.counters();
    // One more is the trial connection before the load.
    assert_eq!((counters["accepted"].as_u64(), counters["closed_by_server"].as_u64()), (Some(6), Some(0)));
    assert_eq!(counters["closed_by_peer"], 6);
}

#[test]
fn connections_that_the_server_closes_are_counted_as_its_own() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--keep-alive-requests", "10"]);
    let said = json(&[&ruler.url("/"), "-n", "500", "-c", "1"], 0);
    connections(&said).are(&[("opened", 50), ("reused_requests", 450), ("closed_by_server", 50)]);
    connections(&said).are(&[
        ("closed_by_client", 0),
        ("closed_after_error", 0),
        ("open_at_end", 0),
        ("peak", 1),
    ]);
    connections(&said).are(&[("requests_per_connection_p50", 10), ("requests_per_connection_max", 10)]);
    let counters = ruler.counters();
    assert_eq!((counters["accepted"].as_u64(), counters["closed_by_server"].as_u64()), (Some(51), Some(50)));
}

/// After `Connection: close`, microseconds decide which side sends the first FIN, so the side that sent the header
/// counts.
#[test]
fn connections_for_one_request_each_are_closed_by_the_client() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let said = json(&[&ruler.url("/"), "-n", "200", "-c", "4", "--no-keepalive"], 0);
    connections(&said).are(&[("opened", 200), ("reused_requests", 0), ("requests_per_connection_max", 1)]);
    connections(&said).are(&[
        ("closed_after_error", 0),
        ("open_at_end", 0),
        ("closed_by_server", 0),
        ("closed_by_client", 200),
    ]);
    assert_eq!(ruler.accepted(), 201);
}

#[test]
fn connections_given_up_after_a_failure_are_counted_apart() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let said = json(&[&ruler.url("/?fault=bad_header&fault_rate=0.25"), "-n", "400", "-c", "4"], 99);
    let failed = faults(&said)["malformed_response"].1;
    connections(&said).are(&[
        ("closed_after_error", failed),
        ("closed_by_server", 0),
        ("closed_by_client", 0),
    ]);
    let opened = said["client"]["connections"]["opened"].as_u64().unwrap();
    assert_eq!(ruler.accepted(), opened + 1);
    assert_eq!(opened, failed + said["client"]["connections"]["open_at_end"].as_u64().unwrap());
}

#[test]
fn littles_law_holds_three_ways_for_users_that_always_wait() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "5ms"]);
        let said = json(&[&ruler.url("/"), "-c", "8", "-d", "2s"], 0);
        for figure in ["in_flight_mean", "in_flight_computed", "users_mean"] {
            let n = number(&said, &format!("/client/littles_law/{figure}"));
            assert!((7.8..=8.001).contains(&n), "{figure}: {n} for 8 users");
        }
        silent(&said, "littles_law");
        assert_eq!(count(&said, "/client/in_flight_peak"), 8);
    });
}

/// Users that wait for a connection attempt without a response are in no request, and Little's law shows it.
#[test]
fn users_outside_of_requests_break_littles_law() {
    namespace::inside(
        "trust::connections::users_outside_of_requests_break_littles_law",
        FIREWALL,
        alone,
        || {
            let ruler = Ruler::start(&["--delay", "2ms"]);
            let args = [&ruler.url("/"), "-c", "8", "-d", "2s", "--no-keepalive"];
            silent(&middle(&ruler, &args, 0, || ()), "littles_law");
            let vanish = format!("tcp dport {} tcp flags syn drop", ruler.port());
            let said = middle(&ruler, &args, 0, || firewall(&vanish));
            assert!(warns(&said, "littles_law").contains("outside requests"));
            let outside = number(&said, "/client/littles_law/users_outside_ratio");
            assert!(outside > 0.4, "{outside}");
            assert!(number(&said, "/client/littles_law/in_flight_mean") < 5.0);
            // They wait for something all the same, and the report does not hide it.
            assert!(count(&said, "/response_time/censored") >= 8, "{}", said["totals"]);
        },
    );
}

#[test]
fn requests_in_flight_at_the_stop_are_counted_and_noted() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "500ms"]);
        let args = [&ruler.url("/"), "-r", "100", "--max-connections", "200"];
        let said = json(&[&args[..], &["-d", "2s"]].concat(), 0);
        // X R = 100/s times 500 ms.
        let in_flight = count(&said, "/totals/in_flight_at_end");
        assert!((49..=60).contains(&in_flight), "{in_flight}");
        assert_eq!(count(&said, "/totals/requests") + in_flight, 200);
        assert_eq!(ruler.requests(), 200);
        assert!(warns(&said, "censored_at_end").contains(&format!("{in_flight} requests in flight")));
        assert_eq!(count(&said, "/totals/errors"), 0, "a request in flight is not a failure");

        let calm = json(&[&args[..], &["-n", "100"]].concat(), 0);
        silent(&calm, "censored_at_end");
        assert_eq!((count(&calm, "/totals/in_flight_at_end"), count(&calm, "/totals/requests")), (0, 100));
    });
}
