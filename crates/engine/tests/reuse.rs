//! Which connection a request uses, when connections are reused, and which addresses they connect.

use crate::support::actors::{diary, step};
use crate::support::*;
use plimsoll_engine::Stopped;
use plimsoll_engine::driver::sim::{Connect, Server};
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::link::{Http, Link, Reuse};
use plimsoll_plan::metric::{RunHist, RunSum, SeriesSum};
use plimsoll_plan::program::{BodyUse, Wake};
use plimsoll_plan::{Draft, Fault};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

fn with(reuse: Reuse, draft: Draft) -> Draft {
    Draft { link: Link { reuse, ..Link::default() }, ..draft }
}

/// (connection, path) of each request, in order of arrival.
type Seen = Rc<RefCell<Vec<(u64, String)>>>;

fn watched(
    mut answer: impl FnMut(&SimRequest<'_>) -> Answer,
) -> (impl FnMut(&SimRequest<'_>) -> Answer, Seen) {
    let seen = Seen::default();
    let noted = Rc::clone(&seen);
    let server = move |a: &SimRequest<'_>| {
        let path = String::from_utf8_lossy(a.bytes).split(' ').nth(1).unwrap_or_default().to_owned();
        noted.borrow_mut().push((a.connection, path));
        answer(a)
    };
    (server, seen)
}

/// Returns the paths that each connection carried.
fn by_connection(seen: &Seen) -> BTreeMap<u64, Vec<String>> {
    let mut paths: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (connection, path) in seen.borrow().iter() {
        paths.entry(*connection).or_default().push(path.clone());
    }
    paths
}

#[test]
fn in_a_pool_the_connection_used_last_goes_first() {
    // One round of three at once, with responses in order, then rounds of one and of two.
    let (factory, _) = diary(|scene, wake| {
        if let Wake::Begin { iteration, .. } = wake {
            match iteration {
                0 => {
                    (0..3).for_each(|id| scene.render(step(id, 0, BodyUse::Discard), &format!("/first{id}")))
                }
                1 => scene.render(step(0, 0, BodyUse::Discard), "/one"),
                2 => (0..2).for_each(|id| scene.render(step(id, 0, BodyUse::Discard), &format!("/two{id}"))),
                _ => scene.out.retire(),
            }
        }
    });
    let (server, seen) = watched(|a| Answer::ok((a.connection + 1) * 10 * MS));
    let out = Lab::new(with(Reuse::Pool, closed(1, 10.0))).factory(factory).run(server);
    out.check();
    let paths = seen.take();
    assert_eq!(paths[3], (2, "/one".into()), "{paths:?}");
    assert_eq!(paths[4..], [(2, "/two0".into()), (1, "/two1".into())]);
    assert_eq!(out.sum(RunSum::ConnOpened), 3);
}

#[test]
fn users_of_a_pool_share_what_is_idle_also_in_a_plain_sequence() {
    // 100 arrivals per second that take 15 ms each on one of ten: two connections at once are enough.
    let draft = Draft {
        load: LoadDraft { max_connections: Some(10), ..open(100.0, 0.995).load },
        ..open(100.0, 0.995)
    };
    let (server, seen) = watched(|_| Answer::ok(15 * MS));
    let out = Lab::new(with(Reuse::Pool, draft)).run(server);
    out.check_arrivals();
    assert_eq!((out.count(SeriesSum::Sent), out.sum(RunSum::ConnOpened)), (100, 2));
    assert_eq!(by_connection(&seen).len(), 2);

    // A sequence in the closed model: each user sends its requests in order, over any idle connection.
    let draft = Draft {
        requests: ["/a", "/b", "/c"].map(get).into(),
        load: LoadDraft { requests_total: Some(90), ..closed(3, 9.0).load },
        ..closed(3, 9.0)
    };
    let (server, seen) = watched(|a| Answer::ok((1 + a.total % 4) * MS));
    let out = Lab::new(with(Reuse::Pool, draft)).run(server);
    out.check();
    assert_eq!((out.stopped, out.sum(RunSum::ConnOpened)), (Stopped::Requests, 3));
    assert_eq!((out.count(SeriesSum::Finished), out.sum(RunSum::Iterations)), (90, 30));
    let of = |path: &str| seen.borrow().iter().filter(|(_, p)| p == path).count();
    assert_eq!([of("/a"), of("/b"), of("/c")], [30, 30, 30]);
}

#[test]
fn a_pool_of_connections_that_come_and_go_loses_and_repeats_nothing() {
    let draft = Draft {
        load: LoadDraft { max_connections: Some(50), ..open(500.0, 1.999).load },
        ..open(500.0, 1.999)
    };
    let draft = with(Reuse::Pool, draft);
    let out = Lab::new(draft).latency(100 * US).run(|a: &SimRequest<'_>| match a.total % 7 {
        0 => {
            Answer::silence().piece(MS, b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        }
        1 => Answer::ok(40 * MS),
        2 => Answer::silence().then(plimsoll_engine::driver::sim::Then::Reset),
        _ => Answer::ok(3 * MS),
    });
    out.check_arrivals();
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::ArrivalsQueued)), (1_000, 0));
}

