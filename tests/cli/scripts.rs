//! Scripts of k6: what they send and count, and what is said of a script that cannot run.

use crate::support::peers::{Node, Pki};
use crate::support::{BINARY, Ruler, Scratch, Tool};
use std::process::Command;

const SCRIPT: &str = "\
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';

export const options = {
  scenarios: {
    page: { executor: 'per-vu-iterations', vus: 3, iterations: 7, exec: 'page' },
    form: { executor: 'shared-iterations', vus: 2, iterations: 10, exec: 'form' },
  },
  thresholds: { things: ['count==17'] },
};
const things = new Counter('things');

export function setup() {
  return { token: http.get(`${__ENV.BASE}/setup`).status };
}
export function page(data) {
  group('home', () => {
    const response = http.get(`${__ENV.BASE}/page?vu=${__VU}`, { headers: { 'X-Token': data.token } });
    check(response, { 'is 200': (r) => r.status === 200, 'never': false });
  });
  if (exec.vu.iterationInScenario < 5) things.add(1);
}
export function form() {
  http.post(`${__ENV.BASE}/form`, { name: 'a b' });
  if (exec.scenario.iterationInTest < 2) things.add(1);
}
export function teardown() {
  http.del(`${__ENV.BASE}/teardown`);
}
";

fn base(server: &Ruler) -> String {
    server.url("").trim_end_matches('/').to_owned()
}

#[test]
fn a_script_sends_what_it_says_and_is_counted() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let file = scratch.file("load.js", SCRIPT);
    let set = format!("BASE={}", base(&server));
    let output = Tool::run(&["run", &file, "--set", &set, "--json"]);
    let json = output.json();
    // Setup and teardown are not part of the load.
    assert_eq!(json["totals"]["requests"], 31, "{}", output.stdout);
    assert_eq!(server.requests(), 33);
    assert_eq!(json["totals"]["iterations"]["completed"].as_u64().unwrap_or(31), 31);
    let missed: Vec<_> = json["verdict"]["reasons"].as_array().into_iter().flatten().collect();
    assert!(!missed.iter().any(|reason| reason.to_string().contains("things")), "{missed:?}");
}

#[test]
fn k6_run_takes_the_flags_of_k6() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "import http from 'k6/http';\nexport default () => { http.get(`${__ENV.BASE}/`); };";
    let file = scratch.file("load.js", script);
    let set = format!("BASE={}", base(&server));
    Tool::run(&["k6", "run", "-u", "2", "-i", "9", "-e", &set, &file]).expect_code(0);
    assert_eq!(server.requests(), 9);
    let output = Tool::run(&["k6", "run", "--vu", "2", &file]).expect_code(2);
    assert!(output.stderr.contains("unknown flag `--vu`"), "{}", output.stderr);
    let output = Tool::run(&["k6", "inspect", &scratch.file("a.js", SCRIPT)]).expect_code(0);
    assert!(output.stdout.contains("\"per-vu-iterations\""), "{}", output.stdout);
}

#[test]
fn as_many_iterations_as_users_are_one_each() {
    let scratch = Scratch::new();
    let script =
        "import { sleep } from 'k6';\nexport default () => { console.log(`user ${__VU}.`); sleep(2); };\n";
    let file = scratch.file("load.js", script);
    let output = Tool::run(&["k6", "run", "-u", "90", "-i", "90", "--report", "-q", &file]).expect_code(0);
    let mut users: Vec<&str> =
        output.stderr.split("user ").skip(1).filter_map(|text| text.split('.').next()).collect();
    users.sort_unstable();
    users.dedup();
    assert_eq!(users.len(), 90, "{}", output.stderr);
    assert!(output.stdout.contains("90 completed"), "{}", output.stdout);
}

