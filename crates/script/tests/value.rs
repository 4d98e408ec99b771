//! Templates: the value of each kind of placeholder, its escaping, and the message if it has no value.

use crate::feed_support::{Scratch, below, cases, csv, machine, slot};
use plimsoll_plan::data::{AtEnd, Feeder};
use plimsoll_plan::value::{Alphabet, Escape, Function, Part, Placeholder, Secret, Text, TimeFormat};
use plimsoll_script::feed::{Feeds, Rows};
use plimsoll_script::value::{Counters, Globals, Scope, Unfilled, Vars, escape_from, fill, write_time};
use plimsoll_stats::random::SplitMix64;
use std::collections::HashSet;
use std::sync::Arc;
use std::thread;

/// All that a scope borrows.
struct User {
    vars: Vars,
    globals: Arc<Globals>,
    rows: Rows,
    random: SplitMix64,
    counters: Counters,
}

/// 2026-01-31T12:00:00.123456789Z
const NOON_NS: u64 = 1_769_860_800_123_456_789;

impl User {
    fn new(seed: u64) -> User {
        User::with(&[], seed)
    }

    fn with(feeders: &[Feeder], seed: u64) -> User {
        let feeds = Arc::new(Feeds::open(feeders, seed, machine(1, 1)).expect("the files are valid"));
        User {
            vars: Vars::new(3),
            globals: Globals::new(2),
            rows: Rows::new(&feeds, slot(0, 1)),
            random: SplitMix64::new(seed),
            counters: Counters::new(),
        }
    }

    fn fill(&mut self, text: &Text) -> Result<String, Unfilled> {
        let mut scope = Scope {
            vars: &mut self.vars,
            globals: &self.globals,
            rows: &mut self.rows,
            random: &mut self.random,
            counters: &self.counters,
            unix_ns: NOON_NS,
            user: 17,
            iteration: 4_000_000_000_000,
            timings: &[],
            request: Default::default(),
        };
        let mut out = b">".to_vec();
        let filled = fill(text, &mut scope, &mut out);
        let text = String::from_utf8(out).expect("these values are UTF-8");
        match filled {
            Ok(()) => Ok(text[1..].to_string()),
            Err(reason) => {
                assert_eq!(text, ">", "the text before the placeholder is removed");
                Err(reason)
            }
        }
    }

    fn call(&mut self, function: Function) -> String {
        self.fill(&hole(Placeholder::Call(function), Escape::None)).expect("a function always has a value")
    }
}

fn hole(hole: Placeholder, escape: Escape) -> Text {
    Text { parts: vec![Part::Placeholder(hole, escape)] }
}

#[test]
fn literals_secrets_and_placeholders_keep_their_order() {
    let file = Scratch::new("id,mail\n5,a@b.c\n");
    let mut user = User::with(&[csv(&file, &["mail"])], 1);
    user.vars.set(1, b"v 1");
    assert!(user.globals.set(0, b"g/0"));
    let mut text = Text::literal("/a?x=");
    text.parts.push(Part::Placeholder(Placeholder::Var(1), Escape::Form));
    text.push_literal(b"&y=");
    text.parts.push(Part::Secret(Secret::new("s3")));
    text.parts.push(Part::Placeholder(Placeholder::Global(0), Escape::None));
    text.parts.push(Part::Placeholder(Placeholder::Column { feeder: 0, column: 0 }, Escape::Percent));
    assert_eq!(user.fill(&text).as_deref(), Ok("/a?x=v+1&y=s3g/0a%40b.c"));
}

#[test]
fn each_escape_preserves_the_value_in_its_context() {
    let value = "aZ9-._~ /?&=+%\"\\\u{8}\u{c}\n\r\t\u{1}\u{7f}é";
    for (escape, expected) in [
        (Escape::None, value),
        (Escape::Json, "aZ9-._~ /?&=+%\\\"\\\\\\b\\f\\n\\r\\t\\u0001\u{7f}é"),
        (Escape::Percent, "aZ9-._~%20%2F%3F%26%3D%2B%25%22%5C%08%0C%0A%0D%09%01%7F%C3%A9"),
        (Escape::Form, "aZ9-._~+%2F%3F%26%3D%2B%25%22%5C%08%0C%0A%0D%09%01%7F%C3%A9"),
    ] {
        let mut user = User::new(1);
        user.vars.set(0, value.as_bytes());
        assert_eq!(user.fill(&hole(Placeholder::Var(0), escape)).as_deref(), Ok(expected), "{escape:?}");
    }
}

