//! Escapes in place. The value is already at the end of the buffer, so one pass measures it and one pass, from the end,
//! moves it. A value that needs no escape, the usual case, costs one pass over a table.

use plimsoll_plan::value::Escape;

const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";
const HEX_LOWER: &[u8; 16] = b"0123456789abcdef";

/// The number of bytes that each byte grows by, or `SAME_SIZE` if it is only replaced.
type Growth = [u8; 256];
const SAME_SIZE: u8 = 0x80;

const JSON: Growth = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = 5;
        byte += 1;
    }
    // RFC 8259 section 7: these have a short form.
    let short = *b"\"\\\x08\x0c\n\r\t";
    let mut at = 0;
    while at < short.len() {
        table[short[at] as usize] = 1;
        at += 1;
    }
    table
};

const PERCENT: Growth = percent();

/// The form encoding differs only in the space.
const FORM: Growth = {
    let mut table = percent();
    table[b' ' as usize] = SAME_SIZE;
    table
};

/// RFC 3986 section 2.3: unreserved characters, and only these, are never encoded.
const fn percent() -> Growth {
    let mut table = [2; 256];
    let mut byte = 0;
    while byte < 128 {
        let sign = byte as u8;
        if sign.is_ascii_alphanumeric() || matches!(sign, b'-' | b'.' | b'_' | b'~') {
            table[byte] = 0;
        }
        byte += 1;
    }
    table
}

/// Escapes the bytes of `out` that start at `begin`. Bytes outside ASCII are unchanged in JSON (a file that is not
/// UTF-8 makes a body that is not), and otherwise percent-encoded one by one.
pub fn escape_from(out: &mut Vec<u8>, begin: usize, escape: Escape) {
    let table = match escape {
        Escape::None => return,
        Escape::Json => &JSON,
        Escape::Percent => &PERCENT,
        Escape::Form => &FORM,
    };
    let Some(value) = out.get(begin..) else { return };
    let Some(first) = value.iter().position(|&byte| table[usize::from(byte)] != 0) else { return };
    let begin = begin + first;
    let growth = |&byte: &u8| usize::from(table[usize::from(byte)] & !SAME_SIZE);
    let more: usize = out[begin..].iter().map(growth).sum();
    let mut read = out.len();
    let mut write = read + more;
    out.resize(write, 0);
    // From the end: `write` stays ahead of `read` by the growth of the bytes before it, so no unread byte is
    // overwritten.
    while read > begin {
        read -= 1;
        let byte = out[read];
        let size = 1 + growth(&byte);
        write -= size;
        put(byte, table[usize::from(byte)], escape, &mut out[write..write + size]);
    }
}

fn put(byte: u8, growth: u8, escape: Escape, place: &mut [u8]) {
    let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
    match (growth, escape) {
        (0, _) => place.copy_from_slice(&[byte]),
        (SAME_SIZE, _) => place.copy_from_slice(b"+"),
        (1, _) => place.copy_from_slice(&[b'\\', short_name(byte)]),
        (_, Escape::Json) => {
            place.copy_from_slice(&[b'\\', b'u', b'0', b'0', HEX_LOWER[high], HEX_LOWER[low]]);
        }
        _ => place.copy_from_slice(&[b'%', HEX_UPPER[high], HEX_UPPER[low]]),
    }
}

const fn short_name(byte: u8) -> u8 {
    match byte {
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        same => same,
    }
}
