//! WebSockets and streams authenticate themselves as requests do, although they stay open.

use crate::provoke::{json, no_faults};
use crate::support::{Ruler, Scratch, run_alongside};
use serde_json::Value;

/// Runs a file with these steps; `auth` applies to all of them.
#[track_caller]
fn run(ruler: &Ruler, auth: &str, steps: &str, load: &str) -> Value {
    let text = format!("target: {}\nauth: {auth}\nscenarios:\n  s:\n{steps}\nload: {load}\n", ruler.url(""));
    json(&["run", &Scratch::new().file("plan.yaml", &text)], 0)
}

/// Returns the requests that the server has kept: target and the named header.
fn kept(ruler: &Ruler, header: &str) -> Vec<(String, Option<String>)> {
    let all = ruler.json("/_test-server/requests");
    let value = |request: &Value| {
        let fields = request["headers"].as_array()?.iter();
        let mut field =
            fields.filter(|field| field[0].as_str().is_some_and(|name| name.eq_ignore_ascii_case(header)));
        field.next_back()?[1].as_str().map(str::to_owned)
    };
    let target = |request: &Value| request["target"].as_str().unwrap_or_default().to_owned();
    all["requests"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|request| (target(request), value(request)))
        .collect()
}

#[test]
fn handshakes_and_streams_are_signed() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    ruler.set("keep_requests=last:10");
    let auth = "{ aws_sigv4: { access_key: AKID, secret_key: s, region: eu-west-1, service: execute-api } }";
    let steps = "    - connect: /websocket\n    - send: x\n    - expect: x\n    - close: 1000\n    \
                 - get: /events?every=1ms\n      stream: { events: 2 }";
    no_faults(&run(&ruler, auth, steps, "{ users: 1, iterations: 1 }"));
    let kept = kept(&ruler, "Authorization");
    assert_eq!(kept.len(), 2, "{kept:?}");
    for (target, authorization) in kept {
        let value = authorization.unwrap_or_default();
        let scope = "AWS4-HMAC-SHA256 Credential=AKID/";
        assert!(value.starts_with(scope) && value.contains("/eu-west-1/execute-api/"), "{target}: {value}");
    }
}

/// A token of two seconds is due after one second: what is opened then requests the next one first.
#[test]
fn sockets_and_streams_wait_for_a_new_token() {
    let _beside = run_alongside();
    let opening = ["connect: /websocket", "get: /events?every=1ms\n      stream: { events: 1 }"];
    for open in opening {
        let ruler = Ruler::start(&[]);
        ruler.set("keep_requests=last:1000");
        let auth = "\n  oauth2:\n    grant: client_credentials\n    token_url: /login?content_type=application/json&\
                    text=%7B%22access_token%22:%22t-1%22,%22expires_in%22:2%7D\n    client_id: shop\n    \
                    client_secret: s";
        let close = if open.starts_with("connect") { "\n    - close: 1000" } else { "" };
        let steps = format!("    - {open}{close}\n    - think: 100ms");
        let said = run(&ruler, auth, &steps, "{ users: 2, duration: 2500ms }");
        no_faults(&said);
        let kept = kept(&ruler, "Authorization");
        let (logins, opened): (Vec<_>, Vec<_>) =
            kept.iter().partition(|(target, _)| target.starts_with("/login"));
        assert!((2..=4).contains(&logins.len()), "{open}: {} logins", logins.len());
        assert!(opened.len() > 20, "{open}: {}", opened.len());
        assert!(opened.iter().all(|(_, value)| value.as_deref() == Some("Bearer t-1")), "{opened:?}");
    }
}
