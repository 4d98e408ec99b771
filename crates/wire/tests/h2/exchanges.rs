//! Complete responses: their events, their sizes, and what a program sees of them.

use super::peer::*;
use plimsoll_wire::h1::Answer;
use plimsoll_wire::h2::{Ask, Event, Head, Malformed, Sink, code};

/// Returns a client with one open stream of this kind, and its number.
fn waiting(ask: Ask) -> (Client, u32) {
    let mut client = Client::settled();
    let stream = client.open(ask).unwrap();
    client.out.clear();
    (client, stream)
}

#[test]
fn a_response_is_a_head_its_body_and_its_end() {
    let (mut client, stream) = waiting(Ask { tag: 7, ..GET });
    let head = block("200", &[("content-type", "text/plain; x=y"), ("content-length", "5")]);
    let events = client.events_of(&[
        frame(HEADERS, END_HEADERS, stream, &head),
        frame(DATA, 0, stream, b"he"),
        frame(DATA, END_STREAM, stream, b"llo"),
    ]);
    let text = "HTTP/2 200\r\ncontent-type: text/plain; x=y\r\ncontent-length: 5\r\n\r\n";
    let answer = Answer {
        status: 200,
        head_bytes: text.len() as u32,
        body_bytes: 5,
        wire_bytes: (9 + head.len() + 9 + 2 + 9 + 3) as u64,
        reusable: true,
    };
    assert_eq!(
        events.unwrap(),
        [
            Event::Head { stream, tag: 7, status: 200 },
            Event::Data { stream, tag: 7 },
            Event::Done { stream, tag: 7, answer },
        ]
    );
    assert_eq!(client.seen.heads, [(7, text.to_owned())]);
    assert_eq!(client.seen.body(7), b"hello");
    assert_eq!((client.session.open_streams(), client.out.len()), (0, 0));
}

#[test]
fn a_head_that_ends_the_stream_is_the_whole_response() {
    for (status, ask, length) in [
        ("200", GET, "0"),
        ("204", GET, "12"),
        ("304", GET, "12"),
        ("200", Ask { head_only: true, ..GET }, "12"),
        ("404", Ask { reads_head: false, ..GET }, "0"),
    ] {
        let (mut client, stream) = waiting(ask);
        let head = block(status, &[("content-length", length)]);
        let events = client.events_of(&[frame(HEADERS, ALONE, stream, &head)]).unwrap();
        let [Event::Done { answer, .. }] = events[..] else { panic!("{events:?}") };
        assert_eq!((answer.status.to_string(), answer.body_bytes), (status.to_owned(), 0));
        assert_eq!(client.seen.heads.len(), usize::from(ask.reads_head));
    }
}

#[test]
fn an_empty_data_frame_may_end_a_response_without_a_body() {
    for ask in [GET, Ask { head_only: true, ..GET }] {
        let (mut client, stream) = waiting(ask);
        let events = client
            .events_of(&[frame(HEADERS, END_HEADERS, stream, OK), frame(DATA, END_STREAM, stream, b"")]);
        assert!(matches!(events.unwrap()[..], [Event::Head { .. }, Event::Done { .. }]));
    }
}

#[test]
fn trailers_follow_the_body_and_end_the_stream() {
    let (mut client, stream) = waiting(GET);
    let trailers = [field("grpc-status", "0"), field("grpc-message", "fine")].concat();
    let events = client.events_of(&[
        frame(HEADERS, END_HEADERS, stream, &block("200", &[("content-type", "application/grpc")])),
        frame(DATA, 0, stream, b"message"),
        frame(HEADERS, ALONE, stream, &trailers),
    ]);
    assert!(matches!(events.unwrap()[..], [Event::Head { .. }, Event::Data { .. }, Event::Done { .. }]));
    assert_eq!(client.seen.trailers, [(0, "grpc-status: 0\r\ngrpc-message: fine\r\n\r\n".to_owned())]);
    assert_eq!(client.seen.heads.len(), 1);
}

