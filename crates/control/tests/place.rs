//! Finding the target: names, the trial connection, and whether it is on the same machine.

use plimsoll_control::environment::{environment, same_machine};
use plimsoll_control::session::Way;
use plimsoll_control::{Error, Resolved, dns, place};
use plimsoll_plan::Target;
use plimsoll_plan::limit::Limits;
use plimsoll_plan::origin::Origin;
use std::net::TcpListener;

fn origin(host: &str, port: u16) -> Origin {
    Origin { name: host.into(), host: host.into(), port, tls: None, is_http2: false }
}

/// A port of this machine without a listener: it was free a moment ago, and only listeners take ports by
/// number.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_literal_address_needs_no_resolver() {
    for host in ["127.0.0.1", "::1", "203.0.113.5"] {
        let found = dns::resolve(&Target { host: host.into(), port: 81, tls: false }).unwrap();
        assert_eq!((found.addresses.len(), found.first().port(), found.dns_ns), (1, 81, 0), "{host}");
    }
}

#[test]
fn localhost_resolves_to_distinct_addresses() {
    let found = dns::resolve(&Target { host: "localhost".into(), port: 80, tls: false }).unwrap();
    let mut once = found.addresses.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), found.addresses.len());
    assert!(found.addresses.iter().all(|a| a.ip().is_loopback()));
}

#[test]
fn the_address_that_accepts_the_connection_is_used() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut found = Resolved {
        // This port of the second loopback address has no listener.
        addresses: vec![([127, 0, 0, 2], port).into(), ([127, 0, 0, 1], port).into()],
        dns_ns: 5,
        route: None,
        proxy: None,
        weights: Vec::new(),
    };
    place::knock(&mut found, &origin("localhost", port), &Limits::default()).unwrap();
    assert_eq!(found.first().to_string(), format!("127.0.0.1:{port}"));
    assert_eq!(found.addresses.len(), 2);
}

#[test]
fn a_closed_port_is_an_error_with_a_hint() {
    let port = closed_port();
    let mut found = Resolved {
        addresses: vec![([127, 0, 0, 1], port).into()],
        dns_ns: 0,
        weights: Vec::new(),
        route: None,
        proxy: None,
    };
    let error = place::knock(&mut found, &origin("127.0.0.1", port), &Limits::default()).unwrap_err();
    assert!(matches!(error, Error::NobodyListens { .. }));
    assert_eq!(error.to_string(), format!("nothing listens on `127.0.0.1:{port}` (connection refused)"));
    assert!(error.hint().unwrap().contains("start the service"));
    let error = place::knock(&mut found, &origin("localhost", port), &Limits::default()).unwrap_err();
    let by = format!("nothing listens on `localhost:{port}` (connection refused by 127.0.0.1:{port})");
    assert_eq!(error.to_string(), by);
}

#[test]
fn loopback_and_local_addresses_mean_the_same_machine() {
    let own = ["192.0.2.7".parse().unwrap()];
    for (address, same) in
        [("127.0.0.5", true), ("::1", true), ("0.0.0.0", true), ("192.0.2.7", true), ("192.0.2.8", false)]
    {
        assert_eq!(same_machine(address.parse().unwrap(), &own), same, "{address}");
    }
    assert!(same_machine("::ffff:192.0.2.7".parse().unwrap(), &own));
}

#[test]
fn the_environment_distinguishes_all_cpus_from_allowed_cpus() {
    let way = |last, first_connect_ns| Way {
        origin: origin("shop.test", 80),
        place: Resolved {
            addresses: vec![([127, 0, 0, last], 80).into()],
            dns_ns: 0,
            weights: Vec::new(),
            route: None,
            proxy: None,
        },
        tls: None,
        is_host_allowed: false,
        first_connect_ns,
        beyond: None,
    };
    let here = environment(&[way(1, 5), way(2, 7)], "1.2.3", 0);
    assert!(here.cpus >= 1 && here.cpus_online >= here.cpus, "{here:?}");
    assert!(here.is_same_machine && here.first_connect_ns == 5);
    let there = &here.more_origins[0];
    assert_eq!(
        (here.more_origins.len(), there.first_connect_ns, &there.addresses[..]),
        (1, 7, &["127.0.0.2".to_owned()][..])
    );
}
