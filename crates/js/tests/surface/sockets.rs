//! `k6/ws`: sockets that block until they are closed.

use super::run::{Answer, Trace, factory, run_script, settings};
use plimsoll_plan::metric::{StreamHist, WebSocketHist};
use plimsoll_plan::program::Count;

/// The number of values of a histogram.
pub fn values(trace: &Trace, series: &str, hist: &Count) -> u64 {
    let Count::Hist(_, id, _) = hist else { panic!("a histogram") };
    trace.hists.get(&(series.to_owned(), *id)).copied().unwrap_or(0)
}

/// Returns an answer whose lines are those of `remote`.
pub fn opened(lines: &[&str]) -> Answer {
    Answer { status: 101, head: String::new(), body: lines.join("\n").into_bytes() }
}

/// Runs a script of which `ws` is `k6/ws`.
fn run(body: &str, server: impl FnMut(&str) -> Answer) -> Trace {
    let script = "const ws = m0.default; const url = 'ws://127.0.0.1:8080/chat'; const log = console.log;";
    let text = factory(&["k6/ws"], &format!("{script} exports.default = () => {{ {body} }};"));
    run_script(vec![text], 1, 1, settings(), server)
}

#[test]
fn a_socket_blocks_until_it_is_closed_and_passes_each_kind_of_message() {
    let body = "const r = ws.connect(url, { headers: { 'X-One': '1' }, tags: { name: 'chat' } }, (s) => { \
                for (const e of ['open', 'message', 'ping', 'pong', 'close', 'error']) s.on(e, (v) => log(e, v)); \
                s.on('binaryMessage', (b) => { log(new Uint8Array(b).length, b instanceof ArrayBuffer); s.close(); }); \
                s.on('message', (m) => { if (m === 'hello') { s.send('hi'); s.ping(); } }); \
                s.on('pong', () => s.sendBinary(new Uint8Array([65, 66]).buffer)); }); \
                log(r.status, r.url, r.headers.Upgrade, r.error)";
    let trace = run(body, |_| opened(&["echo", "ping x", "text hello"]));
    let lines = [
        "open undefined",
        "ping undefined",
        "message hello",
        "message hi",
        "pong undefined",
        "2 true",
        "close 1001",
        "101 ws://127.0.0.1:8080/chat websocket ",
    ];
    assert_eq!(trace.console, lines.map(|line| format!("info: {line}")));
    let request = &trace.requests[0];
    let parts = [
        "GET /chat HTTP/1.1\r\n",
        "X-One: 1\r\n",
        "Connection: Upgrade\r\n",
        "Upgrade: websocket\r\n",
        "Sec-WebSocket-Version: 13\r\n",
        "Sec-WebSocket-Key: ",
    ];
    assert!(parts.iter().all(|part| request.contains(part)), "{request}");
    assert_eq!(trace.sent, ["Text hi", "Ping 0", "Binary AB", "Close(1001) "]);
    assert_eq!(values(&trace, "chat", &Count::hist(0, StreamHist::StreamLife, 0)), 1);
    assert_eq!(values(&trace, "chat", &Count::hist(0, WebSocketHist::PingRoundTrip, 0)), 1);
    assert!(trace.faults.is_empty(), "{:?}", trace.faults);
}

#[test]
fn timers_of_a_socket_run_until_it_is_closed() {
    let body = "let n = 0; const r = ws.connect(url, (s) => { \
                s.setInterval(() => s.send(`tick ${++n}`), 100); s.setTimeout(() => s.close(1000), 350); \
                s.on('close', (code) => log('closed', code)) }); log(r.status)";
    let trace = run(body, |_| opened(&[]));
    assert_eq!(trace.sent, ["Text tick 1", "Text tick 2", "Text tick 3", "Close(1000) "]);
    assert_eq!(trace.console, ["info: closed 1000", "info: 101"]);
    // One of the timers would have run for another 50 ms.
    assert!((351_000_000..360_000_000).contains(&trace.slept_ns), "{}", trace.slept_ns);
}

#[test]
fn a_usual_close_of_the_server_is_no_error() {
    let body = "ws.connect(url, (s) => { s.on('error', (e) => log(e.error())); \
                s.on('close', (c) => log('closed', c)) })";
    let trace = run(body, |_| opened(&["close 1000 bye"]));
    assert_eq!(trace.console, ["info: closed 1000"]);
    assert!(trace.faults.is_empty(), "{:?}", trace.faults);
}

