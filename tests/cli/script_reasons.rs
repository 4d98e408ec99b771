//! What a run of a script says of its users, checks, and streams.

use crate::support::{Ruler, Scratch, Tool};

#[test]
fn warns_of_event_streams_that_are_read_as_responses() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "import http from 'k6/http';\nexport const options = { iterations: 3 };\n\
        export default () => { http.get(__ENV.URL); };\n";
    let file = scratch.file("load.js", script);
    for (path, count) in [("/events?every=5ms&count=3", 1), ("/", 0)] {
        let set = format!("URL={}", server.url(path));
        let output = Tool::run(&["k6", "run", "-q", "--no-color", "-e", &set, &file]).expect_code(0);
        assert_eq!(output.stderr.matches("is an event stream").count(), count, "{}", output.stderr);
        let output = Tool::run(&["run", "--set", &set, &file]).expect_code(0);
        let told = output.stdout.contains("event_streams_as_responses");
        assert_eq!(told, count == 1, "{path}: {}", output.stdout);
    }
}

#[test]
fn arrivals_without_a_free_user_are_explained_by_the_number_of_users() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = |first: u32, most: u32| {
        format!(
            "import http from 'k6/http';\nexport const options = {{ scenarios: {{ a: {{ executor: \
             'constant-arrival-rate', rate: 40, duration: '2s', preAllocatedVUs: {first}, maxVUs: {most} }} }} }};\n\
             export default () => {{ http.get(__ENV.URL); }};\n"
        )
    };
    let set = format!("URL={}", server.url("/?delay=200ms"));
    let few = scratch.file("few.js", &script(2, 3));
    let output = Tool::run(&["run", "--set", &set, &few]).expect_code(99);
    let text = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "have too few users",
        "found no free user (`preAllocatedVUs` 2, `maxVUs` 3)",
        "Raise `preAllocatedVUs`",
    ] {
        assert!(text.contains(told), "{told}: {}", output.stdout);
    }
    assert!(!text.contains("--max-connections"), "{}", output.stdout);
    // As in k6: users are busy or not, and exist if they were needed.
    let output = Tool::run(&["k6", "run", "-q", "--no-color", "-e", &set, &few]).expect_code(99);
    let line =
        |name: &str| output.stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or("");
    assert!(line("vus..").contains("max=3") && line("vus_max").contains(": 3 "), "{}", output.stdout);
    let enough = scratch.file("enough.js", &script(30, 30));
    let output = Tool::run(&["run", "--set", &set, &enough]);
    assert!(!output.stdout.contains("too few users"), "{}", output.stdout);
}

#[test]
fn checks_that_fail_without_a_threshold_are_told_below_a_pass() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = |options: &str, status: u32| {
        format!(
            "import http from 'k6/http';\nimport {{ check }} from 'k6';\n\
             export const options = {{ iterations: 25 {options} }};\n\
             export default () => {{ check(http.get(__ENV.URL), {{ right: r => r.status === {status} }}); }};\n"
        )
    };
    let threshold = ", thresholds: { checks: ['rate>=0'] }";
    let set = format!("URL={}", server.url("/"));
    for (name, options, status, is_told) in
        [("none", "", 201, true), ("threshold", threshold, 201, false), ("holds", "", 200, false)]
    {
        let file = scratch.file(&format!("{name}.js"), &script(options, status));
        let output = Tool::run(&["run", "--set", &set, &file]).expect_code(0);
        let told = "The check `right` failed 25 of 25 times; no threshold is on checks";
        let text = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.contains(told), is_told, "{name}: {}", output.stdout);
    }
}
