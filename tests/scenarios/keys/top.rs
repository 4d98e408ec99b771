//! Keys at the left edge, and the limits.

use super::{Case, case};
use crate::bench::{steps, trial};

fn with(top: &str, list: &str) -> String {
    format!("{top}\n{}", steps(list))
}

pub const CASES: &[Case] = &[
    case(
        &["experiment.name"],
        || trial(with("name: probe", "- get: /echo")),
        |s| {
            s.came(&["GET /echo"]);
            s.expect_run(0);
            assert_eq!(s.value_at("/name"), "probe");
        },
    ),
    case(
        &["experiment.target", "experiment.scenarios"],
        || trial(with("target: TARGET/base/", "- get: /x\n- get: y")),
        |s| {
            s.came(&["GET /base/x", "GET /base/y"]);
            s.expect_run(0);
        },
    ),
    case(
        &["experiment.vars"],
        || {
            let vars = "vars: { base: /api, n: 3, deep: \"${base}/v${n}\", home: \"${env.PROBE_HOME}\" }";
            let list = "- get: ${deep}/x?h=${home}\n  headers: { X-N: \"${n}\" }\n  \
                json:\n    n: ${n}\n    t: \"${n}\"";
            trial(with(vars, list)).env("PROBE_HOME", "there").args(&["--set", "n=4"])
        },
        |s| {
            s.came(&["GET /api/v4/x?h=there"]);
            assert_eq!((s.only().header("X-N"), s.only().body.as_str()), (Some("4"), r#"{"n":4,"t":"4"}"#));
            s.expect_run(0);
        },
    ),
    case(
        &["experiment.headers", "request.headers"],
        || {
            let list = "- { get: /echo, headers: { X-Own: own, x-common: other } }\n- get: /echo";
            trial(with("headers: { X-Common: [one, two] }", list))
        },
        |s| {
            let common: Vec<_> = s.asked.iter().map(|asked| asked.headers("X-Common")).collect();
            assert_eq!(common, [vec!["other"], vec!["one", "two"]], "a request's own header goes first");
            assert_eq!(s.asked[0].header("X-Own"), Some("own"));
            s.expect_run(0);
        },
    ),
    case(
        &["experiment.auth", "request.auth", "auth.basic", "auth.bearer", "basic.user", "basic.password"],
        || {
            let auth = "auth: { basic: { user: me, password: \"a:b\" } }";
            trial(with(
                auth,
                "- get: /echo\n- { get: /echo, auth: none }\n- { get: /echo, auth: { bearer: T1 } }",
            ))
        },
        |s| {
            let sent: Vec<_> = s.asked.iter().map(|asked| asked.header("Authorization")).collect();
            // printf 'me:a:b' | base64
            assert_eq!(sent, [Some("Basic bWU6YTpi"), None, Some("Bearer T1")]);
            s.expect_run(0);
        },
    ),
    case(
        &["experiment.cookies"],
        || trial(with("cookies: true", "- get: /cart\n- get: /cart")).ruler(&[]),
        |s| {
            assert_eq!(s.asked[0].header("Cookie"), None);
            assert!(s.asked[1].header("Cookie").expect("a cookie").starts_with("sid="), "{:?}", s.asked[1]);
            assert_eq!(s.counters["carts_opened"], 1);
            s.expect_run(0);
        },
    ),
    case(
        &[],
        || trial(with("cookies: false", "- get: /cart\n- get: /cart")),
        |s| {
            assert!(s.asked.iter().all(|asked| asked.header("Cookie").is_none()), "{:?}", s.asked);
            assert_eq!(s.counters["carts_opened"], 2);
        },
    ),
    case(
        &["experiment.redirects", "request.redirects"],
        || {
            let list = "- get: /go?status=302&location=/there\n- { get: \
                /go?status=302&location=/no, redirects: 0 }";
            trial(with("redirects: true", list))
        },
        |s| {
            s.came(&["GET /go?status=302&location=/there", "GET /there", "GET /go?status=302&location=/no"]);
            s.expect_run(0);
            assert_eq!(s.value_at("/totals/redirects"), 1);
        },
    ),
    case(
        &["experiment.setup", "experiment.teardown"],
        || {
            let top = "setup: [ { get: /token, extract: { token: $.token } } \
                ]\nteardown: [ { delete: /bye } ]\nload: { users: 2, iterations_per_user: 2 }";
            trial(with(top, "- { get: /secure, auth: { bearer: \"${token}\" } }"))
        },
        |s| {
            let lines = s.lines();
            assert_eq!((lines[0].as_str(), lines[5].as_str(), lines.len()), ("GET /token", "DELETE /bye", 6));
            assert_eq!(
                (&s.counters["secure_accepted"], &s.counters["tokens_issued"]),
                (&4.into(), &1.into())
            );
            s.expect_run(2);
        },
    ),
    case(
        &["experiment.mix", "scenario.weight", "scenario.steps"],
        || {
            trial(
                "mix: exact\nscenarios:\n  a: { weight: 3, steps: [ { get: /a } ] }\n  \
                    b: { weight: 1, steps: [ { get: /b } ] }\nload: { users: 1, iterations: 40 }",
            )
        },
        |s| {
            assert_eq!((s.count("/a"), s.count("/b")), (30, 10));
            s.expect_run(0);
        },
    ),
    case(
        &["experiment.load"],
        || trial(with("load: { users: 2, iterations_per_user: 3 }", "- get: /x")),
        |s| {
            assert_eq!(s.count("/x"), 6);
            s.expect_run(0);
        },
    ),
    case(
        &["experiment.thresholds"],
        || trial(with("thresholds: [ requests > 5, error_rate < 1% ]", "- get: /x")),
        |s| {
            s.ended(&[99], 0);
            assert_eq!(
                (s.value_at("/thresholds/0/is_met"), s.value_at("/thresholds/1/is_met")),
                (&false.into(), &true.into())
            );
        },
    ),
    case(
        &["experiment.timeout"],
        || trial(with("timeout: 100ms", "- get: /x?delay=20s")),
        |s| {
            s.ended(&[99], 0);
            assert_eq!((s.asked.len(), &s.counters["responses"]), (1, &0.into()));
            assert_eq!(s.value_at("/errors/0/class"), "timeout");
            assert!(s.elapsed.as_secs() < 15, "{:?}", s.elapsed);
        },
    ),
    case(
        &["experiment.warmup"],
        || trial(with("warmup: 300ms\nload: { rate: 50/s, duration: 1s }", "- get: /x")),
        |s| {
            assert_eq!(s.asked.len(), 50);
            let sent = s.told_count("/totals/requests_sent");
            assert!((34..=36).contains(&sent), "35 follow the warm-up; {sent} were counted");
        },
    ),
    case(
        &["experiment.graceful_stop"],
        || {
            let top = "graceful_stop: 10s\nload: { users: 1, duration: 300ms }";
            trial(with(top, "- get: /a?delay=600ms\n- get: /b"))
        },
        |s| {
            s.came(&["GET /a?delay=600ms", "GET /b"]);
            s.expect_run(0);
            assert_eq!(
                (&s.counters["abandoned"], s.value_at("/totals/iterations_interrupted")),
                (&0.into(), &0.into())
            );
        },
    ),
    case(
        &[],
        || trial(with("load: { users: 1, duration: 300ms }", "- get: /a?delay=600ms\n- get: /b")),
        |s| {
            s.came(&["GET /a?delay=600ms"]);
            assert_eq!(
                s.value_at("/totals/in_flight_at_end"),
                1,
                "without `graceful_stop` the stop cuts off"
            );
        },
    ),
    case(
        &["experiment.keep_alive"],
        || trial(with("keep_alive: false\nload: { users: 2, iterations: 10 }", "- get: /x")),
        |s| {
            s.expect_run(0);
            assert_eq!(s.connections().len(), 10);
            assert_eq!(s.value_at("/client/connections/opened"), 10);
        },
    ),
    case(
        &["experiment.workers"],
        || trial(with("workers: 2\nload: { users: 4, iterations: 20 }", "- get: /x")),
        |s| {
            s.expect_run(0);
            assert_eq!(s.value_at("/client/workers").as_array().map(Vec::len), Some(2));
            assert_eq!(s.asked.len(), 20);
        },
    ),
    case(
        &["experiment.shard"],
        || trial(with("shard: 2/3\nload: { users: 4, iterations: 30 }", "- get: /x")),
        |s| {
            s.expect_run(0);
            assert_eq!(s.asked.len(), 10);
        },
    ),
    case(
        &["experiment.buckets"],
        || trial(with("buckets: [1s, 20s]", "- get: /x")),
        |s| {
            s.expect_run(0);
            let edges: Vec<_> =
                (0..3).map(|i| s.value_at(&format!("/buckets/{i}/up_to_ns")).clone()).collect();
            assert_eq!(edges, [1_000_000_000u64.into(), 20_000_000_000u64.into(), serde_json::Value::Null]);
        },
    ),
    case(
        &["experiment.limits", "limits.head_bytes"],
        || {
            trial(with(
                "limits: { head_bytes: 8k }",
                "- { get: /x?head_bytes=7000, on_failure: continue }\n- get: /x?head_bytes=9000",
            ))
        },
        |s| {
            assert_eq!(s.asked.len(), 2);
            // A limit that the plan lowers is the load generator's own: no error, and nothing proved.
            s.ended(&[3], 0);
            assert_eq!(
                (s.value_at("/totals/errors"), s.value_at("/client/faults/0/class")),
                (&0.into(), &"client_limit".into())
            );
        },
    ),
    case(
        &["limits.headers"],
        || trial(with("limits: { headers: 20 }", &format!("- get: /x?{}", "header=X-A:1&".repeat(30)))),
        |s| {
            assert_eq!(s.asked.len(), 1);
            // A limit that the plan lowers is the load generator's own: no error, and nothing proved.
            s.ended(&[3], 0);
            assert_eq!(
                (s.value_at("/totals/errors"), s.value_at("/client/faults/0/class")),
                (&0.into(), &"client_limit".into())
            );
        },
    ),
    case(
        &["limits.informational"],
        || {
            let list = "- { get: /x?informational=2, on_failure: continue }\n- get: /x?informational=3";
            trial(with("limits: { informational: 2 }", list))
        },
        |s| {
            assert_eq!(s.asked.len(), 2);
            // A limit that the plan lowers is the load generator's own: no error, and nothing proved.
            s.ended(&[3], 0);
            assert_eq!(
                (s.value_at("/totals/errors"), s.value_at("/client/faults/0/class")),
                (&0.into(), &"client_limit".into())
            );
        },
    ),
    case(
        &["limits.trailer_bytes"],
        || trial(with("limits: { trailer_bytes: 4 }", "- get: /x?framing=chunked&trailers=1")),
        |s| {
            assert_eq!(s.asked.len(), 1);
            // A limit that the plan lowers is the load generator's own: no error, and nothing proved.
            s.ended(&[3], 0);
            assert_eq!(
                (s.value_at("/totals/errors"), s.value_at("/client/faults/0/class")),
                (&0.into(), &"client_limit".into())
            );
        },
    ),
    case(
        &["limits.kept_body_bytes"],
        || {
            let check = "check: { body: abc }";
            let list = format!(
                "- {{ get: /x?body=900, {check}, on_failure: continue \
                }}\n- {{ get: /x?body=5000, {check} }}"
            );
            trial(with("limits: { kept_body_bytes: 1000 }", &list))
        },
        |s| {
            assert_eq!(s.asked.len(), 2);
            // A limit that the plan lowers is the load generator's own: no error, and nothing proved.
            s.ended(&[3], 0);
            assert_eq!(
                (s.value_at("/totals/errors"), s.value_at("/client/faults/0/class")),
                (&0.into(), &"client_limit".into())
            );
        },
    ),
    case(
        &["limits.event_bytes"],
        || {
            let list = format!(
                "- {{ get: \"/events?every=10ms&count=3&data={}\", stream: true }}",
                "x".repeat(2000)
            );
            trial(with("limits: { event_bytes: 1k }", &list))
        },
        |s| {
            assert_eq!(s.asked.len(), 1);
            s.ended(&[3], 0);
            assert_eq!(s.value_at("/client/faults/0/class"), "client_limit");
        },
    ),
    case(
        &["limits.requests"],
        || trial(with("limits: { requests: 5 }\nload: { users: 2, duration: 20s }", "- get: /x")),
        |s| {
            assert_eq!(s.asked.len(), 5);
            assert_eq!(s.value_at("/stopped_by"), "requests");
        },
    ),
    case(
        &["limits.duration_ns"],
        || {
            trial(with(
                "limits: { duration_ns: 300ms }\nload: { users: 1, iterations: 1000000 }",
                "- get: /x?delay=20ms",
            ))
        },
        |s| {
            assert!(s.asked.len() < 17 && s.elapsed.as_secs() < 15, "{} in {:?}", s.asked.len(), s.elapsed);
            assert_eq!(s.value_at("/stopped_by"), "duration");
        },
    ),
];
