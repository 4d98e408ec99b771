//! Checks and extractions: each rule once with a response that meets it, and once with a response that breaks it. A
//! broken rule ends the iteration, so the server does not get the next request.

use super::{Case, case};
use crate::bench::{Seen, Trial, steps, trial};

/// Applies `check` to a good and to a bad response, each in its own scenario; only after the good one does the server
/// get the next request.
fn both(good: &str, bad: &str, check: &str) -> Trial {
    let scenario = |name: &str, path: &str| {
        format!(
            "  {name}:\n    load: {{ users: 1, iterations: 1 }}\n    steps:\n      - {{ \
                get: \"{path}\", check: {check} }}\n      - get: /{name}-held\n"
        )
    };
    trial(format!("scenarios:\n{}{}", scenario("good", good), scenario("bad", bad)))
}

/// One held and one did not, at the server and in the report.
fn one_of_two(s: &Seen) {
    assert_eq!((s.count("/good-held"), s.count("/bad-held")), (1, 0), "{}\n{}", s.output.stderr, s.brief());
    s.ended(&[99], 0);
    assert_eq!(s.value_at("/totals/errors"), 1);
    assert_eq!(s.asked.len(), 3);
    let rows = s.value_at("/checks").as_array().expect("a list");
    let sum = |field: &str| rows.iter().map(|row| row[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("evaluations"), sum("failures")), (2, 1), "{rows:?}");
    assert!(
        s.value_at("/failure_examples").as_array().is_some_and(|all| !all.is_empty()),
        "an example of what failed"
    );
}

/// Values taken out of an answer, shown to the server by the next request.
fn taken(answer: &str, extract: &str, shows: &str) -> Trial {
    trial(steps(&format!(
        "- {{ get: \"{answer}\", extract: {extract} }}\n- {{ get: \
        /shown, headers: {{ X-Taken: \"{shows}\" }} }}"
    )))
}

/// The value that came back.
#[track_caller]
fn came_back(s: &Seen) -> &str {
    s.expect_run(0);
    s.of("/shown").first().and_then(|asked| asked.header("X-Taken")).expect("the value came back")
}

/// Percent-encoded, as a query needs it.
const JSON: &str = "/x?text=%7B%22id%22:7,%22name%22:%22ann%22,%22l%22:[1,2,3]%7D";