/// Five iterations of 100 ms for each of two users: a run without requests has a length, and true rates.
#[test]
fn a_script_fails_whose_iterations_throw_whatever_its_thresholds_say() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let set = format!("BASE={}", server.url(""));
    let script = |options: &str, body: &str| {
        format!("import http from 'k6/http';\nexport const options = {{ iterations: 4{options} }};\n{body}\n")
    };
    let threshold = ", thresholds: { http_req_failed: ['rate<0.5'] }";
    let throws = "export default () => { http.get(`${__ENV.BASE}/`); undefined.x; };";
    // Nothing handles the promise.
    let rejects = "const login = async () => { await http.asyncRequest('GET', `${__ENV.BASE}/`); undefined.x; };\n\
        export default () => { login(); };";
    let handled = "export default async () => { const p = Promise.reject(1); http.get(`${__ENV.BASE}/`); \
        p.catch(() => {}); };";
    for (name, options, body, code) in [
        ("throws", "", throws, 99),
        ("threshold", threshold, throws, 99),
        ("none", ", noThresholds: true", throws, 0),
        ("rejects", threshold, rejects, 99),
        ("handled", threshold, handled, 0),
    ] {
        let file = scratch.file(&format!("{name}.js"), &script(options, body));
        let output = Tool::run(&["k6", "run", "-q", "--no-color", "-e", &set, &file]).expect_code(code);
        let said = output.stderr.contains("FAIL: 4 of 4 iterations threw an exception");
        assert_eq!(said, code == 99, "{name}: {}", output.stderr);
        let own = ["run", "-q", "--set", &set, "--out", &scratch.path(name), &file];
        Tool::run(&own).expect_code(if name == "none" { 0 } else { code });
    }
}

#[test]
fn scenarios_of_one_user_each_run_all_their_iterations() {
    let scratch = Scratch::new();
    let script = "import { sleep } from 'k6';\nexport const options = { \
        thresholds: { 'iterations{scenario:a}': ['count==1'], 'iterations{scenario:b}': ['count==2'] }, scenarios: {\n\
        a: { executor: 'shared-iterations', vus: 1, iterations: 1 },\n\
        b: { executor: 'per-vu-iterations', vus: 1, iterations: 2 } } };\n\
        export default () => sleep(0.01);\n";
    let file = scratch.file("load.js", script);
    for _ in 0..5 {
        Tool::run(&["k6", "run", "-q", &file]).expect_code(0);
    }
}

#[test]
fn a_ramp_down_to_no_users_interrupts_their_iterations_at_its_end() {
    let scratch = Scratch::new();
    let script = "import { sleep } from 'k6';\nexport const options = { \
        thresholds: { iterations: ['count==3'] }, scenarios: { a: { executor: 'ramping-vus', startVUs: 3, \
        stages: [{ duration: '1s', target: 3 }, { duration: '0s', target: 0 }], \
        gracefulRampDown: '0s', gracefulStop: '5s' } } };\nexport default () => sleep(0.7);\n";
    Tool::run(&["k6", "run", "-q", &scratch.file("load.js", script)]).expect_code(0);
}

#[test]
fn a_script_that_takes_all_memory_or_throws_without_end_is_stopped() {
    let scratch = Scratch::new();
    for (name, body, said) in [
        ("memory", "const all = []; for (;;) all.push(new Array(1e6).fill(all.length));", "out of memory"),
        ("errors", "const f = () => { try { f(); } finally { f(); } }; f();", "an endless loop"),
    ] {
        let script =
            format!("export const options = {{ iterations: 1 }};\nexport default () => {{ {body} }};\n");
        let file = scratch.file(&format!("{name}.js"), &script);
        // A machine with little memory: a runtime may take a part of what is left of these 3 GB.
        let mut command = Command::new("prlimit");
        command.args(["--as=3000000000", BINARY, "k6", "run", "-q", "--no-color", &file]);
        let output = Tool::of(command).start().wait().expect_code(99);
        assert!(output.stderr.contains(said), "{name}: {}", output.stderr);
    }
}

