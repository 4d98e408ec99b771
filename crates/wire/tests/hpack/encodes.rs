//! The encoder of requests: what it inserts, when, and what a decoder makes of it.

use super::{Pair, decode, pair};
use plimsoll_wire::hpack::{Decoder, Encoder, FieldId, Fields, literal};

/// Encodes the fields of one request; checks that a decoder returns them, and returns the bytes.
fn put(encoder: &mut Encoder, decoder: &mut Decoder, fields: &Fields, ids: &[(FieldId, Pair)]) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.begin(&mut out);
    ids.iter().for_each(|(id, _)| encoder.put(*id, fields, &mut out));
    assert_eq!(decode(decoder, &out), Ok(ids.iter().map(|(_, pair)| pair.clone()).collect()));
    out
}

fn list(pairs: &[(&str, &str)]) -> (Fields, Vec<(FieldId, Pair)>) {
    let mut fields = Fields::new();
    let ids = pairs
        .iter()
        .map(|(name, value)| (fields.add(name.as_bytes(), value.as_bytes()).unwrap(), pair(name, value)));
    let ids = ids.collect();
    (fields, ids)
}

#[test]
fn a_field_is_a_literal_before_the_settings_then_inserted_once_then_an_index() {
    let (fields, ids) = list(&[(":authority", "localhost:8080"), ("x-tenant", "one"), ("accept", "*/*")]);
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4096));
    let early = put(&mut encoder, &mut decoder, &fields, &ids);
    assert_eq!(decoder.changes(), 0, "the server's table may be smaller");
    encoder.settle(u32::MAX);
    let first = put(&mut encoder, &mut decoder, &fields, &ids);
    // The index of `accept` takes a second byte in the short prefix of a literal without indexing.
    assert_eq!((first.len() + 1, decoder.changes()), (early.len(), 3));
    for _ in 0..3 {
        assert_eq!(put(&mut encoder, &mut decoder, &fields, &ids), [0xc0, 0xbf, 0xbe]);
    }
    assert_eq!(decoder.changes(), 3);
}

#[test]
fn equal_fields_have_one_number_and_constant_ones_none() {
    let mut fields = Fields::new();
    let first = fields.add(b"x-a", b"1");
    assert!(first.is_some());
    assert_eq!(fields.add(b"x-a", b"1"), first);
    assert_ne!(fields.add(b"x-a", b"2"), first);
    for (name, value) in [(":method", "GET"), (":path", "/"), (":scheme", "https")] {
        assert_eq!(fields.add(name.as_bytes(), value.as_bytes()), None);
        let mut out = Vec::new();
        literal(&mut out, name.as_bytes(), value.as_bytes());
        assert_eq!(out.len(), 1, "an index of the constant table");
    }
    assert_eq!(fields.len(), 2);
}

#[test]
fn all_numbered_fields_fit_into_the_initial_table() {
    let mut fields = Fields::new();
    let mut ids = Vec::new();
    for at in 0..1000 {
        let value = format!("{at}");
        if let Some(id) = fields.add(b"x", value.as_bytes()) {
            ids.push((id, pair("x", &value)));
        }
    }
    assert_eq!(fields.add(b"x", &[b'y'; 4096]), None);
    assert!((100..=128).contains(&ids.len()), "{}", ids.len());
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4096));
    encoder.settle(4096);
    put(&mut encoder, &mut decoder, &fields, &ids);
    // None of them was evicted, and the oldest ones have indexes of two bytes.
    let again = put(&mut encoder, &mut decoder, &fields, &ids);
    assert!(again.len() < 2 * ids.len() && decoder.changes() == ids.len() as u64);
}

#[test]
fn a_smaller_table_takes_what_fits_and_the_rest_stays_literal() {
    let (fields, ids) = list(&[("x-a", "1"), ("x-b", "2"), ("x-c", "3")]);
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4096));
    // Two entries of 36 bytes.
    encoder.settle(72);
    let first = put(&mut encoder, &mut decoder, &fields, &ids);
    assert_eq!(first[..2], [0x3f, 72 - 31], "the new size comes first");
    let second = put(&mut encoder, &mut decoder, &fields, &ids);
    assert_eq!(second[..2], [0xbf, 0xbe]);
    assert_eq!(second[2..], first[first.len() - 7..], "the third one as before");
    assert_eq!(decoder.changes(), 3);
}

#[test]
fn a_table_that_is_one_byte_too_small_for_the_second_field_takes_one() {
    let (fields, ids) = list(&[("x-a", "1"), ("x-b", "2")]);
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4096));
    encoder.settle(71);
    put(&mut encoder, &mut decoder, &fields, &ids);
    let again = put(&mut encoder, &mut decoder, &fields, &ids);
    assert_eq!((again[0], again[1]), (0xbe, 0x00));
}

#[test]
fn a_table_of_zero_is_said_once_and_never_used() {
    let (fields, ids) = list(&[("x-a", "1")]);
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4096));
    encoder.settle(0);
    assert_eq!(put(&mut encoder, &mut decoder, &fields, &ids)[0], 0x20);
    assert_eq!(put(&mut encoder, &mut decoder, &fields, &ids)[0], 0x00);
    assert_eq!(decoder.changes(), 1);
}

#[test]
fn a_table_that_shrinks_below_its_content_is_emptied_and_filled_again() {
    let (fields, ids) = list(&[("x-a", "1"), ("x-b", "2")]);
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4096));
    encoder.settle(4096);
    put(&mut encoder, &mut decoder, &fields, &ids);
    encoder.settle(40);
    let shrunk = put(&mut encoder, &mut decoder, &fields, &ids);
    assert_eq!(shrunk[..3], [0x20, 0x3f, 40 - 31]);
    let again = put(&mut encoder, &mut decoder, &fields, &ids);
    assert_eq!((again[0], again[1]), (0xbe, 0x00));
    // A larger table is not used: its size would have to be announced.
    encoder.settle(4096);
    assert_eq!(put(&mut encoder, &mut decoder, &fields, &ids), again);
}
