//! Sealing a script: the resulting plan, and the scripts that it rejects, whether from a file or from code.

use plimsoll_plan::answer::{Check, Extract, Pick, Source, Statuses, Subject};
use plimsoll_plan::delivery::Delivery;
use plimsoll_plan::draft::{Draft, LoadDraft, WorkloadDraft};
use plimsoll_plan::link::Http;
use plimsoll_plan::load::{Load, Profile};
use plimsoll_plan::request::Target;
use plimsoll_plan::script::{Ask, Entry, Node, Order, Scenario, Script, Slot};
use plimsoll_plan::seal::{Machine, names::describe, seal};
use plimsoll_plan::value::{Alphabet, Escape, Function, Part, Placeholder, Secret, Text, TimeFormat};
use plimsoll_plan::{Plan, load::stages};

fn ask(scenario: Option<u16>) -> Ask {
    Ask {
        origin: 0,
        name: "one".into(),
        scenario,
        group: None,
        tags: Vec::new(),
        method: "GET".into(),
        path: Text::literal("/a"),
        headers: Vec::new(),
        body: None,
        timeout_ns: None,
        redirects: 0,
        expect: None,
        checks: Vec::new(),
        extracts: Vec::new(),
        go_on_after_failure: false,
        stream: None,
        websocket: None,
        grpc: None,
    }
}

fn draft(asks: Vec<Ask>) -> Draft {
    let scenario = Scenario { name: "s".into(), nodes: vec![Node::Ask(0)], pace: None };
    Draft {
        target: Some(Target { host: "h".into(), port: 80, tls: false }),
        script: Some(Script { asks, scenarios: vec![scenario], ..Script::default() }),
        entry: Some(Entry::Scenario(0)),
        ..Draft::default()
    }
}

fn sealed(draft: Draft) -> Result<Plan, Vec<&'static str>> {
    seal(draft, Machine { cpus: 2, seed: 7 }).map_err(|all| all.iter().map(|d| d.code).collect())
}

fn workload(name: &str, start_ns: u64) -> WorkloadDraft {
    WorkloadDraft {
        name: name.into(),
        entry: Entry::Scenario(0),
        load: LoadDraft { users: Some(5), duration_ns: Some(10_000_000_000), ..LoadDraft::default() },
        start_ns,
    }
}

#[test]
fn a_script_has_series_for_requests_checks_and_extractions() {
    let mut one = ask(Some(0));
    let on = Subject::Status(Statuses::parse("200").unwrap());
    one.checks.push(Check { name: "is fine".into(), on });
    let (into, from) = (Slot::Var(0), Source::Body);
    one.extracts.push(Extract { into, name: "all".into(), from, pick: Pick::First, default: None });
    let plan = sealed(draft(vec![one, ask(None)])).unwrap();
    let names: Vec<(&str, u32)> = plan.outline.checks.iter().map(|c| (c.name.as_str(), c.request)).collect();
    assert_eq!(names, [("is fine", 0), ("extract all", 0)]);
    assert_eq!(plan.outline.requests.iter().map(|r| r.is_outside_load).collect::<Vec<_>>(), [false, true]);
    assert_eq!(plan.outline.requests[0].scenario.as_deref(), Some("s"));
    assert_eq!(plan.outline.workloads.len(), 1);
}

#[test]
fn requests_of_a_script_are_validated_like_plain_requests() {
    let header = |name: &str, value: &str| (name.to_owned(), Text::literal(value));
    let hole = Text { parts: vec![Part::Placeholder(Placeholder::Var(0), Escape::None)] };
    for (change, code) in [
        (&(|a: &mut Ask| a.method = "A B".into()) as &dyn Fn(&mut Ask), "P013"),
        (&|a| a.method = "connect".into(), "P013"),
        (&|a| a.headers.push(header("A B", "c")), "P014"),
        (&|a| a.headers.push(header("A", "b\r\nC: d")), "P014"),
        (&|a| a.headers.push(header("content-length", "0")), "P017"),
        (&|a| a.headers.push(("Content-Length".into(), hole.clone())), "P017"),
        (&|a| a.headers.push(header("Transfer-Encoding", "chunked")), "P018"),
    ] {
        let mut one = ask(Some(0));
        change(&mut one);
        assert_eq!(sealed(draft(vec![one])).unwrap_err(), [code]);
    }
    // A script whose only requests are in setup has no load.
    assert_eq!(sealed(draft(vec![ask(None)])).unwrap_err(), ["P012"]);
}

