//! Event streams are read exactly as the HTML standard (section 9.2) requires.

use plimsoll_wire::sse::{Event, Parser, Spares, TooLong};

/// Name, data, id, and reconnection time of an event, as text.
type Shown = (String, String, Option<String>, Option<u64>);

fn describe(event: Event<'_>) -> Shown {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(event.name), text(event.data), event.id.map(text), event.retry_ms)
}

/// Returns the events in `pieces`, which must be within the limits.
fn events(pieces: &[&str]) -> Vec<Shown> {
    let (mut parser, mut spares, mut seen) = (Parser::new(), Spares::new(), Vec::new());
    for piece in pieces {
        let fed =
            parser.feed(piece.as_bytes(), &mut spares, usize::MAX, &mut |event| seen.push(describe(event)));
        assert_eq!(fed, Ok(()));
    }
    seen
}

fn datas(text: &str) -> Vec<String> {
    events(&[text]).into_iter().map(|event| event.1).collect()
}

fn only(text: &str) -> Shown {
    let mut events = events(&[text]);
    assert_eq!(events.len(), 1, "{text:?}: {events:?}");
    events.remove(0)
}

#[test]
fn an_event_has_name_data_id_and_reconnection_time() {
    assert_eq!(
        only("event: add\nid: 7\nretry: 3000\ndata: 73857293\n\n"),
        ("add".to_owned(), "73857293".to_owned(), Some("7".to_owned()), Some(3000))
    );
    assert_eq!(only("data: x\n\n"), (String::new(), "x".to_owned(), None, None));
}

