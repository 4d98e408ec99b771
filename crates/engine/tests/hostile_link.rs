//! However the network and the server corrupt the bytes: every step ends once, the counts add up, and no step gets
//! another one's response. Responses split anywhere, connections that break at any byte, and both at random.

use crate::support::actors::{diary, lines, step};
use crate::support::*;
use plimsoll_engine::Stopped;
use plimsoll_engine::driver::sim::{Connect, Server, Then};
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::link::{Link, Reuse};
use plimsoll_plan::metric::{RunHist, RunSum, SeriesSum, StreamSum};
use plimsoll_plan::program::{BodyUse, Wake};
use plimsoll_plan::{Draft, Fault};
use plimsoll_stats::random::SplitMix64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const ANSWERS: [&[u8]; 4] = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nT: u\r\n\r\n",
    b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
];
const USES: [BodyUse; 4] = [BodyUse::Discard, BodyUse::Keep, BodyUse::Decide, BodyUse::HeadOnly];

/// Four steps at once, one for each use of a body; returns what a program saw, without times, in order of ids.
fn four(pieces: Vec<Vec<u8>>, then: Then) -> (Outcome, Vec<String>) {
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 0, .. } => {
            USES.iter().enumerate().for_each(|(id, body)| scene.ask(id as u32, 0, *body));
        }
        Wake::Begin { .. } => scene.out.retire(),
        Wake::Head { .. } => scene.out.decide(BodyUse::Keep),
        _ => {}
    });
    let out = Lab::new(closed(1, 1.0)).factory(factory).run(move |_: &SimRequest<'_>| {
        pieces.iter().fold(Answer::silence(), |answer, piece| answer.piece(MS, piece)).then(then)
    });
    out.check();
    let mut seen: Vec<String> = lines(&log)
        .iter()
        .map(|l| l.split_once(' ').unwrap().1.to_owned())
        .filter(|l| !l.contains("begin"))
        .collect();
    seen.sort();
    (out, seen)
}

#[test]
fn an_answer_is_the_same_wherever_it_is_cut_and_whoever_wants_its_body() {
    for answer in ANSWERS {
        let then = if answer.windows(5).any(|w| w == b"close") { Then::Close } else { Then::Stay };
        let expected = ["head 2 200", "reply 0 200", "reply 1 200 hello", "reply 2 200 hello", "reply 3 200"]
            .map(String::from);
        for cut in 1..answer.len() {
            let (out, seen) = four(vec![answer[..cut].to_vec(), answer[cut..].to_vec()], then);
            assert_eq!(seen, expected, "cut at {cut}");
            assert_eq!((out.status(200), out.count(SeriesSum::BodyBytes)), (4, 20));
        }
        let bytes = answer.iter().map(|byte| vec![*byte]).collect();
        assert_eq!(four(bytes, then).1, expected);
    }
}

#[test]
fn an_answer_that_breaks_off_at_any_place_fails_every_step_once() {
    for answer in &ANSWERS[..3] {
        for then in [Then::Close, Then::Reset] {
            for cut in 0..answer.len() {
                let (out, seen) = four(vec![answer[..cut].to_vec()], then);
                assert_eq!(seen.iter().filter(|l| l.starts_with("reply")).count(), 4, "{seen:?}");
                assert_eq!((out.count(SeriesSum::Failed), out.status(200)), (4, 0), "cut at {cut}: {seen:?}");
                let faults = [Fault::ConnectionReset, Fault::ClosedBeforeResponse, Fault::ClosedMidResponse];
                assert_eq!(faults.iter().map(|f| out.fault(*f)).sum::<u64>(), 4);
                assert_eq!(out.fault(Fault::ConnectionReset), if then == Then::Reset { 4 } else { 0 });
            }
        }
    }
}

