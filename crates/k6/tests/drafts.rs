//! Tests of k6 as drafts: each executor as a sealed load model, and the settings that plimsoll shares.

use plimsoll_k6::draft::draft;
use plimsoll_k6::options::{Overrides, read};
use plimsoll_plan::Target;
use plimsoll_plan::draft::Draft;
use plimsoll_plan::link::{Addresses, Dns, Reuse, Versions};
use plimsoll_plan::load::{FirstArrival, Load, OnBusy, Profile, Rules, Share, UserSteps, Workload};
use plimsoll_plan::outline::Outline;
use plimsoll_plan::script::{Ask, Scenario, Script};
use plimsoll_plan::seal::{Machine, seal};
use serde_json::{Value, json};

const S: u64 = 1_000_000_000;

fn drafted(options: Value) -> Draft {
    let test = read(&options, &Overrides::default(), &["default".to_owned()]).expect("valid options");
    draft(&test).expect("a draft")
}

/// A GET request.
fn ask() -> Ask {
    Ask {
        origin: 0,
        name: "/".into(),
        scenario: Some(0),
        group: None,
        tags: vec![],
        method: "GET".into(),
        path: Default::default(),
        headers: vec![],
        body: None,
        timeout_ns: None,
        redirects: 0,
        expect: None,
        checks: vec![],
        extracts: vec![],
        go_on_after_failure: false,
        stream: None,
        websocket: None,
        grpc: None,
    }
}

/// Seals a draft with a target and a script, as a program would complete it.
fn sealed(options: Value) -> Outline {
    let mut draft = drafted(options);
    draft.target = Some(Target { host: "127.0.0.1".into(), port: 8080, tls: false });
    let scenario = |name: &str| Scenario { name: name.into(), nodes: vec![], pace: None };
    let scenarios = draft.workloads.iter().map(|one| scenario(&one.name)).collect();
    draft.script = Some(Script { scenarios, asks: vec![ask()], ..Script::default() });
    seal(draft, Machine { cpus: 2, seed: 1 }).expect("a valid draft").outline
}

fn only(options: Value) -> Workload {
    let outline = sealed(options);
    assert_eq!(outline.workloads.len(), 1);
    outline.workloads[0].clone()
}

fn users(workload: &Workload) -> &Profile {
    match &workload.load {
        Load::Closed { users } => users,
        Load::Open { .. } => panic!("{workload:?} has arrivals"),
    }
}

fn rate(workload: &Workload) -> &Profile {
    match &workload.load {
        Load::Open { rate_per_s, .. } => rate_per_s,
        Load::Closed { .. } => panic!("{workload:?} has users"),
    }
}

/// The rules of every executor that ends after `end_s` with 30 s to stop.
fn base(end_s: u64) -> Rules {
    let (end_ns, graceful_stop_ns) = (Some(end_s * S), Some(30 * S));
    Rules { end_ns, graceful_stop_ns, counts_iterations: true, ..Rules::default() }
}

#[test]
fn users_with_a_duration_or_numbers_of_iterations() {
    let constant = only(json!({ "vus": 3, "duration": "5s" }));
    assert_eq!(
        (users(&constant), constant.connections, constant.rules),
        (&Profile::constant(3.0), 3, base(5))
    );
    let shared = only(json!({ "vus": 3, "iterations": 9 }));
    assert_eq!((shared.iterations, shared.loops, shared.rules), (Some(9), None, base(600)));
    let own =
        only(json!({ "scenarios": { "a": { "executor": "per-vu-iterations", "vus": 2, "iterations": 4 } } }));
    assert_eq!((own.iterations, own.loops, own.rules), (None, Some(4), base(600)));
}

#[test]
fn a_ramp_has_whole_steps_and_its_own_time_to_ramp_down() {
    let ramp = only(
        json!({ "vus": 2, "stages": [{ "duration": "4s", "target": 6 }, { "duration": "2s", "target": 0 }] }),
    );
    let level = users(&ramp);
    assert_eq!(
        (level.start, level.level_at(2 * S), level.total_ns(), ramp.connections),
        (2.0, 4.0, 6 * S, 6)
    );
    let rules = Rules {
        user_steps: UserSteps::Reached,
        graceful_ramp_down_ns: Some(30 * S),
        ramps_out: true,
        ..base(6)
    };
    assert_eq!(ramp.rules, rules);
}

#[test]
fn arrivals_per_time_unit_find_a_free_user_or_are_dropped() {
    let constant = only(
        json!({ "scenarios": { "a": { "executor": "constant-arrival-rate", "rate": 90, "timeUnit": "1m",
        "duration": "10s", "preAllocatedVUs": 2, "maxVUs": 5 } } }),
    );
    assert_eq!((rate(&constant), constant.connections), (&Profile::constant(1.5), 5));
    let dropping = |end_s| Rules { on_busy: OnBusy::Drop, initial_users: Some(2), ..base(end_s) };
    assert_eq!(constant.rules, dropping(10));
    let ramp = only(json!({ "scenarios": { "a": { "executor": "ramping-arrival-rate", "startRate": 10,
        "preAllocatedVUs": 2, "stages": [{ "duration": "4s", "target": 30 }] } } }));
    assert_eq!((rate(&ramp).start, rate(&ramp).level_at(2 * S), ramp.connections), (10.0, 20.0, 2));
    assert_eq!(ramp.rules, Rules { first_arrival: FirstArrival::WhenDue, ..dropping(4) });
}

