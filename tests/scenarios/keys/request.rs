//! Keys of a request, byte for byte as they came.

use super::{Case, case};
use crate::bench::{steps, trial};

pub const CASES: &[Case] = &[
    case(
        &[
            "request.get",
            "request.post",
            "request.put",
            "request.patch",
            "request.delete",
            "request.head",
            "request.options",
            "request.request",
            "request_line.method",
            "request_line.path",
        ],
        || {
            let list = "- get: /x\n- post: /x\n- put: /x\n- patch: /x\n- delete: /x\n- \
                head: /x\n- options: /x\n- request: { method: PROPFIND, path: /x?y }";
            trial(steps(list))
        },
        |s| {
            s.came(&[
                "GET /x",
                "POST /x",
                "PUT /x",
                "PATCH /x",
                "DELETE /x",
                "HEAD /x",
                "OPTIONS /x",
                "PROPFIND /x?y",
            ]);
            s.expect_run(0);
        },
    ),
    case(
        &["request.name", "request.tags"],
        || trial(steps("- { get: /x, name: front page, tags: { kind: read, n: 1 } }")),
        |s| {
            s.came(&["GET /x"]);
            s.expect_run(0);
            assert_eq!(
                s.row("requests", "front page")["tags"],
                serde_json::json!([["kind", "read"], ["n", "1"]])
            );
        },
    ),
    case(
        &["request.query"],
        || {
            let list = "- set: { q: \"a&b=c d/ä\" }\n- { get: \"/x?z=1\", query: { q: \"${q}\", \
                page: [1, 2], e: \"\" } }";
            trial(steps(list))
        },
        |s| {
            s.came(&["GET /x?z=1&q=a%26b%3Dc%20d%2F%C3%A4&page=1&page=2&e="]);
            s.expect_run(0);
        },
    ),
    case(
        &["request.encode"],
        || {
            let list = "- set: { a: \"m/n o\" }\n- get: /x/${a}/y z?q=${a}\n- { get: \"/x/${b}?q=${b}\", \
                encode: false }";
            trial(format!("vars: {{ b: \"m/n%20o\" }}\n{}", steps(list)))
        },
        |s| {
            s.came(&["GET /x/m%2Fn%20o/y%20z?q=m%2Fn%20o", "GET /x/m/n%20o?q=m/n%20o"]);
            s.expect_run(0);
        },
    ),
    case(
        &["request.json"],
        || {
            let list = "- set: { s: \"a\\\"b\\n\" }\n- { post: /x, json: { s: \"${s}\", \
                n: 1.50, l: [ -1, true, ~ ], o: {} } }";
            trial(steps(list))
        },
        |s| {
            let asked = s.only();
            assert_eq!(asked.body, r#"{"s":"a\"b\n","n":1.50,"l":[-1,true,null],"o":{}}"#);
            let length = asked.body.len().to_string();
            assert_eq!(asked.header("Content-Length"), Some(length.as_str()));
            assert_eq!(asked.header("Content-Type"), Some("application/json"));
            s.expect_run(0);
        },
    ),
    case(
        &["request.body", "request.body_file"],
        || {
            let list = "- { post: /x, body: \"hé ${iteration} $${x}\" }\n- { put: /x, \
                body_file: body.txt }";
            trial(steps(list)).file("body.txt", "as it ${stands}\r\n")
        },
        |s| {
            let bodies: Vec<_> = s.asked.iter().map(|asked| asked.body.as_str()).collect();
            assert!(bodies[0].starts_with("hé ") && bodies[0].ends_with(" ${x}"), "{bodies:?}");
            assert_eq!(bodies[1], "as it ${stands}\r\n");
            let lengths: Vec<_> = s
                .asked
                .iter()
                .map(|a| a.header("Content-Length").unwrap().parse::<usize>().unwrap())
                .collect();
            assert_eq!(lengths, [bodies[0].len(), bodies[1].len()]);
            s.expect_run(0);
        },
    ),
    case(
        &["request.form"],
        || {
            let list = "- set: { me: \"a b&c=ü\" }\n- { post: /x, form: { user: \"${me}\", \
                pet: [cat, dog], n: 1 } }";
            trial(steps(list))
        },
        |s| {
            assert_eq!(s.only().body, "user=a+b%26c%3D%C3%BC&pet=cat&pet=dog&n=1");
            assert_eq!(s.only().header("Content-Type"), Some("application/x-www-form-urlencoded"));
            s.expect_run(0);
        },
    ),
    case(
        &["request.multipart", "part.path", "part.text", "part.type", "part.name"],
        || {
            let list = "- post: /x\n  multipart:\n    note: \"n ${word}\"\n    picture: \
                { path: a.png, type: image/png, name: x.png }\n    \
                        raw: { path: a.png }\n    meta: { text: \"{\\\"w\\\":\\\"${word}\\\"}\", \
                            type: application/json }";
            trial(format!("vars: {{ word: one }}\n{}", steps(list))).file("a.png", "PNG\r\ndata")
        },
        |s| {
            let asked = s.only();
            let kind = asked.header("Content-Type").expect("a type");
            let cut = kind.strip_prefix("multipart/form-data; boundary=").expect("a boundary");
            let wanted = [
                ("name=\"note\"", "", "n one"),
                ("name=\"picture\"; filename=\"x.png\"", "Content-Type: image/png\r\n", "PNG\r\ndata"),
                (
                    "name=\"raw\"; filename=\"a.png\"",
                    "Content-Type: application/octet-stream\r\n",
                    "PNG\r\ndata",
                ),
                ("name=\"meta\"", "Content-Type: application/json\r\n", "{\"w\":\"one\"}"),
            ]
            .map(|(name, kind, body)| {
                format!("--{cut}\r\nContent-Disposition: form-data; {name}\r\n{kind}\r\n{body}\r\n")
            })
            .concat();
            assert_eq!(asked.body, format!("{wanted}--{cut}--\r\n"));
            s.expect_run(0);
        },
    ),
    case(
        &["request.timeout"],
        || trial(steps("- { get: /x?delay=20s, timeout: 100ms }")),
        |s| {
            s.ended(&[99], 0);
            assert_eq!((s.asked.len(), &s.counters["responses"]), (1, &0.into()));
            assert_eq!(s.value_at("/errors/0/class"), "timeout");
            assert!(s.elapsed.as_secs() < 15, "{:?}", s.elapsed);
        },
    ),
    case(
        &["request.on_failure"],
        || {
            let list = "- { get: /a?status=500, on_failure: continue }\n- { get: \
                /b?status=500, on_failure: stop }\n- get: /c";
            trial(format!("load: {{ users: 1, iterations: 2 }}\n{}", steps(list)))
        },
        |s| {
            assert_eq!((s.count("/a"), s.count("/b"), s.count("/c")), (2, 2, 0));
            s.ended(&[99], 0);
            assert_eq!(s.value_at("/totals/errors"), 4);
            assert_eq!(s.value_at("/totals/iterations_abandoned"), 2);
        },
    ),
    case(
        &["request.think"],
        || trial(steps("- { get: /a, think: 300ms }\n- get: /b")),
        |s| {
            s.came(&["GET /a", "GET /b"]);
            assert!(s.gaps_ms()[0] >= 290.0, "{:?}", s.gaps_ms());
            s.expect_run(0);
        },
    ),
    case(
        &["generated_request.rows"],
        || {
            let list = "- get: /x";
            let setup = "setup: [ { generate: { rows: 3, post: /users, json: { email: \"u${counter}@x\" \
                } } } ]";
            trial(format!("{setup}\n{}", steps(list)))
        },
        |s| {
            s.came(&["POST /users", "POST /users", "POST /users", "GET /x"]);
            let bodies: Vec<_> = s.of("/users").iter().map(|asked| asked.body.as_str()).collect();
            assert_eq!(bodies, [r#"{"email":"u1@x"}"#, r#"{"email":"u2@x"}"#, r#"{"email":"u3@x"}"#]);
            s.expect_run(3);
        },
    ),
];
