//! Stories of a connection: an encoder that fills, overfills, shrinks, and reads its table, against the decoder.
//!
//! Random blocks alone are blind: eight of them rarely overflow a table of 4,096 bytes, and then an entry size that is
//! wrong by one passes a million of them. So the encoder here favors what depends on the table, and the last test
//! proves that it would notice.

use super::code::huffman;
use super::{Pair, decode};
use crate::common::random::{Random, cases};
use plimsoll_wire::hpack::{Decoder, Error};
use std::collections::VecDeque;

/// Overhead of an entry (RFC 7541 section 4.1).
const ENTRY: usize = 32;

const NAMES: [&str; 12] = [
    ":status",
    "content-type",
    "content-length",
    "date",
    "server",
    "set-cookie",
    "x-a",
    "x-request-id",
    "x-a-rather-long-name-of-a-field",
    "etag",
    "vary",
    "accept-ranges",
];

/// Static fields with a value that the stories use: index, name, value.
const INDEXED: [(usize, &str, &str); 5] = [
    (8, ":status", "200"),
    (9, ":status", "204"),
    (14, ":status", "500"),
    (16, "accept-encoding", "gzip, deflate"),
    (2, ":method", "GET"),
];

/// First indexes of static names that the stories use.
const STATIC_NAMES: [(usize, &str); 6] = [
    (8, ":status"),
    (31, "content-type"),
    (28, "content-length"),
    (33, "date"),
    (54, "server"),
    (55, "set-cookie"),
];

/// The encoder's copy of the table, the newest first.
pub struct Teller {
    table: VecDeque<Pair>,
    max: usize,
    /// What the encoder takes for the overhead of an entry.
    overhead: usize,
    limit: usize,
}

impl Teller {
    /// An encoder that knows the size of an entry.
    pub fn new(limit: usize) -> Teller {
        Teller { table: VecDeque::new(), max: 4096, overhead: ENTRY, limit }
    }

    fn size(&self) -> usize {
        self.table.iter().map(|(name, value)| name.len() + value.len() + self.overhead).sum()
    }

    fn shrink_to(&mut self, size: usize) {
        while self.size() > size {
            self.table.pop_back();
        }
    }

    fn insert(&mut self, pair: Pair) {
        let size = pair.0.len() + pair.1.len() + self.overhead;
        self.shrink_to(self.max.saturating_sub(size));
        if size <= self.max {
            self.table.push_front(pair);
        }
    }

    /// Tells one block; returns its bytes and its fields.
    pub fn block(&mut self, random: &mut Random) -> (Vec<u8>, Vec<Pair>) {
        let (mut out, mut pairs) = (Vec::new(), Vec::new());
        for _ in 0..random.pick(&[0, 0, 0, 0, 0, 0, 1, 2]) {
            self.max =
                random.pick(&[0, 31, 32, 40, 64, 100, 128, 500, 1000, 4096, self.limit]).min(self.limit);
            self.shrink_to(self.max);
            integer(&mut out, 5, 0x20, self.max);
        }
        for _ in 0..random.below(12) {
            pairs.push(self.field(random, &mut out));
        }
        (out, pairs)
    }

    fn field(&mut self, random: &mut Random, out: &mut Vec<u8>) -> Pair {
        match random.below(8) {
            0 => {
                let (index, name, value) = random.pick(&INDEXED);
                integer(out, 7, 0x80, index);
                super::pair(name, value)
            }
            // The oldest entries are those that a wrong size evicts too early or too late.
            1..=3 if !self.table.is_empty() => {
                let oldest = self.table.len() - 1;
                let at = if random.one_in(2) { oldest } else { random.below(self.table.len()) };
                integer(out, 7, 0x80, 62 + at);
                self.table[at].clone()
            }
            _ => self.literal(random, out),
        }
    }

    /// Tells a block that fills the table with one entry, to the byte or one byte too far, and reads what is left.
    pub fn last_block(&mut self, random: &mut Random) -> (Vec<u8>, Vec<Pair>) {
        let (mut out, name) = (vec![0x40, 1, b'x'], b"x".to_vec());
        let value = vec![b'y'; (self.max + random.below(2)).saturating_sub(ENTRY + 1)];
        string(random, &mut out, &value);
        self.insert((name.clone(), value.clone()));
        let mut pairs = vec![(name, value)];
        for (at, pair) in self.table.iter().enumerate() {
            integer(&mut out, 7, 0x80, 62 + at);
            pairs.push(pair.clone());
        }
        (out, pairs)
    }

