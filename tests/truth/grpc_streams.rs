//! Calls with a stream of messages to send, against grpc-go: both sides count the messages, and each ends its direction
//! alone.

use crate::grpc::{ended, run};
use crate::help::count;
use crate::provoke::{faults, no_faults, only};
use crate::support::peers::GoServer;
use serde_json::{Value, json};

const LOAD: &str = "{ users: 2, iterations_per_user: 3 }";

/// Numbers of the only row of streams.
fn row<const N: usize>(said: &Value, fields: [&str; N]) -> [u64; N] {
    fields.map(|field| said["websockets"][0][field].as_u64().unwrap_or_else(|| panic!("{field}: {said}")))
}

#[test]
fn a_list_of_messages_is_sent_and_its_one_response_is_checked() {
    let server = GoServer::start("grpc");
    let steps = "- grpc: echo.v1.Echo/Collect\n  \
                 messages: [ { id: 1, name: \"u${user}\" }, { id: 2 }, { id: 3 } ]\n  rounds: 2\n  \
                 check: { json: { \"$.items[5].id\": 3, \"$.items[3].name\": \"u${user}\", \"$.items[6]\": { exists: \
                 false } } }\n  \
                 extract: { last: \"$.items[5].id\" }\n- grpc: echo.v1.Echo/Send\n  message: { an_int64: \"${last}\" }";
    let said = run(&server.url(""), steps, LOAD, 0);
    no_faults(&said);
    // 6 iterations of 6 messages, and one of the second call.
    assert_eq!(
        row(&said, ["opened", "closed_by_server", "messages_sent", "messages_received"]),
        [6, 6, 36, 6]
    );
    let seen = server.stats();
    assert_eq!([count(&seen, "/calls"), count(&seen, "/messages")], [12, 42]);
    assert_eq!(seen["last"], json!({ "an_int64": "3" }));
    assert_eq!(ended(&said, "OK"), 12.0);
    let wrong = steps.replace("[5].id\": 3", "[5].id\": 4");
    assert_eq!(only(&run(&server.url(""), &wrong, LOAD, 99), "check_failed", "server"), 6);
}

#[test]
fn a_stream_may_be_empty_and_a_single_message_is_a_stream_too() {
    let server = GoServer::start("grpc");
    let steps = "- grpc: echo.v1.Echo/Collect\n  check: { json: { $.items: \"[]\" } }\n- grpc: echo.v1.Echo/Chat\n\
                 - grpc: echo.v1.Echo/Collect\n  name: one\n  message: { id: 7 }\n  check: { json: \
                 { \"$.items[0].id\": 7 } }";
    let said = run(&server.url(""), steps, LOAD, 0);
    no_faults(&said);
    let seen = server.stats();
    assert_eq!([count(&seen, "/calls"), count(&seen, "/messages")], [18, 6]);
    assert_eq!(seen["statuses"], json!({ "OK": 18 }));
}

#[test]
fn an_interval_spreads_the_messages_over_time() {
    let server = GoServer::start("grpc");
    let steps =
        "- grpc: echo.v1.Echo/Chat\n  messages: [ { id: 1 }, { id: 2 } ]\n  rounds: 3\n  interval: 30ms";
    let said = run(&server.url(""), steps, LOAD, 0);
    no_faults(&said);
    assert_eq!(row(&said, ["messages_sent", "messages_received"]), [36, 36]);
    let stream = &said["websockets"][0];
    // A pause after each of 6 messages: no stream can be shorter, and no gap is much shorter than a pause.
    assert!(stream["duration"]["min_ns"].as_f64().unwrap() >= 6.0 * 30e6 * 0.99, "{}", stream["duration"]);
    assert!(stream["gap"]["p50_ns"].as_f64().unwrap() >= 20e6, "{}", stream["gap"]);
    assert_eq!(count(&server.stats(), "/messages"), 36);
}

