//! `k6/x/sse`: streams of server-sent events.

use super::run::{Answer, Trace, factory, run_script, settings};
use super::sockets::values;
use plimsoll_js::Settings;
use plimsoll_plan::metric::{StreamHist, StreamSum};
use plimsoll_plan::program::Count;

fn run_with(settings: Settings, body: &str, server: impl FnMut(&str) -> Answer) -> Trace {
    let script =
        "const sse = m0.default; const url = 'http://127.0.0.1:8080/events'; const log = console.log;";
    let text = factory(&["k6/x/sse"], &format!("{script} exports.default = () => {{ {body} }};"));
    run_script(vec![text], 1, 1, settings, server)
}

fn run(body: &str, server: impl FnMut(&str) -> Answer) -> Trace {
    run_with(settings(), body, server)
}

fn events(lines: &[&str]) -> Answer {
    Answer { status: 200, head: "X-One: 1\r\n".into(), body: lines.join("\n").into_bytes() }
}

fn sum(trace: &Trace, what: StreamSum) -> u64 {
    let Count::Sum(_, id, _) = Count::sum(0, what, 0) else { panic!("a sum") };
    trace.sums.get(&("feed".to_owned(), id)).copied().unwrap_or(0)
}

#[test]
fn a_stream_blocks_until_the_server_ends_it() {
    let body = "const r = sse.open(url, { method: 'POST', body: '{}', headers: { 'X-Key': 'k' }, \
                tags: { name: 'feed' } }, (c) => { c.on('open', () => log('open')); \
                c.on('event', (e) => log(JSON.stringify(e))); c.on('error', (e) => log(e.error())) }); \
                log(r.status, r.url, r.headers['X-One'], r.error === '')";
    let trace = run(body, |_| events(&["event 1 news hello", "wait", "event - - bye"]));
    assert_eq!(
        trace.console,
        [
            "info: open",
            "info: {\"id\":\"1\",\"name\":\"news\",\"data\":\"hello\",\"comment\":\"\"}",
            "info: {\"id\":\"\",\"name\":\"\",\"data\":\"bye\",\"comment\":\"\"}",
            "info: 200 http://127.0.0.1:8080/events 1 true",
        ]
    );
    let request = &trace.requests[0];
    assert!(request.starts_with("POST /events HTTP/1.1\r\n") && request.ends_with("\r\n\r\n{}"), "{request}");
    assert!(
        request.contains("Accept: text/event-stream\r\n") && request.contains("X-Key: k\r\n"),
        "{request}"
    );
    assert_eq!(values(&trace, "feed", &Count::hist(0, StreamHist::StreamLife, 0)), 1);
    assert!(trace.faults.is_empty(), "{:?}", trace.faults);
}

#[test]
fn a_client_that_closes_sees_no_more_events() {
    let body = "const r = sse.open(url, {}, (c) => c.on('event', (e) => { log(e.data); c.close(); })); log(r.status)";
    let trace = run(body, |_| events(&["event 1 - a", "event 2 - b", "event 3 - c"]));
    assert_eq!(trace.console, ["info: a", "info: 200"]);
    assert!(trace.faults.is_empty(), "{:?}", trace.faults);
}

#[test]
fn lost_events_are_counted_by_their_numbers() {
    let body = "sse.open(url, { sequence: 'id', tags: { name: 'feed' } }, () => {})";
    let trace = run(body, |_| events(&["event 1 - a", "event 2 - b", "event 5 - c", "event 5 - c"]));
    let sums = [StreamSum::EventsExpected, StreamSum::EventsLost, StreamSum::EventsDuplicated];
    assert_eq!(sums.map(|what| sum(&trace, what)), [5, 2, 1]);
    let body = "sse.open(url, { sequence: '$.n', tags: { name: 'feed' } }, () => {})";
    let trace = run(body, |_| events(&["event - - {\"n\":1}", "event - - {\"n\":3}"]));
    assert_eq!(sums.map(|what| sum(&trace, what)), [3, 1, 0]);
}

#[test]
fn a_stream_that_is_refused_calls_the_error_handler() {
    let body = "const r = sse.open(url, null, (c) => { c.on('open', () => log('open')); \
                c.on('error', (e) => log(e.error())) }); log(r.status)";
    let trace = run(body, |_| Answer { status: 503, head: String::new(), body: Vec::new() });
    assert_eq!(trace.console, ["info: the server did not open a stream: status 503", "info: 503"]);
    assert_eq!(trace.faults, ["http_status"]);
}

#[test]
fn redirects_are_followed() {
    let body = "const r = sse.open(url, (c) => c.on('event', (e) => log(e.data))); log(r.status, r.url)";
    let trace = run(body, |request| match request.starts_with("GET /events ") {
        true => Answer { status: 307, head: "Location: /other\r\n".into(), body: Vec::new() },
        false => events(&["event 1 - a"]),
    });
    assert_eq!(trace.console, ["info: a", "info: 200 http://127.0.0.1:8080/other"]);
}

#[test]
fn failures_are_thrown_if_the_options_say_so() {
    let body = "try { sse.open(url, null, () => {}) } catch (e) { log(e.message) }";
    let settings = Settings { throws: true, ..settings() };
    let trace = run_with(settings, body, |_| Answer { status: 503, head: String::new(), body: Vec::new() });
    assert_eq!(trace.console, ["info: the server did not open a stream: status 503"]);
}