#[test]
fn any_escaped_value_can_be_decoded_and_earlier_text_is_unchanged() {
    cases(2_000, |random| {
        let count = below(random, 40);
        let value: Vec<u8> = (0..count).map(|_| [random.next_u64() as u8, b'a'][below(random, 2)]).collect();
        let escaped = |escape| {
            let mut out = [b"\"% ", &value[..]].concat();
            escape_from(&mut out, 3, escape);
            assert_eq!(&out[..3], b"\"% ");
            out.split_off(3)
        };
        assert_eq!(percent_decoded(&escaped(Escape::Percent)), value);
        let form: Vec<u8> = escaped(Escape::Form).iter().map(|&b| if b == b'+' { b' ' } else { b }).collect();
        assert_eq!(percent_decoded(&form), value);
        if let Ok(text) = std::str::from_utf8(&value) {
            let quoted = [b"\"", &escaped(Escape::Json)[..], b"\""].concat();
            let read: String = serde_json::from_slice(&quoted).expect("it is a JSON string");
            assert_eq!(read, text);
        }
    });
}

fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first == b'%' {
            let hex = std::str::from_utf8(&behind[..2]).expect("two digits follow");
            decoded.push(u8::from_str_radix(hex, 16).expect("they are hexadecimal"));
            rest = &behind[2..];
        } else {
            assert!(first.is_ascii_alphanumeric() || b"-._~+ ".contains(first));
            decoded.push(*first);
        }
    }
    decoded
}

#[test]
fn credentials_of_each_user_are_encoded_once_they_are_known() {
    let mut user = User::new(1);
    let mut pair = hole(Placeholder::Var(0), Escape::None);
    pair.push_literal(b":open sesame");
    let mut header = Text::literal("Basic ");
    header.parts.push(Part::Placeholder(Placeholder::Base64(Box::new(pair)), Escape::None));
    assert!(user.fill(&header).is_err(), "the user name is not set yet");
    user.vars.set(0, b"Aladdin");
    // The example of RFC 7617, section 2.
    assert_eq!(user.fill(&header).expect("all values are set"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

#[test]
fn base64_matches_the_vectors_of_rfc_4648() {
    for (plain, coded) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ] {
        let mut text = Text::literal("");
        text.parts.push(Part::Placeholder(Placeholder::Base64(Box::new(Text::literal(plain))), Escape::None));
        assert_eq!(User::new(1).fill(&text).expect("all values are set"), coded);
    }
}

#[test]
fn a_placeholder_without_a_value_is_named_and_nothing_is_appended() {
    let file = Scratch::new("n\n1\n");
    let feeders = [Feeder { at_end: AtEnd::Stop, ..csv(&file, &["n"]) }];
    let mut user = User::with(&feeders, 1);
    let names = ["token".to_string()];
    for (missing, expected) in [
        (Placeholder::Var(0), "`token` has no value: nothing has set it"),
        (Placeholder::Global(0), "`token` has no value: setup has not extracted it"),
    ] {
        let mut text = Text::literal("abc");
        text.parts.push(Part::Placeholder(missing.clone(), Escape::None));
        let reason = user.fill(&text).expect_err("nothing has set it");
        assert_eq!(reason, Unfilled::Missing(missing));
        assert_eq!(reason.sentence(&names, &names, &feeders), expected);
    }
    let column = hole(Placeholder::Column { feeder: 0, column: 0 }, Escape::None);
    assert_eq!(user.fill(&column).as_deref(), Ok("1"));
    user.rows.new_iteration();
    let reason = user.fill(&column).expect_err("the file has one row");
    assert_eq!(reason.sentence(&names, &names, &feeders), "data `users` has no row left for this user");
}

#[test]
fn variables_are_replaced_cleared_and_may_be_empty() {
    let mut vars = Vars::new(2);
    assert_eq!(vars.get(0), None);
    vars.set(0, b"long value");
    vars.set(0, b"");
    assert_eq!((vars.get(0), vars.get(1), vars.get(9)), (Some(&b""[..]), None, None));
    vars.clear_all();
    assert_eq!(vars.get(0), None);
    vars.set(5, b"x");
    assert_eq!(vars.get(5), Some(&b"x"[..]));
}

#[test]
fn globals_return_the_newest_value_even_during_writes() {
    let globals = Globals::new(1);
    assert_eq!(globals.get(0), None);
    assert!(!globals.set(1, b"x"), "there is no such slot");
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let globals = globals.clone();
            thread::spawn(move || {
                let mut last = 0u64;
                while last < 10_000 {
                    let Some(value) = globals.get(0) else { continue };
                    let read = std::str::from_utf8(value).expect("digits").parse().expect("a number");
                    assert!(read >= last, "{read} after {last}");
                    last = read;
                }
            })
        })
        .collect();
    for n in 1..=10_000 {
        assert!(globals.set(0, n.to_string().as_bytes()));
        assert_eq!(globals.get(0), Some(n.to_string().as_bytes()));
    }
    readers.into_iter().for_each(|reader| reader.join().expect("no value is older than the previous one"));
}

