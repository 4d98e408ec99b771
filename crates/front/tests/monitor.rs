//! `monitors`: parsed with secrets in their places, or rejected without showing a secret.

use plimsoll_front::{Overrides, own};
use plimsoll_plan::diag::Place;
use plimsoll_plan::watch::{Group, Prometheus, Source, Watch, Who};
use plimsoll_plan::{Diagnostic, Draft};
use std::path::Path;

const HEAD: &str = "target: http://h\nscenarios: { s: [ { get: / } ] }\n";

fn read(more: &str) -> Result<Draft, Vec<Diagnostic>> {
    let given = Overrides {
        set: Vec::new(),
        env: Box::new(|name| (name == "PW").then(|| "sesame".into())),
        keep_to: None,
        reflect: None,
    };
    own::parse_with(&format!("{HEAD}{more}\n"), "f.yaml", Path::new("some/folder"), &given).map(|l| l.draft)
}

#[track_caller]
fn watches(more: &str) -> Vec<Watch> {
    read(more).unwrap_or_else(|all| panic!("{more}: {all:#?}")).watches
}

#[test]
fn every_kind_of_monitor_is_read() {
    let all = watches(
        "vars: { base: 41 }\nmonitors:\n- host: true\n- { name: api, process: { port: \"${base}10\" } }\n\
         - { process: node }\n- { cgroup: { pid: 9 } }\n\
         - { name: db, postgres: \"postgres://lab:${secret.PW}@127.0.0.1:${base}09/lab\" }\n\
         - { redis: \"127.0.0.1:${base}08\" }\n\
         - { nginx: { status: \"http://127.0.0.1:${base}01/s\", access_log: logs/access.log } }\n\
         - { node: \"http://127.0.0.1:1/metrics\" }\n- { go: \"http://127.0.0.1:1/debug/vars\" }\n\
         - { name: page, prometheus: { scrape: \"http://127.0.0.1:1/m\", metrics: [node_load1, \"a.*\"] } }\n\
         - { name: ql, prometheus: { server: \"http://127.0.0.1:1\", query: \"sum(rate(x[5s]))\" } }\n\
         - { command: [sh, -c, \"echo queue_depth ${secret.PW}\", 7] }",
    );
    let names: Vec<&str> = all.iter().map(|watch| watch.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "host",
            "api",
            "process node",
            "cgroup 9",
            "db",
            "redis",
            "nginx",
            "node",
            "go",
            "page",
            "ql",
            "command sh"
        ]
    );
    assert!(matches!(all[1].source, Source::Process(Who::Port(4110))));
    assert!(matches!(&all[2].source, Source::Process(Who::Name(name)) if name == "node"));
    assert!(matches!(all[3].source, Source::Cgroup(Group::Of(Who::Pid(9)))));
    let Source::Postgres(url) = &all[4].source else { panic!() };
    assert_eq!(url.reveal(), "postgres://lab:sesame@127.0.0.1:4109/lab");
    let Source::Nginx(nginx) = &all[6].source else { panic!() };
    assert_eq!(
        nginx.access_log.as_deref(),
        Some(Path::new("some/folder/logs/access.log")),
        "in the directory of the file"
    );
    assert!(
        matches!(&all[9].source, Source::Prometheus(Prometheus::Scrape { metrics, .. }) if metrics.len() == 2)
    );
    assert!(
        matches!(&all[10].source, Source::Prometheus(Prometheus::Query { query, .. }) if query == "sum(rate(x[5s]))")
    );
    let Source::Command(words) = &all[11].source else { panic!() };
    assert_eq!(words[2..], ["echo queue_depth sesame", "7"]);
    let shown: Vec<String> = all.iter().map(|watch| format!("{:?}", watch.outline())).collect();
    assert!(!shown.concat().contains("sesame"), "{shown:#?}");
}

#[test]
fn every_way_to_name_a_process_or_a_group_is_read() {
    let one = |more: &str| watches(&format!("monitors: [ {{ {more} }} ]")).remove(0).outline().target;
    for kind in ["process", "cgroup"] {
        assert_eq!(one(&format!("{kind}: {{ pid: 12 }}")), "pid 12");
        assert_eq!(one(&format!("{kind}: {{ name: node }}")), "node");
        assert_eq!(one(&format!("{kind}: {{ port: 8080 }}")), "port 8080");
    }
    assert_eq!(one("cgroup: { path: /sys/fs/cgroup/x }"), "/sys/fs/cgroup/x");
}

#[test]
fn a_text_in_a_file_means_the_same_as_after_the_flag() {
    for (kind, place) in [
        ("process", ":4110"),
        ("process", "node"),
        ("cgroup", "/sys/fs/cgroup/x"),
        ("nginx", "http://127.0.0.1:1/s"),
        ("nginx", "/var/log/access.log"),
        ("prometheus", "http://127.0.0.1:1/m"),
        ("command", "depth --all"),
    ] {
        let flag = Watch::parse(&format!("{kind}={place}")).unwrap();
        let file = watches(&format!("monitors: [ {{ {kind}: \"{place}\" }} ]")).remove(0);
        assert_eq!(format!("{flag:?}"), format!("{file:?}"));
    }
}

