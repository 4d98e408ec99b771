//! Requests that wait for `100 Continue`, are sent in chunks or at a rate, and responses that are read slowly: counts
//! and times are compared with what the ruler, or a plain socket, has seen.

use crate::help::{count, number, patiently_alongside_first};
use crate::provoke::{faults, json, no_faults};
use crate::support::peers::{Nginx, Options};
use crate::support::{Ruler, Scratch, run_alongside};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;

/// Runs a file with these steps against the ruler, with one user and without its own time limit.
#[track_caller]
fn run(ruler: &Ruler, rest: &str, steps: &str, code: i32) -> Value {
    let scratch = Scratch::new();
    let target = ruler.url("");
    let text = format!("target: {target}\n{rest}\nscenarios:\n  s:\n{steps}\n");
    json(&["run", &scratch.file("plan.yaml", &text), "-c", "2", "-n", "6"], code)
}

/// The ruler's kept requests.
fn kept(ruler: &Ruler) -> Vec<Value> {
    ruler.json("/_test-server/requests")["requests"].as_array().cloned().unwrap_or_default()
}

fn expectation(said: &Value, field: &str) -> u64 {
    count(said, &format!("/client/connections/expect_continue/{field}"))
}

/// The versions of HTTP, as flags of the ruler and of the tool.
const VERSIONS: [(&[&str], &str); 2] = [(&[], "--http1.1"), (&["--http2"], "--http2")];

#[test]
fn bodies_follow_100_continue() {
    let _beside = run_alongside();
    for (server, version) in VERSIONS {
        let ruler = Ruler::start(&[server, &["--keep-requests", "100"]].concat());
        let body = "x".repeat(50_000);
        let said = json(
            &[&ruler.url("/up"), "-b", &body, "--expect-continue=60s", "-c", "2", "-n", "40", version],
            0,
        );
        no_faults(&said);
        assert_eq!(expectation(&said, "continued"), 40, "{version}");
        assert_eq!(
            expectation(&said, "sent_without_continue") + expectation(&said, "refused_before_body"),
            0
        );
        assert_eq!(count(&ruler.counters(), "/continues_sent"), 40, "{version}");
        assert_eq!(count(&said, "/client/connections/opened"), 2, "connections live on");
        let requests = kept(&ruler);
        assert_eq!(requests.len(), 40);
        assert!(requests.iter().all(|request| request["body_bytes"] == 50_000), "{version}");
    }
}

/// The server is silent: the body comes after the wait, and not before.
#[test]
fn bodies_are_sent_after_the_wait() {
    let _beside = run_alongside();
    for (server, version) in VERSIONS {
        let ruler = Ruler::start(&[server, &["--keep-requests", "100", "--on-expect", "ignore"]].concat());
        let said = json(
            &[&ruler.url("/up"), "-b", "hello", "--expect-continue=40ms", "-c", "2", "-n", "6", version],
            0,
        );
        no_faults(&said);
        assert_eq!(expectation(&said, "sent_without_continue"), 6, "{version}");
        assert_eq!(expectation(&said, "continued"), 0);
        for request in kept(&ruler) {
            let waited_ns = count(&request, "/arrival/body_ns") - count(&request, "/arrival/first_byte_ns");
            // The first timestamp is that of a wake-up, which may be later than the arrival.
            assert!(waited_ns > 30_000_000, "{version}: the body came after {waited_ns} ns");
            assert_eq!(request["body"], "hello");
        }
    }
}

/// Of two uploads of a file, one waits.
#[test]
fn a_request_of_a_file_waits_by_itself() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&["--keep-requests", "100"]);
    let steps = "    - { post: /a, body: hello, expect_continue: 60s }\n    - { post: /b, body: hello }";
    let said = run(&ruler, "", steps, 0);
    no_faults(&said);
    let waiting = kept(&ruler).iter().filter(|one| one["head"].to_string().contains("100-continue")).count();
    assert!(waiting >= 3, "{waiting}");
    assert_eq!(expectation(&said, "continued"), waiting as u64);
    assert_eq!(count(&ruler.counters(), "/continues_sent"), waiting as u64);
}

#[test]
fn a_refused_body_is_never_sent() {
    let _beside = run_alongside();
    for (server, version) in VERSIONS {
        let ruler = Ruler::start(&[server, &["--on-expect", "refuse"]].concat());
        let body = "x".repeat(100_000);
        let said = json(
            &[&ruler.url("/up"), "-b", &body, "--expect-continue=60s", "-c", "2", "-n", "20", version],
            99,
        );
        assert_eq!(expectation(&said, "refused_before_body"), 20, "{version}");
        assert_eq!(count(&said, "/status_codes/417"), 20, "{version}");
        let counters = ruler.counters();
        assert_eq!(count(&counters, "/expectations_refused"), 20);
        assert_eq!(count(&counters, "/by_status/417"), 20);
        let received = count(&counters, "/bytes_in");
        assert!(received < 20_000, "{version}: the ruler received {received} bytes, but no body");
        let connections = &said["client"]["connections"];
        // A body that was announced and not sent would be taken for the next request, except over HTTP/2.
        let (opened, closed) = (count(connections, "/opened"), count(connections, "/closed_by_client"));
        // One of the two users may have taken all requests before the other one began.
        let is_expected = match version {
            "--http2" => (1..=2).contains(&opened) && closed == 0,
            _ => (opened, closed) == (20, 20),
        };
        assert!(is_expected, "{version}: {connections}");
    }
}

