//! Counters, log, quantiles, arrivals; rejected commands; the command line; the README.

use crate::common::{Ruler, number};
use std::process::Command;

#[test]
fn testers_connections_are_not_counted() {
    let ruler = Ruler::start(&[]);
    let mut control = ruler.connect();
    control.command("counters");
    let mut client = ruler.connect();
    client.get("/a?x=1");
    client.get("/a");
    client.get("/b?status=404");
    let counters = control.command("counters");
    for (name, value) in [
        ("requests", 3),
        ("responses", 3),
        ("accepted", 1),
        ("open", 1),
        ("closed_by_server", 0),
        ("log_records", 3),
    ] {
        assert_eq!(number(&counters, name), value, "{name} in {counters}");
    }
    assert_eq!(number(&counters, "bytes_in"), 3 * 32 + "?x=1".len() as u64 + "?status=404".len() as u64);
    assert!(counters.contains(r#""by_status":{"200":2,"404":1}"#), "{counters}");
    assert!(counters.contains(r#""by_path":{"/a":2,"/b":1}"#), "{counters}");
}

#[test]
fn the_log_has_one_record_per_request() {
    let ruler = Ruler::start(&[]);
    let (mut one, mut two) = (ruler.connect(), ruler.connect());
    one.get("/?delay=3ms");
    two.get("/?status=404");
    one.ask("/?fault=reset_before").rest();
    let log = ruler.connect().get("/_test-server/log");
    assert_eq!(log.header("X-Ruler-Records"), Some("3"));
    assert_eq!(log.header("X-Ruler-Dropped"), Some("0"));
    let long = |record: usize, word: usize| {
        let at = record * 40 + word * 8;
        u64::from_le_bytes(log.body[at..at + 8].try_into().unwrap())
    };
    let short = |record: usize, word: usize| {
        let at = record * 40 + 32 + word * 4;
        u32::from_le_bytes(log.body[at..at + 4].try_into().unwrap())
    };
    assert_eq!(log.body.len(), 3 * 40);
    let [arrive, begin, last, commanded] = std::array::from_fn(|word| long(0, word));
    assert_eq!((begin, commanded), (arrive, 3_000_000));
    assert!(last >= arrive + commanded);
    assert_eq!([short(0, 1), short(1, 1), short(2, 1)], [200, 404, 0]);
    assert_eq!((short(0, 0), long(2, 2)), (short(2, 0), 0));
    assert_ne!(short(0, 0), short(1, 0));
    let part = ruler.connect().get("/_test-server/log?from=1&count=1");
    assert_eq!(part.body, log.body[40..80]);
}

#[test]
fn a_full_log_counts_dropped_records() {
    let ruler = Ruler::start(&["--log-max", "2"]);
    let mut client = ruler.connect();
    (0..5).for_each(|_| assert_eq!(client.get("/").status, 200));
    let counters = ruler.command("counters");
    assert_eq!((number(&counters, "log_records"), number(&counters, "log_dropped")), (2, 3));
    assert_eq!(number(&counters, "responses"), 5);
}

#[test]
fn every_request_is_counted_in_exactly_one_place() {
    let ruler = Ruler::start(&["--workers", "1", "--service", "5ms", "--queue", "0", "--overflow", "close"]);
    ruler.connect().get("/");
    for query in ["no_response", "stall_head", "endless_head", "half_close"] {
        let mut client = ruler.connect();
        client.ask(&format!("/?fault={query}"));
        ruler.wait_for(query, 1);
    }
    for query in ["reset_before", "reset_mid_body&body=50m", "close_mid_body&body=50m", "drip&drip_every=1s"]
    {
        // Leaves without reading, in the middle of the response.
        let mut client = ruler.connect();
        client.ask(&format!("/?fault={query}"));
        let name = query.split('&').next().unwrap();
        ruler.wait_for(name, 1);
    }
    let mut busy = ruler.connect();
    busy.ask("/");
    ruler.wait_for("in_service", 1);
    ruler.connect().ask("/").rest();
    busy.answer();
    ruler.connect().ask("/?delay=20ms");
    ruler.wait_for("requests", 12);
    drop(busy);
    ruler.wait_for("open", 0);
    let counters = ruler.command("counters");
    let count = |name: &str| number(&counters, name);
    let faults = [
        "no_response",
        "stall_head",
        "endless_head",
        "half_close",
        "reset_before",
        "reset_mid_body",
        "close_mid_body",
    ];
    let by_fault: u64 = faults.iter().map(|fault| count(fault)).sum();
    let sum = count("responses") + by_fault + count("overflowed") + count("abandoned");
    assert_eq!((count("requests"), sum, count("overflowed")), (12, 12, 1), "{counters}");
}

#[test]
fn clear_restarts_all_counts() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.get("/old");
    // This request is in flight during the `clear`, and must not be in the new counts.
    client.ask("/old?delay=100ms");
    ruler.wait_for("requests", 2);
    ruler.command("clear");
    client.answer();
    client.get("/new");
    let counters = ruler.command("counters");
    assert_eq!((number(&counters, "requests"), number(&counters, "responses")), (1, 1), "{counters}");
    assert!(counters.contains(r#""by_path":{"/new":1}"#), "{counters}");
    assert_eq!(number(&counters, "open"), 1);
}

#[test]
fn arrivals_are_compared_with_a_grid() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    (0..10).for_each(|_| assert_eq!(client.get("/?delay=1ms").status, 200));
    let arrivals = ruler.command("arrivals?rate=1000");
    assert_eq!(number(&arrivals, "count"), 10);
    assert!(number(&arrivals, "gap_p50_us") >= 1000, "{arrivals}");
    assert!(arrivals.contains("\"off_grid_p99_us\":"), "{arrivals}");
}

#[test]
fn invalid_commands_are_rejected_with_a_sentence_and_change_nothing() {
    let ruler = Ruler::start(&[]);
    for (target, word) in [
        ("/_test-server/", "unknown endpoint"),
        ("/_test-server/nothing", "unknown endpoint"),
        ("/_test-server/set", "key=value"),
        ("/_test-server/set?status=404&color=red", "unknown key `color`"),
        ("/_test-server/set?status=404&delay=fast", "delay: invalid duration `fast`"),
        ("/_test-server/set?workers=4", "`service` time"),
        ("/_test-server/set?queue=4", "require `workers`"),
        ("/_test-server/set?fault=sulk", "unknown fault `sulk`"),
        ("/_test-server/set?pause=2s/1s", "shorter"),
        ("/_test-server/counters?x=1", "unknown parameter `x`: expected none"),
        ("/_test-server/quantiles?x=1", "unknown parameter `x`: expected q"),
        ("/_test-server/quantiles?q=2", "probability"),
        ("/_test-server/arrivals", "requires a rate"),
        ("/?status=99", "status: "),
        ("/?queue=3", "whole server"),
        ("/?fault=accept_then_reset", "whole server"),
        ("/?framing=chunked&http=1.0", "http=1.1"),
    ] {
        let answer = ruler.connect().get(target);
        let body = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.status, 400, "{target}");
        assert!(body.contains(word) && body.ends_with('\n'), "{target}: {body}");
    }
    assert_eq!(ruler.connect().get("/").status, 200);
}

#[test]
fn an_invalid_flag_exits_with_2_and_one_sentence() {
    for flags in [
        &["--color", "red"][..],
        &["red"],
        &["--delay"],
        &["--delay", "fast"],
        &["--listen", "nowhere"],
        &["--seconds", "0"],
        &["--until-stdin-closes=1"],
        &["--workers", "3"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_ruler")).args(flags).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {said}");
        assert!(said.starts_with("error: ") && said.lines().count() == 1, "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_port_in_use_exits_with_1() {
    let ruler = Ruler::start(&[]);
    let address = ruler.address.to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_ruler")).args(["--listen", &address]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains(&address));
}

#[test]
fn ends_when_stdin_closes_or_after_its_seconds() {
    assert!(Ruler::start(&[]).ends_with_stdin());
    let output = Command::new(env!("CARGO_BIN_EXE_ruler")).args(["--seconds", "1"]).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("1 s"));
}

#[test]
fn the_readme_names_every_key_and_fault_that_the_help_names() {
    let output = Command::new(env!("CARGO_BIN_EXE_ruler")).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let readme = include_str!("../README.md");
    let mut rows = 0;
    for line in help.lines().filter(|line| line.starts_with("  ") || line.starts_with("* ")) {
        let name = line[2..].split([' ', '=']).next().unwrap().trim_start_matches("--");
        let key = name.replace('-', "_");
        assert!(readme.contains(&format!("`{key}`")) || readme.contains(&format!("`--{name}")), "{name}");
        rows += 1;
    }
    assert!(rows > 45, "{rows}");
}
