//! Command lines of k6 and JMeter with agents: the same words, with `--agents`.

use super::server::{Server, ends};
use crate::support::{Ruler, Scratch, Tool, jmx};
use serde_json::Value;

const SCRIPT: &str = "
import http from 'k6/http';
import exec from 'k6/execution';
import { check, sleep } from 'k6';
import { Gauge } from 'k6/metrics';
export const options = {
  scenarios: { one: { executor: 'shared-iterations', vus: 4, iterations: 40 } },
  thresholds: { checks: ['rate==1'], http_reqs: ['count==40'] },
};
const own = new Gauge('own');
export function setup() { return { key: __ENV.KEY }; }
export default function (data) {
  own.add(1);
  const res = http.get(`${__ENV.BASE}item/${data.key}?n=${exec.scenario.iterationInTest}`);
  check(res, { 'has the key': () => data.key === 'k1' });
  // Users are counted in each whole second.
  sleep(0.2);
}
export function teardown(data) { http.get(`${__ENV.BASE}end/${data.key}`); }
export function handleSummary(data) {
  return {
    stdout: 'requests ' + data.metrics.http_reqs.values.count + '\\n',
    'summary.json': JSON.stringify(data),
  };
}
";

#[test]
fn k6_run_with_agents_prints_one_summary_and_exits_with_the_codes_of_k6() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let script = scratch.file("a.js", SCRIPT);
    let base = format!("BASE={}", ruler.url("/"));
    let run = |more: &[&str]| {
        let words = ["k6", "run", "-e", &base, "-e", "KEY=k1", "--agents", "local:2", "--no-color"];
        Tool::new(&[&words[..], more, &[&script]].concat()).folder(scratch.folder()).start().wait()
    };
    let (exported, saved) = (scratch.path("export.json"), scratch.path("run.plim"));
    let output = run(&["--summary-export", &exported, "--save", &saved]).expect_code(0);
    assert_eq!(output.stdout, "requests 40\n", "{}", output.stderr);
    assert_eq!(ruler.requests(), 41, "and one teardown");
    let read =
        |path: &str| -> Value { serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap() };
    let data = read(&scratch.path("summary.json"));
    assert_eq!(data["setup_data"]["key"], "k1");
    assert_eq!(data["metrics"]["checks"]["values"]["passes"], 40);
    assert_eq!(data["metrics"]["vus_max"]["values"]["value"], 4, "of both agents");
    assert_eq!(read(&exported)["metrics"]["http_reqs"]["count"], 40);
    let report = Tool::run(&["report", &saved, "--json"]).json();
    assert_eq!(report["generators"].as_array().map(Vec::len), Some(2));

    // A threshold on the sum, which no agent alone could judge.
    let output = run(&["-e", "KEY=k2", "--summary-mode", "full"]).expect_code(99);
    assert_eq!(output.stdout, "requests 40\n");
}

#[test]
fn a_lost_agent_is_an_exit_code_of_k6_and_jmeter_too() {
    let (ruler, server, scratch) = (Ruler::start(&[]), Server::start(), Scratch::new());
    let script = scratch.file(
        "a.js",
        &format!(
            "import http from 'k6/http';\n\
             export const options = {{ vus: 2, duration: '4s', thresholds: {{ http_reqs: ['count>=1'] }} }};\n\
             export default () => {{ http.get('{}'); }};\n",
            ruler.url("/?delay=10ms")
        ),
    );
    let lines = "
TestPlan p
  ConfigTestElement defaults | domain=HOST | port=PORT
  ThreadGroup Users | threads=2 | loops=300
    HTTPSamplerProxy page | path=/?delay=10ms
";
    let text = jmx::plan(lines).replace("HOST", "127.0.0.1").replace("PORT", &ruler.port().to_string());
    let plan = scratch.file("a.jmx", &text);
    for words in [&["k6", "run", &script][..], &["jmeter", "-n", "-t", &plan]] {
        let (first, second) = (server.agent("a", &[]), server.agent("b", &[]));
        server.wait_for(2);
        let before = ruler.requests();
        let running = Tool::new(&[words, &["--nats", &server.url(), "--agents", "a,b"]].concat()).start();
        ruler.wait_for_requests(before + 50);
        second.signal("KILL");
        let output = running.wait();
        assert_eq!(output.code, 3, "{words:?}: {}", output.stderr);
        assert!(output.stderr.contains("agent `b`"), "{words:?}: {}", output.stderr);
        assert_eq!(ends(first).code, 0);
        drop(second);
    }
}

#[test]
fn agents_divide_the_users_of_an_arrival_rate() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let script = scratch.file(
        "a.js",
        &format!(
            "import http from 'k6/http';\nexport const options = {{ scenarios: {{ one: {{\n  \
             executor: 'constant-arrival-rate', rate: 100, duration: '3s', preAllocatedVUs: 4, maxVUs: 6 }} }} }};\n\
             export default () => {{ http.get('{}'); }};\n\
             export const handleSummary = (data) => ({{ stdout: `${{data.metrics.vus_max.values.value}}\\n` }});\n",
            ruler.url("/?delay=400ms")
        ),
    );
    let output = Tool::run(&["k6", "run", "--agents", "local:2", &script]);
    assert_eq!(output.stdout, "6\n", "{}", output.stderr);
    // Six users send at most six requests in 400 ms.
    assert!(ruler.requests() <= 54, "{}", ruler.requests());
}

