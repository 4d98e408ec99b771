//! Escapes in JSON strings (RFC 8259 section 7).

/// Returns the character of an escape that begins at a backslash, and the length of the escape in bytes. Half a
/// surrogate pair is not a character.
pub(super) fn escape(text: &[u8]) -> Option<(char, usize)> {
    let plain = match text.get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = hex4(text.get(2..6)?)?;
            if !(0xd800..0xdc00).contains(&first) {
                // A lone second half is not a `char`.
                return Some((char::from_u32(first)?, 6));
            }
            let second = text.get(6..12)?.strip_prefix(b"\\u").and_then(hex4)?;
            let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
            return Some((char::from_u32(0x10000 + ((first - 0xd800) << 10) + low)?, 12));
        }
        _ => return None,
    };
    Some((plain, 2))
}

fn hex4(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}

/// Appends the text between the quotes of a validated string, without escapes.
pub fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        // proof: the scan has validated this string, so every escape is a character.
        let (sign, length) = escape(&rest[at..]).unwrap_or((char::REPLACEMENT_CHARACTER, 1));
        out.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
}

/// Returns whether a validated string equals `name`, without unescaping it into a buffer.
pub(super) fn unescaped_is(text: &[u8], name: &str) -> bool {
    let (mut rest, mut wanted) = (text, name.as_bytes());
    while let [first, ..] = rest {
        let mut room = [0; 4];
        let (sign, length) = match first {
            b'\\' => match escape(rest) {
                Some((sign, length)) => (sign.encode_utf8(&mut room).as_bytes(), length),
                None => return false,
            },
            _ => (&rest[..1], 1),
        };
        let Some(left) = wanted.strip_prefix(sign) else { return false };
        wanted = left;
        rest = &rest[length..];
    }
    wanted.is_empty()
}
