//! Which side closes a socket, with which code, and when that is a failure.

use super::{adds_up, counter, row, run};
use crate::provoke::{no_faults, only};
use crate::support::{Ruler, run_alongside};

const LOAD: &str = "load: { users: 2, iterations: 8 }";

#[test]
fn a_socket_that_the_plan_closes_has_not_failed() {
    let _beside = run_alongside();
    for (close, code) in [("1000", 1000), ("{ code: 4001, reason: bye }", 4001), ("1001", 1001)] {
        let ruler = Ruler::start(&[]);
        let steps = format!("    - connect: /websocket\n    - close: {close}");
        let said = run(&ruler, &steps, LOAD, 0);
        adds_up(&said, &ruler);
        assert_eq!((row(&said, "closed_by_client"), row(&said, "closed_by_server")), (8, 0));
        assert_eq!(ruler.counters()["websocket_close_codes"][code.to_string()], 8);
    }
}

/// Sockets that are open at the end of an iteration are closed with code 1000.
#[test]
fn an_iteration_closes_what_it_has_opened() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = "    - { connect: /websocket, name: a }
    - { connect: /websocket, name: b }
    - { send: x, socket: a }";
    let said = run(&ruler, steps, LOAD, 0);
    no_faults(&said);
    assert_eq!(counter(&ruler, "websockets_opened"), 16);
    assert_eq!(ruler.counters()["websocket_close_codes"]["1000"], 16);
    assert_eq!(counter(&ruler, "websockets_cut"), 0);
    let sent: Vec<&serde_json::Value> =
        said["websockets"].as_array().unwrap().iter().map(|row| &row["messages_sent"]).collect();
    assert_eq!(sent, [8, 0], "the socket of each step has its own row");
}

#[test]
fn a_duration_and_a_number_of_messages_close_a_socket() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    for end in ["duration: 80ms", "messages: 5"] {
        let steps = format!("    - connect: /websocket?every=10ms\n      {end}\n      closed_by: client");
        let said = run(&ruler, &steps, LOAD, 0);
        no_faults(&said);
        assert_eq!(row(&said, "closed_by_client"), 8, "{end}");
        if end == "messages: 5" {
            // A message may be on its way while the client closes.
            assert!((8 * 5..=8 * 7).contains(&row(&said, "messages_received")), "{}", said["websockets"]);
        }
    }
}

/// A server that closes a socket that the plan still uses, or with the code of an error.
#[test]
fn an_unexpected_close_is_a_failure_and_the_expected_one_is_not() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let used = "    - connect: /websocket?close_after=1\n    - send: x\n    - expect: x\n    - think: 300ms";
    let said = run(&ruler, used, LOAD, 99);
    assert_eq!(only(&said, "websocket_closed", "server"), 8);
    assert_eq!((row(&said, "closed_by_server"), row(&said, "close_codes/1000")), (8, 8));

    let awaited = |code: u16| {
        format!(
            "    - connect: /websocket?every=1ms&count=3&close_after=0&close_code={code}\n      closed_by: server"
        )
    };
    for (code, cell) in [(1011, "1011"), (1008, "1008"), (3000, "3xxx"), (4999, "4xxx")] {
        let said = run(&ruler, &awaited(code), LOAD, 99);
        assert_eq!(only(&said, "websocket_closed", "server"), 8, "{code}");
        assert_eq!(row(&said, &format!("close_codes/{cell}")), 8);
    }
    for code in [1000, 1001] {
        let said = run(&ruler, &awaited(code), LOAD, 0);
        no_faults(&said);
        assert_eq!(row(&said, &format!("close_codes/{code}")), 8);
    }
}

#[test]
fn a_connection_that_ends_without_a_close_frame_is_a_failure() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = "    - connect: /websocket?cut_after=2\n      closed_by: server\n      \
                 while_open: [ { send: a }, { send: b } ]";
    let said = run(&ruler, steps, LOAD, 99);
    assert_eq!(only(&said, "websocket_closed", "server"), 8);
    assert_eq!((row(&said, "close_codes/1006"), counter(&ruler, "websockets_cut")), (8, 8));
}

/// A server that does not answer the close frame holds a socket for `close_timeout_ns` and no longer.
#[test]
fn a_close_frame_without_an_answer_ends_the_socket_in_time() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let begin = std::time::Instant::now();
    let steps = "    - connect: /websocket?answer_close=0\n    - close: 1000";
    let limits = "load: { users: 2, iterations: 2 }\nlimits: { close_timeout_ns: 200ms }";
    let said = run(&ruler, steps, limits, 0);
    no_faults(&said);
    assert_eq!(row(&said, "closed_by_client"), 2);
    assert!(begin.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn a_silent_socket_fails_after_its_idle_timeout() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = |every: &str| {
        format!(
            "    - connect: /websocket?every={every}&count=10\n      idle_timeout: 150ms\n      closed_by: server"
        )
    };
    let said = run(&ruler, &steps("2s"), LOAD, 99);
    assert_eq!(only(&said, "stream_idle_timeout", "server"), 8);
    no_faults(&run(&ruler, &steps("5ms"), LOAD, 0));
}

/// Sockets that are open at the end are neither lost nor failed, and the server receives a close frame with code 1001.
#[test]
fn sockets_that_are_open_at_the_end_are_counted_separately() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    // The run ends half an interval after a message: one that meets a closed connection would reset it, and the frame
    // may then be lost.
    let steps = "    - connect: /websocket?every=200ms\n      sequence: $.seq\n      closed_by: server";
    let said = run(&ruler, steps, "load: { users: 10, duration: 700ms }", 0);
    no_faults(&said);
    assert_eq!((row(&said, "opened"), row(&said, "open_at_end"), row(&said, "messages_lost")), (10, 10, 0));
    assert_eq!(ruler.counters()["websocket_close_codes"]["1001"], 10);
}