#[test]
fn trailers_of_a_body_that_is_too_short_are_not_shown() {
    let (mut client, stream) = waiting(GET);
    let events = client.events_of(&[
        frame(HEADERS, END_HEADERS, stream, &block("200", &[("content-length", "9")])),
        frame(DATA, 0, stream, b"short"),
        frame(HEADERS, ALONE, stream, &field("grpc-status", "0")),
    ]);
    let Some(Event::Refused { why, .. }) = events.unwrap().pop() else { panic!("it must be refused") };
    assert_eq!((why, client.seen.trailers.len()), (Malformed::WrongLength, 0));
}

#[test]
fn a_sink_finds_fields_by_name_in_heads_and_trailers() {
    #[derive(Default)]
    struct Fields(Vec<(String, Vec<u8>)>, Option<Vec<u8>>, Option<Vec<u8>>);
    impl Sink for Fields {
        fn head(&mut self, _tag: u32, head: &Head<'_>) {
            assert_eq!(head.status, 200);
            self.0 = head.iter().map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
            self.1 = head.content_type().map(<[u8]>::to_vec);
            assert_eq!(head.get("no"), None);
            assert_eq!(head.get("X-Empty"), Some(&b""[..]));
        }
        fn trailers(&mut self, _tag: u32, trailers: &Head<'_>) {
            self.2 = trailers.get("Grpc-Status").map(<[u8]>::to_vec);
            assert_eq!(trailers.status, 0);
        }
    }
    let (mut client, stream) = waiting(GET);
    let fields =
        [("x-a", "1: 2"), ("x-empty", ""), ("content-type", "text/html; charset=utf-8"), ("x-a", "3")];
    let bytes = [
        frame(HEADERS, END_HEADERS, stream, &block("200", &fields)),
        frame(HEADERS, ALONE, stream, &field("grpc-status", "14")),
    ]
    .concat();
    let mut sink = Fields::default();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let fed = client.session.feed(rest, &mut client.shared, &mut sink, &mut client.out).unwrap();
        rest = &rest[fed.consumed..];
    }
    let expected = fields.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
    assert_eq!(sink.0, expected);
    assert_eq!((sink.1, sink.2), (Some(b"text/html".to_vec()), Some(b"14".to_vec())));
}

#[test]
fn interim_responses_are_events_of_their_own_and_not_shown() {
    let (mut client, stream) = waiting(GET);
    let events = client.events_of(&[
        frame(HEADERS, END_HEADERS, stream, &block("103", &[("link", "</a.css>")])),
        frame(HEADERS, END_HEADERS, stream, &block("100", &[])),
        frame(HEADERS, ALONE, stream, OK),
    ]);
    let events = events.unwrap();
    assert_eq!(events[0], Event::Interim { stream, tag: 0, status: 103 });
    assert_eq!(events[1], Event::Interim { stream, tag: 0, status: 100 });
    assert!(matches!(events[2..], [Event::Done { .. }]));
    let sizes = block("103", &[("link", "</a.css>")]).len() + block("100", &[]).len() + OK.len();
    assert_eq!(client.seen.heads, [(0, "HTTP/2 200\r\n\r\n".to_owned())]);
    let [.., Event::Done { answer, .. }] = events[..] else { panic!() };
    assert_eq!((answer.head_bytes, answer.wire_bytes), (14, (sizes + 27) as u64));
}

#[test]
fn padding_and_priority_are_no_part_of_head_or_body() {
    let (mut client, stream) = waiting(GET);
    let mut head = vec![3, 0, 0, 0, 0, 16];
    head.extend(block("200", &[("content-length", "2")]));
    head.extend([0; 3]);
    let events = client.events_of(&[
        frame(HEADERS, END_HEADERS | PADDED | PRIORITIZED, stream, &head),
        frame(DATA, PADDED, stream, &[0]),
        frame(DATA, PADDED, stream, &[2, b'o', 0, 0]),
        frame(DATA, PADDED, stream, &[1, 0]),
        frame(DATA, PADDED | END_STREAM, stream, &[&[255, b'k'][..], &[0; 255]].concat()),
    ]);
    let events = events.unwrap();
    let [Event::Head { .. }, Event::Data { .. }, Event::Done { answer, .. }] = events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(client.seen.body(0), b"ok");
    assert_eq!(answer.wire_bytes, (5 * 9 + head.len() + 1 + 4 + 2 + 257) as u64);
}

