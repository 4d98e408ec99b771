//! JSON objects, one per line (RFC 8259), read in place: strict validation once, and then a search that relies on it
//! and does not allocate.

use memchr::{memchr, memchr2};

/// Deepest nesting, because validation is recursive.
const DEEPEST: u32 = 127;

/// The place of a mistake in a line, and the message.
type TableError = (usize, &'static str);

/// Why a line is not a row.
#[derive(Debug)]
pub struct Unsound {
    /// Position in the line, starting at 0.
    pub at: usize,
    pub what: &'static str,
    pub fix: Option<&'static str>,
}

/// Checks that `line` is one JSON object. It must be valid UTF-8.
///
/// # Errors
/// Returns the place and the message of a mistake.
pub fn check(line: &[u8]) -> Result<(), Unsound> {
    let begin = space(line, 0);
    if line.get(begin) != Some(&b'{') {
        let what = "expected one JSON object, such as `{\"id\": 1}`";
        return Err(Unsound { at: begin, what, fix: None });
    }
    let end = value(line, begin, DEEPEST).map_err(|(at, what)| Unsound { at, what, fix: None })?;
    let end = space(line, end);
    match end < line.len() {
        true => {
            let (what, fix) = ("unexpected text after the JSON object", Some("write one object per line"));
            Err(Unsound { at: end, what, fix })
        }
        false => Ok(()),
    }
}

fn space(text: &[u8], at: usize) -> usize {
    let mut at = at;
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// Returns the position after the value at `at`.
fn value(text: &[u8], at: usize, levels: u32) -> Result<usize, TableError> {
    match text.get(at) {
        Some(b'"') => string(text, at),
        Some(b'{' | b'[') if levels == 0 => Err((at, "the object is nested too deeply")),
        Some(b'{') => items(text, at, b'}', |text, at| {
            if text.get(at) != Some(&b'"') {
                return Err((at, "missing key in quotes"));
            }
            let colon = space(text, string(text, at)?);
            if text.get(colon) != Some(&b':') {
                return Err((colon, "missing `:` after a key"));
            }
            value(text, space(text, colon + 1), levels - 1)
        }),
        Some(b'[') => items(text, at, b']', |text, at| value(text, at, levels - 1)),
        Some(b'-' | b'0'..=b'9') => number(text, at),
        _ => {
            let word =
                [&b"true"[..], b"false", b"null"].into_iter().find(|word| text[at..].starts_with(word));
            word.map(|word| at + word.len()).ok_or((at, "missing JSON value"))
        }
    }
}

/// Validates the members of an object or an array, between its brackets.
fn items(
    text: &[u8],
    at: usize,
    close: u8,
    item: impl Fn(&[u8], usize) -> Result<usize, TableError>,
) -> Result<usize, TableError> {
    let mut at = space(text, at + 1);
    if text.get(at) == Some(&close) {
        return Ok(at + 1);
    }
    loop {
        at = space(text, item(text, at)?);
        match text.get(at) {
            Some(b',') => at = space(text, at + 1),
            Some(sign) if *sign == close => return Ok(at + 1),
            _ => return Err((at, "missing `,` or closing bracket")),
        }
    }
}

/// Validates a number (RFC 8259 section 6): no leading zeros, digits on both sides of the point, no leading plus.
fn number(text: &[u8], begin: usize) -> Result<usize, TableError> {
    let digits = |at: usize| at + text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let first = begin + usize::from(text[begin] == b'-');
    let mut at = digits(first);
    let mut sound = at > first && (text[first] != b'0' || at == first + 1);
    if text.get(at) == Some(&b'.') {
        let from = at + 1;
        at = digits(from);
        sound &= at > from;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let from = at + 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        at = digits(from);
        sound &= at > from;
    }
    if sound { Ok(at) } else { Err((begin, "invalid JSON number")) }
}

/// Validates a string. The grammar allows half a surrogate pair, but it has no UTF-8 encoding and cannot be sent.
fn string(text: &[u8], begin: usize) -> Result<usize, TableError> {
    // Skips runs of plain bytes, because most of a file is in strings.
    let plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | 0..0x20);
    let mut at = begin + 1;
    loop {
        while text.get(at).is_some_and(plain) {
            at += 1;
        }
        match text.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => match (text.get(at + 1), unit(text, at)) {
                (Some(b'u'), Some(0xd800..=0xdbff)) => match unit(text, at + 6) {
                    Some(0xdc00..=0xdfff) => at += 12,
                    _ => return Err((at, "incomplete surrogate pair")),
                },
                (Some(b'u'), Some(0xdc00..=0xdfff)) => {
                    return Err((at, "incomplete surrogate pair"));
                }
                (Some(b'u'), Some(_)) => at += 6,
                (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), _) => at += 2,
                _ => return Err((at, "invalid JSON escape")),
            },
            Some(_) => return Err((at, "unescaped control character")),
            None => return Err((begin, "unclosed quote")),
        }
    }
}

