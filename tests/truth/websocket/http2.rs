//! WebSockets over HTTP/2 (RFC 8441), against Node's `http2` and the library `ws`, which speak both versions on one
//! port: the same experiment has the same counts over both.

use super::row;
use crate::help::count;
use crate::provoke::{faults, json, no_faults, only};
use crate::support::peers::{Pki, SocketServer};
use crate::support::{Scratch, Tool, run_alongside};
use serde_json::Value;

const LOAD: &str = "load: { users: 2, iterations: 8 }";

/// Returns the text of a plan with these steps; `link` has the keys of `connection`.
fn plan(server: &SocketServer, link: &str, steps: &str, load: &str) -> String {
    let target = server.address();
    format!("target: ws://{target}\nconnection: {{ {link} }}\nscenarios:\n  s:\n{steps}\n{load}\n")
}

#[track_caller]
fn run(server: &SocketServer, link: &str, steps: &str, load: &str, code: i32) -> Value {
    let scratch = Scratch::new();
    json(&["run", &scratch.file("plan.yaml", &plan(server, link, steps, load))], code)
}

/// Returns what must be the same over both versions, for the client and for the server.
fn counts_of(said: &Value, server: &SocketServer) -> (Value, Value) {
    let row = &said["websockets"][0];
    let fields = [
        "opened",
        "closed_by_client",
        "closed_by_server",
        "messages_sent",
        "messages_received",
        "messages_lost",
        "messages_expected",
        "messages_unanswered",
        "close_codes",
        "open_at_end",
    ];
    let mut ours: serde_json::Map<String, Value> =
        fields.iter().map(|field| ((*field).to_owned(), row[field].clone())).collect();
    for place in ["round_trip", "ping", "message_size", "handshake"] {
        ours.insert(place.to_owned(), row[place]["count"].clone());
    }
    let checks = said["checks"].as_array().into_iter().flatten();
    let checks: Vec<[&Value; 3]> =
        checks.map(|check| [&check["name"], &check["evaluations"], &check["failures"]]).collect();
    ours.insert("checks".to_owned(), serde_json::json!(checks));
    ours.insert("faults".to_owned(), serde_json::json!(faults(said)));
    let stats = server.stats();
    let fields = ["opened", "received", "sent", "compressed", "cut", "codes", "requests", "subprotocols"];
    let theirs = fields.iter().map(|field| ((*field).to_owned(), stats[field].clone())).collect();
    (Value::Object(ours), Value::Object(theirs))
}

/// Runs the steps over both versions, each against its own server, and returns the report over HTTP/2.
#[track_caller]
fn same(link: &str, steps: &str, load: &str, code: i32) -> (Value, SocketServer) {
    let (one, two) = (SocketServer::start(&[]), SocketServer::start(&[]));
    let first = run(&one, "http: 1.1", steps, load, code);
    let second = run(&two, &format!("http: 2{link}"), steps, load, code);
    assert_eq!(counts_of(&first, &one), counts_of(&second, &two), "{steps}");
    let stats = two.stats();
    assert_eq!(stats["opened_http2"], stats["opened"], "all over HTTP/2");
    (second, two)
}