#[test]
fn a_user_keeps_its_own_connection() {
    let (factory, _) = diary(|scene, wake| {
        if let Wake::Begin { .. } = wake {
            let path = format!("/{}", scene.slot.user);
            scene.render(step(0, 0, BodyUse::Discard), &path);
        }
    });
    let (server, seen) = watched(|a| Answer::ok((1 + a.total % 3) * MS));
    let out = Lab::new(closed(5, 0.2)).factory(factory).run(server);
    out.check();
    let paths = by_connection(&seen);
    assert_eq!(paths.len(), 5);
    assert!(paths.values().all(|p| p.len() > 50 && p.iter().all(|path| *path == p[0])));
}

#[test]
fn with_a_connection_for_each_iteration_none_outlives_it_however_many_it_needed() {
    // Two rounds of two at once, for three users, in both models.
    for draft in [
        closed(3, 0.5),
        Draft { load: LoadDraft { max_connections: Some(5), ..open(100.0, 0.5).load }, ..open(100.0, 0.5) },
    ] {
        let (factory, _) = diary(|scene, wake| {
            let round = match wake {
                Wake::Begin { iteration, .. } => {
                    *scene.number = *iteration * 10;
                    0
                }
                Wake::Reply(_) => {
                    *scene.number += 1;
                    if *scene.number % 10 != 2 {
                        return;
                    }
                    1
                }
                other => unreachable!("{other:?}"),
            };
            let path = format!("/{}-{}", scene.slot.user, *scene.number / 10);
            (0..2).for_each(|id| scene.render(step(10 * round + id, 0, BodyUse::Discard), &path));
        });
        let (server, seen) = watched(|a| Answer::ok((3 + a.total % 2) * MS));
        let out = Lab::new(with(Reuse::Iteration, draft)).factory(factory).run(server);
        out.check();
        let paths = by_connection(&seen);
        assert!(paths.len() > 80, "{}", paths.len());
        for (connection, paths) in &paths {
            assert!(paths.iter().all(|p| *p == paths[0]), "connection {connection} served {paths:?}");
            assert!(paths.len() <= 2, "once in each round: {paths:?}");
        }
        assert_eq!(out.sum(RunSum::ClosedByClient), 2 * out.sum(RunSum::Iterations));
    }
}

#[test]
fn with_a_connection_for_each_iteration_a_plain_sequence_keeps_one_from_first_to_last() {
    let draft = Draft {
        requests: ["/a", "/b"].map(get).into(),
        load: LoadDraft { requests_total: Some(40), ..closed(2, 9.0).load },
        ..closed(2, 9.0)
    };
    let (server, seen) = watched(|_| Answer::ok(MS));
    let out = Lab::new(with(Reuse::Iteration, draft)).run(server);
    out.check();
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedByClient)), (20, 20));
    assert!(by_connection(&seen).values().all(|paths| *paths == ["/a", "/b"]));
}

#[test]
fn with_a_connection_for_each_request_every_request_says_so() {
    let draft =
        Draft { load: LoadDraft { requests_total: Some(20), ..closed(2, 9.0).load }, ..closed(2, 9.0) };
    let out = Lab::new(with(Reuse::Request, draft)).run(|a: &SimRequest<'_>| {
        assert!(String::from_utf8_lossy(a.bytes).contains("\r\nConnection: close\r\n"));
        assert_eq!(a.number, 0);
        Answer::ok(MS)
    });
    out.check();
    assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedByClient)), (20, 20));
}

#[test]
fn a_connection_is_closed_after_so_many_requests() {
    for reuse in [Reuse::User, Reuse::Pool] {
        let link = Link { reuse, requests_per_connection: Some(3), ..Link::default() };
        let draft = Draft {
            load: LoadDraft { requests_total: Some(30), ..closed(2, 9.0).load },
            link,
            ..closed(2, 9.0)
        };
        let (server, seen) = watched(|_| Answer::ok(MS));
        let out = Lab::new(draft).run(server);
        out.check();
        assert_eq!((out.sum(RunSum::ConnOpened), out.sum(RunSum::ClosedByClient)), (10, 10), "{reuse:?}");
        assert!(by_connection(&seen).values().all(|paths| paths.len() == 3));
        assert_eq!(
            (out.hist(RunHist::ConnRequests).min(), out.hist(RunHist::ConnRequests).max()),
            (Some(3), Some(3))
        );
    }
}

