//! Decoding of content codings: each coding, several in a row, and malicious bodies.

use crate::answer_support;
use crate::answer_support::{User, checked, compiled, taking};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use plimsoll_plan::answer::{Pick, Rule, Source, Subject};
use plimsoll_plan::head::Head;
use plimsoll_plan::value::Text;
use plimsoll_script::answer::{Answer, Findings, Scratch};
use std::io::Write;

const LIMIT: usize = 100_000;

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("into a vector")
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("into a vector")
}

fn bare_deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("into a vector")
}

fn br(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 5, 20);
    encoder.write_all(body).and_then(|()| encoder.flush()).expect("into a vector");
    drop(encoder);
    out
}

fn zstd(body: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("a level that exists");
    encoder.include_checksum(true).expect("before the first byte");
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("into a vector")
}

/// Returns the body as the judge reads it, or the error. All responses of a test share one scratch.
fn read(scratch: &mut Scratch, coding: &str, body: &[u8]) -> Result<Vec<u8>, String> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n");
    let answer = Answer {
        status: 200,
        head: Head::new(head.as_bytes()),
        body,
        body_bytes: body.len() as u64,
        service_ns: 1,
        call: None,
    };
    let mut findings = Findings { wants_sentences: true, ..Findings::default() };
    compiled(&taking([(Source::Body, Pick::First)])).run(
        &answer,
        &mut User::new().scope(),
        scratch,
        &mut findings,
    );
    // If the decoded body is too long, plimsoll's own limit was reached; any other error is the server's failure.
    let is_unread = findings.undecodable || findings.unseen == [0];
    assert_eq!(is_unread, findings.verdicts == [false]);
    match findings.failures.pop() {
        None => {
            assert_eq!(scratch.readable(&answer), findings.bytes, "an excerpt shows the decoded body");
            Ok(findings.bytes)
        }
        Some((_, sentence)) => {
            assert!(findings.extracted.is_empty(), "nothing was read");
            assert_eq!(scratch.readable(&answer), body);
            Err(sentence)
        }
    }
}

