//! Values taken out of answers: from where, which of several, and what happens when there is none.

use crate::answer_support;
use crate::answer_support::{User, answer, ask, compiled, judged, taking, values};
use plimsoll_plan::answer::{Extract, Pick, Source};
use plimsoll_plan::head::Head;
use plimsoll_plan::script::{Ask, Slot};
use plimsoll_plan::value::Text;
use plimsoll_script::answer::{Answer, Findings, Judge, Scratch};

const BODY: &[u8] = br#"{"items": [{"id": 7}, {"id": "e\u0069ght"}, {"id": 9.50}], "one": "x=1 x=22 y=333"}"#;
const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=a1; Path=/; HttpOnly\r\nset-cookie:theme = dark \r\n\
    Set-Cookie: sid=\"b2\"\r\nSet-Cookie: Sid=other\r\nX-A: 1\r\nX-Ab: no\r\nx-a:\t2 \r\nEmpty:\r\n\r\n";

fn json(path: &str) -> Source {
    Source::Json(path.into())
}

fn regex(pattern: &str, group: u16) -> Source {
    Source::Regex { pattern: pattern.into(), group }
}

/// The one value, or the sentence that says why there is none.
fn taken(source: Source, pick: Pick) -> Result<String, String> {
    let answer = Answer { head: Head::new(HEAD), ..answer(BODY) };
    let mut findings = judged(&taking([(source, pick)]), &answer);
    assert_eq!(findings.verdicts, [!findings.extracted.is_empty()]);
    match findings.failures.pop() {
        Some((0, sentence)) => Err(sentence),
        _ => Ok(values(&findings).remove(0).1),
    }
}

#[test]
fn each_source_gives_the_first_the_last_and_the_number_of_its_values() {
    let rows = [
        (json("$.items[*].id"), "7", "9.50", "3"),
        (json("$.items[1].id"), "eight", "eight", "1"),
        (json("$.items[0]"), r#"{"id": 7}"#, r#"{"id": 7}"#, "1"),
        (regex(r"\b[xy]=(\d+)", 1), "1", "333", "3"),
        (regex(r"x=\d+", 0), "x=1", "x=22", "2"),
        (regex(r"(?:x=(\d\d))|x=", 1), "22", "22", "1"),
        (Source::Header("x-a".into()), "1", "2", "2"),
        (Source::Header("EMPTY".into()), "", "", "1"),
        (Source::Cookie("sid".into()), "a1", "\"b2\"", "2"),
        (Source::Cookie("theme".into()), "dark", "dark", "1"),
        (Source::Status, "200", "200", "1"),
        (
            Source::Body,
            std::str::from_utf8(BODY).expect("ASCII"),
            std::str::from_utf8(BODY).expect("ASCII"),
            "1",
        ),
    ];
    for (source, first, last, count) in rows {
        let about = format!("{source:?}");
        assert_eq!(taken(source.clone(), Pick::First).as_deref(), Ok(first), "{about}");
        assert_eq!(taken(source.clone(), Pick::Last).as_deref(), Ok(last), "{about}");
        assert_eq!(taken(source, Pick::Count).as_deref(), Ok(count), "{about}");
    }
}

#[test]
fn what_is_not_there_fails_but_counts_as_none() {
    let sources = [
        json("$.none"),
        json("$..none"),
        regex("nowhere", 0),
        regex("(nowhere)", 1),
        Source::Header("x".into()),
        Source::Cookie("SID".into()),
    ];
    for source in sources {
        for pick in [Pick::First, Pick::Last, Pick::Random] {
            let why = taken(source.clone(), pick).expect_err("not in the answer");
            assert_eq!(why, "the response has no such value");
        }
        assert_eq!(taken(source, Pick::Count).as_deref(), Ok("0"));
    }
}

#[test]
fn a_body_that_is_no_json_has_no_members_to_count() {
    for path in ["$.a", "$..a"] {
        for pick in [Pick::First, Pick::Count] {
            let findings = judged(&taking([(json(path), pick)]), &answer(b"<html>"));
            assert_eq!(findings.failures, [(0, "the body is not JSON".to_owned())]);
        }
    }
}

#[test]
fn a_random_one_is_any_of_them_and_comes_again_with_its_seed() {
    let sources = [json("$.items[*].id"), regex(r"=(\d+)", 1)];
    let judge = compiled(&taking(sources.map(|source| (source, Pick::Random))));
    let draw = || {
        let (mut user, mut scratch, mut findings) = (User::new(), Scratch::default(), Findings::default());
        let mut drawn = Vec::new();
        for _ in 0..300 {
            judge.run(&answer(BODY), &mut user.scope(), &mut scratch, &mut findings);
            drawn.push(values(&findings));
        }
        drawn
    };
    let drawn = draw();
    assert_eq!(drawn, draw());
    for (variable, all) in [["7", "eight", "9.50"], ["1", "22", "333"]].iter().enumerate() {
        for one in all {
            let times = drawn.iter().filter(|values| values[variable].1 == *one).count();
            // 300 draws of 1 in 3: six standard deviations of 8.2 around 100.
            assert!((50..=150).contains(&times), "`{one}` came {times} times of 300");
        }
    }
}

#[test]
fn a_default_stands_in_for_what_is_missing_and_for_nothing_else() {
    let extract = |from: Source, default: Option<Text>| Extract {
        into: Slot::Global(3),
        name: "v".into(),
        from,
        pick: Pick::First,
        default,
    };
    let with = |extract| Ask { extracts: vec![extract], ..ask() };
    let some = || Some(Text::literal("fallback"));
    for (from, expected) in [(json("$.none"), "fallback"), (json("$.one"), "x=1 x=22 y=333")] {
        let findings = judged(&with(extract(from, some())), &answer(BODY));
        assert!(findings.all_held());
        assert_eq!(findings.extracted, [(Slot::Global(3), 0..expected.len())]);
        assert_eq!(findings.bytes, expected.as_bytes());
    }
    let unset = answer_support::with_variable("", 0, "");
    let findings = judged(&with(extract(json("$.none"), Some(unset))), &answer(BODY));
    assert_eq!((findings.verdicts, findings.extracted), (vec![false], vec![]));
}

#[test]
fn values_lie_one_behind_the_other_and_are_told_apart() {
    let all = [Source::Status, json("$.none"), Source::Header("x-id".into()), json("$.items[2].id")];
    let findings = judged(&taking(all.map(|source| (source, Pick::First))), &answer(BODY));
    assert_eq!(findings.verdicts, [true, false, true, true]);
    let expected = [(0, "200"), (2, "first"), (3, "9.50")];
    assert_eq!(values(&findings), expected.map(|(id, text)| (id, text.to_owned())));
}

#[test]
fn mistakes_in_an_extraction_name_it() {
    let error = |source| Judge::compile(&taking([(source, Pick::First)])).expect_err("not valid");
    let rows = [
        (json("$["), "`order`, `var 0`: invalid JSONPath `$[`"),
        (regex("(", 0), "`order`, `var 0`: invalid regular expression `(`"),
        (regex("(a)", 2), "`order`, `var 0`: unknown group `2`: the last group of `(a)` is `1`"),
    ];
    for (source, begin) in rows {
        let error = error(source);
        assert!(error.starts_with(begin), "{error}");
    }
}