    fn literal(&mut self, random: &mut Random, out: &mut Vec<u8>) -> Pair {
        let (flags, prefix) = random.pick(&[(0x40, 6), (0x40, 6), (0x40, 6), (0x00, 4), (0x10, 4)]);
        let name = match random.below(4) {
            0 => {
                let (index, name) = random.pick(&STATIC_NAMES);
                integer(out, prefix, flags, index);
                name.as_bytes().to_vec()
            }
            1 | 2 if !self.table.is_empty() => {
                let at = random.below(self.table.len());
                integer(out, prefix, flags, 62 + at);
                self.table[at].0.clone()
            }
            _ => {
                let name = random.pick(&NAMES).as_bytes().to_vec();
                out.push(flags);
                string(random, out, &name);
                name
            }
        };
        let len = match random.below(20) {
            // A field that fits exactly, or by one byte does not.
            0 => (self.max + random.below(3)).saturating_sub(name.len() + ENTRY + 1),
            1 => random.below(5000),
            2..=9 => random.below(4),
            _ => random.below(60),
        };
        let any = random.one_in(4);
        let byte =
            |random: &mut Random| if any { random.next() as u8 } else { b'a' + random.below(26) as u8 };
        let value: Vec<u8> = (0..len).map(|_| byte(random)).collect();
        string(random, out, &value);
        let pair = (name, value);
        if flags == 0x40 {
            self.insert(pair.clone());
        }
        pair
    }
}

fn integer(out: &mut Vec<u8>, prefix: u32, flags: u8, value: usize) {
    let max = (1 << prefix) - 1;
    if value < max {
        return out.push(flags | value as u8);
    }
    out.push(flags | max as u8);
    let mut rest = value - max;
    while rest > 127 {
        out.push(rest as u8 | 128);
        rest /= 128;
    }
    out.push(rest as u8);
}

fn string(random: &mut Random, out: &mut Vec<u8>, text: &[u8]) {
    if random.one_in(2) {
        let coded = huffman(text);
        integer(out, 7, 0x80, coded.len());
        out.extend(coded);
    } else {
        integer(out, 7, 0, text.len());
        out.extend(text);
    }
}

/// Tells a story of `blocks` blocks with an encoder that takes `overhead` for that of an entry. Returns the first block
/// that the decoder understood in another way.
fn story(
    random: &mut Random,
    blocks: usize,
    overhead: usize,
) -> Result<(), (usize, Result<Vec<Pair>, Error>)> {
    let limit = random.pick(&[4096, 4096, 8192, 65_536]);
    let mut teller = Teller { table: VecDeque::new(), max: 4096, overhead, limit };
    let mut decoder = Decoder::new(limit as u32);
    decoder.set_limit(limit as u32);
    for at in 0..blocks {
        let (block, pairs) = teller.block(random);
        let found = decode(&mut decoder, &block);
        if found != Ok(pairs) {
            return Err((at, found));
        }
    }
    let (block, pairs) = teller.last_block(random);
    let found = decode(&mut decoder, &block);
    if found != Ok(pairs) {
        return Err((blocks, found));
    }
    // The table ends where the encoder's does: an entry that was kept too long is found by no valid block.
    let mut after = Vec::new();
    integer(&mut after, 7, 0x80, 62 + teller.table.len());
    match decode(&mut decoder, &after) {
        Err(Error::Index) => Ok(()),
        found => Err((blocks, found)),
    }
}

#[test]
fn the_decoder_follows_every_story_of_an_encoder() {
    cases(500, |random| {
        let blocks = 1 + random.below(60);
        assert_eq!(story(random, blocks, ENTRY), Ok(()));
    });
}

#[test]
fn the_stories_would_notice_an_entry_size_that_is_wrong_by_one() {
    for overhead in [ENTRY - 1, ENTRY + 1] {
        let noticed = (1..=100).filter(|seed| story(&mut Random::new(*seed), 60, overhead).is_err()).count();
        assert!(noticed >= 25, "{noticed} of 100 stories noticed an overhead of {overhead}");
    }
}

#[test]
fn a_table_that_keeps_changing_holds_no_more_than_its_size() {
    // A value of the same length each time, and one that varies, both for more bytes than the buffer may have.
    let mut decoder = Decoder::new(4096);
    let mut teller = Teller { table: VecDeque::new(), max: 4096, overhead: ENTRY, limit: 4096 };
    for round in 0..20_000 {
        let pair = super::pair("x-request-id", &format!("{:x}", round * 7919));
        let mut block = vec![0x40];
        for text in [&pair.0, &pair.1] {
            integer(&mut block, 7, 0, text.len());
            block.extend(text);
        }
        teller.insert(pair.clone());
        // The oldest entry is where the encoder has it, and nothing is after it.
        integer(&mut block, 7, 0x80, 61 + teller.table.len());
        assert_eq!(decode(&mut decoder, &block), Ok(vec![pair, teller.table.back().unwrap().clone()]));
    }
    let mut after = Vec::new();
    integer(&mut after, 7, 0x80, 62 + teller.table.len());
    assert_eq!(decode(&mut decoder, &after), Err(Error::Index));
}
