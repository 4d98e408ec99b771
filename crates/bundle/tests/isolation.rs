//! Which isolation a script needs, from both sides of each rule.

use crate::support::{bundle, class, single};

#[track_caller]
fn all(letter: char, scripts: &[&str]) {
    for script in scripts {
        let text = format!(
            "import http from 'k6/http'; import {{ Counter }} from 'k6/metrics';\nvar a = {{}}, b, c, f, g;\n{script}"
        );
        let found = class(&single(&text));
        assert!(found.starts_with(letter), "{script}: {found}");
    }
}

#[test]
fn scripts_that_change_only_their_own_state_share_a_realm() {
    all(
        'S',
        &[
            "export default function () { const res = http.get('http://a/'); check(res, { a: (r) => r.status == \
            200 }) }",
            "let n = 0; class A { #a; static b = []; m() { n++; A.b.push(1); this.c = 1 } }",
            "const x = Math.random(), y = JSON.parse('{}'), z = Object.assign({}, y, { d: 1 }); Object.freeze(z)",
            "console.log(__ENV.A, __VU, { ...__ENV }, Object.keys(__ENV)); const { B } = __ENV",
            "[1].map(Number).filter(Boolean).map(String); Math.max.apply(Math, [1]); console.log.bind(console)",
            "class E extends Error {} new E() instanceof Error; f(a.constructor === Array); typeof globalThis; \
            typeof Promise",
            "function A() {} function B() {} A.prototype.b = 1; Object.setPrototypeOf(A, B); A.__proto__ = B; \
            const p = A.__proto__ || Object.getPrototypeOf(A)",
            "Object.prototype.hasOwnProperty.call(a, 'b'); Array.prototype.slice.call(arguments); (c ? String : \
            Number)(a)",
            "Symbol.for('a'); new Date(); new Uint8Array(1); new Map(); crypto.getRandomValues(a); x instanceof \
            Promise",
            "const then = 1; a.then; function Function1() {} const globalThis1 = 1; undefined; NaN",
            "a.prototype.b(); with_(a); var o = { __proto__: null, async: 1, await: 2 }; Error.captureStackTrace(o)",
            "for (const k in __ENV) {} if (console) {} console && console.log()",
            "const http2 = { get: 1 }; http2.get = 2; new Counter('a').add(1); const h = http; h.get(a)",
        ],
    );
}

#[test]
fn scripts_that_may_change_shared_objects_need_their_own_globals() {
    all(
        'C',
        &[
            "globalThis.a = 1",
            "f(globalThis)",
            "window.a",
            "eval('1')",
            "new Function('return this')()",
            "Array.prototype.last = f",
            "delete Array.prototype.map",
            "String.prototype['a'] = f",
            "Math.random = f",
            "[Math.random] = f",
            "Math[a] = f",
            "Error.stackTraceLimit = 1",
            "Object.assign(Array.prototype, a)",
            "Object.defineProperty(String.prototype, 'a', {})",
            "Reflect.set(Math, 'a', 1)",
            "Object.freeze(Array)",
            "f(Math)",
            "const x = Array",
            "const p = Array.prototype",
            "[].__proto__.a = 1",
            "a.__proto__",
            "a.constructor.prototype",
            "a.constructor.b = 1",
            "''.constructor.prototype.a = 1",
            "Object.getPrototypeOf([]).a = 1",
            "__ENV.A = 1",
            "Object.assign(__ENV, {})",
            "f(__ENV)",
            "undeclared = 1",
            "new WeakRef(a)",
            "http.get = f",
            "Counter.prototype.add = f",
            "Object.assign(http, {})",
        ],
    );
}

