//! Keys of WebSockets, against the ruler's own count of messages.

use super::{Case, case};
use crate::bench::{Seen, Trial, steps, trial};

/// One iteration of a `connect` step with these keys, and of the steps after it.
fn socket(query: &str, keys: &str, rest: &str) -> Trial {
    trial(steps(&format!("- {{ connect: \"/websocket?{query}\", name: s, {keys} }}\n{rest}")))
}

fn plain(rest: &str) -> Trial {
    socket("", "timeout: 10s", rest)
}

#[track_caller]
fn row(s: &Seen, field: &str) -> u64 {
    let row = s.row("websockets", "s");
    row.pointer(field).and_then(serde_json::Value::as_u64).unwrap_or_else(|| panic!("no `{field}` in {row}"))
}

#[track_caller]
fn code(s: &Seen, code: &str) -> u64 {
    s.counters["websocket_close_codes"][code].as_u64().unwrap_or(0)
}

pub const CASES: &[Case] = &[
    case(
        &["connect.connect", "connect.name", "connect.encode", "connect.timeout", "connect.tags"],
        || socket("", "timeout: 10s, encode: true, tags: { kind: chat }", "- send: hello"),
        |s| {
            s.expect_run(0);
            assert_eq!((row(s, "/opened"), row(s, "/messages_sent")), (1, 1));
            assert_eq!(s.counters["messages_received"], 1);
        },
    ),
    case(
        &["connect.query", "connect.headers", "connect.auth", "connect.origin"],
        || {
            socket(
                "a=1",
                "query: { b: 2 }, headers: { X-One: \"1\" }, auth: { bearer: t }, origin: target",
                "- send: x",
            )
        },
        |s| {
            s.expect_run(0);
            let asked = &s.of("/websocket")[0];
            assert!(asked.target.ends_with("?a=1&b=2"), "{}", asked.target);
            assert_eq!((asked.header("X-One"), asked.header("Authorization")), (Some("1"), Some("Bearer t")));
            assert_eq!(
                (asked.header("Upgrade"), asked.header("Connection")),
                (Some("websocket"), Some("Upgrade"))
            );
        },
    ),
    case(
        &["connect.subprotocols", "connect.compression", "compression.context_takeover"],
        || socket("", "subprotocols: [a.v2, a.v1], compression: { context_takeover: false }", "- send: x"),
        |s| {
            s.expect_run(0);
            let asked = &s.of("/websocket")[0];
            assert_eq!(asked.header("Sec-WebSocket-Protocol"), Some("a.v2, a.v1"));
            let offered = "permessage-deflate; client_no_context_takeover; server_no_context_takeover; \
                           client_max_window_bits";
            assert_eq!(asked.header("Sec-WebSocket-Extensions"), Some(offered));
        },
    ),
    case(
        &["connect.correlation"],
        || socket("", "correlation: $.id", "- send: { json: { id: 7 } }\n- think: 100ms"),
        |s| {
            s.expect_run(0);
            assert_eq!((row(s, "/round_trip/count"), row(s, "/messages_unanswered")), (1, 0));
        },
    ),
    case(
        &["connect.duration"],
        || socket("every=50ms", "duration: 300ms", ""),
        |s| {
            s.expect_run(0);
            assert_eq!((row(s, "/closed_by_client"), code(s, "1000")), (1, 1));
            assert!(s.elapsed.as_millis() >= 300);
        },
    ),
    case(
        &["connect.messages", "connect.closed_by"],
        || socket("every=50ms", "messages: 3, closed_by: client", ""),
        |s| {
            s.expect_run(0);
            assert_eq!((row(s, "/messages_received"), row(s, "/closed_by_client")), (3, 1));
        },
    ),
    case(
        &["connect.idle_timeout", "connect.on_failure"],
        || {
            socket(
                "every=30s",
                "idle_timeout: 200ms, closed_by: server, on_failure: continue",
                "- get: /after",
            )
        },
        |s| {
            s.ended(&[99], 0);
            assert_eq!((row(s, "/failures"), s.count("/after")), (1, 1));
        },
    ),
    case(
        &["connect.expected_interval"],
        || socket("every=100ms&count=3", "expected_interval: 20ms, closed_by: server", ""),
        |s| {
            s.expect_run(0);
            assert!(row(s, "/messages_lost") >= 5, "{}", s.row("websockets", "s"));
        },
    ),
    case(
        &["connect.sequence", "connect.timestamp"],
        || {
            let keys = "sequence: $.seq, timestamp: { json: $.sent_ns, unit: ns }, closed_by: server";
            socket("every=10ms&count=5&drop=2&repeat=4", keys, "")
        },
        |s| {
            s.expect_run(0);
            let told = ["/messages_lost", "/messages_duplicated", "/age/count"].map(|field| row(s, field));
            assert_eq!(told, [1, 1, 5]);
        },
    ),
    case(
        &["connect.while_open", "connect.think", "send.think", "expect.think", "close.think"],
        || {
            let steps = "[ { send: a, think: 1ms }, { expect: a, think: 1ms }, { close: 1000, think: 1ms } ]";
            socket("", &format!("while_open: {steps}, think: 300ms"), "- get: /after")
        },
        |s| {
            s.expect_run(0);
            assert_eq!((row(s, "/round_trip/count"), code(s, "1000"), s.count("/after")), (1, 1, 1));
            assert!(s.elapsed.as_millis() >= 300);
        },
    ),
    case(
        &["connect.check", "connect.extract"],
        || {
            let keys = "check: { header: { Server: ruler } }, extract: { by: { header: Server } }";
            socket("", keys, "- send: \"${by}\"\n- expect: ruler")
        },
        |s| {
            s.expect_run(0);
            assert_eq!(row(s, "/messages_received"), 1);
        },
    ),
    case(
        &["send.send", "message.text", "message.json", "message.binary", "expected_message.kind"],
        || {
            plain(
                "- send: one\n- send: { text: two }\n- send: { json: { n: 3 } }\n- send: { binary: four }
- expect: { text: { equals: one }, kind: text }
- expect: { text: { equals: two } }
- expect: { text: { equals: '{\"n\":3}' } }
- expect: { kind: binary, text: { equals: four } }",
            )
        },
        |s| {
            s.expect_run(0);
            assert_eq!((row(s, "/messages_sent"), row(s, "/messages_received")), (4, 4));
        },
    ),
    case(
        &["message.binary_file", "expected_message.length"],
        || {
            plain("- send: { binary_file: picture.bin }\n- expect: { length: 5 }")
                .file("picture.bin", "\u{0}\u{1}abc")
        },
        |s| {
            s.expect_run(0);
            assert_eq!(s.counters["messages_received"], 1);
        },
    ),
    case(
        &["send.socket", "expect.socket", "close.socket"],
        || {
            plain(
                "- { connect: /websocket, name: other }
- { send: x, socket: s }
- { expect: x, socket: s }
- { close: 4000, socket: s }",
            )
        },
        |s| {
            s.expect_run(0);
            assert_eq!((row(s, "/messages_sent"), code(s, "4000"), code(s, "1000")), (1, 1, 1));
        },
    ),
    case(
        &["expect.expect", "expect.within", "expect.name", "expect.on_failure"],
        || plain("- { expect: never, within: 100ms, name: hello, on_failure: continue }\n- get: /after"),
        |s| {
            s.ended(&[99], 0);
            assert_eq!((s.row("checks", "hello")["failures"].as_u64(), s.count("/after")), (Some(1), 1));
        },
    ),
    case(
        &["expect.extract", "expected_message.json", "expected_message.text"],
        || {
            plain(
                "- send: { json: { id: 7, to: you } }
- expect: { json: { $.id: 7 }, text: you }
  extract: { id: $.id }
- get: \"/user/${id}\"",
            )
        },
        |s| {
            s.expect_run(0);
            assert_eq!(s.count("/user/7"), 1);
        },
    ),
    case(
        &["close.close", "close_frame.code", "close_frame.reason"],
        || plain("- close: { code: 4711, reason: bye }"),
        |s| {
            s.expect_run(0);
            assert_eq!(code(s, "4711"), 1);
        },
    ),
    case(
        &["ping.ping", "ping.within", "ping.name", "ping.socket", "ping.on_failure", "ping.think"],
        || {
            socket(
                "answer_ping=0",
                "timeout: 10s",
                "- { ping: x, within: 50ms, name: alive, socket: s, on_failure: continue, think: 20ms }\n- send: y",
            )
        },
        |s| {
            assert_eq!(s.counters["websocket_pings_received"], 1);
            assert_eq!(s.counters["messages_received"], 1, "the iteration continues");
            assert_eq!(s.row("checks", "alive")["failures"], 1);
        },
    ),
];
