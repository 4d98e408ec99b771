//! Cautions about scenarios: data that runs out, values that cannot be sent, rows without room, responses that change.

use super::{silent, warns};
use crate::help::count;
use crate::provoke::json;
use crate::support::{Ruler, Scratch, Tool, namespace, run_alongside};
use serde_json::Value;

/// Runs one scenario with `steps`; `more` are additional top-level keys of the file.
fn run(ruler: &Ruler, steps: &str, load: &str, more: &str, code: i32) -> Value {
    let scratch = Scratch::new();
    scratch.file("rows.csv", "name\nann\nbob\ncid\n");
    let text = format!("target: {}\nscenarios: {{ s: [ {steps} ] }}\nload: {load}\n{more}\n", ruler.url(""));
    json(&["run", &scratch.file("plan.yaml", &text)], code)
}

#[test]
fn data_that_runs_out_ends_users_and_raises_a_caution() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let data = |end: &str| format!("data: {{ r: {{ file: rows.csv, sharing: unique, on_end: {end} }} }}");
    let load = "{ users: 2, iterations: 10 }";
    let said = run(&ruler, "{ get: '/${r.name}' }", load, &data("stop"), 0);
    assert!(warns(&said, "data_exhausted").contains("2 users"));
    assert_eq!(count(&said, "/totals/requests"), 3);
    let calm = run(&ruler, "{ get: '/${r.name}' }", load, &data("recycle"), 0);
    silent(&calm, "data_exhausted");
    assert_eq!(count(&calm, "/totals/requests"), 10);
}

#[test]
fn an_iteration_with_an_unsendable_value_raises_a_caution() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = |value: &str| {
        format!("{{ set: {{ w: \"{value}\" }} }}, {{ get: /a }}, {{ get: /b, headers: {{ X: '${{w}}' }} }}")
    };
    let load = "{ users: 1, iterations: 5 }";
    // A line end in a header would be another header.
    let said = run(&ruler, &steps("a\\nb"), load, "", 0);
    assert!(warns(&said, "iterations_abandoned").contains("5 iterations"));
    assert_eq!(ruler.requests(), 5, "the second request was never sent");
    silent(&run(&ruler, &steps("a b"), load, "", 0), "iterations_abandoned");
}

#[test]
fn a_row_without_room_raises_a_caution() {
    const NAME: &str = "trust::scripted::a_row_without_room_raises_a_caution";
    // A disk of a test's own, with room for one row.
    let disk = format!(
        "exec unshare -m sh -c 'mount -t tmpfs -o size=96k tmpfs /mnt && exec \"$0\" --exact {NAME} --nocapture \
         --test-threads 1' \"$0\""
    );
    namespace::inside(NAME, &disk, run_alongside, || {
        let ruler = Ruler::start(&[]);
        let steps = |file: &str| {
            // More than is gathered before the kernel is asked.
            let long = "x".repeat(70_000);
            format!("{{ get: '/?body=1' }}, {{ append: {{ file: {file}, columns: {{ a: \"{long}\" }} }} }}")
        };
        let load = "{ users: 1, iterations: 3 }";
        let said = run(&ruler, &steps("/mnt/out.csv"), load, "", 0);
        assert!(warns(&said, "rows_not_written").contains("2 rows"));
        silent(&run(&ruler, &steps("out.csv"), load, "", 0), "rows_not_written");
    });
}

#[test]
fn responses_that_change_in_the_middle_raise_a_caution() {
    let _turn = run_alongside();
    // Side by side, so that the test takes the time of one.
    let rulers = [(); 2].map(|()| Ruler::start(&["--body", "1000"]));
    let start = |ruler: &Ruler| {
        let args = [&ruler.url("/"), "-r", "50", "-d", "10s", "-t", "1", "--json"];
        Tool::new(&args).start()
    };
    let [changed, calm] = &rulers;
    let [running, twin] = [changed, calm].map(start);
    changed.wait_for_requests(250);
    changed.set("body=90");
    let said = running.wait().expect_code(0).json();
    let evidence = warns(&said, "response_changed");
    assert!(evidence.contains("1,000 bytes") && evidence.contains("90.0 bytes"), "{evidence}");
    silent(&twin.wait().expect_code(0).json(), "response_changed");
}

#[test]
fn a_request_that_cannot_be_sent_raises_a_caution() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let script = "import http from 'k6/http';\nexport const options = { vus: 1, iterations: 3 };\n\
                  export default () => { http.get(`${__ENV.BASE}`); http.get(`${__ENV.URL}`); };";
    let file = scratch.file("load.js", script);
    let run = |url: &str, code: i32| {
        let set = [format!("BASE={}", ruler.url("/")), format!("URL={url}")];
        json(&["run", &file, "--set", &set[0], "--set", &set[1]], code)
    };
    let said = run("http://[::1", 3);
    assert!(warns(&said, "invalid_request").contains('3'), "{}", warns(&said, "invalid_request"));
    silent(&said, "client_send_refused");
    silent(&run(&ruler.url("/other"), 0), "invalid_request");
}

#[test]
fn an_origin_that_the_policy_refuses_raises_a_caution() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let script = "import http from 'k6/http';\nexport const options = { vus: 1, iterations: 2 };\n\
                  export default () => { http.get(`${__ENV.FIRST}`); http.get(`${__ENV.OTHER}`); };";
    let file = scratch.file("load.js", script);
    let run = |other: &str, code: i32| {
        let set = [format!("FIRST={}", ruler.url("/")), format!("OTHER={other}")];
        json(&["run", &file, "--set", &set[0], "--set", &set[1]], code)
    };
    // The address of a cloud's metadata is never loaded, and thus never contacted.
    let said = run("http://169.254.169.254/", 3);
    assert!(warns(&said, "origin_refused").contains('2'), "{}", warns(&said, "origin_refused"));
    silent(&run(&ruler.url("/other"), 0), "origin_refused");
}