#[test]
fn every_message_is_counted_as_over_http1() {
    let _beside = run_alongside();
    let steps = "    - connect: /echo
      correlation: $.id
      subprotocols: [a.v1, a.v2]
    - repeat: 25
      steps:
        - send: { json: { id: \"${uuid}\", n: \"${counter}\" } }
        - expect: { json: { $.n: { exists: true } } }
    - ping: x
    - send: { json: { id: \"${uuid}\", pad: \"${random_string(90000)}\" } }
    - expect: { length: 90054 }
    - close: { code: 4000, reason: done }";
    let (said, server) = same("", steps, "load: { users: 4, iterations: 20 }", 0);
    no_faults(&said);
    let told = ["opened", "closed_by_client", "messages_sent", "messages_received"].map(|f| row(&said, f));
    assert_eq!(told, [20, 20, 20 * 26, 20 * 26], "{}", said["websockets"]);
    assert_eq!((row(&said, "round_trip/count"), row(&said, "ping/count")), (20 * 26, 20));
    let stats = server.stats();
    assert_eq!((&stats["codes"]["4000"], &stats["subprotocols"]["a.v2"]), (&20.into(), &20.into()));
    // Four users with one connection each, and the trial connection; no stream was reset.
    assert_eq!((&stats["connections_http2"], &stats["resets_received"]), (&5.into(), &0.into()), "{stats}");
    assert_eq!(count(&said, "/client/connections/http2/streams_reset"), 0);
    // The handshake has the fields of RFC 8441, and neither a key nor an upgrade.
    let fields = ":authority :method :path :protocol :scheme sec-websocket-protocol sec-websocket-version";
    assert_eq!(stats["fields"], serde_json::json!({ fields: 20 }));
}

#[test]
fn compressed_messages_are_the_same() {
    let _beside = run_alongside();
    for compression in ["true", "{ context_takeover: false }"] {
        let steps = format!(
            "    - connect: /echo\n      compression: {compression}
    - repeat: 20
      steps: [ {{ send: \"a line that repeats ${{counter}}\" }}, {{ expect: {{ text: {{ matches: \"repeats\" }} }} }} ]
    - close: 1000"
        );
        let (said, server) = same("", &steps, LOAD, 0);
        no_faults(&said);
        assert_eq!(server.stats()["compressed"], 8);
        assert_eq!(row(&said, "messages_received"), 160);
    }
}

#[test]
fn sockets_and_requests_share_a_connection() {
    let _beside = run_alongside();
    let steps = "    - { connect: /echo, name: a }
    - { connect: /echo, name: b }
    - { get: /get, name: page }
    - repeat: 5
      steps:
        - { send: one, socket: a }
        - { expect: one, socket: a }
        - { send: two, socket: b }
        - { expect: two, socket: b }
        - { get: /get, name: again }";
    let load = "load: { users: 8, iterations: 16 }";
    let (said, server) = same(", streams: 8", steps, load, 0);
    no_faults(&said);
    let stats = server.stats();
    // One connection for the eight users, and the trial connection.
    assert_eq!(stats["connections_http2"], 2, "{stats}");
    assert_eq!(
        (&stats["opened"], &stats["requests"], &stats["received"]),
        (&32.into(), &96.into(), &160.into())
    );
    assert!(stats["sockets_most"].as_u64() > Some(8), "{stats}");
    assert_eq!((&stats["codes"]["1000"], &stats["cut"]), (&32.into(), &0.into()));
}

#[test]
fn each_way_to_close_is_the_same() {
    let _beside = run_alongside();
    let awaited =
        |query: &str| format!("    - connect: /?{query}\n      sequence: $.seq\n      closed_by: server");
    for (query, code) in
        [("every=2&count=5", 0), ("every=2&count=5&code=1011", 99), ("every=2&count=5&code=3001", 99)]
    {
        let (said, _) = same("", &awaited(query), LOAD, code);
        assert_eq!((row(&said, "closed_by_server"), row(&said, "messages_received")), (8, 40), "{query}");
    }
    let steps = "    - connect: /echo?close_after=1\n    - send: x\n    - expect: x\n    - think: 2s";
    let (said, _) = same("", steps, LOAD, 99);
    assert_eq!(only(&said, "websocket_closed", "server"), 8);
    for end in ["duration: 60ms", "messages: 3"] {
        let steps = format!("    - connect: /?every=5\n      {end}\n      closed_by: client");
        let server = SocketServer::start(&[]);
        let said = run(&server, "http: 2", &steps, LOAD, 0);
        no_faults(&said);
        assert_eq!(
            (row(&said, "closed_by_client"), &server.stats()["codes"]["1000"]),
            (8, &8.into()),
            "{end}"
        );
    }
}

/// END_STREAM without a close frame is what FIN is over HTTP/1.1.
#[test]
fn an_end_without_a_close_frame_is_a_failure() {
    let _beside = run_alongside();
    let steps = "    - connect: /echo?cut_after=2\n      closed_by: server\n      \
                 while_open: [ { send: a }, { send: b } ]";
    let (said, _) = same("", steps, LOAD, 99);
    assert_eq!(only(&said, "websocket_closed", "server"), 8);
    assert_eq!(row(&said, "close_codes/1006"), 8);
}

/// A server may end its direction together with its close frame; the client's close frame still arrives.
#[test]
fn a_close_frame_with_the_end_of_the_stream_is_answered() {
    let _beside = run_alongside();
    let server = SocketServer::start(&[]);
    let steps =
        "    - connect: /echo?close_and_end=1\n      closed_by: server\n      while_open: [ { send: a } ]";
    let said = run(&server, "http: 2", steps, LOAD, 0);
    no_faults(&said);
    assert_eq!((row(&said, "closed_by_server"), row(&said, "close_codes/1000")), (8, 8));
    assert_eq!((&server.stats()["cut"], &server.stats()["resets_received"]), (&0.into(), &0.into()));
}

#[test]
fn a_stream_that_is_reset_fails_alone() {
    let _beside = run_alongside();
    let server = SocketServer::start(&[]);
    let steps = "    - { connect: /echo, name: good }
    - connect: /echo?reset_after=2
      name: bad
      on_failure: continue
      closed_by: server
      while_open: [ { send: a }, { send: b } ]
    - { send: on, socket: good }
    - { expect: on, socket: good }";
    let said = run(&server, "http: 2", steps, LOAD, 99);
    assert_eq!(only(&said, "stream_reset", "server"), 8);
    let rows = said["websockets"].as_array().unwrap();
    let told = |at: usize, field: &str| rows[at][field].as_u64().unwrap();
    assert_eq!((told(0, "messages_received"), told(0, "closed_by_client")), (8, 8));
    assert_eq!(rows[1]["close_codes"]["1006"], 8, "{}", rows[1]);
}

/// After GOAWAY, open sockets continue, and new ones are opened on another connection.
#[test]
fn a_goaway_ends_no_socket() {
    let _beside = run_alongside();
    let server = SocketServer::start(&[]);
    let steps = "    - connect: /echo?goaway_after=1
    - repeat: 5
      steps: [ { send: x }, { expect: x } ]
    - close: 1000";
    let said = run(&server, "http: 2", steps, LOAD, 0);
    no_faults(&said);
    assert_eq!(
        (row(&said, "opened"), row(&said, "messages_received"), row(&said, "closed_by_client")),
        (8, 40, 8)
    );
    // Each iteration has lost its connection after its socket.
    assert_eq!(
        (count(&said, "/client/connections/http2/goaways"), &server.stats()["connections_http2"]),
        (8, &9.into())
    );
}

#[test]
fn a_refusal_is_judged_as_over_http1() {
    let _beside = run_alongside();
    for status in [403, 503] {
        let steps = format!("    - connect: /echo?refuse={status}\n    - send: x");
        let (said, _) = same("", &steps, LOAD, 99);
        assert_eq!((only(&said, "http_status", "server"), row(&said, "opened")), (8, 0));
        let expected = format!("    - connect: /echo?refuse={status}\n      check: {{ status: {status} }}");
        let (said, _) = same("", &expected, LOAD, 0);
        no_faults(&said);
    }
    // A status that a file expects of HTTP/1.1 means the same over HTTP/2.
    let (said, _) = same("", "    - connect: /echo\n      check: { status: 101 }", LOAD, 0);
    no_faults(&said);
    assert_eq!(row(&said, "opened"), 8);
    let (said, _) = same("", "    - connect: /echo\n      check: { status: 403 }", LOAD, 99);
    assert_eq!(only(&said, "http_status", "server"), 8);
}

/// A message above the windows of the server, and above the buffer of the client, arrives as it was sent.
#[test]
fn large_messages_pass_the_windows() {
    let _beside = run_alongside();
    let steps = "    - connect: /echo
    - repeat: 3
      steps:
        - send: { json: { pad: \"${random_string(1000000)}\" } }
        - send: small
        - expect: { length: 1000010 }
        - expect: small";
    let (said, _) = same(", streams: 2", steps, LOAD, 0);
    no_faults(&said);
    assert_eq!(row(&said, "messages_received"), 8 * 6);
}

/// Without the setting, no socket can be opened: this is known before the load.
#[test]
fn a_server_without_the_setting_is_an_error_before_the_load() {
    let _beside = run_alongside();
    let server = SocketServer::start(&["--announced", "0"]);
    let scratch = Scratch::new();
    let file = scratch.file("plan.yaml", &plan(&server, "http: 2", "    - connect: /echo", LOAD));
    let output = Tool::new(&["run", &file]).start().wait();
    assert_eq!(output.code, 1, "{}", output.stderr);
    let sentence =
        "does not support WebSocket over HTTP/2: its settings lack SETTINGS_ENABLE_CONNECT_PROTOCOL";
    assert!(output.stderr.contains(sentence), "{}", output.stderr);
    assert_eq!(server.stats()["opened"], 0);
    // The twins: HTTP/1.1 on the same server, which `auto` chooses, and requests over HTTP/2.
    for link in ["http: auto", "http: 1.1"] {
        no_faults(&run(&server, link, "    - connect: /echo", LOAD, 0));
    }
    no_faults(&run(&server, "http: 2", "    - get: /get", LOAD, 0));
}

/// A server that announces it for the trial connection, and not for those of the load.
#[test]
fn a_server_that_takes_the_setting_back_is_named() {
    let _beside = run_alongside();
    let server = SocketServer::start(&["--announced", "1"]);
    let said = run(&server, "http: 2", "    - connect: /echo\n    - send: x", LOAD, 99);
    assert_eq!(only(&said, "protocol_changed", "server"), 8);
    assert_eq!(server.stats()["opened"], 0);
    let examples = &said["failure_examples"];
    assert!(examples.to_string().contains("SETTINGS_ENABLE_CONNECT_PROTOCOL"), "{examples}");
}

/// A server that accepts connections and sends no settings holds a socket for the timeout of a connection.
#[test]
fn a_server_without_settings_holds_no_socket() {
    let _beside = run_alongside();
    let server = SocketServer::start(&["--settings", "no"]);
    let limits = "load: { users: 2, iterations: 4 }\nlimits: { connect_timeout_ns: 300ms }";
    let said = run(&server, "http: 2", "    - connect: /echo\n    - send: x", limits, 99);
    assert_eq!(only(&said, "protocol_changed", "server"), 4);
    assert_eq!(server.stats()["opened"], 0);
}

/// Sockets that are open at the end get a close frame with code 1001.
#[test]
fn sockets_that_are_open_at_the_end_are_told_so() {
    let _beside = run_alongside();
    let steps = "    - connect: /?every=20\n      sequence: $.seq\n      closed_by: server";
    let server = SocketServer::start(&[]);
    let said = run(&server, "http: 2, streams: 5", steps, "load: { users: 10, duration: 600ms }", 0);
    no_faults(&said);
    assert_eq!((row(&said, "opened"), row(&said, "open_at_end"), row(&said, "messages_lost")), (10, 10, 0));
    crate::provoke::until("the close frames", || (server.stats()["codes"]["1001"] == 10).then_some(()));
}

#[test]
fn secure_sockets_count_the_same() {
    let _beside = run_alongside();
    let pki = Pki::new("IP:127.0.0.1");
    let (certificate, key) = pki.server();
    let [certificate, key] = [certificate, key].map(|file| file.display().to_string());
    let steps = "    - connect: /echo
      compression: true
    - repeat: 10
      steps: [ { send: \"${random_string(3000)}\" }, { expect: { length: 3000 } } ]
    - close: 1000";
    for (http, streams) in [("1.1", 1), ("2", 1), ("2", 4)] {
        let server = SocketServer::start(&["--certificate", &certificate, "--key", &key]);
        let port = &server.stats()["tls_port"];
        let text = format!(
            "target: wss://127.0.0.1:{port}\ntls: {{ ca: \"{}\" }}\nconnection: {{ http: {http}, streams: {streams} }}
scenarios:\n  s:\n{steps}\nload: {{ users: 4, iterations: 16 }}\n",
            pki.ca_file().display()
        );
        let text = if http == "1.1" { text.replace(", streams: 1", "") } else { text };
        let scratch = Scratch::new();
        let said = json(&["run", &scratch.file("plan.yaml", &text)], 0);
        no_faults(&said);
        let told =
            ["opened", "closed_by_client", "messages_sent", "messages_received"].map(|f| row(&said, f));
        assert_eq!(told, [16, 16, 160, 160], "{}", said["websockets"]);
        let stats = server.stats();
        let over_http2 = if http == "2" { 16 } else { 0 };
        assert_eq!(
            (&stats["opened_http2"], &stats["codes"]["1000"]),
            (&over_http2.into(), &16.into()),
            "{stats}"
        );
    }
}
