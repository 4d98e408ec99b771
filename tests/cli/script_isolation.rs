//! Users of a script share a runtime, but not callbacks, changes of global objects, or endless loops.

use crate::support::{Ruler, Scratch, Tool};

#[test]
fn users_of_an_asynchronous_script_share_global_objects_but_no_callbacks() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "\
import http from 'k6/http';
import { check } from 'k6';
export const options = { vus: 60, iterations: 600, thresholds: { checks: ['rate==1'] } };
export default async function () {
  const own = `${__VU}/${__ITER}`;
  let log = '';
  const step = (name) => { log += `${__VU}/${__ITER}` === own ? name : `${name} as ${__VU}/${__ITER}, not ${own} `; };
  const get = () => http.get(`${__ENV.BASE}/page`);
  const chain = Promise.resolve().then(() => step('b')).then(() => { get(); step('e'); });
  queueMicrotask(() => step('c'));
  get();
  step('a');
  await null;
  step('d');
  const [response] = await Promise.all([http.asyncRequest('GET', `${__ENV.BASE}/other`), chain]);
  step(response.status);
  check(log, { 'each callback ran once, as its user, in order': (text) => text === 'abcde200' });
}
";
    let file = scratch.file("load.js", script);
    let set = format!("BASE={}", server.url(""));
    let checked = Tool::run(&["check", &file]).expect_code(0);
    assert!(checked.stdout.contains("users share global objects"), "{}", checked.stdout);
    let output = Tool::run(&["k6", "run", "-q", "--no-color", "-e", &set, &file]);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    assert_eq!(server.requests(), 1_800);
}

#[test]
fn a_change_of_shared_objects_that_the_source_hides_ends_the_test() {
    let scratch = Scratch::new();
    let run = |name: &str, text: &str| {
        let file = scratch.file(
            name,
            &format!("import {{ Trend }} from 'k6/metrics';\nconst trend = new Trend('t');\n{text}"),
        );
        Tool::run(&["k6", "run", "-q", "--no-color", "-u", "5", "-i", "50", &file])
    };
    let hidden = "const of = (one) => one['construct' + 'or']['proto' + 'type'];\n";
    for (change, named) in [
        ("of([]).extra = __VU;", "`Array.prototype.extra`"),
        ("({})['__pro' + 'to__'].toString = () => 'x';", "`Object.prototype.toString`"),
        ("delete of('').at;", "`String.prototype.at`"),
        ("of(async () => {}).a = 1;", "a`"),
        ("of(trend).add = () => {};", "Trend.prototype.add`"),
    ] {
        let inside = run("inside.js", &format!("{hidden}export default () => {{ {change} }};\n"));
        assert_eq!(inside.code, 108, "{change}: {}", inside.stderr);
        assert!(
            inside.stderr.contains(named) && inside.stderr.contains("which users share"),
            "{}",
            inside.stderr
        );
        let apart = run("apart.js", &format!("{hidden}globalThis;\nexport default () => {{ {change} }};\n"));
        assert_eq!(apart.code, 0, "{change}: {}", apart.stderr);
        let own =
            "const own = { a: [1] }; own.a.b = 2; class A { static n = 0; } A.n++; trend.add(own.a.at(-1));";
        let kept = run(
            "kept.js",
            &format!("{hidden}export default async () => {{ {own} new URL('http://a/'); }};\n"),
        );
        assert_eq!(kept.code, 0, "{}", kept.stderr);
    }
    let init = run("init.js", &format!("{hidden}of([]).extra = 1;\nexport default () => {{}};\n"));
    assert_eq!(init.code, 108, "{}", init.stderr);
}

#[test]
fn endless_loops_and_mistakes_in_options_are_named_with_their_place() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let script = "import http from 'k6/http';\n\
        export const options = { scenarios: {\n\
        bad: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'bad' },\n\
        good: { executor: 'per-vu-iterations', vus: 2, iterations: 5, exec: 'good' } } };\n\
        export function bad() {\n  for (;;) {}\n}\n\
        export function good() { http.get(`${__ENV.BASE}/`); }\n";
    let file = scratch.file("load.js", script);
    let set = format!("BASE={}", server.url(""));
    let output = Tool::run(&["k6", "run", "-q", "--no-color", "-e", &set, &file]).expect_code(99);
    let named = "an endless loop: JavaScript ran too long without waiting\\n    at bad (load.js:5:8)";
    assert!(output.stderr.contains(named), "{}", output.stderr);
    assert_eq!(server.requests(), 10, "the other users continue");

    let setup = "export const options = { setupTimeout: '1s' };\nexport function setup() { for (;;) {} }\n\
        export default () => {};\n";
    let output =
        Tool::run(&["k6", "run", "-q", "--no-color", &scratch.file("setup.js", setup)]).expect_code(100);
    assert!(output.stderr.contains("at setup (setup.js:2:"), "{}", output.stderr);

    let exec = "export const options = { scenarios: {\n  a: { executor: 'shared-iterations', exec: 'nope' } } };\n\
        export default () => {};\n";
    let output = Tool::run(&["k6", "run", &scratch.file("exec.js", exec)]).expect_code(104);
    assert!(output.stderr.contains("exec.js:2:46"), "{}", output.stderr);
    let metric =
        "export const options = { thresholds: {\n  none: ['count>1'] } };\nexport default () => {};\n";
    let output = Tool::run(&["k6", "run", &scratch.file("metric.js", metric)]).expect_code(104);
    assert!(output.stderr.contains("metric.js:2:3"), "{}", output.stderr);
}

#[test]
fn each_scenario_has_its_environment_and_each_user_what_it_changes_there() {
    let scratch = Scratch::new();
    let scenarios = "import { check } from 'k6';\nimport exec from 'k6/execution';\n\
        const one = { executor: 'per-vu-iterations', vus: 3, iterations: 2 };\n\
        export const options = { thresholds: { checks: ['rate==1'], iterations: ['count==18'] }, scenarios: {\n\
        a: { ...one, env: { WHO: 'a' } }, b: { ...one, env: { WHO: 'b' } }, c: one } };\n\
        const who = { a: 'a', b: 'b', c: 'all' };\nlet n = 0;\n";
    let run = |name: &str, condition: &str| {
        let body = format!("check(null, {{ own: () => {condition} }});");
        let file = scratch.file(name, &format!("{scenarios}export default () => {{ {body} }};\n"));
        Tool::run(&["k6", "run", "-q", "--no-color", "-e", "WHO=all", &file]).expect_code(0)
    };
    run("read.js", "__ENV.WHO === who[exec.scenario.name]");
    run("write.js", "(__ENV.N = Number(__ENV.N ?? 0) + 1) === ++n && __ENV.WHO === who[exec.scenario.name]");
}
