//! Pipelining over HTTP/1.1: every response belongs to its request, and what a closed connection leaves is a failure.

use crate::help::{count, number};
use crate::provoke::{faults, json, no_faults};
use crate::support::{Ruler, Scratch, run_alongside};

/// 4 connections with 8 requests each: 32 users.
const ARGS: [&str; 4] = ["-c", "4", "--pipeline", "8"];

#[test]
fn requests_of_a_connection_are_in_flight_together() {
    let _beside = run_alongside();
    for workers in ["1", "2"] {
        let ruler = Ruler::start(&[]);
        let url = ruler.url("/");
        let args = [&[url.as_str(), "-n", "20000", "-t", workers], &ARGS[..]].concat();
        let said = json(&args, 0);
        no_faults(&said);
        assert_eq!(count(&said, "/totals/requests"), 20_000);
        let counters = ruler.counters();
        assert_eq!(count(&counters, "/requests"), 20_000, "none was sent twice");
        assert_eq!(count(&said, "/client/connections/opened"), 4);
        assert!(
            number(&said, "/client/littles_law/in_flight_mean") > 8.0,
            "{}",
            said["client"]["littles_law"]
        );
    }
}

/// Without pipelining, a connection waits 2 ms for each response; with a depth of 8, requests wait in the server, and
/// each counts its wait from its own send.
#[test]
fn a_response_time_begins_with_its_own_request() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let said = json(&[&ruler.url("/"), "-n", "800", "-t", "1", "-c", "1", "--pipeline", "8"], 0);
    no_faults(&said);
    // The ruler serves a connection sequentially, so each of 8 requests waits for the 7 before it, and for itself.
    let p50_ns = number(&said, "/service_time/p50_ns");
    assert!(p50_ns > 14e6, "{p50_ns}");
    assert!(number(&said, "/client/littles_law/in_flight_mean") > 6.0, "{}", said["client"]["littles_law"]);
}

#[test]
fn each_response_belongs_to_its_request() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let urls = [ruler.url("/a?status=200&body=10"), ruler.url("/b?status=404&body=2000&framing=chunked")];
    let args = [&[urls[0].as_str(), &urls[1], "-n", "4000", "-t", "1"], &ARGS[..]].concat();
    let said = json(&args, 99);
    let rows = said["requests"].as_array().expect("rows by request");
    assert_eq!(rows.len(), 2);
    let errors = |row: usize| count(&rows[row], "/errors");
    assert_eq!(errors(0), 0, "{}", rows[0]);
    assert_eq!(errors(1), count(&rows[1], "/requests"), "{}", rows[1]);
    assert_eq!(count(&said, "/status_codes/404"), errors(1));
    assert_eq!(count(&said, "/totals/requests"), 4_000);
}

/// 8 users share a connection that serves 2 ms for each request, so 8 requests are in flight.
#[test]
fn a_file_pipelines_its_requests() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let scratch = Scratch::new();
    let text = format!(
        "target: {}\nconnection: {{ pipeline: 8 }}\nload: {{ users: 8, duration: 1s }}\nscenarios: {{ s: [ \
         {{ get: /a }}, {{ get: /b }} ] }}\n",
        ruler.url("")
    );
    let said = json(&["run", &scratch.file("plan.yaml", &text)], 0);
    no_faults(&said);
    assert_eq!(count(&said, "/client/connections/opened"), 1);
    assert!(number(&said, "/client/littles_law/in_flight_mean") > 6.0, "{}", said["client"]["littles_law"]);
}

/// The ruler closes with the 10th response of a connection; it has read more requests than that, or none has.
#[test]
fn requests_that_a_close_leaves_are_failures() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&["--keep-alive-requests", "10"]);
    let url = ruler.url("/");
    let args = [&[url.as_str(), "-n", "400", "-t", "1"], &ARGS[..]].concat();
    let said = json(&args, 99);
    let failed: u64 = faults(&said).values().map(|(_, count)| count).sum();
    let answered = count(&said, "/status_codes/200");
    assert!(failed > 0, "{}", said["errors"]);
    assert_eq!(answered + failed, 400, "{}", said["errors"]);
    assert_eq!(answered, count(&ruler.counters(), "/responses"));
}