#[test]
fn asynchronous_scripts_need_jobs_of_their_own() {
    for code in [
        "async function h() {}",
        "export default async () => {}",
        "class A { async m() {} }",
        "await f()",
        "async function* h() { for await (const a of b) {} }",
        "Promise.resolve()",
        "f().then(g)",
        "f()?.then(g)",
        "setTimeout(f, 1)",
        "http.asyncRequest('GET', a)",
        "import { asyncRequest } from 'k6/http'; asyncRequest('GET', a)",
        "new WebSocket(a)",
        "crypto.subtle.digest(a)",
        "import('k6')",
        "import { setInterval } from 'k6/timers'",
        "import grpc from 'k6/net/grpc'; new grpc.Stream(a)",
        "client.asyncInvoke(a)",
        "import redis from 'k6/experimental/redis'; new redis.Client(a)",
    ] {
        let bundle = single(&format!("import http from 'k6/http'; var a, b, client, f, g;\n{code}"));
        assert_eq!(class(&bundle), "S", "{code}");
        assert!(bundle.asynchronous.is_some(), "{code}");
    }
    for code in ["f()", "import http from 'k6/http'; http.get(a)", "typeof Promise", "a instanceof Promise"] {
        assert_eq!(single(code).asynchronous, None, "{code}");
    }
}

#[test]
fn asynchronous_globals_are_shared_as_others() {
    all(
        'C',
        &[
            "Promise.prototype.a = 1",
            "Promise = f",
            "setTimeout = f",
            "f(Promise)",
            "const p = Promise.prototype",
            "crypto.subtle.a = 1",
            "globalThis.a = 1; async function h() {}",
        ],
    );
}

#[test]
fn code_that_runs_in_the_time_of_other_users_needs_its_own_runtime() {
    all(
        'R',
        &[
            "new FinalizationRegistry(f)",
            "Error.prepareStackTrace = f",
            "globalThis.a = new FinalizationRegistry(f)",
        ],
    );
}

#[test]
fn the_first_reason_is_named_with_its_place() {
    assert_eq!(
        class(&single("a();\nMath.x = 1; Math.y = 2")),
        "C main.js:2:1 it changes the global `Math.x`"
    );
    let asynchronous = |bundle: &plimsoll_bundle::Bundle| {
        bundle
            .asynchronous
            .as_ref()
            .map(|reason| format!("{} {}", crate::support::at(&reason.place), reason.why))
    };
    assert_eq!(
        asynchronous(&single("Math.x = 1;\nf(() => setTimeout(f))")).as_deref(),
        Some("main.js:2:9 `setTimeout` is asynchronous")
    );
    let files = [("main.js", "import './lib.js'"), ("lib.js", "const a = 1;\n  eval(a)")];
    assert_eq!(class(&bundle(&files)), "C lib.js:2:3 it runs code from a text with `eval`");
    let files = [("main.ts", "interface A {}\n\nconst a: A = async () => 1")];
    assert_eq!(asynchronous(&bundle(&files)).as_deref(), Some("main.ts:3:14 it has an async function"));
}

#[test]
fn state_of_the_user_may_be_changed_through_built_in_modules() {
    let text = "import exec from 'k6/execution'; import { config } from \
        'https://jslib.k6.io/k6-utils/1.4.0/index.js';\n";
    let with = |code: &str| class(&single(&format!("{text}{code}")));
    assert_eq!(
        with("exec.vu.tags.a = 1; exec.vu.metrics.tags['b'] = 2; const { vu } = exec; delete vu.tags.a"),
        "S"
    );
    assert_eq!(with("config.a = 1"), "S");
    assert_eq!(with("exec.vu = 1"), "C main.js:2:1 it changes `exec.vu`, which all users share");
    assert_eq!(with("exec.test.a = 1"), "C main.js:2:1 it changes `exec.test.a`, which all users share");
}

#[test]
fn members_of_modules_of_the_user_may_be_changed() {
    let files = [
        ("main.js", "import a, { B } from './lib.js'; a.x = 1; B.prototype.y = 2"),
        ("lib.js", "export default {}; export class B {}"),
    ];
    assert_eq!(class(&bundle(&files)), "S");
}
