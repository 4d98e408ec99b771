//! `Name: value`, as a flag gives it.

use plimsoll_plan::request::check_header;

/// Takes a header line apart; white space around the value does not belong to it (RFC 9110 section 5.5).
///
/// # Errors
/// A sentence when there is no colon, or a character that would break the message.
pub fn parse(text: &str) -> Result<(String, String), String> {
    // The text is not repeated: a header without its colon is often a bare token.
    let (name, value) =
        text.split_once(':').ok_or("a header without a colon; expected `Name: value`".to_owned())?;
    // Line ends are no white space to trim here: they are refused.
    let value = value.trim_matches([' ', '\t']);
    check(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Refuses a header that would break the message, by its characters or by its meaning.
pub(crate) fn check(name: &str, value: &str) -> Result<(), String> {
    check_header(name, value)?;
    if name.eq_ignore_ascii_case("Transfer-Encoding") {
        return Err(format!(
            "the header `{name}` cannot be set: bodies are sent whole, with their length; leave it out"
        ));
    }
    Ok(())
}

/// Refuses a `Content-Length` that is not the body's: the server would wait for the rest, or take it for the next
/// request. Lines copied from a browser carry one, and their bodies get edited.
pub(crate) fn check_length(headers: &[(String, String)], body: Option<&[u8]>) -> Result<(), String> {
    let bytes = body.map_or(0, <[u8]>::len);
    match headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("Content-Length")) {
        Some((name, value)) if *value != bytes.to_string() => Err(format!(
            "`{name}: {value}` contradicts a body of {bytes} bytes; \
             leave the header out: it is added with the right number"
        )),
        _ => Ok(()),
    }
}
