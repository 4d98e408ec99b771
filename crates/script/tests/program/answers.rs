//! Responses: how they are judged, counted, and followed, and how their cookies are kept.

use super::engine::{Engine, MS, Served};
use super::plans::*;
use plimsoll_plan::Fault;
use plimsoll_plan::answer::{Check, Rule, Source, Statuses, Subject};
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_plan::program::BodyUse;
use plimsoll_plan::script::{Ask, Node, Slot};
use plimsoll_plan::value::Placeholder;

/// One request, then a second one.
fn two(first: Ask, service: impl FnMut(&str) -> Served + 'static) -> Engine {
    play(script(vec![first, ask("/next")], vec![Node::Ask(0), Node::Ask(1)]), service)
}

fn header_is(name: &str, value: &str) -> Check {
    let on = Subject::Header { name: name.into(), rule: Rule::Equals(text(value)) };
    Check { name: format!("{name} is {value}"), on }
}

#[test]
fn every_check_has_its_own_series() {
    let mut first = ask("/0");
    first.checks = vec![equals("$.a", "1"), equals("$.b", "2")];
    first.extracts = vec![extract("c", "$.c", Slot::Var(0))];
    first.go_on_after_failure = true;
    let mut second = ask("/1");
    second.checks = vec![equals("$.a", "1")];
    let mut engine = play(
        script(vec![first, second], vec![Node::Ask(0), Node::Ask(1)]),
        always(200, r#"{"a": 1, "b": 3}"#),
    );
    engine.iterate();
    // Requests 0 and 1; then the first one's checks and its extraction, then the second one's check.
    let made: Vec<u64> = (2..6).map(|series| engine.sum(series, SeriesSum::Finished)).collect();
    let failed: Vec<u64> = (2..6).map(|series| engine.sum(series, SeriesSum::Failed)).collect();
    assert_eq!((made, failed), (vec![1, 1, 1, 1], vec![0, 1, 1, 0]));
    assert_eq!(engine.failures, [(0, Fault::Check)], "one request has failed, once");
}

#[test]
fn a_body_is_kept_only_for_a_step_that_reads_it() {
    let mut checked = ask("/body");
    checked.checks = vec![equals("$.a", "1")];
    let mut headed = ask("/head");
    headed.checks = vec![header_is("X", "1")];
    let mut followed = ask("/followed");
    followed.redirects = 1;
    let asks = vec![ask("/none"), checked, headed, followed];
    let service = |_: &str| Served::ok(r#"{"a":1}"#).header("X", "1");
    let mut engine = play(script(asks, (0..4).map(Node::Ask).collect()), service);
    engine.iterate();
    let uses: Vec<BodyUse> = engine.steps.iter().map(|step| step.body).collect();
    assert_eq!(uses, [BodyUse::Discard, BodyUse::Keep, BodyUse::HeadOnly, BodyUse::HeadOnly]);
    assert!(engine.steps.iter().all(|step| step.judged));
    assert!(engine.failures.is_empty());
}

#[test]
fn the_plan_defines_which_statuses_are_failures() {
    for (status, fails) in [(201, false), (200, true), (404, true)] {
        let mut first = ask("/");
        first.expect = Some(Statuses::parse("201").expect("a status"));
        let mut engine = two(first, move |request| {
            if request.starts_with("GET /next") { Served::ok("") } else { Served::status(status) }
        });
        engine.iterate();
        assert_eq!(engine.failures.len(), usize::from(fails), "{status}");
        assert_eq!(engine.sent.len(), if fails { 1 } else { 2 });
    }
}

#[test]
fn extracted_values_go_into_the_next_request() {
    let mut first = ask("/0");
    first.extracts = vec![extract("a", "$.id", Slot::Var(0))];
    let mut second = ask("/1");
    second.path = around("/items/", Placeholder::Var(0), "");
    second.headers = vec![("X-Id".into(), var(0))];
    let nodes = vec![Node::Ask(0), Node::Ask(1)];
    let mut engine = play(script(vec![first, second], nodes), always(200, r#"{"id": "x7"}"#));
    engine.iterate();
    assert_eq!(engine.lines()[1], "GET /items/x7");
    assert!(engine.sent[1].1.contains("\r\nX-Id: x7\r\n"), "{}", engine.sent[1].1);
}

#[test]
fn a_value_that_cannot_be_sent_is_not_sent() {
    let mut first = ask("/0");
    first.extracts = vec![extract("a", "$.id", Slot::Var(0))];
    let mut second = ask("/1");
    second.headers = vec![("X-Id".into(), var(0))];
    let nodes = vec![Node::Ask(0), Node::Ask(1)];
    let mut engine = play(script(vec![first, second], nodes), always(200, r#"{"id": "x\r\nHost: evil"}"#));
    engine.iterate();
    assert_eq!((engine.sent.len(), engine.run_sum(RunSum::IterationsAbandoned)), (1, 1));
    assert_eq!(engine.samples[0].check, "unfilled");
}

#[test]
fn engine_faults_end_the_iteration() {
    let mut engine = two(ask("/"), |_| Served::fault(Fault::Timeout));
    engine.iterate();
    assert_eq!(engine.failures, [(0, Fault::Timeout)], "counted by the engine and not again here");
    assert_eq!((engine.sent.len(), engine.run_sum(RunSum::IterationsAbandoned)), (1, 1));
    assert_eq!((engine.samples[0].check.as_str(), engine.samples[0].status), ("timeout", 0));
}

#[test]
fn a_body_that_cannot_be_decoded_has_its_own_fault() {
    let mut first = ask("/");
    first.checks = vec![equals("$.a", "1")];
    let mut engine = two(first, |_| Served::ok("no gzip").header("Content-Encoding", "gzip"));
    engine.iterate();
    assert_eq!(engine.failures, [(0, Fault::DecodeFailed)]);
}

#[test]
fn redirects_are_followed_up_to_their_limit() {
    let service = |request: &str| {
        let path = request.split(' ').nth(1).unwrap_or("");
        match path.strip_prefix("/r").and_then(|n| n.parse::<u32>().ok()) {
            Some(0) | None => Served::ok(""),
            Some(n) => Served::status(302).header("Location", &format!("/r{}", n - 1)),
        }
    };
    for (most, requests, faults) in [(3, 4, vec![]), (5, 4, vec![]), (2, 3, vec![(0, Fault::Redirects)])] {
        let mut first = ask("/r3");
        first.redirects = most;
        let mut engine = play(script(vec![first], vec![Node::Ask(0)]), service);
        engine.iterate();
        assert_eq!(engine.sent.len(), requests, "at most {most}");
        assert_eq!(engine.sum(0, SeriesSum::Redirects), requests as u64 - 1);
        assert_eq!(engine.failures, faults);
        assert!(engine.steps.iter().all(|step| step.request == 0), "all are in the series of the request");
        engine.iterate();
        assert_eq!(engine.sent.len(), 2 * requests, "each iteration may follow this many");
    }
}

#[test]
fn without_redirects_the_response_itself_is_judged() {
    let mut first = ask("/");
    first.checks = vec![header_is("Location", "/elsewhere")];
    let mut engine = two(first, |_| Served::status(302).header("Location", "/elsewhere"));
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /", "GET /next"]);
    assert_eq!(engine.sum(0, SeriesSum::Redirects), 0);
}

#[test]
fn a_redirect_to_another_host_is_counted_and_not_followed() {
    let mut first = ask("/");
    first.redirects = 5;
    let mut engine = two(first, |request| {
        if request.starts_with("GET /next") {
            Served::ok("")
        } else {
            Served::status(302).header("Location", "http://127.0.0.9:8080/")
        }
    });
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /", "GET /next"]);
    assert_eq!((engine.run_sum(RunSum::RedirectsCrossHost), engine.failures.len()), (1, 0));
}

#[test]
fn cookies_are_kept_per_user_and_sent_back_where_they_belong() {
    let asks = vec![ask("/login"), ask("/shop/cart"), ask("/shop/pay")];
    let service = |request: &str| match request.split(' ').nth(1) {
        Some("/login") => Served::ok("").header("Set-Cookie", "sid=1; Path=/"),
        Some("/shop/cart") => Served::ok("").header("Set-Cookie", "cart=2"),
        _ => Served::ok(""),
    };
    let mut script = script(asks, vec![Node::Ask(0), Node::Ask(1), Node::Ask(2)]);
    script.cookies = true;
    let stage = stage(script.clone());
    let mut engine = Engine::new(user(&stage, 0), service);
    engine.iterations(2);
    let cookies: Vec<Option<&str>> = engine
        .sent
        .iter()
        .map(|(_, text)| text.lines().find_map(|line| line.strip_prefix("Cookie: ")))
        .collect();
    // The second cookie's path is that of the request which set it, without its last segment (RFC 6265 section 5.1.4).
    let both = Some("cart=2; sid=1");
    assert_eq!(cookies, [None, Some("sid=1"), both, Some("sid=1"), both, both]);
    let mut other = Engine::new(user(&stage, 1), service);
    other.iterate();
    assert!(!other.sent[0].1.contains("Cookie"), "another user has its own cookie jar");
    script.cookies = false;
    let mut without = play(script, service);
    without.iterate();
    assert!(without.sent.iter().all(|(_, text)| !text.contains("Cookie")));
}

#[test]
fn cookies_of_a_redirect_are_sent_with_the_next_request() {
    let mut first = ask("/login");
    first.redirects = 1;
    let service = |request: &str| {
        if request.starts_with("GET /login") {
            Served::status(303).header("Set-Cookie", "sid=9").header("Location", "/home")
        } else {
            Served::ok("")
        }
    };
    let mut script = script(vec![first], vec![Node::Ask(0)]);
    script.cookies = true;
    let mut engine = play(script, service);
    engine.iterate();
    assert!(engine.sent[1].1.contains("\r\nCookie: sid=9\r\n"), "{}", engine.sent[1].1);
}

#[test]
fn a_cookie_can_be_extracted() {
    let mut first = ask("/0");
    let mut cookie = extract("token", "", Slot::Var(2));
    cookie.from = Source::Cookie("csrf".into());
    first.extracts = vec![cookie];
    let mut second = ask("/1");
    second.headers = vec![("X-Csrf".into(), var(2))];
    let nodes = vec![Node::Ask(0), Node::Ask(1)];
    let mut engine =
        play(script(vec![first, second], nodes), |_| Served::ok("").header("Set-Cookie", "csrf=abc; Path=/"));
    engine.iterate();
    assert!(engine.sent[1].1.contains("\r\nX-Csrf: abc\r\n"));
}

#[test]
fn a_new_shape_late_in_a_run_is_counted_and_old_ones_may_alternate() {
    let mut first = ask("/");
    first.checks =
        vec![Check { name: "there".into(), on: Subject::Json { path: "$.a".into(), rule: Rule::Exists } }];
    let mut answers = 0;
    let service = move |_: &str| {
        answers += 1;
        Served::ok(match answers {
            1..=40 if answers % 2 == 0 => r#"{"a": 1}"#,
            1..=40 => r#"{"a": 1, "b": []}"#,
            41..=50 => r#"{"a": 1, "error": "degraded"}"#,
            _ => r#"{"a": 2}"#,
        })
    };
    let mut engine = play(script(vec![first], vec![Node::Ask(0)]), service);
    engine.iterations(40);
    assert_eq!(engine.sum(0, SeriesSum::ShapeChanges), 0, "two alternating shapes are not a change");
    engine.iterations(30);
    assert_eq!(engine.sum(0, SeriesSum::ShapeChanges), 1, "the new shape, once");
}

#[test]
fn the_request_has_the_settings_of_the_step() {
    let mut head = ask("/head");
    head.method = "HEAD".into();
    head.timeout_ns = Some(7 * MS);
    let mut close = ask("/close");
    close.headers = vec![("Connection".into(), text("close"))];
    let mut engine = play(script(vec![head, close], vec![Node::Ask(0), Node::Ask(1)]), always(200, ""));
    engine.iterate();
    let said: Vec<_> = engine.steps.iter().map(|s| (s.head_only, s.close, s.timeout_ns)).collect();
    assert_eq!(said, [(true, false, 7 * MS), (false, true, 0)]);
}
