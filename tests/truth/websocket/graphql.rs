//! Operations of GraphQL over a WebSocket, against the libraries `graphql-ws` and `ws`: what is sent, what counts as a
//! result, and who ends it.

use super::row;
use crate::help::count;
use crate::provoke::{json, no_faults, only};
use crate::support::peers::SocketServer;
use crate::support::{Scratch, run_alongside};
use serde_json::Value;

const LOAD: &str = "load: { users: 2, iterations: 8 }";

/// Runs a step that connects to `path` with these keys. Returns the report and what the server has counted.
#[track_caller]
fn run(path: &str, keys: &str, code: i32) -> (Value, Value) {
    over("1.1", path, keys, code)
}

#[track_caller]
fn over(http: &str, path: &str, keys: &str, code: i32) -> (Value, Value) {
    let server = SocketServer::start(&[]);
    let scratch = Scratch::new();
    let text = format!(
        "target: ws://{}\nconnection: {{ http: {http} }}\nscenarios:\n  s:\n    - connect: {path}\n{keys}\n{LOAD}\n",
        server.address()
    );
    let said = json(&["run", &scratch.file("plan.yaml", &text)], code);
    (said, server.stats()["operations"].take())
}

fn prices(arguments: &str) -> String {
    format!("      graphql: {{ query: \"subscription {{ prices({arguments}) {{ seq value }} }}\" }}\n")
}

#[test]
fn the_server_completes_after_its_last_result() {
    let _beside = run_alongside();
    for http in ["1.1", "2"] {
        let keys = prices("count: 5") + "      sequence: $.payload.data.prices.seq";
        let (said, server) = over(http, "/graphql", &keys, 0);
        no_faults(&said);
        assert_eq!(
            (row(&said, "opened"), row(&said, "messages_received"), row(&said, "messages_lost")),
            (8, 56, 0),
            "five results, the acknowledgment, and the end"
        );
        assert_eq!(server["subscribed"], 8);
        assert_eq!(server["results"], 40);
        assert_eq!(server["completed_by_client"], 0, "the server has completed them");
        assert_eq!(server["codes"]["1000"], 8);
    }
}

#[test]
fn the_client_completes_after_its_number_of_results_or_its_duration() {
    let _beside = run_alongside();
    for end in ["messages: 3", "duration: 60ms"] {
        let keys = prices("count: 1000, every: 5") + "      closed_by: client\n      " + end;
        let (said, server) = run("/graphql", &keys, 0);
        no_faults(&said);
        assert_eq!(server["completed_by_client"], 8, "{end}");
        assert_eq!(server["codes"]["1000"], 8, "{end}");
        assert!(row(&said, "messages_received") >= 8, "{end}: {}", said["websockets"]);
        if end.starts_with("messages") {
            // The acknowledgment and three results; another one may be on its way while the client closes.
            assert!((32..40).contains(&row(&said, "messages_received")), "{}", said["websockets"]);
        }
    }
}

/// The payloads of the first message and of the operation are filled in for each socket.
#[test]
fn the_first_message_has_its_payload_and_the_operation_its_variables() {
    let _beside = run_alongside();
    let keys = "      graphql:
        query: \"subscription P($count: Int!) { prices(count: $count) { seq } }\"
        operation: P
        variables: { count: 2 }
        init: { token: \"t-${iteration}\" }
      while_open: [ { expect: { json: { $.type: next, $.payload.data.prices.seq: 2 } } } ]
      messages: 2";
    let (said, server) = run("/graphql?token=t-${iteration}", keys, 0);
    no_faults(&said);
    assert_eq!(server["initialized"], 8);
    assert_eq!(server["variables"].as_array().map(Vec::len), Some(8), "{server}");
    assert_eq!(server["variables"][0]["count"], 2);
    let (said, server) = run("/graphql?token=other", keys, 99);
    assert_eq!(only(&said, "websocket_closed", "server"), 8);
    assert_eq!(row(&said, "messages_received"), 0);
    assert_eq!(server["subscribed"], 0);
    assert_eq!(count(&said, "/websockets/0/close_codes/4xxx"), 8);
}

#[test]
fn errors_fail_unless_they_are_allowed() {
    let _beside = run_alongside();
    let refused = "      graphql: { query: \"subscription { refused { seq } }\" }";
    for keys in [prices("count: 3, fails_at: 2"), refused.to_owned()] {
        let (said, _) = run("/graphql", &keys, 99);
        assert_eq!(only(&said, "graphql_errors", "server"), 8);
        let (said, _) = run("/graphql", &keys.replace("graphql: {", "graphql: { errors: allow,"), 0);
        no_faults(&said);
    }
}

#[test]
fn a_query_has_one_result() {
    let _beside = run_alongside();
    let (said, server) = run("/graphql?ping=1", "      graphql: { query: \"{ price { value } }\" }", 0);
    no_faults(&said);
    assert_eq!(row(&said, "messages_received"), 8 * 4, "ping, acknowledgment, result, and end");
    assert_eq!((&server["pongs"], &server["completed"]), (&8.into(), &8.into()));
}

/// A server that never acknowledges, that speaks another protocol, or that completes what the client should end.
#[test]
fn a_server_that_breaks_the_protocol_fails_by_name() {
    let _beside = run_alongside();
    let (said, server) = run("/graphql?silent=1", &(prices("count: 1") + "      timeout: 100ms"), 99);
    assert_eq!(only(&said, "message_timeout", "server"), 8);
    assert_eq!(server["subscribed"], 0);
    let (said, _) = run("/graphql?garbage=1", &prices("count: 1"), 99);
    assert_eq!(only(&said, "malformed_response", "server"), 8);
    let keys = prices("count: 2") + "      messages: 5\n      closed_by: client";
    let (said, _) = run("/graphql", &keys, 99);
    assert_eq!(only(&said, "stream_failed", "server"), 8);
}