#[test]
fn weights_must_be_positive_and_entries_must_exist() {
    let with_entry = |entry| sealed(Draft { entry: Some(entry), ..draft(vec![ask(Some(0))]) });
    assert!(with_entry(Entry::Scenario(0)).is_ok());
    assert_eq!(with_entry(Entry::Scenario(1)).unwrap_err(), ["P022"]);
    let mix = |weight| Entry::Mix { ways: vec![(0, weight)], order: Order::Random };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(with_entry(mix(bad)).unwrap_err(), ["P023"], "{bad}");
    }
    let mut chosen = draft(vec![ask(Some(0))]);
    let choose = Node::Choose { ways: vec![(0.0, vec![Node::Ask(0)])], order: Order::Exact };
    chosen.script.as_mut().unwrap().setup = vec![Node::Once(vec![choose])];
    assert_eq!(sealed(chosen).unwrap_err(), ["P023"]);
}

#[test]
fn a_load_of_one_scenario_is_validated_like_the_load_of_all() {
    let with =
        |workload| sealed(Draft { entry: None, workloads: vec![workload], ..draft(vec![ask(Some(0))]) });
    assert!(with(workload("s", 0)).is_ok());
    let staged = Some(stages("1s:5").unwrap());
    assert_eq!(
        with(WorkloadDraft {
            load: LoadDraft { stages: staged, ..workload("s", 0).load },
            ..workload("s", 0)
        })
        .unwrap_err(),
        ["P003", "P004"]
    );
    assert_eq!(
        with(WorkloadDraft {
            load: LoadDraft { users: Some(0), ..workload("s", 0).load },
            ..workload("s", 0)
        })
        .unwrap_err()[0],
        "P006"
    );
    assert_eq!(
        with(WorkloadDraft {
            load: LoadDraft { rate_per_s: Some(2e7), users: None, ..workload("s", 0).load },
            ..workload("s", 0)
        })
        .unwrap_err(),
        ["P007"]
    );
    let loops = WorkloadDraft {
        load: LoadDraft {
            rate_per_s: Some(5.0),
            users: None,
            iterations_per_user: Some(1),
            ..workload("s", 0).load
        },
        ..workload("s", 0)
    };
    assert_eq!(with(loops).unwrap_err(), ["P020"]);
}

#[test]
fn workloads_share_the_time_axis_of_the_run() {
    let mut both = draft(vec![ask(Some(0))]);
    both.load.duration_ns = Some(10_000_000_000);
    both.load.users = Some(2);
    both.workloads = vec![workload("late", 5_000_000_000)];
    let outline = sealed(both).unwrap().outline;
    assert_eq!(outline.stop.duration_ns, Some(15_000_000_000));
    let Load::Closed { users } = &outline.load else { panic!("{:?}", outline.load) };
    let at = |s: u64| users.level_at(s * 1_000_000_000);
    assert_eq!([at(0), at(7), at(12), at(15)], [2.0, 7.0, 5.0, 0.0]);
}

#[test]
fn load_shapes_reach_their_levels_on_time() {
    let at = |profile: &Profile, s: f64| profile.level_at((s * 1e9) as u64);
    const S: u64 = 1_000_000_000;
    let trapezoid = Profile::trapezoid(S, 2 * S, 3 * S, 4 * S, 8.0);
    let levels: Vec<f64> = [0.5, 2.0, 3.0, 5.9, 8.0, 10.0].map(|s| at(&trapezoid, s)).into();
    assert_eq!(levels, [0.0, 4.0, 8.0, 8.0, 4.0, 0.0]);
    let spike = Profile::spike(10.0, 30.0, 2 * S, 0, S, 5 * S);
    assert_eq!([1.9, 2.0, 2.9, 3.0].map(|s| at(&spike, s)), [10.0, 30.0, 30.0, 10.0]);
    assert_eq!(spike.total_ns(), 5 * S);
    let ladder = Profile::ladder(&[1.0, 2.0, 4.0], S);
    assert_eq!([0.0, 0.9, 1.0, 2.5, 9.0].map(|s| at(&ladder, s)), [1.0, 1.0, 2.0, 4.0, 4.0]);
    assert_eq!(ladder.total_ns(), 3 * S);
    let sum = Profile::sum([&trapezoid, &ladder].into_iter());
    assert_eq!([0.0, 2.0, 9.0].map(|s| at(&sum, s)), [1.0, 8.0, 6.0]);
}

