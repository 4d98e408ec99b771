//! Escapes literal text for its context. The load escapes the values that it fills in, in the same way.

use plimsoll_plan::value::Escape;
use std::fmt::Write;

/// Escapes `text` as `how` says.
pub fn escaped(text: &str, how: Escape) -> String {
    match how {
        Escape::None => text.to_owned(),
        Escape::Json => json(text),
        Escape::Percent => component(text, "%20"),
        Escape::Form => component(text, "+"),
    }
}

/// Percent-encodes everything except unreserved characters (RFC 3986 section 2.3).
fn component(text: &str, space: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            b' ' => out.push_str(space),
            _ => percent(byte, &mut out),
        }
    }
    out
}

/// Percent-encodes the characters of a path that a request line must not contain. Characters with a meaning in paths
/// stay.
pub fn path(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == ' ' || !c.is_ascii() {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| percent(byte, &mut out));
        } else {
            out.push(c);
        }
    }
    out
}

fn percent(byte: u8, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "%{byte:02X}");
}

/// Escapes `text` for the inside of a JSON string (RFC 8259 section 7).
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}