#[test]
fn a_script_that_ends_the_test_on_one_agent_ends_it_on_all() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let script = |name: &str, body: &str, more: &str| {
        let text = format!(
            "import http from 'k6/http';\nimport exec from 'k6/execution';\n\
             export const options = {{ vus: 4, duration: '60s' }};\n{more}\n\
             export default function () {{\n  http.get('{}');\n  {body}\n}}\n",
            ruler.url("/?delay=20ms")
        );
        scratch.file(name, &text)
    };
    let run = |file: &str| Tool::run(&["k6", "run", "--agents", "local:2", file]);
    // Only the first agent has user 1, and its teardown must not wait for the others' end.
    let ending =
        "if (exec.vu.idInTest === 1 && exec.vu.iterationInInstance === 20) exec.test.abort('enough');";
    let teardown = format!("export function teardown() {{ http.get('{}'); }}", ruler.url("/end"));
    let output = run(&script("abort.js", ending, &teardown)).expect_code(108);
    assert!(output.stderr.contains("has ended the test"), "{}", output.stderr);
    assert!(output.stderr.contains("enough"), "{}", output.stderr);
    let before = ruler.requests();
    assert!(before < 1_000, "{before} requests");
    let throwing = "export function setup() { throw new Error('no data'); }";
    let output = run(&script("setup.js", "", throwing)).expect_code(107);
    assert!(output.stderr.contains("no data"), "{}", output.stderr);
    assert_eq!(ruler.requests(), before);
    // `plimsoll run` has the same codes.
    Tool::run(&["run", &script("run.js", ending, ""), "--agents", "local:2"]).expect_code(108);
}

#[test]
fn what_agents_cannot_report_to_k6_and_jmeter_is_refused_by_name() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let script = scratch.file(
        "a.js",
        &format!(
            "import http from 'k6/http';\n\
        export default () => {{ http.get('{}'); }};\n",
            ruler.url("/")
        ),
    );
    let plan = scratch.file("a.jmx", &jmeter_plan(&ruler));
    let listener = "    ResultCollector listener | filename=r.csv | save:timestamp,label\n";
    let writer = scratch.file("b.jmx", &jmeter_plan_with(&ruler, listener));
    let json = format!("json={}", scratch.path("o.json"));
    let cases: [(&[&str], &str); 7] = [
        (&["jmeter", "-n", "-t", &writer], "`listener` writes `r.csv` on each agent"),
        (&["run", &writer], "`listener` writes `r.csv` on each agent"),
        (&["k6", "run", "--out", &json, &script], "contains every sample"),
        (&["k6", "run", "--console-output", "c.log", &script], "on the machines of the agents"),
        (&["k6", "run", "-"], "standard input"),
        (&["run", "-"], "standard input"),
        (&["k6", "run", "--on-agent-loss", "stop", "--agents=0", &script], "invalid agents `0`"),
    ];
    for (words, said) in cases {
        let words = if words.iter().any(|word| word.starts_with("--agents")) {
            words.to_vec()
        } else {
            [words, &["--agents", "local:2"][..]].concat()
        };
        let output = Tool::run(&words).expect_code(2);
        assert!(output.stderr.contains(said), "{words:?}: {}", output.stderr);
    }
    let output = Tool::run(&["k6", "run", "--nats", "nats://127.0.0.1:1", &script]).expect_code(2);
    assert!(output.stderr.contains("has no effect without `--agents`"), "{}", output.stderr);
    let output = Tool::run(&["jmeter", "-n", "-t", &plan, "-R", "a,b"]).expect_code(2);
    assert!(output.stderr.contains("--agents 2"), "{}", output.stderr);
    assert_eq!(ruler.requests(), 0);
}

fn jmeter_plan(ruler: &Ruler) -> String {
    jmeter_plan_with(ruler, "")
}

fn jmeter_plan_with(ruler: &Ruler, more: &str) -> String {
    let lines = "
TestPlan p
  ConfigTestElement defaults | domain=HOST | port=PORT
  ThreadGroup Users | threads=${__P(threads,1)} | loops=5
    HTTPSamplerProxy page | path=/page?key=${__env(KEY,,none)}
    HTTPSamplerProxy late | path=/late?status=503
";
    jmx::plan(&format!("{lines}{more}"))
        .replace("HOST", "127.0.0.1")
        .replace("PORT", &ruler.port().to_string())
}