#[test]
fn a_head_may_continue_over_several_frames() {
    let (mut client, stream) = waiting(GET);
    let head = block("200", &[("x-long", &"y".repeat(100)), ("content-length", "2")]);
    let (first, rest) = head.split_at(20);
    let (second, third) = rest.split_at(1);
    let mut padded = vec![2];
    padded.extend(first);
    padded.extend([0; 2]);
    let events = client.events_of(&[
        frame(HEADERS, PADDED, stream, &padded),
        frame(CONTINUATION, 0, stream, second),
        frame(CONTINUATION, 0, stream, b""),
        frame(CONTINUATION, END_HEADERS, stream, third),
        frame(DATA, END_STREAM, stream, b"ok"),
    ]);
    let events = events.unwrap();
    let [Event::Head { .. }, Event::Done { answer, .. }] = events[..] else { panic!("{events:?}") };
    assert_eq!(answer.wire_bytes, (5 * 9 + padded.len() + rest.len() + 2) as u64);
    assert!(client.seen.heads[0].1.contains("x-long: yyyy"));
}

#[test]
fn the_end_of_a_stream_may_come_with_a_head_that_continues() {
    let (mut client, stream) = waiting(GET);
    let events = client
        .events_of(&[frame(HEADERS, END_STREAM, stream, b""), frame(CONTINUATION, END_HEADERS, stream, OK)]);
    assert!(matches!(events.unwrap()[..], [Event::Done { .. }]));
}

#[test]
fn streams_may_answer_in_any_order_and_between_each_other() {
    let mut client = Client::settled();
    let streams = client.open_all(3);
    let events = client.events_of(&[
        frame(HEADERS, END_HEADERS, streams[2], OK),
        frame(HEADERS, END_HEADERS, streams[0], OK),
        frame(DATA, 0, streams[2], b"c"),
        frame(DATA, 0, streams[0], b"a"),
        frame(HEADERS, ALONE, streams[1], OK),
        frame(DATA, END_STREAM, streams[0], b"a"),
        frame(DATA, END_STREAM, streams[2], b"c"),
    ]);
    let done = events.unwrap().into_iter().filter_map(|event| match event {
        Event::Done { tag, stream, .. } => Some((tag, stream)),
        _ => None,
    });
    assert_eq!(done.collect::<Vec<_>>(), [(1, streams[1]), (0, streams[0]), (2, streams[2])]);
    assert_eq!((client.seen.body(0), client.seen.body(2)), (b"aa".to_vec(), b"cc".to_vec()));
}

#[test]
fn a_body_goes_to_the_sink_only_while_its_stream_reads() {
    let (mut client, stream) = waiting(Ask { reads_body: false, ..GET });
    let head = frame(HEADERS, END_HEADERS, stream, OK);
    assert_eq!(client.events_of(&[head, frame(DATA, 0, stream, b"no")]).unwrap().len(), 1);
    client.session.read_body(stream, true);
    assert_eq!(client.events_of(&[frame(DATA, 0, stream, b"yes")]).unwrap().len(), 1);
    client.session.read_body(stream, false);
    client.feed(&frame(DATA, END_STREAM, stream, b"no")).unwrap();
    assert_eq!(client.seen.body(0), b"yes");
    assert_eq!(client.answer().body_bytes, 7);
}

