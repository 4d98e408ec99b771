//! `k6/websockets`: sockets of the event loop.

use super::run::{Answer, Trace, factory, run_script, settings};
use super::sockets::opened;
use plimsoll_js::{Isolation, Settings};

fn run_with(settings: Settings, body: &str, server: impl FnMut(&str) -> Answer) -> Trace {
    let script =
        "const { WebSocket, Blob } = m0; const url = 'ws://127.0.0.1:8080/chat'; const log = console.log;";
    let text = factory(&["k6/websockets", "k6/http"], &format!("{script} exports.default = {body};"));
    run_script(vec![text], 1, 2, settings, server)
}

/// Runs two iterations of a function in its own runtime.
fn run(body: &str, server: impl FnMut(&str) -> Answer) -> Trace {
    run_with(Settings { isolation: Isolation::Runtime, ..settings() }, body, server)
}

/// Returns the lines of one of two equal iterations.
fn of_one(trace: &Trace) -> Vec<&str> {
    let lines: Vec<&str> = trace.console.iter().map(String::as_str).collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    assert_eq!(first, second);
    first.to_vec()
}

#[test]
fn an_iteration_lasts_until_its_sockets_are_closed() {
    let body = "() => { const ws = new WebSocket(url, ['a', 'b'], { tags: { name: 'chat' } }); \
                ws.binaryType = 'arraybuffer'; log(ws.readyState, ws.url, ws.protocol === ''); \
                ws.onopen = (e) => { log(e.type, ws.readyState, ws.protocol); ws.send('hi'); ws.ping(); \
                ws.send(new Uint8Array([65, 66])); }; \
                ws.addEventListener('message', (e) => { \
                if (typeof e.data === 'string') log(e.data, typeof e.timestamp, e.origin); else { \
                log('bytes', new Uint8Array(e.data)[1]); ws.close(1000, 'done'); log(ws.readyState); } }); \
                ws.onping = () => log('ping'); ws.onpong = () => log('pong'); \
                ws.onclose = (e) => log(e.type, e.code, e.wasClean, ws.readyState); log('end of function') }";
    let head = "Sec-WebSocket-Protocol: b\r\n";
    let answer = || Answer { status: 101, head: head.into(), body: b"ping\necho".to_vec() };
    let trace = run(body, |_| answer());
    let mut lines = of_one(&trace);
    assert_eq!(
        lines[..3],
        ["info: 0 ws://127.0.0.1:8080/chat true", "info: end of function", "info: open 1 b"]
    );
    assert_eq!(lines[lines.len() - 3..], ["info: bytes 66", "info: 2", "info: close 1000 true 3"]);
    lines.sort_unstable();
    for line in ["info: hi number ws://127.0.0.1:8080/chat", "info: ping", "info: pong"] {
        assert!(lines.binary_search(&line).is_ok(), "missing `{line}` in {lines:?}");
    }
    assert!(trace.requests[0].contains("Sec-WebSocket-Protocol: a, b\r\n"), "{}", trace.requests[0]);
    assert_eq!(trace.sent[..4], ["Text hi", "Ping 0", "Binary AB", "Close(1000) done"]);
}

#[test]
fn bytes_are_blobs_unless_the_script_says_otherwise() {
    let body = "() => { const ws = new WebSocket(url); log(ws.binaryType, WebSocket.OPEN); \
                ws.onmessage = async (e) => { log(e.data instanceof Blob, e.data.size, await e.data.text(), \
                await e.data.slice(1).text()); ws.send(new Blob(['x', new Uint8Array([89])])); ws.close(); } }";
    let trace = run(body, |_| opened(&["binary abc"]));
    assert_eq!(of_one(&trace), ["info: blob 1", "info: true 3 abc bc"]);
    assert_eq!(trace.sent[..2], ["Binary xY", "Close(1000) "]);
}

#[test]
fn timers_requests_and_several_sockets_run_at_the_same_time() {
    let body = "() => { let open = 2; for (const n of [1, 2]) { const ws = new WebSocket(`${url}${n}`); \
                ws.onopen = () => { const t = setInterval(() => ws.send(`tick ${n}`), 100); \
                setTimeout(() => { clearInterval(t); ws.close(); }, 250); }; \
                ws.onmessage = (e) => { const r = m1.get('http://127.0.0.1:8080/'); log(n, e.data, r.status) }; \
                ws.onclose = () => log('open', --open); } }";
    let trace = run(body, |request| match request.starts_with("GET /chat") {
        true => opened(&["text a", "text b"]),
        false => Answer { status: 200, head: String::new(), body: Vec::new() },
    });
    let mut lines = of_one(&trace);
    assert_eq!(lines[4..], ["info: open 1", "info: open 0"]);
    lines[..4].sort_unstable();
    assert_eq!(lines[..4], ["info: 1 a 200", "info: 1 b 200", "info: 2 a 200", "info: 2 b 200"]);
    assert_eq!(trace.sent.iter().filter(|sent| sent.starts_with("Text tick")).count(), 8);
}

#[test]
fn failures_are_error_events_and_wrong_uses_are_errors() {
    let body = "() => { const tell = (f) => { try { f() } catch (e) { log(e.name, e.message) } }; \
                tell(() => new WebSocket('ftp://a')); tell(() => WebSocket(url)); \
                const ws = new WebSocket(url); tell(() => ws.send('early')); tell(() => ws.binaryType = 'x'); \
                tell(() => ws.addEventListener('data', () => {})); \
                ws.onerror = (e) => log(e.type, e.error); ws.onclose = (e) => log(e.type, e.code, ws.readyState) }";
    let trace = run(body, |_| Answer { status: 404, head: String::new(), body: Vec::new() });
    let lines = of_one(&trace);
    assert!(lines[0].contains("requires `ws://` or `wss://`"), "{lines:?}");
    assert!(lines[1].starts_with("info: TypeError"), "{lines:?}");
    assert_eq!(
        lines[2..],
        [
            "info: InvalidStateError InvalidStateError: send() requires an open WebSocket, but this one is CONNECTING",
            "info: TypeError unknown binaryType `x`: use `blob` or `arraybuffer`",
            "info: TypeError unknown event of a WebSocket: `data`",
            "info: error the server did not open a WebSocket: status 404",
            "info: close 1006 3",
        ]
    );
}

#[test]
fn an_error_of_a_listener_ends_the_iteration_and_closes_its_sockets() {
    let body = "() => { const ws = new WebSocket(url); ws.onmessage = () => { throw new Error('stop') } }";
    let trace = run(body, |_| opened(&["text a", "text b"]));
    assert_eq!(trace.sent, ["Close(1001) ", "Close(1001) "]);
    assert!(trace.console.iter().all(|line| line.contains("stop")), "{:?}", trace.console);
}

#[test]
fn a_socket_can_be_closed_before_it_is_open() {
    let body = "() => { const ws = new WebSocket(url); ws.close(); log(ws.readyState); \
                ws.onopen = () => log('open'); ws.onclose = () => log('closed', ws.readyState) }";
    let trace = run(body, |_| opened(&["text a"]));
    assert_eq!(of_one(&trace), ["info: 2", "info: closed 3"]);
    assert!(trace.requests.is_empty(), "{:?}", trace.requests);
    let body = "() => { const ws = new WebSocket(url); setTimeout(() => { ws.close(); log(ws.readyState); }, 0.5); \
                ws.onopen = () => log('open'); ws.onclose = () => log('closed', ws.readyState) }";
    let trace = run(body, |_| opened(&["text a"]));
    assert_eq!(of_one(&trace), ["info: 2", "info: closed 3"]);
}
