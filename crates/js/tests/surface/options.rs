//! Options that change what single requests and phases do.

use super::run::{Answer, json, run, settings};
use plimsoll_js::Settings;

fn default(body: &str) -> String {
    format!("exports.default = () => {{ {body} }}")
}

#[test]
fn answers_a_digest_challenge() {
    let body = "const r = m1.default.get('http://me:secret@127.0.0.1:8080/a', { auth: 'digest' }); \
                console.log(r.status)";
    let trace =
        run(&default(body), 1, settings(), |request| match request.contains("Authorization: Digest") {
            true => json(200, "{}"),
            false => Answer {
                status: 401,
                head: "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n".into(),
                body: Vec::new(),
            },
        });
    assert_eq!(trace.console, ["info: 200"]);
    assert!(!trace.requests[0].contains("Authorization"), "{}", trace.requests[0]);
    assert!(
        trace.requests[1].contains("username=\"me\", realm=\"r\", nonce=\"n\", uri=\"/a\""),
        "{}",
        trace.requests[1]
    );
}

#[test]
fn sends_basic_credentials_of_the_url() {
    let body = "m1.default.get('http://me:secret@127.0.0.1:8080/a')";
    let trace = run(&default(body), 1, settings(), |_| json(200, "{}"));
    assert!(trace.requests[0].contains("Authorization: Basic bWU6c2VjcmV0\r\n"), "{}", trace.requests[0]);
}

#[test]
fn compresses_a_body() {
    let body = "m1.default.post('http://127.0.0.1:8080/', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', { compression: 'gzip' })";
    let trace = run(&default(body), 1, settings(), |_| json(200, "{}"));
    assert!(trace.requests[0].contains("Content-Encoding: gzip\r\n"), "{}", trace.requests[0]);
    assert!(!trace.requests[0].contains("aaaa"), "{}", trace.requests[0]);
    for (name, length) in [("br", 8), ("zstd", 18)] {
        let body = format!(
            "m1.default.post('http://127.0.0.1:8080/', 'a'.repeat(999), {{ compression: '{name}' }})"
        );
        let trace = run(&default(&body), 1, settings(), |_| json(200, "{}"));
        let sent = &trace.requests[0];
        assert!(sent.contains(&format!("Content-Encoding: {name}\r\n")), "{sent}");
        let of_body: usize =
            sent.split("Content-Length: ").nth(1).unwrap().split('\r').next().unwrap().parse().unwrap();
        assert!((length / 2..=length * 3).contains(&of_body), "{name}: {of_body}");
    }
    let body = "m1.default.post('http://127.0.0.1:8080/', 'a', { compression: 'foo' })";
    let trace = run(&default(body), 1, settings(), |_| json(200, "{}"));
    assert!(
        trace.console[0].contains("compression `foo` of requests is not supported"),
        "{:?}",
        trace.console
    );
}

#[test]
fn blocks_hosts_by_pattern() {
    let own = Settings { blocked_hosts: vec!["*.example.test".into()], ..settings() };
    let body = "const r = m1.default.get('http://a.example.test/'); console.log(r.error, r.error_code)";
    let trace = run(&default(body), 1, own, |_| json(200, "{}"));
    let expected = "hostname is blocked";
    assert!(
        trace.console.iter().any(|line| line == &format!("info: {expected} 1111")),
        "{:?}",
        trace.console
    );
    assert!(trace.requests.is_empty());
}

#[test]
fn spaces_requests_by_the_limit_per_second() {
    let own = Settings { requests_per_s: Some(10), ..settings() };
    let body = "for (let i = 0; i < 5; i++) m1.default.get('http://127.0.0.1:8080/')";
    let trace = run(&default(body), 1, own, |_| json(200, "{}"));
    // The first at once, four more at 100 ms each, and the last one's own millisecond.
    assert_eq!(trace.slept_ns, 401_000_000);
}

#[test]
fn ends_a_setup_that_takes_too_long() {
    let own = Settings { setup_timeout_ns: 2_000_000_000, ..settings() };
    let body = "exports.setup = () => m0.sleep(100); exports.default = () => {}";
    let trace = run(body, 0, own, |_| json(200, "{}"));
    assert_eq!(trace.console, ["error: setup() timed out after 2 s"]);
    assert_eq!(trace.slept_ns, 2_000_000_000);
}

#[test]
fn leaves_no_timer_after_phases_and_timeouts_that_end_at_once() {
    let body = "exports.setup = () => 1; exports.teardown = () => {}; \
                exports.default = () => clearTimeout(setTimeout(() => {}, 5000));";
    assert_eq!(run(body, 1, settings(), |_| json(200, "{}")).slept_ns, 0);
}

#[test]
fn sends_a_batch_within_the_limit_per_host() {
    let own = Settings { batch_per_host: 2, ..settings() };
    let body = "m1.default.batch([1, 2, 3, 4].map((n) => `http://127.0.0.1:8080/${n}`))";
    let trace = run(&default(body), 1, own, |_| json(200, "{}"));
    assert_eq!(trace.requests.len(), 4);
    // Two at a time, of a millisecond each.
    assert_eq!(trace.slept_ns, 2_000_000);
}
