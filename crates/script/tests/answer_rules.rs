//! Rules about one value, in checks and in conditions: what counts as equal, what is missing, and how it is said.

use crate::answer_support;
use crate::answer_support::{User, answer, checked, json, judged, with_variable};
use plimsoll_plan::answer::{Rule, Subject};
use plimsoll_plan::data::{AtEnd, Feeder, Format, RowOrder, Sharing};
use plimsoll_plan::load::Share;
use plimsoll_plan::script::Condition;
use plimsoll_plan::value::{Escape, Part, Placeholder, Secret, Text};
use plimsoll_script::answer::{CompiledCondition, Findings, Scratch};
use plimsoll_script::feed::Feeds;
use plimsoll_script::value::Unfilled;
use std::sync::Arc;

fn text(text: &str) -> Text {
    Text::literal(text)
}

/// Asks about the body `found`.
fn holds(found: &str, rule: Rule) -> bool {
    judged(&checked([Subject::Body(rule)]), &answer(found.as_bytes())).verdicts == [true]
}

#[test]
fn numbers_are_compared_as_numbers_and_all_else_as_text() {
    let equal = [
        ("1", "1.0"),
        ("100", "1e2"),
        ("0.1", "1E-1"),
        ("-0", "0.0e5"),
        (" 42\n", "42"),
        ("12345678901234567890123", "12345678901234567890123.000"),
        ("0.00120", "12e-4"),
        ("a", "a"),
        ("", ""),
        ("007", "007"),
    ];
    for (found, wanted) in equal {
        assert!(holds(found, Rule::Equals(text(wanted))), "`{found}` = `{wanted}`");
        assert!(holds(wanted, Rule::Equals(text(found))), "`{wanted}` = `{found}`");
        assert!(!holds(found, Rule::Differs(text(wanted))), "`{found}` = `{wanted}`");
    }
    let different = [
        ("1", "2"),
        ("1", "-1"),
        ("1", "10"),
        ("9007199254740993", "9007199254740992"),
        ("0.1", "0.10000000000000000001"),
        ("007", "7"),
        ("+1", "1"),
        ("0x10", "16"),
        ("a", "A"),
        (" a", "a"),
        ("NaN", "nan"),
    ];
    for (found, wanted) in different {
        assert!(!holds(found, Rule::Equals(text(wanted))), "`{found}` is not `{wanted}`");
        assert!(!holds(wanted, Rule::Equals(text(found))), "`{wanted}` is not `{found}`");
        assert!(holds(found, Rule::Differs(text(wanted))), "`{found}` is not `{wanted}`");
    }
}

#[test]
fn each_rule_holds_where_it_should_and_nowhere_else() {
    let rows: &[(Rule, &[&str], &[&str])] = &[
        (Rule::Exists, &["x", " "], &[""]),
        (Rule::Absent, &[""], &["x"]),
        (Rule::Contains(text("ready")), &["ready", "is ready."], &["", "Ready", "read y"]),
        (Rule::Lacks(text("error")), &["", "fine"], &["an error"]),
        (Rule::Contains(text("")), &["", "x"], &[]),
        (Rule::Matches(r"^\d{3}\b".into()), &["123", "123 x"], &["1234", "x123", ""]),
        (Rule::Matches("(?i)größe".into()), &["GRÖSSE GRÖßE"], &["grosse"]),
        (Rule::Below(10.0), &["9.99", "-5", "1e0"], &["10", "10.1", "", "nine"]),
        (Rule::AtMost(10.0), &["10", "9"], &["10.01", "x"]),
        (Rule::Above(10.0), &["10.01", "1e999"], &["10", "x"]),
        (Rule::AtLeast(10.0), &["10.0"], &["9.999", "x"]),
        (Rule::OneOf(vec![text("a"), text("2")]), &["a", "2.0"], &["b", "", "a2"]),
        (Rule::OneOf(Vec::new()), &[], &["", "x"]),
    ];
    for (rule, yes, no) in rows {
        for found in *yes {
            assert!(holds(found, rule.clone()), "{rule:?} of `{found}`");
        }
        for found in *no {
            assert!(!holds(found, rule.clone()), "{rule:?} of `{found}`");
        }
    }
}

