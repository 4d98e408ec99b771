//! Invalid blocks, each with its error; and the shortest valid ones next to them.

use super::code::{CODES, coded, huffman};
use super::{decode, pair, unhex};
use crate::common::random::cases;
use plimsoll_wire::hpack::{Decoder, Error, Scratch};

fn error(block: &[u8]) -> Option<Error> {
    decode(&mut Decoder::new(4096), block).err()
}

/// Returns a literal with a value in the Huffman code.
fn with_value(coded: &[u8]) -> Vec<u8> {
    [&[0x00, 0x01, b'x', 0x80 | coded.len() as u8], coded].concat()
}

#[test]
fn every_byte_has_the_code_of_appendix_b() {
    for byte in 0..=255u8 {
        for text in [vec![byte], vec![byte; 7], vec![b'0', byte, b'0', byte, byte]] {
            let pairs = decode(&mut Decoder::new(4096), &with_value(&huffman(&text)));
            assert_eq!(pairs, Ok(vec![(b"x".to_vec(), text)]));
        }
    }
}

#[test]
fn padding_must_be_shorter_than_a_byte_and_all_ones() {
    let one = CODES[usize::from(b'0')];
    assert_eq!(error(&with_value(&coded(&[one, (0b111, 3)]))), None);
    assert_eq!(error(&with_value(&coded(&[one, (0b110, 3)]))), Some(Error::Padding));
    assert_eq!(error(&with_value(&coded(&[one, (0b000, 3)]))), Some(Error::Padding));
    assert_eq!(error(&with_value(&coded(&[one, (0x7ff, 11)]))), Some(Error::Padding));
    assert_eq!(error(&with_value(&[0xff])), Some(Error::Padding));
    assert_eq!(error(&with_value(&[])), None);
    // A code that ends with the string needs none, and one that is cut is not padding.
    let eight = CODES[usize::from(b'&')];
    assert_eq!(error(&with_value(&coded(&[eight]))), None);
    assert_eq!(error(&with_value(&[0xfe])), Some(Error::Padding));
}

#[test]
fn the_end_of_string_code_is_refused_wherever_it_is() {
    let eos = CODES[256];
    assert_eq!(error(&with_value(&coded(&[eos, (0b11, 2)]))), Some(Error::EndOfString));
    let zero = CODES[usize::from(b'0')];
    assert_eq!(error(&with_value(&coded(&[zero, eos, zero]))), Some(Error::EndOfString));
}

#[test]
fn indexes_must_be_in_the_table() {
    assert_eq!(error(&unhex("80")), Some(Error::Index));
    assert_eq!(error(&unhex("bd")), None);
    assert_eq!(error(&unhex("be")), Some(Error::Index));
    // The name of a literal, with and without indexing, and never indexed.
    for block in ["7e 01 61", "0f 2f 01 61", "1f 2f 01 61"] {
        assert_eq!(error(&unhex(block)), Some(Error::Index), "{block}");
    }
    assert_eq!(error(&unhex("ff ff ff ff 7f")), Some(Error::Index));
}

#[test]
fn integers_end_after_four_more_bytes() {
    assert_eq!(error(&unhex("ff ff ff ff ff 00")), Some(Error::Integer));
    assert_eq!(error(&unhex("ff 80 80 80 80 00")), Some(Error::Integer));
    // 62 in more bytes than needed is still 62, and the table has no such entry.
    assert_eq!(error(&unhex("7f ff ff ff ff ff")), Some(Error::Integer));
    // 127 - 127 = 0 in four bytes, for a value of 127 bytes that is missing.
    assert_eq!(error(&unhex("00 01 61 7f 80 80 80 00")), Some(Error::Truncated));
}

#[test]
fn a_block_cut_anywhere_ends_between_fields_or_is_truncated() {
    let block = unhex("88 400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572 0f0d 03 333037");
    let ends = [0, 1, 27, 30];
    for at in 0..block.len() {
        let found = decode(&mut Decoder::new(4096), &block[..at]);
        match found {
            Ok(_) => assert!([0, 1, 27].contains(&at), "cut at {at}"),
            Err(error) => assert_eq!(error, Error::Truncated, "cut at {at} of {ends:?}"),
        }
    }
    assert!(decode(&mut Decoder::new(4096), &block).is_ok());
}