#[test]
fn a_chunked_body_arrives_in_its_chunks() {
    let _beside = run_alongside();
    for (server, http) in [(&[][..], "1.1"), (&["--http2"][..], "2")] {
        let ruler = Ruler::start(&[server, &["--keep-requests", "100"]].concat());
        let body = "0123456789".repeat(1_001);
        let steps = format!("    - {{ post: /up, chunked: 4KB, body: \"{body}\" }}");
        let said = run(&ruler, &format!("connection: {{ http: {http} }}"), &steps, 0);
        no_faults(&said);
        let requests = kept(&ruler);
        assert_eq!(requests.len(), 6);
        for request in requests {
            // 10,010 bytes: two chunks of 4,096, and one of 1,818.
            assert_eq!(request["body"], body.as_str(), "HTTP/{http}");
            assert_eq!(count(&request, "/arrival/pieces"), 3, "HTTP/{http}");
            assert_eq!(count(&request, "/arrival/piece_bytes_max"), 4_096, "HTTP/{http}");
            let head = request["head"].to_string().to_ascii_lowercase();
            assert!(!head.contains("content-length"), "HTTP/{http}: {head}");
            assert_eq!(head.contains("transfer-encoding: chunked"), http == "1.1", "{head}");
        }
    }
}

/// The rate of a request between two timestamps of the ruler; `bytes` arrived after the first.
fn rate(request: &Value, from: &str, bytes: u64) -> f64 {
    let from_ns = count(request, &format!("/arrival/{from}"));
    bytes as f64 * 1e9 / (count(request, "/arrive_ns") - from_ns) as f64
}

fn is_near(what: &str, rate: f64, expected: f64) -> Result<(), String> {
    let is_near = (rate / expected - 1.0).abs() < 0.03;
    if is_near { Ok(()) } else { Err(format!("{what}: {rate:.0} B/s instead of {expected} B/s")) }
}

/// 51,200 bytes at 50 KB/s: pieces of 2,560 bytes, so 48,640 bytes come after the first timestamp, in 0.95 s.
#[test]
fn a_throttled_body_arrives_at_its_rate() {
    for (server, http) in [(&[][..], "1.1"), (&["--http2"][..], "2")] {
        patiently_alongside_first("the rate of a body", || {
            let ruler = Ruler::start(&[server, &["--keep-requests", "100"]].concat());
            let body = "0123456789abcdef".repeat(3_200);
            let steps = format!("    - {{ post: /up, throttle: {{ body: 50KB/s }}, body: {body} }}");
            let said = run(&ruler, &format!("connection: {{ http: {http} }}"), &steps, 0);
            no_faults(&said);
            let requests = kept(&ruler);
            assert_eq!(requests.len(), 6);
            requests.iter().try_for_each(|request| {
                assert_eq!(count(request, "/body_bytes"), 51_200);
                is_near(&format!("HTTP/{http}"), rate(request, "body_ns", 48_640), 51_200.0)
            })
        });
    }
}

/// Chunks of 1,000 bytes at 10,000 bytes per second: 10 chunks, one each 100 ms.
#[test]
fn throttled_chunks_arrive_one_at_a_time() {
    patiently_alongside_first("the rate of chunks", || {
        let ruler = Ruler::start(&["--keep-requests", "100"]);
        let body = "0123456789".repeat(1_000);
        let steps = format!(
            "    - {{ post: /up, chunked: 1000B, throttle: {{ body: 10000B/s }}, body: \"{body}\" }}"
        );
        no_faults(&run(&ruler, "", &steps, 0));
        kept(&ruler).iter().try_for_each(|request| {
            assert_eq!(count(request, "/arrival/pieces"), 10);
            assert_eq!(request["body"], body.as_str());
            is_near("chunks", rate(request, "body_ns", 9_000), 10_000.0)
        })
    });
}

/// At 200 bytes per second, a head comes in pieces of 10 bytes.
#[test]
fn a_throttled_head_arrives_at_its_rate() {
    patiently_alongside_first("the rate of a head", || {
        let ruler = Ruler::start(&["--keep-requests", "100"]);
        let steps = "    - { get: /slow, throttle: { head: 200B/s }, timeout: 60s }";
        no_faults(&run(&ruler, "", steps, 0));
        let requests = kept(&ruler);
        assert_eq!(requests.len(), 6);
        requests.iter().try_for_each(|request| {
            let len = request["head"].as_str().map_or(0, str::len) as u64;
            let pieces = len.div_ceil(10);
            // The last piece may be shorter; it comes at its time.
            is_near("head", rate(request, "first_byte_ns", (pieces - 1) * 10), 200.0)
        })
    });
}