#[test]
fn each_message_of_a_dialog_has_its_response_and_its_round_trip() {
    let server = GoServer::start("grpc");
    let steps = "- grpc: echo.v1.Echo/Chat\n  stream:\n    while_open:\n      - repeat: 10\n        steps:\n          \
                 - set: { n: \"${counter}\" }\n          - send: { message: { id: \"${n}\", name: \"${uuid}\" } \
                 }\n          \
                 - expect: { json: { $.id: \"${n}\" } }\n            extract: { name: $.name }\n      \
                 - send: { message: { name: \"${name}\" } }\n      - close: {}\n      - expect: { json: { $.id: 0, \
                 $.name: \"${name}\" } }";
    let said = run(&server.url(""), steps, LOAD, 0);
    no_faults(&said);
    assert_eq!(row(&said, ["opened", "messages_sent", "messages_received"]), [6, 66, 66]);
    assert_eq!(said["websockets"][0]["round_trip"]["count"], 66, "{said}");
    assert_eq!(count(&server.stats(), "/messages"), 66);
    // A response that never comes.
    let waits = "- grpc: echo.v1.Echo/Chat\n  on_failure: continue\n  stream:\n    while_open:\n      \
                 - send: { message: { id: 1 } }\n      - expect: { json: { $.id: 2 } }\n        within: 50ms";
    let said = run(&server.url(""), waits, LOAD, 99);
    assert_eq!(only(&said, "message_timeout", "server"), 6);
}

#[test]
fn responses_are_matched_with_messages_by_their_ids() {
    let server = GoServer::start("grpc");
    for correlation in ["$.id", "next"] {
        let steps = format!(
            "- grpc: echo.v1.Echo/Chat\n  messages: [ {{ id: \"${{counter}}\" }} ]\n  rounds: 20\n  \
             stream: {{ correlation: {correlation}, sequence: $.id }}"
        );
        let said = run(&server.url(""), &steps, "{ users: 1, iterations_per_user: 2 }", 0);
        no_faults(&said);
        let fields = ["messages_sent", "messages_unanswered", "responses_unmatched", "messages_lost"];
        assert_eq!(row(&said, fields), [40, 0, 0, 0], "{correlation}");
        assert_eq!(said["websockets"][0]["round_trip"]["count"], 40, "{correlation}");
    }
}

#[test]
fn long_messages_wait_for_the_window_of_the_server() {
    let server = GoServer::start("grpc");
    // 20 messages of 100 kB through windows of 64 KiB, to a server that answers each.
    let text = "x".repeat(100_000);
    let steps = format!(
        "- grpc: echo.v1.Echo/Chat\n  stream:\n    while_open:\n      - repeat: 20\n        steps:\n          \
         - send: {{ message: {{ id: \"${{counter}}\", name: \"${{user}}{text}\" }} }}"
    );
    let said = run(&server.url(""), &steps, "{ users: 2, iterations_per_user: 2 }", 0);
    no_faults(&said);
    assert_eq!(row(&said, ["messages_sent", "messages_received"]), [80, 80]);
    assert_eq!(count(&server.stats(), "/messages"), 80);
    let whole = format!(
        "- grpc: echo.v1.Echo/Collect\n  messages: [ {{ name: \"${{user}}{text}\" }} ]\n  rounds: 5\n  \
         check: {{ json: {{ \"$.items[4].name\": {{ exists: true }} }} }}"
    );
    no_faults(&run(&server.url(""), &whole, "{ users: 2, iterations_per_user: 2 }", 0));
    assert_eq!(count(&server.stats(), "/messages"), 100);
}

#[test]
fn messages_of_a_stream_are_compressed() {
    let server = GoServer::start("grpc");
    let text = "x".repeat(5000);
    let steps = format!(
        "- grpc: echo.v1.Echo/Chat\n  compression: gzip\n  stream:\n    correlation: $.id\n    while_open:\n      \
         - repeat: 5\n        steps:\n          - send: {{ message: {{ id: \"${{counter}}\", \
         name: \"${{user}}{text}\" }} }}"
    );
    let said = run(&server.url(""), &steps, LOAD, 0);
    no_faults(&said);
    assert_eq!(row(&said, ["messages_sent", "messages_received", "messages_unanswered"]), [30, 30, 0]);
    assert!(count(&said, "/totals/bytes_out") < 30_000, "{}", said["totals"]);
}

