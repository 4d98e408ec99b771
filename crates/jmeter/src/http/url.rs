//! URLs as Java's `URI` accepts them.

use super::Failure;
use plimsoll_plan::reference::{self, QueryAlone};
use plimsoll_plan::request::{Target, url};

/// Splits a URL into its origin, and path with query. What is not ASCII is percent-encoded.
///
/// # Errors
/// Returns Java's failure for a character that a URI must not have.
pub fn parsed(text: &str) -> Result<(Target, String), Failure> {
    let illegal = |c: char| c.is_ascii() && (c.is_ascii_control() || " \"<>\\^`{|}".contains(c));
    let begin = text.find("://").map_or(0, |at| at + 3);
    let slash = text[begin..].find(['/', '?']).map_or(text.len(), |at| begin + at);
    if let Some((at, _)) = text.char_indices().find(|(_, c)| illegal(*c)) {
        let part = match text[slash.min(at)..at].contains('?') {
            true => "query",
            false if at < slash => "authority",
            false => "path",
        };
        let message = format!("Illegal character in {part} at index {at}: {text}");
        return Err(Failure::new("java.net.URISyntaxException", message));
    }
    if let Some(at) = text.match_indices('%').map(|(at, _)| at).find(|at| {
        let pair = text.as_bytes().get(at + 1..at + 3);
        !pair.is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit))
    }) {
        let message = format!("Malformed escape pair at index {at}: {text}");
        return Err(Failure::new("java.net.URISyntaxException", message));
    }
    let ascii = match text.is_ascii() {
        true => text.to_owned(),
        false => encoded(text),
    };
    let parsed = url(&ascii)
        .map_err(|problem| Failure::new("java.net.MalformedURLException", problem.message.to_string()))?;
    Ok((parsed.target, parsed.path))
}

/// Returns a URL in which characters that a URI must not have are percent-encoded.
pub fn encoded_illegal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            _ if sign.is_ascii_control() || " \"<>\\^`{|}".contains(sign) => {
                out.push_str(&format!("%{:02X}", u32::from(sign)));
            }
            other => out.push(other),
        }
    }
    out
}

/// Whether a byte is sent as it is written: a fragment, everything outside of ASCII, and escapes need a closer look.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        plain[byte as usize] =
            !matches!(byte, b'%' | b'"' | b'#' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}');
        byte += 1;
    }
    plain
};

/// Returns whether a path with its query is sent as it is written, and cannot fail.
pub fn is_plain(path: &str) -> bool {
    let bytes = path.as_bytes();
    let is_escape = |at: usize| {
        let pair = bytes.get(at + 1..at + 3);
        bytes[at] == b'%' && pair.is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit))
    };
    let is_plain = |(at, byte): (usize, &u8)| PLAIN[*byte as usize] || is_escape(at);
    path.starts_with('/') && bytes.iter().enumerate().all(is_plain)
}

fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        match byte.is_ascii() {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Returns the URL of a reference, such as a `Location`, as `java.net.URL` does.
pub fn join(base: &str, reference: &str) -> String {
    reference::join(base, reference, QueryAlone::ReplacesLastPart)
}
