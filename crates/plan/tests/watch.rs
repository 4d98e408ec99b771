//! Monitor targets, as flags and files write them: accepted forms, rejected forms, and no secret in either.

use plimsoll_plan::watch::read::{MaskedText, web};
use plimsoll_plan::watch::{Group, Source, Watch, Who};

#[test]
fn a_kind_and_a_target_make_a_monitor_with_a_name() {
    for (text, name, of) in [
        ("host", "host", ""),
        ("process=:4110", "process 4110", "port 4110"),
        ("process=77", "process 77", "pid 77"),
        ("process=node", "process node", "node"),
        ("cgroup=/sys/fs/cgroup/api", "cgroup api", "/sys/fs/cgroup/api"),
        ("cgroup=:80", "cgroup 80", "port 80"),
        ("postgres=postgres://lab:pw@127.0.0.1:5432/lab", "postgres", "postgres://127.0.0.1:5432/lab"),
        ("redis=127.0.0.1:6379", "redis", "127.0.0.1:6379"),
        ("redis=redis://:pw@127.0.0.1", "redis", "redis://127.0.0.1"),
        ("nginx=http://127.0.0.1:81/nginx_status", "nginx", "http://127.0.0.1:81"),
        ("nginx=logs/access.log", "nginx", "logs/access.log"),
        ("node=http://127.0.0.1:3000/metrics", "node", "http://127.0.0.1:3000"),
        ("go=http://127.0.0.1:6060/debug/vars?token=s3", "go", "http://127.0.0.1:6060"),
        ("prometheus=http://[::1]:9100/metrics", "prometheus", "http://[::1]:9100"),
        ("prometheus=https://127.0.0.1:9100/metrics", "prometheus", "https://127.0.0.1:9100"),
        ("command=/usr/bin/depth --queue a", "command depth", "/usr/bin/depth"),
    ] {
        let watch = Watch::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let outline = watch.outline();
        assert_eq!((watch.name.as_str(), outline.target.as_str()), (name, of), "{text}");
        assert!(Source::KINDS.contains(&outline.kind.as_str()));
        assert!(!format!("{watch:?} {outline:?}").contains("pw"), "{text}");
    }
    let Source::Cgroup(Group::Of(Who::Port(80))) = Watch::parse("cgroup=:80").unwrap().source else {
        panic!("a port");
    };
    let Source::Command(words) = Watch::parse("command=depth --queue a").unwrap().source else { panic!() };
    assert_eq!(words, ["depth", "--queue", "a"]);
}

#[test]
fn an_address_shows_neither_its_path_nor_a_password_with_odd_characters() {
    for (text, of) in [
        ("prometheus=http://127.0.0.1:9100/hook/s3cret/metrics", "http://127.0.0.1:9100"),
        ("postgres=postgres://u:s3#cret@127.0.0.1:5432/lab", "postgres://127.0.0.1:5432/lab"),
        ("postgres=postgres://u:s3?cret@127.0.0.1:5432/lab", "postgres://127.0.0.1:5432/lab"),
        ("redis=redis://:s3#c@ret?x@127.0.0.1:6379", "redis://127.0.0.1:6379"),
        ("redis=redis://:s3#cret@127.0.0.1:6379/0", "redis://127.0.0.1:6379"),
        // It is unclear whether the `@` ends the login or belongs to the query.
        ("postgres=postgres://127.0.0.1/lab?password=s3@cret", "postgres://***"),
    ] {
        let outline = Watch::parse(text).unwrap_or_else(|why| panic!("{text}: {why}")).outline();
        assert_eq!(outline.target, of, "{text}");
    }
}

#[test]
fn an_invalid_target_is_rejected_with_a_fix() {
    for (text, said) in [
        ("proces=:1", "unknown kind of monitor"),
        ("process", "missing source"),
        ("process=", "missing source"),
        ("process=:0", "invalid port"),
        ("process=:70000", "invalid port"),
        ("process=0", "invalid process ID"),
        ("process=99999999999", "invalid process ID"),
        ("process=/usr/bin/node", "write `node`"),
        ("host=here", "takes no value"),
        ("postgres=127.0.0.1:5432", "invalid database address"),
        ("postgres=postgres://:5432/x", "invalid database address"),
        ("postgres=postgres://h:x/y", "invalid database address"),
        ("redis=localhost", "invalid Redis address"),
        ("redis=127.0.0.1:0", "invalid Redis address"),
        ("redis=rediss://:1", "invalid Redis address"),
        ("redis=http://127.0.0.1:1", "invalid Redis address"),
        ("nginx=https://127.0.0.1:x/s", "invalid port"),
        ("node=127.0.0.1:3000/metrics", "invalid HTTP URL"),
        ("go=http://", "`"),
        ("prometheus=ftp://h/", "invalid HTTP URL"),
    ] {
        let why = Watch::parse(text).expect_err(text).to_string();
        assert!(why.contains(said) && why.contains("; "), "{text}: {why}");
    }
}

#[test]
fn a_secret_in_an_address_stays_out_of_the_sentence() {
    for text in ["ftp://u:hush@h/", "http://u:hush@h:x/", "hush"] {
        let why = web(MaskedText { text, shown: "${secret.URL}" }).expect_err(text).to_string();
        assert!(why.contains("${secret.URL}") && !why.contains("hush"), "{why}");
    }
}
