//! Redaction of failure examples: the beginning of a response without secrets.

use plimsoll_plan::failure_example::EXCERPT_BYTES;
use plimsoll_plan::request::{REDACTED, redacted_header};
use plimsoll_plan::script::Script;

/// Number of bytes of a body to redact. Redaction comes before shortening, because part of a secret must not be shown.
const WINDOW_BYTES: usize = 16 * EXCERPT_BYTES;
/// Shortest secret value of a user: shorter values are ordinary words and numbers.
const VALUE_BYTES_MIN: usize = 4;
/// Shortest secret value of a fixed header, which is more often an ordinary word (`none`, `Bearer`).
const WRITTEN_BYTES_MIN: usize = 8;

/// Returns whether a name marks its value as a secret, by the list of the plan.
pub fn is_secret(name: &str) -> bool {
    redacted_header(name, "") == REDACTED
}

/// Returns the values that no output may show: those from the environment, and the values of secret headers in the
/// plan, both whole and by their words (`Bearer x`, `a=x; b=y`), because a service may send back either.
pub fn secrets_of(script: &Script) -> Vec<String> {
    let mut secrets: Vec<String> = script.secrets.iter().map(|secret| secret.reveal().to_owned()).collect();
    for (_, value) in script.asks.iter().flat_map(|ask| &ask.headers).filter(|(name, _)| is_secret(name)) {
        let Some(value) = value.fixed().and_then(|bytes| String::from_utf8(bytes).ok()) else { continue };
        let words = value.split([' ', ';', ',']).map(|word| match word.split_once('=') {
            // Base64 padding is not a value.
            Some((_, behind)) if !behind.trim_matches('=').is_empty() => behind,
            _ => word,
        });
        secrets.extend(words.filter(|word| word.len() >= WRITTEN_BYTES_MIN).map(str::to_owned));
        if value.len() >= WRITTEN_BYTES_MIN {
            secrets.push(value);
        }
    }
    secrets
}

/// Returns the values to remove, in all forms in which a service may send them back. Longer values come first, so that
/// removing a part of another value leaves no rest.
pub fn forms_of<'a>(secrets: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    for secret in secrets.filter(|secret| !secret.is_empty()) {
        let percent = secret.bytes().map(|b| match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(b).to_string(),
            other => format!("%{other:02X}"),
        });
        let percent: String = percent.collect();
        forms.push(percent.replace("%20", "+"));
        forms.push(percent);
        forms.push(secret.replace('\\', "\\\\").replace('"', "\\\""));
        forms.push(secret.to_owned());
    }
    forms.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    forms.dedup();
    forms
}

/// Returns the beginning of `bytes` as text without secrets: the `forms` of the plan, the `values` of the user, and
/// values of secret keys. It is at most [`EXCERPT_BYTES`] long.
pub fn excerpt<'a>(bytes: &[u8], forms: &[String], values: impl Iterator<Item = &'a [u8]>) -> String {
    let window = &bytes[..bytes.len().min(WINDOW_BYTES)];
    let mut text = String::from_utf8_lossy(window).into_owned();
    for form in forms {
        if text.contains(form.as_str()) {
            text = text.replace(form.as_str(), REDACTED);
        }
    }
    for value in values.filter(|value| value.len() >= VALUE_BYTES_MIN) {
        if let Ok(value) = std::str::from_utf8(value) {
            text = text.replace(value, REDACTED);
        }
    }
    let mut shown = keyed(&text);
    if window.len() < bytes.len() && shown.len() <= EXCERPT_BYTES {
        // Redaction removed so much that the end of the window is visible, which may be part of a secret.
        let end = shown.rfind(|sign: char| sign.is_whitespace() || "\"&;,<".contains(sign));
        shown.truncate(end.unwrap_or(0));
    }
    let mut end = shown.len().min(EXCERPT_BYTES);
    while !shown.is_char_boundary(end) {
        end -= 1;
    }
    shown.truncate(end);
    shown
}

/// Removes the values of secret keys, in JSON (`"key": value`, also with single quotes), in pairs (`key=value`), and in
/// lines (`Key: value`). The text may be incomplete or invalid.
fn keyed(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut shown, mut at) = (0, 0);
    while at < bytes.len() {
        let (key, value) = match bytes[at] {
            b'"' | b'\'' => {
                let end = string_end(bytes, at);
                let after = skip_space(bytes, end);
                if bytes.get(after) != Some(&b':') {
                    // Not a key. The text inside may contain pairs, so only the quote is skipped.
                    at += 1;
                    continue;
                }
                (&text[at + 1..end.saturating_sub(1).max(at + 1)], skip_space(bytes, after + 1))
            }
            b if is_word(b) => {
                let end = bytes[at..].iter().position(|b| !is_word(*b)).map_or(bytes.len(), |n| at + n);
                let is_line = matches!(bytes.get(end..end + 2), Some(b": " | b":\t"));
                if is_line && is_secret(&text[at..end]) {
                    // A header that was sent back, whose value may have several words.
                    out.push_str(&text[shown..end + 2]);
                    out.push_str(REDACTED);
                    shown = line_end(bytes, end + 2);
                    at = shown;
                    continue;
                }
                if bytes.get(end) != Some(&b'=') {
                    at = end;
                    continue;
                }
                (&text[at..end], end + 1)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        if is_secret(key) {
            out.push_str(&text[shown..value]);
            out.push_str(REDACTED);
            shown = value_end(bytes, value);
            at = shown;
        } else {
            at = value.max(at + 1);
        }
    }
    out.push_str(&text[shown.min(text.len())..]);
    out
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'%' | b'[' | b']')
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| !b.is_ascii_whitespace()).map_or(bytes.len(), |n| from + n)
}

/// Returns the end of the line, which a message may show as `\r`, or the end of the text.
fn line_end(bytes: &[u8], from: usize) -> usize {
    let end = bytes[from..].iter().position(|b| matches!(b, b'\r' | b'\n' | b'\\' | b'`'));
    end.map_or(bytes.len(), |n| from + n)
}

/// Returns the position after the closing quote of the string that begins at `from`, or the end of the text.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let quote = bytes[from];
    let mut at = from + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b if b == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the position after the value that begins at `from`: a quoted string, a JSON array or object, or a word.
fn value_end(bytes: &[u8], from: usize) -> usize {
    match bytes.get(from) {
        None => bytes.len(),
        Some(b'"' | b'\'') => string_end(bytes, from),
        Some(b'{' | b'[') => {
            let (mut depth, mut at) = (0usize, from);
            while at < bytes.len() {
                match bytes[at] {
                    b'"' => {
                        at = string_end(bytes, at);
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return at;
                }
            }
            bytes.len()
        }
        Some(_) => bytes[from..]
            .iter()
            .position(|b| {
                b.is_ascii_whitespace() || matches!(b, b'&' | b';' | b',' | b'}' | b']' | b'"' | b'<')
            })
            .map_or(bytes.len(), |n| from + n),
    }
}
