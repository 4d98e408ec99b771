//! Responses that are streams of events, in virtual time: which events are shown, when, which side ends the stream, and
//! how it is counted.

use crate::support::actors::{Scene, diary, lines, step};
use crate::support::*;
use plimsoll_engine::Command;
use plimsoll_engine::driver::sim::Then;
use plimsoll_plan::metric::{RunPeak, RunSum, SeriesHist, SeriesSum, StreamHist, StreamSum};
use plimsoll_plan::program::{BodyUse, Step, Wake};
use plimsoll_plan::{Draft, Fault};

const CHUNKED: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const UNTIL_CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

fn event(text: &str) -> Vec<u8> {
    chunk(&format!("data: {text}\n\n"))
}

/// Opens one stream per iteration and does nothing else.
fn listen(scene: &mut Scene<'_>, wake: &Wake<'_>) {
    if let Wake::Begin { .. } = wake {
        scene.ask(1, 0, BodyUse::Stream);
    }
}

/// Runs one user's one stream with one response, for 100 ms unless it ends before.
fn one(answer: Answer) -> (Outcome, Vec<String>) {
    run_one(answer, |scene, wake| match wake {
        Wake::Begin { iteration: 1, .. } => scene.out.retire(),
        _ => listen(scene, wake),
    })
}

fn run_one(
    answer: Answer,
    act: impl Fn(&mut Scene<'_>, &Wake<'_>) + Send + Sync + 'static,
) -> (Outcome, Vec<String>) {
    let (factory, log) = diary(act);
    let draft = Draft { requests: vec![get("/s"), get("/a")], ..closed(1, 0.1) };
    let out = Lab::new(draft).factory(factory).run(move |a: &SimRequest<'_>| match a.bytes[5] {
        b's' => answer.clone(),
        _ => Answer::ok(MS),
    });
    out.check();
    (out, lines(&log))
}

/// (opened, closed by the server, closed by the client, open at the stop)
fn ends(out: &Outcome) -> [u64; 4] {
    use StreamSum::{ClosedByClient, ClosedByServer, OpenAtEnd, Streams};
    [Streams, ClosedByServer, ClosedByClient, OpenAtEnd].map(|sum| out.count(sum))
}

#[test]
fn head_first_event_and_gaps_are_timed_exactly_and_the_connection_is_used_again() {
    let answer = Answer::silence()
        .piece(3 * MS, CHUNKED)
        .piece(4 * MS, &event("one"))
        .piece(5 * MS, &[event("two"), event("three")].concat())
        .piece(20 * MS, &chunk("event: tick\ndata: four\n\n"))
        .piece(MS, b"0\r\n\r\n");
    let (factory, log) = diary(listen);
    let out = Lab::new(closed(1, 0.0661)).factory(factory).run(move |_: &SimRequest<'_>| answer.clone());
    out.check();
    assert_eq!(
        lines(&log)[..8],
        [
            "0 begin 0",
            "3 head 1 200",
            "7 event 1 one",
            "12 event 1 two",
            "12 event 1 three",
            "32 event 1 tickfour",
            "33 reply 1 200 by Server",
            "33 begin 1",
        ]
    );
    assert_eq!((out.sum(RunSum::ConnOpened), out.count(StreamSum::Events)), (1, 8));
    assert_eq!(ends(&out), [2, 2, 0, 0]);
    let hist = |id: StreamHist| (out.series_hist(id).count(), out.series_hist(id).max());
    assert_eq!(hist(StreamHist::StreamHead), (2, Some(3 * MS)));
    assert_eq!(hist(StreamHist::FirstEvent), (2, Some(7 * MS)));
    assert_eq!(hist(StreamHist::EventGap), (6, Some(20 * MS)));
    assert_eq!(out.series_hist(StreamHist::EventGap).min(), Some(0), "two came in one piece");
    assert_eq!(out.peak(RunPeak::Streams), 1);
}

#[test]
fn events_are_shown_when_their_last_byte_comes_wherever_the_bytes_are_cut() {
    let body =
        [CHUNKED, &event("one"), &chunk("event: x\r\ndata: tw"), &chunk("o\r\n\r\n"), b"0\r\n\r\n"].concat();
    let whole = one(Answer::silence().piece(MS, &body)).1;
    let without_times = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|l| l.split_once(' ').unwrap().1.to_owned()).collect()
    };
    for cut in 1..body.len() {
        let answer = Answer::silence().piece(MS, &body[..cut]).piece(MS, &body[cut..]);
        let (out, lines) = one(answer);
        assert_eq!(without_times(&lines), without_times(&whole), "cut at {cut}");
        assert_eq!((ends(&out), out.count(StreamSum::Events)), ([1, 1, 0, 0], 2));
        let head_at = if cut >= CHUNKED.len() { "1 head" } else { "2 head" };
        assert!(lines[1].starts_with(head_at), "cut at {cut}: {}", lines[1]);
    }
    let bytes = body.iter().fold(Answer::silence(), |answer, byte| answer.piece(10 * US, &[*byte]));
    assert_eq!(without_times(&one(bytes).1), without_times(&whole));
}

