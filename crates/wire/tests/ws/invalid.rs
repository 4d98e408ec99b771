//! Every refusal, with its close code, and the twin that is accepted.

use super::{LIMIT, Seen, fed, frame, outcome, text};
use plimsoll_wire::ws::{Malformed, close};

fn refused(bytes: &[u8]) -> Malformed {
    let (seen, refused) = outcome(None, bytes);
    refused.unwrap_or_else(|| panic!("{} was accepted: {seen:?}", bytes.escape_ascii()))
}

#[test]
fn every_kind_has_its_own_number_and_sentence() {
    for (at, one) in Malformed::ALL.into_iter().enumerate() {
        assert_eq!(usize::from(one.number()), at + 1);
        assert!(close::is_sendable(one.code()), "{one:?}");
        assert_eq!(one.to_string(), one.sentence());
        assert_eq!(Malformed::ALL.iter().filter(|other| other.sentence() == one.sentence()).count(), 1);
    }
}

#[test]
fn reserved_bits_and_opcodes_are_refused() {
    for bit in [0x40, 0x20, 0x10] {
        assert_eq!(refused(&frame(0x81 | bit, b"x")), Malformed::ReservedBits);
        assert_eq!(refused(&frame(0x89 | bit, b"x")), Malformed::ReservedBits);
    }
    for opcode in (3..=7).chain(11..=15) {
        assert_eq!(refused(&frame(0x80 | opcode, b"x")), Malformed::Opcode);
        assert_eq!(refused(&frame(0x80 | opcode, b"")), Malformed::Opcode);
    }
}

#[test]
fn masked_frames_of_a_server_are_refused() {
    assert_eq!(refused(b"\x81\x81\x01\x02\x03\x04x"), Malformed::Masked);
    assert_eq!(refused(b"\x88\x80\x01\x02\x03\x04"), Malformed::Masked);
}

#[test]
fn control_frames_are_short_and_whole() {
    for opcode in [8, 9, 10] {
        assert_eq!(refused(&frame(opcode, b"")), Malformed::FragmentedControl);
        assert_eq!(refused(&frame(0x80 | opcode, &[0; 126])), Malformed::ControlTooLong);
    }
    let (seen, refused) = outcome(None, &frame(0x89, &[1; 125]));
    assert_eq!((seen, refused), (vec![Seen::Ping(vec![1; 125])], None));
}

#[test]
fn fragments_belong_to_one_message() {
    assert_eq!(refused(&frame(0x80, b"x")), Malformed::StrayContinuation);
    assert_eq!(refused(&frame(0x00, b"x")), Malformed::StrayContinuation);
    let again = [frame(0x01, b"x"), frame(0x81, b"y")].concat();
    assert_eq!(refused(&again), Malformed::Interrupted);
    let ended = [frame(0x01, b"x"), frame(0x80, b"y"), frame(0x80, b"z")].concat();
    assert_eq!(outcome(None, &ended), (vec![text("xy")], Some(Malformed::StrayContinuation)));
}

#[test]
fn a_length_with_its_highest_bit_is_refused() {
    assert_eq!(refused(b"\x82\x7f\x80\0\0\0\0\0\0\x01x"), Malformed::Length);
}

#[test]
fn text_that_is_not_utf8_is_refused_at_its_first_invalid_byte() {
    for bad in [&b"\xff"[..], b"a\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xce\xba\xe1"] {
        assert_eq!(refused(&frame(0x81, bad)), Malformed::Utf8, "{}", bad.escape_ascii());
    }
    let (seen, refused) = fed(None, [&frame(0x01, b"ok\xff")[..]]);
    assert_eq!((seen, refused), (Vec::new(), Some(Malformed::Utf8)), "before the last fragment");
    let cut = [frame(0x01, b"\xf0\x9f"), frame(0x80, b"\x98")].concat();
    assert_eq!(outcome(None, &cut).1, Some(Malformed::Utf8), "half a character at the end");
    assert_eq!(outcome(None, &frame(0x82, b"\xff")).1, None, "binary may contain anything");
}

#[test]
fn close_frames_contain_a_code_that_may_be_sent() {
    assert_eq!(refused(&frame(0x88, b"\x03")), Malformed::ClosePayload);
    for code in [0u16, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
        assert_eq!(refused(&frame(0x88, &code.to_be_bytes())), Malformed::CloseCode, "{code}");
    }
    for code in [1000u16, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 4999] {
        let (seen, refused) = outcome(None, &frame(0x88, &code.to_be_bytes()));
        assert_eq!((seen, refused), (vec![Seen::Close(code, String::new())], None));
    }
    assert_eq!(refused(&frame(0x88, b"\x03\xe8\xff")), Malformed::Utf8);
}

#[test]
fn a_message_above_the_limit_is_refused_by_its_head() {
    let fits = frame(0x82, &vec![0; LIMIT]);
    assert_eq!(fed(None, [&fits[..]]).1, None);
    let mut head = vec![0x82, 127];
    head.extend_from_slice(&(LIMIT as u64 + 1).to_be_bytes());
    assert_eq!(refused(&head), Malformed::TooLong, "before any of its bytes");
    let mut split = frame(0x02, &vec![0; LIMIT]);
    split.extend(frame(0x80, b"x"));
    assert_eq!(fed(None, [&split[..]]).1, Some(Malformed::TooLong));
}

#[test]
fn messages_before_a_fault_are_passed_on() {
    let bytes = [frame(0x81, b"first"), frame(0x83, b"")].concat();
    assert_eq!(outcome(None, &bytes), (vec![text("first")], Some(Malformed::Opcode)));
}