#[test]
fn an_iteration_lasts_as_long_as_its_script_computes() {
    let scratch = Scratch::new();
    let script = "export const options = {\n\
        thresholds: { iteration_duration: ['min>=20'], iterations: ['rate<=50'] } };\n\
        export default () => { const begin = Date.now(); while (Date.now() - begin < 21); };\n";
    Tool::run(&["k6", "run", "-q", "-i", "5", &scratch.file("load.js", script)]).expect_code(0);
}

#[test]
fn a_script_without_requests_has_a_duration() {
    let scratch = Scratch::new();
    let file = scratch.file("load.js", "import { sleep } from 'k6';\nexport default () => sleep(0.1);\n");
    let args = [
        "k6",
        "run",
        "-u",
        "2",
        "-i",
        "10",
        "--no-color",
        "--summary-export",
        &scratch.path("s.json"),
        &file,
    ];
    Tool::run(&args).expect_code(0);
    let text = std::fs::read(scratch.path("s.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let rate = summary["metrics"]["iterations"]["rate"].as_f64().unwrap();
    assert!((2.0..=20.1).contains(&rate), "{rate}");
}

#[test]
fn outputs_have_a_line_for_each_sample() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "\
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
export const options = { vus: 2, iterations: 6, thresholds: { http_req_duration: ['p(95)<2000'] } };
const things = new Counter('things');
export function setup() { http.get(`${__ENV.BASE}/setup`); }
export default () => {
  group('home', () => {
    const r = http.get(`${__ENV.BASE}/a`, { tags: { kind: 'q,\"z' } });
    check(r, { ok: (r) => r.status === 200 });
  });
  http.get('http://127.0.0.1:1/');
  things.add(3);
};
";
    let file = scratch.file("load.js", script);
    let (json, csv) = (scratch.path("samples.json"), scratch.path("samples.csv"));
    let set = format!("BASE={}", base(&server));
    let outputs = [format!("json={json}"), format!("csv=fileName={csv},timeFormat=unix_milli")];
    let line = ["k6", "run", "-q", "--out", &outputs[0], "-o", &outputs[1], "-e", &set, &file];
    Tool::run(&line).expect_code(0);
    let text = std::fs::read_to_string(&csv).unwrap();
    let mut rows = text.lines();
    assert_eq!(
        rows.next().unwrap(),
        "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,\
         scenario,service,status,subproto,tls_version,url,extra_tags,metadata"
    );
    let of = |metric: &str| text.lines().filter(|row| row.starts_with(&format!("{metric},"))).count();
    let counts = ["http_reqs", "http_req_duration", "checks", "group_duration", "things", "iterations"];
    // One request of `setup()`; failures have no duration.
    assert_eq!(counts.map(of), [13, 7, 6, 6, 6, 6], "{text}");
    let sent = rows.find(|row| row.contains("::home,GET")).unwrap();
    assert!(sent.starts_with("http_reqs,") && sent.contains(",1.000000,"), "{sent}");
    assert!(
        sent.contains(",true,::home,GET,http://") && sent.contains(",HTTP/1.1,default,,200,,,http://"),
        "{sent}"
    );
    assert!(sent.ends_with(",\"kind=q,\"\"z\","), "{sent}");
    assert!(text.contains(",dial: connection refused,1212,false,,GET,"), "{text}");
    let text = std::fs::read_to_string(&json).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let definition = lines.iter().find(|line| line["metric"] == "http_req_duration").unwrap();
    assert_eq!(definition["data"]["thresholds"], serde_json::json!(["p(95)<2000"]), "{definition}");
    let points = lines.iter().filter(|line| line["type"] == "Point" && line["metric"] == "things");
    let values: Vec<_> = points.map(|line| line["data"]["value"].as_f64().unwrap()).collect();
    assert_eq!(values, [3.0; 6]);
    let setup = lines.iter().find(|line| line["data"]["tags"]["group"] == "::setup").unwrap();
    assert_eq!((&setup["metric"], &setup["data"]["tags"]["status"]), (&"http_reqs".into(), &"200".into()));
    // Nothing is sent for an output that does not exist, or cannot be created.
    for (output, why) in
        [("influxdb=http://x", "not supported"), ("csv=timeFormat=days", "unknown time format")]
    {
        let output = Tool::run(&["k6", "run", "-o", output, "-e", &set, &file]).expect_code(2);
        assert!(output.stderr.contains(why), "{}", output.stderr);
    }
    let nowhere = format!("json={}", scratch.path("none/samples.json"));
    let before = server.requests();
    let output = Tool::run(&["k6", "run", "-o", &nowhere, "-e", &set, &file]);
    assert!(output.code != 0 && output.stderr.contains("cannot write the samples"), "{}", output.stderr);
    assert_eq!(server.requests(), before);
}

#[test]
fn a_script_can_end_the_test() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "import http from 'k6/http';\nimport exec from 'k6/execution';\n\
                  export const options = { vus: 1, iterations: 100 };\n\
                  export default () => { http.get(`${__ENV.BASE}/`); if (__ITER == 4) exec.test.abort('enough'); };";
    let file = scratch.file("load.js", script);
    let set = format!("BASE={}", base(&server));
    let output = Tool::run(&["k6", "run", "-e", &set, &file]).expect_code(108);
    assert!(output.stderr.contains("test aborted: enough"), "{}", output.stderr);
    assert_eq!(server.requests(), 5);
    Tool::run(&["run", &file, "--set", &set]).expect_code(108);
    assert_eq!(server.requests(), 10);
    let script = script.replace("exec.test.abort('enough')", "exec.test.fail('wrong')").replace("100", "6");
    let file = scratch.file("fail.js", &script);
    let output = Tool::run(&["run", &file, "--set", &set]).expect_code(110);
    assert!(output.stderr.contains("declared the test failed: wrong"), "{}", output.stderr);
    assert_eq!(server.requests(), 16, "a failed test continues");
}

