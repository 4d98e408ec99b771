//! HPACK compared with libnghttp2: what one of them encodes, the other decodes, and both reject the same blocks.

use super::stories::Teller;
use super::{Pair, decode, unhex};
use crate::common::random::{Random, cases};
use plimsoll_wire::hpack::{Decoder, Error};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// The library in another process; see `libnghttp2.py`.
struct Library {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Library {
    fn start() -> Library {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hpack/libnghttp2.py");
        let mut command = Command::new("python3");
        let mut child = command
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is installed: see `cargo xtask needs`");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        Library { child, answers }
    }

    fn ask(&mut self, line: &str) -> String {
        let commands = self.child.stdin.as_mut().expect("it is piped");
        writeln!(commands, "{line}").and_then(|()| commands.flush()).expect("it reads");
        let mut answer = String::new();
        let bytes = self.answers.read_line(&mut answer).expect("it answers");
        assert!(bytes > 0, "libnghttp2 has ended at `{line}`: package libnghttp2-14");
        answer.trim_end().to_owned()
    }

    /// Decodes a block; an error is its code.
    fn inflate(&mut self, block: &[u8]) -> Result<Vec<Pair>, String> {
        let answer = self.ask(&format!("block {}", hex(block)));
        match answer.strip_prefix("error ") {
            Some(code) => Err(code.to_owned()),
            None => Ok(answer.split(' ').filter(|field| !field.is_empty()).map(field_of).collect()),
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().expect("it ends with its input");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn field_of(text: &str) -> Pair {
    let (name, value) = text.split_once('=').expect("a field has a value");
    (unhex(name), unhex(value))
}

/// Both decode what the encoder of the stories says, whose table fills, overfills, and shrinks.
#[test]
fn libnghttp2_understands_every_story_as_the_decoder_does() {
    let library = Mutex::new(Library::start());
    cases(60, |random| {
        let mut library = library.lock().expect("no case has failed");
        let limit = random.pick(&[4096, 8192, 65_536]);
        assert_eq!(library.ask(&format!("inflate {limit}")), "");
        let (mut decoder, mut teller) = (Decoder::new(limit as u32), Teller::new(limit));
        decoder.set_limit(limit as u32);
        for at in 0..30 {
            let (block, pairs) = if at == 29 { teller.last_block(random) } else { teller.block(random) };
            let found = decode(&mut decoder, &block);
            assert_eq!(library.inflate(&block), Ok(pairs.clone()), "block {at}: {}", hex(&block));
            assert_eq!(found, Ok(pairs), "block {at}");
        }
    });
}

/// A damaged block is rejected by both, or has the same fields for both.
#[test]
fn damaged_blocks_have_the_same_meaning_or_none() {
    let library = Mutex::new(Library::start());
    let rejected = AtomicU32::new(0);
    cases(60, |random| {
        let mut library = library.lock().expect("no case has failed");
        assert_eq!(library.ask("inflate 4096"), "");
        let (mut decoder, mut teller) = (Decoder::new(4096), Teller::new(4096));
        decoder.set_limit(4096);
        for _ in 0..30 {
            let (mut block, _) = teller.block(random);
            if random.one_in(8) && !block.is_empty() {
                let at = random.below(block.len());
                block[at] ^= 1 << random.below(8);
            }
            let (found, wanted) = (decode(&mut decoder, &block), library.inflate(&block));
            match (&found, &wanted) {
                (Ok(found), Ok(wanted)) => assert_eq!(found, wanted, "{}", hex(&block)),
                // Each ends its connection here.
                (Err(_), Err(_)) => {
                    rejected.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                _ => panic!("{found:?}, but {wanted:?}: {}", hex(&block)),
            }
        }
    });
    let rejected = rejected.into_inner();
    assert!(rejected >= 20, "only {rejected} blocks were rejected");
}

/// What the encoder of the library says, with limits that change between its blocks.
#[test]
fn the_decoder_understands_what_libnghttp2_encodes() {
    let library = Mutex::new(Library::start());
    cases(60, |random| {
        let mut library = library.lock().expect("no case has failed");
        let limit = random.pick(&[4096, 8192, 65_536]);
        assert_eq!(library.ask(&format!("deflate {limit}")), "");
        let mut decoder = Decoder::new(limit as u32);
        decoder.set_limit(limit as u32);
        assert_eq!(library.ask(&format!("resize {limit}")), "");
        for _ in 0..30 {
            if random.one_in(5) {
                let size = random.pick(&[0, 40, 100, 500, 4096]).min(limit);
                assert_eq!(library.ask(&format!("resize {size}")), "");
            }
            let pairs: Vec<Pair> = (0..random.below(10)).map(|_| pair_of(random)).collect();
            let words: Vec<String> = pairs
                .iter()
                .map(|(name, value)| {
                    let never = if random.one_in(6) { "!" } else { "" };
                    format!("{never}{}={}", hex(name), hex(value))
                })
                .collect();
            let block = unhex(&library.ask(&format!("fields {}", words.join(" "))));
            let found: Result<Vec<Pair>, Error> = decode(&mut decoder, &block);
            assert_eq!(found, Ok(pairs), "{}", hex(&block));
        }
    });
}

fn pair_of(random: &mut Random) -> Pair {
    let name = random.pick(&[":status", "content-type", "x-a", "set-cookie", "x-request-id", "etag"]);
    let value = match random.below(4) {
        0 => "200".to_owned(),
        1 => "x".repeat(random.below(3000)),
        2 => format!("{}", random.below(20)),
        _ => format!("{:x}", random.next()),
    };
    super::pair(name, &value)
}

/// The public corpus of blocks by many encoders: a folder of `ENCODER/story_NN.json`, which `PLIMSOLL_HPACK` names.
#[test]
#[ignore = "needs the folder that PLIMSOLL_HPACK names: `cargo xtask nightly`"]
fn every_story_of_the_public_corpus_is_understood() {
    let folder = std::env::var("PLIMSOLL_HPACK").expect("PLIMSOLL_HPACK names the folder");
    let (mut stories, mut blocks) = (0, 0);
    for encoder in std::fs::read_dir(folder).expect("the folder can be read") {
        let encoder = encoder.expect("the folder can be read").path();
        for file in std::fs::read_dir(&encoder).into_iter().flatten() {
            let file = file.expect("the folder can be read").path();
            if file.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let text = std::fs::read(&file).expect("the story can be read");
            let story: serde_json::Value = serde_json::from_slice(&text).expect("a story is JSON");
            let cases = story["cases"].as_array().expect("a story has cases");
            // The folder with only the fields has no blocks.
            if cases.iter().any(|case| case["wire"].is_null()) {
                continue;
            }
            let mut decoder = Decoder::new(65_536);
            decoder.set_limit(65_536);
            for case in cases {
                if let Some(size) = case["header_table_size"].as_u64() {
                    decoder.set_limit(size as u32);
                }
                let wanted: Vec<Pair> = case["headers"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .flat_map(|field| field.as_object().into_iter().flatten())
                    .map(|(name, value)| super::pair(name, value.as_str().unwrap_or_default()))
                    .collect();
                let block = unhex(case["wire"].as_str().expect("a block has digits"));
                assert_eq!(decode(&mut decoder, &block), Ok(wanted), "{}", file.display());
                blocks += 1;
            }
            stories += 1;
        }
    }
    println!("{stories} stories with {blocks} blocks");
    assert!(stories >= 100 && blocks >= 1_000, "{stories} stories with {blocks} blocks");
}