#[test]
fn a_new_table_size_comes_first_and_within_the_limit() {
    assert_eq!(error(&unhex("20 3f e1 1f 88")), None);
    assert_eq!(error(&unhex("3f e2 1f 88")), Some(Error::TableSize));
    assert_eq!(error(&unhex("88 20")), Some(Error::TableSize));
    let mut large = Decoder::new(8192);
    // 8,192 is 31 + 8,161.
    assert_eq!(decode(&mut large, &unhex("3f e1 3f 88")), Ok(vec![pair(":status", "200")]));
    assert_eq!(decode(&mut large, &unhex("3f e2 3f 88")), Err(Error::TableSize));
}

#[test]
fn a_lower_limit_must_be_confirmed_before_the_next_field() {
    let smaller = || {
        let mut decoder = Decoder::new(100);
        // Before the limit applies, the table has its initial size.
        assert_eq!(decode(&mut decoder, &unhex("3f e1 1f 88")), Ok(vec![pair(":status", "200")]));
        decoder.set_limit(100);
        assert!(decoder.must_shrink());
        decoder
    };
    assert_eq!(decode(&mut smaller(), &unhex("88")), Err(Error::TableSize));
    assert_eq!(decode(&mut smaller(), &unhex("3f 46 88")), Err(Error::TableSize));
    assert_eq!(decode(&mut smaller(), &[]), Ok(Vec::new()));
    let mut decoder = smaller();
    assert_eq!(decode(&mut decoder, &unhex("3f 45 88")), Ok(vec![pair(":status", "200")]));
    assert!(!decoder.must_shrink());
    assert_eq!(decode(&mut decoder, &unhex("88")), Ok(vec![pair(":status", "200")]));
}

#[test]
fn a_field_larger_than_the_table_empties_it() {
    let mut decoder = Decoder::new(4096);
    let insert = unhex("40 01 61 01 62");
    assert!(decode(&mut decoder, &insert).is_ok());
    assert_eq!(decode(&mut decoder, &unhex("be")), Ok(vec![pair("a", "b")]));
    // A table of 40 bytes has room for 8 bytes of text.
    assert!(decode(&mut decoder, &unhex("3f 09 40 01 63 07 61616161 616161")).is_ok());
    assert_eq!(decode(&mut decoder, &unhex("be")), Ok(vec![pair("c", "aaaaaaa")]));
    assert!(decode(&mut decoder, &unhex("40 01 63 08 61616161 61616161")).is_ok());
    assert_eq!(decode(&mut decoder, &unhex("be")), Err(Error::Index));
}

#[test]
fn changes_count_only_what_a_later_block_could_notice() {
    let mut decoder = Decoder::new(4096);
    let mut changes = |block: &str| {
        let before = decoder.changes();
        decode(&mut decoder, &unhex(block)).unwrap();
        decoder.changes() != before
    };
    assert!(!changes("88"));
    assert!(!changes("00 01 61 01 62"));
    assert!(changes("40 01 61 01 62"));
    assert!(!changes("be"));
    assert!(!changes("3f e1 1f"), "the size that it has");
    assert!(changes("20"));
    assert!(!changes("20"));
    // Servers without a table continue to insert into it.
    assert!(!changes("40 01 61 01 62"));
    assert!(changes("3f e1 1f"));
}

#[test]
fn a_caller_that_refuses_a_field_ends_the_block() {
    let mut seen = 0;
    let decoded = Decoder::new(4096).decode(&[0x88; 10], &mut Scratch::default(), |_, _| {
        seen += 1;
        seen < 3
    });
    assert_eq!((decoded, seen), (Err(Error::TooLarge), 3));
}

#[test]
fn random_blocks_never_panic() {
    cases(20_000, |random| {
        let mut decoder = Decoder::new(random.pick(&[0, 40, 100, 4096, 65_536]));
        for _ in 0..8 {
            let len = random.below(40);
            let sharp = [0x00, 0x20, 0x3f, 0x40, 0x7f, 0x80, 0xbe, 0xbf, 0xff, 0x01, 0x10, 0x82];
            let byte = |random: &mut crate::common::random::Random| match random.below(2) {
                0 => random.pick(&sharp),
                _ => random.next() as u8,
            };
            let block: Vec<u8> = (0..len).map(|_| byte(random)).collect();
            if decode(&mut decoder, &block).is_err() {
                return;
            }
        }
    });
}