#[test]
fn externally_controlled_users_may_rise_to_their_limit() {
    let options =
        json!({ "scenarios": { "a": { "executor": "externally-controlled", "vus": 0, "maxVUs": 7 } } });
    let outline = sealed(options);
    let workload = &outline.workloads[0];
    assert_eq!((workload.connections, workload.rules.capacity, users(workload).peak()), (7, Some(7), 0.0));
    // It ends with the hard limit of a run.
    assert_eq!(outline.stop.duration_ns, Some(outline.limits.duration_ns));
}

#[test]
fn scenarios_have_their_own_starts_ends_and_graceful_stops() {
    let outline = sealed(json!({ "scenarios": {
        "a": { "executor": "constant-vus", "duration": "10s", "gracefulStop": "25s" },
        "b": { "executor": "constant-vus", "duration": "20s", "startTime": "5s", "gracefulStop": "2s" },
    }}));
    let ends: Vec<Option<u64>> = outline.workloads.iter().map(|workload| workload.rules.end_ns).collect();
    assert_eq!(ends, [Some(10 * S), Some(25 * S)]);
    let cuts: Vec<Option<u64>> = outline.workloads.iter().map(|workload| workload.rules.cut_ns()).collect();
    assert_eq!(cuts, [Some(35 * S), Some(27 * S)]);
    // The run lasts until the last start of an iteration, and then as long as any iteration may continue.
    assert_eq!((outline.stop.duration_ns, outline.graceful_stop_ns), (Some(25 * S), 10 * S));
    let late = users(&outline.workloads[1]);
    assert_eq!((late.level_at(5 * S - 1), late.level_at(5 * S), late.level_at(25 * S)), (0.0, 1.0, 0.0));
}

#[test]
fn only_the_thresholds_of_the_script_apply() {
    let outline =
        sealed(json!({ "thresholds": { "http_req_duration": ["p(95)<500"], "iterations": ["count>1"] } }));
    let texts: Vec<&str> = outline.thresholds.iter().map(|threshold| threshold.text.as_str()).collect();
    assert_eq!(texts, ["http_req_duration: p(95)<500"]);
    assert!(sealed(json!({})).thresholds.is_empty());
}

#[test]
fn a_segment_divides_users_and_arrivals() {
    let draft = drafted(
        json!({ "executionSegment": "2/3:1", "scenarios": { "a": { "executor": "constant-arrival-rate",
        "rate": 9, "duration": "1s", "preAllocatedVUs": 4, "maxVUs": 8 } } }),
    );
    assert_eq!(draft.shard, Some(Share { part: 3, of: 3 }));
    let load = &draft.workloads[0].load;
    // Users 3, 6, 9, ... of 8 and of 4 belong to the third of three machines.
    assert_eq!(
        (load.max_connections, load.rules.initial_users, load.rate_per_s),
        (Some(2), Some(1), Some(9.0))
    );
}

#[test]
fn settings_of_connections_are_those_of_plimsoll() {
    let draft =
        drafted(json!({ "noVUConnectionReuse": true, "insecureSkipTLSVerify": true, "tlsVersion": "tls1.3",
        "localIPs": "127.0.0.2", "dns": { "ttl": "1s", "select": "roundRobin" } }));
    let (link, tls) = (&draft.link, draft.link.tls.clone().unwrap());
    assert_eq!(
        (link.reuse, link.addresses, link.dns),
        (Reuse::Iteration, Addresses::First, Dns::EachConnection)
    );
    assert_eq!((tls.insecure, tls.versions, tls.resume), (true, Versions::Tls13, false));
    assert_eq!(link.source_addresses, ["127.0.0.2".parse::<std::net::IpAddr>().unwrap()]);
    let plain = drafted(json!({ "noConnectionReuse": true })).link;
    assert_eq!((plain.reuse, plain.addresses, plain.dns), (Reuse::Request, Addresses::All, Dns::Once));
    assert_eq!(drafted(json!({})).timeout_ns, Some(60 * S));
}

#[test]
fn certificates_for_different_hosts_are_refused() {
    let pem = "-----BEGIN X-----";
    let auth = |domains: &[&str]| json!({ "cert": pem, "key": pem, "domains": domains });
    let test = |auths: Vec<Value>| {
        read(&json!({ "tlsAuth": auths }), &Overrides::default(), &["default".to_owned()]).unwrap()
    };
    let one = draft(&test(vec![auth(&["a.test"])])).unwrap();
    assert_eq!(one.tls_files.clients.len(), 1);
    let two = draft(&test(vec![auth(&["a.test"]), auth(&["b.test"])])).unwrap_err();
    assert_eq!(two[0].message, "`tlsAuth`: certificates for different hosts are not supported");
}
