//! Thresholds over parts of a run, and the examples of what went wrong.

use crate::bench::{steps, trial};
use crate::support::Tool;

#[test]
fn a_scope_judges_its_requests_alone() {
    let limits = [
        ("response_time{request: slow} p50 < 60ms", false),
        ("response_time{request: slow} p50 >= 100ms", true),
        ("error_rate{request: bad} < 50%", false),
        ("error_rate{scenario: one} <= 34%", true),
        ("error_rate{group: inner} == 0%", true),
        ("requests{tag: kind=read} == 30", true),
        ("checks{request: bad} > 0%", false),
        ("requests == 90", true),
    ];
    let list = "- group: inner\n  steps: [ { get: /slow?delay=120ms, name: slow, tags: { kind: read } } ]\n\
                - { get: /fast, name: fast }\n- { get: /bad?status=500, name: bad, \
                    check: { status: 200 } }";
    let rules: String = limits.iter().map(|(text, _)| format!("  - \"{text}\"\n")).collect();
    let seen =
        trial(format!("thresholds:\n{rules}load: {{ users: 10, iterations: 30 }}\n{}", steps(list))).run();
    seen.ended(&[99], 0);
    assert_eq!(["/slow", "/fast", "/bad"].map(|path| seen.count(path)), [30; 3]);
    for (i, (text, met)) in limits.iter().enumerate() {
        assert_eq!(
            seen.value_at(&format!("/thresholds/{i}/is_met")),
            met,
            "{text}: {}",
            seen.said["thresholds"][i]
        );
    }
}

#[test]
fn a_window_finds_what_the_whole_run_hides() {
    let text = "thresholds:
  - error_rate < 12%
  - { threshold: error_rate < 12.5%, over: 1s }
scenarios:
  good: { load: { rate: 200/s, duration: 4s }, steps: [ { get: /good } ] }
  bad: { start_delay: 1200ms, load: { users: 1, iterations_per_user: 80 }, steps: [ { get: /bad?status=500 } ] }
";
    let seen = trial(text).run();
    seen.ended(&[99], 0);
    seen.arrived("/good", 800);
    assert_eq!(seen.count("/bad"), 80);
    // 80 of 880 are 9.1%; of the second in which they came, 80 of 280.
    assert_eq!(
        (seen.value_at("/thresholds/0/is_met"), seen.value_at("/thresholds/1/is_met")),
        (&true.into(), &false.into())
    );
    let from_s = seen.value_at("/thresholds/1/window/from_s").as_f64().expect("the worst window has a begin");
    assert!((0.0..3.0).contains(&from_s), "{from_s}");
}

#[test]
fn abort_after_ends_the_run_early() {
    let text = "thresholds: [ { threshold: error_rate < 1%, abort_after: 1s } ]\nload: { \
        users: 2, duration: 60s }\n";
    let seen = trial(format!("{text}{}", steps("- get: /x?status=500&delay=20ms"))).run();
    seen.ended(&[99], 0);
    assert!(seen.elapsed.as_secs() < 30, "{:?}", seen.elapsed);
    assert_eq!(seen.value_at("/stopped_by"), "threshold");
}

#[test]
fn a_threshold_that_is_kept_aborts_nothing() {
    let text = "thresholds: [ { threshold: error_rate < 1%, abort_after: 0s } ]\nload: { \
        users: 1, duration: 1200ms }\n";
    let seen = trial(format!("{text}{}", steps("- get: /x?delay=20ms"))).run();
    assert_eq!(seen.value_at("/stopped_by"), "duration");
    assert!(seen.elapsed.as_millis() >= 1_200);
}

#[test]
fn a_set_up_that_fails_is_the_end_and_a_tear_down_that_fails_is_said() {
    let seen = trial(format!("setup: [ {{ get: /first?status=500 }} ]\n{}", steps("- get: /x"))).run();
    assert_eq!((seen.output.code, seen.lines()), (1, vec!["GET /first?status=500".to_owned()]));
    assert!(seen.output.stderr.contains("setup failed"), "{}", seen.output.stderr);

    let seen = trial(format!("teardown: [ {{ get: /last?status=500 }} ]\n{}", steps("- get: /x"))).run();
    seen.came(&["GET /x", "GET /last?status=500"]);
    // The verdict on the load stands.
    seen.expect_run(1);
    assert!(seen.output.stderr.contains("teardown failed"), "no message:\n{}", seen.output.stderr);
}

/// A secret that must not appear in any output.
const SECRET: &str = "s3cr3t-pEarl-51x";

#[test]
fn a_secret_is_shown_nowhere() {
    // base64 of `me:` and the secret, and what an answer echoes of both.
    const CODED: &str = "bWU6czNjcjN0LXBFYXJsLTUxeA==";
    let list = "- post: /echo?key=${secret.PROBE}
  body: b ${secret.PROBE}
  headers: { X-Key: \"${secret.PROBE}\" }
  check: { body: nowhere to be found }
  on_failure: continue
- get: /echo
  auth: { basic: { user: me, password: \"${secret.PROBE}\" } }
  check: { json: { $.method: \"${secret.PROBE}\" } }
  on_failure: continue
- get: /echo
  name: third
  auth: { bearer: \"${secret.PROBE}\" }
  check: { header: { X-Gone: \"${secret.PROBE}\" } }";
    let seen = trial(steps(list)).env("PROBE", SECRET).run();
    seen.ended(&[99], 0);
    // It was sent.
    assert_eq!(seen.asked[0].query("key"), Some(SECRET));
    assert_eq!(
        (seen.asked[0].header("X-Key"), seen.asked[0].body.as_str()),
        (Some(SECRET), format!("b {SECRET}").as_str())
    );
    assert_eq!(seen.asked[1].header("Authorization"), Some(format!("Basic {CODED}").as_str()));
    assert_eq!(seen.asked[2].header("Authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert_eq!(seen.value_at("/failure_examples").as_array().map(Vec::len), Some(3));
    let excerpt = seen.value_at("/failure_examples/0/excerpt").as_str().expect("an excerpt");
    assert!(excerpt.contains("POST"), "the excerpt shows the rest of the answer: {excerpt}");

    let run_file = seen.scratch.path("run.plim");
    let experiment = seen.scratch.path("experiment.yaml");
    assert!(seen.ruler.requests() == 3, "it is still there for the run to come");
    let bytes = std::fs::read(&run_file).expect("the run file is there");
    let mut texts = vec![
        ("run file", String::from_utf8_lossy(&bytes).into_owned()),
        ("stdout", seen.output.stdout.clone()),
        ("stderr", seen.output.stderr.clone()),
    ];
    for (what, args) in [
        ("report", &["report", &run_file][..]),
        ("report --json", &["report", &run_file, "--json"]),
        ("report --markdown", &["report", &run_file, "--markdown"]),
        ("check --show", &["check", &experiment, "--show"]),
        ("a run without JSON", &["run", &experiment]),
    ] {
        let output = Tool::new(args).env("PROBE", SECRET).start().wait();
        assert!(!output.stdout.is_empty(), "{what} said nothing: {}", output.stderr);
        texts.push((what, output.stdout + &output.stderr));
    }
    for (what, text) in &texts {
        for word in [SECRET, CODED] {
            assert!(!text.contains(word), "{what} contains `{word}`:\n{text}");
        }
    }
}
