//! Requests that need other exchanges: challenges, tokens, and persisted queries of GraphQL.

use super::engine::{Engine, MS, Served};
use super::plans::*;
use plimsoll_plan::Fault;
use plimsoll_plan::answer::{Check, Statuses, Subject};
use plimsoll_plan::auth::{Auth, DigestLogin, SigV4, TokenSource};
use plimsoll_plan::program::{Behavior, Phase};
use plimsoll_plan::script::{Ask, Graphql, Node, Script, Slot, Timing, TimingPart};
use plimsoll_plan::stream::Stream;
use plimsoll_plan::value::{Escape, Part, Placeholder, Text};

const S: u64 = 1_000 * MS;

/// One request with digest authentication. Series 0 counts it, series 1 its challenges.
fn digest(mut first: Ask, service: impl FnMut(&str) -> Served + 'static) -> Engine {
    first.redirects = 2;
    let challenge =
        Ask { name: "digest challenge".into(), expect: Some(Statuses(vec![(401, 401)])), ..ask("/") };
    let login = DigestLogin { user: text("u"), password: text("p"), challenge: 1 };
    let script = Script {
        auths: vec![(0, Auth::Digest(Box::new(login)))],
        ..script(vec![first, challenge], vec![Node::Ask(0)])
    };
    play(script, service)
}

fn asks_for(nonce: &str) -> Served {
    let value = format!("Digest realm=\"r\", qop=\"auth\", nonce=\"{nonce}\"");
    Served::status(401).header("WWW-Authenticate", &value)
}

/// A server that accepts a nonce `uses` times.
fn protected(uses: u32) -> impl FnMut(&str) -> Served + 'static {
    let (mut number, mut left) = (0, 0);
    move |text: &str| {
        if text.contains(&format!("nonce=\"n{number}\"")) && left > 0 {
            left -= 1;
            return Served::ok("in");
        }
        let is_stale = text.contains("nonce=");
        (number, left) = (number + 1, uses);
        let mut served = asks_for(&format!("n{number}"));
        if is_stale {
            served.head = served.head.replace("qop=", "stale=true, qop=");
        }
        served
    }
}

#[test]
fn a_challenge_is_an_exchange_of_its_own_and_is_asked_for_once() {
    let mut first = ask("/in?a=1");
    first.method = "POST".into();
    first.body = Some(text("hello"));
    let mut engine = digest(first, protected(u32::MAX));
    engine.iterations(3);
    let series: Vec<u32> = engine.steps.iter().map(|step| step.request).collect();
    assert_eq!(series, [1, 0, 0, 0]);
    assert!(engine.failures.is_empty(), "{:?}", engine.failures);
    let bare = &engine.sent[0].1;
    assert!(bare.ends_with("\r\n\r\n") && bare.contains("Content-Length: 0\r\n"), "{bare}");
    for (number, (_, sent)) in engine.sent[1..].iter().enumerate() {
        assert!(sent.starts_with("POST /in?a=1 ") && sent.ends_with("\r\n\r\nhello"), "{sent}");
        assert!(sent.contains("Content-Length: 5\r\n") && sent.contains("uri=\"/in?a=1\""), "{sent}");
        assert!(sent.contains(&format!("nc={:08x}", number + 1)), "{sent}");
        assert_eq!(sent.matches("Authorization:").count(), 1, "{sent}");
    }
}

#[test]
fn an_old_nonce_is_replaced_and_the_request_is_sent_once_more() {
    let mut engine = digest(ask("/in"), protected(2));
    engine.iterations(4);
    // The third request meets the old nonce; its repetition and the fourth use the next one.
    let series: Vec<u32> = engine.steps.iter().map(|step| step.request).collect();
    assert_eq!(series, [1, 0, 0, 0, 0, 0]);
    assert!(engine.failures.is_empty(), "{:?}", engine.failures);
    assert!(engine.sent[4].1.contains("nonce=\"n2\"") && engine.sent[4].1.contains("nc=00000001"));
}

