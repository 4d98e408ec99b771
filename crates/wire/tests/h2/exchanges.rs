//! Complete responses: their events, their sizes, and what a program sees of them.

use super::peer::*;
use plimsoll_wire::h1::Answer;
use plimsoll_wire::h2::{Ask, Event};

#[test]
fn a_response_is_a_head_its_body_and_its_end() {
    let mut client = Client::settled();
    let stream = client.open(Ask { tag: 7, ..GET }).unwrap();
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
}
