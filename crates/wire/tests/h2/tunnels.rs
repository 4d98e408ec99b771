//! Extended CONNECT (RFC 8441): bytes in both directions, and an end of each.

use super::peer::*;
use plimsoll_wire::h2::{Ask, Event, code, connect_from_http1, from_http1};

const TUNNEL: Ask = Ask { has_body: true, is_tunnel: true, ..GET };

fn kinds(events: &[Event]) -> Vec<&'static str> {
    let name = |event: &Event| match event {
        Event::Head { .. } => "head",
        Event::Data { .. } => "data",
        Event::HalfClosed { .. } => "half closed",
        Event::Done { .. } => "done",
        Event::Reset { .. } => "reset",
        Event::Refused { .. } => "refused",
        _ => "other",
    };
    events.iter().map(name).collect()
}

/// Opens a tunnel that the server has accepted.
fn opened() -> (Client, u32) {
    let mut client = Client::settled();
    let stream = client.open(TUNNEL).unwrap();
    // A length has no meaning here, and must not end the tunnel.
    let head = block("200", &[("content-length", "3")]);
    assert_eq!(kinds(&client.events_of(&[frame(HEADERS, END_HEADERS, stream, &head)]).unwrap()), ["head"]);
    client.out.clear();
    (client, stream)
}

#[test]
fn an_upgrade_becomes_a_connect_without_its_key() {
    let request =
        b"GET /chat?a=1 HTTP/1.1\r\nHost: example.org\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Own: 1\r\n\r\n";
    let (mut block, mut plain) = (Vec::new(), Vec::new());
    assert_eq!(connect_from_http1(request, "https", "websocket", &mut block), Some(&b""[..]));
    assert_eq!(from_http1(request, "https", &mut plain), Some(&b""[..]));
    let has = |block: &[u8], text: &str| block.windows(text.len()).any(|part| part == text.as_bytes());
    for (text, in_connect, in_plain) in [
        ("CONNECT", true, false),
        (":protocol", true, false),
        ("sec-websocket-version", true, true),
        ("sec-websocket-key", false, true),
        ("x-own", true, true),
        ("upgrade", false, false),
    ] {
        assert_eq!((has(&block, text), has(&plain, text)), (in_connect, in_plain), "{text}");
    }
}

#[test]
fn each_side_ends_its_own_direction() {
    // The server first: the client may still answer, and its end closes the stream.
    let (mut client, stream) = opened();
    let events =
        client.events_of(&[frame(DATA, 0, stream, b"abcdef"), frame(DATA, END_STREAM, stream, b"g")]);
    assert_eq!(kinds(&events.unwrap()), ["data", "half closed"]);
    assert_eq!((client.seen.body(0), client.session.open_streams()), (b"abcdefg".to_vec(), 1));
    assert_eq!(client.session.write(stream, b"bye", true, &mut client.out), 3);
    assert_eq!(client.sent(), [(DATA, END_STREAM, stream, b"bye".to_vec())]);
    assert_eq!(client.session.open_streams(), 0);
    // The client first.
    let (mut client, stream) = opened();
    assert_eq!(client.session.write(stream, b"bye", true, &mut client.out), 3);
    assert_eq!(client.session.open_streams(), 1);
    let events = client.events_of(&[frame(DATA, 0, stream, b"a"), frame(DATA, END_STREAM, stream, b"")]);
    assert_eq!((kinds(&events.unwrap()), client.session.open_streams()), (vec!["data", "done"], 0));
}

#[test]
fn nothing_follows_the_end_of_the_servers_direction() {
    let (mut client, stream) = opened();
    let late = [
        frame(DATA, END_STREAM, stream, b""),
        frame(DATA, 0, stream, b"late"),
        frame(DATA, END_STREAM, stream, b"late"),
        frame(HEADERS, ALONE, stream, OK),
    ];
    assert_eq!(kinds(&client.events_of(&late).unwrap()), ["half closed"]);
    assert_eq!(client.seen.body(0), b"");
    // It may still reset the stream.
    let events = client.events_of(&[number(RST_STREAM, stream, code::CANCEL)]);
    assert_eq!((kinds(&events.unwrap()), client.session.open_streams()), (vec!["reset"], 0));
}

#[test]
fn a_refusal_is_an_ordinary_response_and_ends_the_clients_direction() {
    let mut client = Client::settled();
    let stream = client.open(TUNNEL).unwrap();
    client.out.clear();
    let head = frame(HEADERS, END_HEADERS, stream, &block("403", &[]));
    let events = client.events_of(&[head, frame(DATA, END_STREAM, stream, b"no")]).unwrap();
    assert_eq!(kinds(&events), ["head", "done"]);
    assert_eq!(client.sent(), [(DATA, END_STREAM, stream, Vec::new())], "and no reset");
    assert_eq!((client.seen.body(0), client.session.open_streams()), (b"no".to_vec(), 0));
}

#[test]
fn a_server_that_accepts_and_ends_at_once_leaves_the_clients_direction_open() {
    let mut client = Client::settled();
    let stream = client.open(TUNNEL).unwrap();
    let events = client.events_of(&[frame(HEADERS, ALONE, stream, OK)]).unwrap();
    assert_eq!(kinds(&events), ["half closed"]);
    assert_eq!((client.seen.heads.len(), client.session.open_streams()), (1, 1));
    client.session.write(stream, b"", true, &mut client.out);
    assert_eq!(client.session.open_streams(), 0);
}