#[test]
fn a_stream_of_known_length_is_shown_event_by_event_however_large_it_is() {
    // For any other body of this size, the kernel wakes the worker only near its end.
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 50 * 20_000);
    let text = format!("data: {}\n\n", "x".repeat(20_000 - 8));
    let answer =
        (0..50).fold(Answer::silence().piece(MS, head.as_bytes()), |a, _| a.piece(MS, text.as_bytes()));
    let (out, _) = one(answer);
    assert_eq!(out.count(StreamSum::Events), 50);
    let gaps = out.series_hist(StreamHist::EventGap);
    assert_eq!((gaps.count(), gaps.min(), gaps.max()), (49, Some(MS), Some(MS)));
}

#[test]
fn a_server_that_closes_ends_a_stream_without_length_as_it_should() {
    let answer =
        Answer::silence().piece(MS, UNTIL_CLOSE).piece(MS, b"data: one\n\ndata: never").then(Then::Close);
    let (out, lines) = one(answer);
    assert_eq!(lines[1..4], ["1 head 1 200", "2 event 1 one", "2 reply 1 200 by Server"]);
    assert_eq!((ends(&out), out.sum(RunSum::ClosedByServer)), ([1, 1, 0, 0], 1));
    assert_eq!(out.count(SeriesSum::Failed), 0);
}

#[test]
fn a_stream_that_breaks_off_is_a_fault_and_no_end() {
    let begun = || Answer::silence().piece(MS, CHUNKED).piece(MS, &event("one"));
    // Longer than a lowered limit, which is the client's own decision, and longer than any stream needs.
    let (long, longer) = ("y".repeat(2_000), "y".repeat(1_100_000));
    for (answer, fault) in [
        (begun().then(Then::Reset), Fault::ConnectionReset),
        (begun().then(Then::Close), Fault::ClosedMidResponse),
        (begun().piece(0, b"zz\r\n"), Fault::MalformedResponse),
        (begun().piece(0, &chunk(&long)), Fault::ClientLimit),
        (begun().piece(0, &chunk(&longer)), Fault::UnsafeResponse),
    ] {
        let (factory, log) = diary(|scene, wake| match wake {
            Wake::Begin { iteration: 1, .. } => scene.out.retire(),
            _ => listen(scene, wake),
        });
        let mut draft = closed(1, 0.1);
        if fault == Fault::ClientLimit {
            draft.limits.event_bytes = 1_000;
        }
        let out = Lab::new(draft).factory(factory).run(move |_: &SimRequest<'_>| answer.clone());
        out.check();
        let end = format!("2 reply 1 0 {fault:?}");
        assert_eq!(lines(&log)[1..4], ["1 head 1 200".to_owned(), "2 event 1 one".into(), end]);
        assert_eq!((out.fault(fault), ends(&out)), (1, [1, 0, 0, 0]));
    }
}

#[test]
fn events_in_front_of_a_fault_are_shown_and_never_to_somebody_else() {
    // One read returns the head, an event, and nonsense; the next stream must not inherit the event.
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { iteration: 2, .. } => scene.out.retire(),
        _ => listen(scene, wake),
    });
    let out = Lab::new(closed(1, 0.1)).factory(factory).run(|a: &SimRequest<'_>| {
        let broken = [CHUNKED, &event("one"), b"zz\r\n"].concat();
        let sound = [CHUNKED, &event("two"), b"0\r\n\r\n"].concat();
        Answer::silence().piece(MS, if a.total == 0 { &broken } else { &sound })
    });
    out.check();
    assert_eq!(
        lines(&log)[1..8],
        [
            "1 head 1 200",
            "1 event 1 one",
            "1 reply 1 0 MalformedResponse",
            "1 begin 1",
            "2 head 1 200",
            "2 event 1 two",
            "2 reply 1 200 by Server",
        ]
    );
}