#[test]
fn the_length_of_a_body_is_checked_at_its_end_and_before_it_exceeds() {
    let length = |bytes: &str| block("200", &[("content-length", bytes)]);
    let refused = |frames: &dyn Fn(u32) -> Vec<Vec<u8>>| {
        let (mut client, stream) = waiting(GET);
        let events = client.events_of(&frames(stream)).unwrap();
        let sent = client.sent();
        match events.last() {
            Some(Event::Refused { why, .. }) => {
                assert_eq!(sent, [(RST_STREAM, 0, stream, why.code().to_be_bytes().to_vec())]);
                assert_eq!(client.session.open_streams(), 0);
                // A head that ends the stream too early is not shown.
                assert_eq!(client.seen.heads.len(), usize::from(events.len() > 1));
                Some(*why)
            }
            Some(Event::Done { .. }) => None,
            other => panic!("{other:?}"),
        }
    };
    let data = |flags, stream, bytes: &[u8]| frame(DATA, flags, stream, bytes);
    let head = |stream, flags, bytes| frame(HEADERS, END_HEADERS | flags, stream, &length(bytes));
    assert_eq!(refused(&|s| vec![head(s, 0, "2"), data(END_STREAM, s, b"ok")]), None);
    let wrong = Some(Malformed::WrongLength);
    assert_eq!(refused(&|s| vec![head(s, 0, "2"), data(END_STREAM, s, b"o")]), wrong);
    assert_eq!(refused(&|s| vec![head(s, 0, "2"), data(0, s, b"okk")]), wrong);
    assert_eq!(refused(&|s| vec![head(s, 0, "2"), data(0, s, b"ok"), data(0, s, b"k")]), wrong);
    assert_eq!(refused(&|s| vec![head(s, END_STREAM, "2")]), wrong);
    assert_eq!(refused(&|s| vec![head(s, 0, "2"), frame(DATA, PADDED, s, &[0, 1, 2, 3])]), wrong);
    // Padding does not count.
    assert_eq!(refused(&|s| vec![head(s, 0, "2"), frame(DATA, PADDED | 1, s, &[1, 1, 2, 3])]), None);
    let trailers = |s| frame(HEADERS, ALONE, s, &field("x", "y"));
    assert_eq!(refused(&|s| vec![head(s, 0, "2"), trailers(s)]), wrong);
    assert_eq!(
        refused(&|s| vec![frame(HEADERS, END_HEADERS, s, &block("204", &[])), data(1, s, b"x")]),
        wrong
    );
}

#[test]
fn a_response_before_the_end_of_the_request_stops_the_request() {
    let (mut client, stream) = waiting(Ask { has_body: true, ..GET });
    assert_eq!(client.session.write(stream, b"first", false, &mut client.out), 5);
    client.out.clear();
    let events = client.events_of(&[frame(HEADERS, ALONE, stream, &block("413", &[]))]).unwrap();
    assert!(matches!(events[..], [Event::Done { .. }]));
    assert_eq!(client.sent(), [(RST_STREAM, 0, stream, code::CANCEL.to_be_bytes().to_vec())]);
    // The server may still say that it did not read the rest.
    assert_eq!(client.events_of(&[number(RST_STREAM, stream, code::NO_ERROR)]).unwrap(), []);
    assert_eq!(client.session.write(stream, b"rest", true, &mut client.out), 4);
    assert_eq!(client.out, b"");
}

#[test]
fn an_equal_head_means_the_same_only_while_the_table_is_the_same() {
    let insert = |length: &str| [&[0x88, 0x40][..], &field("content-length", length)[1..]].concat();
    let read = || vec![0x88, 0xbe];
    for reads_head in [false, true] {
        let mut client = Client::settled();
        let mut whole = |block: Vec<u8>, body: &[u8]| {
            let stream = client.open(Ask { reads_head, ..GET }).unwrap();
            let frames = [frame(HEADERS, END_HEADERS, stream, &block), frame(DATA, END_STREAM, stream, body)];
            matches!(client.events_of(&frames).unwrap()[..], [Event::Head { .. }, .., Event::Done { .. }])
        };
        assert!(whole(insert("1"), b"x"));
        assert!(whole(read(), b"x"));
        assert!(whole(read(), b"x"));
        assert!(!whole(read(), b"xx"));
        assert!(whole(insert("2"), b"xx"));
        assert!(!whole(read(), b"x"), "the same block declares another length now");
        assert!(whole(read(), b"xx"));
        // Another block in between changes nothing.
        assert!(whole(vec![0x88], b"any"));
        assert!(whole(read(), b"xx"));
    }
}

#[test]
fn equal_heads_are_counted_alike_whether_a_program_reads_them_or_not() {
    let mut sizes = Vec::new();
    for reads_head in [false, true, false] {
        let mut client = Client::settled();
        for _ in 0..3 {
            let stream = client.open(Ask { reads_head, ..GET }).unwrap();
            let head = block("200", &[("x-a", "1"), ("content-length", "0")]);
            client.events.clear();
            client.feed(&frame(HEADERS, ALONE, stream, &head)).unwrap();
            sizes.push(client.answer().head_bytes);
        }
    }
    assert_eq!(sizes, [12 + 8 + 19 + 2; 9]);
}
