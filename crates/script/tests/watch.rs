//! The accounts of streams are exact: compared with a slow account that remembers everything, and case by case.

use plimsoll_plan::metric::{StreamHist, StreamSum};
use plimsoll_plan::program::{At, Count, Event};
use plimsoll_plan::stream::{Place, Stream, TimeUnit};
use plimsoll_script::watch::{Ledger, Watch};
use plimsoll_stats::random::SplitMix64;
use std::collections::BTreeSet;

const SECOND_NS: u64 = 1_000_000_000;
const SERIES: u32 = 3;

fn ledger(stream: &Stream) -> Ledger {
    Ledger::compile(stream).unwrap_or_else(|sentence| panic!("{sentence}"))
}

fn numbered() -> Stream {
    Stream { sequence: Some(Place::Id), ..Stream::default() }
}

fn at(seconds: f64) -> At {
    let run_ns = (seconds * 1e9) as u64;
    At { run_ns, unix_ns: 1_700_000_000 * SECOND_NS + run_ns }
}

/// One stream, driven by hand.
struct Feed {
    ledger: Ledger,
    watch: Watch,
    room: Vec<u8>,
    counts: Vec<Count>,
}

impl Feed {
    fn new(stream: &Stream) -> Feed {
        Feed { ledger: ledger(stream), watch: Watch::new(0), room: Vec::new(), counts: Vec::new() }
    }

    fn event(&mut self, id: Option<&str>, data: &str, at: At) {
        let event = Event { id: 0, name: b"", data: data.as_bytes(), event_id: id.map(str::as_bytes) };
        self.watch.event(&self.ledger, SERIES, &event, at, &mut self.room, &mut self.counts);
    }

    fn numbers(&mut self, numbers: &[u64]) {
        for number in numbers {
            self.event(Some(&number.to_string()), "x", at(0.0));
        }
    }

    fn end(&mut self, seconds: f64) {
        self.watch.end(&self.ledger, SERIES, at(seconds), &mut self.counts);
    }

    fn sum(&self, wanted: StreamSum) -> u64 {
        let of = |count: &Count| match count {
            Count::Sum(SERIES, sum, value) if *sum == wanted.id() => *value,
            _ => 0,
        };
        self.counts.iter().map(of).sum()
    }

    fn values(&self, wanted: StreamHist) -> Vec<u64> {
        let of = |count: &Count| match count {
            Count::Hist(SERIES, hist, value) if *hist == wanted.id() => Some(*value),
            _ => None,
        };
        self.counts.iter().filter_map(of).collect()
    }

    /// Expected, lost, duplicated, out of order, unnumbered.
    fn account(&self) -> [u64; 5] {
        use StreamSum::{EventsDuplicated, EventsExpected, EventsLost, EventsOutOfOrder, EventsUnnumbered};
        [EventsExpected, EventsLost, EventsDuplicated, EventsOutOfOrder, EventsUnnumbered]
            .map(|sum| self.sum(sum))
    }
}

/// Returns the account of a whole stream of numbers.
fn account(numbers: &[u64]) -> [u64; 5] {
    let mut feed = Feed::new(&numbered());
    feed.numbers(numbers);
    feed.end(1.0);
    feed.account()
}

#[test]
fn gaps_duplicates_and_swaps_are_distinguished() {
    let table: [(&[u64], [u64; 5]); 14] = [
        (&[], [0, 0, 0, 0, 0]),
        (&[7], [1, 0, 0, 0, 0]),
        (&[1, 2, 3], [3, 0, 0, 0, 0]),
        (&[1, 3], [3, 1, 0, 0, 0]),
        (&[1, 3, 2], [3, 0, 0, 1, 0]),
        (&[1, 1, 2, 2, 2], [2, 0, 3, 0, 0]),
        (&[1, 3, 2, 2], [3, 0, 1, 1, 0]),
        (&[5, 10], [6, 4, 0, 0, 0]),
        (&[2, 1, 3], [3, 0, 0, 1, 0]),
        (&[5, 2, 3], [4, 1, 0, 2, 0]),
        (&[5, 2, 2, 5], [4, 2, 2, 1, 0]),
        (&[1, 1000], [1000, 998, 0, 0, 0]),
        (&[1000, 1], [1, 0, 0, 1, 0]),
        (&[0, u64::MAX, 1], [2, 0, 0, 0, 1]),
    ];
    for (numbers, expected) in table {
        assert_eq!(account(numbers), expected, "{numbers:?}");
    }
}

