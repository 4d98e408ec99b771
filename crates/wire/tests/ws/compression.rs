//! permessage-deflate, with and without context.

use super::{LIMIT, Seen, fed, frame, outcome, text};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use plimsoll_wire::ws::{Kind, Malformed, SharedWriter, Terms, Writer, apply_mask};

const CONTEXT: Terms = Terms { client_no_context: false, server_no_context: false };
const NO_CONTEXT: Terms = Terms { client_no_context: true, server_no_context: true };

#[test]
fn the_examples_of_the_standard_are_read() {
    // RFC 7692 section 7.2.3
    let hello = vec![text("Hello")];
    let once = b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00";
    assert_eq!(outcome(Some(CONTEXT), once), (hello.clone(), None));
    let fragments = b"\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00";
    assert_eq!(outcome(Some(NO_CONTEXT), fragments), (hello.clone(), None));
    let twice = [&once[..], b"\xc1\x05\xf2\x00\x11\x00\x00"].concat();
    assert_eq!(outcome(Some(CONTEXT), &twice).0, [text("Hello"), text("Hello")]);
    let stored = b"\xc1\x0b\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00";
    assert_eq!(outcome(Some(CONTEXT), stored), (hello.clone(), None));
    let ended = b"\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00";
    assert_eq!(outcome(Some(CONTEXT), ended), (hello.clone(), None));
    let two_blocks = b"\xc1\x0d\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00";
    assert_eq!(outcome(Some(CONTEXT), two_blocks), (hello, None));
}

#[test]
fn a_message_may_be_sent_without_compression() {
    let mixed = [frame(0x81, b"plain"), b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00".to_vec()].concat();
    assert_eq!(outcome(Some(CONTEXT), &mixed), (vec![text("plain"), text("Hello")], None));
}

#[test]
fn what_is_written_is_read_back_with_and_without_context() {
    let (mut packed_bytes, plain) = (Vec::new(), "{\"kind\":\"position\",\"x\":17,\"y\":4}");
    for terms in [CONTEXT, NO_CONTEXT] {
        let (mut writer, mut shared) = (Writer::new(Some(terms)), SharedWriter::default());
        let mut server = Vec::new();
        for _ in 0..3 {
            let mut out = Vec::new();
            writer.write(Kind::Text, plain.as_bytes(), [1, 2, 3, 4], &mut shared, &mut out);
            assert_eq!(out[0], 0xc1, "compressed");
            let mut payload = out.split_off(6);
            apply_mask(&mut payload, [1, 2, 3, 4]);
            packed_bytes.push(payload.len());
            server.extend(frame(0xc1, &payload));
        }
        let (seen, refused) = outcome(Some(terms), &server);
        assert_eq!((seen, refused), (vec![text(plain); 3], None));
    }
    assert!(packed_bytes[1] < packed_bytes[0], "the context makes the second shorter: {packed_bytes:?}");
    assert_eq!(packed_bytes[4], packed_bytes[3], "without context, each is compressed alone");
}

/// The server keeps no more of earlier bytes than its window, so a message must be readable from each of its points at
/// which the window was full.
#[test]
fn a_smaller_window_is_never_referred_beyond() {
    let line = b"{\"id\": 1, \"name\": \"a line that repeats\"}, ";
    let message: Vec<u8> = line.iter().copied().cycle().take(10_000).collect();
    for (terms, bits) in [(CONTEXT, 8), (CONTEXT, 9), (NO_CONTEXT, 10), (CONTEXT, 13), (NO_CONTEXT, 14)] {
        let window = 1 << bits;
        let (mut writer, mut shared) = (Writer::new(Some(terms)).within(Some(bits)), SharedWriter::default());
        let (mut packed, mut sent) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let mut out = Vec::new();
            writer.write(Kind::Binary, &message, [0; 4], &mut shared, &mut out);
            let head = if out[1] & 0x7f == 126 { 8 } else { 6 };
            packed.extend_from_slice(&out[head..]);
            packed.extend_from_slice(&[0, 0, 0xff, 0xff]);
            sent.extend_from_slice(&message);
            // Without context, each message begins a window.
            if terms == NO_CONTEXT {
                readable_from_each_window(&packed, &message, window);
                packed.clear();
            }
        }
        if terms == CONTEXT {
            readable_from_each_window(&packed, &sent, window);
        }
    }
}

#[track_caller]
fn readable_from_each_window(packed: &[u8], plain: &[u8], window: usize) {
    let mut read = Vec::new();
    let mut inflate = Decompress::new(false);
    let (mut at, mut windows) = (0, 0);
    while let Some(end) = packed[at..].windows(4).position(|tail| tail == [0, 0, 0xff, 0xff]) {
        let part = &packed[at..at + end + 4];
        read.reserve(4 * window + 20_000);
        inflate.decompress_vec(part, &mut read, FlushDecompress::Sync).expect("it refers to what is known");
        at += end + 4;
        if read.len().is_multiple_of(window) && read.len() / window > windows {
            // The rest needs nothing of what is before it.
            windows = read.len() / window;
            inflate.reset(false);
        }
    }
    assert!(read == plain && at == packed.len(), "{} of {} bytes", read.len(), plain.len());
    assert_eq!(windows, plain.len() / window);
}

#[test]
fn long_messages_are_read_back() {
    let long: Vec<u8> = (0..300_000u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    let (mut writer, mut shared) = (Writer::new(Some(NO_CONTEXT)), SharedWriter::default());
    let mut out = Vec::new();
    writer.write(Kind::Binary, &long, [0; 4], &mut shared, &mut out);
    let payload = out.split_off(14);
    assert_eq!(fed(Some(NO_CONTEXT), [&frame(0xc2, &payload)[..]]), (vec![Seen::Binary(long)], None));
}

#[test]
fn a_bomb_is_refused_at_the_limit() {
    let mut packed = Vec::with_capacity(1 << 20);
    let mut deflate = Compress::new(Compression::best(), false);
    deflate.compress_vec(&vec![0; 64 << 20], &mut packed, FlushCompress::Sync).expect("it fits");
    assert!(packed.len() < LIMIT);
    let (seen, refused) = fed(Some(CONTEXT), [&frame(0xc2, &packed)[..]]);
    assert_eq!((seen, refused), (Vec::new(), Some(Malformed::TooLong)));
}

#[test]
fn invalid_compression_is_refused() {
    assert_eq!(outcome(Some(CONTEXT), &frame(0xc1, &[0xff; 20])).1, Some(Malformed::Deflate));
    let not_text = {
        let (mut writer, mut shared) = (Writer::new(Some(CONTEXT)), SharedWriter::default());
        let mut out = Vec::new();
        writer.write(Kind::Binary, b"\xff\xfe", [0; 4], &mut shared, &mut out);
        frame(0xc1, &out[6..])
    };
    assert_eq!(outcome(Some(CONTEXT), &not_text).1, Some(Malformed::Utf8));
}

#[test]
fn the_bit_of_compression_belongs_to_the_first_frame() {
    let later = [frame(0x01, b"a"), frame(0xc0, b"b")].concat();
    assert_eq!(outcome(Some(CONTEXT), &later).1, Some(Malformed::ReservedBits));
    assert_eq!(outcome(Some(CONTEXT), &frame(0xc9, b"")).1, Some(Malformed::ReservedBits));
    assert_eq!(outcome(None, &frame(0xc1, b"")).1, Some(Malformed::ReservedBits), "it was not agreed on");
}
