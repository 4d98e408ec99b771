//! A plan with several origins: each request goes to its own, over connections that belong to it.

use crate::support::*;
use plimsoll_engine::driver::sim::Server;
use plimsoll_plan::link::{Link, Reuse};
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::origin::NamedTarget;
use plimsoll_plan::{Draft, Fault, Target};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

/// The hosts in the requests on each connection, and the number of requests.
type ArrivalLog = Rc<RefCell<Vec<(Vec<String>, u64)>>>;

struct Listening(ArrivalLog);

impl Server for Listening {
    fn answer(&mut self, asked: &SimRequest<'_>) -> Answer {
        let text = String::from_utf8_lossy(asked.bytes);
        let host = text.split("Host: ").nth(1).and_then(|rest| rest.split("\r\n").next()).expect("a host");
        let mut told = self.0.borrow_mut();
        let needed = told.len().max(asked.connection as usize + 1);
        told.resize_with(needed, Default::default);
        let (hosts, requests) = &mut told[asked.connection as usize];
        if hosts.iter().all(|known| known != host) {
            hosts.push(host.to_owned());
        }
        *requests += 1;
        Answer::ok(MS)
    }
}

/// Two requests to the target, and between them one to each of two other origins.
fn draft(base: Draft, reuse: Reuse) -> Draft {
    let at = |host: &str, port| Target { host: host.into(), port, tls: false };
    let to = |path: &str, origin| plimsoll_plan::Request { origin, ..get(path) };
    Draft {
        more_origins: vec![
            NamedTarget { name: "users".into(), target: at("127.0.0.2", 8081) },
            NamedTarget { name: String::new(), target: at("127.0.0.3", 8082) },
        ],
        requests: vec![to("/a", 0), to("/users", 1), to("/stock", 2), to("/b", 0)],
        link: Link { reuse, ..Link::default() },
        ..base
    }
}

fn run(base: Draft, reuse: Reuse) -> (Outcome, ArrivalLog) {
    let mut lab = Lab::new(draft(base, reuse));
    lab.more_addresses =
        vec![SocketAddr::from(([127, 0, 0, 2], 8081)), SocketAddr::from(([127, 0, 0, 3], 8082))];
    let told = ArrivalLog::default();
    let out = lab.run(Listening(Rc::clone(&told)));
    out.check();
    for ((hosts, _), (to, _)) in told.borrow().iter().zip(&out.opened) {
        assert!(hosts.is_empty() || hosts[..] == [to.to_string()], "{to} received the hosts {hosts:?}");
    }
    (out, told)
}

/// The same with a total number of requests.
fn limited(requests: u64, mut base: Draft) -> Draft {
    base.load.requests_total = Some(requests);
    base
}

/// Returns the number of connections to each origin.
fn opened(out: &Outcome) -> [usize; 3] {
    [8080, 8081, 8082].map(|port| out.opened.iter().filter(|(to, _)| to.port() == port).count())
}

#[test]
fn a_user_keeps_a_connection_to_each_origin() {
    let (out, _) = run(closed(3, 1.0), Reuse::User);
    assert_eq!(opened(&out), [3, 3, 3]);
    assert!(out.status(200) > 500 && out.sum(RunSum::ClosedByClient) == 0);
}

#[test]
fn a_pool_holds_connections_of_each_origin_apart() {
    let (out, told) = run(limited(400, open(200.0, 2.0)), Reuse::Pool);
    assert!(opened(&out).iter().all(|count| (1..=2).contains(count)), "{:?}", opened(&out));
    assert_eq!(told.borrow().iter().map(|(_, requests)| requests).sum::<u64>(), 400);
}

#[test]
fn an_iteration_that_begins_without_connections_opens_one_to_each_origin() {
    let (out, told) = run(limited(40, closed(2, 5.0)), Reuse::Iteration);
    assert_eq!(opened(&out), [10, 10, 10]);
    for ((_, requests), (to, _)) in told.borrow().iter().zip(&out.opened) {
        assert_eq!(*requests, if to.port() == 8080 { 2 } else { 1 });
    }
}

#[test]
fn arrivals_are_all_served_whatever_origins_they_go_to() {
    let (out, _) = run(open(100.0, 2.0), Reuse::User);
    assert_eq!((out.status(200), out.sum(RunSum::ArrivalsCompleted)), (4 * 200, 200));
}

/// The second origin refuses all connections.
struct Half;

impl Server for Half {
    fn connect(&mut self, connection: u64, _: u64) -> plimsoll_engine::driver::sim::Connect {
        use plimsoll_engine::driver::sim::Connect;
        // One user: its first connection goes to the target, its second is refused.
        if connection % 2 == 1 { Connect::Refuse } else { Connect::Accept { after_ns: 0 } }
    }
    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        Answer::ok(MS)
    }
}

#[test]
fn an_origin_that_refuses_costs_its_own_requests_only() {
    let mut two = draft(limited(8, closed(1, 60.0)), Reuse::Iteration);
    two.requests.truncate(2);
    two.more_origins.truncate(1);
    let mut lab = Lab::new(two);
    lab.more_addresses = vec![SocketAddr::from(([127, 0, 0, 2], 8081))];
    let out = lab.run(Half);
    out.check();
    assert_eq!((out.status(200), out.fault(Fault::ConnectionRefused)), (4, 4));
    assert!(
        out.opened.iter().enumerate().all(|(at, (to, _))| to.port() == if at % 2 == 1 { 8081 } else { 8080 })
    );
}