pub const CASES: &[Case] = &[
    case(
        &["request.check", "check.status"],
        || both("/x?status=404", "/x?status=403", "{ status: \"201,404\" }"),
        one_of_two,
    ),
    case(
        &["check.name"],
        || both("/x", "/x?status=201", "[ { name: is fine, status: 200 } ]"),
        |s| {
            one_of_two(s);
            let names: Vec<_> =
                s.value_at("/checks").as_array().unwrap().iter().map(|c| c["name"].clone()).collect();
            assert!(names.iter().all(|name| name == "is fine"), "{names:?}");
        },
    ),
    case(
        &["check.header", "rule.equals"],
        || both("/x?header=X-A:1", "/x?header=X-A:2", "{ header: { x-a: { equals: 1 } } }"),
        one_of_two,
    ),
    case(&["check.body"], || both("/x?text=all+good", "/x?text=bad", "{ body: good }"), one_of_two),
    case(
        &["rule.contains", "rule.not_contains"],
        || both("/x?text=abc", "/x?text=abcd", "{ body: [ { contains: b }, { not_contains: d } ] }"),
        |s| {
            assert_eq!((s.count("/good-held"), s.count("/bad-held")), (1, 0), "{}", s.brief());
            assert_eq!(
                (s.value_at("/checks/0/failures"), s.value_at("/totals/errors")),
                (&1.into(), &1.into())
            );
        },
    ),
    case(&["check.json"], || both(JSON, "/x?text=%7B%22id%22:8%7D", "{ json: { $.id: 7 } }"), one_of_two),
    case(
        &["rule.not"],
        || both(JSON, "/x?text=%7B%22id%22:8%7D", "{ json: { $.id: { not: 8 } } }"),
        one_of_two,
    ),
    case(
        &["rule.matches"],
        || both("/x?text=id-77", "/x?text=id-x", "{ body: { matches: \"^id-[0-9]+$\" } }"),
        one_of_two,
    ),
    case(
        &["rule.exists"],
        || both("/x", "/x?header=X-Gone:1", "{ header: { X-Gone: { exists: false } } }"),
        one_of_two,
    ),
    case(
        &["rule.less_than"],
        || both(JSON, "/x?text=%7B%22id%22:7.5%7D", "{ json: { $.id: { less_than: 7.5 } } }"),
        one_of_two,
    ),
    case(
        &["rule.at_most"],
        || {
            both(
                "/x?text=%7B%22id%22:7.5%7D",
                "/x?text=%7B%22id%22:7.6%7D",
                "{ json: { $.id: { at_most: 7.5 } } }",
            )
        },
        one_of_two,
    ),
    case(
        &["rule.more_than"],
        || both("/x?text=%7B%22id%22:8%7D", JSON, "{ json: { $.id: { more_than: 7 } } }"),
        one_of_two,
    ),
    case(
        &["rule.at_least"],
        || both(JSON, "/x?text=%7B%22id%22:6.9%7D", "{ json: { $.id: { at_least: 7 } } }"),
        one_of_two,
    ),
    case(
        &["rule.in"],
        || both(JSON, "/x?text=%7B%22name%22:%22bob%22%7D", "{ json: { $.name: { in: [ann, eve] } } }"),
        one_of_two,
    ),
    case(&["check.length"], || both("/x?body=200", "/x?body=201", "{ length: 10..200 }"), one_of_two),
    case(
        &["check.hash", "hash.sha256"],
        // printf abc | sha256sum
        || {
            let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
            both("/x?text=abc", "/x?text=abd", &format!("{{ hash: {{ sha256: {sum} }} }}"))
        },
        one_of_two,
    ),
    case(
        &["hash.md5"],
        || both("/x?text=abc", "/x?text=abd", "{ hash: { md5: 900150983cd24fb0d6963f7d28e17f72 } }"),
        one_of_two,
    ),
    case(
        &["hash.sha1"],
        || both("/x?text=abc", "/x?text=abd", "{ hash: { sha1: a9993e364706816aba3e25717850c26c9cd0d89d } }"),
        one_of_two,
    ),
    case(&["check.max_duration"], || both("/x", "/x?delay=3s", "{ max_duration: 2s }"), one_of_two),
    case(
        &["request.extract", "extraction.json"],
        || taken(JSON, "{ a: { json: $.name }, b: $.id, c: status }", "${a} ${b} ${c}"),
        |s| assert_eq!(came_back(s), "ann 7 200"),
    ),
    case(
        &[],
        || taken("/x?text=whole+body", "{ a: body }", "${a}"),
        |s| assert_eq!(came_back(s), "whole body"),
    ),
    case(
        &["extraction.regex", "extraction.group"],
        || {
            let extract = "{ a: { regex: \"([a-z]+)-([0-9]+)\", group: 2 }, b: { regex: \"([a-z]+)-([0-9]+)\", \
                group: 0 } }";
            taken("/x?text=id-42", extract, "${a} ${b}")
        },
        |s| assert_eq!(came_back(s), "42 id-42"),
    ),
    case(
        &["extraction.header", "extraction.cookie"],
        || {
            taken(
                "/x?header=X-Id:a1&set_cookie=sid%3Db2",
                "{ a: { header: x-id }, b: { cookie: sid } }",
                "${a} ${b}",
            )
        },
        |s| assert_eq!(came_back(s), "a1 b2"),
    ),
    case(
        &["extraction.pick"],
        || {
            let of = |pick: &str| format!("{pick}: {{ json: \"$.l[*]\", pick: {pick} }}");
            let all = ["first", "last", "count", "random"].map(of).join(", ");
            taken(JSON, &format!("{{ {all} }}"), "${first} ${last} ${count} ${random}")
        },
        |s| {
            let back = came_back(s);
            assert!(["1 3 3 1", "1 3 3 2", "1 3 3 3"].contains(&back), "{back}");
        },
    ),
    case(
        &["extraction.default"],
        || {
            taken(
                JSON,
                "{ a: { json: $.gone, default: none }, b: { json: $.id, default: none } }",
                "${a} ${b}",
            )
        },
        |s| assert_eq!(came_back(s), "none 7"),
    ),
    case(
        &[],
        || taken(JSON, "{ a: $.gone }", "${a}"),
        |s| {
            assert_eq!(s.count("/shown"), 0, "a value that is not there leaves out what needs it");
            s.ended(&[99], 0);
            assert_eq!(s.value_at("/totals/iterations_abandoned"), 1);
        },
    ),
];