#[test]
fn a_wrong_password_fails_the_request_and_not_the_challenge() {
    let mut engine = digest(ask("/in"), |_: &str| asks_for("n"));
    engine.iterate();
    assert_eq!(engine.failures, [(0, Fault::Status)]);
    assert_eq!(engine.steps.len(), 2, "it is not repeated for ever");
}

#[test]
fn a_server_without_a_digest_is_named() {
    for (served, why) in [
        (Served::status(401).header("WWW-Authenticate", "NTLM"), "the server offers `NTLM`, but no digest"),
        (Served::ok("open"), "expected status `401` with a challenge, found `200`"),
    ] {
        let mut engine = digest(ask("/in"), move |_: &str| served.clone());
        engine.iterate();
        assert_eq!(engine.failures, [(1, Fault::Status)]);
        assert!(engine.samples[0].observed.starts_with(why), "{:?}", engine.samples);
        assert_eq!(engine.steps.len(), 1);
    }
}

#[test]
fn a_redirect_is_answered_for_its_own_path() {
    let mut accepts = protected(u32::MAX);
    let mut engine = digest(ask("/in"), move |sent: &str| match accepts(sent) {
        served if served.status == 200 && sent.starts_with("GET /in ") => {
            Served::status(302).header("Location", "/there")
        }
        served => served,
    });
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /in", "GET /in", "GET /there"]);
    let last = &engine.sent[2].1;
    assert!(last.contains("uri=\"/there\"") && last.contains("nc=00000002"), "{last}");
    assert_eq!(last.matches("Authorization:").count(), 1, "{last}");
}

#[test]
fn a_signature_covers_the_request_as_it_is_sent() {
    let signature = SigV4 {
        access_key: text("AKID"),
        secret_key: text("secret"),
        session_token: None,
        region: text("eu-west-1"),
        service: text("execute-api"),
    };
    let script = Script {
        auths: vec![(0, Auth::SigV4(Box::new(signature)))],
        ..script(vec![ask("/x")], vec![Node::Ask(0)])
    };
    let mut engine = play(script, always(200, ""));
    engine.iterate();
    let sent = &engine.sent[0].1;
    assert!(sent.contains("X-Amz-Date: 20260131T120000Z\r\n"), "{sent}");
    assert!(sent.contains("Credential=AKID/20260131/eu-west-1/execute-api/aws4_request, "), "{sent}");
}

/// A request with a shared token (series 0), the request for one (1), and the one with a refresh token (2).
fn with_token(refresh: bool) -> Script {
    let bearer = |id| {
        let mut all = text("Bearer ");
        all.parts.push(Part::Placeholder(Placeholder::Global(id), Escape::None));
        all
    };
    let mut own = ask("/own");
    own.headers = vec![("Authorization".into(), bearer(0))];
    let optional = |name: &str, path: &str, id| {
        let mut extract = extract(name, path, Slot::Global(id));
        extract.default = Some(Text::default());
        extract
    };
    let mut token = ask("/token");
    token.extracts = vec![
        extract("access", "$.access_token", Slot::Global(0)),
        optional("refresh", "$.refresh_token", 1),
        optional("expires", "$.expires_in", 2),
    ];
    let renew = Ask { name: "refresh".into(), path: text("/refresh"), ..token.clone() };
    let early_ns = 30 * S;
    Script {
        auths: vec![(0, Auth::Token(0))],
        tokens: vec![TokenSource {
            ask: 1,
            refresh: refresh.then_some(2),
            expires_in: 2,
            refresh_token: 1,
            early_ns,
        }],
        globals: ["access", "refresh", "expires"].map(str::to_owned).into(),
        setup: vec![Node::Ask(1)],
        ..script(vec![own, token, renew], vec![Node::Ask(0)])
    }
}

/// A token server whose tokens live for 100 s.
fn tokens(mut number: u32) -> impl FnMut(&str) -> Served + 'static {
    move |sent: &str| {
        if sent.starts_with("GET /own") {
            return Served::ok("");
        }
        number += 1;
        Served::ok(&format!(
            r#"{{"access_token": "t{number}", "refresh_token": "r{number}", "expires_in": 100}}"#
        ))
    }
}

