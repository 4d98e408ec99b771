//! Endless responses: every payload byte is passed on when it arrives, and a stream may be abandoned in its middle.

use crate::common::{GET, Seen};
use plimsoll_wire::h1::{Eof, Limits, Part, Session, Shared, Sink};
use plimsoll_wire::sse::{Parser, Spares};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

fn chunk(payload: &str) -> String {
    format!("{:x}\r\n{payload}\r\n", payload.len())
}

/// Feeds one piece after another and returns the payload of each.
fn handed_on(pieces: &[&str]) -> Vec<String> {
    let (mut session, mut shared) = (Session::new(), Shared::new(Limits::default()));
    session.submit(GET);
    let mut given = Vec::new();
    for piece in pieces {
        let mut seen = Seen::default();
        let fed = session.feed(piece.as_bytes(), &mut shared, &mut seen);
        assert!(fed.is_ok_and(|fed| fed.consumed == piece.len() && fed.done.is_none()), "{piece:?}");
        given.push(String::from_utf8_lossy(&seen.body).into_owned());
    }
    given
}

/// A server may pause before a chunk, but must complete a chunk line that it has begun.
#[test]
fn a_pause_before_a_chunk_is_not_part_of_its_line() {
    let (mut session, mut shared) = (Session::new(), Shared::new(Limits::default()));
    session.submit(GET);
    let mut part = |piece: &str| {
        let fed = session.feed(piece.as_bytes(), &mut shared, &mut Seen::default());
        assert!(fed.is_ok_and(|fed| fed.consumed == piece.len()), "{piece:?}");
        session.part()
    };
    assert_eq!(part(HEAD), Part::Body);
    assert!(matches!(part("b"), Part::ChunkLine(_)));
    assert_eq!(part("\r\nhello world"), Part::Body);
    assert_eq!(part("\r\n"), Part::Body);
    assert!(matches!(part("1;x"), Part::ChunkLine(_)));
}

#[test]
fn payload_is_handed_on_with_the_piece_it_came_in() {
    // Not at the end of the chunk: a chunk of a slow LLM may take seconds.
    assert_eq!(
        handed_on(&[HEAD, "b\r\nhel", "lo ", "world", "\r\n1\r\n!", "\r\n"]),
        ["", "hel", "lo ", "world", "!", ""]
    );
    assert_eq!(
        handed_on(&[&format!("{HEAD}5\r\nhe"), "l", "lo\r\n3\r\nyou\r\n2\r\nab"]),
        ["he", "l", "loyouab"]
    );
    // The other two framings do not wait either.
    assert_eq!(
        handed_on(&["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na", "bc", "def"]),
        ["a", "bc", "def"]
    );
    assert_eq!(handed_on(&["HTTP/1.1 200 OK\r\n\r\na", "bc", "def"]), ["a", "bc", "def"]);
}

/// Reads the events of a body as they arrive.
#[derive(Default)]
struct Events {
    parser: Parser,
    spares: Spares,
    datas: Vec<String>,
}

impl Sink for Events {
    const READS: bool = true;

    fn body(&mut self, bytes: &[u8]) {
        let Events { parser, spares, datas } = self;
        let fed = parser.feed(bytes, spares, 1024, &mut |event| {
            datas.push(String::from_utf8_lossy(event.data).into_owned());
        });
        assert_eq!(fed, Ok(()));
    }
}

#[test]
fn an_event_is_there_with_its_last_byte_whatever_the_chunks_are() {
    let (mut session, mut shared, mut events) =
        (Session::new(), Shared::new(Limits::default()), Events::default());
    session.submit(GET);
    let mut feed = |text: &str| {
        assert!(session.feed(text.as_bytes(), &mut shared, &mut events).is_ok());
        std::mem::take(&mut events.datas)
    };
    assert_eq!(feed(HEAD), [""; 0]);
    assert_eq!(feed(&chunk("data: one\n\n")), ["one"]);
    assert_eq!(
        feed(&(chunk("data: t") + &chunk("wo\n") + &chunk("\ndata: three\n\n: ping\n"))),
        ["two", "three"]
    );
    // The event is complete although its chunk is not: the following CRLF has not arrived.
    assert_eq!(feed("c\r\ndata: four\n\n"), ["four"]);
    assert_eq!(feed("\r\n0\r\n\r\n"), [""; 0]);
    assert!(session.is_idle());
}

#[test]
fn a_stream_left_in_its_middle_leaves_no_trace_in_the_session() {
    let (mut session, mut shared) = (Session::new(), Shared::new(Limits::default()));
    for left_at in ["", "5\r\nhe", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\nX: "] {
        session.submit(GET);
        assert!(session.feed(format!("{HEAD}{left_at}").as_bytes(), &mut shared, &mut ()).is_ok());
        session.reset(&mut shared);
        assert!(session.is_idle() && !session.started() && session.skippable() == 0);
        assert_eq!(session.eof(), Eof::Idle);
        session.submit(GET);
        let fed = session.feed(format!("{HEAD}2\r\nok\r\n0\r\n\r\n").as_bytes(), &mut shared, &mut ());
        let answer = fed.ok().and_then(|fed| fed.done).expect("the response is complete");
        assert_eq!((answer.body_bytes, answer.reusable), (2, true), "{left_at:?}");
    }
}

#[test]
fn an_endless_body_is_counted_and_never_kept() {
    let (mut session, mut shared) = (Session::new(), Shared::new(Limits::default()));
    session.submit(GET);
    assert!(session.feed(HEAD.as_bytes(), &mut shared, &mut ()).is_ok());
    let piece = chunk(&"data: tick\n\n".repeat(100));
    for _ in 0..1000 {
        let fed = session.feed(piece.as_bytes(), &mut shared, &mut ());
        assert!(fed.is_ok_and(|fed| fed.done.is_none()));
    }
    let fed = session.feed(b"0\r\n\r\n", &mut shared, &mut ());
    let answer = fed.ok().and_then(|fed| fed.done).expect("the last chunk arrived");
    assert_eq!(answer.body_bytes, 1_200_000);
    assert_eq!(answer.wire_bytes, (HEAD.len() + 1000 * piece.len() + 5) as u64);
}