#[test]
fn what_is_missing_is_absent_and_meets_no_other_rule() {
    let others = [
        Rule::Exists,
        Rule::Equals(text("")),
        Rule::Differs(text("x")),
        Rule::Contains(text("")),
        Rule::Lacks(text("x")),
        Rule::Matches(String::new()),
        Rule::Below(1.0),
        Rule::AtLeast(0.0),
        Rule::OneOf(vec![text("")]),
    ];
    let on = |rule: Rule| [json("$.none", rule.clone()), Subject::Header { name: "None".into(), rule }];
    for rule in others {
        let found = judged(&checked(on(rule.clone())), &answer(br#"{"some": 1}"#));
        assert_eq!(found.verdicts, [false, false], "{rule:?}");
    }
    assert_eq!(judged(&checked(on(Rule::Absent)), &answer(br#"{"some": 1}"#)).verdicts, [true, true]);
}

#[test]
fn null_is_a_value_and_an_error_page_is_no_answer_that_lacks_a_member() {
    let verdict = |body: &str, rule| judged(&checked([json("$.error", rule)]), &answer(body.as_bytes()));
    assert_eq!(verdict(r#"{"error": null}"#, Rule::Exists).verdicts, [true]);
    assert_eq!(verdict(r#"{"error": null}"#, Rule::Equals(text("null"))).verdicts, [true]);
    assert_eq!(verdict(r#"{"error": null}"#, Rule::Absent).verdicts, [false]);
    assert_eq!(verdict("", Rule::Absent).verdicts, [true]);
    let page = verdict("<html>Bad gateway</html>", Rule::Absent);
    assert_eq!(page.verdicts, [false]);
    assert_eq!(page.failures, [(0, "the body is not JSON".to_owned())]);
}

#[test]
fn sentences_say_what_was_expected_and_what_was_found() {
    let describe = |body: &str, rule: Rule| {
        let findings = judged(&checked([json("$.v", rule)]), &answer(body.as_bytes()));
        findings.failures.into_iter().map(|(_, sentence)| sentence).collect::<String>()
    };
    let body = r#"{"v": "seven"}"#;
    let rows = [
        (Rule::Absent, "expected no value, found `seven`"),
        (Rule::Equals(text("8")), "expected `8`, found `seven`"),
        (Rule::Differs(text("seven")), "expected anything but `seven`, found `seven`"),
        (Rule::Contains(text("x")), "expected text with `x`, found `seven`"),
        (Rule::Lacks(text("eve")), "expected text without `eve`, found `seven`"),
        (Rule::Matches("^x".into()), "expected a match of `^x`, found `seven`"),
        (Rule::AtMost(7.5), "expected a number of at most `7.5`, found `seven`"),
        (Rule::OneOf(vec![text("a"), text("b")]), "expected one of `a`, `b`, found `seven`"),
        (Rule::Equals(text("seven")), ""),
    ];
    for (rule, expected) in rows {
        assert_eq!(describe(body, rule), expected);
    }
    assert_eq!(describe("{}", Rule::Exists), "expected a value, found no value");
    assert_eq!(describe(r#"{"v": "a\nb"}"#, Rule::Equals(text("a"))), "expected `a`, found `a\\nb`");
}

#[test]
fn long_values_are_cut_between_words_and_secrets_before_that() {
    let token = "t0k3n.".repeat(30);
    let body = format!("{} {token} end", "word ".repeat(14).trim_end());
    let long = judged(&checked([Subject::Body(Rule::Equals(text("x")))]), &answer(body.as_bytes()));
    let expected =
        format!("expected `x`, found `{} …` ({} bytes)", "word ".repeat(14).trim_end(), body.len());
    assert_eq!(long.failures[0].1, expected, "no piece of the token is left");

    // A secret of several words, right over the place of the cut.
    let body = format!("{} open sesame now", "x".repeat(74));
    let ask = checked([Subject::Body(Rule::Lacks(text("sesame")))]);
    let mut findings = Findings {
        wants_sentences: true,
        forms: Arc::from(["open sesame".to_owned()]),
        ..Findings::default()
    };
    let judge = answer_support::compiled(&ask);
    judge.run(&answer(body.as_bytes()), &mut User::new().scope(), &mut Scratch::default(), &mut findings);
    let sentence = &findings.failures[0].1;
    assert!(sentence.contains("***") && !sentence.contains("open"), "{sentence}");
}

#[test]
fn secrets_of_the_file_and_values_under_secret_names_are_not_said() {
    let mut secret = text("id-");
    secret.parts.push(Part::Secret(Secret::new("hunter2")));
    let ask = checked([
        Subject::Body(Rule::Contains(secret)),
        json("$.session.id", Rule::Equals(text("want"))),
        Subject::Header { name: "x-id".into(), rule: Rule::Equals(text("want")) },
    ]);
    let findings = judged(&ask, &answer(br#"{"session": {"id": "s3cr3t"}}"#));
    let said: Vec<&str> = findings.failures.iter().map(|(_, sentence)| &sentence[..]).collect();
    assert!(said[0].starts_with("expected text with `id-***`"), "{}", said[0]);
    assert_eq!(said[1], "expected `***`, found `***`");
    assert_eq!(said[2], "expected `want`, found `first`");
}

#[test]
fn the_other_side_is_filled_from_the_user_s_variables() {
    let ask = checked([
        json("$.id", Rule::Equals(with_variable("order-", 1, ""))),
        Subject::Body(Rule::Contains(with_variable("\"", 1, "\""))),
        json("$.id", Rule::OneOf(vec![text("x"), with_variable("order-", 1, "")])),
    ]);
    let judge = answer_support::compiled(&ask);
    let (mut user, mut scratch) = (User::new(), Scratch::default());
    let mut findings = Findings { wants_sentences: true, ..Findings::default() };
    let body = answer(br#"{"id": "order-17"}"#);
    judge.run(&body, &mut user.scope(), &mut scratch, &mut findings);
    assert_eq!(findings.verdicts, [false, false, false]);
    assert_eq!(findings.failures[0].1, "it uses a variable that has no value");
    user.vars.set(1, b"17");
    judge.run(&body, &mut user.scope(), &mut scratch, &mut findings);
    assert_eq!(findings.verdicts, [true, false, true]);
    assert_eq!(
        findings.failures,
        [(1, r#"expected text with `"17"`, found `{"id": "order-17"}`"#.to_owned())]
    );
}

#[test]
fn a_condition_on_a_variable_that_was_never_set_is_only_true_when_it_asks_for_that() {
    let requested = |left: Text, rule| CompiledCondition::compile(&Condition { left, rule }).expect("valid");
    let (mut user, mut scratch) = (User::new(), Scratch::default());
    let mut holds = |user: &mut User, left: Text, rule: Rule| {
        requested(left, rule).holds(&mut user.scope(), &mut scratch).expect("no feeder is used")
    };
    let left = || with_variable("", 0, "");
    for rule in [Rule::Exists, Rule::Equals(text("")), Rule::Differs(text("a")), Rule::Below(9.0)] {
        assert!(!holds(&mut user, left(), rule));
    }
    assert!(holds(&mut user, left(), Rule::Absent));
    assert!(!holds(&mut user, text("a"), Rule::Differs(left())), "missing on the right");
    user.vars.set(0, b"");
    assert!(holds(&mut user, left(), Rule::Exists), "an empty value is a value");
    user.vars.set(0, b"3.0");
    assert!(holds(&mut user, left(), Rule::Equals(text("3"))));
    assert!(holds(&mut user, left(), Rule::Above(2.0)));
    assert!(holds(&mut user, text("3"), Rule::Equals(left())));
}

#[test]
fn a_feeder_at_its_end_is_told_apart_from_a_check_that_fails() {
    let folder = std::env::temp_dir().join(format!("plimsoll-answer-rules-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for one file");
    let path = folder.join("one.csv");
    std::fs::write(&path, "id\nonly\n").expect("a small file");
    let feeder = Feeder {
        name: "users".into(),
        path,
        format: Format::Csv { delimiter: b',', header: None },
        columns: vec!["id".into()],
        share: Sharing::All,
        order: RowOrder::Sequential,
        at_end: AtEnd::Stop,
        made_by_setup: false,
    };
    let feeds = Feeds::open(&[feeder], 1, Share { part: 1, of: 1 }).expect("one row");
    std::fs::remove_dir_all(&folder).expect("made above");
    let mut user = User::fed(&Arc::new(feeds));
    let mut left = Text::default();
    left.parts.push(Part::Placeholder(Placeholder::Column { feeder: 0, column: 0 }, Escape::None));
    let judge = answer_support::compiled(&checked([Subject::Body(Rule::Equals(left.clone()))]));
    let asked = CompiledCondition::compile(&Condition { left, rule: Rule::Exists }).expect("valid");
    let (mut scratch, mut findings) = (Scratch::default(), Findings::default());

    user.rows.new_iteration();
    judge.run(&answer(b"only"), &mut user.scope(), &mut scratch, &mut findings);
    assert_eq!((findings.verdicts[0], findings.exhausted), (true, None));
    assert_eq!(asked.holds(&mut user.scope(), &mut scratch), Ok(true));

    user.rows.new_iteration();
    judge.run(&answer(b"only"), &mut user.scope(), &mut scratch, &mut findings);
    assert_eq!((findings.verdicts[0], findings.exhausted), (false, Some(0)));
    assert_eq!(asked.holds(&mut user.scope(), &mut scratch), Err(Unfilled::Exhausted(0)));
}
