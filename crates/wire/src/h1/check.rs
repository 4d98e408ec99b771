//! Checks the parts of a request. A line end in a value would start a second header, and in a target a second request:
//! it is found here, before any load, and never sent.

use super::body::is_token;

/// Checks that `name: value` is one header line.
///
/// # Errors
/// Returns a message that says what was found and where. It never shows the value, which may be a secret.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("missing header name\nwrite the header as `Name: value`".to_owned());
    }
    if let Some((at, found)) = name.char_indices().find(|&(_, found)| !token(found)) {
        return Err(format!(
            "invalid header name `{}`: {} at byte {at}\nuse letters, digits, the backtick, and `!#$%&'*+-.^_|~`",
            name.escape_debug(),
            describe(found),
        ));
    }
    match value.char_indices().find(|&(_, found)| found.is_ascii_control() && found != '\t') {
        None => Ok(()),
        Some((at, found)) => Err(format!(
            "invalid value of header `{name}`: {} at byte {at}\na value must be one line without control characters",
            describe(found),
        )),
    }
}

/// Checks that `method` is a token.
///
/// # Errors
/// Returns a message that says what was found and where.
pub fn check_method(method: &str) -> Result<(), String> {
    if method.is_empty() {
        return Err("missing method\nuse a method such as `GET`".to_owned());
    }
    match method.char_indices().find(|&(_, found)| !token(found)) {
        None => Ok(()),
        Some((at, found)) => Err(format!(
            "invalid method `{}`: {} at byte {at}\nuse one word such as `GET`",
            method.escape_debug(),
            describe(found),
        )),
    }
}

/// Checks that `target` is valid in a request line: not empty, printable ASCII, no space, no fragment.
///
/// # Errors
/// Returns a message that says what was found and where.
pub fn check_target(target: &str) -> Result<(), String> {
    if target.is_empty() {
        return Err("missing request target\nthe root of a server is `/`".to_owned());
    }
    match target.char_indices().find(|&(_, found)| !found.is_ascii_graphic() || found == '#') {
        None => Ok(()),
        Some((at, found)) => Err(format!(
            "invalid request target `{}`: {} at byte {at}\nuse percent-encoding, for example `%20` for a space",
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
