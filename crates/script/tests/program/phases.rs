//! Setup, load, and teardown; data files that are read and written; repeatable runs.

use super::engine::{Engine, Served};
use super::plans::*;
use plimsoll_plan::answer::Statuses;
use plimsoll_plan::data::{AtEnd, Feeder, Format, OutFile, RowOrder, Sharing};
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::program::{Behavior, Phase};
use plimsoll_plan::script::{Ask, Delay, Entry, Node, Order, Script, Slot};
use plimsoll_plan::value::{Function, Placeholder};
use plimsoll_script::program::Stage;
use std::path::PathBuf;
use std::sync::Arc;

/// A path that no other test uses.
fn place(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("program");
    std::fs::create_dir_all(&folder).expect("the build directory is writable");
    let path = folder.join(name);
    // The file may exist from an earlier run of the tests.
    let _ = std::fs::remove_file(&path);
    path
}

fn phase(stage: &Arc<Stage>, phase: Phase, service: impl FnMut(&str) -> Served + 'static) -> Engine {
    Engine::new(stage.clone().factory(phase).expect("the files are there").programs().make(slot(0)), service)
}

fn feeder(path: PathBuf, share: Sharing, at_end: AtEnd) -> Feeder {
    Feeder {
        name: "people".into(),
        path,
        format: Format::Csv { delimiter: b',', header: None },
        columns: vec!["name".into()],
        share,
        order: RowOrder::Sequential,
        at_end,
        made_by_setup: false,
    }
}

fn greeting() -> Ask {
    let mut hello = ask("/hello");
    hello.path = around("/hello/", column(0, 0), "");
    hello
}

/// A setup that extracts `key`, a load that uses it, and a teardown that returns it.
fn keyed() -> Script {
    let mut make = ask("/make");
    make.extracts = vec![extract("key", "$.key", Slot::Global(0))];
    let mut using = ask("/use");
    using.path = around("/use/", Placeholder::Global(0), "");
    let mut give = ask("/give");
    give.path = around("/give/", Placeholder::Global(0), "");
    let mut script = script(vec![make, using, give], vec![Node::Ask(1)]);
    script.globals = vec!["key".into()];
    script.setup = vec![Node::Ask(0)];
    script.teardown = vec![Node::Ask(2)];
    script
}

