//! The judge as a whole: statuses, lengths, durations, hashes, truncated bodies, and which bodies it keeps.

use crate::answer_support::{HEAD, User, answer, ask, checked, compiled, json, judged, taking};
use plimsoll_plan::answer::{Check, Hash, Pick, Rule, Source, Statuses, Subject};
use plimsoll_plan::head::Head;
use plimsoll_plan::program::BodyUse;
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::Text;
use plimsoll_script::answer::{Answer, Findings, Judge, STATUS, Scratch};

fn statuses(text: &str) -> Statuses {
    Statuses::parse(text).expect("valid")
}

#[test]
fn only_unexpected_statuses_are_failures() {
    let verdict = |expect: Option<&str>, status: u16| {
        let ask = Ask { expect: expect.map(statuses), ..ask() };
        let findings = judged(&ask, &Answer { status, ..answer(b"") });
        assert_eq!(findings.status_ok, findings.all_held());
        findings.failures
    };
    assert_eq!(verdict(None, 200), []);
    assert_eq!(verdict(None, 399), []);
    assert_eq!(verdict(None, 500), [(STATUS, "expected `200-399`, found `500`".to_owned())]);
    assert_eq!(verdict(Some("404"), 404), []);
    assert_eq!(verdict(Some("2xx,404"), 302), [(STATUS, "expected `200-299, 404`, found `302`".to_owned())]);
    let by_name = judged(&checked([Subject::Status(statuses("201"))]), &answer(b""));
    assert!(by_name.status_ok, "a check on the status is a check like any other");
    assert_eq!(by_name.failures, [(0, "expected `201`, found `200`".to_owned())]);
}

#[test]
fn length_is_measured_on_the_wire_and_duration_as_service_time() {
    let ask = checked([
        Subject::Length { least_bytes: 10, most_bytes: 20 },
        Subject::Length { least_bytes: 21, most_bytes: u64::MAX },
        Subject::Duration { below_ns: 1_500_000 },
        Subject::Duration { below_ns: 1_500_001 },
    ]);
    // The body is discarded, but its length is known.
    let found = judged(&ask, &Answer { body_bytes: 20, ..answer(b"") });
    assert_eq!(found.verdicts, [true, false, false, true]);
    let said: Vec<&str> = found.failures.iter().map(|(_, sentence)| &sentence[..]).collect();
    assert_eq!(
        said,
        ["expected at least `21` bytes, found `20`", "expected less than `1.5 ms`, found `1.5 ms`"]
    );
    assert_eq!(judged(&ask, &Answer { body_bytes: 9, ..answer(b"") }).verdicts[..2], [false, false]);
}

