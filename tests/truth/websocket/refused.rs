//! Handshakes and frames that RFC 6455 forbids: a class with a side, and never a hang.

use super::{counter, row, run};
use crate::provoke::{no_faults, only};
use crate::support::{Ruler, run_alongside};

const LOAD: &str = "load: { users: 2, iterations: 6 }";

#[test]
fn a_handshake_that_is_not_valid_opens_no_socket() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    for how in ["wrong_accept", "no_upgrade", "no_connection", "extension", "subprotocol"] {
        let steps = format!("    - connect: /websocket?handshake={how}\n    - send: x\n    - expect: x");
        let said = run(&ruler, &steps, LOAD, 99);
        assert_eq!(only(&said, "websocket_handshake_failed", "server"), 6, "{how}");
        assert_eq!((row(&said, "opened"), row(&said, "messages_sent")), (0, 0), "{how}");
    }
    let good = "    - connect: /websocket
      subprotocols: [a.v2, a.v1]
      compression: true
    - send: x
    - expect: x";
    no_faults(&run(&ruler, good, LOAD, 0));
}

#[test]
fn a_status_other_than_101_is_a_failure_unless_it_is_expected() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let said = run(&ruler, "    - connect: /websocket?status=403", LOAD, 99);
    assert_eq!(only(&said, "http_status", "server"), 6);
    assert_eq!((row(&said, "opened"), counter(&ruler, "websockets_opened")), (0, 0));
    let expected = "    - connect: /websocket?status=403\n      check: { status: 403 }";
    let said = run(&ruler, expected, LOAD, 0);
    no_faults(&said);
    assert_eq!(row(&said, "opened"), 0);
}

#[test]
fn frames_that_a_server_must_not_send_are_refused() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    for frame in [
        "masked",
        "reserved",
        "opcode",
        "fragmented_ping",
        "long_ping",
        "continuation",
        "interrupted",
        "utf8",
        "length",
        "close_code",
        "close_payload",
    ] {
        let steps = format!(
            "    - connect: /websocket?bad={frame}&bad_after=1\n    - send: x\n    - expect: {{ text: never }}"
        );
        let said = run(&ruler, &steps, LOAD, 99);
        assert_eq!(only(&said, "malformed_response", "server"), 6, "{frame}");
        assert_eq!(row(&said, "opened"), 6, "{frame}");
    }
    // The client says why it closes: 1002 is a protocol error, 1007 invalid text.
    let codes = &ruler.counters()["websocket_close_codes"];
    assert_eq!((&codes["1002"], &codes["1007"]), (&60.into(), &6.into()), "{codes}");
}

#[test]
fn a_message_above_the_limit_is_refused_by_its_length() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let huge = "    - connect: /websocket?bad=huge\n      idle_timeout: 5s\n      closed_by: server";
    let said = run(&ruler, huge, LOAD, 99);
    assert_eq!(only(&said, "unsafe_response", "server"), 6);
    assert_eq!(ruler.counters()["websocket_close_codes"]["1009"], 6);
    // A limit that the plan lowers is not the server's failure.
    let small = "    - connect: /websocket\n    - send: 0123456789\n    - expect: 0123456789";
    no_faults(&run(&ruler, small, &format!("{LOAD}\nlimits: {{ message_bytes: 10 }}"), 0));
    let said = run(&ruler, small, &format!("{LOAD}\nlimits: {{ message_bytes: 9 }}"), 3);
    assert_eq!(only(&said, "client_limit", "client"), 6);
}

#[test]
fn an_answer_to_an_ordinary_request_is_not_a_socket() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let said = run(&ruler, "    - connect: /?body=100000", LOAD, 99);
    assert_eq!(only(&said, "http_status", "server"), 6);
    assert_eq!(row(&said, "opened"), 0);
}