#[test]
fn a_missing_number_is_lost_when_64_later_ones_are_known() {
    let mut feed = Feed::new(&numbered());
    feed.numbers(&[1, 3]);
    feed.numbers(&(4..=65).collect::<Vec<_>>());
    assert_eq!(feed.account(), [65, 0, 0, 0, 0], "2 is 63 late and may still arrive");
    feed.numbers(&[66]);
    assert_eq!(feed.account(), [66, 1, 0, 0, 0], "a stream that never ends counts its loss");
    feed.numbers(&[2]);
    feed.end(1.0);
    assert_eq!(feed.account(), [66, 1, 0, 1, 0], "it arrived too late and stays lost");
}

/// Applies the same rules with unlimited memory.
fn reference(numbers: &[u64]) -> [u64; 5] {
    let mut seen: BTreeSet<u64> = BTreeSet::new();
    let (mut repeated, mut disordered, mut lowest) = (0, 0, None);
    for number in numbers {
        let Some(highest) = seen.last().copied() else {
            (seen, lowest) = (BTreeSet::from([*number]), Some(*number));
            continue;
        };
        if *number > highest {
            seen.insert(*number);
        } else if highest - number >= 64 {
            disordered += 1;
        } else if seen.insert(*number) {
            disordered += 1;
            lowest = lowest.min(Some(*number));
        } else {
            repeated += 1;
        }
    }
    let expected = seen.last().zip(lowest).map_or(0, |(highest, lowest)| highest - lowest + 1);
    [expected, expected - seen.len() as u64, repeated, disordered, 0]
}

#[test]
fn random_streams_have_the_same_account_as_with_unlimited_memory() {
    let cases = std::env::var("PLIMSOLL_FUZZ_CASES").map(|text| text.parse().expect("a whole number"));
    for seed in 1..=cases.unwrap_or(3000u64) {
        let mut random = SplitMix64::new(seed);
        let mut below = |bound: u64| random.next_u64() % bound.max(1);
        let first = [0, 1, 1_000_000, u64::MAX >> 1][below(4) as usize];
        let length = 1 + below(400);
        let (drops, repeats, swaps, jumps) = (below(40), below(40), below(40), below(3));
        let reach = [1, 3, 20, 70, 200][below(5) as usize];
        let mut numbers = Vec::new();
        let mut next = first;
        for _ in 0..length {
            next += 1 + if below(100) < jumps { below(300) } else { 0 };
            if below(100) >= drops {
                numbers.push(next);
            }
            if below(100) < repeats && !numbers.is_empty() {
                let back = below(reach.min(numbers.len() as u64)) as usize;
                numbers.push(numbers[numbers.len() - 1 - back]);
            }
        }
        for at in 0..numbers.len() {
            if below(100) < swaps {
                let other = (at + below(reach) as usize).min(numbers.len() - 1);
                numbers.swap(at, other);
            }
        }
        assert_eq!(account(&numbers), reference(&numbers), "seed {seed}: {numbers:?}");
    }
}

