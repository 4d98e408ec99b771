//! What a script uses, found without running it.

use crate::support::{at, bundle, single};
use plimsoll_bundle::{Bundle, Usage};

fn usage(text: &str) -> Usage {
    single(text).usage
}

/// Returns the members of the first built-in module: `get() status`, and `?` if some are hidden.
fn members(bundle: &Bundle) -> String {
    let Some(first) = bundle.usage.builtins.first() else { return String::new() };
    let mut names: Vec<String> = first
        .members
        .iter()
        .map(|one| if one.is_called { format!("{}()", one.path) } else { one.path.clone() })
        .collect();
    names.extend(first.computed.iter().map(|_| "?".to_owned()));
    names.join(" ")
}

#[test]
fn members_of_built_in_modules_are_found_however_they_are_imported() {
    for (text, expected) in [
        ("import http from 'k6/http'; http.get(a); http.get(b); http.cookieJar().set()", "get() cookieJar()"),
        ("import * as http from 'k6/http'; http.get(a); http.default.post(a)", "get() post()"),
        ("import { get, post as p } from 'k6/http'; p(a)", "get post()"),
        (
            "import exec from 'k6/execution'; exec.scenario.iterationInTest; exec['vu'].idInTest",
            "scenario.iterationInTest vu.idInTest",
        ),
        (
            "import exec from 'k6/execution'; const { vu, scenario: { name } } = exec; vu.tags.a",
            "vu scenario vu.tags.a",
        ),
        ("import http from 'k6/http'; const h = http; h.get(a); const { post } = h; post(a)", "get() post()"),
        ("import exec from 'k6/execution'; const s = exec.scenario; s.name", "scenario scenario.name"),
        ("import { Counter } from 'k6/metrics'; new Counter('a')", "Counter()"),
        ("import http from 'k6/http'; http[a]()", "?"),
        ("import http from 'k6/http'; f(http)", "?"),
        ("import http from 'k6/http'; export { http }", "?"),
        ("export { get } from 'k6/http'", "get"),
        ("export * from 'k6/http'", "?"),
        ("const http = require('k6/http'); http.get(a)", "get()"),
        ("const { get } = require('k6/http'); get(a)", "get()"),
        ("const http = require('k6/http').default; http.get(a)", "get()"),
        ("var _http = _interopRequireDefault(require('k6/http')); _http.default.get(a)", "get()"),
        ("f(require('k6/http'))", "?"),
        ("require('k6/http')", ""),
        ("import 'k6/http'", ""),
    ] {
        assert_eq!(members(&single(text)), expected, "{text}");
    }
}

#[test]
fn uses_have_their_first_place_over_all_modules() {
    let files = [
        ("main.js", "import './lib.js';\nimport http from 'k6/http';\nhttp.post(a)"),
        ("lib.js", "import http from 'k6/http';\n\n  http.get(a); http.post(b)"),
    ];
    let usage = bundle(&files).usage;
    assert_eq!((usage.builtins.len(), usage.builtins[0].name.as_str()), (1, "k6/http"));
    assert_eq!(at(&usage.builtins[0].place), "main.js:2:18");
    let places: Vec<String> =
        usage.builtins[0].members.iter().map(|one| format!("{} {}", one.path, at(&one.place))).collect();
    assert_eq!(places, ["post main.js:3:1", "get lib.js:3:3"]);
}

#[test]
fn environment_files_globals_and_exports_are_named() {
    let text = "export const options = {}; export default function () {}\nexport { a as setup };\nconst a = \
    __ENV.A, b = __ENV['B'], { C, D: d } = __ENV;\n\
                open('a.txt'); open(`b.bin`, 'b'); open(a); console.log(__VU)";
    let usage = usage(text);
    let names = |list: &[plimsoll_bundle::Mention]| {
        list.iter().map(|one| one.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&usage.env), "A B C D");
    assert_eq!(usage.env_computed, None);
    assert_eq!(names(&usage.exports), "options default setup");
    assert_eq!(names(&usage.globals), "__ENV open console __VU");
    let opens: Vec<_> =
        usage.opens.iter().map(|one| (one.path.as_deref(), one.is_binary, at(&one.place))).collect();
    assert_eq!(
        opens,
        [
            (Some("a.txt"), false, "main.js:4:1".to_owned()),
            (Some("b.bin"), true, "main.js:4:16".to_owned()),
            (None, false, "main.js:4:36".to_owned()),
        ]
    );
    for text in ["__ENV[a]", "Object.keys(__ENV)", "const { ...a } = __ENV"] {
        assert!(self::usage(text).env_computed.is_some(), "{text}");
    }
    // A variable of the script is not the global.
    assert!(self::usage("function open() {} open('a'); const __ENV = {}; __ENV.A").globals.is_empty());
}