/// A user after setup has got the first token.
fn after_setup(script: Script, service: impl FnMut(&str) -> Served + 'static) -> (Engine, Engine) {
    let stage = stage(script);
    let setup = stage.clone().factory(Phase::Setup).expect("it needs no files").programs().make(slot(0));
    let mut setup = Engine::new(setup, tokens(0));
    setup.iterate();
    (setup, Engine::new(user(&stage, 0), service))
}

#[test]
fn a_token_is_requested_in_setup_and_again_before_it_expires() {
    let (setup, mut engine) = after_setup(with_token(false), tokens(1));
    assert_eq!(setup.lines(), ["GET /token"]);
    engine.iterate();
    assert!(engine.sent[0].1.contains("Authorization: Bearer t1\r\n"), "{}", engine.sent[0].1);
    // 30 s before the end of the first token.
    engine.now_ns = 69 * S;
    engine.iterate();
    engine.now_ns = 71 * S;
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /own", "GET /own", "GET /token", "GET /own"]);
    let series: Vec<u32> = engine.steps.iter().map(|step| step.request).collect();
    assert_eq!(series, [0, 0, 1, 0], "the token server is counted apart");
    assert!(engine.sent[3].1.contains("Authorization: Bearer t2\r\n"), "{}", engine.sent[3].1);
    assert!(engine.failures.is_empty());
}

#[test]
fn a_refresh_token_is_used_until_the_server_rejects_it() {
    let mut good = tokens(1);
    let service = move |sent: &str| match sent.starts_with("GET /refresh") {
        true => Served::status(400),
        false => good(sent),
    };
    let (_, mut engine) = after_setup(with_token(true), service);
    engine.now_ns = 80 * S;
    engine.iterate();
    // The old token is still good, so the request is sent with it; the next try is a whole login.
    assert_eq!(engine.lines(), ["GET /refresh", "GET /own"]);
    assert_eq!(engine.failures, [(2, Fault::Status)]);
    assert!(engine.sent[1].1.contains("Bearer t1\r\n"));
    engine.iterate();
    assert_eq!(engine.lines().len(), 3, "not at once");
    engine.now_ns = 82 * S;
    engine.iterate();
    assert_eq!(engine.lines()[3..], ["GET /token", "GET /own"]);
    assert!(engine.sent[4].1.contains("Bearer t2\r\n"));
}

#[test]
fn one_user_requests_the_next_token_and_the_others_do_not() {
    let stage = stage(with_token(false));
    let setup = stage.clone().factory(Phase::Setup).expect("it needs no files").programs().make(slot(0));
    Engine::new(setup, tokens(0)).iterate();
    let slow = |mut inner: Box<dyn FnMut(&str) -> Served>| {
        move |sent: &str| match sent.starts_with("GET /token") {
            true => inner(sent).after(20 * MS),
            false => inner(sent),
        }
    };
    let mut one = Engine::new(user(&stage, 0), slow(Box::new(tokens(1))));
    let mut other = Engine::new(user(&stage, 1), tokens(9));
    // After its end, the others wait for the new token; before it, they use the old one.
    (one.now_ns, other.now_ns) = (90 * S, 90 * S);
    one.begin();
    other.iterate();
    assert_eq!(other.lines(), ["GET /own"]);
    while one.step() {}
    (one.now_ns, other.now_ns) = (300 * S, 300 * S);
    one.begin();
    other.begin();
    other.run_until(300 * S + 7 * MS);
    assert_eq!(other.lines().len(), 1, "it waits");
    while one.step() {}
    while other.step() {}
    assert_eq!(other.lines(), ["GET /own", "GET /own"]);
    assert!(other.sent[1].1.contains("Bearer t3\r\n"), "{}", other.sent[1].1);
}

