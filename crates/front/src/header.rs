//! `Name: value`, as a flag gives it.

use plimsoll_plan::Problem;
use plimsoll_plan::request::check_header;

/// Takes a header line apart; white space around the value does not belong to it (RFC 9110 section 5.5).
///
/// # Errors
/// A sentence when there is no colon, or a character that would break the message.
pub fn parse(text: &str) -> Result<(String, String), Problem> {
    // The text is not repeated: a header without its colon is often a bare token.
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| Problem::new("a header without a colon", "expected `Name: value`"))?;
    // Line ends are no white space to trim here: they are refused.
    let value = value.trim_matches([' ', '\t']);
    check(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Refuses a header that would break the message, by its characters or by its meaning.
pub(crate) fn check(name: &str, value: &str) -> Result<(), Problem> {
    check_header(name, value)?;
    if name.eq_ignore_ascii_case("Transfer-Encoding") {
        return Err(Problem::new(
            format!("the header `{name}` cannot be set: bodies are sent whole, with their length"),
            "leave it out",
        ));
    }
    Ok(())
}

/// Refuses a `Content-Length` that is not the body's: the server would wait for the rest, or take it for the next
/// request. Lines copied from a browser carry one, and their bodies get edited.
pub(crate) fn check_length(headers: &[(String, String)], body: Option<&[u8]>) -> Result<(), Problem> {
    let bytes = body.map_or(0, <[u8]>::len);
    match headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("Content-Length")) {
        Some((name, value)) => check_length_value(name, value, bytes),
        None => Ok(()),
    }
}

/// As [`check_length`], for the header alone and a body of so many bytes.
pub(crate) fn check_length_value(name: &str, value: &str, bytes: usize) -> Result<(), Problem> {
    match value == bytes.to_string() {
        true => Ok(()),
        false => Err(Problem::new(
            format!("`{name}: {value}` contradicts a body of {bytes} bytes"),
            "leave the header out: it is added with the right number",
        )),
    }
}