#[test]
fn hashes_are_computed_over_the_body() {
    // Hashes of the empty text and of `abc`: examples of RFC 1321 appendix A.5 and FIPS 180.
    let rows = [
        (Hash::Md5, "d41d8cd98f00b204e9800998ecf8427e", "900150983cd24fb0d6963f7d28e17f72"),
        (Hash::Sha1, "da39a3ee5e6b4b0d3255bfef95601890afd80709", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            Hash::Sha256,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
    ];
    for (algorithm, empty, abc) in rows {
        let ask = |hex: &str| checked([Subject::Hash { algorithm, hex: hex.into() }]);
        assert_eq!(judged(&ask(empty), &answer(b"")).verdicts, [true]);
        assert_eq!(judged(&ask(&abc.to_uppercase()), &answer(b"abc")).verdicts, [true]);
        let wrong = judged(&ask(abc), &answer(b"abd"));
        assert_eq!(wrong.verdicts, [false]);
        assert!(wrong.failures[0].1.starts_with(&format!("expected `{abc}`, found `")));
        for bad in ["", &abc[1..], &abc.replace('1', "g")] {
            let error = Judge::compile(&ask(bad)).expect_err("no hash");
            assert!(error.starts_with("`order`, `check 0`: invalid "), "{error}");
        }
    }
}

#[test]
fn checks_on_a_truncated_body_are_undecided_and_name_the_limits() {
    let ask = checked([
        Subject::Body(Rule::Lacks(Text::literal("error"))),
        json("$.a", Rule::Absent),
        Subject::Status(statuses("200")),
        Subject::Length { least_bytes: 50, most_bytes: 50 },
    ]);
    let found = judged(&ask, &Answer { body_bytes: 50, ..answer(b"{\"ok\":1}") });
    assert_eq!(found.verdicts, [false, false, true, true]);
    let sentence = "the body has `50` bytes, but the limits `kept_body_bytes` (per body) and `kept_total_bytes` (all \
                    bodies) kept only `8`";
    assert_eq!(found.unseen, [0, 1]);
    assert!(found.failures.iter().all(|(_, said)| said == sentence), "{:?}", found.failures);
    assert!(!found.undecodable && found.shape.is_none());
}

#[test]
fn only_bodies_that_checks_read_are_kept() {
    let header = Subject::Header { name: "a".into(), rule: Rule::Exists };
    let kept = |subject: &Subject| compiled(&checked([subject.clone()])).body_use();
    assert_eq!(compiled(&ask()).body_use(), BodyUse::Discard);
    assert_eq!(kept(&Subject::Status(statuses("200"))), BodyUse::Discard);
    assert_eq!(kept(&Subject::Length { least_bytes: 0, most_bytes: 1 }), BodyUse::Discard);
    assert_eq!(kept(&Subject::Duration { below_ns: 1 }), BodyUse::Discard);
    assert_eq!(kept(&header), BodyUse::HeadOnly);
    assert_eq!(kept(&Subject::Body(Rule::Exists)), BodyUse::Keep);
    assert_eq!(kept(&json("$", Rule::Exists)), BodyUse::Keep);
    let taken = |source| compiled(&taking([(source, Pick::First)])).body_use();
    assert_eq!(taken(Source::Status), BodyUse::Discard);
    assert_eq!(taken(Source::Cookie("a".into())), BodyUse::HeadOnly);
    assert_eq!(taken(Source::Header("a".into())), BodyUse::HeadOnly);
    assert_eq!(taken(Source::Body), BodyUse::Keep);
    assert_eq!(taken(Source::Regex { pattern: "a".into(), group: 0 }), BodyUse::Keep);
    assert_eq!(compiled(&checked([header, json("$", Rule::Exists)])).body_use(), BodyUse::Keep);
}

#[test]
fn header_names_match_as_a_whole_and_ignore_case() {
    let header = |name: &str, rule| Subject::Header { name: name.into(), rule };
    let equals = |text: &str| Rule::Equals(Text::literal(text));
    let ask = checked([
        header("X-ID", equals("first")),
        header("content-type", Rule::Contains(Text::literal("json"))),
        header("content", Rule::Absent),
        header("x-i", Rule::Absent),
        header("HTTP/1.1 200 OK", Rule::Absent),
        header("content-length", Rule::AtMost(100.0)),
    ]);
    assert_eq!(judged(&ask, &answer(b"")).verdicts, [true; 6]);
    assert!(!judged(&ask, &Answer { head: Head::default(), ..answer(b"") }).verdicts[0]);
}

#[test]
fn findings_contain_nothing_of_the_previous_response() {
    let mut full = checked([json("$.a", Rule::Exists)]);
    full.extracts = taking([(json_source("$.b"), Pick::First), (json_source("$.c"), Pick::First)]).extracts;
    let (judge, mut user, mut scratch) = (compiled(&full), User::new(), Scratch::default());
    let mut findings = Findings { wants_sentences: true, ..Findings::default() };
    let mut shapes = Vec::new();
    for _ in 0..3 {
        judge.run(&answer(br#"{"a": 1, "b": "two"}"#), &mut user.scope(), &mut scratch, &mut findings);
        assert_eq!((&findings.verdicts[..], findings.extracted.len()), (&[true, true, false][..], 1));
        assert_eq!((findings.failures.len(), &findings.bytes[..]), (1, &b"two"[..]));
        assert!(findings.shape.is_some());
        shapes.push(findings.shape);
        judge.run(&Answer { status: 500, ..answer(b"") }, &mut user.scope(), &mut scratch, &mut findings);
        assert_eq!((&findings.verdicts[..], findings.extracted.len()), (&[false, false, false][..], 0));
        assert_eq!((findings.failures.len(), findings.status_ok, findings.shape), (4, false, None));
    }
    assert_eq!(shapes, [shapes[0]; 3], "equal responses have the same shape");
    findings.wants_sentences = false;
    judge.run(&answer(b"{}"), &mut user.scope(), &mut scratch, &mut findings);
    assert_eq!((findings.verdicts.len(), findings.failures.len()), (3, 0));
}

fn json_source(path: &str) -> Source {
    Source::Json(path.into())
}

#[test]
fn the_shape_depends_on_the_members_and_not_on_their_values() {
    let judge = compiled(&checked([Subject::Body(Rule::Exists)]));
    let shape = |body: &str| {
        let mut findings = Findings::default();
        judge.run(&answer(body.as_bytes()), &mut User::new().scope(), &mut Scratch::default(), &mut findings);
        findings.shape
    };
    let plain = shape(r#"{"id": 1, "tags": ["a"], "user": {"name": "x", "age": 3}}"#);
    assert!(plain.is_some());
    let same = [
        r#"{"id": 2.5e3, "tags": ["b", "c", "d"], "user": {"name": "", "age": -1}}"#,
        r#" {"user": {"age": 3, "name": "x"}, "tags": ["a"], "id": 1} "#,
    ];
    let other = [
        r#"{"id": "1", "tags": ["a"], "user": {"name": "x", "age": 3}}"#,
        r#"{"id": 1, "tags": ["a"], "user": {"name": "x"}}"#,
        r#"{"id": 1, "tags": ["a"], "user": {"name": "x", "age": 3, "new": 1}}"#,
        r#"{"id": 1, "tags": ["a", 1], "user": {"name": "x", "age": 3}}"#,
        r#"{"id": 1, "tags": [], "user": {"name": "x", "age": 3}}"#,
        r#"{"id": 1, "tags": {"a": "a"}, "user": {"name": "x", "age": 3}}"#,
        r#"{"id": null, "tags": ["a"], "user": {"name": "x", "age": 3}}"#,
        r#"{"id": 1, "tags": ["a"], "username": "x", "user": {"age": 3}}"#,
        r#"{"error": "x"}"#,
    ];
    for body in same {
        assert_eq!(shape(body), plain, "{body}");
    }
    let mut all: Vec<_> = other.iter().map(|body| shape(body)).chain([plain]).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), other.len() + 1, "all shapes differ");
    // The elements of a list count together: a member may be missing in one of them.
    assert_eq!(shape(r#"[{"a": 1}, {"b": 1}]"#), shape(r#"[{"b": 1, "a": 1}, {"a": 1}, {"b": 2}]"#));
    assert_ne!(shape(r#"{"a": {"b": 1}}"#), shape(r#"{"ab": 1}"#));
    for none in ["", "<html>", "{", "\"text\"", "12"] {
        assert_eq!(shape(none), None, "{none}");
    }
    let long = format!("[{}1]", "1,".repeat(40_000));
    assert_eq!(shape(&long), None, "too long to be analyzed");
}

#[test]
fn a_shape_is_computed_only_on_request_and_if_the_body_is_read() {
    let shape = |ask: &Ask, wants_shape| {
        let mut findings = Findings { wants_shape, ..Findings::default() };
        let answer = Answer { head: Head::new(HEAD), ..answer(b"{}") };
        compiled(ask).run(&answer, &mut User::new().scope(), &mut Scratch::default(), &mut findings);
        findings.shape.is_some()
    };
    let read = checked([Subject::Body(Rule::Exists)]);
    assert!(shape(&read, true));
    assert!(!shape(&read, false));
    assert!(!shape(&checked([Subject::Status(statuses("200"))]), true));
}

#[test]
fn mistakes_in_a_check_name_it() {
    let error = |on| {
        let ask = Ask { checks: vec![Check { name: "has id".into(), on }], ..ask() };
        Judge::compile(&ask).expect_err("not valid")
    };
    let path = error(json("$.a[?", Rule::Exists));
    assert!(path.starts_with("`order`, `has id`: invalid JSONPath `$.a[?`"), "{path}");
    let pattern = error(Subject::Body(Rule::Matches("[".into())));
    assert!(pattern.starts_with("`order`, `has id`: invalid regular expression `[`"), "{pattern}");
}