#[test]
fn an_answer_that_is_no_stream_opens_none_and_closes_none() {
    let answer = Answer::silence().piece(MS, b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy");
    let (out, lines) = one(answer);
    assert_eq!(lines[1..3], ["1 head 1 503", "1 reply 1 503 by Server"]);
    assert_eq!((ends(&out), out.count(SeriesSum::Failed)), ([0, 0, 0, 0], 1));
}

// ---- the end by the client ---------------------------------------------------------------------------------------

/// A stream whose first read returns three events, and whose last one arrives 5 ms later.
fn three_and_one() -> Answer {
    let first = [CHUNKED, &event("one"), &event("two"), &event("three")].concat();
    Answer::silence().piece(MS, &first).piece(5 * MS, &event("four"))
}

#[test]
fn a_program_ends_its_stream_from_an_event_a_head_or_a_sleep_and_sees_nothing_of_it_any_more() {
    type End = fn(&mut Scene<'_>, &Wake<'_>);
    let from_event: End = |scene, wake| {
        if matches!(wake, Wake::Event(e) if e.data == b"two") {
            scene.out.cancel(1);
        }
    };
    let from_head: End = |scene, wake| {
        if let Wake::Head { .. } = wake {
            scene.out.cancel(1);
        }
    };
    let from_sleep: End = |scene, wake| match wake {
        Wake::Head { .. } => scene.out.sleep(9, 2 * MS),
        Wake::Slept { id: 9 } => scene.out.cancel(1),
        _ => {}
    };
    for (end, expected) in [
        (from_event, vec!["1 event 1 one", "1 event 1 two", "1 reply 1 200 by Client"]),
        (from_head, vec!["1 reply 1 200 by Client"]),
        (
            from_sleep,
            vec![
                "1 event 1 one",
                "1 event 1 two",
                "1 event 1 three",
                "3.862528 slept 9",
                "3.862528 reply 1 200 by Client",
            ],
        ),
    ] {
        let (out, lines) = run_one(three_and_one(), move |scene, wake| match wake {
            Wake::Begin { iteration: 1, .. } => scene.out.retire(),
            Wake::Begin { .. } => scene.ask(1, 0, BodyUse::Stream),
            _ => end(scene, wake),
        });
        assert_eq!(lines[2..lines.len() - 1], expected, "{lines:?}");
        assert_eq!((ends(&out), out.sum(RunSum::ClosedByClient)), ([1, 0, 1, 0], 1));
    }
}

#[test]
fn a_stream_given_up_before_its_head_ends_with_it() {
    let first = [CHUNKED, &event("one")].concat();
    let late = Answer::silence().piece(3 * MS, &first).piece(5 * MS, &event("two"));
    let (out, lines) = run_one(late, |scene, wake| match wake {
        Wake::Begin { iteration: 1, .. } => scene.out.retire(),
        Wake::Begin { .. } => {
            scene.ask(1, 0, BodyUse::Stream);
            scene.ask(2, 1, BodyUse::Discard);
        }
        Wake::Reply(r) if r.id == 2 => scene.out.cancel(1),
        _ => {}
    });
    let seen: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(seen[1..4], ["1 reply 2 200", "3 head 1 200", "3 reply 1 200 by Client"]);
    assert_eq!((out.count(StreamSum::Events), ends(&out)), (0, [1, 0, 1, 0]));
}

#[test]
fn what_an_event_of_one_stream_gives_up_is_another_stream_of_the_user() {
    let (out, lines) = run_one(three_and_one(), |scene, wake| match wake {
        Wake::Begin { .. } => (1..3).for_each(|id| scene.ask(id, 0, BodyUse::Stream)),
        Wake::Event(e) if e.id == 1 && e.data == b"two" => scene.out.cancel(2),
        Wake::Event(e) if e.id == 2 && e.data == b"two" => scene.out.cancel(1),
        _ => {}
    });
    // Both heads arrive at 1 ms; the first that shows its second event ends the other, which shows no more.
    let of = |id: u32| lines.iter().filter(|l| l.contains(&format!("event {id} "))).count();
    assert_eq!(of(1).max(of(2)), 4, "{lines:?}");
    assert_eq!((of(1).min(of(2)), ends(&out)), (0, [2, 0, 1, 1]), "{lines:?}");
}

// ---- the stop ---------------------------------------------------------------------------------------------------

#[test]
fn at_the_stop_open_streams_are_counted_and_settled_and_cut_nothing_off() {
    for command in [false, true] {
        let (factory, log) = diary(|scene, wake| match wake {
            Wake::Begin { .. } => {
                scene.ask(1, 0, BodyUse::Stream);
                scene.ask(2, 1, BodyUse::Discard);
            }
            Wake::Reply(r) if r.id == 2 => scene.ask(2, 1, BodyUse::Discard),
            _ => {}
        });
        let draft = Draft { requests: vec![get("/s"), get("/a")], ..closed(4, 0.05) };
        let mut lab = Lab::new(draft).factory(factory);
        if command {
            lab = lab.command(45 * MS, Command::Stop);
        }
        let out = lab.run(|a: &SimRequest<'_>| match a.bytes[5] {
            b's' => Answer::silence().piece(MS, CHUNKED).piece(9 * MS, &event("one")),
            _ => Answer::ok(20 * MS),
        });
        out.check();
        assert_eq!(ends(&out), [4, 0, 0, 4]);
        assert_eq!(out.sum(RunSum::InFlightAtEnd), 4, "the requests alongside them");
        assert_eq!((out.count(SeriesSum::Sent), out.count(SeriesSum::Finished)), (4 + 4 * 3, 4 * 2));
        let stop_ms = if command { 45 } else { 50 };
        for user in 0..4 {
            let end = format!("u{user} {stop_ms} reply 1 200 by Stop");
            assert_eq!(lines(&log).iter().filter(|l| **l == end).count(), 1, "{:?}", lines(&log));
        }
        assert_eq!(out.sum(RunSum::IterationsInterrupted), 4);
        assert_eq!(
            out.sum(RunSum::InFlightNs),
            8 * stop_ms * MS,
            "each user always had two outstanding steps"
        );
        assert_eq!(out.series_hist(SeriesHist::ServiceCensored).count(), 0, "a stream is not late");
        assert_eq!(out.peak(RunPeak::Streams), 4);
    }
}