#[test]
fn jmeter_with_agents_shares_the_threads_and_sums_up_the_requests() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let plan = scratch.file("a.jmx", &jmeter_plan(&ruler));
    let properties = scratch.file("own.properties", "threads=4\n");
    let (saved, log) = (scratch.path("run.plim"), scratch.path("j.log"));
    let words = ["jmeter", "-n", "-t", &plan, "-q", &properties, "-j", &log, "--agents", "local:2"];
    let words = [&words[..], &["--save", &saved]].concat();
    let output = Tool::new(&words).env("KEY", "from-here").start().wait().expect_code(0);
    assert_eq!(ruler.requests(), 40);
    assert!(output.stdout.contains("summary =     40 in "), "{}", output.stdout);
    assert!(output.stdout.contains(" Err:    20 (50.00%)"), "{}", output.stdout);
    assert!(std::fs::read_to_string(&log).unwrap().contains("summary = "));
    assert!(ruler.last_request().contains("/late") || ruler.last_request().contains("key=from-here"));
    let report = Tool::run(&["report", &saved, "--json"]).json();
    assert_eq!(report["generators"].as_array().map(Vec::len), Some(2));
    Tool::run(&[&words[..9], &["local:2", "--verdict"]].concat()).expect_code(99);
}

#[test]
fn the_results_of_jmeter_have_the_samples_of_all_agents() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let plan = scratch.file("a.jmx", &jmeter_plan(&ruler));
    let run = |results: &str, more: &[&str]| {
        let words = ["jmeter", "-n", "-t", &plan, "-Jthreads=4", "--agents", "local:2", "-l", results];
        Tool::run(&[&words[..], more].concat()).expect_code(0)
    };
    let (results, report) = (scratch.path("r.jtl"), scratch.path("report"));
    let output = run(&results, &["-e", "-o", &report]);
    assert!(output.stdout.contains("summary =     40 in "), "{}", output.stdout);
    assert!(output.stdout.contains(" Err:    20 (50.00%)"), "{}", output.stdout);
    let text = std::fs::read_to_string(&results).unwrap();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("timeStamp,elapsed,label,"), "{text}");
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let of = |label: &str, success: &str| {
        rows.iter().filter(|row| row[2] == label && row.contains(&success)).count()
    };
    assert_eq!((rows.len(), of("page", "true"), of("late", "false")), (40, 20, 20), "{text}");
    let threads: std::collections::BTreeSet<&str> = rows.iter().map(|row| row[5]).collect();
    assert_eq!(threads.len(), 4, "{threads:?}");
    let table = std::fs::read_to_string(format!("{report}/statistics.json")).unwrap();
    let table: Value = serde_json::from_str(&table).unwrap();
    assert_eq!(table["Total"]["sampleCount"], 40);
    let xml = scratch.path("r.xml");
    run(&xml, &["-Jjmeter.save.saveservice.output_format=xml"]);
    let text = std::fs::read_to_string(&xml).unwrap();
    assert_eq!(
        (text.matches("<httpSample ").count(), text.matches("</testResults>").count()),
        (40, 1),
        "{text}"
    );
    assert_eq!(ruler.requests(), 80);
}

#[test]
fn variables_of_the_coordinator_reach_the_agents_and_nothing_shows_them() {
    let (ruler, server, scratch) = (Ruler::start(&[]), Server::start(), Scratch::new());
    let words = ["agent", "--nats", &server.url(), "--name", "a"];
    // What only the agent has is not for the load.
    let agent = Tool::new(&words).env("TOKEN", "of-the-agent").env("ONLY_HERE", "1").start();
    server.wait_for(1);
    let target = ruler.url("").trim_end_matches('/').to_owned();
    let yaml = scratch.file(
        "a.yaml",
        &format!(
            "target: {target}\nscenarios:\n  s:\n    - get: /a\n      headers: {{ x-token: \"${{secret.TOKEN}}\" }}\n\
             load: {{ users: 1, iterations: 3 }}\n"
        ),
    );
    let script = scratch.file(
        "a.js",
        &format!(
            "import http from 'k6/http';\nexport default function () {{\n  \
             http.get('{target}/a', {{ headers: {{ 'x-token': __ENV.TOKEN, \
             'x-own': `${{__ENV.ONLY_HERE}}` }} }});\n}}\n"
        ),
    );
    for (number, words) in [["run", &yaml].to_vec(), ["k6", "run", &script].to_vec()].iter().enumerate() {
        let saved = scratch.path(&format!("{number}.plim"));
        let flag = if words[0] == "k6" { "--save" } else { "--out" };
        let more = ["--nats", &server.url(), "--agents", "a", flag, &saved];
        let output = Tool::new(&[&words[..], &more].concat()).env("TOKEN", "s3cret-value").start().wait();
        let output = output.expect_code(0);
        let request = ruler.last_request();
        assert!(request.contains("x-token: s3cret-value"), "{request}");
        assert!(!request.contains("x-own: 1"), "{request}");
        let record = std::fs::read(&saved).unwrap();
        let needle = b"s3cret-value";
        assert!(!record.windows(needle.len()).any(|window| window == needle), "the record shows the secret");
        assert!(!output.stderr.contains("s3cret-value") && !output.stdout.contains("s3cret-value"));
    }
    let output = ends(agent);
    assert!(!output.stderr.contains("s3cret-value"), "{}", output.stderr);
}
