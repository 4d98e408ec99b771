//! Samples: few, telling, and without secrets.

use super::engine::{Engine, Served};
use super::plans::*;
use plimsoll_plan::answer::{Check, Rule, Subject};
use plimsoll_plan::failure_example::{EXAMPLES_MAX, EXCERPT_BYTES};
use plimsoll_plan::script::{Node, Script, Slot};
use plimsoll_plan::value::{Part, Secret};

/// One request with a check that never holds, before a service that always says the same.
fn failing(check: Check, body: &str) -> (Script, impl FnMut(&str) -> Served + Clone + 'static) {
    let mut only = ask("/");
    only.checks = vec![check];
    let served = Served::ok(body).header("Set-Cookie", "sid=s3cr3t-cookie");
    (script(vec![only], vec![Node::Ask(0)]), move |_: &str| served.clone())
}

fn sampled(
    script: Script,
    service: impl FnMut(&str) -> Served + 'static,
) -> Vec<plimsoll_plan::failure_example::FailureExample> {
    let mut engine = play(script, service);
    engine.iterations(10);
    engine.samples
}

#[test]
fn a_sample_says_what_was_expected_and_what_was_found() {
    let (script, service) = failing(equals("$.state", "open"), r#"{"state": "shut"}"#);
    let samples = sampled(script, service);
    assert_eq!(samples.len(), EXAMPLES_MAX as usize, "and there are a few of them, not one per answer");
    let first = &samples[0];
    assert_eq!((first.request.as_str(), first.check.as_str()), ("/", "$.state is open"));
    assert_eq!(first.observed, "expected `open`, found `shut`");
    assert_eq!((first.status, first.excerpt.as_str()), (200, r#"{"state": "shut"}"#));
}

#[test]
fn samples_are_counted_over_all_users() {
    let (script, service) = failing(equals("$.state", "open"), "{}");
    let stage = stage(script);
    let mut samples = 0;
    for number in 0..4 {
        let mut engine = Engine::new(user(&stage, number), service.clone());
        engine.iterations(2);
        samples += engine.samples.len();
    }
    assert_eq!(samples, EXAMPLES_MAX as usize);
}

#[test]
fn a_failing_status_shows_its_body_although_nobody_reads_it() {
    let samples = sampled(script(vec![ask("/")], vec![Node::Ask(0)]), always(503, "too many of you"));
    assert_eq!(samples.len(), EXAMPLES_MAX as usize);
    assert_eq!(samples[0].check, "http_status");
    assert_eq!(samples[0].observed, "expected `200-399`, found `503`");
    // The first one came unawares.
    assert_eq!([&samples[0].excerpt[..], &samples[1].excerpt[..]], ["", "too many of you"]);
}

#[test]
fn secrets_of_the_plan_appear_nowhere() {
    let secret = "p&ss \"word\"/1";
    let sent_back = [
        format!("you said {secret}"),
        r#"{"echo": "p&ss \"word\"/1"}"#.to_owned(),
        "echo=p%26ss%20%22word%22%2F1&x=1".to_owned(),
        "echo=p%26ss+%22word%22%2F1&x=1".to_owned(),
    ];
    for body in sent_back {
        let check = Check { name: "c".into(), on: Subject::Body(Rule::Equals(text("welcome"))) };
        let (mut script, service) = failing(check, &body);
        let mut hidden = text("");
        hidden.parts.push(Part::Secret(Secret::new(secret)));
        script.asks[0].body = Some(hidden);
        script.secrets = vec![Secret::new(secret)];
        for sample in sampled(script, service) {
            let all = format!("{} {}", sample.observed, sample.excerpt);
            assert!(!all.contains("word") && all.contains("***"), "{all}");
        }
    }
}

#[test]
fn what_stands_under_a_secret_key_is_cut_out() {
    let bodies = [
        r#"{"user": "ann", "access_token": "abc.def", "n": 1}"#,
        r#"{"user": "ann", "session": {"id": "abc.def", "x": ["}", 2]}, "n": 1}"#,
        r#"{"user": "ann", "passwords": ["abc.def", "b"], "n": 1}"#,
        "user=ann&api_key=abc.def&n=1",
        "user=ann; password=\"abc.def\"; n=1",
        r#"{"user": "ann", "token": "abc.def"#,
        "{'user': 'ann', 'token': 'abc.def', 'n': 1}",
        "user: ann\nAuthorization: Digest qop=\"auth\", response=\"abc.def\"\nn: 1",
        "user: ann\r\nX-Api-Key:\tabc.def\r\nn: 1",
    ];
    for body in bodies {
        let check = Check { name: "c".into(), on: Subject::Body(Rule::Lacks(text("ann"))) };
        let (script, service) = failing(check, body);
        let samples = sampled(script, service);
        let excerpt = &samples[0].excerpt;
        assert!(!excerpt.contains("abc.def") && excerpt.contains("***"), "{excerpt}");
        assert!(excerpt.contains("ann"), "the rest is there: {excerpt}");
        assert_eq!(excerpt.contains('1'), body.contains('1'), "{excerpt}");
    }
}

#[test]
fn what_the_plan_has_written_in_secret_headers_is_cut_out_wherever_it_comes_back() {
    let bodies = [
        "POST / HTTP/1.1\r\nauthorization: Bearer abc.def.1234\r\n\r\n",
        r#"{"you": "said abc.def.1234 and cookie-5678"}"#,
        "cookie-5678 by word, and once more: abc.def.1234",
    ];
    for body in bodies {
        let check = Check { name: "c".into(), on: Subject::Body(Rule::Equals(text("x"))) };
        let (mut script, service) = failing(check, body);
        script.asks[0].headers = vec![
            ("Authorization".into(), text("Bearer abc.def.1234")),
            ("Cookie".into(), text("a=cookie-5678; mode=none")),
            ("X-Note".into(), text("once more:")),
        ];
        for sample in sampled(script, service) {
            let all = format!("{} {}", sample.observed, sample.excerpt);
            assert!(!all.contains("abc.def") && !all.contains("5678") && all.contains("***"), "{all}");
        }
    }
}

#[test]
fn a_check_on_a_secret_header_or_member_says_only_that_it_failed() {
    let cookie = Subject::Header { name: "Set-Cookie".into(), rule: Rule::Contains(text("other")) };
    let member = Subject::Json { path: "$.auth.value".into(), rule: Rule::Equals(text("other")) };
    for on in [cookie, member] {
        let (script, service) =
            failing(Check { name: "c".into(), on }, r#"{"auth": {"value": "s3cr3t-cookie"}}"#);
        for sample in sampled(script, service) {
            assert!(!format!("{sample:?}").contains("s3cr3t"), "{sample:?}");
        }
    }
}

#[test]
fn values_that_users_have_extracted_under_secret_names_are_cut_out_too() {
    let mut login = ask("/login");
    login.extracts = vec![extract("token", "$.t", Slot::Var(2))];
    let mut page = ask("/page");
    // Where the sentence shortens the value, half of the token must not stay.
    page.checks = vec![Check { name: "c".into(), on: Subject::Body(Rule::Equals(text("x"))) }];
    for lead in [10, 70, 76] {
        let body = format!("{}tok|1234567890", "a".repeat(lead));
        let service = move |request: &str| match request.starts_with("GET /login") {
            true => Served::ok(r#"{"t": "tok|1234567890"}"#),
            false => Served::ok(&body),
        };
        let script = script(vec![login.clone(), page.clone()], vec![Node::Ask(0), Node::Ask(1)]);
        for sample in sampled(script, service) {
            let all = format!("{} {}", sample.observed, sample.excerpt);
            assert!(!all.contains("tok|") && sample.excerpt.contains("***"), "{all}");
        }
    }
}

#[test]
fn faults_have_samples_too_and_few() {
    let service = |_: &str| Served::fault(plimsoll_plan::Fault::ConnectionReset);
    let samples = sampled(script(vec![ask("/")], vec![Node::Ask(0)]), service);
    assert_eq!(samples.len(), EXAMPLES_MAX as usize);
    assert_eq!((samples[0].check.as_str(), samples[0].excerpt.as_str()), ("connection_reset", ""));
}

#[test]
fn what_shows_because_much_was_cut_out_is_no_half_of_a_secret() {
    // The second secret stands across the end of what is looked at, 8 KiB.
    let body = format!("{{\"token\": \"{}\", \"note\": \"my-very-own-word\"}}", "x".repeat(8_160));
    let check = Check { name: "c".into(), on: Subject::Body(Rule::Equals(text("x"))) };
    let (mut script, service) = failing(check, &body);
    script.secrets = vec![Secret::new("my-very-own-word")];
    for sample in sampled(script, service) {
        assert!(sample.excerpt.contains("note") && !sample.excerpt.contains("my-"), "{}", sample.excerpt);
    }
}

#[test]
fn an_excerpt_is_the_beginning_and_is_whole_text() {
    let check = Check { name: "c".into(), on: Subject::Body(Rule::Equals(text("x"))) };
    let body = "ä".repeat(EXCERPT_BYTES);
    let (script, service) = failing(check, &body);
    let samples = sampled(script, service);
    assert_eq!(samples[0].excerpt.len(), EXCERPT_BYTES);
    assert!(body.starts_with(&samples[0].excerpt));
}

#[test]
fn a_coded_body_is_shown_decoded() {
    // "hello, hello, hello" in a stored block: what `gzip -0` would write.
    let text_bytes = b"hello, hello, hello";
    let mut coded = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    coded.extend_from_slice(&(text_bytes.len() as u16).to_le_bytes());
    coded.extend_from_slice(&(!(text_bytes.len() as u16)).to_le_bytes());
    coded.extend_from_slice(text_bytes);
    let crc = text_bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 })
    });
    coded.extend_from_slice(&(!crc).to_le_bytes());
    coded.extend_from_slice(&(text_bytes.len() as u32).to_le_bytes());
    let mut only = ask("/");
    only.checks = vec![Check { name: "c".into(), on: Subject::Body(Rule::Lacks(text("hello"))) }];
    let served = Served { body: coded, ..Served::ok("").header("Content-Encoding", "gzip") };
    let samples = sampled(script(vec![only], vec![Node::Ask(0)]), move |_| served.clone());
    assert_eq!(samples[0].excerpt, "hello, hello, hello");
}
