//! Integers with a prefix (RFC 7541 section 5.1).

use super::Error;

/// Most bytes after the prefix: values up to 2^28 and a bit, far above every limit, and no overflow to check.
const CONTINUATION_MAX: usize = 4;

/// Reads the integer whose first byte is `bytes[at]`, of which the low `prefix` bits count. Returns it and the position
/// after it.
#[inline]
pub(super) fn read(bytes: &[u8], at: usize, prefix: u32) -> Result<(usize, usize), Error> {
    let max = (1usize << prefix) - 1;
    let first = usize::from(*bytes.get(at).ok_or(Error::Truncated)?) & max;
    if first < max {
        return Ok((first, at + 1));
    }
    let mut value = max;
    for (count, &byte) in bytes[at + 1..].iter().take(CONTINUATION_MAX).enumerate() {
        value += usize::from(byte & 0x7f) << (7 * count);
        if byte & 0x80 == 0 {
            return Ok((value, at + count + 2));
        }
    }
    let cut = bytes.len() - at - 1 < CONTINUATION_MAX;
    Err(if cut { Error::Truncated } else { Error::Integer })
}

/// Appends `value`; the bits of `flags` above the prefix are those of the first byte.
#[inline]
pub(super) fn write(out: &mut Vec<u8>, prefix: u32, flags: u8, value: usize) {
    let max = (1usize << prefix) - 1;
    if value < max {
        return out.push(flags | value as u8);
    }
    out.push(flags | max as u8);
    let mut rest = value - max;
    while rest >= 0x80 {
        out.push(0x80 | (rest & 0x7f) as u8);
        rest >>= 7;
    }
    out.push(rest as u8);
}
