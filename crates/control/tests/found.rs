//! Origins that programs ask for during a session, with real sockets: they are subject to the policy, tried once for
//! all users and phases, and part of the record; or refused with a reason.

use crate::certificate::Certificate;
use crate::found_support::*;
use plimsoll_plan::Draft;
use plimsoll_plan::link::{Link, Tls, TlsFiles};
use plimsoll_plan::metric::SeriesSum;
use plimsoll_plan::origin::ORIGINS_MAX;
use plimsoll_plan::program::{Outbox, Phase, Wake};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex};

#[test]
fn many_users_of_two_workers_share_one_trial_of_an_origin() {
    let server = Server::new();
    let port = server.port;
    let base = Draft { workers: Some(2), ..draft(10, 40) };
    let ran = session(base, &[], move |_, wake, out| match wake {
        Wake::Begin { .. } => out.reach(1, target("127.0.0.1", port)),
        Wake::Reached { id: 1, result: Ok(origin) } => get(out, *origin, port),
        _ => {}
    });
    assert_eq!(ran.log.iter().filter(|line| line.as_str() == "load: reached 1 origin 0").count(), 40);
    let connections = server.connections();
    assert_eq!(
        connections.iter().filter(|requests| **requests == 0).count(),
        1,
        "one trial: {connections:?}"
    );
    assert_eq!(connections.len(), 11, "and one connection for each user: {connections:?}");
    assert_eq!(connections.iter().sum::<u64>(), 40);
    let machine = ran.machine();
    let outline = &machine.opening.outline;
    let name = format!("http://127.0.0.1:{port}");
    assert_eq!(outline.origins.iter().map(|origin| origin.name.as_str()).collect::<Vec<_>>(), [&name]);
    assert_eq!((outline.target.as_str(), outline.describe_target()), ("", name.clone()));
    let way = &machine.found[0].way;
    assert_eq!((&way.addresses[..], way.is_same_machine), (&["127.0.0.1".to_owned()][..], true));
    assert!(way.first_connect_ns > 0 && machine.opening.environment.is_same_machine);
    let summary = plimsoll_analysis::summarise(&ran.record);
    assert_eq!(summary.target, name);
    assert_eq!((summary.by_origin.len(), summary.by_origin[0].requests), (1, 40));
    assert_eq!(summary.by_origin[0].name, name);
}

#[test]
fn a_target_of_the_plan_comes_before_the_origins_that_are_found() {
    let (one, two) = (Server::new(), Server::new());
    let ports = [one.port, two.port];
    let base = Draft { target: Some(target("127.0.0.1", one.port)), ..draft(1, 2) };
    let ran = session(base, &[], move |_, wake, out| match wake {
        Wake::Begin { .. } => {
            (0..).zip(ports).for_each(|(id, port)| out.reach(id, target("127.0.0.1", port)))
        }
        Wake::Reached { id, result: Ok(origin) } => get(out, *origin, ports[*id as usize]),
        _ => {}
    });
    let outline = &ran.machine().opening.outline;
    let names: Vec<&str> = outline.origins.iter().map(|origin| origin.name.as_str()).collect();
    assert_eq!(names, [&format!("127.0.0.1:{}", ports[0]), &format!("http://127.0.0.1:{}", ports[1])]);
    assert_eq!([one, two].map(|server| server.connections().iter().sum::<u64>()), [2, 2]);
}

#[test]
fn an_origin_found_in_the_setup_has_its_number_in_the_load_and_in_the_teardown() {
    let server = Server::new();
    let port = server.port;
    let known = Arc::new(Mutex::new(None));
    let base = draft(2, 4);
    let ran = session_with(base, &[], &[Phase::Setup, Phase::Teardown], move |phase, wake, out| {
        match (phase, wake) {
            (Phase::Setup, Wake::Begin { .. }) => out.reach(1, target("127.0.0.1", port)),
            (Phase::Setup, Wake::Reached { result: Ok(origin), .. }) => {
                *known.lock().unwrap() = Some(*origin);
                get(out, *origin, port);
            }
            // The number alone is enough.
            (_, Wake::Begin { .. }) => get(out, known.lock().unwrap().unwrap(), port),
            _ => {}
        }
    });
    assert_eq!(ran.log[..2], ["setup: reached 1 origin 0", "setup: reply 200"]);
    assert_eq!(ran.log.last().map(String::as_str), Some("teardown: reply 200"));
    let connections = server.connections();
    assert_eq!(connections.iter().sum::<u64>(), 1 + 4 + 1);
    assert_eq!(
        connections.iter().filter(|requests| **requests == 0).count(),
        1,
        "one trial: {connections:?}"
    );
    assert_eq!(ran.machine().opening.outline.origins.len(), 1);
    assert_eq!(ran.machine().found.len(), 1);
}

/// Asks for one origin once, and returns what the program got.
fn ask(base: Draft, allow: &[&str], host: &'static str, port: u16) -> String {
    let ran = session(base, allow, move |_, wake, out| {
        if let Wake::Begin { .. } = wake {
            out.reach(1, target(host, port));
        }
    });
    assert_eq!(ran.log.len(), 1, "{:?}", ran.log);
    ran.log[0].clone()
}

#[test]
fn a_public_host_requires_permission_during_the_load_too() {
    // TEST-NET-3 (RFC 5737): nothing is there.
    let got = ask(quick(), &[], "203.0.113.7", 9);
    assert!(got.starts_with("load: reached 1 OriginRefused `203.0.113.7` is a public address"), "{got}");
    let got = ask(quick(), &["203.0.113.7"], "203.0.113.7", 9);
    assert!(!got.contains("OriginRefused"), "{got}");
    // Never, even with permission.
    let got = ask(quick(), &["169.254.169.254"], "169.254.169.254", 80);
    assert!(got.contains("OriginRefused `169.254.169.254` cannot be loaded, even with permission"), "{got}");
}

