//! LEB128 numbers: seven bits per byte, low bits first, high bit set while more bytes follow.
//!
//! Only the shortest form is accepted, so that equal values have equal bytes, and encoding a decoded value gives
//! exactly the bytes that were read. One width (128 bits) is used for all, because sums of nanoseconds need it.

use crate::Error;

/// Appends `value`: 1 byte below 128, at most 19.
pub fn put(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Decodes one number from the front of `bytes`.
///
/// # Errors
/// Returns `Truncated`, or `Malformed` for a number of more than 128 bits or one that could be shorter.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Result<u128, Error> {
    // Almost all numbers are one byte, and reading a long run is mostly this line.
    match bytes.split_first() {
        Some((&byte, rest)) if byte < 0x80 => {
            *bytes = rest;
            Ok(byte.into())
        }
        _ => take_long(bytes),
    }
}

fn take_long(bytes: &mut &[u8]) -> Result<u128, Error> {
    let mut value = 0u128;
    for (i, &byte) in bytes.iter().enumerate() {
        let part = u128::from(byte & 0x7f);
        let shift = 7 * i as u32;
        // The nineteenth byte starts at bit 126: only two of its bits fit.
        if shift > 126 || (shift == 126 && part > 3) {
            return Err(Error::Malformed { what: "a number is wider than 128 bits" });
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            if byte == 0 && i > 0 {
                return Err(Error::Malformed { what: "a number is padded with zero bytes" });
            }
            *bytes = &bytes[i + 1..];
            return Ok(value);
        }
    }
    Err(Error::Truncated)
}

/// Decodes one number that must fit 64 bits.
///
/// # Errors
/// Returns the same errors as [`take`], and `Malformed` for a larger number.
pub fn take_u64(bytes: &mut &[u8]) -> Result<u64, Error> {
    u64::try_from(take(bytes)?).map_err(|_| Error::Malformed { what: "a number is wider than 64 bits" })
}

/// Takes one raw byte (versions, markers).
///
/// # Errors
/// Returns `Truncated` if there is none.
pub fn take_byte(bytes: &mut &[u8]) -> Result<u8, Error> {
    let (&first, rest) = bytes.split_first().ok_or(Error::Truncated)?;
    *bytes = rest;
    Ok(first)
}