#[test]
fn data_lines_are_joined_by_line_feeds() {
    assert_eq!(datas("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
    assert_eq!(datas("data: a\r\nevent: x\r\n: no\r\ndata: b\r\n\r\n"), ["a\nb"]);
    assert_eq!(datas("data\ndata\n\n"), ["\n"]);
}

#[test]
fn one_space_after_the_colon_is_not_data() {
    assert_eq!(
        datas("data:test\n\ndata: test\n\ndata:  test \n\ndata:\ttest\n\n"),
        ["test", "test", " test ", "\ttest"]
    );
    assert_eq!(datas("data: a: b:c\n\n"), ["a: b:c"]);
}

#[test]
fn an_event_without_data_lines_is_none_but_empty_data_is_data() {
    assert_eq!(datas("event: x\n\nid: 1\n\nretry: 1\n\n\n\n"), [""; 0]);
    assert_eq!(datas("data\n\ndata:\n\ndata: \n\n"), ["", "", ""]);
}

#[test]
fn an_event_without_data_leaves_nothing_to_the_next() {
    let next = ("", "x", None, None);
    let (name, data, id, retry_ms) = only("event: gone\nid: gone\nretry: 1\n\ndata: x\n\n");
    assert_eq!((&name[..], &data[..], id, retry_ms), next);
    // Also in pieces, for which the lines are held for a while.
    let pieces = ["event: go", "ne\nid: gone\n", "\nda", "ta: x\n\n"];
    assert_eq!(events(&pieces), [(name, data, None, None)]);
}

#[test]
fn line_ends_are_lf_cr_and_crlf_in_any_mixture_and_any_cut() {
    for text in ["data: a\n\ndata: b\n\n", "data: a\r\rdata: b\r\r", "data: a\r\n\r\ndata: b\n\r\n"] {
        assert_eq!(datas(text), ["a", "b"], "{text:?}");
    }
    assert_eq!(datas("data: a\r\ndata: b\r\rdata: c\n\r"), ["a\nb", "c"]);
    for pieces in [
        &["data: a\r", "\n\r", "\ndata: b\r", "\n\r\n"][..],
        &["data: a\r", "", "\n", "", "\r", "\n", "data: b\n", "\n"],
        &["data: a\r\r", "\ndata: b\r", "\r\n"],
    ] {
        let found: Vec<_> = events(pieces).into_iter().map(|event| event.1).collect();
        assert_eq!(found, ["a", "b"], "{pieces:?}");
    }
}

#[test]
fn a_cr_ends_an_event_without_waiting_for_the_byte_after_it() {
    assert_eq!(events(&["data: a\r\r"]).len(), 1);
    assert_eq!(events(&["data: a\r\n", "\r"]).len(), 1);
}

#[test]
fn one_byte_order_mark_is_passed_over_at_the_very_start() {
    assert_eq!(datas("\u{feff}data: x\n\n"), ["x"]);
    assert_eq!(datas("\u{feff}\u{feff}data: x\n\n"), [""; 0], "the second one is part of a name");
    assert_eq!(datas("data: a\n\n\u{feff}data: b\n\ndata: \u{feff}c\n\n"), ["a", "\u{feff}c"]);
    let feed = |pieces: &[&[u8]]| {
        let (mut parser, mut spares, mut count) = (Parser::new(), Spares::new(), 0);
        for piece in pieces {
            assert_eq!(parser.feed(piece, &mut spares, 100, &mut |_| count += 1), Ok(()));
        }
        count
    };
    assert_eq!(feed(&[b"\xef", b"", b"\xbb", b"\xbfdata: x\n\n"]), 1);
    assert_eq!(feed(&[b"\xef\xbb", b"data: x\n\n"]), 0, "half a mark spoils the name of its field");
    assert_eq!(feed(&[b"\xef", b"\ndata: x\n\n"]), 1);
}

#[test]
fn comments_and_unknown_fields_say_nothing() {
    assert_eq!(datas(": data: no\n\n:\n\n:data: no\n\n"), [""; 0]);
    assert_eq!(datas("Data: no\nDATA: no\n data: no\ndata : no\ndatax: no\ndat: no\ndata: yes\n\n"), ["yes"]);
}

#[test]
fn the_last_of_several_names_or_ids_holds() {
    assert_eq!(
        only("event: a\nid: 1\nevent: b\nid: 2\nretry: 1\nretry: 2\ndata: x\n\n"),
        ("b".to_owned(), "x".to_owned(), Some("2".to_owned()), Some(2))
    );
    assert_eq!(
        only("event: a\nevent\nid: 1\nid\ndata\n\n"),
        (String::new(), String::new(), Some(String::new()), None)
    );
}

#[test]
fn an_id_with_a_zero_byte_is_ignored() {
    assert_eq!(only("id: 1\nid: a\0b\ndata: x\n\n").2, Some("1".to_owned()));
    assert_eq!(only("id: \0\ndata: x\n\n").2, None);
}

#[test]
fn a_reconnection_time_is_digits_and_nothing_else() {
    for value in ["", "-1", "+1", "1.5", "3000x", "0x10", " 1", "1 ", "\u{663}"] {
        assert_eq!(only(&format!("retry: {value}\ndata: x\n\n")).3, None, "{value:?}");
        // It does not replace an earlier one either.
        assert_eq!(only(&format!("retry: 5\nretry: {value}\ndata: x\n\n")).3, Some(5), "{value:?}");
    }
    assert_eq!(only("retry:0\ndata\n\n").3, Some(0));
    assert_eq!(only("retry: 00018446744073709551615\ndata\n\n").3, Some(u64::MAX));
    assert_eq!(only("retry: 99999999999999999999999\ndata\n\n").3, Some(u64::MAX));
}

#[test]
fn a_reconnection_time_is_noticed_with_its_line_and_outlives_the_connection() {
    for size in [1, 3, 100] {
        let (mut parser, mut spares) = (Parser::new(), Spares::new());
        assert_eq!(parser.last_retry_ms(), None);
        let mut feed = |parser: &mut Parser, text: &str| {
            for piece in text.as_bytes().chunks(size) {
                assert_eq!(parser.feed(piece, &mut spares, 100, &mut |_| panic!("there is no data")), Ok(()));
            }
        };
        feed(&mut parser, "retry: 10");
        assert_eq!(parser.last_retry_ms(), None, "the line may continue");
        feed(&mut parser, "00\n");
        assert_eq!(parser.last_retry_ms(), Some(1000));
        feed(&mut parser, "\nretry: x\n\nevent: none\nretry: 7\r");
        assert_eq!(parser.last_retry_ms(), Some(7));
        parser.reset(&mut spares);
        assert_eq!(parser.last_retry_ms(), Some(7));
    }
}

#[test]
fn an_unfinished_event_is_dropped() {
    for text in ["data: x", "data: x\n", "data: x\ndata: y\r\n", "data: x\n:"] {
        assert_eq!(datas(text), [""; 0], "{text:?}");
        let (mut parser, mut spares) = (Parser::new(), Spares::new());
        let mut seen = Vec::new();
        for bytes in [text, "\u{feff}data: new\n\n"] {
            let fed =
                parser.feed(bytes.as_bytes(), &mut spares, 100, &mut |event| seen.push(describe(event).1));
            assert_eq!(fed, Ok(()));
            parser.reset(&mut spares);
        }
        assert_eq!(seen, ["new"], "after a reset, a stream starts again, with its byte order mark");
    }
}

#[test]
fn bytes_that_are_not_utf_8_stand_as_they_came() {
    let (mut parser, mut spares, mut seen) = (Parser::new(), Spares::new(), Vec::new());
    let fed =
        parser.feed(b"data: \xff\xfe\0\n\n", &mut spares, 100, &mut |event| seen.push(event.data.to_vec()));
    assert_eq!((fed, seen), (Ok(()), vec![b"\xff\xfe\0".to_vec()]));
}

#[test]
fn an_event_in_one_piece_is_shown_where_it_lies() {
    let bytes = b"data: before\n\nevent: name\n: between\nid: id\r\ndata: data\n\nda";
    let within = |part: &[u8]| bytes.as_ptr_range().contains(&part.as_ptr());
    let (mut parser, mut spares, mut count) = (Parser::new(), Spares::new(), 0);
    let fed = parser.feed(bytes, &mut spares, 100, &mut |event| {
        count += 1;
        assert!(within(event.data));
        assert!(count == 1 || (within(event.name) && event.id.is_some_and(within)));
    });
    assert_eq!((fed, count), (Ok(()), 2));
}

/// Returns whether `text` is within `limit_bytes`, and the number of events before that; the same for every split.
fn limited(text: &str, limit_bytes: usize) -> (Result<(), TooLong>, usize) {
    let ends = [text.len(), 1, 3, 64].map(|size| {
        let (mut parser, mut spares, mut count) = (Parser::new(), Spares::new(), 0);
        let mut pieces = text.as_bytes().chunks(size.max(1));
        let fed =
            pieces.try_for_each(|piece| parser.feed(piece, &mut spares, limit_bytes, &mut |_| count += 1));
        (fed, count)
    });
    assert!(ends.iter().all(|end| *end == ends[0]), "{text:?}: {ends:?}");
    ends[0]
}

#[test]
fn an_event_may_be_as_long_as_the_limit_and_no_longer() {
    let line = format!("data: {}", "x".repeat(94));
    assert_eq!(limited(&format!("{line}\n\n"), 100), (Ok(()), 1));
    assert_eq!(limited(&line, 100), (Ok(()), 0));
    assert_eq!(limited(&format!("{line}x"), 100), (Err(TooLong), 0), "without waiting for a line end");
    assert_eq!(limited(&format!("{line}\r\n\r\n").repeat(50), 100), (Ok(()), 50), "each event has its own");
    assert_eq!(limited(&format!("data: ok\n\n{line}x\n\n"), 100), (Err(TooLong), 1), "earlier events count");
    // All lines count together. A line end of any form counts as one byte; the last one does not count.
    assert_eq!(limited("data: x\r\ndata: y\r\n\r\n", 15), (Ok(()), 1));
    assert_eq!(limited("data: x\r\ndata: y\r\n\r\n", 14), (Err(TooLong), 0));
    assert_eq!(limited("other: x\ndata: y\n\n", 15), (Err(TooLong), 0));
    assert_eq!(limited("\n\r\n\n", 0), (Ok(()), 0));
}

#[test]
fn comments_may_be_of_any_length_and_number() {
    assert_eq!(limited(&format!(":{}\n\n", "x".repeat(1000)), 10), (Ok(()), 0));
    let between = ": ping\n".repeat(100);
    assert_eq!(limited(&format!("{between}data: x\n{between}data: y\n{between}\n"), 15), (Ok(()), 1));
}

#[test]
fn a_parser_that_refused_starts_anew() {
    let (mut parser, mut spares, mut count) = (Parser::new(), Spares::new(), 0);
    for _ in 0..3 {
        let mut feed = |text: &str| parser.feed(text.as_bytes(), &mut spares, 10, &mut |_| count += 1);
        assert_eq!(feed("data: y\n"), Ok(()));
        assert_eq!(feed("data: y\n"), Err(TooLong));
        assert_eq!(feed("\u{feff}data: z\n\n"), Ok(()));
    }
    assert_eq!(count, 3);
    assert_eq!(TooLong.to_string(), "a server-sent event does not end within the limit");
}

#[test]
fn the_state_of_a_stream_fits_a_cache_line() {
    assert!(size_of::<Parser>() <= 64, "{} bytes", size_of::<Parser>());
}