#[test]
fn the_environment_keeps_the_order_of_the_file() {
    let more = "environment: { server: \"Node 20, one process\", cpus: 2, topology: { front: nginx, tls: true }, \
                ram: 4 GiB }";
    let found: Vec<String> =
        read(more).unwrap().system_under_test.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        found,
        ["server=Node 20, one process", "cpus=2", "topology.front=nginx", "topology.tls=true", "ram=4 GiB"]
    );
}

/// Each with its place, its code, and a part of its message or hint.
#[test]
fn an_invalid_monitor_is_rejected_at_its_place() {
    for (more, column, code, said) in [
        ("monitors: host", 11, "F014", "a list"),
        ("monitors: [ host ]", 13, "F014", "mapping"),
        ("monitors: [ { name: api } ]", 13, "F016", "missing source"),
        ("monitors: [ { name: 5, proces: { port: 1 } } ]", 24, "F011", "did you mean `process`?"),
        ("monitors: [ { host: true, redis: \"h:1\" } ]", 27, "F017", "begin another monitor"),
        ("monitors: [ { host: false } ]", 21, "F015", "remove this monitor"),
        ("monitors: [ { host: true }, { host: true } ]", 29, "F013", "duplicate monitor name `host`"),
        ("monitors: [ { process: {} } ]", 24, "F016", "add one of `pid`, `name`, and `port`"),
        ("monitors: [ { process: { port: 0 } } ]", 32, "F015", "invalid port"),
        ("monitors: [ { process: { port: 70000 } } ]", 32, "F015", "invalid port"),
        ("monitors: [ { process: { pid: -3 } } ]", 31, "F015", "invalid process ID"),
        ("monitors: [ { process: { pid: 3, name: x } } ]", 34, "F017", "keep one"),
        ("monitors: [ { process: { name: /usr/bin/node } } ]", 32, "F015", "write `node`"),
        ("monitors: [ { cgroup: { path: api } } ]", 31, "F015", "/sys/fs/cgroup/x"),
        ("monitors: [ { cgroup: { path: /a, pid: 3 } } ]", 35, "F017", "keep either `path`"),
        ("monitors: [ { postgres: \"127.0.0.1:5432\" } ]", 25, "F015", "invalid database address"),
        ("monitors: [ { redis: \"localhost\" } ]", 22, "F015", "127.0.0.1:6379"),
        ("monitors: [ { node: \"ftp://127.0.0.1/m\" } ]", 21, "F015", "invalid HTTP URL"),
        ("monitors: [ { go: \"${secret.PW}\" } ]", 19, "F015", "invalid HTTP URL `${secret.PW}`"),
        ("monitors: [ { go: \"http://${unknown}/\" } ]", 27, "F030", "must be known before the load starts"),
        ("monitors: [ { nginx: {} } ]", 22, "F016", "`status`, `access_log`"),
        ("monitors: [ { prometheus: { metrics: [a] } } ]", 27, "F016", "add `scrape`"),
        (
            "monitors: [ { prometheus: { scrape: \"http://h/\", metrics: [\"a(\"] } } ]",
            60,
            "F028",
            "regular expression",
        ),
        ("monitors: [ { prometheus: { scrape: \"http://h/\", query: up } } ]", 50, "F017", "two monitors"),
        ("monitors: [ { prometheus: { server: \"http://h/\" } } ]", 29, "F016", "`query`"),
        ("monitors: [ { prometheus: { query: up } } ]", 29, "F016", "`server`"),
        ("monitors: [ { command: [] } ]", 24, "F016", "name a program"),
        ("monitors: [ { command: [\"${secret.PW}\"] } ]", 26, "F030", "secret"),
        ("environment: { a: { b: { c: 1 } } }", 24, "F014", "nested too deeply"),
        ("environment: { a: \"${secret.PW}\" }", 20, "F030", "secret"),
        ("environment: [ a ]", 14, "F014", "a mapping"),
    ] {
        let all = read(more).expect_err(more);
        let [one] = all.as_slice() else { panic!("{more}: {all:#?}") };
        let Place::Text { line: 3, column: found, .. } = one.place else { panic!("{more}: {one:#?}") };
        let sentence = format!("{}; {}", one.message, one.hint);
        assert!(sentence.contains(said) && !sentence.contains("sesame"), "{more}: {sentence}");
        assert_eq!((found, one.code), (column, code), "{more}: {sentence}");
    }
}

#[test]
fn tls_settings_are_accepted_if_a_monitor_uses_tls() {
    let with = |monitor: &str| read(&format!("tls: {{ insecure: true }}\nmonitors: [ {monitor} ]"));
    for asked_by_tls in [
        "{ redis: \"rediss://127.0.0.1\" }",
        "{ postgres: \"postgres://lab@127.0.0.1/lab?sslmode=verify-full\" }",
        "{ node: \"https://127.0.0.1/m\" }",
        "{ prometheus: { server: \"https://127.0.0.1\", query: up } }",
        "{ nginx: { status: \"https://127.0.0.1/s\" } }",
    ] {
        assert!(with(asked_by_tls).is_ok(), "{asked_by_tls}");
    }
    for plain in ["{ redis: \"redis://127.0.0.1\" }", "{ host: true }", "{ node: \"http://127.0.0.1/m\" }"] {
        let all = with(plain).expect_err(plain);
        assert!(all.iter().any(|wrong| wrong.code == "F017"), "{plain}: {all:?}");
    }
}
