//! WebSockets: the handshake, echoes, planned messages, and the ways to end, read byte by byte.

use crate::common::{Client, Ruler};
use std::io::Write;

const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

fn asking(query: &str) -> String {
    format!(
        "GET /websocket?{query} HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
    )
}

/// Opens a socket, whose handshake must be the one of RFC 6455.
fn open(ruler: &Ruler, query: &str) -> Client {
    let mut client = ruler.connect();
    client.send(&asking(query));
    let head = client.head();
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    assert!(head.contains(&format!("Sec-WebSocket-Accept: {ACCEPT}")), "{head}");
    client
}

/// Sends a frame with the mask 0, which leaves its payload as it is.
fn say(client: &mut Client, first: u8, payload: &[u8]) {
    let head = [first, 0x80 | payload.len() as u8, 0, 0, 0, 0];
    client.stream.write_all(&[&head, payload].concat()).unwrap();
}

/// The next frame: its first byte, and its payload.
fn hear(client: &mut Client) -> (u8, Vec<u8>) {
    let head = client.take(2);
    assert!(head[1] < 126, "a short frame without a mask: {head:?}");
    (head[0], client.take(usize::from(head[1])))
}

#[test]
fn a_request_without_a_handshake_is_told_what_the_path_is_for() {
    let ruler = Ruler::start(&[]);
    assert_eq!(ruler.connect().get("/websocket").status, 426);
    assert_eq!(ruler.count("websockets_opened"), 0);
}

#[test]
fn messages_return_as_they_came() {
    let ruler = Ruler::start(&[]);
    let mut client = open(&ruler, "");
    say(&mut client, 0x81, b"hello");
    assert_eq!(hear(&mut client), (0x81, b"hello".to_vec()));
    say(&mut client, 0x02, b"\x00\xff");
    say(&mut client, 0x89, b"ping");
    say(&mut client, 0x80, b"\x01");
    assert_eq!(hear(&mut client), (0x8a, b"ping".to_vec()));
    assert_eq!(hear(&mut client), (0x82, b"\x00\xff\x01".to_vec()));
    say(&mut client, 0x88, b"\x0f\xa0bye");
    assert_eq!(hear(&mut client), (0x88, b"\x0f\xa0bye".to_vec()), "the code is returned");
    ruler.wait_for("websockets_closed_by_peer", 1);
    assert_eq!((ruler.count("messages_received"), ruler.count("messages_sent")), (2, 2));
    assert!(ruler.command("counters").contains("\"websocket_close_codes\":{\"4000\":1}"));
}

#[test]
fn drops_repeats_swaps_and_fragments_are_as_configured() {
    let ruler = Ruler::start(&[]);
    let mut client = open(&ruler, "drop=2&repeat=3&swap=5");
    for number in b'1'..=b'6' {
        say(&mut client, 0x81, &[number]);
    }
    let heard: Vec<u8> = (0..6).map(|_| hear(&mut client).1[0]).collect();
    assert_eq!(heard, *b"133465");

    let mut client = open(&ruler, "fragment=2");
    say(&mut client, 0x81, b"abcde");
    let heard: Vec<_> = (0..3).map(|_| hear(&mut client)).collect();
    assert_eq!(heard, [(0x01, b"ab".to_vec()), (0x00, b"cd".to_vec()), (0x80, b"e".to_vec())]);
}

#[test]
fn planned_messages_have_numbers_and_end_with_a_close_frame() {
    let ruler = Ruler::start(&[]);
    let mut client = open(&ruler, "every=1ms&count=3&drop=2&close_code=1001");
    for seq in [1, 3] {
        let (first, payload) = hear(&mut client);
        let text = String::from_utf8(payload).unwrap();
        assert!(first == 0x81 && text.starts_with(&format!("{{\"seq\":{seq},\"at_ns\":")), "{text}");
    }
    assert_eq!(hear(&mut client), (0x88, b"\x03\xe9".to_vec()));
    say(&mut client, 0x88, b"\x03\xe9");
    ruler.wait_for("websockets_closed_by_server", 1);
}

#[test]
fn a_room_hears_what_one_of_it_says() {
    let ruler = Ruler::start(&[]);
    let mut sockets = [open(&ruler, "room=a"), open(&ruler, "room=a"), open(&ruler, "room=b")];
    say(&mut sockets[0], 0x81, b"hi");
    for socket in &mut sockets[..2] {
        assert_eq!(hear(socket), (0x81, b"hi".to_vec()));
    }
    say(&mut sockets[2], 0x81, b"other");
    assert_eq!(
        hear(&mut sockets[2]),
        (0x81, b"other".to_vec()),
        "its own message is the first that it hears"
    );
}

#[test]
fn broken_frames_and_handshakes_are_sent_as_commanded() {
    let ruler = Ruler::start(&[]);
    let mut client = open(&ruler, "bad=masked");
    assert_eq!(client.take(7), b"\x81\x81\x01\x02\x03\x04x");
    let mut client = ruler.connect();
    client.send(&asking("handshake=wrong_accept"));
    let head = client.head();
    assert!(head.starts_with("HTTP/1.1 101 ") && !head.contains(ACCEPT), "{head}");
    let mut client = ruler.connect();
    client.send(&asking("bad=nonsense"));
    assert!(client.head().starts_with("HTTP/1.1 400 "));
    let mut client = open(&ruler, "cut_after=1");
    say(&mut client, 0x81, b"x");
    ruler.wait_for("websockets_cut", 1);
}
