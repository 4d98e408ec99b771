//! Steps other than requests: what they make of the order and the number of requests.

use super::{Case, case};
use crate::bench::{Seen, steps, trial};

/// Pauses between requests: none is shorter than `least_ms`, and their mean is at least that of the plan. A machine
/// that is slow can only make them longer.
#[track_caller]
fn pauses(s: &Seen, number: usize, least_ms: f64, mean_ms: f64) {
    s.expect_run(0);
    let gaps = s.gaps_ms();
    assert_eq!(gaps.len(), number);
    assert!(gaps.iter().all(|gap| *gap >= least_ms), "{gaps:?}");
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!(mean >= mean_ms, "mean {mean} ms of {gaps:?}");
}

pub const CASES: &[Case] = &[
    case(
        &["think.think"],
        || trial(steps("- get: /a\n- think: 250ms\n- get: /b")),
        |s| pauses(s, 1, 240.0, 240.0),
    ),
    case(
        &["pause.uniform"],
        || {
            trial(format!(
                "load: {{ users: 1, iterations: 13 }}\n{}",
                steps("- get: /a\n- think: { uniform: [20ms, 60ms] }")
            ))
        },
        // The mean of 12 draws is 40 ms with a deviation of 3.3; six deviations below is 20: the bound is the least.
        |s| pauses(s, 12, 18.0, 25.0),
    ),
    case(
        &["pause.normal", "normal.mean", "normal.deviation"],
        || {
            let list = "- get: /a\n- think: { normal: { mean: 60ms, deviation: 5ms } }";
            trial(format!("load: {{ users: 1, iterations: 9 }}\n{}", steps(list)))
        },
        |s| pauses(s, 8, 30.0, 50.0),
    ),
    case(
        &["pause.exponential"],
        || {
            let list = "- get: /a\n- think: { exponential: 20ms }";
            trial(format!("seed: 5\nload: {{ users: 1, iterations: 41 }}\n{}", steps(list)))
        },
        // 40 draws: 20 ms with a deviation of 3.2; with a fixed seed, the result is always the same.
        |s| {
            pauses(s, 40, 0.0, 8.0);
            let short = s.gaps_ms().iter().filter(|gap| **gap < 10.0).count();
            assert!(short >= 4, "39% of an exponential are below half its mean; {short} of 40");
        },
    ),
    case(
        &["group.group", "group.steps"],
        || {
            trial(steps(
                "- group: outer\n  steps:\n    - get: /a\n    - group: inner\n      \
            steps: [ { get: /b } ]\n- get: /c",
            ))
        },
        |s| {
            s.came(&["GET /a", "GET /b", "GET /c"]);
            s.expect_run(0);
            assert_eq!(
                (&s.row("groups", "outer")["requests"], &s.row("groups", "outer / inner")["passages"]),
                (&2.into(), &1.into())
            );
        },
    ),
    case(
        &["repeat.repeat", "repeat.steps"],
        || {
            let list = "- set: { n: 2 }\n- repeat: 3\n  steps: [ { get: /a } ]\n- \
                repeat: \"${n}\"\n  steps: [ { get: /b } ]";
            trial(steps(list))
        },
        |s| {
            s.came(&["GET /a", "GET /a", "GET /a", "GET /b", "GET /b"]);
            s.expect_run(0);
        },
    ),
    case(
        &["while.while", "while.steps"],
        || {
            // The cart counts the requests of its session: it is left when it holds four.
            let list = "- set: { n: 0 }\n- while: \"${n} < 4\"\n  steps:\n    - { get: \
                /cart, extract: { n: $.count } }";
            trial(format!("cookies: true\n{}", steps(list)))
        },
        |s| {
            s.came(&["GET /cart"; 4]);
            s.expect_run(0);
        },
    ),
    case(
        &["while.max_iterations"],
        || {
            trial(steps(
                "- set: { n: 0 }\n- while: \"${n} == 0\"\n  max_iterations: 3\n  steps: [ { get: /a } ]",
            ))
        },
        |s| assert_eq!(s.lines(), ["GET /a"; 3]),
    ),
    case(
        &["if.if", "if.then", "if.else"],
        || {
            let branch = |condition: &str, name: &str| {
                format!(
                    "- if: \"{condition}\"\n  then: [ {{ get: /{name}-yes }} ]\n  \
                    else: [ {{ get: /{name}-no }} ]\n"
                )
            };
            let list = [
                branch("${x} == 5", "is"),
                branch("${x} != 5", "not"),
                branch("${x} >= 5.0", "least"),
                branch("${x} > 5", "more"),
                branch("${w} contains nn", "holds"),
                branch("${w} matches /^a.n$/", "matches"),
                branch("${gone} exists", "exists"),
                branch("${gone} absent", "absent"),
                branch("${w} in [bob, ann]", "in"),
            ]
            .concat();
            let first = "- set: { x: \"5\", w: ann }\n- if: \"${x} == 6\"\n  then: [ { \
                set: { gone: 1 } } ]\n";
            trial(steps(&format!("{first}{list}")))
        },
        |s| {
            s.came(&[
                "GET /is-yes",
                "GET /not-no",
                "GET /least-yes",
                "GET /more-no",
                "GET /holds-yes",
                "GET /matches-yes",
                "GET /exists-no",
                "GET /absent-yes",
                "GET /in-yes",
            ]);
            s.expect_run(0);
        },
    ),
    case(
        &["once_per_user.once_per_user"],
        || {
            trial(format!(
                "load: {{ users: 2, iterations_per_user: 3 }}\n{}",
                steps("- once_per_user: [ { get: /login } ]\n- get: /x")
            ))
        },
        |s| {
            assert_eq!((s.count("/login"), s.count("/x")), (2, 6));
            s.expect_run(0);
        },
    ),
    case(
        &["choose.choose", "choose.mix", "way.weight", "way.steps"],
        || {
            let list = "- choose:\n    - { weight: 3, steps: [ { get: /a } ] }\n    - { \
                steps: [ { get: /b } ] }\n  mix: exact";
            trial(format!("load: {{ users: 1, iterations: 40 }}\n{}", steps(list)))
        },
        |s| {
            assert_eq!((s.count("/a"), s.count("/b")), (30, 10));
            s.expect_run(0);
        },
    ),
    case(
        &[],
        || {
            let list = "- choose:\n    - { weight: 3, steps: [ { get: /a } ] }\n    - { \
                steps: [ { get: /b } ] }";
            trial(format!("seed: 3\nload: {{ users: 1, iterations: 400 }}\n{}", steps(list)))
        },
        |s| {
            // 300 of 400 with a deviation of 8.7: six of them, and the seed is given.
            assert!((248..=352).contains(&s.count("/a")), "{}", s.count("/a"));
            assert_eq!(s.asked.len(), 400);
            s.expect_run(0);
        },
    ),
    case(
        &["set.set"],
        || {
            let list = "- set: { a: one, b: \"${a}-two\" }\n- get: /x/${b}\n- get: \"/y?u=${uuid}&h=${random_string(6, \
                hex)}&n=${now(unix_ms)}\"";
            trial(steps(list))
        },
        |s| {
            assert_eq!(s.lines()[0], "GET /x/one-two");
            let of = |name: &str| s.asked[1].query(name).expect("it is there").to_owned();
            let uuid = of("u");
            assert_eq!((uuid.len(), uuid.as_bytes()[14], uuid.matches('-').count()), (36, b'4', 4), "{uuid}");
            assert!(of("h").len() == 6 && of("h").bytes().all(|b| b.is_ascii_hexdigit()), "{}", of("h"));
            // 2020 and 2100, in ms.
            assert!(
                (1_577_836_800_000..4_102_444_800_000).contains(&of("n").parse::<u64>().unwrap()),
                "{}",
                of("n")
            );
            s.expect_run(0);
        },
    ),
    case(
        &["append.append", "append_to.file", "append_to.columns"],
        || {
            let list = "- { get: /x, query: { n: \"${iteration}\" } }\n- append: { file: \
                out.csv, columns: { n: \"${iteration}\", t: \"a,\\\"b\\\"\" } }";
            trial(format!("load: {{ users: 1, iterations: 3 }}\n{}", steps(list)))
        },
        |s| {
            s.expect_run(0);
            let sent: Vec<_> = s.asked.iter().map(|asked| asked.query("n").unwrap()).collect();
            let rows: String = sent.iter().map(|n| format!("{n},\"a,\"\"b\"\"\"\n")).collect();
            assert_eq!(s.file("out.csv").replace("\r\n", "\n"), format!("n,t\n{rows}"));
        },
    ),
    case(
        &["generate.generate", "generate_rows.rows", "generate_rows.file", "generate_rows.columns"],
        || {
            let top = "setup:\n  - generate: { rows: 3, file: rows.csv, columns: { \
                email: \"u${counter}@x\", k: v } }\n\
                       data: { people: { file: rows.csv } }\nload: { users: 1, iterations: 3 }";
            trial(format!("{top}\n{}", steps("- get: /x/${people.email}/${people.k}")))
                .file("rows.csv", "old\nrubbish\n")
        },
        |s| {
            s.came(&["GET /x/u1%40x/v", "GET /x/u2%40x/v", "GET /x/u3%40x/v"]);
            assert_eq!(s.file("rows.csv").lines().count(), 4, "{}", s.file("rows.csv"));
            s.expect_run(0);
        },
    ),
    case(
        &["parallel.parallel"],
        || {
            let list = "- parallel:\n    - [ { get: /a?delay=400ms }, { get: /a2 } ]\n    \
                - [ { get: /b?delay=400ms }, { get: /b2 } ]\n- get: /end";
            trial(steps(list))
        },
        |s| {
            s.expect_run(0);
            let lines = s.lines();
            assert_eq!((lines.len(), lines[4].as_str()), (5, "GET /end"), "{lines:?}");
            // The first two requests are in flight before either gets its response.
            let mut first: Vec<_> = lines[..2].to_vec();
            first.sort();
            assert_eq!(first, ["GET /a?delay=400ms", "GET /b?delay=400ms"]);
            assert_ne!(s.asked[0].connection, s.asked[1].connection);
        },
    ),
];
