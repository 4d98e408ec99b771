//! HTTP/2 against servers that do anything at any time: every request ends once, and the worker neither stops nor loses
//! count of its connections.

use crate::http2::{reuse, timeout, total};
use crate::support::actors::{diary, step};
use crate::support::frames::{
    self, Says, ServerRequest, data, goaway, head, ok, peer, rst, says, settings, update,
};
use crate::support::*;
use plimsoll_engine::Stopped;
use plimsoll_engine::driver::sim::{Connect, Then};
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::link::Reuse;
use plimsoll_plan::metric::{RunSum, SeriesSum, StreamSum};
use plimsoll_plan::program::{BodyUse, Wake};
use plimsoll_plan::{Draft, Fault};
use plimsoll_stats::random::SplitMix64;

struct Dice(SplitMix64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(SplitMix64::new(seed))
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0.next_u64() % most
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// What a server says to a request; bad moods are rarer if `calm` is large.
fn mood(dice: &mut Dice, asked: &ServerRequest, calm: u64) -> Says {
    let (stream, late) = (asked.stream, dice.below(20) * MS);
    let good = match dice.below(3) {
        0 => says().at(late, ok(stream, b"ok")),
        1 => says().at(late, head(stream, 204, &[], true)),
        _ => says().at(late, head(stream, 200, &[], false)).at(late + MS, data(stream, &[b'x'; 3_000], true)),
    };
    if !dice.one_in(calm) {
        return good;
    }
    let last = stream.saturating_sub(2 * dice.below(6) as u32);
    match dice.below(18) {
        0 => says().at(late, rst(stream, frames::REFUSED)),
        1 => says().at(late, rst(stream, frames::INTERNAL_ERROR)),
        2 => good.at(late, goaway(last, frames::NO_ERROR)),
        3 => good.at(0, goaway(0x7fff_ffff, 0)).at(late, goaway(last, 0)),
        4 => says().at(late, goaway(last, frames::CALM)),
        5 => good.then(Then::Close),
        6 => good.then(Then::Reset),
        7 => says().at(late, vec![]).then(Then::Close),
        8 => says().at(late, frames::frame(frames::PING, 0, 0, b"bad")),
        9 => says(),
        10 => good.at(0, settings(&[(3, dice.below(4) as u32)])).at(30 * MS, settings(&[(3, 50)])),
        11 => says().at(late, head(stream, 200, &[("content-length", "7")], true)),
        // Of a request that is not sent yet, perhaps.
        12 => says().at(late, [ok(stream, b"ok"), ok(stream + 2, b"ok")].concat()),
        13 => says().at(late, [head(stream, 200, &[], false), rst(stream, frames::REFUSED)].concat()),
        14 => good.at(0, settings(&[(4, dice.below(100_000) as u32)])),
        15 => good.at(0, update(0, 1_000)).at(0, update(stream, 1_000)),
        16 => says().at(late, [ok(stream, b"ok"), goaway(last, 0)].concat()).then(Then::Close),
        _ => good.at(late + 2 * MS, rst(stream, frames::CANCEL)),
    }
}

fn connects(mut dice: Dice) -> impl FnMut(u64) -> Connect {
    move |_| match dice.below(30) {
        0 => Connect::Refuse,
        1 => Connect::Never,
        2 => Connect::Errno(libc::EMFILE),
        3 => Connect::Errno(libc::ENETUNREACH),
        4 => Connect::Greet { bytes: b"", close: true },
        5 => Connect::Greet { bytes: b"\0\0\0\x04\0\0\0\0\0", close: true },
        n => Connect::Accept { after_ns: n * 100 * US },
    }
}

fn assert_books(out: &Outcome, what: &str) {
    let (sent, ended) = (out.count(SeriesSum::Sent), out.count(SeriesSum::Ended));
    let left = out.sum(RunSum::InFlightAtEnd) + out.count(StreamSum::OpenAtEnd);
    assert_eq!(sent, ended + left, "{what}: sent = ended + in flight");
    let client = out.client_faults();
    let answers: u64 = (100..600).map(|status| out.status(status)).sum();
    let faults: u64 = out.faults().iter().map(|(_, n)| n).sum();
    assert_eq!(out.count(SeriesSum::Finished), answers + faults - client, "{what}: {:?}", out.faults());
    let closed =
        [RunSum::ClosedByServer, RunSum::ClosedByClient, RunSum::ClosedAfterError, RunSum::OpenAtEnd];
    let closed: u64 = closed.iter().map(|sum| out.sum(*sum)).sum();
    assert_eq!(out.sum(RunSum::ConnOpened), closed, "{what}: each connection that was opened has one end");
    assert_eq!(out.calls.open_now, 0, "{what}");
}

fn run(seed: u64) -> Outcome {
    let mut dice = Dice::new(seed);
    let reused = [Reuse::User, Reuse::Pool, Reuse::Iteration, Reuse::Request][dice.below(4) as usize];
    let can_share = matches!(reused, Reuse::User | Reuse::Pool);
    let streams = if can_share { [1, 2, 5, 20][dice.below(4) as usize] } else { 1 };
    let users = 1 + dice.below(20) as u32;
    let is_open = dice.one_in(3);
    let mut draft = match is_open {
        true => {
            let draft = open(400.0, 2.0);
            let most = users.div_ceil(streams);
            Draft { load: LoadDraft { max_connections: Some(most), ..draft.load }, ..draft }
        }
        false => total(600, users),
    };
    let body = |bytes: usize| request("POST", "/", Some(vec![b'x'; bytes]));
    draft.requests = match dice.below(3) {
        0 => vec![get("/")],
        1 => vec![get("/a"), body(10), get("/b")],
        _ => vec![body(100_000)],
    };
    draft.limits.connect_timeout_ns = 100 * MS;
    if dice.one_in(3) && reused != Reuse::Request {
        draft.link.requests_per_connection = Some(1 + dice.below(30) as u32);
    }
    let calm = [3, 10, 40][dice.below(3) as usize];
    let has_program = dice.one_in(2);
    let what = format!(
        "seed {seed}: {reused:?}, {users} users, {streams} streams, open {is_open}, program {has_program}"
    );
    let mut lab = Lab::http2(timeout(200 * MS, reuse(reused, draft)), streams);
    lab.nature.latency_ns = dice.below(3) * MS;
    lab.nature.call_cost_ns = dice.below(2) * 10 * US;
    lab.nature.send_window = [usize::MAX, usize::MAX, 3_000][dice.below(3) as usize];
    if has_program {
        let (factory, _) = diary(|scene, wake| match wake {
            Wake::Begin { .. } => {
                scene.ask(1, 0, BodyUse::Keep);
                scene.render(step(2, 0, BodyUse::Decide), "/r");
                scene.render(step(3, 0, BodyUse::Stream), "/s");
            }
            Wake::Head { id: 2, .. } => scene.out.decide(BodyUse::Keep),
            Wake::Head { id: 3, .. } if scene.at.run_ns % 2 == 0 => scene.out.cancel(3),
            Wake::Reply(reply) if reply.id == 1 => scene.ask(4, 0, BodyUse::Discard),
            _ => {}
        });
        lab = lab.factory(factory);
    }
    let mut moods = Dice::new(seed ^ 0x5eed);
    let mut server = peer(move |asked| mood(&mut moods, asked, calm)).connects(connects(Dice::new(seed + 7)));
    // The scripts open windows beyond what the server counts.
    (server.first_window, server.window) = (1 << 30, 1 << 30);
    server.answers_heads = dice.one_in(4);
    let record = server.record();
    let out = lab.run(server);
    assert_books(&out, &what);
    // Nothing is sent twice, unless it is counted.
    let most = out.count(SeriesSum::Sent) + out.sum(RunSum::RequestsUnprocessed);
    assert!(record.borrow().asked.len() as u64 <= most, "{what}: {} > {most}", record.borrow().asked.len());
    if is_open {
        assert!(out.sum(RunSum::Arrivals) >= 800, "{what}: {}", out.sum(RunSum::Arrivals));
    } else {
        assert_eq!(out.stopped, Stopped::Requests, "{what}: {:?}", out.elapsed_ns);
        assert_eq!(out.sum(RunSum::InFlightAtEnd), 0, "{what}");
    }
    assert_eq!(out.fault(Fault::ClientOutOfMemory), 0, "{what}");
    out
}

#[test]
fn every_request_ends_once_under_any_server() {
    let runs: Vec<Outcome> = (0..60).map(run).collect();
    // The servers were as bad as that.
    let faults = [
        Fault::StreamRefused,
        Fault::StreamReset,
        Fault::Timeout,
        Fault::StaleConnection,
        Fault::ConnectionReset,
        Fault::ClosedMidResponse,
        Fault::ConnectionRefused,
        Fault::ConnectTimeout,
        Fault::FdLimit,
        Fault::MalformedResponse,
        Fault::UnsafeResponse,
    ];
    for fault in faults {
        assert!(runs.iter().any(|run| run.fault(fault) > 0), "{fault:?}");
    }
    assert!(runs.iter().any(|run| run.sum(RunSum::RequestsUnprocessed) > 0));
}