#[test]
fn k6_run_has_the_exit_codes_and_logs_of_k6() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let set = format!("BASE={}", base(&server));
    let run = |text: &str, flags: &[&str]| {
        let file = scratch.file("load.js", text);
        Tool::run(&[&["k6", "run", "-e", &set], flags, &[&file]].concat())
    };
    let sleeps = "import { sleep } from 'k6';\nexport default () => {};\n";
    let setup = format!(
        "{sleeps}export const options = {{ setupTimeout: '1s' }};\nexport function setup() {{ sleep(9); }}"
    );
    run(&setup, &[]).expect_code(100);
    let teardown = format!(
        "{sleeps}export const options = {{ teardownTimeout: '1s' }};\nexport function teardown() {{ sleep(9); }}"
    );
    run(&teardown, &[]).expect_code(101);
    run("export const options = { vus: 'many' };\nexport default () => {};", &[]).expect_code(104);
    run("const a = null;\na.b;\nexport default () => {};", &[]).expect_code(107);
    run("export const setup = () => { throw new Error('no'); };\nexport default () => {};", &[])
        .expect_code(107);
    run("import exec from 'k6/execution';\nexec.test.abort('now');\nexport default () => {};", &[])
        .expect_code(108);
    let talks = "export default () => { console.log('a text'); console.warn('word'); };";
    let output = run(talks, &["--quiet"]).expect_code(0);
    assert!(output.stderr.contains("level=info msg=\"a text\" source=console\n"), "{}", output.stderr);
    assert!(output.stderr.contains("level=warning msg=word source=console\n"), "{}", output.stderr);
    let output = run(talks, &["--quiet", "--log-format", "json"]).expect_code(0);
    assert!(output.stderr.contains("{\"level\":\"info\",\"msg\":\"a text\","), "{}", output.stderr);
    let file = scratch.path("console.txt");
    let output = run(talks, &["--quiet", "--log-format=raw", "--console-output", &file]).expect_code(0);
    assert!(!output.stderr.contains("a text"), "{}", output.stderr);
    assert_eq!(std::fs::read_to_string(file).expect("the console is in the file"), "a text\nword\n");
    let help = Tool::run(&["k6", "run", "--help"]).expect_code(0);
    assert!(
        help.stdout.contains("--summary-export VALUE") && help.stdout.contains("--allow HOST"),
        "{}",
        help.stdout
    );
}