#[test]
fn numbers_are_found_in_the_id_in_json_and_by_regular_expression() {
    for (place, events) in [
        (Place::Id, [(Some("1"), "x"), (Some(" 3 "), "x"), (Some("b"), "x"), (None, "9")]),
        (
            Place::Json("$.a.n".into()),
            [
                (None, r#"{"a":{"n":1}}"#),
                (Some("9"), r#"{"a":{"n":"3"}}"#),
                (None, r#"{"a":{}}"#),
                (None, "no"),
            ],
        ),
        (
            Place::Regex("n=(\\d+)".into()),
            [(None, "n=1"), (Some("9"), "x n=3;n=4"), (None, "n="), (None, "m=2")],
        ),
        (Place::Regex("n=(-?\\w+)".into()), [(None, "n=1"), (None, "n=3"), (None, "n=-2"), (None, "n=0x2")]),
    ] {
        let mut feed = Feed::new(&Stream { sequence: Some(place.clone()), ..Stream::default() });
        for (id, data) in events {
            feed.event(id, data, at(0.0));
        }
        feed.end(1.0);
        assert_eq!(feed.account(), [3, 1, 0, 0, 2], "{place:?}");
    }
}

#[test]
fn an_expression_matches_data_that_is_not_text() {
    let pattern = "(?-u:[^ ]) n=(\\d+)";
    let stream = Stream { sequence: Some(Place::Regex(pattern.into())), ..Stream::default() };
    let mut feed = Feed::new(&stream);
    for data in [&b"\xff\xfe n=1"[..], b"\xfe n=2\xff"] {
        let event = Event { id: 0, name: b"", data, event_id: None };
        feed.watch.event(&feed.ledger, SERIES, &event, at(0.0), &mut feed.room, &mut feed.counts);
    }
    assert_eq!(feed.account(), [2, 0, 0, 0, 0]);
}

#[test]
fn invalid_accounting_is_rejected_before_the_load() {
    for (stream, part) in [
        (
            Stream { sequence: Some(Place::Regex("n=\\d+".into())), ..Stream::default() },
            "missing group in `n=\\d+`",
        ),
        (
            Stream { sequence: Some(Place::Regex("n=(".into())), ..Stream::default() },
            "invalid regular expression",
        ),
        (Stream { made_at: Some((Place::Json("a[".into()), TimeUnit::Seconds)), ..Stream::default() }, "a["),
        (Stream { every_ns: Some(0), ..Stream::default() }, "`0`"),
    ] {
        let sentence = Ledger::compile(&stream).err().expect("it is rejected");
        assert!(sentence.contains(part), "{sentence}");
    }
}

#[test]
fn an_expected_interval_determines_the_due_events() {
    let every = |events: u64, seconds: f64| {
        let mut feed = Feed::new(&Stream { every_ns: Some(SECOND_NS / 2), ..Stream::default() });
        for number in 0..events {
            feed.event(None, "x", at(seconds * number as f64 / events as f64));
        }
        feed.end(seconds);
        feed.account()
    };
    assert_eq!(every(20, 10.2), [20, 0, 0, 0, 0]);
    assert_eq!(every(17, 10.2), [20, 3, 0, 0, 0]);
    assert_eq!(every(25, 10.2), [20, 0, 0, 0, 0], "more events than due are not a loss");
    assert_eq!(every(0, 10.2), [20, 20, 0, 0, 0]);
    assert_eq!(every(0, 0.4), [0, 0, 0, 0, 0], "the first is due one period after the open");
}

#[test]
fn a_late_stream_with_an_expected_interval_shows_losses_before_it_ends() {
    let mut feed = Feed::new(&Stream { every_ns: Some(SECOND_NS), ..Stream::default() });
    feed.event(None, "x", at(65.0));
    assert_eq!(feed.account(), [65, 0, 0, 0, 0], "64 are late and may still arrive");
    feed.event(None, "x", at(100.0));
    assert_eq!(feed.account(), [100, 34, 0, 0, 0]);
    feed.end(100.0);
    assert_eq!(feed.account(), [100, 98, 0, 0, 0]);

    let mut feed = Feed::new(&Stream { every_ns: Some(SECOND_NS), ..Stream::default() });
    (0..72).for_each(|_| feed.event(None, "x", at(200.0)));
    assert_eq!(feed.account(), [200, 135, 0, 0, 0], "at the first of them, 135 were lost");
    (0..28).for_each(|_| feed.event(None, "x", at(200.0)));
    feed.end(200.0);
    assert_eq!(feed.account(), [200, 135, 0, 0, 0], "later arrivals do not undo it");
}

#[test]
fn with_numbers_and_an_interval_the_larger_expectation_counts() {
    let both = |numbers: &[u64], seconds: f64| {
        let mut feed = Feed::new(&Stream { every_ns: Some(SECOND_NS), ..numbered() });
        feed.numbers(numbers);
        feed.event(None, "unnumbered", at(0.0));
        feed.end(seconds);
        feed.account()
    };
    assert_eq!(both(&[1, 2, 4], 10.0), [10, 7, 0, 0, 1], "a stream that fell silent");
    assert_eq!(both(&[1, 2, 12], 10.0), [12, 9, 0, 0, 1]);
    assert_eq!(both(&[1, 2, 2, 4], 4.5), [4, 1, 1, 0, 1]);
    assert_eq!(both(&[], 3.0), [3, 3, 0, 0, 1]);
}

#[test]
fn a_reopened_stream_continues_its_numbers() {
    let stream = Stream { reconnects: 2, every_ns: Some(SECOND_NS), ..numbered() };
    let mut feed = Feed::new(&stream);
    feed.numbers(&[1, 2, 3, 5]);
    assert_eq!(feed.watch.last_id(), Some(&b"5"[..]));
    let (ledger, watch, counts) = (&feed.ledger, &mut feed.watch, &mut feed.counts);
    watch.interrupt(ledger, SERIES, at(4.5), counts);
    watch.reopen(at(6.0).run_ns);
    feed.numbers(&[5, 8, 4]);
    assert_eq!(feed.watch.events(), 3);
    feed.end(8.0);
    // 6 and 7 were lost between the connections, 4 arrived late, 5 arrived twice; 4 + 2 periods were due, and 8 numbers
    // expected.
    assert_eq!(feed.account(), [8, 2, 1, 1, 0]);
    assert_eq!(feed.values(StreamHist::StreamLife), [4_500_000_000, 2_000_000_000]);
    assert_eq!(feed.values(StreamHist::StreamEvents), [4, 3]);

    let mut feed = Feed::new(&Stream { reconnects: 2, every_ns: Some(SECOND_NS), ..Stream::default() });
    feed.event(Some("a"), "x", at(1.0));
    feed.event(None, "x", at(2.0));
    assert_eq!(feed.watch.last_id(), Some(&b"a"[..]), "the last one received");
    feed.watch.interrupt(&feed.ledger, SERIES, at(2.5), &mut feed.counts);
    feed.watch.reopen(at(10.0).run_ns);
    feed.event(Some(""), "x", at(11.0));
    assert_eq!(feed.watch.last_id(), None, "an empty one clears it");
    feed.end(12.0);
    assert_eq!(feed.account(), [4, 1, 0, 0, 0], "nothing is due while it is closed");
}

#[test]
fn a_stream_that_was_not_reopened_is_settled_too() {
    let mut feed = Feed::new(&numbered());
    feed.numbers(&[1, 3]);
    feed.watch.interrupt(&feed.ledger, SERIES, at(2.0), &mut feed.counts);
    assert_eq!(feed.account(), [3, 0, 0, 0, 0]);
    feed.watch.give_up(&feed.ledger, SERIES, &mut feed.counts);
    assert_eq!(feed.account(), [3, 1, 0, 0, 0]);
    assert_eq!(feed.values(StreamHist::StreamLife), [2 * SECOND_NS], "once");
    assert_eq!(feed.watch.last_id(), None, "no reconnects, nothing to remember");
}

#[test]
fn the_age_of_an_event_is_exact_to_the_nanosecond() {
    // The events arrive at 1_700_000_000 s + 2.5 s.
    for (unit, text, age_ns) in [
        (TimeUnit::Seconds, "1700000000", Some(2_500_000_000)),
        (TimeUnit::Seconds, "1700000002.499999999", Some(1)),
        (TimeUnit::Seconds, "1700000002.4999999999999", Some(1)),
        (TimeUnit::Seconds, "1700000002.", Some(500_000_000)),
        (TimeUnit::Seconds, "1.7e9", Some(2_500_000_000)),
        (TimeUnit::Milliseconds, "1700000002400", Some(100_000_000)),
        (TimeUnit::Milliseconds, "1700000002400.5", Some(99_500_000)),
        (TimeUnit::Microseconds, "1700000002499999.25", Some(750)),
        (TimeUnit::Nanoseconds, "1700000002499999999", Some(1)),
        (TimeUnit::Nanoseconds, "1700000002499999999.9", Some(1)),
        (TimeUnit::Seconds, "1700000099", Some(0)),
        (TimeUnit::Seconds, "-5", None),
        (TimeUnit::Seconds, "1.5.5", None),
        (TimeUnit::Seconds, "2023-11-14T22:13:20Z", None),
        (TimeUnit::Seconds, "99999999999999999999", None),
        (TimeUnit::Seconds, "18446744074", None),
        (TimeUnit::Seconds, "1e99", None),
        (TimeUnit::Seconds, "e", None),
        (TimeUnit::Seconds, ".5", None),
        (TimeUnit::Seconds, "", None),
    ] {
        let stream = Stream { made_at: Some((Place::Regex("t=(.*)".into()), unit)), ..Stream::default() };
        let mut feed = Feed::new(&stream);
        feed.event(None, &format!("t={text}"), at(2.5));
        assert_eq!(feed.values(StreamHist::EventAge), Vec::from_iter(age_ns), "{text} {unit:?}");
    }
}

#[test]
fn an_open_stream_is_small() {
    assert!(size_of::<Watch>() <= 96, "{} bytes, ten thousand times", size_of::<Watch>());
}