#[test]
fn a_step_beside_a_stream_does_not_take_its_buffers() {
    // Streams of many users, split in the middle of events, with bodies kept at the same time.
    let (factory, log) = diary(|scene, wake| match wake {
        Wake::Begin { .. } => scene.ask(1, 0, BodyUse::Stream),
        Wake::Event(e) => {
            let kept = Step { judged: true, ..step(e.data[0].into(), 1, BodyUse::Keep) };
            scene.out.push(kept);
        }
        Wake::Reply(r) if r.id != 1 => assert_eq!(r.body, b"ok"),
        _ => {}
    });
    let draft = Draft { requests: vec![get("/s"), get("/a")], ..closed(20, 0.1) };
    let out = Lab::new(draft).factory(factory).run(|a: &SimRequest<'_>| match a.bytes[5] {
        b's' => (0..8u8).fold(Answer::silence().piece(MS, CHUNKED), |answer, i| {
            let text = event(&format!("{}{}", (b'a' + i) as char, a.connection));
            answer.piece(MS, &text[..7]).piece(MS, &text[7..])
        }),
        _ => Answer::ok(MS),
    });
    out.check();
    assert_eq!((out.count(StreamSum::Events), out.status(200)), (20 * 8, 20 * 8));
    assert_eq!(lines(&log).iter().filter(|l| l.contains(" event 1 h")).count(), 20);
}