#[test]
fn k6_run_passes_secrets_that_no_log_shows() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "import http from 'k6/http';\nimport secrets from 'k6/secrets';\n\
                  export default async () => { const s = await secrets.get('key'); console.log('it is', s); \
                  http.get(`${__ENV.BASE}/${s}`); };";
    let (file, set) = (scratch.file("load.js", script), format!("BASE={}", base(&server)));
    let source = format!("file={}", scratch.file("secrets.txt", "key=hidden7\n"));
    let output = Tool::run(&["k6", "run", "--secret-source", &source, "-e", &set, &file]).expect_code(0);
    assert!(server.last_request().starts_with("GET /hidden7"), "{}", server.last_request());
    assert!(output.stderr.contains("it is ***") && !output.stderr.contains("hidden7"), "{}", output.stderr);
}

#[test]
fn flags_of_the_load_replace_all_scenarios() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = format!("{SCRIPT}\nexport default () => {{ http.get(`${{__ENV.BASE}}/default`); }};\n");
    let file = scratch.file("load.js", &script.replace("  thresholds: { things: ['count==17'] },\n", ""));
    let set = format!("BASE={}", base(&server));
    let output = Tool::run(&["run", &file, "--set", &set, "-c", "2", "-n", "6", "--json"]);
    assert_eq!(output.json()["totals"]["requests"], 6, "{}", output.stdout);
    assert!(server.last_request().starts_with("DELETE /teardown"), "{}", server.last_request());
    // Without a default function, there is nothing that they could call.
    let file = scratch.file("scenarios.js", SCRIPT);
    let output = Tool::run(&["run", &file, "--set", &set, "-c", "2", "-n", "6"]).expect_code(2);
    assert!(output.stderr.contains("error[K105]"), "{}", output.stderr);
}

#[test]
fn a_number_of_requests_cannot_keep_a_script_without_requests_running() {
    let scratch = Scratch::new();
    let file = scratch.file("silent.js", "export default () => {};");
    let output = Tool::run(&["run", &file, "-n", "10"]).expect_code(108);
    assert!(output.stderr.contains("`-n 10` counts requests"), "{}", output.stderr);
    // A duration ends it.
    let output = Tool::run(&["run", &file, "-n", "10", "-d", "1s"]);
    assert!(!output.stderr.contains("counts requests"), "{}", output.stderr);
}

#[test]
fn a_search_calls_the_default_function_at_each_level() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "\
import http from 'k6/http';
export const options = { vus: 3, iterations: 5, thresholds: { http_req_duration: ['p(95)<2000'] } };
export default () => { http.get(`${__ENV.BASE}/level?${__ENV.SIZE}`); };
";
    let file = scratch.file("load.js", script);
    let set = format!("BASE={}", base(&server));
    let folder = scratch.path("capacity");
    let search = |size: &str| {
        let line = ["find", &file, "--set", &set, "--set", size, "--out", &folder, "--json"];
        let levels = ["--from", "20/s", "--to", "40/s", "--step", "+20/s", "--step-duration", "1s"];
        Tool::run(&[line.as_slice(), &levels].concat())
    };
    let output = search("SIZE=7");
    let said = output.json();
    let steps = said["steps"].as_array().map(Vec::len).unwrap_or_default();
    assert!(steps >= 2, "{}{}", output.stdout, output.stderr);
    assert_eq!(said["capacity"]["rate_per_s"], 40.0, "{said}");
    assert!(server.last_request().starts_with("GET /level?7"), "{}", server.last_request());
    // Other variables are another experiment.
    let output = search("SIZE=8").expect_code(2);
    assert!(output.stderr.contains("contains another experiment"), "{}", output.stderr);
}

