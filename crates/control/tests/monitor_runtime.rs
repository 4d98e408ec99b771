//! The Node and Go monitors: memory, garbage collection, and load of the runtime, and their errors if the program is
//! down, hangs, or serves another page.

use crate::servers::{Looking, Scratch, Server, deaf, fact, free_port, limit, page, pages, silent, value};
use plimsoll_plan::value::Secret;
use plimsoll_plan::watch::{Source, Unit};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;

const NODE: &str = include_str!("servers/pages/node.txt");

fn node(port: u16) -> Looking {
    Looking::at(Source::Node(Secret::new(&format!("http://127.0.0.1:{port}/metrics"))))
}

fn go(port: u16, path: &str) -> Looking {
    Looking::at(Source::Go(Secret::new(&format!("http://127.0.0.1:{port}{path}"))))
}

fn folder() -> String {
    format!("{}/tests/servers", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn values_of_prom_client_get_plimsolls_names() {
    // Half a second of user CPU later, with two more small collections of 25 ms in total.
    let later = NODE
        .replace("process_cpu_user_seconds_total 0.189045", "process_cpu_user_seconds_total 0.689045")
        .replace("process_cpu_seconds_total 0.189045", "process_cpu_seconds_total 0.689045")
        .replace("_sum{kind=\"minor\"} 0.0005738999992609024", "_sum{kind=\"minor\"} 0.0255738999992609024")
        .replace("_count{kind=\"minor\"} 2", "_count{kind=\"minor\"} 4");
    let mut looking = node(pages(vec![page(NODE), page(&later)]));
    let first = looking.look().unwrap();
    assert_eq!(fact(&first, "node_version"), Some("v20.20.2"));
    assert_eq!(value(&first, "", "eventloop_lag_mean"), Some(0.010040158315789475));
    assert_eq!(value(&first, "", "eventloop_lag_p99"), Some(0.010084351));
    assert_eq!(value(&first, "", "heap_used"), Some(6_426_544.0));
    assert_eq!(value(&first, "", "heap_total"), Some(10_461_184.0));
    assert_eq!(limit(&first, "", "heap_used"), None, "prom-client does not report it");
    assert_eq!(value(&first, "", "external_memory"), Some(2_209_413.0));
    assert_eq!(value(&first, "", "memory_rss"), Some(57_516_032.0));
    assert_eq!(
        value(&first, "", "active_handles"),
        Some(0.0),
        "a gauge, although its name ends with `_total`"
    );
    assert_eq!(value(&first, "", "fds"), Some(19.0));
    assert_eq!(limit(&first, "", "fds"), Some(20_000.0));
    assert_eq!(value(&first, "", "cpu"), None, "a rate needs two looks");
    let second = looking.look().unwrap();
    let near = |part: &str, metric: &str, wanted: f64, unit: Unit| {
        let found = second.readings.iter().find(|r| r.part == part && r.metric == metric).unwrap();
        assert!((found.value - wanted).abs() < 1e-9 && found.unit == unit, "{found:?}");
    };
    near("", "cpu", 0.5, Unit::Cores);
    near("", "cpu_user", 0.5, Unit::Cores);
    near("", "cpu_system", 0.0, Unit::Cores);
    near("minor", "gc_time", 0.025, Unit::Share);
    near("minor", "gc_runs", 2.0, Unit::PerS);
}

#[test]
fn a_programs_own_metrics_are_parsed_and_a_restart_has_no_rate() {
    let more = format!("{NODE}nodejs_heap_size_limit_bytes 5e8\nnodejs_eventloop_utilization 0.97\n");
    let again = more
        .replace("process_start_time_seconds 17", "process_start_time_seconds 18")
        .replace("process_cpu_seconds_total 0.18", "process_cpu_seconds_total 0.98");
    let mut looking = node(pages(vec![page(&more), page(&again)]));
    let first = looking.look().unwrap();
    assert_eq!(limit(&first, "", "heap_used"), Some(5e8));
    assert_eq!(limit(&first, "", "eventloop_utilization"), Some(1.0));
    let second = looking.look().unwrap();
    assert_eq!(value(&second, "", "cpu"), None, "another process's counters: {second:?}");
    assert_eq!(value(&looking.look().unwrap(), "", "cpu"), Some(0.0));
    // One page for several processes: their values stay separate.
    let two = "nodejs_external_memory_bytes{pid=\"1\"} 10\nnodejs_external_memory_bytes{pid=\"2\"} 20\n";
    let found = node(pages(vec![page(two)])).look().unwrap();
    assert_eq!(value(&found, "{pid=\"2\"}", "external_memory"), Some(20.0), "{found:?}");
}

#[test]
fn a_node_program_that_hangs_dies_and_restarts_is_sampled_again() {
    let port = free_port();
    let (script, text, number) = (folder() + "/node.mjs", folder() + "/pages/node.txt", port.to_string());
    let start = || Server::start(&[], &["node", &script, &text, &number], "KILL", "listening");
    let server = start();
    let mut looking = node(port);
    let found = looking.sees();
    assert!(fact(&found, "node_version").unwrap().starts_with('v'));
    assert!(value(&found, "", "memory_rss").unwrap() > 1e7);
    server.freeze();
    assert_eq!(looking.fails(), format!("cannot read `http://127.0.0.1:{port}`: no response in time"));
    server.thaw();
    looking.sees();
    server.stop();
    assert_eq!(looking.fails(), format!("cannot connect to `127.0.0.1:{port}`: connection refused"));
    let _server = start();
    looking.sees();
}

#[test]
fn a_go_program_is_sampled_through_its_standard_library() {
    let scratch = Scratch::new();
    let program = scratch.path().join("expvar");
    let built = Command::new("go")
        .args(["build", "-o", program.to_str().unwrap(), "main.go"])
        .current_dir(folder() + "/expvar")
        .output()
        .expect("go is here");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let words = [program.to_str().unwrap(), &address, "--password=mellon"];
    let start = || Server::start(&[], &words, "KILL", "listening");
    let server = start();
    let mut looking = go(port, "/debug/vars");
    let first = looking.sees();
    assert!(fact(&first, "program").unwrap().ends_with("/expvar"));
    assert!(!format!("{first:?}").contains("mellon"), "its arguments may hold secrets");
    assert!(value(&first, "", "heap_alloc").unwrap() > 1e4);
    assert!(value(&first, "", "memory_sys").unwrap() > value(&first, "", "heap_inuse").unwrap());
    assert!(value(&first, "", "goroutines").unwrap() >= 2.0);
    assert_eq!(value(&first, "", "gc_runs"), None, "a rate needs two looks");
    let mut work = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    work.write_all(b"GET /work HTTP/1.0\r\n\r\n").unwrap();
    work.read_to_end(&mut Vec::new()).unwrap();
    let second = looking.sees();
    assert!(value(&second, "", "gc_runs").unwrap() >= 1.0, "{second:?}");
    assert!(value(&second, "", "allocated").unwrap() >= f64::from(64 << 20), "{second:?}");
    let pause = value(&second, "", "gc_pause").unwrap();
    assert!(pause > 0.0 && pause < 0.5, "{pause}");
    assert!(value(&second, "", "gc_cpu_share").unwrap() > 0.0);

    server.freeze();
    assert_eq!(looking.fails(), format!("cannot read `http://127.0.0.1:{port}`: no response in time"));
    server.thaw();
    looking.sees();
    server.stop();
    assert!(looking.fails().ends_with("connection refused"));
    let _server = start();
    let back = looking.sees();
    assert_eq!(value(&back, "", "gc_runs"), None, "the counters decreased because of the restart");
}

#[test]
fn a_go_program_is_sampled_through_the_prometheus_client() {
    // Prometheus itself is such a program.
    let (scratch, port) = (Scratch::new(), free_port());
    let config = scratch.path().join("prometheus.yml");
    std::fs::write(&config, "").unwrap();
    let options = [
        format!("--config.file={}", config.display()),
        format!("--storage.tsdb.path={}", scratch.path().join("data").display()),
        format!("--web.listen-address=127.0.0.1:{port}"),
    ];
    let words: Vec<&str> = ["prometheus"].into_iter().chain(options.iter().map(String::as_str)).collect();
    let server = Server::start(&[], &words, "KILL", "Server is ready to receive web requests");
    let mut looking = go(port, "/metrics");
    let first = looking.sees();
    assert!(fact(&first, "go_version").unwrap().starts_with("go1."));
    assert!(value(&first, "", "goroutines").unwrap() > 10.0);
    assert!(value(&first, "", "threads").unwrap() >= 2.0);
    let second = looking.sees();
    for name in
        ["heap_alloc", "heap_inuse", "memory_sys", "memory_rss", "allocated", "gc_runs", "gc_pause", "cpu"]
    {
        assert!(value(&second, "", name).is_some(), "{name} is not in {second:?}");
    }
    assert!(limit(&second, "", "fds").unwrap() >= 256.0);
    server.freeze();
    assert!(looking.fails().ends_with("no response in time"));
    server.thaw();
    looking.sees();
    server.stop();
    assert!(looking.fails().ends_with("connection refused"));
}

#[test]
fn a_memory_limit_of_infinity_is_no_limit() {
    let with = |limit: &str| {
        let text = format!(
            "go_memstats_heap_alloc_bytes 1\ngo_gc_gomemlimit_bytes {limit}\ngo_sched_gomaxprocs_threads 2\n\
             # TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1\n"
        );
        let mut looking = go(pages(vec![page(&text)]), "/metrics");
        looking.look().unwrap();
        looking.look().unwrap()
    };
    assert_eq!(limit(&with("9.223372036854776e+18"), "", "heap_alloc"), None);
    assert_eq!(limit(&with("1e9"), "", "heap_alloc"), Some(1e9));
    assert_eq!(limit(&with("1e9"), "", "cpu"), Some(2.0));
}

#[test]
fn another_page_is_reported_as_unsuitable() {
    for (text, json) in [("a 1\n", false), ("{}", true), ("{\"memstats\": 1}", true), ("[1]", false)] {
        let port = pages(vec![page(text)]);
        let why = go(port, "/").fails();
        assert!(why.starts_with("cannot read `http://127.0.0.1:"), "{why}");
        assert!(why.contains("neither `memstats`") || !json && why.contains("line 1"), "{text}: {why}");
    }
    let why = node(pages(vec![page("go_goroutines 1\n")])).fails();
    assert!(why.contains("the page has no `nodejs_` metrics"), "{why}");
}

#[test]
fn silence_and_lost_packets_end_a_sample_in_time() {
    let (_listener, port) = silent();
    assert!(node(port).fails().ends_with("no response in time"));
    assert!(go(port, "/debug/vars").fails().ends_with("no response in time"));
    let (_listener, _held, port) = deaf();
    assert!(node(port).fails().ends_with("no response in time"));
    assert!(go(port, "/debug/vars").fails().ends_with("no response in time"));
}
