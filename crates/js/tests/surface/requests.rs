//! Requests as a script sends them, and responses as it sees them.

use super::run::{Answer, json, run, settings};

const URL: &str = "http://127.0.0.1:8080";

fn console(body: &str, server: impl FnMut(&str) -> Answer) -> Vec<String> {
    let body = format!("exports.default = () => {{ const url = '{URL}'; {body} }}");
    run(&body, 1, settings(), server).console
}

#[test]
fn sends_a_request_and_returns_its_response() {
    let body = "const r = m1.default.get(url + '/a?b=1', { headers: { 'X-One': 'two' } }); \
                console.log(r.status, r.status_text, r.body, r.headers['Content-Type'], r.json().n, r.url)";
    let mut sent = String::new();
    let lines = console(body, |request| {
        sent = request.to_owned();
        json(200, "{\"n\": 5}")
    });
    assert_eq!(lines, [format!("info: 200 200 OK {{\"n\": 5}} application/json 5 {URL}/a?b=1")]);
    let expected = "GET /a?b=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-One: two\r\n";
    assert!(sent.starts_with(expected), "{sent}");
}

#[test]
fn header_fields_have_canonical_names_however_many_a_server_sends() {
    let body = "for (let i = 0; i < 700; i++) { const r = m1.default.get(url); \
                const all = `{\"X-Same\":\"1, ${i}\",\"X-Own-${i}\":\"a:b\",\"__proto__\":\"c\"}`; \
                if (JSON.stringify(r.headers) !== all) \
                console.log(i, JSON.stringify(r.headers)) } console.log('done')";
    let mut number = 0;
    let lines = console(body, |_| {
        let head = format!("x-SAME: 1\r\nX-own-{number}:a:b \r\nX-Same: {number}\r\n__PROTO__: c\r\n");
        number += 1;
        Answer { status: 200, head, body: Vec::new() }
    });
    assert_eq!(lines, ["info: done"]);
}

#[test]
fn cookies_are_anew_in_each_iteration_even_in_a_jar_that_a_script_keeps() {
    let body = "let kept; exports.default = () => { const now = m1.default.cookieJar(); \
                if (kept) console.log(Object.keys(kept.cookiesForURL('http://127.0.0.1:8080/')).join(), \
                Object.keys(now.cookiesForURL('http://127.0.0.1:8080/')).length); \
                kept = now; m1.default.get('http://127.0.0.1:8080/'); }";
    let mut number = 0;
    let trace = run(body, 3, settings(), |_| {
        number += 1;
        Answer { status: 200, head: format!("Set-Cookie: c{number}=1\r\n"), body: Vec::new() }
    });
    assert_eq!(trace.console, ["info: c1 0", "info: c2 0"]);
    assert!(trace.requests.iter().all(|request| !request.contains("Cookie:")), "{:?}", trace.requests);
}

#[test]
fn follows_redirects_with_cookies() {
    let body =
        "const r = m1.default.post(url + '/login', { user: 'a b', n: [1, 2] }); console.log(r.url, r.status)";
    let mut requests = Vec::new();
    let lines = console(body, |request| {
        requests.push(request.to_owned());
        match requests.len() {
            1 => Answer {
                status: 302,
                head: "Location: ../home?x=1\r\nSet-Cookie: sid=7; Path=/; HttpOnly\r\n".into(),
                body: Vec::new(),
            },
            _ => json(200, "{}"),
        }
    });
    assert_eq!(lines, [format!("info: {URL}/home?x=1 200")]);
    assert!(requests[0].contains("Content-Type: application/x-www-form-urlencoded\r\n"), "{}", requests[0]);
    assert!(requests[0].ends_with("n=1&n=2&user=a+b"), "{}", requests[0]);
    assert!(requests[1].starts_with("GET /home?x=1 HTTP/1.1\r\n"), "{}", requests[1]);
    assert!(requests[1].contains("Cookie: sid=7\r\n"), "{}", requests[1]);
    assert!(requests[1].contains(&format!("Referer: {URL}/login\r\n")), "{}", requests[1]);
}

#[test]
fn sends_a_batch_at_once() {
    let body = "const r = m1.default.batch({ a: url + '/a', b: ['POST', url + '/b', 'text'], \
                c: { method: 'PUT', url: url + '/c', body: '1' } }); \
                console.log(Object.keys(r).join(), r.a.status, r.b.status, r.c.status)";
    let mut count = 0;
    let lines = console(body, |_| {
        count += 1;
        Answer { status: 200 + count, head: String::new(), body: Vec::new() }
    });
    assert_eq!(lines, ["info: a,b,c 201 202 203"]);
}

#[test]
fn counts_checks_and_reports_exceptions() {
    let body = "const r = m1.default.get(url); \
                m0.check(r, { ok: (r) => r.status === 200, 'is big': (r) => r.body.length > 100 }); \
                if (__ITER === 1) null.x;";
    let body = format!("exports.default = () => {{ const url = '{URL}'; {body} }}");
    let trace = run(&body, 3, settings(), |_| json(200, "{}"));
    assert_eq!(trace.checks["ok"], (3, 0));
    assert_eq!(trace.checks["is big"], (3, 3));
    assert_eq!(trace.failed_iterations, 1);
    assert!(
        trace.console[0].starts_with("error: TypeError: cannot read property 'x' of null"),
        "{:?}",
        trace.console
    );
}

#[test]
fn names_series_by_tag_group_and_scenario() {
    let body =
        "m0.group('cart', () => { m1.default.get(url + '/1', { tags: { name: 'item', kind: 'x' } }) })";
    let body = format!("exports.default = () => {{ const url = '{URL}'; {body} }}");
    let trace = run(&body, 1, settings(), |_| json(200, "{}"));
    assert_eq!(trace.series, ["item group=::cart kind=x method=GET"]);
}