#[test]
fn an_untrusted_script_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.file("load.js", "export default () => {};");
    let output = Tool::run(&["run", &file, "--keep-to", &scratch.path("")]).expect_code(2);
    assert!(output.stderr.contains("runs only experiment files"), "{}", output.stderr);
}

#[test]
fn check_says_what_a_script_needs() {
    let scratch = Scratch::new();
    let output = Tool::run(&["check", &scratch.file("load.js", SCRIPT)]).expect_code(0);
    for line in [
        "valid; 2 scenarios",
        "scenario form: shared-iterations, 2 users, 10m 00s, calls form",
        "uses k6/http: get, post, del",
        "users share global objects",
    ] {
        assert!(output.stdout.contains(line), "`{line}`:\n{}", output.stdout);
    }
}

/// Runs a script that must not start, and returns what is said of it.
fn refused(text: &str) -> String {
    let scratch = Scratch::new();
    Tool::run(&["run", &scratch.file("load.js", text)]).expect_code(2).stderr
}

#[test]
fn a_script_that_cannot_run_is_refused_with_its_place() {
    let syntax = refused("import http from 'k6/http';\nexport default function () {\n  http.get(;\n}\n");
    assert!(syntax.contains("error[K002]") && syntax.contains("load.js:3:12"), "{syntax}");
    let missing = refused("import { a } from './lib.js';\nexport default () => a();\n");
    assert!(missing.contains("error[K001]") && missing.contains("load.js:1:"), "{missing}");
    let browser = refused("import { browser } from 'k6/browser';\nexport default () => browser;\n");
    assert!(browser.contains("`k6/browser` is not supported") && browser.contains("load.js:1:"), "{browser}");
    let thrown = refused("const a = null;\n\nconst b = a.x;\nexport default () => b;\n");
    assert!(thrown.contains("error[K013]") && thrown.contains("load.js:3:11"), "{thrown}");
    let exec = refused(
        "export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', \
                        exec: 'nope' } } };\nexport default () => {};\n",
    );
    assert!(exec.contains("error[K105]") && exec.contains("`nope`"), "{exec}");
    let metric =
        refused("export const options = { thresholds: { nope: ['rate>1'] } };\nexport default () => {};\n");
    assert!(metric.contains("error[K106]") && metric.contains("`nope`"), "{metric}");
    let endless = refused("for (;;) {}\nexport default () => {};\n");
    assert!(endless.contains("endless loop"), "{endless}");
}

#[test]
fn an_unreachable_host_is_counted_and_the_script_goes_on() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "import http from 'k6/http';\nexport const options = { vus: 1, iterations: 3 };\n\
                  export default () => { http.get(`${__ENV.OTHER}/`); http.get(`${__ENV.BASE}/`); };";
    let file = scratch.file("load.js", script);
    let set = [format!("BASE={}", base(&server)), "OTHER=http://127.0.0.1:1".to_owned()];
    let output = Tool::run(&["run", &file, "--set", &set[0], "--set", &set[1], "--json"]).expect_code(99);
    assert_eq!(server.requests(), 3);
    assert!(output.stderr.contains("request failed: GET http://127.0.0.1:1/"), "{}", output.stderr);
}

