//! URLs as Java's `URI` accepts them.

use super::Failure;
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

/// Returns the URL of a reference, such as a `Location`, as `java.net.URL` does: a reference that is only a query
/// replaces the last part of the path as well.
pub fn join(base: &str, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or_default();
    let Some((scheme, rest)) = base.split_once("://") else { return reference.to_owned() };
    let is_scheme = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    if reference.split_once("://").is_some_and(|(name, _)| is_scheme(name)) {
        return reference.to_owned();
    }
    if reference.starts_with("//") {
        return format!("{scheme}:{reference}");
    }
    let split = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(split);
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let path = if path.is_empty() { "/" } else { path };
    let joined = match reference {
        "" => target.to_owned(),
        _ if reference.starts_with('/') => without_dots(reference),
        _ => without_dots(&format!("{}{reference}", &path[..path.rfind('/').map_or(0, |at| at + 1)])),
    };
    format!("{scheme}://{authority}{joined}")
}

/// Removes `.` and `..` from a path, as far as its query (section 5.2.4).
fn without_dots(target: &str) -> String {
    let (path, query) = match target.find('?') {
        Some(at) => target.split_at(at),
        None => (target, ""),
    };
    let mut parts: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    parts.pop();
                }
                if is_last {
                    parts.push("");
                }
            }
            _ => parts.push(segment),
        }
    }
    format!("/{}{query}", parts.join("/"))
}