#[test]
fn texts_are_shown_with_their_original_names_and_without_secrets() {
    let call = |function| Part::Placeholder(Placeholder::Call(function), Escape::Percent);
    let text = Text {
        parts: vec![
            Part::Literal(b"/".as_slice().into()),
            Part::Placeholder(Placeholder::Var(0), Escape::None),
            Part::Placeholder(Placeholder::Global(0), Escape::None),
            Part::Secret(Secret::new("sesame")),
            call(Function::Now(TimeFormat::Pattern("%H".into()))),
            call(Function::Counter { id: 0, start: 5, step: 1 }),
            call(Function::RandomString { length: 3, alphabet: Alphabet::Hex }),
            Part::Placeholder(Placeholder::Var(7), Escape::None),
        ],
    };
    let script = Script { vars: vec!["id".into()], globals: vec!["token".into()], ..Script::default() };
    assert_eq!(
        describe(&text, &script),
        "/${id}${token}***${now(%H)}${counter(5)}${random_string(3, hex)}${#7}"
    );
    let mut one = ask(Some(0));
    one.path = text;
    let mut named = draft(vec![one]);
    named.script.as_mut().unwrap().vars = vec!["id".into()];
    let plan = sealed(named).unwrap();
    assert!(plan.outline.requests[0].path.starts_with("/${id}"), "{}", plan.outline.requests[0].path);
    assert!(!format!("{plan:?}").contains("sesame"));
}

#[test]
fn a_run_without_a_name_is_named_after_its_load_and_not_after_its_setup() {
    let mut first = ask(None);
    first.path = Text::literal("/login");
    let plan = sealed(draft(vec![first, ask(Some(0))]));
    assert_eq!(plan.unwrap().outline.name, "GET h/a");
}

#[test]
fn an_address_for_another_host_and_a_pace_with_arrivals_are_rejected_as_useless() {
    let mut stray = draft(vec![ask(Some(0))]);
    stray.link.resolve = vec![("H".into(), "127.0.0.2".parse().unwrap())];
    assert!(sealed(stray.clone()).is_ok(), "host names ignore case");
    stray.link.resolve.push(("other".into(), "127.0.0.2".parse().unwrap()));
    assert_eq!(sealed(stray).unwrap_err(), ["P025"]);

    let mut paced = draft(vec![ask(Some(0))]);
    paced.script.as_mut().unwrap().scenarios[0].pace =
        Some(plimsoll_plan::script::Delay::Constant { ns: 1_000_000 });
    assert!(sealed(paced.clone()).is_ok(), "users can keep a pace");
    paced.load.rate_per_s = Some(10.0);
    assert_eq!(sealed(paced).unwrap_err(), ["P024"]);
}

#[test]
fn a_delivery_sets_headers_and_requires_its_version_of_http() {
    let with = |delivery: Delivery, http| {
        let mut one = draft(vec![ask(Some(0))]);
        one.link.http = http;
        one.script.as_mut().unwrap().deliveries.push((0, delivery));
        sealed(one)
    };
    let body = Delivery { is_chunked: true, continue_ns: Some(1), ..Delivery::default() };
    let plan = with(body, Http::Auto).unwrap();
    let headers: Vec<&str> = plan.outline.requests[0].headers.iter().map(|(name, _)| name.as_str()).collect();
    assert!(headers.ends_with(&["Expect", "Transfer-Encoding"]), "{headers:?}");
    assert_eq!(plan.outline.deliveries, [(0, body)]);
    assert!(with(body, Http::V2).is_ok());
    assert_eq!(with(body, Http::V10).unwrap_err(), ["P043"]);
    let slow = Delivery { read_bytes_per_s: Some(10), ..Delivery::default() };
    assert_eq!(with(slow, Http::V2).unwrap_err(), ["P043"]);
    assert!(with(slow, Http::V11).is_ok());
}

#[test]
fn expect_continue_applies_to_every_request_with_a_body() {
    let mut all = draft(vec![ask(Some(0)), ask(Some(0))]);
    all.script.as_mut().unwrap().asks[1].body = Some(Text::literal("x"));
    all.script.as_mut().unwrap().asks[1].name = "with a body".into();
    all.continue_ns = Some(5);
    let plan = sealed(all).unwrap();
    let expected = Delivery { continue_ns: Some(5), ..Delivery::default() };
    assert_eq!(plan.outline.deliveries, [(1, expected)]);
    assert_eq!(sealed(Draft { continue_ns: Some(5), ..draft(vec![ask(Some(0))]) }).unwrap_err(), ["P042"]);
}