#[test]
fn a_counter_gives_each_value_once_over_all_threads() {
    let counters = Arc::new(Counters::new());
    let users: Vec<_> = (0..4)
        .map(|_| {
            let counters = counters.clone();
            thread::spawn(move || (0..1_000).map(|_| counters.next(7, 100, -2)).collect::<Vec<_>>())
        })
        .collect();
    let mut all: Vec<i64> = users.into_iter().flat_map(|user| user.join().expect("it only counts")).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(all, (0..4_000).map(|n| 100 - 2 * n).collect::<Vec<_>>());
    assert_eq!(counters.next(8, 1, 1), 1, "counters are independent");
    assert_eq!(
        (counters.next(u16::MAX, 5, 0), counters.next(0, i64::MAX, 1), counters.next(0, i64::MAX, 1)),
        (5, i64::MAX, i64::MIN)
    );
}

#[test]
fn counter_user_and_iteration_are_plain_numbers() {
    let mut user = User::new(1);
    let counter = Function::Counter { id: 0, start: -1, step: 1 };
    assert_eq!(
        [user.call(counter.clone()), user.call(counter.clone()), user.call(counter)],
        ["-1", "0", "1"]
    );
    assert_eq!([user.call(Function::User), user.call(Function::Iteration)], ["17", "4000000000000"]);
}

#[test]
fn uuids_are_of_version_4_and_unique() {
    let mut user = User::new(1);
    let mut seen = HashSet::new();
    // Which of the 122 bits were ever 0, and which were ever 1.
    let (mut zeros, mut ones) = (0u128, 0u128);
    for _ in 0..2_000 {
        let uuid = user.call(Function::Uuid);
        let hyphens: Vec<usize> = uuid.match_indices('-').map(|(at, _)| at).collect();
        assert_eq!((uuid.len(), &hyphens[..]), (36, &[8, 13, 18, 23][..]), "{uuid}");
        assert_eq!((&uuid[14..15], "89ab".contains(&uuid[19..20])), ("4", true), "{uuid}");
        let bits = u128::from_str_radix(&uuid.replace('-', ""), 16).expect("the rest is hexadecimal");
        assert_eq!(uuid, uuid.to_lowercase());
        zeros |= !bits;
        ones |= bits;
        assert!(seen.insert(uuid));
    }
    assert_eq!((zeros & ones).count_ones(), 122);
}

#[test]
fn random_whole_numbers_are_uniform_and_include_both_ends() {
    let mut user = User::new(1);
    let mut counts = [0u32; 7];
    for _ in 0..70_000 {
        let drawn: i64 = user.call(Function::RandomInt { low: -3, high: 3 }).parse().expect("a whole number");
        counts[(drawn + 3) as usize] += 1;
    }
    // The expected count is 10,000 each; the standard deviation is 93.
    assert!(counts.iter().all(|count| count.abs_diff(10_000) < 450), "{counts:?}");
    assert_eq!(user.call(Function::RandomInt { low: 5, high: 5 }), "5");
    assert_eq!(user.call(Function::RandomInt { low: i64::MIN, high: i64::MIN }), i64::MIN.to_string());
    for _ in 0..100 {
        let all: i64 =
            user.call(Function::RandomInt { low: i64::MIN, high: i64::MAX }).parse().expect("it fits");
        let large = user.call(Function::RandomInt { low: -1, high: i64::MAX });
        assert!(large.parse::<i64>().is_ok_and(|n| n >= -1), "{all} {large}");
    }
}

#[test]
fn a_range_of_three_quarters_of_all_numbers_is_not_skewed() {
    // Without rejection, every third of the numbers draw * 3/4 would occur twice as often as the two after it.
    let mut user = User::new(2);
    let (low, high) = (i64::MIN, i64::MAX / 2);
    let mut counts = [0u32; 3];
    for _ in 0..9_000 {
        let drawn: i128 = user.call(Function::RandomInt { low, high }).parse().expect("a whole number");
        counts[((drawn - i128::from(low)) % 3) as usize] += 1;
    }
    // The expected count is 3,000 each; the standard deviation is 45.
    assert!(counts.iter().all(|count| count.abs_diff(3_000) < 220), "{counts:?}");
}