#[test]
fn an_unusual_close_and_a_lost_connection_are_errors() {
    let body = "ws.connect(url, (s) => { s.on('error', (e) => log(e.error())); \
                s.on('close', (c) => log('closed', c)) })";
    let trace = run(body, |_| opened(&["close 1011 oops"]));
    assert_eq!(trace.console, ["info: websocket: close 1011 (internal error): oops", "info: closed 1011"]);
    assert_eq!(trace.faults, ["websocket_closed"]);
    let trace = run(body, |_| opened(&["text a", "lost"]));
    assert_eq!(
        trace.console,
        ["info: websocket: close 1006 (no close frame): the connection ended", "info: closed 1006"]
    );
}

#[test]
fn a_refused_handshake_returns_its_status_and_calls_the_error_handler() {
    let body = "const r = ws.connect(url, (s) => { s.on('error', (e) => log('error', e.error())); \
                s.on('open', () => log('open')) }); log(r.status, r.headers['X-Why'], r.error)";
    let trace = run(body, |_| Answer { status: 403, head: "X-Why: no\r\n".into(), body: Vec::new() });
    let why = "the server did not open a WebSocket: status 403";
    assert_eq!(trace.console, [format!("info: error {why}"), format!("info: 403 no {why}")]);
    assert_eq!(trace.faults, ["http_status"]);
}

#[test]
fn a_handshake_that_breaks_the_rules_is_refused() {
    let body = "const r = ws.connect(url, (s) => s.on('open', () => log('open'))); log(r.error)";
    let head = "Sec-WebSocket-Protocol: other\r\n";
    let trace = run(body, |_| Answer { status: 101, head: head.into(), body: Vec::new() });
    assert_eq!(trace.console, ["info: the server chose a subprotocol that the client did not offer"]);
    assert_eq!(trace.faults, ["websocket_handshake_failed"]);
}

#[test]
fn subprotocols_cookies_and_compression_are_offered() {
    let body = "const jar = new m1.CookieJar(); jar.set('http://127.0.0.1:8080', 'sid', '7'); \
                m0.default.connect('ws://127.0.0.1:8080/', { jar, compression: 'deflate', \
                headers: { 'Sec-WebSocket-Protocol': 'graphql-ws, two' } }, (s) => s.close())";
    let text = factory(&["k6/ws", "k6/http"], &format!("exports.default = () => {{ {body} }};"));
    let head = "Sec-WebSocket-Protocol: two\r\nSec-WebSocket-Extensions: permessage-deflate; \
                server_no_context_takeover\r\n";
    let answer = || Answer { status: 101, head: head.into(), body: Vec::new() };
    let trace = run_script(vec![text], 1, 1, settings(), |_| answer());
    assert_eq!(trace.console, Vec::<String>::new());
    let request = &trace.requests[0];
    let parts = [
        "Cookie: sid=7\r\n",
        "Sec-WebSocket-Protocol: graphql-ws, two\r\n",
        "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover; server_no_context_takeover\r\n",
    ];
    assert!(parts.iter().all(|part| request.contains(part)), "{request}");
    assert!(trace.faults.is_empty() && trace.console.is_empty(), "{:?} {:?}", trace.faults, trace.console);
}

#[test]
fn an_error_of_a_handler_ends_the_iteration_and_closes_the_socket() {
    let body = "ws.connect(url, (s) => s.on('message', () => { throw new Error('stop') }))";
    let trace = run(body, |_| opened(&["text a", "text b"]));
    assert_eq!(trace.sent, ["Close(1001) "]);
    assert!(trace.console.iter().any(|line| line.contains("stop")), "{:?}", trace.console);
}

#[test]
fn mistakes_in_arguments_are_errors_with_their_reason() {
    let body = "const tell = (f) => { try { f() } catch (e) { log(e.message) } }; \
                tell(() => ws.connect('http://a/', () => {})); tell(() => ws.connect(url)); \
                tell(() => ws.connect(url, { compression: 'br' }, () => {})); \
                ws.connect(url, (s) => { tell(() => s.on('data', () => {})); tell(() => s.close(1006)); \
                tell(() => s.setTimeout(() => {}, 0)); s.close(); }); \
                const r = ws.connect(url, { headers: { Upgrade: 'x' } }, () => {}); log(r.error)";
    let trace = run(body, |_| opened(&[]));
    let lines = [
        "invalid URL `http://a/`: a WebSocket requires `ws://` or `wss://`",
        "ws.connect() requires a function that sets up the socket",
        "unsupported compression `br`: use `deflate`",
        "unknown event of a WebSocket: `data`",
        "a close frame must not contain the code 1006",
        "a timer of a socket requires a time above 0 ms",
        "header `Upgrade` cannot be set: it belongs to the handshake of the WebSocket",
    ];
    assert_eq!(trace.console, lines.map(|line| format!("info: {line}")));
}