#[test]
fn what_comes_for_a_connection_that_was_given_up_reaches_nobody() {
    // Responses arrive 1 µs after the timeout, while the next request is in flight over a new connection.
    let draft = Draft { timeout_ns: Some(20 * MS), ..closed(20, 1.0) };
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration, .. } => {
            let path = format!("/{}-{iteration}", scene.slot.user);
            *scene.number = *iteration;
            scene.render(step(7, 0, BodyUse::Keep), &path);
        }
        Wake::Reply(r) if r.fault.is_none() => {
            let mine = format!("/{}-{}", scene.slot.user, *scene.number);
            assert_eq!(r.body, mine.as_bytes());
        }
        _ => {}
    });
    let out = Lab::new(draft).factory(factory).latency(50 * US).run(|a: &SimRequest<'_>| {
        let path = String::from_utf8_lossy(a.bytes).split(' ').nth(1).unwrap().to_owned();
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{path}", path.len());
        let late_ns = match a.total % 3 {
            0 => 20 * MS + 950 * US + (a.total % 100) * US,
            _ => 15 * MS,
        };
        Answer::silence().piece(late_ns, text.as_bytes())
    });
    out.check();
    assert!(out.fault(Fault::Timeout) > 100 && out.status(200) > 300, "{}", out.fault(Fault::Timeout));
    let replies = lines(&log).iter().filter(|l| l.contains("reply")).count() as u64;
    assert_eq!(replies, out.count(SeriesSum::Finished));
}

#[test]
fn an_event_of_a_connection_that_was_closed_in_the_same_batch_is_not_taken_for_one_of_the_next() {
    // The first response ends the iteration, which closes the other connection and reopens it, while the server's end
    // of the old one is the next event in the list.
    let (factory, _) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 20, .. } => scene.out.retire(),
        Wake::Begin { .. } => (0..2).for_each(|id| scene.ask(id, 0, BodyUse::Discard)),
        _ => {}
    });
    let link = Link { reuse: Reuse::Iteration, ..Link::default() };
    let out =
        Lab::new(Draft { link, ..closed(1, 10.0) }).factory(factory).latency(MS).run(|a: &SimRequest<'_>| {
            match a.connection % 2 {
                0 => Answer::ok(10 * MS),
                _ => Answer::ok(5 * MS).piece(5 * MS, b"").then(Then::Close),
            }
        });
    out.check();
    assert_eq!((out.sum(RunSum::ConnOpened), out.status(200), out.sum(RunSum::ClosedByClient)), (40, 40, 40));
    let connect = out.hist(RunHist::Connect);
    assert_eq!((connect.min(), connect.max()), (Some(2 * MS), Some(2 * MS)), "a round trip, each of them");
}

// ---- at random --------------------------------------------------------------------------------------------------

struct Chaos {
    random: SplitMix64,
}

impl Chaos {
    fn below(&mut self, n: u64) -> u64 {
        self.random.next_u64() % n
    }

    /// Splits bytes at random places, with random gaps.
    fn cut(&mut self, bytes: &[u8]) -> Answer {
        let (mut answer, mut left) = (Answer::silence(), bytes);
        while !left.is_empty() {
            let n = (1 + self.below(left.len() as u64)) as usize;
            let gap_ns = self.below(3) * self.below(2_000) * US;
            answer = answer.piece(gap_ns, &left[..n]);
            left = &left[n..];
        }
        answer
    }
}

impl Server for Chaos {
    fn connect(&mut self, _: u64, _: u64) -> Connect {
        match self.below(40) {
            0 => Connect::Refuse,
            1 => Connect::Never,
            2 => Connect::Errno(libc::EMFILE),
            3 => Connect::Errno(libc::ENETUNREACH),
            4 => Connect::Greet { bytes: b"hello", close: false },
            5 => Connect::Greet { bytes: b"", close: true },
            _ => Connect::Accept { after_ns: self.below(500) * US },
        }
    }

