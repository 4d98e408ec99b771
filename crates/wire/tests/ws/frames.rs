//! Valid frames, received and sent.

use super::{LIMIT, Seen, fed, frame, messages, text};
use plimsoll_wire::ws::{Incoming, Kind, Session, Shared, SharedWriter, Writer, apply_mask, write_frame};

#[test]
fn the_examples_of_the_standard_are_read() {
    // RFC 6455 section 5.7
    assert_eq!(messages(b"\x81\x05Hello"), [text("Hello")]);
    assert_eq!(messages(b"\x01\x03Hel\x80\x02lo"), [text("Hello")]);
    assert_eq!(messages(b"\x89\x05Hello"), [Seen::Ping(b"Hello".to_vec())]);
    for len in [256, 65_536] {
        let payload = vec![7; len];
        assert_eq!(messages(&frame(0x82, &payload)), [Seen::Binary(payload)]);
    }
}

#[test]
fn the_examples_of_the_standard_are_written() {
    let mut out = Vec::new();
    write_frame(Kind::Text, false, b"Hello", [0x37, 0xfa, 0x21, 0x3d], &mut out);
    assert_eq!(out, b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
    for (len, head) in [(125, 6), (126, 8), (65_535, 8), (65_536, 14)] {
        let mut out = Vec::new();
        write_frame(Kind::Binary, false, &vec![0; len], [0; 4], &mut out);
        assert_eq!(out.len(), len + head, "the shortest form of {len}");
    }
}

#[test]
fn masking_twice_changes_nothing_at_every_length_and_place() {
    let mask = [0x12, 0x34, 0x56, 0x78];
    for len in 0..40 {
        let plain: Vec<u8> = (0..len).collect();
        let mut masked = plain.clone();
        apply_mask(&mut masked, mask);
        let expected: Vec<u8> = plain.iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]).collect();
        assert_eq!(masked, expected);
        apply_mask(&mut masked, mask);
        assert_eq!(masked, plain);
    }
}

#[test]
fn control_frames_may_interrupt_a_message() {
    let bytes = [
        frame(0x01, b"a"),
        frame(0x89, b"ping"),
        frame(0x00, b""),
        frame(0x8a, b""),
        frame(0x00, b"b"),
        frame(0x80, b"c"),
    ]
    .concat();
    let expected = [Seen::Ping(b"ping".to_vec()), Seen::Pong(Vec::new()), text("abc")];
    assert_eq!(messages(&bytes), expected);
}

#[test]
fn empty_messages_are_messages() {
    assert_eq!(messages(&frame(0x81, b"")), [text("")]);
    let split = [frame(0x02, b""), frame(0x00, b""), frame(0x80, b"")].concat();
    assert_eq!(messages(&split), [Seen::Binary(Vec::new())]);
}

#[test]
fn a_character_may_be_split_between_fragments() {
    let word = "κόσμε\u{10ffff}".as_bytes();
    for at in 0..=word.len() {
        let bytes = [frame(0x01, &word[..at]), frame(0x80, &word[at..])].concat();
        assert_eq!(messages(&bytes), [text("κόσμε\u{10ffff}")]);
    }
}

#[test]
fn a_close_frame_has_a_code_and_a_reason_or_neither() {
    assert_eq!(messages(&frame(0x88, b"")), [Seen::Close(1005, String::new())]);
    assert_eq!(messages(&frame(0x88, b"\x03\xe8")), [Seen::Close(1000, String::new())]);
    assert_eq!(messages(&frame(0x88, b"\x0f\xa0bye")), [Seen::Close(4000, "bye".into())]);
}

#[test]
fn bytes_after_a_close_frame_are_ignored() {
    let bytes = [frame(0x88, b"\x03\xe9"), frame(0x81, b"late"), vec![0xff; 9]].concat();
    assert_eq!(messages(&bytes), [Seen::Close(1001, String::new())]);
}

#[test]
fn a_length_that_is_longer_than_necessary_is_read() {
    assert_eq!(messages(b"\x82\x7e\x00\x01x"), [Seen::Binary(b"x".to_vec())]);
    assert_eq!(messages(b"\x82\x7f\0\0\0\0\0\0\0\x01x"), [Seen::Binary(b"x".to_vec())]);
}

#[test]
fn what_is_written_is_what_a_server_reads() {
    // Unmasked by hand, because only servers receive masked frames.
    let (mut writer, mut shared) = (Writer::new(None), SharedWriter::default());
    for (kind, first) in [
        (Kind::Text, 0x81),
        (Kind::Binary, 0x82),
        (Kind::Close, 0x88),
        (Kind::Ping, 0x89),
        (Kind::Pong, 0x8a),
    ] {
        let mut out = Vec::new();
        writer.write(kind, b"payload", [9, 8, 7, 6], &mut shared, &mut out);
        assert_eq!(out[..6], [first, 0x87, 9, 8, 7, 6]);
        apply_mask(&mut out[6..], [9, 8, 7, 6]);
        assert_eq!(&out[6..], b"payload");
    }
    let mut out = Vec::new();
    writer.write(Kind::Close, &[b'x'; 200], [0; 4], &mut shared, &mut out);
    assert_eq!(out.len(), 6 + 125, "a control frame is never longer");
}

#[test]
fn a_message_that_arrives_whole_is_read_in_place() {
    let bytes = frame(0x82, &[5; 300]);
    let (mut session, mut shared) = (Session::new(None), Shared::new(LIMIT));
    let range = bytes.as_ptr_range();
    let fed = session.feed(&bytes, &mut shared, &mut |message| {
        let Incoming::Binary(payload) = message else { panic!("{message:?}") };
        assert!(range.contains(&payload.as_ptr()), "no copy");
    });
    assert_eq!(fed, Ok(()));
    assert!(!session.is_within_message());
    let fed = session.feed(&bytes[..150], &mut shared, &mut |message| panic!("{message:?}"));
    assert_eq!(fed, Ok(()));
    assert!(session.is_within_message());
}

#[test]
fn nothing_is_passed_on_before_it_is_complete() {
    let bytes = [frame(0x01, b"one"), frame(0x80, b"two")].concat();
    for at in 0..bytes.len() {
        assert_eq!(fed(None, [&bytes[..at]]), (Vec::new(), None));
    }
}
