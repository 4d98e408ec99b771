//! Requests, statuses, bytes, and connections, to the last one; and times.

use super::{counter, opens, run, server, streams};
use crate::counts::adds_up;
use crate::help::{cautions, count};
use crate::provoke::no_faults;
use crate::support::{Ruler, run_alongside};
use crate::times::{POINTS, compare};
use serde_json::Value;

#[test]
fn a_closed_model_counts_what_the_server_counts() {
    let _beside = run_alongside();
    for workers in ["1", "2"] {
        let ruler = server(&["--delay", "5ms"]);
        let args = ["-c", "4", "--streams", "25", "-t", workers, "-d", "1s"];
        let said = run(&ruler, "/", &args, 0);
        no_faults(&said);
        adds_up(&said, &ruler);
        opens(&said, &ruler, 4);
        assert_eq!(said["plan"]["link"]["streams"], 25, "{}", said["plan"]["link"]);
        assert_eq!(streams(&said, "streams_per_connection"), 25);
        // All 100 users are in the server at once, each on a stream.
        assert_eq!(counter(&ruler, "http2_streams_most"), 25);
        assert_eq!(counter(&ruler, "http2_streams"), counter(&ruler, "requests"), "all came over HTTP/2");
        assert_eq!(streams(&said, "requests_unprocessed") + streams(&said, "requests_limited_by_streams"), 0);
        assert!(count(&said, "/totals/requests") > 1_000, "{}", said["totals"]);
    }
}

#[test]
fn an_open_model_counts_what_the_server_counts() {
    let _beside = run_alongside();
    let ruler = server(&["--delay", "uniform:1ms-5ms"]);
    let args = ["-r", "2000", "--max-connections", "4", "--streams", "25", "-d", "1s", "-t", "2"];
    let said = run(&ruler, "/", &args, 0);
    no_faults(&said);
    assert_eq!(count(&said, "/offered/arrivals"), 2_000);
    adds_up(&said, &ruler);
    let opened = count(&said, "/client/connections/opened");
    assert!((1..=4).contains(&opened), "{}", said["client"]["connections"]);
    opens(&said, &ruler, opened);
    assert_eq!(counter(&ruler, "http2_streams"), counter(&ruler, "requests"));
}

/// Requests that the server receives on 25 streams of 4 connections end by count, so nothing is in flight.
#[test]
fn statuses_and_bytes_are_the_servers() {
    let _beside = run_alongside();
    for writes in ["batched", "single"] {
        let ruler = server(&["--error-rate", "0.1", "--body", "300", "--writes", writes]);
        let args = ["-c", "4", "--streams", "25", "-n", "5000", "-t", "2"];
        let said = run(&ruler, "/", &args, 99);
        adds_up(&said, &ruler);
        let counters = ruler.counters();
        assert_eq!(said["status_codes"], counters["by_status"], "{writes}");
        assert_eq!(count(&said, "/totals/requests"), 5_000);
        assert_eq!(count(&said, "/totals/errors"), count(&counters, "/by_status/500"));
        bytes(&said, &ruler, 5_000 * 300);
        opens(&said, &ruler, 4);
    }
}

/// Bodies are exact. A response has a HEADERS and a DATA frame, of 9 bytes each without their content, and the first on
/// a connection a head of less than 200 bytes. What plimsoll sends besides requests: preface and SETTINGS, at most 100
/// bytes for each connection, 5 with the trial connection; and acknowledgements and windows, 13 bytes each.
#[track_caller]
fn bytes(said: &Value, ruler: &Ruler, bodies: u64) {
    let at = |place: &str| count(said, place);
    assert_eq!(at("/totals/body_bytes"), bodies);
    let (requests, frames) = (at("/totals/requests"), at("/totals/bytes_in") - bodies);
    assert!((requests * 18..=requests * 60 + 800).contains(&frames), "{}", said["totals"]);
    let (sent, received) = (at("/totals/bytes_out"), counter(ruler, "bytes_in"));
    let windows =
        counter(ruler, "http2_window_updates_received") * 13 + counter(ruler, "http2_pings_received") * 17;
    assert!(
        (sent + windows..=sent + windows + 5 * 100).contains(&received),
        "{sent} bytes of requests, {windows} of windows, {received} received"
    );
}

/// The bodies of uploads: as many bytes as the plan says, for any windows of the server.
#[test]
fn uploads_are_complete_through_small_windows() {
    let _beside = run_alongside();
    for window in ["1m", "1000"] {
        let ruler = server(&["--initial-window", window, "--connection-window", "65535"]);
        let body = "x".repeat(20_000);
        let args = ["-c", "2", "--streams", "5", "-n", "200", "-X", "POST", "-d", "10s", "--body", &body];
        let said = run(&ruler, "/echo", &args, 0);
        no_faults(&said);
        adds_up(&said, &ruler);
        assert!(counter(&ruler, "bytes_in") > 200 * 20_000);
        assert!(ruler.last_request().ends_with(&body), "with a window of {window}");
    }
}

/// The server allows 3 streams where the plan wants 10: the others wait, and none is refused.
#[test]
fn a_limit_of_the_server_is_met_and_reported() {
    let _beside = run_alongside();
    let ruler = server(&["--max-streams", "3", "--delay", "1ms"]);
    let said = run(&ruler, "/", &["-c", "2", "--streams", "10", "-n", "1000"], 0);
    no_faults(&said);
    adds_up(&said, &ruler);
    opens(&said, &ruler, 2);
    assert_eq!(counter(&ruler, "http2_streams_most"), 3);
    assert_eq!(ruler.counters()["http2_resets_sent"], serde_json::json!({}), "no stream was refused");
    assert_eq!(streams(&said, "requests_unprocessed"), 0);
    let limited = streams(&said, "requests_limited_by_streams");
    // Of the 10 users of a connection, 7 wait at each moment.
    assert!((500..=1_000).contains(&limited), "{limited}");
    assert!(cautions(&said).contains(&"stream_limit_reached"), "{:?}", cautions(&said));

    let calm = server(&["--delay", "1ms"]);
    let said = run(&calm, "/", &["-c", "2", "--streams", "10", "-n", "1000"], 0);
    assert_eq!(streams(&said, "requests_limited_by_streams"), 0);
    assert!(!cautions(&said).contains(&"stream_limit_reached"));
}

#[test]
fn times_of_shared_connections_are_those_of_the_servers_log() {
    compare(
        "uniform:1ms-20ms",
        &POINTS,
        &[(&["-r", "1000", "--max-connections", "4"], 1_000)],
        &["--http2", "--streams", "25"],
    );
    compare("exponential:10ms", &POINTS, &[(&["-c", "2"], 1_200)], &["--http2", "--streams", "10"]);
}
