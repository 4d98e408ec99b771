//! JSON objects, one per line (RFC 8259), read where they lie: a check that is strict and made once, and a search that
//! trusts it and allocates nothing.

use memchr::{memchr, memchr2};

/// Deepest nesting that is read: the check calls itself once per level.
const DEEPEST: u32 = 127;

/// Where in the line it is wrong, and what is.
type TableError = (usize, &'static str);

/// Why a line is no row.
#[derive(Debug)]
pub struct Unsound {
    /// In the line, from 0.
    pub at: usize,
    pub what: &'static str,
    pub mend: Option<&'static str>,
}

/// Checks that `line` is one JSON object. That it is UTF-8 has been checked before.
///
/// # Errors
/// The place and a fragment of a sentence.
pub fn check(line: &[u8]) -> Result<(), Unsound> {
    let begin = space(line, 0);
    if line.get(begin) != Some(&b'{') {
        let what = "a line must hold one JSON object, as in `{\"id\": 1}`";
        return Err(Unsound { at: begin, what, mend: None });
    }
    let end = value(line, begin, DEEPEST).map_err(|(at, what)| Unsound { at, what, mend: None })?;
    let end = space(line, end);
    match end < line.len() {
        true => {
            let (what, mend) = ("text follows the JSON object", Some("each line holds one"));
            Err(Unsound { at: end, what, mend })
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

/// The place behind the value at `at`.
fn value(text: &[u8], at: usize, levels: u32) -> Result<usize, TableError> {
    match text.get(at) {
        Some(b'"') => string(text, at),
        Some(b'{' | b'[') if levels == 0 => Err((at, "it is nested too deeply")),
        Some(b'{') => items(text, at, b'}', |text, at| {
            if text.get(at) != Some(&b'"') {
                return Err((at, "a key in quotes is missing"));
            }
            let colon = space(text, string(text, at)?);
            if text.get(colon) != Some(&b':') {
                return Err((colon, "`:` is missing behind a key"));
            }
            value(text, space(text, colon + 1), levels - 1)
        }),
        Some(b'[') => items(text, at, b']', |text, at| value(text, at, levels - 1)),
        Some(b'-' | b'0'..=b'9') => number(text, at),
        _ => {
            let word =
                [&b"true"[..], b"false", b"null"].into_iter().find(|word| text[at..].starts_with(word));
            word.map(|word| at + word.len()).ok_or((at, "a JSON value is missing"))
        }
    }
}

/// The members of an object or an array, between its brackets.
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
            _ => return Err((at, "`,` or a closing bracket is missing")),
        }
    }
}

/// RFC 8259 section 6: no zeros in front, digits on both sides of the point, no plus in front.
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
    if sound { Ok(at) } else { Err((begin, "it is no JSON number")) }
}

/// Half of a surrogate pair is legal by the grammar, but there is no UTF-8 for it, so it could not be sent.
fn string(text: &[u8], begin: usize) -> Result<usize, TableError> {
    // Whole stretches of plain bytes at once: most of a file is inside strings.
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
                    _ => return Err((at, "half of a surrogate pair stands alone")),
                },
                (Some(b'u'), Some(0xdc00..=0xdfff)) => {
                    return Err((at, "half of a surrogate pair stands alone"));
                }
                (Some(b'u'), Some(_)) => at += 6,
                (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), _) => at += 2,
                _ => return Err((at, "it is no JSON escape")),
            },
            Some(_) => return Err((at, "a control character must be escaped")),
            None => return Err((begin, "a quote is never closed")),
        }
    }
}

/// The UTF-16 unit of `\uXXXX` at `at`.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let hex = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    hex.iter().try_fold(0, |unit, &byte| Some(unit * 16 + char::from(byte).to_digit(16)?))
}

/// The value under `path` in a checked object: under the key of that very name, else step by step along its dots. Of a
/// key that stands there twice the last one counts, as most readers have it.
pub fn find<'t>(object: &'t [u8], path: &[u8]) -> Option<&'t [u8]> {
    let (mut exact, mut nested) = (None, None);
    let mut at = space(object, space(object, 0) + 1);
    while object.get(at) == Some(&b'"') {
        let key = skip_string(object, at);
        // One for the colon, which the check has seen.
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

/// What is left of `path` when it begins with `key`.
fn key_in<'p>(key: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    let mut rest = Some(path);
    unescape(key, |piece| rest = rest.and_then(|rest| rest.strip_prefix(piece)));
    rest
}

/// The place behind a value that was checked. Brackets are only counted: which belongs to which is known to be right.
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

/// The place behind the closing quote.
fn skip_string(text: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(n) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += n;
        if text[at] == b'"' {
            return at + 1;
        }
        // Whatever is escaped, a quote above all, does not end the string.
        at += 2;
    }
    text.len()
}

/// Appends a value that [`find`] gave: a string without quotes and escapes, anything else as its JSON text.
pub fn push(value: &[u8], out: &mut Vec<u8>) {
    match value {
        [b'"', inner @ .., b'"'] => unescape(inner, |piece| out.extend_from_slice(piece)),
        other => out.extend_from_slice(other),
    }
}

/// Hands out the text of a checked string in pieces, so that a key is compared without a copy of it.
fn unescape(mut rest: &[u8], mut put: impl FnMut(&[u8])) {
    while let Some(at) = memchr(b'\\', rest) {
        put(&rest[..at]);
        let mut size = 2;
        match rest.get(at + 1) {
            Some(b'u') => {
                let first = unit(rest, at).unwrap_or(0);
                let code = match (first, unit(rest, at + 6)) {
                    // RFC 8259 section 7, with the arithmetic of RFC 2781 section 2.2.
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
