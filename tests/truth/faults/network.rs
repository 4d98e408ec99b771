//! The network's side: what happens between the two, or in the server's kernel.

use super::fails;
use crate::help::{caution, count};
use crate::provoke::{FIREWALL, Line, ROUTES_FIRST, faults, firewall, json, middle, no_faults, only, shell};
use crate::support::{Ruler, namespace, run_alongside};

#[test]
fn a_listener_that_closes_in_the_middle_refuses_connections() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let args = [&ruler.url("/"), "-c", "5", "-d", "1s", "--no-keepalive"];
    no_faults(&middle(&ruler, &args, 0, || ()));

    let mut line = Line::to(&ruler);
    let said = middle(&ruler, &args, 99, || ruler.set("listen=off"));
    fails(&said);
    let refused = only(&said, "connection_refused", "network");
    assert_eq!(refused, count(&said, "/totals/errors"));
    let attempts = count(&said, "/client/connections/attempts");
    assert_eq!(attempts, count(&said, "/client/connections/opened") + refused);
    assert_eq!(line.counters()["requests"], count(&said, "/totals/requests_sent"));
    // A refused user must not hammer: 5 users that pause for 50, 100, 200, ... ms.
    assert!(refused <= 5 * 6, "{refused} attempts in less than a second");
}

#[test]
fn syns_that_vanish_are_a_connect_timeout() {
    namespace::inside(
        "faults::network::syns_that_vanish_are_a_connect_timeout",
        FIREWALL,
        run_alongside,
        || {
            let ruler = Ruler::start(&["--delay", "2ms"]);
            let limit = "connect_timeout_ns=300ms";
            let args = [&ruler.url("/"), "-c", "5", "-d", "2s", "--no-keepalive", "--limit", limit];
            no_faults(&middle(&ruler, &args, 0, || ()));

            let vanish = format!("tcp dport {} tcp flags syn drop", ruler.port());
            let said = middle(&ruler, &args, 99, || firewall(&vanish));
            fails(&said);
            let timed_out = only(&said, "connect_timeout", "network");
            assert_eq!(timed_out, count(&said, "/totals/errors"));
            let told = caution(&said, "censored_by_timeouts");
            assert!(told["evidence"].as_str().unwrap().contains("while connecting"), "{told}");
            let longest = count(&said, "/response_time/percentiles/5/value_ns");
            assert!(longest >= 300_000_000, "p99.9 holds the waits: {longest} ns");
        },
    );
}

#[test]
fn a_listen_queue_that_is_full_is_a_connect_timeout() {
    let _turn = run_alongside();
    // The ruler accepts `most` connections; the kernel's queue after them has room for one more than `queue`.
    let start = |most, queue| {
        Ruler::start(&[
            "--max-connections",
            most,
            "--leave-in-backlog",
            "1",
            "--backlog",
            queue,
            "--delay",
            "2ms",
        ])
    };
    let limit = "connect_timeout_ns=300ms";
    let run = |ruler: &Ruler, code| {
        json(&[&ruler.url("/"), "-c", "20", "-d", "1500ms", "--timeout", "300ms", "--limit", limit], code)
    };
    no_faults(&run(&start("50", "50"), 0));

    let ruler = start("8", "1");
    let said = run(&ruler, 99);
    let found = faults(&said);
    // The connections in the queue look connected to the client, but get no response.
    assert!(found.keys().all(|class| ["connect_timeout", "timeout"].contains(&class.as_str())), "{found:?}");
    assert_eq!(found["connect_timeout"].0, "network");
    assert!(found["connect_timeout"].1 >= 9, "{found:?}");
}

#[test]
fn a_host_without_a_route_is_unreachable() {
    namespace::inside(
        "faults::network::a_host_without_a_route_is_unreachable",
        ROUTES_FIRST,
        run_alongside,
        || {
            let ruler = Ruler::start(&["--delay", "2ms"]);
            let args = [&ruler.url("/"), "-c", "5", "-d", "1s", "--no-keepalive"];
            no_faults(&middle(&ruler, &args, 0, || ()));
            let rule = format!("ip rule add pref 50 ipproto tcp dport {} unreachable", ruler.port());
            let said = middle(&ruler, &args, 99, || {
                shell(&rule);
            });
            fails(&said);
            only(&said, "host_unreachable", "network");
        },
    );
}

/// An answer from the way itself (ICMP) instead of a route that is missing here.
#[test]
fn a_router_that_says_no_is_unreachable() {
    namespace::inside(
        "faults::network::a_router_that_says_no_is_unreachable",
        FIREWALL,
        run_alongside,
        || {
            let ruler = Ruler::start(&["--delay", "2ms"]);
            let args = [&ruler.url("/"), "-c", "5", "-d", "1s", "--no-keepalive"];
            no_faults(&middle(&ruler, &args, 0, || ()));
            let rule =
                format!("tcp dport {} tcp flags syn reject with icmpx type host-unreachable", ruler.port());
            let said = middle(&ruler, &args, 99, || firewall(&rule));
            fails(&said);
            only(&said, "host_unreachable", "network");
        },
    );
}
