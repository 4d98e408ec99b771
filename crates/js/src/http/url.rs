//! URLs of requests: parts, and references relative to them.

use plimsoll_plan::reference::{self, QueryAlone};
use plimsoll_plan::request::{Target, Url, url};

/// Parses an absolute URL. Characters that a request line must not contain are percent-encoded, as user agents do.
///
/// # Errors
/// Returns a message.
pub fn parse(text: &str) -> Result<Url, String> {
    let text = text.trim();
    if !text.contains("://") {
        return Err(format!("invalid URL `{text}`: missing scheme (`http://` or `https://`)"));
    }
    let is_clean = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>`{|}^".contains(&byte));
    let parsed = if is_clean { url(text) } else { url(&encoded(text)) };
    parsed.map_err(|problem| problem.message.to_string())
}

fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>`{|}^".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Returns the URL of a reference, such as a `Location`.
pub fn join(base: &str, reference: &str) -> String {
    reference::join(base, reference, QueryAlone::KeepsPath)
}

/// Returns scheme and authority.
pub fn origin(target: &Target) -> String {
    format!("{}://{}", if target.tls { "https" } else { "http" }, target.authority())
}