#[test]
fn the_status_ends_a_stream_and_the_server_may_end_it_early() {
    let server = GoServer::start("grpc");
    let call = |metadata: &str, more: &str| {
        format!(
            "- grpc: echo.v1.Echo/Chat\n  messages: [ {{ id: 1 }}, {{ id: 2 }} ]\n  metadata: {{ {metadata} }}\n  \
             on_failure: continue\n{more}"
        )
    };
    let said = run(&server.url(""), &call("x-status: 14, x-message: busy", ""), LOAD, 99);
    assert_eq!(only(&said, "grpc_unavailable", "server"), 6);
    assert_eq!(ended(&said, "UNAVAILABLE"), 6.0);
    assert_eq!(said["failure_examples"][0]["observed"], "UNAVAILABLE: busy");
    let expects = call("x-status: 14, x-message: busy", "  check: { status: UNAVAILABLE, message: busy }\n");
    no_faults(&run(&server.url(""), &expects, LOAD, 0));
    // Without a message, the head has the status.
    let empty = "- grpc: echo.v1.Echo/Collect\n  metadata: { x-status: 5 }\n  on_failure: continue";
    assert_eq!(only(&run(&server.url(""), empty, LOAD, 99), "grpc_not_found", "server"), 6);
    // The server stops after 2 of 20 messages, with OK.
    let early = "- grpc: echo.v1.Echo/Chat\n  metadata: { x-stop-after: 2 }\n  messages: [ { id: 1 } ]\n  rounds: \
    20\n  \
                 interval: 10ms\n- grpc: echo.v1.Echo/Send";
    let said = run(&server.url(""), early, LOAD, 0);
    no_faults(&said);
    let [sent, received] = row(&said, ["messages_sent", "messages_received"]);
    assert_eq!((received, (12..120).contains(&sent)), (12, true), "{sent}");
}

#[test]
fn the_client_may_end_a_stream_or_run_out_of_patience() {
    let server = GoServer::start("grpc");
    let call = |stream: &str, more: &str| {
        format!(
            "- grpc: echo.v1.Echo/Chat\n  on_failure: continue\n{more}  stream:\n    {stream}\n    while_open:\n      \
             - send: {{ message: {{ id: 1 }} }}\n        think: 30s\n"
        )
    };
    let said = run(&server.url(""), &call("duration: 100ms\n    closed_by: client", ""), LOAD, 0);
    no_faults(&said);
    assert_eq!(row(&said, ["opened", "closed_by_client", "messages_sent"]), [6, 6, 6]);
    assert_eq!(server.stats()["statuses"], json!({ "Canceled": 6 }));
    let said = run(&server.url(""), &call("idle_timeout: 100ms", ""), LOAD, 99);
    assert_eq!(only(&said, "stream_idle_timeout", "server"), 6);
    // Before the first message, there is not even a head: the request is completed, and the server responds to that.
    let silent = "- grpc: echo.v1.Echo/Chat\n  on_failure: continue\n  stream:\n    idle_timeout: \
    100ms\n    while_open:\n      \
                  - think: 30s\n      - send: { message: { id: 1 } }\n";
    assert_eq!(only(&run(&server.url(""), silent, LOAD, 99), "stream_idle_timeout", "server"), 6);
    let slow = "- grpc: echo.v1.Echo/Collect\n  deadline: 100ms\n  on_failure: \
    continue\n  stream:\n    while_open:\n      \
                - think: 30s\n      - send: { message: { id: 1 } }\n";
    let found = faults(&run(&server.url(""), slow, LOAD, 99));
    let of = |class: &str| found.get(class).map_or(0, |row| row.1);
    assert_eq!(of("timeout") + of("grpc_deadline_exceeded"), 6, "{found:?}");
}

#[test]
fn streams_share_a_connection() {
    let server = GoServer::start("grpc");
    let steps = "- grpc: echo.v1.Echo/Chat\n  stream:\n    while_open:\n      - repeat: 20\n        steps:\n          \
                 - send: { message: { id: \"${counter}\" } }\n          - expect: {}";
    let load = "{ users: 40, iterations_per_user: 5 }\nconnection: { streams: 20 }";
    let said = run(&server.url(""), steps, load, 0);
    no_faults(&said);
    assert_eq!(row(&said, ["opened", "messages_sent", "messages_received"]), [200, 4000, 4000]);
    assert_eq!(count(&server.stats(), "/messages"), 4000);
}