#[test]
fn addresses_are_found_in_source_order() {
    let text = "import http, { post } from 'k6/http';\nconst base = 'https://a.test';\nhttp.get('http://b.test/x');\n\
                http.get(`http://c.test/${d}`); post('HTTP://d.test/' + a + 'http://no.test'); f(`ws://e.test`);\n\
                http.request('GET', 'http://f.test/'); http.get(http.url`http://g.test/${a}`);\n\
                http.batch(['http://h.test/', ['GET', 'http://i.test/'], \
                { method: 'GET', url: 'http://j.test/', headers: { Origin: 'http://k.test' } }]);\n\
                http.post(base, 'http://l.test'); http.get(f('http://m.test')); \
                x = 'not http://n.test'; http.get({ a: 'http://o.test' })";
    let usage = usage(text);
    let found: Vec<String> = usage
        .urls
        .iter()
        .map(|one| {
            format!(
                "{}{}{}",
                one.text,
                if one.is_head { "…" } else { "" },
                if one.is_request { " !" } else { "" }
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "https://a.test",
            "http://b.test/x !",
            "http://c.test/… !",
            "HTTP://d.test/… !",
            "http://no.test",
            "ws://e.test",
            "http://f.test/ !",
            "http://g.test/… !",
            "http://h.test/ !",
            "http://i.test/ !",
            "http://j.test/ !",
            "http://k.test",
            "http://l.test",
            "http://m.test",
            "http://o.test",
        ]
    );
    assert_eq!(at(&usage.urls[1].place), "main.js:3:10");
    let compiled = self::usage("var _http = require('k6/http'); _http.default.get('http://a.test')");
    assert!(compiled.urls[0].is_request);
}

#[test]
fn a_script_that_reads_no_body_is_recognized() {
    for text in [
        "import http from 'k6/http'; import { check } from 'k6'; const r = http.get('http://a'); check(r, { a: \
        (r) => r.status == 200 })",
        "http.post(a, JSON.stringify({ a: 1, b: [__VU] }), { headers: { a: b } })",
        "const data = { a: 1 }; http.post(a, JSON.stringify(data))",
        "http.batch([{ method: 'POST', url: a, body: '{}' }])",
        "const a = [1]; a[i]; a[Math.floor(Math.random() * a.length)]; a[__VU % 3]; a[b]; __ENV[c]",
        "console.log('a', r.status, `${r}`, r.timings.duration)",
        "a[key] = 1; for (const b of c) {}",
        "import { SharedArray } from 'k6/data'; const d = new SharedArray('a', f); d[x]",
    ] {
        assert_eq!(usage(text).reads_bodies, None, "{text}");
    }
    for (text, place) in [
        ("r.body", "1:3"),
        ("r['body']", "1:3"),
        ("r.json('a.b')", "1:3"),
        ("r?.html()", "1:4"),
        ("const { body } = r", "1:9"),
        ("({ body } = r)", "1:4"),
        ("const { status, ...rest } = r", "1:17"),
        ("f(r, 'body')", "1:6"),
        ("function f(r) { return r[key] }", "1:26"),
        ("function f(r) { console.log(r) }", "1:17"),
        ("function f(r) { JSON.stringify({ a: [r] }) }", "1:17"),
        ("const r = http.get(a); JSON.stringify(r)", "1:24"),
        ("function f(r) { return { ...r } }", "1:26"),
        ("function f(r) { for (const k in r) {} }", "1:17"),
        ("r.submitForm(); r.body", "1:3"),
    ] {
        let found = usage(text).reads_bodies.map(|place| at(&place));
        assert_eq!(found.as_deref(), Some(&*format!("main.js:{place}")), "{text}");
    }
}
