//! Plans with users as code: what they contain, what they exclude, and their origins.

use plimsoll_plan::code::Code;
use plimsoll_plan::draft::{LoadDraft, WorkloadDraft};
use plimsoll_plan::link::{Dns, Link, Tls};
use plimsoll_plan::origin::{NamedTarget, found, found_name};
use plimsoll_plan::program::Behavior;
use plimsoll_plan::script::Entry;
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::threshold;
use plimsoll_plan::{Draft, Plan, Problem, Request, Target};
use std::sync::Arc;

#[derive(Debug)]
struct Nothing;

impl Code for Nothing {
    fn behavior(&self, _: &Plan) -> Result<Arc<dyn Behavior>, Problem> {
        Err(Problem::plain("it does nothing"))
    }
}

fn draft() -> Draft {
    Draft { code: Some(Arc::new(Nothing)), name: Some("shop.js".into()), ..Draft::default() }
}

fn sealed(draft: Draft) -> Result<Plan, Vec<&'static str>> {
    seal(draft, Machine { cpus: 2, seed: 1 })
        .map_err(|wrong| wrong.iter().map(|diagnostic| diagnostic.code).collect())
}

fn target(host: &str, port: u16, tls: bool) -> Target {
    Target { host: host.into(), port, tls }
}

fn users(name: &str, users: u32) -> WorkloadDraft {
    let load = LoadDraft { users: Some(users), ..LoadDraft::default() };
    WorkloadDraft { name: name.into(), entry: Entry::Scenario(0), load, start_ns: 0 }
}

#[test]
fn code_needs_no_target_and_no_requests() {
    let plan = sealed(draft()).unwrap();
    let outline = &plan.outline;
    assert!(plan.code.is_some() && plan.requests.is_empty() && outline.requests.is_empty());
    assert!(!outline.has_target() && outline.all_origins().is_empty());
    assert_eq!((outline.target.as_str(), outline.name.as_str()), ("", "shop.js"));
    assert_eq!(outline.workloads.len(), 1, "the load of the draft");
    assert_eq!(sealed(Draft { code: None, ..draft() }).unwrap_err(), ["P012", "P001"]);
}

#[test]
fn each_scenario_of_code_is_a_workload() {
    let plan = sealed(Draft { workloads: vec![users("buy", 3), users("look", 7)], ..draft() }).unwrap();
    let names: Vec<&str> = plan.outline.workloads.iter().map(|workload| workload.name.as_str()).collect();
    assert_eq!((names, plan.outline.connections), (vec!["buy", "look"], 10));
}

#[test]
fn a_target_of_code_is_its_first_origin() {
    let plan = sealed(Draft { target: Some(target("a.test", 8080, false)), ..draft() }).unwrap();
    assert_eq!(plan.outline.all_origins()[0].url(), "http://a.test:8080");
    assert_eq!(plan.outline.describe_target(), "a.test:8080");
}

#[test]
fn code_excludes_requests_of_other_sources() {
    let request = Request {
        origin: 0,
        name: "GET /".into(),
        method: "GET".into(),
        path: "/".into(),
        headers: vec![],
        body: None,
    };
    assert_eq!(sealed(Draft { requests: vec![request], ..draft() }).unwrap_err(), ["P045"]);
    assert_eq!(sealed(Draft { redirects: Some(3), ..draft() }).unwrap_err().first(), Some(&"P045"));
    let more = NamedTarget { name: "users".into(), target: target("b.test", 80, false) };
    assert_eq!(sealed(Draft { more_origins: vec![more.clone()], ..draft() }).unwrap_err(), ["P001"]);
    let base = Draft { target: Some(target("a.test", 80, false)), more_origins: vec![more], ..draft() };
    assert!(sealed(base).is_ok());
}

#[test]
fn names_and_thresholds_of_code_are_known_only_when_it_runs() {
    let resolve = vec![("c.test".to_owned(), "127.0.0.1".parse().unwrap())];
    let link = Link { resolve, dns: Dns::EachConnection, ..Link::default() };
    let thresholds = vec![threshold::parse("response_time{request:login} p99 < 250ms").unwrap()];
    assert!(sealed(Draft { link, thresholds, ..draft() }).is_ok());
}

#[test]
fn found_origins_follow_those_of_the_plan_and_keep_its_tls_settings() {
    let tls = Some(Tls { insecure: true, server_name: "other.test".into(), ..Tls::default() });
    let link = Link { tls, ..Link::default() };
    let plan = sealed(Draft { target: Some(target("a.test", 80, false)), link, ..draft() }).unwrap();
    let mut outline = plan.outline;
    assert!(outline.tls().is_none(), "no origin of the plan uses TLS");
    let settings = plan.found_tls.as_ref();
    let one = target("b.test", 8443, true);
    assert!(!outline.add_origin(2, found(&one, settings)), "number 1 is missing");
    assert!(outline.add_origin(1, found(&one, settings)));
    assert!(!outline.add_origin(1, found(&one, settings)), "it is there already");
    let origins = outline.all_origins();
    assert_eq!(origins.len(), 2);
    assert_eq!(
        (origins[1].name.as_str(), origins[1].name.clone()),
        ("https://b.test:8443", found_name(&one))
    );
    assert!(outline.tls().is_some_and(|tls| tls.insecure && tls.server_name == "b.test"));
}

#[test]
fn a_run_without_a_target_is_described_by_the_origins_that_it_found() {
    let mut outline = sealed(draft()).unwrap().outline;
    assert_eq!(outline.describe_target(), "");
    let hosts = ["d", "b", "e", "c", "a"];
    for (number, host) in (0..).zip(hosts) {
        assert!(outline.add_origin(number, found(&target(host, 80, false), None)));
    }
    assert_eq!(outline.describe_target(), "http://a, http://b, http://c and 2 more");
}
