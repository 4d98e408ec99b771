//! The Huffman code of strings (RFC 7541 section 5.2 and appendix B).
//!
//! The code is canonical: codes of one length are consecutive in the order of their symbols, and longer codes follow
//! shorter ones. So the lengths alone define it, and a long code is found by its range.

use super::Error;

/// Symbols: 256 bytes, and EOS.
const SYMBOLS: usize = 257;
const EOS: u16 = 256;

/// Length of the code of each symbol, bits.
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, // 0
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, // 16
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, // 32
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, // 48
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, // 64
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, // 80
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, // 96
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, // 112
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, // 128
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, // 144
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, // 160
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, // 176
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, // 192
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, // 208
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, // 224
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, // 240
    30, // EOS
];

/// Longest code, bits.
const LONGEST: usize = 30;
/// Number of different lengths above 8.
const LONG: usize = 17;

/// All codes of one length above 8.
#[derive(Clone, Copy)]
struct Range {
    bits: u32,
    /// The last code of this length, aligned to the left and filled with ones.
    last: u32,
    first: u32,
    /// The position in [`Code::order`] of the symbol of the first code.
    at: u32,
}

struct Code {
    /// By the first eight bits: the symbol and its length, or a length of 0 if the code is longer.
    short: [(u8, u8); 256],
    long: [Range; LONG],
    /// The symbols in the order of their codes.
    order: [u16; SYMBOLS],
}

static CODE: Code = code();

const fn code() -> Code {
    let mut made = Code {
        short: [(0, 0); 256],
        long: [Range { bits: 0, last: 0, first: 0, at: 0 }; LONG],
        order: [0; SYMBOLS],
    };
    let (mut next, mut at, mut ranges, mut bits) = (0u32, 0, 0, 1);
    while bits <= LONGEST {
        next <<= 1;
        let (first, first_at) = (next, at);
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] as usize == bits {
                made.order[at] = symbol as u16;
                at += 1;
                if bits <= 8 {
                    let low = (next << (8 - bits)) as usize;
                    let mut fill = 0;
                    while fill < 1 << (8 - bits) {
                        made.short[low + fill] = (symbol as u8, bits as u8);
                        fill += 1;
                    }
                }
                next += 1;
            }
            symbol += 1;
        }
        if bits > 8 && next > first {
            let last = (((next as u64) << (32 - bits)) - 1) as u32;
            made.long[ranges] = Range { bits: bits as u32, last, first, at: first_at as u32 };
            ranges += 1;
        }
        bits += 1;
    }
    made
}

/// Appends the decoded string to `out`. Padding must be the first bits of EOS, fewer than eight.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    // The shortest code has five bits.
    out.reserve(coded.len() * 8 / 5);
    let mut bytes = coded.iter();
    // The next `held` bits, aligned to the left; zeros follow.
    let (mut window, mut held) = (0u64, 0u32);
    loop {
        while held <= 56
            && let Some(&byte) = bytes.next()
        {
            window |= u64::from(byte) << (56 - held);
            held += 8;
        }
        if held == 0 {
            return Ok(());
        }
        let (mut symbol, short) = CODE.short[(window >> 56) as usize];
        let mut bits = u32::from(short);
        if bits == 0 {
            let found = long((window >> 32) as u32);
            if found.1 <= held && found.0 == EOS {
                return Err(Error::EndOfString);
            }
            (symbol, bits) = (found.0 as u8, found.1);
        }
        if bits > held {
            let is_padding = held < 8 && window >> (64 - held) == (1 << held) - 1;
            return if is_padding { Ok(()) } else { Err(Error::Padding) };
        }
        out.push(symbol);
        window <<= bits;
        held -= bits;
    }
}

/// Returns the symbol of a code of more than eight bits, and its length.
#[inline]
fn long(window: u32) -> (u16, u32) {
    let mut found = CODE.long[LONG - 1];
    for range in CODE.long {
        if window <= range.last {
            found = range;
            break;
        }
    }
    let offset = (window >> (32 - found.bits)).saturating_sub(found.first);
    (CODE.order[(found.at + offset) as usize % SYMBOLS], found.bits)
}
