//! What scripts see as in k6: each was found by a comparison with it.

use super::lines::lines;
use super::run::{Answer, json, run, settings};
use plimsoll_js::{HostRule, Settings};

fn default(body: &str) -> String {
    format!("exports.default = () => {{ {body} }}")
}

#[test]
fn the_console_shows_objects_with_spaces_and_cycles_by_name() {
    let body = "const loop = { n: 1 }; loop.self = loop; \
                console.log({ a: 1, b: ['x', undefined], c: {} }, [], () => 1, loop, new Date(0)); \
                console.log(new Uint8Array([1, 255]), new Uint8Array([1]).buffer, new Error('an error'))";
    assert_eq!(
        lines(&[], body),
        [
            "{ a: 1, b: [ \"x\", null ], c: {} } [] [object Function] { n: 1, self: [Circular] } \
             \"1970-01-01T00:00:00.000Z\"",
            "Uint8Array(2) [ 1, 255 ] ArrayBuffer { [Uint8Contents]: <01>, byteLength: 1 } Error: an error",
        ]
    );
}

#[test]
fn a_script_cannot_catch_the_end_of_a_test() {
    let body = "const { test } = m3.default; exports.default = () => { try { test.abort('enough') } \
                catch (e) { console.log('caught') } console.log('after') }; \
                exports.teardown = () => console.log('teardown')";
    let trace = run(body, 2, settings(), |_| json(200, ""));
    assert_eq!(trace.console, ["error: test aborted: enough", "info: teardown"]);
}

#[test]
fn names_with_two_colons_and_values_without_a_number_are_refused() {
    let body = "const c = new m2.Counter('counter'), r = new m2.Rate('rate'); exports.default = () => { \
                try { m0.check(1, { 'a::b': true }) } catch (e) { console.log('refused') } \
                console.log([null, undefined, NaN, {}, 'x'].map((v) => c.add(v) || r.add(v)).join()); \
                console.log(c.add('5'), r.add(true)) }";
    let trace = run(body, 1, settings(), |_| json(200, ""));
    let lines: Vec<&String> = trace.console.iter().filter(|line| line.starts_with("info")).collect();
    assert_eq!(lines, ["info: refused", "info: false,false,false,false,false", "info: true true"]);
}

#[test]
fn hosts_with_patterns_and_ports_are_reached_elsewhere_under_their_name() {
    let rule = HostRule {
        pattern: "*.example.test".into(),
        of_port: None,
        address: "127.0.0.1".parse().expect("an address"),
        port: Some(8080),
    };
    let own = Settings { hosts: vec![rule], ..settings() };
    let body = "console.log(m1.default.get('http://a.example.test/x').status, \
                m1.default.get('https://a.example.test/x').error)";
    let trace = run(&default(body), 1, own, |_| json(200, "{}"));
    assert!(
        trace.requests[0].starts_with("GET /x HTTP/1.1\r\nHost: a.example.test\r\n"),
        "{:?}",
        trace.requests
    );
    let said = "`hosts`: `*.example.test` has a pattern or a port, which is not supported with TLS";
    assert!(trace.console.contains(&format!("info: 200 {said}")), "{:?}", trace.console);
    assert_eq!(trace.requests.len(), 1);
}

#[test]
fn responses_are_as_scripts_expect_them() {
    let body = "const r = m1.default.get('http://127.0.0.1:8080/'); \
                console.log(r.remote_ip, r.remote_port, r.tls_version === '', r.ocsp.status === ''); \
                console.log(Object.keys(r.headers).join(), r.cookies.a[0].value, r.body, \
                r.request.headers['User-Agent'].length)";
    let trace = run(&default(body), 1, settings(), |_| Answer {
        status: 200,
        head: "Transfer-Encoding: chunked\r\nContent-Encoding: unknown\r\nSet-Cookie: a=\"b\"\r\n".into(),
        body: b"as it is".to_vec(),
    });
    assert_eq!(
        trace.console,
        ["info: 127.0.0.1 8080 true true", "info: Content-Encoding,Set-Cookie b as it is 1"]
    );
    assert!(!trace.requests[0].contains("Accept:"), "{}", trace.requests[0]);
}

#[test]
fn elements_of_shared_arrays_are_read_only_and_the_array_is_one() {
    let body = "const { SharedArray } = m4; const list = new SharedArray('list', () => [{ n: 1 }, { n: 2 }]); \
                exports.default = () => { 'use strict'; \
                console.log(JSON.stringify(list), Array.isArray(list), list.length); \
                for (const change of [() => { list[0].n = 9 }, () => { list[0] = 1 }, () => list.push(1)]) \
                  try { change(); console.log('changed') } catch (e) { console.log(e.name) } }";
    let trace = run(body, 1, settings(), |_| json(200, ""));
    assert_eq!(
        trace.console,
        ["info: [{\"n\":1},{\"n\":2}] true 2", "info: TypeError", "info: TypeError", "info: TypeError"]
    );
}
