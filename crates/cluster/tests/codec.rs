//! Events and envelopes survive the way without loss, and bytes of others are refused.

use plimsoll_cluster::envelope::{Envelope, MemorySpool, RESEND_NS, Receiver, Sender, WINDOW};
use plimsoll_cluster::event_codec::{Decoded, Encoder, decode};
use plimsoll_plan::failure_example::FailureExample;
use plimsoll_plan::series::{Family, SeriesKey};
use plimsoll_plan::watch::Unit;
use plimsoll_record::event::{
    Fact, MissedSample, MonitorSample, Reading, RunEvent, SeriesOpened, Tick, WorkerTimes,
};
use plimsoll_record::run_file::{PartWriter, read};
use plimsoll_stats::interval::Interval;
use plimsoll_testkit::made_up::{Folder, Random, ending, gathered, interval, note, opening};
use std::sync::Arc;

/// A run with events of all kinds that a record keeps.
fn events(random: &mut Random) -> Vec<RunEvent> {
    let opening = opening("agent", 2);
    let mut events = vec![RunEvent::Opened(Arc::new(opening.clone()))];
    let mut opened: Vec<plimsoll_record::record::Opened> = Vec::new();
    for number in 0..12 {
        if number % 4 == 1 {
            let name = format!("metric {number}");
            let key = Arc::new(SeriesKey::new(Family::Counter, &name, &[("region", "eu")]));
            let series = (opening.series_count() + opened.len()) as u32;
            opened.push(plimsoll_record::record::Opened::new(series, Arc::clone(&key)));
            events.push(RunEvent::SeriesOpened(SeriesOpened { series, key }));
        }
        let pulses =
            vec![WorkerTimes { wall_ns: random.below(1 << 30), idle_ns: 7, ..WorkerTimes::default() }; 2];
        let interval = Arc::new(interval(number, 2, 5, random));
        events.push(RunEvent::Ticked(Tick { interval, pulses, opened: opened.clone().into() }));
    }
    events.push(note(3, "paused"));
    let reading = Reading {
        part: "sda".into(),
        metric: "util".into(),
        unit: Unit::Share,
        limit: Some(1.0),
        value: 0.25,
    };
    events.push(RunEvent::MonitorSampled(MonitorSample { at_ns: 5, monitor: 0, readings: vec![reading] }));
    events.push(RunEvent::Learnt(Fact { monitor: 0, name: "version".into(), value: "16".into() }));
    events.push(RunEvent::SampleMissed(MissedSample { at_ns: 9, monitor: 0, why: "refused".into() }));
    events.push(RunEvent::FailureRecorded(example()));
    events.push(ending(12));
    events
}

/// Returns events as they are after the way.
fn received(sent: &[RunEvent]) -> Vec<RunEvent> {
    let mut encoder = Encoder::default();
    let event = |event| match decode(&encoder.encode(event)).unwrap() {
        Decoded::Event(event) => event,
        Decoded::Tick(tick) => RunEvent::Ticked(Tick {
            interval: Arc::new(Interval::decode(&mut tick.interval()).unwrap()),
            pulses: tick.pulses,
            opened: Arc::default(),
        }),
    };
    sent.iter().map(event).collect()
}

fn example() -> FailureExample {
    FailureExample {
        at_ns: 4,
        request: "request 0".into(),
        check: "status".into(),
        observed: "500".into(),
        status: 500,
        excerpt: "oops".into(),
    }
}

#[test]
fn a_record_is_equal_after_the_way() {
    let mut random = Random::new(5);
    let sent = events(&mut random);
    let received = received(&sent);
    assert_eq!(gathered(&sent), gathered(&received));
    for (a, b) in sent.iter().zip(&received) {
        if let (RunEvent::Ticked(a), RunEvent::Ticked(b)) = (a, b) {
            assert_eq!((&a.interval, &a.pulses), (&b.interval, &b.pulses));
        }
    }
}