#[test]
fn all_users_and_teardown_see_the_values_of_setup() {
    let stage = stage(keyed());
    assert!(stage.has(Phase::Setup) && stage.has(Phase::Load) && stage.has(Phase::Teardown));
    assert_eq!(stage.missing_globals(), ["key"]);
    phase(&stage, Phase::Setup, always(200, r#"{"key": "k1"}"#)).iterate();
    assert_eq!((stage.trouble(), stage.missing_globals()), (None, Vec::new()));
    let mut factory = stage.clone().factory(Phase::Load).expect("there are no files").programs();
    for number in 0..3 {
        let mut engine = Engine::new(factory.make(slot(number)), always(200, ""));
        engine.iterate();
        assert_eq!(engine.lines(), ["GET /use/k1"]);
    }
    let mut last = phase(&stage, Phase::Teardown, always(200, ""));
    last.iterate();
    assert_eq!(last.lines(), ["GET /give/k1"]);
}

#[test]
fn a_failed_setup_reports_the_reason() {
    type Service = fn(&str) -> Served;
    let cases: [(Service, &str); 4] = [
        (|_| Served::status(500), "expected `200-399`, found `500`"),
        (|_| Served::ok("{}"), "extract"),
        (|_| Served::fault(plimsoll_plan::Fault::Timeout), "timed out"),
        (|_| Served::ok("x").header("Content-Encoding", "gzip"), "cod"),
    ];
    for (service, part) in cases {
        let mut script = keyed();
        script.asks[0].checks = vec![];
        let stage = stage(script);
        let mut engine = phase(&stage, Phase::Setup, service);
        engine.iterate();
        let trouble = stage.trouble().expect("it has failed");
        assert!(trouble.starts_with("`/make`: "), "{trouble}");
        assert!(trouble.contains(part), "{trouble}");
    }
    // An error that the plan tolerates is not a failure.
    let mut script = keyed();
    script.asks[0].go_on_after_failure = true;
    let stage = stage(script);
    phase(&stage, Phase::Setup, always(500, "{}")).iterate();
    assert_eq!(stage.trouble(), None);
    assert_eq!(stage.missing_globals(), ["key"]);
}

#[test]
fn a_setup_that_needs_an_unset_variable_names_it() {
    let mut script = keyed();
    script.setup = vec![Node::Ask(2)];
    let stage = stage(script);
    phase(&stage, Phase::Setup, always(200, "")).iterate();
    let trouble = stage.trouble().expect("it has failed");
    assert!(trouble.contains("`/give`") && trouble.contains("`key`"), "{trouble}");
}

#[test]
fn users_get_rows_and_retire_when_none_is_left() {
    let path = place("three.csv");
    std::fs::write(&path, "name\nann\nbob\ncem\n").expect("the directory is writable");
    let mut script = script(vec![greeting(), ask("/bye")], vec![Node::Ask(0), Node::Ask(0), Node::Ask(1)]);
    script.feeders = vec![feeder(path, Sharing::Unique, AtEnd::Stop)];
    let stage = stage(script);
    let mut factory = stage.clone().factory(Phase::Load).expect("the file is there").programs();
    let mut users: Vec<Engine> =
        (0..2).map(|i| Engine::new(factory.make(slot(i)), always(200, ""))).collect();
    for turn in 0..4 {
        users[turn % 2].iterate();
    }
    let (ann, bob, cem) = ("GET /hello/ann", "GET /hello/bob", "GET /hello/cem");
    assert_eq!(users[0].lines(), [ann, ann, "GET /bye", cem, cem, "GET /bye"], "an iteration keeps its row");
    assert_eq!(users[1].lines(), [bob, bob, "GET /bye"]);
    assert_eq!((users[0].retired, users[1].retired), (false, true));
    assert_eq!(users[1].run_sum(RunSum::IterationsAbandoned), 0, "the end of the data is not a failure");
    users[1].iterate();
    assert_eq!(users[1].sent.len(), 3, "a retired user does nothing");
}

#[test]
fn a_user_retires_after_its_last_requests_end() {
    let path = place("one.csv");
    std::fs::write(&path, "name\nann\n").expect("the directory is writable");
    let branches = vec![vec![Node::Ask(1)], vec![think(1), Node::Ask(0)]];
    let mut script = script(vec![greeting(), ask("/slow")], vec![Node::Parallel(branches)]);
    script.feeders = vec![feeder(path, Sharing::Unique, AtEnd::Stop)];
    let stage = stage(script);
    let mut engine = Engine::new(user(&stage, 0), |_| Served::ok("").after(1_000));
    engine.iterate();
    assert!(!engine.retired);
    engine.begin();
    engine.run_until(engine.now_ns + 500);
    assert!(!engine.retired, "its request is still in flight");
    while engine.step() {}
    assert!(engine.retired);
}

#[test]
fn setup_can_write_the_data_file_of_the_load() {
    let path = place("made.csv");
    let mut made = feeder(path.clone(), Sharing::All, AtEnd::Recycle);
    made.made_by_setup = true;
    let mut script = script(vec![greeting()], vec![Node::Ask(0)]);
    script.feeders = vec![made];
    script.files = vec![OutFile { path, columns: vec!["name".into()], anew: false }];
    let row = Node::Append { file: 0, columns: vec![text("a \"quoted\", name\nof two lines")] };
    let plain = Node::Append { file: 0, columns: vec![text("bob")] };
    script.setup = vec![plain, row];
    let stage = stage(script);
    phase(&stage, Phase::Setup, always(200, "")).iterate();
    // The second row is not allowed in a path, but it was read back whole.
    let mut engine = phase(&stage, Phase::Load, always(200, ""));
    engine.iterations(2);
    assert_eq!(engine.lines(), ["GET /hello/bob"]);
    assert_eq!(engine.samples[0].check, "unfilled");
}

#[test]
fn teardown_runs_even_if_setup_did_not_write_its_file() {
    let mut made = feeder(place("never.csv"), Sharing::All, AtEnd::Recycle);
    made.made_by_setup = true;
    let mut script = script(vec![greeting(), ask("/tidy")], vec![Node::Ask(0)]);
    script.feeders = vec![made];
    script.teardown = vec![Node::Ask(1)];
    let stage = stage(script);
    let error = stage.clone().factory(Phase::Load).err().expect("the load needs the file").to_string();
    assert!(error.contains("never.csv"), "{error}");
    let mut engine = phase(&stage, Phase::Teardown, always(200, ""));
    engine.iterate();
    assert_eq!(engine.lines(), ["GET /tidy"]);
}

#[test]
fn rows_are_appended_after_one_line_of_names() {
    let path = place("out.csv");
    let file = OutFile { path: path.clone(), columns: vec!["user".into(), "the id".into()], anew: false };
    let row = |value: &str| {
        let user = around("", Placeholder::Call(Function::User), "");
        let mut script = script(Vec::new(), vec![Node::Append { file: 0, columns: vec![user, text(value)] }]);
        script.files = vec![file.clone()];
        let stage = stage(script);
        let mut engine = Engine::new(user_of(&stage), always(200, ""));
        engine.iterate();
        assert_eq!(engine.run_sum(RunSum::RowsNotWritten), 0);
        stage.close().expect("there is room on the disk");
    };
    row("7");
    row("say \"hi\", you");
    row("");
    let written = std::fs::read_to_string(&path).expect("the file was made");
    assert_eq!(written, "user,the id\r\n3,7\r\n3,\"say \"\"hi\"\", you\"\r\n3,\"\"\r\n");
    // An editor removed the last line end.
    std::fs::write(&path, "user,the id\n1,2").expect("the directory is writable");
    row("9");
    assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "user,the id\n1,2\r\n3,9\r\n");
    std::fs::write(&path, "user,name\n1,2\n").expect("the directory is writable");
    let mut other = script(Vec::new(), Vec::new());
    other.files = vec![file.clone()];
    let sentence = refused(other);
    assert!(sentence.contains("begins with `user,name` instead of `user,the id`"), "{sentence}");
}

fn user_of(stage: &Arc<Stage>) -> Box<dyn plimsoll_plan::program::Program> {
    user(stage, 2)
}

#[test]
fn a_file_that_cannot_be_written_is_named_before_the_load() {
    // On this device, every write fails for lack of space.
    let file = OutFile { path: "/dev/full".into(), columns: vec!["a".into()], anew: false };
    let mut script = script(Vec::new(), vec![Node::Append { file: 0, columns: vec![text("x")] }]);
    script.files = vec![file];
    let stage = stage(script);
    let refused = stage
        .clone()
        .factory(Phase::Load)
        .err()
        .expect("not even the line of names can be written")
        .to_string();
    assert!(refused.contains("`/dev/full`"), "{refused}");
}

#[test]
fn the_same_seed_sends_the_same_bytes_and_users_differ() {
    let mut varied = ask("/");
    varied.path = around("/", Placeholder::Call(Function::Uuid), "");
    let delay = Node::Think(Delay::Exponential { mean_ns: 1_000_000 });
    let ways = vec![(1.0, vec![Node::Ask(0), delay]), (2.0, vec![Node::Ask(1), Node::Ask(0)])];
    let script = script(vec![varied, ask("/b")], vec![one_of(ways, Order::Random)]);
    let run = |seed: u64, number: u32| {
        let mut plan = plan_of(script.clone(), Entry::Scenario(0));
        plan.outline.seed = seed;
        let stage = Stage::new(&plan).expect("the script can be run");
        let mut engine = Engine::new(user(&stage, number), always(200, ""));
        engine.iterations(50);
        engine.sent
    };
    assert_eq!(run(1, 0), run(1, 0));
    assert_ne!(run(1, 0), run(1, 1), "another user");
    assert_ne!(run(1, 0), run(2, 0), "another seed");
}

#[test]
fn users_are_numbered_over_all_workloads_and_iterations_per_user() {
    let mut numbered = ask("/");
    numbered.path = around("/", Placeholder::Call(Function::User), "/");
    numbered.path.parts.extend(around("", Placeholder::Call(Function::Iteration), "").parts);
    let mut plan = plan_of(script(vec![numbered], vec![Node::Ask(0)]), Entry::Scenario(0));
    plan.entries.push(Entry::Scenario(0));
    plan.outline.workloads.push(plan.outline.workloads[0].clone());
    let stage = Stage::new(&plan).expect("the script can be run");
    let mut factory = stage.clone().factory(Phase::Load).expect("there are no files").programs();
    for (workload, expected) in [(0, "GET /3/1"), (1, "GET /7/1")] {
        let slot = plimsoll_plan::program::UserSlot { workload, ..slot(2) };
        let mut engine = Engine::new(factory.make(slot), always(200, ""));
        engine.iterations(2);
        assert_eq!(engine.lines()[0], expected, "the first workload has four users");
        assert!(engine.lines()[1].ends_with("/2"));
    }
}

#[test]
fn an_invalid_reference_is_rejected_with_a_message() {
    let with = |change: fn(&mut Script)| {
        let mut script = script(vec![ask("/")], vec![Node::Ask(0)]);
        change(&mut script);
        refused(script)
    };
    type Change = fn(&mut Script);
    let cases: [(Change, &str); 9] = [
        (|s| s.scenarios[0].nodes = vec![Node::Ask(5)], "request 5"),
        (|s| s.scenarios[0].nodes = vec![Node::Group { group: 2, nodes: Vec::new() }], "group 2"),
        (|s| s.scenarios[0].nodes = vec![Node::Append { file: 1, columns: vec![text("")] }], "file 1"),
        (|s| s.scenarios[0].nodes = vec![Node::Set(vec![(Slot::Var(9), text(""))])], "variable 9"),
        (|s| s.scenarios[0].nodes = vec![Node::Set(vec![(Slot::Global(0), text(""))])], "only setup may"),
        (|s| s.asks[0].path = var(9), "variable 9"),
        (|s| s.asks[0].body = Some(around("", column(0, 0), "")), "feeder 0"),
        (|s| s.asks[0].checks = vec![equals("$[", "1")], "$["),
        (|s| s.scenarios.clear(), "scenario 0"),
    ];
    for (change, part) in cases {
        let sentence = with(change);
        assert!(sentence.contains(part), "{sentence}");
    }
}

#[test]
fn an_expected_status_of_setup_is_reported_as_written() {
    let mut script = keyed();
    script.asks[0].expect = Some(Statuses::parse("201").expect("a status"));
    let stage = stage(script);
    phase(&stage, Phase::Setup, always(200, r#"{"key": 1}"#)).iterate();
    assert!(stage.trouble().is_some_and(|t| t.contains("expected `201`, found `200`")));
}

#[test]
fn a_failed_teardown_reports_its_own_reason_only() {
    let stage = stage(keyed());
    phase(&stage, Phase::Setup, always(500, "")).iterate();
    assert!(stage.trouble().is_some_and(|why| why.starts_with("`/make`: ")), "{:?}", stage.trouble());
    phase(&stage, Phase::Setup, always(200, r#"{"key": "k1"}"#)).iterate();
    assert_eq!(stage.trouble(), None);
    phase(&stage, Phase::Teardown, always(404, "")).iterate();
    let trouble = stage.trouble().expect("it has failed");
    assert_eq!(trouble, "`/give`: http_status: expected `200-399`, found `404`");
    assert!(!stage.is_through());
}

#[test]
fn a_setup_that_is_denied_a_request_is_incomplete() {
    let mut script = keyed();
    script.setup = vec![Node::Ask(0), Node::Ask(0)];
    let stage = stage(script);
    let mut engine = phase(&stage, Phase::Setup, always(200, r#"{"key": "k1"}"#));
    // The engine sends the first and never resumes the program, as at the limit on requests.
    engine.begin();
    assert!(!stage.is_through());
    while engine.step() {}
    assert!(stage.is_through());
    // The next phase starts over.
    let mut last = phase(&stage, Phase::Teardown, always(200, ""));
    assert!(!stage.is_through());
    last.iterate();
    assert!(stage.is_through());
}
