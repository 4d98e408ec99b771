//! Load models where several scenarios or several addresses share a load, by what each got at the server.

use crate::bench::{Seen, all_at_once, steps, trial};
use crate::support::{Ruler, Scratch, Tool};
use std::os::unix::fs::MetadataExt;
use std::process::Command;

fn mix(order: &str, load: &str) -> String {
    format!(
        "seed: 4\nmix: {order}\nscenarios:\n  a: {{ weight: 5, steps: [ {{ get: /a }} ] \
            }}\n  b: {{ weight: 3, steps: [ {{ get: /b }} ] }}\n  \
         c: {{ weight: 2.5, steps: [ {{ get: /c }} ] }}\nload: {load}\n"
    )
}

#[test]
fn exact_weights_are_kept_to_less_than_one_in_any_model() {
    let loads = [
        "{ users: 1, iterations: 100 }",
        "{ users: 7, iterations: 333 }",
        "{ total_arrivals: 400, duration: 800ms }",
    ];
    all_at_once(
        &loads,
        |load| (*load).to_owned(),
        |load| {
            let seen = trial(mix("exact", load)).run();
            seen.expect_run(0);
            let all = seen.asked.len() as f64;
            for (path, weight) in [("/a", 5.0), ("/b", 3.0), ("/c", 2.5)] {
                let wanted = all * weight / 10.5;
                let got = seen.count(path) as f64;
                assert!((got - wanted).abs() < 1.0, "{got} of {path} instead of {wanted}");
            }
        },
    );
}

#[test]
fn random_weights_are_kept_on_the_whole() {
    let seen = trial(mix("random", "{ users: 2, iterations: 1000 }")).run();
    seen.expect_run(0);
    assert_eq!(seen.asked.len(), 1_000);
    // 476 of 1,000 with a deviation of 15.8; the seed is given.
    assert!((381..=571).contains(&seen.count("/a")), "{}", seen.count("/a"));
    assert!(seen.count("/c") > 140 && seen.count("/b") > 190);
}

/// Two workers share the row counter, the counter of iterations and the data.
#[test]
fn what_all_users_share_is_exact_with_any_number_of_workers() {
    let workers = ["1", "2", "4"];
    all_at_once(
        &workers,
        |workers| format!("{workers} workers"),
        |workers| {
            let rows: String = (0..200).map(|n| format!("{n}\n")).collect();
            let text = "data: { d: { file: d.csv, sharing: unique, on_end: stop, columns: [id] } }\n\
                        load: { users: 8, duration: 20s }\n";
            let seen = trial(format!("{text}{}", steps("- get: \"/x?id=${d.id}&n=${counter}\"")))
                .file("d.csv", rows)
                .args(&["-t", workers])
                .run();
            all_of(&seen, "id", 0..200);
            all_of(&seen, "n", 1..201);
            assert_eq!(seen.value_at("/totals/users_out_of_data"), 8);
            assert!(seen.elapsed.as_secs() < 15, "{:?}", seen.elapsed);
        },
    );
}

/// Every number of the range came once.
#[track_caller]
fn all_of(seen: &Seen, name: &str, range: std::ops::Range<u64>) {
    let mut all: Vec<u64> =
        seen.asked.iter().map(|asked| asked.query(name).unwrap().parse().unwrap()).collect();
    all.sort_unstable();
    assert_eq!(all, range.collect::<Vec<_>>(), "`{name}` at the server");
}

#[test]
fn shares_of_one_experiment_add_up_to_the_whole() {
    for (load, all) in [("{ users: 4, iterations: 100 }", 100), ("{ users: 5, iterations_per_user: 3 }", 15)]
    {
        let part = |share: &str| {
            let seen = trial(format!("load: {load}\n{}", steps("- get: /x"))).args(&["--shard", share]).run();
            seen.expect_run(0);
            seen.asked.len()
        };
        assert_eq!(["1/3", "2/3", "3/3"].map(part).iter().sum::<usize>(), all, "{load}");
    }
}

#[test]
fn scenarios_with_separate_loads_keep_their_counts_and_their_rows() {
    let text = "scenarios:\n  open: { load: { total_arrivals: 60, duration: 600ms }, steps: [ { get: /open } ] }\n  \
                closed: { load: { users: 3, iterations_per_user: 4 }, steps: [ { get: /closed }, { think: 20ms } ] \
                }\n  \
                late: { start_delay: 300ms, load: { users: 1, iterations: 5 }, steps: [ { get: /late } ] }\n  \
                rest: [ { get: /rest } ]\nload: { users: 2, iterations_per_user: 3 }\n";
    let seen = trial(text).run();
    seen.expect_run(0);
    seen.arrived("/open", 60);
    assert_eq!(["/closed", "/late", "/rest"].map(|path| seen.count(path)), [12, 5, 6]);
    for (name, number) in [("open", seen.count("/open")), ("closed", 12), ("late", 5)] {
        assert_eq!(seen.row("workloads", name)["requests"], number, "{}", seen.said["workloads"]);
        assert_eq!(seen.row("scenarios", name)["requests"], number);
    }
}

