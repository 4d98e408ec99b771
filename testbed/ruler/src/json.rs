//! The parts of JSON and base64 that responses need.

use std::fmt::Write;

/// Returns a JSON string with its quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter < ' ' => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns `"name":"text"` if the bytes are UTF-8, otherwise `"name_base64":"..."`, so no byte is lost.
pub(crate) fn bytes_member(name: &str, bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("\"{name}\":{}", quoted(text)),
        Err(_) => format!("\"{name}_base64\":\"{}\"", base64(bytes)),
    }
}

/// Returns the value of one header: as UTF-8, or each byte as one character (Latin-1).
pub(crate) fn header_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Encodes by RFC 4648, with the standard alphabet and padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |word, at| word << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for place in 0..4 {
            // A group of n bytes has n + 1 letters; the rest is padding.
            match place <= three.len() {
                true => text.push(char::from(LETTERS[(word >> (18 - 6 * place) & 63) as usize])),
                false => text.push('='),
            }
        }
    }
    text
}