/// A request of GraphQL with a persisted query.
fn persisted(service: impl FnMut(&str) -> Served + 'static) -> Engine {
    let mut first = ask("/graphql");
    first.method = "POST".into();
    first.body = Some(text("{\"hash\":1}"));
    first.checks = vec![Check { name: "no GraphQL errors".into(), on: Subject::NoGraphqlErrors }];
    let whole = Some(text("{\"query\":\"{a}\",\"hash\":1}"));
    let graphql = vec![Graphql { ask: 0, with_query: whole, fails_on_errors: false, subscription: None }];
    play(Script { graphql, ..script(vec![first], vec![Node::Ask(0)]) }, service)
}

#[test]
fn an_unknown_hash_is_sent_once_more_with_its_query() {
    let mut knows = false;
    let mut engine = persisted(move |sent: &str| {
        knows |= sent.contains("query");
        match knows {
            true => Served::ok(r#"{"data": {"a": 1}}"#),
            false => Served::ok(r#"{"errors": [{"message": "PersistedQueryNotFound"}]}"#),
        }
    });
    engine.iterations(2);
    let bodies: Vec<&str> =
        engine.sent.iter().filter_map(|(_, sent)| sent.split("\r\n\r\n").nth(1)).collect();
    assert_eq!(bodies, ["{\"hash\":1}", "{\"query\":\"{a}\",\"hash\":1}", "{\"hash\":1}"]);
    assert!(engine.failures.is_empty());
    // A server that never learns it fails the request, and is asked twice.
    let mut engine = persisted(always(200, r#"{"errors": [{"message": "PersistedQueryNotFound"}]}"#));
    engine.iterate();
    assert_eq!((engine.sent.len(), &engine.failures[..]), (2, &[(0, Fault::GraphqlErrors)][..]));
}

#[test]
fn errors_in_a_graphql_response_have_their_own_name() {
    for (body, fault) in [
        (r#"{"data": {"a": 1}}"#, None),
        (r#"{"data": null, "errors": []}"#, None),
        (r#"{"data": {"a": 1}, "errors": null}"#, None),
        (r#"{"data": {"a": null}, "errors": [{"message": "no"}]}"#, Some(Fault::GraphqlErrors)),
        ("<html>", Some(Fault::Check)),
    ] {
        let mut engine = persisted(always(200, body));
        engine.iterate();
        assert_eq!(engine.failures.first().map(|(_, fault)| *fault), fault, "{body}");
    }
    let mut engine = persisted(always(503, r#"{"errors": [{"message": "no"}]}"#));
    engine.iterate();
    assert_eq!(engine.failures, [(0, Fault::Status)], "the status comes first");
}

#[test]
fn errors_in_an_event_end_a_subscription() {
    let open = |events: Vec<(u64, String, String)>| {
        let mut first = ask("/graphql");
        first.stream = Some(Box::new(Stream::default()));
        let graphql = vec![Graphql { ask: 0, with_query: None, fails_on_errors: true, subscription: None }];
        let script = Script { graphql, ..script(vec![first], vec![Node::Ask(0)]) };
        let served = Served { events, end_ns: Some(50 * MS), ..Served::status(200) };
        let mut engine = play(script, move |_: &str| served.clone());
        engine.iterate();
        engine
    };
    let event = |at: u64, data: &str| (at, String::new(), data.to_owned());
    let good = r#"{"data": {"a": 1}}"#;
    assert!(open(vec![event(1, good), event(2, good)]).failures.is_empty());
    let engine = open(vec![event(1, good), event(2, r#"{"errors": [{"message": "no"}]}"#), event(3, good)]);
    assert_eq!(engine.failures, [(0, Fault::GraphqlErrors)]);
    assert!(engine.now_ns < 10 * MS, "the stream is closed at once");
}

#[test]
fn the_time_of_a_request_is_a_value_of_later_ones() {
    let mut second = ask("/took");
    second.path = around("/took?ms=", Placeholder::Timing(0), "");
    let timings = vec![Timing { ask: 0, part: TimingPart::Ttfb }];
    let script = Script { timings, ..script(vec![ask("/slow"), second], vec![Node::Ask(0), Node::Ask(1)]) };
    let mut engine = play(script, |_: &str| Served::ok("").after(12_345_678));
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /slow", "GET /took?ms=12.346"]);
}
