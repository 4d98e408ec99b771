//! What may be put into a request. A line end in a value would be a second header, in a target a second
//! request: found here, before any load, and never on the wire.

use super::body::is_token;

/// Whether `name: value` is one header line.
///
/// # Errors
/// A sentence that says what was found and where. It never shows the value, which may be a secret.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("a header has no name\nwrite it as `Name: value`".to_owned());
    }
    if let Some((at, found)) = name.char_indices().find(|&(_, found)| !token(found)) {
        return Err(format!(
            "header name `{}` has {} at byte {at}\nnames are letters, digits, the backtick and `!#$%&'*+-.^_|~`",
            name.escape_debug(),
            describe(found),
        ));
    }
    match value.char_indices().find(|&(_, found)| found.is_ascii_control() && found != '\t') {
        None => Ok(()),
        Some((at, found)) => Err(format!(
            "the value of header `{name}` has {} at byte {at}\na value is one line without control characters",
            describe(found),
        )),
    }
}

/// Whether `method` is a token.
///
/// # Errors
/// A sentence that says what was found and where.
pub fn check_method(method: &str) -> Result<(), String> {
    if method.is_empty() {
        return Err("the method is empty\nwrite one such as `GET`".to_owned());
    }
    match method.char_indices().find(|&(_, found)| !token(found)) {
        None => Ok(()),
        Some((at, found)) => Err(format!(
            "method `{}` has {} at byte {at}\nwrite one word such as `GET`",
            method.escape_debug(),
            describe(found),
        )),
    }
}

/// Whether `target` can stand in a request line: not empty, printable ASCII, no space, no fragment.
///
/// # Errors
/// A sentence that says what was found and where.
pub fn check_target(target: &str) -> Result<(), String> {
    if target.is_empty() {
        return Err("the request target is empty\nthe root of a server is `/`".to_owned());
    }
    match target.char_indices().find(|&(_, found)| !found.is_ascii_graphic() || found == '#') {
        None => Ok(()),
        Some((at, found)) => Err(format!(
            "request target `{}` has {} at byte {at}\nwrite it percent-encoded, a space as `%20`",
            target.escape_debug(),
            describe(found),
        )),
    }
}

fn token(found: char) -> bool {
    u8::try_from(found).is_ok_and(is_token)
}

fn describe(found: char) -> String {
    match found {
        '\r' => "a carriage return (CR)".to_owned(),
        '\n' => "a line feed (LF)".to_owned(),
        '\0' => "a zero byte (NUL)".to_owned(),
        ' ' => "a space".to_owned(),
        '\t' => "a tab".to_owned(),
        found if found.is_control() => format!("a control character (U+{:04X})", u32::from(found)),
        found => format!("`{found}`"),
    }
}