#[test]
fn a_mapped_name_needs_neither_a_resolver_nor_permission() {
    let server = Server::new();
    let resolve = vec![("shop.invalid".to_owned(), Ipv4Addr::LOCALHOST.into())];
    let base = Draft { link: Link { resolve, ..Link::default() }, ..draft(1, 1) };
    assert_eq!(ask(base, &[], "Shop.invalid", server.port), "load: reached 1 origin 0");
    let got = ask(draft(1, 1), &[], "shop.invalid", server.port);
    assert!(got.contains("DnsFailed cannot resolve host `shop.invalid`"), "{got}");
}

#[test]
fn a_closed_port_is_the_networks_fault_and_is_tried_again_after_a_second() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let held = Arc::new(Mutex::new(None));
    let ran = session(draft(1, 1), &[], move |_, wake, out| match wake {
        Wake::Begin { .. } => out.reach(1, target("127.0.0.1", free.port())),
        Wake::Reached { id: 1, .. } => {
            // The failure is still remembered.
            *held.lock().unwrap() = Some(TcpListener::bind(free).unwrap());
            out.reach(2, target("127.0.0.1", free.port()));
        }
        Wake::Reached { id: 2, .. } => out.sleep(9, 1_100_000_000),
        Wake::Slept { .. } => out.reach(3, target("127.0.0.1", free.port())),
        _ => {}
    });
    let refused =
        format!("ConnectionRefused nothing listens on `127.0.0.1:{}` (connection refused)", free.port());
    assert_eq!(ran.log[0], format!("load: reached 1 {refused}"));
    assert_eq!(ran.log[1], format!("load: reached 2 {refused}"));
    assert_eq!(ran.log[3], "load: reached 3 origin 0");
}

#[test]
fn a_dead_host_is_not_tried_for_each_iteration() {
    // It accepts and closes, so that attempts can be counted.
    let server = Server::closing();
    let port = server.port;
    let base = Draft { workers: Some(2), ..draft(10, 300) };
    let ran = session(base, &[], move |_, wake, out| {
        if let Wake::Begin { .. } = wake {
            out.reach(1, tls_target("127.0.0.1", port));
        }
    });
    assert_eq!(ran.log.len(), 300);
    assert!(ran.log.iter().all(|line| line.contains("Tls")), "{:?}", ran.log[0]);
    // Trial connection and handshake, again after a second at most on a slow machine.
    assert!(server.connections().len() <= 6, "{}", server.connections().len());
}

#[test]
fn the_certificate_of_an_origin_is_checked_by_the_settings_of_the_plan() {
    for (tls, ca, expected) in [
        (None, false, "load: reached 1 CertificateRejected"),
        (Some(Tls { insecure: true, ..Tls::default() }), false, "load: reached 1 origin 0"),
        (None, true, "load: reached 1 origin 0"),
    ] {
        let certificate = Certificate::new();
        let (port, requests) = certificate.serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        let tls_files =
            TlsFiles { ca: if ca { vec![certificate.pem()] } else { Vec::new() }, ..TlsFiles::default() };
        let base = Draft { link: Link { tls, ..Link::default() }, tls_files, ..draft(1, 1) };
        let ran = session(base, &[], move |_, wake, out| match wake {
            Wake::Begin { .. } => out.reach(1, tls_target("127.0.0.1", port)),
            Wake::Reached { result: Ok(origin), .. } => get(out, *origin, port),
            _ => {}
        });
        assert!(ran.log[0].starts_with(expected), "{:?}", ran.log);
        let sent = requests.try_iter().filter(|request| request.starts_with("GET ")).count();
        assert_eq!(sent, usize::from(expected.ends_with("origin 0")));
    }
}

#[test]
fn a_run_has_at_most_as_many_origins_as_a_plan() {
    // One listener has all addresses of the loopback network.
    let server = Server::on(Ipv4Addr::UNSPECIFIED);
    let port = server.port;
    let host = |number: u32| format!("127.1.{}.{}", number / 250, number % 250 + 1);
    let count = ORIGINS_MAX as u32 + 1;
    let ran = session(draft(1, 1), &[], move |_, wake, out: &mut Outbox| {
        if let Wake::Begin { .. } = wake {
            (0..count).for_each(|id| out.reach(id, target(&host(id), port)));
        }
    });
    let refused: Vec<&String> = ran.log.iter().filter(|line| !line.contains(" origin ")).collect();
    assert_eq!((ran.log.len(), refused.len()), (ORIGINS_MAX + 1, 1));
    assert!(
        refused[0].ends_with("OriginRefused the run has 256 origins already, which is the limit"),
        "{refused:?}"
    );
    assert_eq!(ran.machine().opening.outline.origins.len(), ORIGINS_MAX);
}

#[test]
fn a_wait_for_an_origin_ends_with_the_run() {
    // It accepts and says nothing, so the handshake takes as long as the plan allows.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let mut base = draft(2, 1);
    (base.load.iterations, base.load.duration_ns) = (None, Some(300_000_000));
    let ran = session(base, &[], move |_, wake, out| {
        if let Wake::Begin { .. } = wake {
            out.reach(1, tls_target("127.0.0.1", port));
        }
    });
    assert!(ran.log.is_empty(), "{:?}", ran.log);
    let elapsed_ns = ran.machine().ending.as_ref().unwrap().elapsed_ns;
    assert!(elapsed_ns < 2_000_000_000, "{elapsed_ns}");
    let sent: u64 = ran.machine().totals.series.iter().map(|one| one.sum_of(SeriesSum::Sent)).sum();
    assert_eq!(sent, 0);
}