#[test]
fn http_1_0_is_asked_for_and_a_connection_stays_only_if_the_server_says_so() {
    for (header, opened) in [("", 20), ("Connection: keep-alive\r\n", 2)] {
        let link = Link { http: Http::V10, ..Link::default() };
        let draft = Draft {
            load: LoadDraft { requests_total: Some(20), ..closed(2, 9.0).load },
            link,
            ..closed(2, 9.0)
        };
        let out = Lab::new(draft).run(move |a: &SimRequest<'_>| {
            assert!(a.bytes.starts_with(b"GET / HTTP/1.0\r\n"));
            Answer::silence()
                .piece(MS, format!("HTTP/1.1 200 OK\r\n{header}Content-Length: 0\r\n\r\n").as_bytes())
        });
        out.check();
        assert_eq!((out.sum(RunSum::ConnOpened), out.status(200)), (opened, 20));
    }
}

// ---- addresses --------------------------------------------------------------------------------------------------

/// Refuses the connections whose numbers the function selects.
struct Refusing(fn(u64) -> bool);
impl Server for Refusing {
    fn connect(&mut self, connection: u64, _: u64) -> Connect {
        if (self.0)(connection) { Connect::Refuse } else { Connect::Accept { after_ns: 0 } }
    }
    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        Answer::ok(MS)
    }
}

fn addresses() -> Vec<SocketAddr> {
    (1..4).map(|i| SocketAddr::from(([127, 0, 0, i], 8080))).collect()
}

#[test]
fn connections_take_turns_over_the_addresses_and_so_do_the_local_ones() {
    let sources: Vec<IpAddr> = (1..3).map(|i| IpAddr::from([127, 0, 1, i])).collect();
    let mut lab = Lab::new(closed(12, 0.05));
    lab.addresses = addresses();
    lab.draft.link.source_addresses.clone_from(&sources);
    let out = lab.run(Refusing(|_| false));
    out.check();
    let turns: Vec<_> = (0..12).map(|i| (addresses()[i % 3], Some(sources[i / 3 % 2]))).collect();
    assert_eq!(out.opened, turns);
    // Without local addresses, the kernel chooses.
    let out = run_fixed(closed(2, 0.05), MS);
    assert!(out.opened.iter().all(|(_, source)| source.is_none()));
}

#[test]
fn a_refused_attempt_goes_to_the_next_address_when_it_is_made_again() {
    let mut lab = Lab::new(closed(1, 1.0));
    lab.addresses = addresses();
    let out = lab.run(Refusing(|connection| connection < 2));
    out.check();
    assert_eq!(out.opened.iter().map(|(to, _)| *to).collect::<Vec<_>>(), addresses());
    assert_eq!(out.fault(Fault::ConnectionRefused), 2);
}

#[test]
fn workers_begin_their_turns_at_different_addresses() {
    let mut firsts = Vec::new();
    for worker in 0..3 {
        let mut lab = Lab::new(Draft { workers: Some(3), ..closed(3, 0.05) });
        (lab.addresses, lab.worker) = (addresses(), worker);
        let out = lab.run(Refusing(|_| false));
        firsts.push(out.opened[0].0);
    }
    assert_eq!(firsts, addresses(), "a user each, and together they load all three");
}

/// Connections that the workers of one machine open to each of two addresses with weights 3 and 1.
fn spread(draft: impl Fn() -> Draft, workers: u32) -> [usize; 2] {
    let mut sums = [0; 2];
    for worker in 0..workers {
        let mut lab = Lab::new(Draft { workers: Some(workers), ..draft() });
        (lab.addresses, lab.worker, lab.weights) = (addresses(), worker, vec![3, 1]);
        lab.addresses.truncate(2);
        let out = lab.run(Refusing(|_| false));
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += out.opened.iter().filter(|(to, _)| *to == addresses()[at]).count();
        }
    }
    sums
}

#[test]
fn weights_divide_the_connections_of_all_workers_exactly() {
    for (users, shares) in [(4, [3, 1]), (12, [9, 3]), (40, [30, 10]), (6, [5, 1])] {
        for workers in [1, 2, 3] {
            assert_eq!(spread(|| closed(users, 0.05), workers), shares, "{users} users, {workers} workers");
        }
    }
    // Of connections that are opened throughout the load, each worker opens whole cycles, and a part of one.
    let each_request = || {
        let mut draft =
            Draft { load: LoadDraft { requests_total: Some(800), ..closed(4, 9.0).load }, ..closed(4, 9.0) };
        draft.link.reuse = Reuse::Request;
        draft
    };
    assert_eq!(spread(each_request, 1), [600, 200]);
}
