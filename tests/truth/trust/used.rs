//! Cautions about connections: without reuse, used unevenly, or near a limit.

use super::{silent, warns};
use crate::help::{caution, count};
use crate::provoke::{Elsewhere, json};
use crate::support::{Ruler, Tool, alone, alongside_first, namespace};

#[test]
fn connections_that_the_server_ends_after_each_answer_are_said() {
    alongside_first(|| {
        let ruler = Ruler::start(&[]);
        let run = |path: &str, n: &str, more: &[&str]| {
            let url = ruler.url(path);
            json(&[&[url.as_str(), "-c", "4", "-n", n], more].concat(), 0)
        };
        let told = warns(&run("/?close=1", "500", &[]), "connections_not_reused");
        assert!(told.contains("after 1.00 requests each"), "{told}");
        // Connections that stay, connections that were not meant to, and a server that ends them so seldom that it
        // costs nothing: 100 answers of 1 ms for a connection of some 50 us.
        silent(&run("/", "500", &[]), "connections_not_reused");
        silent(&run("/?close=1", "500", &["--no-keepalive"]), "connections_not_reused");
        ruler.set("keep_alive_requests=50&delay=1ms");
        let seldom = run("/", "2000", &[]);
        assert!(count(&seldom, "/client/connections/closed_by_server") >= 30, "{}", seldom["client"]);
        silent(&seldom, "connections_not_reused");
    });
}

/// Two of twenty users are served; the others were accepted by the kernel only, and starve.
#[test]
fn a_few_connections_that_get_everything_are_said() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "2ms", "--max-connections", "2", "--leave-in-backlog"]);
        let said = Tool::run(&[&ruler.url("/"), "-c", "20", "-d", "1s", "--json"]).json();
        let told = warns(&said, "connections_unfair");
        assert!(told.starts_with("2 of 20 connections got 9"), "{told}");
        assert!(told.contains("Jain's index 0.1"), "{told}");
        // The two that are served may have their responses and no next request yet.
        let at_stop = count(&said, "/totals/in_flight_at_end");
        assert!((18..=20).contains(&at_stop), "{at_stop}");
        drop(ruler);

        let fair = Ruler::start(&["--delay", "2ms"]);
        let url = fair.url("/");
        for load in [&["-c", "20", "-d", "1s"][..], &["-c", "20", "-n", "2000"], &["--stages", "1s:40"]] {
            let calm = Tool::run(&[&[url.as_str(), "--json"], load].concat()).json();
            silent(&calm, "connections_unfair");
        }
    });
}

/// 2,000 ports last for 33 connections a second, a minute each. The run itself uses 120 of them.
#[test]
fn ports_that_would_run_out_within_a_minute_are_said() {
    let narrow = "sysctl -qw net.ipv4.ip_local_port_range='10000 11999'";
    namespace::inside(
        "trust::used::ports_that_would_run_out_within_a_minute_are_said",
        narrow,
        alone,
        || {
            let elsewhere = Elsewhere::new("10.77.0.1/24", "10.77.0.2/24");
            let there = elsewhere.ruler("10.77.0.2:0");
            let run = |ruler: &Ruler, more: &[&str]| {
                Tool::run(&[&[ruler.url("/").as_str(), "-r", "60", "-d", "2s", "--json"], more].concat())
                    .json()
            };
            let said = run(&there, &["--no-keepalive"]);
            assert_eq!(caution(&said, "low_ephemeral_ports")["severity"], "warning");
            let told = warns(&said, "low_ephemeral_ports");
            assert!(told.contains(": 3,") && told.contains("of 2,000 ports"), "{told}");
            silent(&said, "client_ports_exhausted");
            silent(&run(&there, &[]), "low_ephemeral_ports");
            // The loopback does not run out, and a result from there must not be trusted to carry over.
            let here = run(&Ruler::start(&[]), &["--no-keepalive"]);
            assert_eq!(caution(&here, "low_ephemeral_ports")["severity"], "note");
            assert!(warns(&here, "low_ephemeral_ports").contains("after a second"), "{}", here["cautions"]);
        },
    );
}