/// Returns the UTF-16 unit of `\uXXXX` at `at`.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let hex = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    hex.iter().try_fold(0, |unit, &byte| Some(unit * 16 + char::from(byte).to_digit(16)?))
}

/// Finds the value of `path` in a validated object: first the key with exactly that name, then step by step along its
/// dots. The last of equal keys applies, as in most parsers.
pub fn find<'t>(object: &'t [u8], path: &[u8]) -> Option<&'t [u8]> {
    let (mut exact, mut nested) = (None, None);
    let mut at = space(object, space(object, 0) + 1);
    while object.get(at) == Some(&b'"') {
        let key = skip_string(object, at);
        // Skips the colon, which validation has found.
        let begin = space(object, space(object, key) + 1);
        let end = skip(object, begin);
        let found = &object[begin..end];
        match key_in(&object[at + 1..key - 1], path) {
            Some([]) => exact = Some(found),
            Some([b'.', rest @ ..]) => {
                nested = if found.starts_with(b"{") { find(found, rest) } else { None };
            }
            _ => {}
        }
        at = space(object, end);
        at = space(object, at + usize::from(object.get(at) == Some(&b',')));
    }
    exact.or(nested)
}

/// Returns the rest of `path` after `key`.
fn key_in<'p>(key: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    let mut rest = Some(path);
    unescape(key, |piece| rest = rest.and_then(|rest| rest.strip_prefix(piece)));
    rest
}

/// Returns the position after a validated value. It only counts brackets, because they are known to match.
fn skip(text: &[u8], begin: usize) -> usize {
    match text.get(begin) {
        Some(b'"') => skip_string(text, begin),
        Some(b'{' | b'[') => {
            let (mut at, mut levels) = (begin, 0usize);
            while let Some(&sign) = text.get(at) {
                match sign {
                    b'"' => {
                        at = skip_string(text, at);
                        continue;
                    }
                    b'{' | b'[' => levels += 1,
                    b'}' | b']' => levels -= 1,
                    _ => {}
                }
                at += 1;
                if levels == 0 {
                    break;
                }
            }
            at
        }
        _ => {
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
            text[begin..].iter().position(ends).map_or(text.len(), |n| begin + n)
        }
    }
}

/// Returns the position after the closing quote.
fn skip_string(text: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(n) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += n;
        if text[at] == b'"' {
            return at + 1;
        }
        // An escaped character, such as a quote, does not end the string.
        at += 2;
    }
    text.len()
}

/// Appends a value from [`find`]: a string without quotes and escapes, anything else as JSON text.
pub fn push(value: &[u8], out: &mut Vec<u8>) {
    match value {
        [b'"', inner @ .., b'"'] => unescape(inner, |piece| out.extend_from_slice(piece)),
        other => out.extend_from_slice(other),
    }
}

/// Passes the text of a validated string to `put` in pieces, so that comparing a key needs no copy.
fn unescape(mut rest: &[u8], mut put: impl FnMut(&[u8])) {
    while let Some(at) = memchr(b'\\', rest) {
        put(&rest[..at]);
        let mut size = 2;
        match rest.get(at + 1) {
            Some(b'u') => {
                let first = unit(rest, at).unwrap_or(0);
                let code = match (first, unit(rest, at + 6)) {
                    // RFC 8259 section 7, with the formula of RFC 2781 section 2.2.
                    (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
                        size = 12;
                        0x1_0000 + ((first & 0x3ff) << 10 | (second & 0x3ff))
                    }
                    _ => {
                        size = 6;
                        first
                    }
                };
                put(char::from_u32(code)
                    .unwrap_or(char::REPLACEMENT_CHARACTER)
                    .encode_utf8(&mut [0; 4])
                    .as_bytes());
            }
            Some(b'b') => put(b"\x08"),
            Some(b'f') => put(b"\x0c"),
            Some(b'n') => put(b"\n"),
            Some(b'r') => put(b"\r"),
            Some(b't') => put(b"\t"),
            Some(same) => put(&[*same]),
            None => {}
        }
        rest = rest.get(at + size..).unwrap_or_default();
    }
    put(rest);
}
