//! What a server can do to a stream or to its connection, by its own class; and what becomes of the others.

use super::{counter, opens, run, server, streams};
use crate::counts::adds_up;
use crate::help::{cautions, count};
use crate::provoke::{faults, middle, no_faults, only};
use crate::support::run_alongside;

/// 60 requests that all meet the same fault, and 60 on the same server that meet none. Returns the connections opened.
#[track_caller]
fn by_server(query: &str, class: &str) -> u64 {
    let ruler = server(&[]);
    let args = ["-n", "60", "-c", "2", "--streams", "5"];
    let said = run(&ruler, &format!("/?{query}"), &args, 99);
    assert_eq!(only(&said, class, "server"), 60, "{query}");
    assert_eq!((count(&said, "/totals/requests"), count(&said, "/totals/errors")), (60, 60));
    adds_up(&said, &ruler);
    let opened = count(&said, "/client/connections/opened");

    let calm = run(&ruler, "/", &args, 0);
    no_faults(&calm);
    assert_eq!(count(&calm, "/totals/requests"), 60);
    opened
}

#[test]
fn a_reset_stream_fails_alone() {
    let _beside = run_alongside();
    for fault in ["reset_before", "reset_mid_body", "reset_before&reset_code=CANCEL"] {
        // One worker may send all of the 60 requests before the other begins.
        let opened = by_server(&format!("fault={fault}"), "stream_reset");
        assert!((1..=2).contains(&opened), "{fault}: connections live on, but {opened} were opened");
    }
    // Where a fifth of the streams is reset, only these fail.
    let ruler = server(&["--fault", "reset_before", "--fault-rate", "0.2"]);
    let said = run(&ruler, "/", &["-n", "1000", "-c", "2", "--streams", "5"], 99);
    assert_eq!(only(&said, "stream_reset", "server"), counter(&ruler, "by_fault/reset_before"));
    assert_eq!(count(&said, "/status_codes/200"), counter(&ruler, "responses"));
    adds_up(&said, &ruler);
    opens(&said, &ruler, 2);
}

/// A request that is refused is retried once. The ruler receives it a second time, plimsoll counts it once.
#[test]
fn a_refused_stream_is_retried_once() {
    let _beside = run_alongside();
    let ruler = server(&["--fault", "refused", "--fault-rate", "0.2"]);
    let said = run(&ruler, "/", &["-n", "1000", "-c", "2", "--streams", "5"], 99);
    let failed = only(&said, "stream_refused", "server");
    let (retried, refused) = (streams(&said, "requests_unprocessed"), counter(&ruler, "by_fault/refused"));
    assert_eq!(count(&said, "/totals/requests"), 1_000);
    assert_eq!(retried + failed, refused, "each refusal is a retry or, the second time, a failure");
    assert_eq!(count(&said, "/totals/requests_sent") + retried, counter(&ruler, "requests"));
    assert_eq!(count(&said, "/status_codes/200"), counter(&ruler, "responses"));
    // Expected are 200 retries and 40 failures; the deviations are 13 and 6.
    assert!((140..=260).contains(&retried) && (10..=75).contains(&failed), "{retried} and {failed}");
    assert!(cautions(&said).contains(&"requests_unprocessed"), "{:?}", cautions(&said));
    opens(&said, &ruler, 2);
}

#[test]
fn a_stream_that_is_refused_twice_fails() {
    let _beside = run_alongside();
    let ruler = server(&["--fault", "refused"]);
    let said = run(&ruler, "/", &["-n", "60", "-c", "2", "--streams", "5"], 99);
    assert_eq!(only(&said, "stream_refused", "server"), 60);
    assert_eq!((count(&said, "/totals/requests_sent"), streams(&said, "requests_unprocessed")), (60, 60));
    assert_eq!(counter(&ruler, "requests"), 120);
    opens(&said, &ruler, 2);

    ruler.set("fault=none");
    no_faults(&run(&ruler, "/", &["-n", "60", "-c", "2", "--streams", "5"], 0));
}

/// With a connection, all its streams end. A request of which the server has read nothing was never sent.
#[test]
fn a_closed_connection_ends_its_requests() {
    let _beside = run_alongside();
    // All streams of a connection are open when the first response is due.
    let opened = by_server("fault=close_before&delay=20ms", "closed_before_response");
    assert!((12..=60).contains(&opened), "{opened} connections");
    let ruler = server(&[]);
    let said =
        run(&ruler, "/?fault=close_mid_body&body=1000", &["-n", "60", "-c", "6", "--streams", "1"], 99);
    // If the client's acknowledgment of the settings arrives after the close, the kernel of the server resets.
    let found = faults(&said);
    let count_of = |class: &str| found.get(class).map_or(0, |(_, n)| *n);
    assert_eq!(count_of("closed_mid_response") + count_of("connection_reset"), 60, "{found:?}");
    assert_eq!(count(&said, "/client/connections/opened"), 60);
}

#[test]
fn invalid_frames_and_lengths_are_the_servers() {
    let _beside = run_alongside();
    by_server("fault=conflicting_length", "unsafe_response");
}

/// The client resets a stream that has timed out, and the connection serves the next request.
#[test]
fn a_timeout_resets_its_stream_alone() {
    let _beside = run_alongside();
    for fault in ["no_response", "stall_mid_body"] {
        let ruler = server(&["--fault", fault]);
        let args = ["-n", "60", "-c", "2", "--streams", "5", "--timeout", "100ms"];
        let said = run(&ruler, "/", &args, 99);
        assert_eq!(only(&said, "timeout", "server"), 60, "{fault}");
        adds_up(&said, &ruler);
        opens(&said, &ruler, 2);
        assert_eq!(streams(&said, "streams_reset"), 60, "{fault}");
        assert_eq!(ruler.counters()["http2_resets_received"], serde_json::json!({ "CANCEL": 60 }), "{fault}");
    }
}

/// The server stops accepting HTTP/2 in the middle of the run, for example because another one took its place.
#[test]
fn a_server_that_changes_to_http1_is_named() {
    let _beside = run_alongside();
    let ruler = server(&["--goaway-after", "50", "--delay", "2ms"]);
    let url = ruler.url("/");
    let args = [url.as_str(), "--http2", "-c", "2", "-d", "1s"];
    let said = middle(&ruler, &args, 99, || ruler.set("http2=0"));
    only(&said, "protocol_changed", "server");
    no_faults(&middle(&ruler, &[&url, "-c", "2", "-d", "1s"], 0, || ()));
}
