//! Parses `Name: value`, the value of a flag.

use plimsoll_plan::Problem;
use plimsoll_plan::phrase::counted;
use plimsoll_plan::request::check_header;

/// Splits a header line. White space around the value does not belong to it (RFC 9110 section 5.5).
///
/// # Errors
/// Returns an error if there is no colon, or if a character would break the message.
pub fn parse(text: &str) -> Result<(String, String), Problem> {
    // The text is not repeated: a header without a colon is often a bare token.
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| Problem::new("missing colon in a header", "write `Name: value`"))?;
    // Line ends are not trimmed, but rejected.
    let value = value.trim_matches([' ', '\t']);
    check(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Rejects a header whose characters or meaning would break the message.
///
/// # Errors
/// Returns what is wrong with it.
pub fn check(name: &str, value: &str) -> Result<(), Problem> {
    check_header(name, value)?;
    if name.eq_ignore_ascii_case("Transfer-Encoding") {
        return Err(Problem::new(
            format!("header `{name}` cannot be set: bodies are sent with their length"),
            "remove it",
        ));
    }
    Ok(())
}

/// Rejects a `Content-Length` that differs from the length of the body: the server would wait for the rest, or read
/// part of the body as the next request. Curl lines copied from a browser contain one, and users edit their bodies.
pub fn check_length(headers: &[(String, String)], body: Option<&[u8]>) -> Result<(), Problem> {
    let bytes = body.map_or(0, <[u8]>::len);
    match headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("Content-Length")) {
        Some((name, value)) => check_length_value(name, value, bytes),
        None => Ok(()),
    }
}

/// Checks a `Content-Length` header as [`check_length`] does, for a body of `bytes` bytes.
pub fn check_length_value(name: &str, value: &str, bytes: usize) -> Result<(), Problem> {
    match value == bytes.to_string() {
        true => Ok(()),
        false => Err(Problem::new(
            format!("`{name}: {value}` contradicts the body of {}", counted(bytes as u64, "byte")),
            "remove the header (plimsoll adds it with the right length)",
        )),
    }
}
