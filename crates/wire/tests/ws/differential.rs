//! Two readers of the same bytes: this crate, and `tungstenite`. Frames are made by a grammar that knows what is valid,
//! and then some are broken; both must pass on the same messages, and what one refuses, this one must refuse.

use super::{Seen, fed, frame};
use crate::common::random::{Random, cases};
use std::io::{Cursor, Read, Result, Write};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

/// Bytes to read, and a place for what the other library answers.
struct Line(Cursor<Vec<u8>>);

impl Read for Line {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.0.read(into)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What the other library makes of bytes from a server: the messages, and whether it refuses something.
fn theirs(bytes: &[u8]) -> (Vec<Seen>, bool) {
    let config =
        WebSocketConfig::default().max_message_size(Some(super::LIMIT)).max_frame_size(Some(super::LIMIT));
    let line = Line(Cursor::new(bytes.to_vec()));
    let mut socket = WebSocket::from_raw_socket(line, Role::Client, Some(config));
    let mut all = Vec::new();
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => all.push(Seen::Text(text.to_string())),
            Ok(Message::Binary(bytes)) => all.push(Seen::Binary(bytes.to_vec())),
            Ok(Message::Ping(bytes)) => all.push(Seen::Ping(bytes.to_vec())),
            Ok(Message::Pong(bytes)) => all.push(Seen::Pong(bytes.to_vec())),
            Ok(Message::Close(closing)) => {
                let (code, reason) = closing.map_or((1005, String::new()), |closing| {
                    (closing.code.into(), closing.reason.to_string())
                });
                // Its answer to a code that is not permitted.
                if (code, reason.as_str()) == (1002, "Protocol violation") {
                    return (all, true);
                }
                all.push(Seen::Close(code, reason));
                return (all, false);
            }
            Ok(Message::Frame(_)) => {}
            // The bytes have ended.
            Err(Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake)) => {
                return (all, false);
            }
            Err(Error::ConnectionClosed | Error::Io(_)) => return (all, false),
            Err(_) => return (all, true),
        }
    }
}

fn payload(random: &mut Random, is_text: bool) -> Vec<u8> {
    let length = [0, 1, 3, 125, 126, 127, 300, 70_000][random.below(8)];
    match is_text {
        true => "aé\u{20ac}\u{1f600}z".chars().cycle().take(length / 2).collect::<String>().into_bytes(),
        false => (0..length).map(|_| random.next() as u8).collect(),
    }
}

/// Some messages, fragmented anywhere, with control frames in between.
fn valid(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(4) {
        let is_text = random.one_in(2);
        let mut rest = payload(random, is_text);
        let mut opcode = if is_text { 1 } else { 2 };
        loop {
            if random.one_in(4) {
                let short = payload(random, false);
                let control = [0x89, 0x8a][random.below(2)];
                bytes.extend(frame(control, &short[..short.len().min(125)]));
            }
            if random.one_in(3) {
                break;
            }
            let after = rest.split_off(random.below(rest.len() + 1));
            bytes.extend(frame(opcode, &rest));
            (rest, opcode) = (after, 0);
        }
        bytes.extend(frame(0x80 | opcode, &rest));
    }
    if random.one_in(3) {
        let code = [1000u16, 1001, 1011, 3000, 4999][random.below(5)];
        bytes.extend(frame(0x88, &[&code.to_be_bytes()[..], b"bye"].concat()));
    }
    bytes
}

#[test]
fn both_read_the_same_messages() {
    cases(600, |random| {
        let bytes = valid(random);
        let (ours, refused) = fed(None, random.pieces(&bytes));
        assert_eq!(refused, None);
        assert_eq!((ours, false), theirs(&bytes));
    });
}

#[test]
fn both_refuse_the_same_sockets() {
    cases(3_000, |random| {
        let mut bytes = valid(random);
        for _ in 0..=random.below(2) {
            let at = random.below(bytes.len().min(600));
            bytes[at] = [bytes[at] ^ 1 << random.below(8), random.next() as u8][random.below(2)];
        }
        let (ours, refused) = fed(None, random.pieces(&bytes));
        let (expected, is_refused) = theirs(&bytes);
        match refused {
            // The other library reads a whole message before it looks at its text, and a whole frame before it looks at
            // its first bytes, and waits for what never comes.
            Some(_) if !is_refused => {
                assert_eq!(ours, expected[..ours.len()], "{}", bytes[..bytes.len().min(80)].escape_ascii());
            }
            _ => {
                assert_eq!(ours, expected, "{}", bytes[..bytes.len().min(80)].escape_ascii());
                assert_eq!(refused.is_some(), is_refused, "{refused:?}");
            }
        }
    });
}