#[test]
fn the_file_of_a_part_has_the_same_record_however_many_seconds_a_transaction_has() {
    let sent = events(&mut Random::new(7));
    let expected = gathered(&sent);
    let (Some(RunEvent::Opened(opening)), true) = (sent.first(), sent.len() > 12) else { panic!() };
    for (size, first) in [(1, 1), (3, 2), (5, 5), (64, 40)] {
        let folder = Folder::new(&format!("part-{size}"));
        let mut writer = PartWriter::new(&folder.file("part.plim"), opening, size, first);
        let mut encoder = Encoder::default();
        for event in &sent {
            match decode(&encoder.encode(event)).unwrap() {
                // What comes twice counts once.
                Decoded::Tick(tick) => {
                    writer.tick(tick.clone()).unwrap();
                    writer.tick(tick).unwrap();
                }
                Decoded::Event(event) => writer.event(&event).unwrap(),
            }
        }
        let finished = writer.finish().unwrap();
        assert!(finished.trouble.is_none());
        assert_eq!(finished.record, expected, "{size} seconds per transaction");
        assert_eq!(read(&folder.file("part.plim")).unwrap(), expected, "and so has who reads it");
    }
}

#[test]
fn damaged_bytes_are_refused_or_another_event_but_never_a_panic() {
    let mut random = Random::new(6);
    let mut encoder = Encoder::default();
    for event in events(&mut random) {
        let bytes = encoder.encode(&event);
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            assert!(decode(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for _ in 0..50 {
            let mut damaged = bytes.clone();
            let at = random.below(damaged.len() as u64) as usize;
            damaged[at] ^= 1 << random.below(8);
            let _ = decode(&damaged);
        }
    }
}

fn envelope(number: u64) -> Envelope {
    Envelope { instance: "a1".into(), number, events: vec![vec![number as u8; 3], Vec::new()] }
}

#[test]
fn envelopes_survive_the_way() {
    let bytes = envelope(70_000).encode().unwrap();
    assert_eq!(Envelope::decode(&bytes).unwrap(), envelope(70_000));
    for cut in 0..bytes.len() {
        assert!(Envelope::decode(&bytes[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn each_envelope_is_handed_out_once_and_in_order() {
    let mut receiver = Receiver::default();
    assert_eq!(receiver.take(envelope(1)), Vec::<Vec<u8>>::new(), "its predecessor is missing");
    assert_eq!(receiver.take(envelope(0)).len(), 4, "both, with two events each");
    assert_eq!(receiver.take(envelope(1)), Vec::<Vec<u8>>::new(), "a repetition");
    assert_eq!(receiver.below(), 2);
    assert_eq!(receiver.take(envelope(10_000)), Vec::<Vec<u8>>::new(), "too far ahead to keep");
    assert_eq!(receiver.take(envelope(2)).len(), 2);
}

#[test]
fn an_envelope_without_a_receipt_is_sent_again_later_and_less_often() {
    let mut sender = Sender::new(MemorySpool::default());
    sender.push(vec![1], 0).unwrap();
    assert_eq!(sender.due(0).unwrap(), [vec![1]]);
    assert_eq!(sender.due(RESEND_NS - 1).unwrap(), Vec::<Vec<u8>>::new());
    assert_eq!(sender.due(RESEND_NS).unwrap(), [vec![1]]);
    assert_eq!(sender.due(2 * RESEND_NS).unwrap(), Vec::<Vec<u8>>::new(), "the wait has doubled");
    assert_eq!(sender.due(3 * RESEND_NS).unwrap(), [vec![1]]);
    sender.receipt(1, 3 * RESEND_NS);
    assert_eq!((sender.backlog(), sender.next_number()), (0, 1));
    sender.receipt(0, 3 * RESEND_NS);
    assert_eq!(sender.next_number(), 1, "an old receipt changes nothing");
    for _ in 0..2 * WINDOW {
        sender.push(vec![2], 0).unwrap();
    }
    assert_eq!(sender.due(3 * RESEND_NS).unwrap().len(), WINDOW);
}
