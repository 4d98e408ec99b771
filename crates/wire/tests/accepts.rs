//! Responses of real servers are read as intended.

use crate::common;
use crate::common::{End, GET, GET_10, GET_CLOSE, HEAD, Seen, answer, exchange, samples, whole};
use plimsoll_wire::h1::{Answer, Ask, Eof, Limits, Session, Shared};

fn body_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&answer(GET, bytes).1.body).into_owned()
}

fn reusable(ask: Ask, bytes: &[u8]) -> bool {
    answer(ask, bytes).0.reusable
}

#[test]
fn an_answer_is_counted_in_head_body_and_wire_bytes() {
    let (found, seen) = answer(GET, b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(found, Answer { status: 201, head_bytes: 43, body_bytes: 5, wire_bytes: 48, reusable: true });
    assert_eq!(seen.body, b"hello");
    assert_eq!(
        (seen.heads[0].status, seen.heads[0].minor, &seen.heads[0].reason[..]),
        (201, 1, &b"Created"[..])
    );
    assert_eq!(seen.heads[0].headers, [("Content-Length".to_owned(), b"5".to_vec())]);
}

#[test]
fn chunk_framing_extensions_and_trailers_are_not_payload() {
    let bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                  5;a=b\r\nhello\r\nB \r\n, big world\r\n0\r\nX-Sum: 1\r\n\r\n";
    let (found, seen) = answer(GET, bytes);
    assert_eq!(seen.body, b"hello, big world");
    assert_eq!((found.body_bytes, found.wire_bytes, found.reusable), (16, bytes.len() as u64, true));
}

#[test]
fn a_body_without_length_ends_with_the_connection() {
    let outcome = whole(GET, b"HTTP/1.1 200 OK\r\n\r\nall there is");
    let End::Closed(Eof::Complete(found)) = outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!((found.body_bytes, found.reusable), (12, false));
    // Also without any body byte: the server may simply close after the head.
    assert!(matches!(whole(GET, b"HTTP/1.1 200 OK\r\n\r\n").end, End::Closed(Eof::Complete(_))));
}

#[test]
fn a_transfer_coding_that_does_not_end_in_chunked_ends_with_the_connection() {
    for coding in ["gzip", "chunked, gzip", "deflate;q=1"] {
        let bytes = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n0\r\n\r\n");
        let (found, seen) = answer(GET, bytes.as_bytes());
        assert_eq!((&seen.body[..], found.reusable), (&b"0\r\n\r\n"[..], false), "{coding}");
    }
}

#[test]
fn a_second_coding_under_chunked_leaves_its_payload_opaque() {
    for coding in ["gzip, chunked", "GZIP ,\tChunked", "gzip\r\nTransfer-Encoding: chunked", "gzip,,chunked"]
    {
        let head = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n");
        assert_eq!(body_of(format!("{head}3\r\nzip\r\n0\r\n\r\n").as_bytes()), "zip", "{coding}");
    }
}

#[test]
fn identity_is_no_coding() {
    let bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(body_of(bytes), "ok");
}

#[test]
fn http_1_0_stays_open_only_if_both_sides_say_so() {
    let old = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let old_kept = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nok";
    let new = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let new_kept = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok";
    assert_eq!([reusable(GET, old), reusable(GET, old_kept)], [false, true]);
    assert_eq!([reusable(GET_10, old), reusable(GET_10, old_kept)], [false, true]);
    // After a request in 1.0, a server closes even if it responds in 1.1, unless it says otherwise.
    assert_eq!([reusable(GET_10, new), reusable(GET_10, new_kept)], [false, true]);
}

#[test]
fn chunks_in_http_1_0_are_read_but_the_connection_is_not_trusted() {
    let bytes = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    assert_eq!(body_of(bytes), "ok");
    assert!(!reusable(GET, bytes));
}

#[test]
fn connection_options_are_found_in_lists_in_any_case() {
    for (value, open) in [
        ("close", false),
        ("CLOSE", false),
        ("Keep-Alive", true),
        ("upgrade , Close", false),
        ("keep-alive, close", false),
        ("close, keep-alive", false),
        ("x-close", true),
        ("", true),
        ("a\r\nConnection: close", false),
    ] {
        let bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: {value}\r\n\r\nok");
        assert_eq!(reusable(GET, bytes.as_bytes()), open, "{value}");
    }
    assert!(!reusable(
        GET_CLOSE,
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok"
    ));
}

#[test]
fn interim_answers_come_before_the_answer_and_count_as_wire_bytes() {
    let interim =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\n\r\n";
    let bytes = format!("{interim}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let (found, seen) = answer(GET, bytes.as_bytes());
    assert_eq!((found.status, found.head_bytes, found.wire_bytes), (200, 38, bytes.len() as u64));
    assert_eq!(seen.heads.len(), 1, "interim heads are not shown");
}

#[test]
fn a_session_knows_whether_the_server_asks_for_the_body() {
    let mut shared = Shared::new(Limits::default());
    let mut session = Session::new();
    session.submit(GET);
    let mut feed =
        |session: &mut Session, bytes: &[u8]| session.feed(bytes, &mut shared, &mut ()).unwrap().done;
    assert!(feed(&mut session, b"HTTP/1.1 103 Early Hints\r\n\r\n").is_none());
    assert!(!session.is_continued(), "any other interim response does not ask for it");
    assert!(feed(&mut session, b"HTTP/1.1 100 Continue\r\n\r\n").is_none());
    assert!(session.is_continued());
    let answer = feed(&mut session, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
    assert!(answer.reusable && !session.is_continued());
    session.submit(GET);
    assert!(!session.is_continued(), "the next request waits for its own");
    assert!(feed(&mut session, b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 5\r\n\r\n").is_none());
    assert!(!session.is_continued());
}

#[test]
fn switching_protocols_is_an_end_and_leaves_the_new_protocol_to_the_caller() {
    let bytes =
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n\x81\x00";
    let outcome = whole(GET, bytes);
    let End::Done(found) = outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!((found.status, found.reusable, outcome.consumed), (101, false, Some(bytes.len() - 2)));
    assert_eq!(outcome.seen.heads.len(), 1);
}

#[test]
fn head_204_and_304_have_no_body_whatever_the_head_says() {
    // RFC 9112 section 6.3: "regardless of the header fields", even contradictory ones.
    for lengths in
        ["Content-Length: 500\r\n", "Transfer-Encoding: chunked\r\n", "", "Content-Length: 1, 2\r\n"]
    {
        for (ask, status) in [(HEAD, 200), (GET, 204), (GET, 304)] {
            let (found, _) = answer(ask, format!("HTTP/1.1 {status} X\r\n{lengths}\r\n").as_bytes());
            assert_eq!((found.body_bytes, found.reusable), (0, true), "{status} {lengths}");
        }
    }
}

#[test]
fn a_reason_phrase_may_look_like_a_header_be_empty_or_missing() {
    for (line, reason) in [
        ("HTTP/1.1 200 Content-Type: application/json", "Content-Type: application/json"),
        ("HTTP/1.1 200 Content-Length: 700", "Content-Length: 700"),
        ("HTTP/1.1 200 ", ""),
        ("HTTP/1.1 200", ""),
        ("HTTP/1.1 200 Ça va", "Ça va"),
        ("HTTP/1.1 200  two  spaces ", " two  spaces "),
    ] {
        let (found, seen) = answer(GET, format!("{line}\r\nContent-Length: 2\r\n\r\nok").as_bytes());
        assert_eq!(found.body_bytes, 2, "{line}");
        assert_eq!(seen.heads[0].reason, reason.as_bytes());
        assert_eq!(seen.heads[0].headers.len(), 1);
    }
}

#[test]
fn bytes_behind_the_answer_stay_with_the_caller() {
    for first in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
    ] {
        let bytes = [first, b"HTTP/1.1 200 OK\r\n"].concat();
        assert_eq!(whole(GET, &bytes).consumed, Some(first.len()));
    }
}

#[test]
fn one_length_said_several_times_is_one_length() {
    assert_eq!(body_of(b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello"), "hello");
    assert_eq!(body_of(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: 005\r\n\r\nhello"), "hello");
}

#[test]
fn line_feeds_alone_end_lines_of_a_head_and_of_trailers() {
    assert_eq!(body_of(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), "ok");
    assert_eq!(body_of(b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\r\nok\r\n0\r\nX: y\n\n"), "ok");
}

#[test]
fn empty_lines_before_a_status_line_are_passed_over() {
    let (found, _) = answer(GET, b"\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    assert_eq!((found.head_bytes, found.wire_bytes), (38, 43));
}

#[test]
fn folded_header_lines_are_read_on() {
    assert_eq!(body_of(b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length:\r\n 2\r\n\r\nok"), "ok");
}

#[test]
fn a_head_of_32_kb_is_ordinary() {
    let (found, seen) = answer(GET, &samples::head_of_32_kb());
    assert!(found.head_bytes > 32_000);
    assert_eq!(seen.heads[0].headers.len(), 9);
}

#[test]
fn a_head_is_searched_by_name_in_any_case() {
    struct Find(Vec<Option<Vec<u8>>>);
    impl plimsoll_wire::h1::Sink for Find {
        const READS: bool = true;
        fn head(&mut self, head: &plimsoll_wire::h1::Head<'_>) {
            self.0 = ["x-ID", "X-None"].map(|name| head.get(name).map(<[u8]>::to_vec)).to_vec();
        }
    }
    let mut find = Find(Vec::new());
    let bytes = &b"HTTP/1.1 200 OK\r\nX-Id:  7 \r\nX-Id: 8\r\nContent-Length: 0\r\n\r\n"[..];
    common::exchange_into(GET, [bytes], &mut Shared::new(Limits::default()), &mut find);
    assert_eq!(find.0, [Some(b"7".to_vec()), None]);
}

#[test]
fn a_head_is_shown_as_it_came_and_names_its_media_type() {
    struct Shown(Vec<(Vec<u8>, Option<Vec<u8>>)>);
    impl plimsoll_wire::h1::Sink for Shown {
        const READS: bool = true;
        fn head(&mut self, head: &plimsoll_wire::h1::Head<'_>) {
            self.0.push((head.raw().to_vec(), head.content_type().map(<[u8]>::to_vec)));
        }
    }
    let (mut shown, mut shared) = (Shown(Vec::new()), Shared::new(Limits::default()));
    for (line, media_type) in [
        ("Content-Type: text/event-stream\r\n", Some("text/event-stream")),
        ("content-type:  Text/HTML ; charset=utf-8\r\n", Some("Text/HTML")),
        ("Content-Type:\r\n", Some("")),
        ("X-Content-Type: a/b\r\n", None),
        // Recognized by its template, with another date: the date of this head is shown.
        ("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", None),
        ("Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n", None),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\n{line}Content-Length: 2\r\n\r\n");
        let bytes = format!("\r\nHTTP/1.1 100 Continue\r\n\r\n{head}ok");
        common::exchange_into(GET, bytes.as_bytes().chunks(50), &mut shared, &mut shown);
        let expected = (head.into_bytes(), media_type.map(|text| text.as_bytes().to_vec()));
        assert_eq!(shown.0.pop(), Some(expected), "{line}");
    }
}

#[test]
fn what_the_other_side_cut_short_is_named() {
    for (bytes, eof) in [
        (&b""[..], Eof::BeforeHead),
        (b"HTTP/1.1 2", Eof::InHead),
        (b"HTTP/1.1 100 Continue\r\n\r\n", Eof::InHead),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", Eof::InBody),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n", Eof::InBody),
    ] {
        assert_eq!(whole(GET, bytes).end, End::Closed(eof));
    }
    assert_eq!(Session::new().eof(), Eof::Idle);
}

#[test]
fn a_body_nobody_reads_may_be_skipped_in_any_pieces() {
    let mut shared = Shared::new(Limits::default());
    let mut session = Session::new();
    assert_eq!(session.skippable(), 0);
    session.submit(GET);
    assert_eq!(session.skippable(), 0);
    let fed = session.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 683481\r\n\r\nabc", &mut shared, &mut ());
    assert_eq!(fed.map(|fed| fed.done), Ok(None));
    assert_eq!(session.skippable(), 683_478);
    assert_eq!(session.skip(683_000), None);
    assert!(session.started());
    let Some(found) = session.skip(478) else { panic!("the body is over") };
    assert_eq!((found.body_bytes, found.wire_bytes, found.reusable), (683_481, 683_524, true));
    assert!(session.is_idle());
}

#[test]
fn chunks_and_bodies_until_close_are_not_skippable() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"] {
        let mut session = Session::new();
        session.submit(GET);
        let fed = session.feed(head.as_bytes(), &mut Shared::new(Limits::default()), &mut ());
        assert!(fed.is_ok());
        assert_eq!(session.skippable(), 0);
    }
}

#[test]
fn one_connection_answers_many_requests() {
    let mut shared = Shared::new(Limits::default());
    let mut session = Session::new();
    let mut seen = Seen::default();
    for _ in 0..3 {
        for sample in samples::small().iter().take(3) {
            session.submit(sample.ask);
            let fed = session.feed(&sample.bytes, &mut shared, &mut seen);
            assert!(fed.is_ok_and(|fed| fed.done.is_some()));
        }
    }
    assert_eq!(seen.heads.len(), 9);
}

#[test]
fn a_forgotten_exchange_leaves_no_trace() {
    let mut shared = Shared::new(Limits::default());
    let mut session = Session::new();
    session.submit(GET);
    assert!(session.feed(b"HTTP/1.1 500 Half a he", &mut shared, &mut ()).is_ok());
    assert!(session.started());
    session.reset(&mut shared);
    assert!(session.is_idle() && !session.started());
    session.submit(GET);
    let fed = session.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &mut shared, &mut ());
    assert_eq!(
        fed.ok().and_then(|fed| fed.done).map(|found| (found.status, found.wire_bytes)),
        Some((200, 38))
    );
}

#[test]
fn a_changed_date_shows_in_the_head_although_the_head_was_recognised() {
    let mut shared = Shared::new(Limits::default());
    for second in 10..20 {
        let date = format!("Sun, 06 Nov 1994 08:49:{second} GMT");
        let bytes = format!("HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 0\r\n\r\n");
        let seen = exchange(GET, [bytes.as_bytes()], &mut shared).seen;
        assert_eq!(seen.heads[0].headers[0], ("Date".to_owned(), date.into_bytes()));
    }
}

#[test]
fn a_date_cannot_smuggle_a_header_past_recognition() {
    let mut shared = Shared::new(Limits::default());
    let usual =
        b"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nServer: x\r\nContent-Length: 0\r\n\r\n";
    let trick =
        b"HTTP/1.1 200 OK\r\nDate: abcdefghij\r\nConnection: close\r\nServer: x\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(usual.len(), trick.len());
    for (bytes, open) in [(usual, true), (trick, false), (usual, true)] {
        let End::Done(found) = exchange(GET, [&bytes[..]], &mut shared).end else { panic!("not whole") };
        assert_eq!(found.reusable, open);
    }
}

#[test]
fn a_date_with_space_at_its_ends_is_trimmed_like_any_value() {
    let mut shared = Shared::new(Limits::default());
    for date in
        ["Sun, 06 Nov 1994 08:49:37 GMT", " un, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GM "]
    {
        let bytes = format!("HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 0\r\n\r\n");
        let seen = exchange(GET, [bytes.as_bytes()], &mut shared).seen;
        assert_eq!(seen.heads[0].headers[0].1, date.trim().as_bytes());
    }
}

#[test]
fn the_state_of_a_connection_fits_a_cache_line() {
    assert!(size_of::<Session>() <= 64, "{} bytes", size_of::<Session>());
}