/// A head of at most 250 bytes and a body of 50,000 bytes at 50,000 bytes per second: 20 pieces, so one second.
#[test]
fn a_response_is_read_at_its_rate() {
    patiently_alongside_first("the rate of reading", || {
        let ruler = Ruler::start(&[]);
        let steps = "    - { get: /?body=50000, throttle: { response: 50000B/s } }";
        let said = run(&ruler, "", steps, 0);
        no_faults(&said);
        assert_eq!(count(&said, "/client/connections/opened"), 2, "a response that was read is complete");
        let took_s = number(&said, "/service_time/p50_ns") / 1e9;
        match (0.95..1.1).contains(&took_s) {
            true => Ok(()),
            false => Err(format!("a response took {took_s} s instead of 1 s")),
        }
    });
}

/// nginx offers HTTP/2, which cannot be read slowly; a redirect may bring such a request.
#[test]
fn a_slow_request_follows_a_redirect_over_http1() {
    let _beside = run_alongside();
    let nginx = Nginx::start(Options { http2: true, ..Options::default() });
    let (there, ca) = (nginx.https_url("/plain"), nginx.ca_file());
    let mut seen = 0;
    for (redirects, status, version) in [(1, 200, " HTTP/1.1"), (0, 302, " HTTP/2.0")] {
        let ruler = Ruler::start(&[]);
        let steps = format!(
            "    - {{ get: '/?status=302&location={there}', redirects: {redirects}, check: {{ status: {status} }}, \
             throttle: {{ response: 100KB/s }} }}\n    - get: {there}"
        );
        no_faults(&run(&ruler, &format!("tls: {{ ca: {} }}", ca.display()), &steps, 0));
        // Of 6 requests, the ruler has those that are redirected.
        let lines = nginx.wait_for_log_lines(seen + 6 - ruler.requests() as usize);
        assert!(lines.len() > seen);
        assert!(lines[seen..].iter().all(|line| line.request.ends_with(version)), "{:?}", &lines[seen..]);
        seen = lines.len();
    }
}

/// A server that ends slow clients in its own way, after the first bytes of a head.
fn impatient(reply: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let Ok(mut socket) = socket else { return };
            let mut some = [0; 64];
            // A trial connection sends nothing, or a whole head.
            let read = socket.read(&mut some).unwrap_or(0);
            if read > 0 {
                let _ = socket.write_all(reply);
            }
        }
    });
    url
}

#[test]
fn a_server_that_ends_slow_clients_is_named() {
    let _beside = run_alongside();
    let slow = |url: &str, code| {
        let scratch = Scratch::new();
        let text = format!(
            "target: {url}\nscenarios:\n  s:\n    - {{ get: /slow, throttle: {{ head: 40B/s }}, \
             on_failure: continue }}\n"
        );
        json(&["run", &scratch.file("plan.yaml", &text), "-c", "1", "-n", "5"], code)
    };
    let timeout = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let said = slow(&impatient(timeout), 99);
    assert_eq!(count(&said, "/status_codes/408"), 5, "{}", said["status_codes"]);
    let said = slow(&impatient(b""), 99);
    let found = faults(&said);
    let closed = found.get("closed_before_response").map(|(side, count)| (side.as_str(), *count));
    let reset = found.get("connection_reset").map_or(0, |(_, count)| *count);
    // Bytes that the server has not read become a reset.
    assert_eq!(closed.map_or(0, |(_, count)| count) + reset, 5, "{found:?}");
    assert!(closed.is_none_or(|(side, _)| side == "server"));
}

/// The twin: the same load without slow clients.
#[test]
fn slow_clients_do_not_slow_down_the_load_generator() {
    patiently_alongside_first("others are as fast", || {
        let ruler = Ruler::start(&[]);
        let scratch = Scratch::new();
        let text = format!(
            "target: {}\nscenarios:\n  normal:\n    load: {{ rate: 200/s, duration: 2s }}\n    steps: [ {{ get: \
             /normal }} ]\n  slow:\n    load: {{ users: 20, duration: 2s }}\n    steps:\n      - {{ get: /slow, \
             throttle: {{ head: 20B/s }}, timeout: 60s }}\n",
            ruler.url("")
        );
        let said = json(&["run", &scratch.file("plan.yaml", &text)], 0);
        no_faults(&said);
        assert_eq!(count(&said, "/offered/arrivals"), 400);
        let counters = ruler.counters();
        assert!(count(&counters, "/by_path/~1normal") >= 399, "{}", counters["by_path"]);
        Ok(())
    });
}
