//! Header blocks that repeat, on several connections of one worker. A block that inserts fields and refers to none is
//! compared instead of decoded, and its fields are inserted when a later block uses the table. The result must be that
//! of decoding every block.

use super::peer::{ALONE, Client, GET, HEADERS, Seen, field, frame};
use crate::common::random::{Random, cases};
use plimsoll_wire::h2::{Ask, Event, Shared};
use plimsoll_wire::hpack::{Decoder, Scratch};

type Pair = (Vec<u8>, Vec<u8>);

/// A connection, a decoder that decodes every block of it, and the sizes of its table, the newest first.
struct Wire {
    client: Client,
    decoder: Decoder,
    table: Vec<usize>,
    max: usize,
}

impl Wire {
    fn new() -> Wire {
        Wire { client: Client::settled(), decoder: Decoder::new(4096), table: Vec::new(), max: 4096 }
    }

    fn insert(&mut self, bytes: usize) {
        while self.table.iter().sum::<usize>() + bytes > self.max && !self.table.is_empty() {
            self.table.pop();
        }
        if bytes <= self.max {
            self.table.insert(0, bytes);
        }
    }

    /// Sends a response with this block, and checks what the session made of it.
    fn respond(&mut self, block: &[u8], reads_head: bool, shared: &mut Shared) {
        let mut pairs: Vec<Pair> = Vec::new();
        let decoded = self.decoder.decode(block, &mut Scratch::default(), |name, value| {
            pairs.push((name.to_vec(), value.to_vec()));
            true
        });
        assert_eq!(decoded, Ok(()), "the test sends valid blocks");
        let mut text = b"HTTP/2 200\r\n".to_vec();
        for (name, value) in &pairs[1..] {
            text.extend([name, b": ".as_slice(), value, b"\r\n"].concat());
        }
        text.extend(b"\r\n");
        // All connections of a worker share these.
        std::mem::swap(&mut self.client.shared, shared);
        self.client.seen = Seen::default();
        let stream = self.client.open(Ask { reads_head, ..GET }).expect("the last stream has ended");
        let events = self.client.events_of(&[frame(HEADERS, ALONE, stream, block)]).expect("valid");
        let [Event::Done { answer, .. }] = events[..] else { panic!("{events:?}") };
        assert_eq!((answer.status, answer.head_bytes as usize), (200, text.len()));
        if reads_head {
            assert_eq!(self.client.seen.heads[0].1, String::from_utf8(text).expect("ASCII"));
        }
        std::mem::swap(&mut self.client.shared, shared);
    }
}

/// A block without references: some fields with and without indexing. Returns the sizes of its insertions, too.
fn block(random: &mut Random) -> (Vec<u8>, Vec<usize>) {
    let (mut block, mut sizes) = (vec![0x88], Vec::new());
    for _ in 0..random.below(5) {
        let value = "v".repeat(random.pick(&[0, 1, 20, 90, 126]));
        if random.one_in(3) {
            block.extend(field("plain", &value));
            continue;
        }
        let mut inserting = field(random.pick(&["a", "b", "x-long-name"]), &value);
        inserting[0] = 0x40;
        sizes.push(inserting.len() - 3 + 32);
        block.extend(inserting);
    }
    (block, sizes)
}

#[test]
fn repeated_blocks_have_the_effect_of_decoding_each() {
    cases(300, |random| {
        let mut shared = Shared::default();
        let mut wires = [Wire::new(), Wire::new(), Wire::new()];
        let mut blocks: Vec<_> = (0..3).map(|_| block(random)).collect();
        for _ in 0..120 {
            let wire = &mut wires[random.below(3)];
            match random.below(12) {
                // What the server's clock does.
                0 => blocks[random.below(3)] = block(random),
                1 | 2 if !wire.table.is_empty() => {
                    // The oldest field, or any, and the name of one.
                    let last = wire.table.len() - 1;
                    let at = if random.one_in(2) { last } else { random.below(wire.table.len()) };
                    let reference = |block: &mut Vec<u8>, flags: u8, index: usize| match index {
                        0..127 => block.push(flags | index as u8),
                        _ => block.extend([flags | 127, (index - 127) as u8]),
                    };
                    let mut block = vec![0x88];
                    reference(&mut block, 0x80, 62 + at);
                    wire.respond(&block, random.one_in(2), &mut shared);
                }
                3 => {
                    wire.max = random.pick(&[0, 40, 200, 1000, 4096]);
                    while wire.table.iter().sum::<usize>() > wire.max {
                        wire.table.pop();
                    }
                    let mut block = vec![0x3f];
                    let mut rest = wire.max as i64 - 31;
                    if rest < 0 {
                        block = vec![0x20 | wire.max as u8];
                    } else {
                        while rest >= 128 {
                            block.push((rest % 128) as u8 | 128);
                            rest /= 128;
                        }
                        block.push(rest as u8);
                    }
                    block.push(0x88);
                    wire.respond(&block, false, &mut shared);
                }
                _ => {
                    let (block, sizes) = &blocks[random.below(3)];
                    for _ in 0..random.pick(&[1, 1, 2, 30]) {
                        wire.respond(block, random.one_in(20), &mut shared);
                        sizes.iter().for_each(|bytes| wire.insert(*bytes));
                    }
                }
            }
        }
        // Everything that a server may still refer to.
        for wire in &mut wires {
            for at in 0..wire.table.len().min(64) {
                wire.respond(&[0x88, 0x80 | (62 + at) as u8], true, &mut shared);
            }
        }
    });
}