#[test]
fn random_strings_have_their_length_and_use_their_alphabet_uniformly() {
    for (alphabet, signs) in
        [(Alphabet::Alphanumeric, 62), (Alphabet::Letters, 52), (Alphabet::Digits, 10), (Alphabet::Hex, 16)]
    {
        let mut user = User::new(3);
        let mut counts = [0f64; 128];
        for length in [0, 1, 3, 4, 5, 100_000] {
            let text = user.call(Function::RandomString { length, alphabet });
            assert_eq!(text.len(), length as usize);
            text.bytes().for_each(|sign| counts[usize::from(sign)] += 1.0);
        }
        let permitted = |sign: u8| match alphabet {
            Alphabet::Alphanumeric => sign.is_ascii_alphanumeric(),
            Alphabet::Letters => sign.is_ascii_alphabetic(),
            Alphabet::Digits => sign.is_ascii_digit(),
            Alphabet::Hex => sign.is_ascii_digit() || (b'a'..=b'f').contains(&sign),
        };
        let expected = counts.iter().sum::<f64>() / f64::from(signs);
        let mut chi_squared = 0.0;
        for (sign, count) in (0..).zip(counts) {
            assert!(count == 0.0 || permitted(sign), "{}", char::from(sign));
            chi_squared += if permitted(sign) { (count - expected).powi(2) / expected } else { 0.0 };
        }
        // 4.5 standard deviations above the mean of the distribution.
        let freedom = f64::from(signs - 1);
        assert!(chi_squared < freedom + 4.5 * (2.0 * freedom).sqrt(), "{alphabet:?}: {chi_squared}");
    }
}

#[test]
fn equal_seeds_make_equal_values_and_different_seeds_different_ones() {
    let text = Text {
        parts: [
            Function::Uuid,
            Function::RandomInt { low: 0, high: i64::MAX },
            Function::RandomString { length: 9, alphabet: Alphabet::Alphanumeric },
        ]
        .map(|function| Part::Placeholder(Placeholder::Call(function), Escape::None))
        .into(),
    };
    let made = |seed| User::new(seed).fill(&text).expect("a function always has a value");
    assert_eq!(made(9), made(9));
    assert_ne!(made(9), made(10));
}

fn time(unix_ns: u64, format: &str) -> String {
    let mut out = Vec::new();
    write_time(unix_ns, &TimeFormat::parse(format).expect("the format is known"), &mut out);
    String::from_utf8(out).expect("a time is ASCII")
}

#[test]
fn a_time_is_written_in_every_format() {
    for (format, expected) in [
        ("iso", "2026-01-31T12:00:00.123Z"),
        ("unix", "1769860800"),
        ("unix_ms", "1769860800123"),
        ("unix_ns", "1769860800123456789"),
        ("http", "Sat, 31 Jan 2026 12:00:00 GMT"),
        ("%Y/%m/%d-%H%M%S.%L day %j 100%% é", "2026/01/31-120000.123 day 031 100% é"),
    ] {
        assert_eq!(time(NOON_NS, format), expected);
    }
    assert_eq!(User::new(1).call(Function::Now(TimeFormat::Unix)), "1769860800");
    let http = hole(Placeholder::Call(Function::Now(TimeFormat::Http)), Escape::Form);
    assert_eq!(User::new(1).fill(&http).as_deref(), Ok("Sat%2C+31+Jan+2026+12%3A00%3A00+GMT"));
}

#[test]
fn known_dates_are_formatted_correctly() {
    // The second is the example of RFC 9110 section 5.6.7; the others are at the boundaries of the calendar.
    for (seconds, expected) in [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT 001"),
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT 310"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT 059"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT 060"),
        (978_220_800, "Sun, 31 Dec 2000 00:00:00 GMT 366"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT 060"),
    ] {
        let ns = seconds * 1_000_000_000;
        assert_eq!(format!("{} {}", time(ns, "http"), time(ns, "%j")), expected);
    }
}

#[test]
fn every_day_until_2500_follows_the_previous_one() {
    let (mut year, mut month, mut day, mut day_of_year) = (1970, 1, 1, 1);
    for days in 0..193_500u64 {
        let expected = format!("{year:04}-{month:02}-{day:02} {day_of_year:03}");
        assert_eq!(time(days * 86_400_000_000_000, "%Y-%m-%d %j"), expected);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        (day, day_of_year) = (day + 1, day_of_year + 1);
        if day > length {
            (day, month) = (1, month + 1);
        }
        if month > 12 {
            (month, year, day_of_year) = (1, year + 1, 1);
        }
    }
}
