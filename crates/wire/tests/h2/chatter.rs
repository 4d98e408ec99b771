//! Random servers: mostly valid frames for streams that are open, with some that are not.

use super::peer::*;
use crate::common::random::Random;

const LENGTH: &str = "content-length";

/// Writes what a server might send to a client that opens streams 1, 3, 5, and so on.
pub struct Server {
    /// Streams that the client has opened by now.
    pub opened: u32,
    /// Streams with a head.
    headed: Vec<u32>,
    /// Number of entries in the table, at most as many as fit.
    entries: usize,
}

impl Server {
    pub fn new(opened: u32) -> Server {
        Server { opened, headed: Vec::new(), entries: 0 }
    }

    /// Returns a few frames.
    pub fn frames(&mut self, random: &mut Random) -> Vec<u8> {
        let count = 1 + random.below(8);
        (0..count).flat_map(|_| self.frame(random)).collect()
    }

    fn stream(&self, random: &mut Random) -> u32 {
        match random.below(60) {
            0 => random.below(2 * self.opened as usize + 4) as u32,
            _ => 2 * random.below(self.opened as usize) as u32 + 1,
        }
    }

    fn frame(&mut self, random: &mut Random) -> Vec<u8> {
        let stream = self.stream(random);
        match random.below(40) {
            0 => frame(PING, random.below(2) as u8, 0, &random.next().to_be_bytes()),
            1 => {
                let setting =
                    random.pick(&[(1, 0), (1, 4096), (3, 2), (3, 100), (4, 100), (4, 65_535), (8, 1)]);
                settings(&[setting])
            }
            2 => frame(SETTINGS, ACK, 0, b""),
            3 => {
                number(WINDOW_UPDATE, random.pick(&[0, stream]), random.pick(&[1, 100, 70_000, 0x7fff_0000]))
            }
            4 => number(RST_STREAM, stream, random.pick(&[0, 2, 7, 8])),
            5 if random.one_in(5) => goaway(random.pick(&[0, stream, 0x7fff_ffff]), 0),
            6 => frame(random.pick(&[PRIORITY, 20, 200]), 0, stream, &vec![7; random.below(20)]),
            7 if random.one_in(5) => frame(random.next() as u8, random.next() as u8, stream, &[0; 8]),
            8..=20 => self.data(random, stream),
            _ => self.head(random, stream),
        }
    }

    fn data(&mut self, random: &mut Random, stream: u32) -> Vec<u8> {
        let headed =
            if self.headed.is_empty() || random.one_in(30) { stream } else { random.pick(&self.headed) };
        let len = random.pick(&[0, 1, 2, 10, 10, 100, 700]);
        let end = if random.one_in(3) { END_STREAM } else { 0 };
        if end != 0 {
            self.headed.retain(|stream| *stream != headed);
        }
        if random.one_in(4) {
            let padding = random.below(30);
            let payload = [&[padding as u8][..], &vec![b'd'; len], &vec![0; padding]].concat();
            frame(DATA, PADDED | end, headed, &payload)
        } else {
            frame(DATA, end, headed, &vec![b'd'; len])
        }
    }

    fn head(&mut self, random: &mut Random, stream: u32) -> Vec<u8> {
        let end = if random.one_in(2) { END_STREAM } else { 0 };
        let is_trailers = self.headed.contains(&stream);
        let mut block = match random.below(12) {
            _ if is_trailers => Vec::new(),
            0 => vec![0x20],
            1 => vec![0x3f, 0xe1, 0x1f],
            _ => Vec::new(),
        };
        if !block.is_empty() {
            // A new size may empty the table; the names of its entries are not used any more.
            self.entries = 0;
        }
        if !is_trailers {
            match random.below(10) {
                0 => block.extend(super::peer::block(random.pick(&["103", "100", "404", "999"]), &[])),
                1 => block.push(0x89),
                _ => block.push(0x88),
            }
        }
        for _ in 0..random.below(4) {
            match random.below(6) {
                0 | 1 if self.entries > 0 => block.push(0xbe + random.below(self.entries.min(40)) as u8),
                2 | 3 => {
                    block.push(0x40);
                    let pair = random.pick(&[("x-a", "1"), ("x-a", "three"), (LENGTH, "1"), (LENGTH, "10")]);
                    block.extend(&field(pair.0, pair.1)[1..]);
                    self.entries = (self.entries + 1).min(40);
                }
                4 => block.extend(field(LENGTH, random.pick(&["0", "1", "10", "100"]))),
                _ => block.extend(field(random.pick(&["x-b", "date", "Bad", "upgrade"]), "value")),
            }
        }
        if end == 0 && !is_trailers {
            self.headed.push(stream);
        }
        if is_trailers {
            self.headed.retain(|of| *of != stream);
        }
        if random.one_in(6) {
            let at = random.below(block.len() + 1);
            let (first, second) = block.split_at(at);
            return [frame(HEADERS, end, stream, first), frame(CONTINUATION, END_HEADERS, stream, second)]
                .concat();
        }
        if random.one_in(6) {
            let padding = random.below(9);
            block = [&[padding as u8, 0, 0, 0, 0, 1][..], &block, &vec![0; padding]].concat();
            return frame(HEADERS, END_HEADERS | PADDED | PRIORITIZED | end, stream, &block);
        }
        frame(HEADERS, END_HEADERS | end, stream, &block)
    }
}