#[test]
fn addresses_of_the_blacklist_are_not_reached() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "import http from 'k6/http';\n\
                  export const options = { blacklistIPs: ['10.0.0.0/8', __ENV.RANGE], iterations: 2 };\n\
                  export default () => { const r = http.get(`${__ENV.BASE}/`);\n\
                  console.log(r.status, r.error_code, r.error, r.remote_ip); };\n";
    let (file, base) = (scratch.file("load.js", script), format!("BASE={}", base(&server)));
    let output = Tool::run(&["run", &file, "--set", &base, "--set", "RANGE=127.0.0.0/8"]);
    let expected = "INFO 0 1110 the address `127.0.0.1` is in `127.0.0.0/8` of `blacklistIPs`";
    assert!(output.stderr.contains(expected), "{}", output.stderr);
    assert_eq!(server.requests(), 0);
    let output = Tool::run(&["run", &file, "--set", &base, "--set", "RANGE=127.1.0.0/16"]).expect_code(0);
    assert!(output.stderr.contains("INFO 200 0  127.0.0.1"), "{}", output.stderr);
    assert_eq!(server.requests(), 2);
}

#[test]
fn responses_have_the_address_and_the_tls_of_their_server() {
    let (pki, scratch) = (Pki::new("DNS:localhost"), Scratch::new());
    scratch.file("a.js", "");
    let ((certificate, key), folder) = (pki.server(), scratch.path(""));
    let words = [certificate.display().to_string(), key.display().to_string()];
    let server = Node::start_with("modules.mjs", &[&words[0], &words[1], &folder]);
    let script = "import http from 'k6/http';\n\
                  export const options = { tlsVersion: __ENV.VERSION, hosts: { 'a.localhost': '127.0.0.1' } };\n\
                  export default () => { const r = http.get(__ENV.URL);\n\
                  console.log(r.remote_ip, r.tls_version, r.tls_cipher_suite, r.ocsp.status); };\n";
    let (file, ca) = (scratch.file("load.js", script), pki.ca_file().display().to_string());
    let url = format!("URL=https://localhost:{}/a.js", server.address().port());
    for (version, expected) in [("tls1.2", "tls1.2 TLS_ECDHE_"), ("tls1.3", "tls1.3 TLS_AES_256_GCM_SHA384")]
    {
        let set = format!("VERSION={version}");
        let output = Tool::run(&["run", &file, "--ca", &ca, "--set", &url, "--set", &set, "-n", "1"]);
        let output = output.expect_code(0);
        let line = format!("INFO 127.0.0.1 {expected}");
        assert!(output.stderr.contains(&line) && output.stderr.contains(" unknown\n"), "{}", output.stderr);
    }
}

#[test]
fn k6_run_trusts_the_authorities_of_a_flag_or_of_ssl_cert_file() {
    let (pki, scratch) = (Pki::new("DNS:localhost"), Scratch::new());
    scratch.file("a.js", "");
    let ((certificate, key), folder) = (pki.server(), scratch.path(""));
    let words = [certificate.display().to_string(), key.display().to_string()];
    let server = Node::start_with("modules.mjs", &[&words[0], &words[1], &folder]);
    let script = "import http from 'k6/http';\nimport { check } from 'k6';\n\
                  export const options = { thresholds: { checks: ['rate==1'] } };\n\
                  export default () => { check(http.get(__ENV.URL), { found: r => r.status === 200 }); };\n";
    let (file, ca) = (scratch.file("load.js", script), pki.ca_file().display().to_string());
    let url = format!("URL=https://localhost:{}/a.js", server.address().port());
    let words = ["k6", "run", "-q", "--no-color", "-e", &url, &file];
    let with = |more: &[&str]| Tool::new(&[&words[..], more].concat());
    with(&[]).start().wait().expect_code(99);
    with(&["--ca", &ca]).start().wait().expect_code(0);
    with(&[]).env("SSL_CERT_FILE", &ca).start().wait().expect_code(0);
    // The flag has precedence, and a file that does not exist is named.
    let output = with(&["--ca", "none.pem"]).env("SSL_CERT_FILE", &ca).start().wait().expect_code(1);
    assert!(output.stderr.contains("cannot read `none.pem`"), "{}", output.stderr);
}
