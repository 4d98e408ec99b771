//! The life of a script: init, setup, iterations, teardown, and what they share.

use super::run::{factory, json, run, run_script, settings};

#[test]
fn passes_the_data_of_setup_to_all() {
    let body = "exports.setup = () => ({ n: 1, gone: undefined }); \
                exports.default = (data) => { data.n++; console.log(JSON.stringify(data), __VU, __ITER) }; \
                exports.teardown = (data) => console.log('end', JSON.stringify(data));";
    let trace = run(body, 2, settings(), |_| json(200, ""));
    assert_eq!(trace.console, ["info: {\"n\":2} 1 0", "info: {\"n\":3} 1 1", "info: end {\"n\":1}"]);
}

#[test]
fn gives_each_user_its_own_modules() {
    let body = "let count = 0; exports.default = () => { count++; console.log(__VU, count) }";
    let trace = run_script(body, 2, 2, settings(), |_| json(200, ""));
    assert_eq!(trace.console, ["info: 1 1", "info: 2 1", "info: 1 2", "info: 2 2"]);
}

#[test]
fn adds_values_to_metrics_with_tags() {
    let body = "const c = new m2.Counter('things'), t = new m2.Trend('time', true), r = new m2.Rate('good'); \
                exports.default = () => { c.add(2, { kind: 'a' }); t.add(1.5); r.add(true); r.add(0) }";
    let trace = run(body, 1, settings(), |_| json(200, ""));
    assert_eq!(trace.values["things kind=a"], [2.0]);
    assert_eq!(trace.values["time"], [1.5]);
    assert_eq!(trace.values["good"], [1.0, 0.0]);
}

#[test]
fn runs_asynchronous_functions_and_timers() {
    let body = "exports.default = async () => { \
                  setTimeout(() => console.log('late'), 50); \
                  const r = await m1.default.asyncRequest('GET', 'http://127.0.0.1:8080/'); \
                  console.log(r.status); \
                  await new Promise((done) => setTimeout(done, 10)); console.log('done') }";
    let mut own = settings();
    own.isolation = plimsoll_js::Isolation::Runtime;
    let trace = run(body, 1, own, |_| json(201, ""));
    assert_eq!(trace.console, ["info: 201", "info: done", "info: late"]);
    assert_eq!(trace.slept_ns, 50_000_000);
}

#[test]
fn shares_arrays_among_users() {
    let body = "const all = new m4.SharedArray('rows', () => [{ id: 1 }, { id: 2 }]); \
                exports.default = () => { console.log(all.length, all[1].id, all.map((one) => one.id).join()); \
                  try { all[0] = 1 } catch (e) { console.log(e.message) } }";
    let trace = run(body, 1, settings(), |_| json(200, ""));
    assert_eq!(trace.console, ["info: 2 2 1,2", "info: a SharedArray is read-only"]);
}

#[test]
fn ends_an_endless_iteration() {
    let body = "exports.default = () => { if (__ITER === 0) for (;;); console.log('next') }";
    let mut own = settings();
    own.budget = 50;
    let trace = run(body, 2, own, |_| json(200, ""));
    assert_eq!(
        trace.console,
        [
            "error: an endless loop: JavaScript ran too long without waiting\n    at <anonymous> (script.js:1:194)",
            "info: next"
        ]
    );
}

#[test]
fn refuses_requests_in_the_init_part() {
    let body = "try { m1.default.get('http://127.0.0.1:8080/') } catch (e) { console.log(e.message) } \
                exports.default = () => {}";
    let trace = run(body, 1, settings(), |_| json(200, ""));
    assert!(
        trace.console[0].contains("http requests cannot be called in the init part"),
        "{:?}",
        trace.console
    );
}

#[test]
fn opens_files_relative_to_the_module_that_is_evaluated() {
    let body = "const { note } = require('./lib/note.js'); const own = open('note.txt'); \
                exports.default = () => console.log(note, own)";
    assert_eq!(run(body, 1, settings(), |_| json(200, "{}")).console, ["info: inside outside"]);
}

#[test]
fn a_symbol_is_written_as_its_description() {
    let body = "exports.default = () => console.log(Symbol('s'), [Symbol('q')], { a: Symbol() })";
    let trace = run(body, 1, settings(), |_| json(200, ""));
    assert_eq!(trace.console, ["info: s [ \"q\" ] { a: \"\" }"]);
}

#[test]
fn the_stack_of_an_error_begins_with_its_message() {
    let body = "exports.default = () => { \
                  const e = new TypeError('no'); console.log(e.stack.split('\\n')[0]); \
                  const first = e.stack.split('\\n')[1]; \
                  console.log(/^ {4}at .*\\(script\\.js:\\d+:\\d+\\)$/.test(first), e.stack.includes('boot.js')); \
                  e.stack = 'mine'; console.log(e.stack) }";
    let trace = run(body, 1, settings(), |_| json(200, ""));
    assert_eq!(trace.console, ["info: TypeError: no", "info: true false", "info: mine"]);
    let body = "exports.default = () => { throw new TypeError('no') }";
    let trace = run(body, 1, settings(), |_| json(200, ""));
    assert_eq!(trace.console[0].matches("TypeError: no").count(), 1, "{:?}", trace.console);
}

#[test]
fn tags_of_a_user_can_be_listed_and_metadata_are_its_own() {
    let body = "const exec = m0.default, http = m1.default; exports.default = () => { \
          exec.vu.metrics.tags.mine = __VU; exec.vu.metrics.metadata['of' + __VU] = 1; \
          console.log(JSON.stringify(exec.vu.tags), JSON.stringify(exec.vu.metrics.metadata)); \
          console.log(Object.keys(http).includes('get'), Object.keys(exec).join()); \
          try { exec.vu.metrics.metadata.x = {}; } catch (e) { console.log(e.message); } }";
    let script = vec![factory(&["k6/execution", "k6/http"], body)];
    let trace = run_script(script, 2, 1, settings(), |_| json(200, ""));
    let of = |user: u32| {
        [
            format!(
                "info: {{\"group\":\"\",\"scenario\":\"default\",\"mine\":\"{user}\"}} {{\"of{user}\":\"1\"}}"
            ),
            "info: true scenario,instance,vu,test".to_owned(),
            "info: the metadata `x` must be a text, a number, or a boolean".to_owned(),
        ]
    };
    assert_eq!(trace.console, [of(1), of(2)].concat());
}