    fn answer(&mut self, asked: &SimRequest<'_>) -> Answer {
        // The response body is the name of the request, so that a mix-up is detected.
        let name = String::from_utf8_lossy(asked.bytes).split(' ').nth(1).unwrap_or_default().to_owned();
        let n = name.len();
        let event = format!("data: {name}\n\n");
        let text = match self.below(5) {
            0 => format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{n:x}\r\n{name}\r\n0\r\n\r\n"),
            1 => format!("HTTP/1.1 503 No\r\nContent-Length: {n}\r\n\r\n{name}"),
            2 => format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {n}\r\n\r\n{name}"),
            _ => format!("HTTP/1.1 200 OK\r\nContent-Length: {n}\r\n\r\n{name}"),
        };
        let text = match name.starts_with("/stream") {
            true => {
                let events = format!("{:x}\r\n{event}\r\n", event.len()).repeat(1 + self.below(4) as usize);
                let end = if self.below(2) == 0 { "0\r\n\r\n" } else { "" };
                format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{events}{end}")
            }
            false => text,
        };
        let whole = self.cut(text.as_bytes());
        match self.below(12) {
            0 => Answer::silence(),
            1 => Answer::silence().then(Then::Reset),
            2 => {
                let cut = self.below(text.len() as u64) as usize;
                let then = if self.below(2) == 0 { Then::Close } else { Then::Reset };
                self.cut(&text.as_bytes()[..cut]).then(then)
            }
            3 => whole.piece(0, b"surplus"),
            4 => whole.then(Then::Close),
            5 => self.cut(b"nonsense\r\n\r\n"),
            6 => self.cut(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n"),
            _ => whole,
        }
    }
}

#[test]
fn in_any_chaos_every_step_ends_once_and_is_told_of_its_own_answer_alone() {
    const STEPS: u64 = 400;
    for seed in 0..120u64 {
        let (replies, chaos) = (Arc::new(AtomicU64::new(0)), SplitMix64::new(seed));
        let told = Arc::clone(&replies);
        let (factory, _) = diary(move |scene, wake| {
            let (user, number) = (scene.slot.user, *scene.number);
            let kind = (u64::from(user) * 7 + number * 13 + seed) % 6;
            match wake {
                Wake::Begin { .. } => {
                    *scene.number += 1;
                    let kind = (u64::from(user) * 7 + *scene.number * 13 + seed) % 6;
                    for (id, body) in USES.iter().enumerate().take(1 + kind as usize % 4) {
                        scene.render(step(id as u32, 0, *body), &format!("/{user}-{}-{id}", *scene.number));
                    }
                    if kind > 2 {
                        scene.render(
                            step(9, 0, BodyUse::Stream),
                            &format!("/stream{user}-{}-9", *scene.number),
                        );
                        scene.out.sleep(8, (5 + kind * 7) * MS);
                    }
                    if kind == 5 {
                        scene.out.sleep(7, 2 * MS);
                    }
                }
                Wake::Head { id: 2, .. } if kind % 2 == 0 => scene.out.decide(BodyUse::Keep),
                Wake::Event(e) => {
                    let own = format!("/stream{user}-{number}-9");
                    assert!(e.data == own.as_bytes() || e.data == b"abc", "{own}: {:?}", e.data);
                    if kind == 4 {
                        scene.out.cancel(9);
                        scene.out.cancel(8);
                    }
                }
                Wake::Reply(r) => {
                    told.fetch_add(1, Ordering::Relaxed);
                    // If a greeting or half a chunk arrived instead of a response, the fault reports it.
                    if r.fault.is_none() && !r.body.is_empty() {
                        assert_eq!(r.body, format!("/{user}-{number}-{}", r.id).as_bytes(), "seed {seed}");
                    }
                }
                Wake::Slept { id: 8 } => scene.out.cancel(9),
                _ => {}
            }
        });
        let reuse = [Reuse::User, Reuse::Pool, Reuse::Iteration][seed as usize % 3];
        let link = Link { reuse, ..Link::default() };
        let base = match seed % 2 {
            0 => closed(7, 1.0),
            _ => Draft {
                load: LoadDraft { max_connections: Some(9), ..open(300.0, 1.0).load },
                ..open(300.0, 1.0)
            },
        };
        let draft = Draft {
            load: LoadDraft { duration_ns: None, requests_total: Some(STEPS), ..base.load },
            timeout_ns: Some(30 * MS),
            link,
            ..base
        };
        let mut lab = Lab::new(draft).factory(factory).latency(100 * US);
        lab.draft.limits.connect_timeout_ns = 40 * MS;
        lab.nature.send_window = [usize::MAX, 20, 1][seed as usize % 3];
        lab.nature.stalls = (1..5).map(|k| (BEGIN_NS + k * 97 * MS, (k % 3) * 15 * MS)).collect();
        let out = lab.run(Chaos { random: chaos });
        assert_eq!(out.stopped, Stopped::Requests, "seed {seed}");
        assert_eq!(replies.load(Ordering::Relaxed), STEPS, "seed {seed}: each step is reported once");
        let ended = out.count(SeriesSum::Finished) + out.client_faults();
        assert_eq!(ended, STEPS, "seed {seed}");
        let open = out.count(StreamSum::Streams);
        let closed = out.count(StreamSum::ClosedByServer) + out.count(StreamSum::ClosedByClient);
        assert!(closed <= open && out.count(StreamSum::OpenAtEnd) == 0, "seed {seed}: {closed} of {open}");
        assert_eq!((out.calls.open_now, out.sum(RunSum::InFlightAtEnd)), (0, 0), "seed {seed}");
        out.check();
    }
}