fn texts() -> Vec<Vec<u8>> {
    let long = (0..60_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    vec![b"x".to_vec(), br#"{"id": 1}"#.to_vec(), "lorem ipsum ".repeat(5_000).into_bytes(), long]
}

#[test]
fn each_coding_is_decoded() {
    let mut scratch = Scratch::new(LIMIT);
    for text in texts() {
        for (name, coded) in [
            ("gzip", gzip(&text)),
            ("X-GZIP", gzip(&text)),
            ("deflate", zlib(&text)),
            ("deflate", bare_deflate(&text)),
            ("br", br(&text)),
            ("zstd", zstd(&text)),
            ("identity", text.clone()),
            ("", text.clone()),
        ] {
            let found = read(&mut scratch, name, &coded);
            assert!(found.as_ref() == Ok(&text), "{name}, {} bytes: {:?}", text.len(), found.err());
        }
    }
}

#[test]
fn several_codings_are_decoded_last_first() {
    let mut scratch = Scratch::new(LIMIT);
    for text in texts() {
        let twice = br(&gzip(&text));
        assert!(read(&mut scratch, "gzip, br", &twice).as_ref() == Ok(&text));
        assert!(read(&mut scratch, "gzip\r\nContent-Encoding: identity, br", &twice).as_ref() == Ok(&text));
        assert!(read(&mut scratch, "br, gzip", &twice).is_err());
        let thrice = zlib(&zstd(&gzip(&text)));
        assert!(read(&mut scratch, "gzip,zstd,deflate", &thrice).as_ref() == Ok(&text));
    }
    let error = read(&mut scratch, "gzip, gzip, gzip, gzip, gzip", b"x").expect_err("five are too many");
    assert!(error.contains("more than 4 content encodings"), "{error}");
}

#[test]
fn consecutive_members_and_frames_are_one_body() {
    let mut scratch = Scratch::new(LIMIT);
    let both = |code: fn(&[u8]) -> Vec<u8>| [code(b"one "), code(b"two")].concat();
    assert_eq!(read(&mut scratch, "gzip", &both(gzip)), Ok(b"one two".to_vec()));
    assert_eq!(read(&mut scratch, "zstd", &both(zstd)), Ok(b"one two".to_vec()));
    // A member header with all optional parts: extra field, name, comment, checksum.
    let mut full = gzip(b"text");
    full[3] = 2 | 4 | 8 | 16;
    full.splice(10..10, *b"\x03\0abcname\0comment\0\x12\x34");
    assert_eq!(read(&mut scratch, "gzip", &full), Ok(b"text".to_vec()));
}

#[test]
fn a_damaged_or_truncated_body_is_undecodable() {
    let mut scratch = Scratch::new(LIMIT);
    let text = "lorem ipsum ".repeat(100).into_bytes();
    for (name, coded) in
        [("gzip", gzip(&text)), ("deflate", zlib(&text)), ("br", br(&text)), ("zstd", zstd(&text))]
    {
        for length in 1..coded.len() {
            let error = read(&mut scratch, name, &coded[..length]).expect_err("cut short");
            assert_eq!(error, format!("the body cannot be decoded: it is not valid `{name}`"), "{length}");
        }
        assert!(read(&mut scratch, name, b"plain text, not coded at all").is_err(), "{name}");
    }
    for (name, mut coded) in [("gzip", gzip(&text)), ("zstd", zstd(&text))] {
        let at = coded.len() - 4;
        coded[at] ^= 1;
        assert!(read(&mut scratch, name, &coded).is_err(), "{name}: the checksum or the length is wrong");
    }
    assert_eq!(
        read(&mut scratch, "gzip", &gzip(b"fine")),
        Ok(b"fine".to_vec()),
        "the next response is unaffected"
    );
}

#[test]
fn a_decompression_bomb_is_stopped_at_the_limit() {
    let mut scratch = Scratch::new(LIMIT);
    let (fits, bomb) = (vec![0; LIMIT], vec![0; LIMIT + 1]);
    let huge = vec![0; 50 << 20];
    for (name, code) in [
        ("gzip", gzip as fn(&[u8]) -> Vec<u8>),
        ("deflate", zlib),
        ("deflate", bare_deflate),
        ("br", br),
        ("zstd", zstd),
    ] {
        assert!(read(&mut scratch, name, &code(&fits)).as_ref() == Ok(&fits), "{name}");
        for bomb in [&bomb, &huge] {
            let error = read(&mut scratch, name, &code(bomb)).expect_err("too long");
            assert_eq!(error, "the body cannot be decoded: its decoded size exceeds 100,000 bytes");
        }
    }
    // Nested in another coding: the inner one grows.
    assert!(read(&mut scratch, "gzip, br", &br(&gzip(&huge))).is_err());
}

#[test]
fn an_unknown_coding_is_named_and_an_empty_body_needs_none() {
    let mut scratch = Scratch::new(LIMIT);
    let error = read(&mut scratch, "compress", b"x").expect_err("not offered");
    assert!(error.ends_with("its content encoding is not `gzip`, `deflate`, `br`, or `zstd`"), "{error}");
    assert_eq!(read(&mut scratch, "gzip", b""), Ok(Vec::new()), "a response to HEAD");
}

#[test]
fn an_undecodable_body_fails_only_checks_that_read_it() {
    let mut ask = checked([
        Subject::Body(Rule::Lacks(Text::literal("x"))),
        Subject::Length { least_bytes: 4, most_bytes: 4 },
        Subject::Json { path: "$.a".into(), rule: Rule::Absent },
        Subject::Header { name: "content-encoding".into(), rule: Rule::Equals(Text::literal("gzip")) },
    ]);
    ask.extracts = taking([(Source::Body, Pick::First), (Source::Status, Pick::First)]).extracts;
    ask.extracts[0].default = Some(Text::literal("never"));
    let head = b"HTTP/1.1 200 OK\r\ncontent-encoding:gzip\r\n\r\n";
    let answer = Answer {
        status: 200,
        head: Head::new(head),
        body: b"oops",
        body_bytes: 4,
        service_ns: 1,
        call: None,
    };
    let findings = answer_support::judged(&ask, &answer);
    assert!(findings.undecodable && findings.status_ok && !findings.all_held());
    assert_eq!(findings.verdicts, [false, true, false, true, false, true]);
    assert_eq!(findings.shape, None);

    let unread =
        answer_support::judged(&checked([Subject::Length { least_bytes: 4, most_bytes: 4 }]), &answer);
    assert!(unread.all_held() && !unread.undecodable, "no check reads the body, so it is not decoded");
}
