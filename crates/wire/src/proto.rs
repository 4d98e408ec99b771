//! The wire format of Protocol Buffers: keys, varints, and the values of fields, without their types.

/// A value of a field as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    /// The fields of a group, without its end.
    Group(&'a [u8]),
    Fixed32(u32),
}

/// The wire types, as the lowest three bits of a key.
pub mod wire_type {
    pub const VARINT: u32 = 0;
    pub const FIXED64: u32 = 1;
    pub const BYTES: u32 = 2;
    pub const GROUP: u32 = 3;
    pub const GROUP_END: u32 = 4;
    pub const FIXED32: u32 = 5;
}

/// The deepest nesting that is read, as other libraries limit it.
pub const DEPTH_MAX: usize = 100;

/// The bytes are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalid;

/// Appends a varint.
#[inline]
pub fn put_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the key of a field.
pub fn put_key(number: u32, wire_type: u32, out: &mut Vec<u8>) {
    put_varint(u64::from(number) << 3 | u64::from(wire_type), out);
}

/// Appends the length of what `put` appends, and then that.
///
/// # Errors
/// Returns the error of `put`; bytes appended before it stay.
pub fn put_nested<E>(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
    // Most lengths have one byte; the others move what they count.
    let at = out.len();
    out.push(0);
    put(out)?;
    let len = out.len() - at - 1;
    if len < 0x80 {
        out[at] = len as u8;
        return Ok(());
    }
    let mut coded = [0; 10];
    let mut used = 0;
    let mut rest = len;
    while rest >= 0x80 {
        coded[used] = rest as u8 | 0x80;
        rest >>= 7;
        used += 1;
    }
    coded[used] = rest as u8;
    out.splice(at..=at, coded[..=used].iter().copied());
    Ok(())
}

/// Maps a signed number to an unsigned one that is small if its absolute value is.
pub fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Reverses [`zigzag`].
pub fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Splits a varint off.
///
/// # Errors
/// Returns an error if it is cut or too long.
#[inline]
pub fn take_varint(bytes: &mut &[u8]) -> Result<u64, Invalid> {
    let mut number = 0u64;
    for (at, &byte) in bytes.iter().enumerate().take(10) {
        if at == 9 && byte > 1 {
            break;
        }
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            *bytes = &bytes[at + 1..];
            return Ok(number);
        }
    }
    Err(Invalid)
}

/// Splits the next field off a message. `None` at its end.
///
/// # Errors
/// Returns an error if the bytes continue with something else.
pub fn take_field<'a>(bytes: &mut &'a [u8]) -> Result<Option<(u32, Value<'a>)>, Invalid> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (number, wire_type) = take_key(bytes)?;
    Ok(Some((number, take_value(bytes, number, wire_type, DEPTH_MAX)?)))
}

fn take_key(bytes: &mut &[u8]) -> Result<(u32, u32), Invalid> {
    let key = u32::try_from(take_varint(bytes)?).map_err(|_| Invalid)?;
    if key >> 3 == 0 { Err(Invalid) } else { Ok((key >> 3, key & 7)) }
}

fn take_value<'a>(
    bytes: &mut &'a [u8],
    number: u32,
    wire_type: u32,
    depth: usize,
) -> Result<Value<'a>, Invalid> {
    Ok(match wire_type {
        wire_type::VARINT => Value::Varint(take_varint(bytes)?),
        wire_type::FIXED64 => Value::Fixed64(u64::from_le_bytes(take_chunk(bytes)?)),
        wire_type::FIXED32 => Value::Fixed32(u32::from_le_bytes(take_chunk(bytes)?)),
        wire_type::BYTES => {
            let len = usize::try_from(take_varint(bytes)?).map_err(|_| Invalid)?;
            let (value, rest) = bytes.split_at_checked(len).ok_or(Invalid)?;
            *bytes = rest;
            Value::Bytes(value)
        }
        wire_type::GROUP => Value::Group(take_group(bytes, number, depth)?),
        _ => return Err(Invalid),
    })
}

/// Splits the fields of a group off, and its end.
fn take_group<'a>(bytes: &mut &'a [u8], number: u32, depth: usize) -> Result<&'a [u8], Invalid> {
    let depth = depth.checked_sub(1).ok_or(Invalid)?;
    let begin = *bytes;
    loop {
        let fields = &begin[..begin.len() - bytes.len()];
        let (of, wire_type) = take_key(bytes)?;
        if wire_type == wire_type::GROUP_END {
            return if of == number { Ok(fields) } else { Err(Invalid) };
        }
        take_value(bytes, of, wire_type, depth)?;
    }
}

fn take_chunk<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Invalid> {
    let (chunk, rest) = bytes.split_first_chunk().ok_or(Invalid)?;
    *bytes = rest;
    Ok(*chunk)
}

#[cfg(test)]
mod tests {
    use super::{Invalid, Value, put_nested, put_varint, take_field, take_varint, unzigzag, zigzag};

    #[test]
    fn a_varint_is_read_as_it_was_written() {
        for number in [0, 1, 127, 128, 300, 1 << 35, u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(number, &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!((take_varint(&mut rest), rest.len()), (Ok(number), 0));
            for cut in 0..bytes.len() {
                assert_eq!(take_varint(&mut &bytes[..cut]), Err(Invalid));
            }
        }
        assert_eq!(take_varint(&mut &[0xff; 11][..]), Err(Invalid));
        assert_eq!(take_varint(&mut &b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"[..]), Err(Invalid));
    }

    #[test]
    fn signed_numbers_keep_their_values() {
        for number in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(number)), number);
        }
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
    }

    #[test]
    fn a_nested_message_has_its_length() {
        for len in [0, 127, 128, 20_000] {
            let mut bytes = vec![b'<'];
            let put = |out: &mut Vec<u8>| {
                out.extend(std::iter::repeat_n(7, len));
                Ok::<(), ()>(())
            };
            assert_eq!(put_nested(&mut bytes, put), Ok(()));
            let mut rest = &bytes[1..];
            assert_eq!(take_varint(&mut rest), Ok(len as u64));
            assert_eq!(rest, vec![7; len]);
        }
    }

    #[test]
    fn every_kind_of_field_is_read() {
        let mut rest = &b"\x08\x05\x11\x01\0\0\0\0\0\0\0\x1a\x02hi\x23\x08\x01\x24\x2d\x02\0\0\0"[..];
        let expected = [
            (1, Value::Varint(5)),
            (2, Value::Fixed64(1)),
            (3, Value::Bytes(b"hi")),
            (4, Value::Group(b"\x08\x01")),
            (5, Value::Fixed32(2)),
        ];
        for field in expected {
            assert_eq!(take_field(&mut rest), Ok(Some(field)));
        }
        assert_eq!(take_field(&mut rest), Ok(None));
    }

    #[test]
    fn damaged_fields_are_refused() {
        // A cut value, a length beyond the end, an end without a group, a group without an end, number 0, wire type 6.
        for bytes in [&b"\x08"[..], b"\x1a\x05hi", b"\x24", b"\x23\x08\x01", b"\x00\x01", b"\x0e\x01"] {
            assert_eq!(take_field(&mut &*bytes), Err(Invalid), "{bytes:?}");
        }
        let deep = [0x0b; 200];
        assert_eq!(take_field(&mut &deep[..]), Err(Invalid));
    }
}