/// A name with two addresses: only a hosts file of the tool's own can say so, so it runs where one is mounted.
#[test]
fn all_addresses_of_a_name_are_loaded() {
    let one = Ruler::start(&[]);
    let port = one.port();
    let two = Ruler::start(&["--listen", &format!("127.0.0.2:{port}")]);
    let is_root = std::fs::metadata("/proc/self").expect("/proc is mounted").uid() == 0;
    for (addresses, spread) in [("first", false), ("all", true)] {
        let scratch = Scratch::new();
        let hosts = scratch.file("hosts", "127.0.0.1 two.test\n127.0.0.2 two.test\n");
        let text = format!(
            "target: http://two.test:{port}\nconnection: {{ reuse: request, addresses: {addresses} }}\n\
             scenarios: {{ one: [ {{ get: /x }} ] }}\nload: {{ users: 2, iterations: 20 }}\n"
        );
        let file = scratch.file("experiment.yaml", &text);
        let mut command = Command::new("unshare");
        command.args([if is_root { "-m" } else { "-rm" }, "sh", "-c"]);
        command.args(["mount --bind \"$0\" /etc/hosts && exec \"$@\"", &hosts, crate::support::BINARY]);
        command.args(["run", &file, "--json", "--out", &scratch.path("run.plim")]);
        let before = [one.requests(), two.requests()];
        let output = Tool::of(command).start().wait();
        let got = [one.requests() - before[0], two.requests() - before[1]];
        assert_eq!(got[0] + got[1], 20, "{addresses}\n{}\n{}", output.stderr, output.stdout);
        assert_eq!(got[1] > 0 && got[0] > 0, spread, "{addresses}: {got:?}");
    }
}

/// Runs with one connection for each request over two servers with weights 3 and 1; returns the result.
fn over_two(flag: bool, load: &str, shares: [u64; 2]) {
    let servers = [Ruler::start(&[]), Ruler::start(&[])];
    let (scratch, ports) = (Scratch::new(), servers.each_ref().map(Ruler::port));
    let list = match flag {
        true => String::new(),
        false => {
            format!(", addresses: [{{ address: 127.0.0.1:{}, weight: 3 }}, 127.0.0.1:{}]", ports[0], ports[1])
        }
    };
    let text = format!(
        "target: http://shop.test:{}\nconnection: {{ reuse: request{list} }}\nworkers: 2\n\
         scenarios: {{ one: [ {{ get: /x }} ] }}\nload: {load}\n",
        ports[0]
    );
    let file = scratch.file("experiment.yaml", &text);
    let addresses = format!("127.0.0.1:{}=3,127.0.0.1:{}", ports[0], ports[1]);
    let more: &[&str] = if flag { &["--addresses", &addresses] } else { &[] };
    let args = ["run", &file, "--json", "--out", &scratch.path("run.plim")];
    let output = Tool::run(&[&args[..], more].concat());
    let said = output.json();
    assert_eq!(servers.each_ref().map(Ruler::requests), shares, "{load}: {said:#}");
    let rows: Vec<(u64, u64)> = said["addresses"]
        .as_array()
        .unwrap_or_else(|| panic!("{said:#}"))
        .iter()
        .map(|row| (row["weight"].as_u64().unwrap_or(1), row["requests"].as_u64().unwrap()))
        .collect();
    assert_eq!(rows, [(3, shares[0]), (1, shares[1])], "{}", said["addresses"]);
    assert!(servers[0].last_request().contains(&format!("Host: shop.test:{}\r\n", ports[0])));
}

#[test]
fn addresses_with_weights_get_their_share_of_connections() {
    // Each user makes 100 connections: each of the two workers makes whole cycles of four.
    over_two(false, "{ users: 2, iterations_per_user: 100 }", [150, 50]);
    over_two(true, "{ users: 4, iterations_per_user: 10 }", [30, 10]);
}

#[test]
fn kept_connections_of_all_workers_are_divided_exactly() {
    let servers = [Ruler::start(&[]), Ruler::start(&[])];
    let addresses = format!("{}=3,{}=2", servers[0].address(), servers[1].address());
    let url = servers[0].url("/x");
    let said =
        Tool::run(&[&url, "--addresses", &addresses, "-c", "30", "-n", "3000", "-t", "2", "--json"]).json();
    // Of 30 connections 18 and 12, and the trial before the load.
    assert_eq!(servers.each_ref().map(Ruler::accepted), [19, 12], "{}", said["addresses"]);
}
