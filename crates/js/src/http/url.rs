//! URLs of requests: parts, and references relative to them.

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

/// Returns the URL of a reference, such as a `Location` (RFC 3986 section 5.2).
pub fn join(base: &str, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or("");
    let Some((scheme, rest)) = base.split_once("://") else { return reference.to_owned() };
    let is_scheme =
        |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if reference.split_once(':').is_some_and(|(name, rest)| is_scheme(name) && rest.starts_with("//")) {
        return reference.to_owned();
    }
    if reference.starts_with("//") {
        return format!("{scheme}:{reference}");
    }
    let split = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(split);
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let path = if path.is_empty() { "/" } else { path };
    let new = match reference {
        "" => query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")),
        _ if reference.starts_with('/') => without_dots(reference),
        _ if reference.starts_with('?') => format!("{path}{reference}"),
        _ => without_dots(&format!("{}{reference}", &path[..path.rfind('/').map_or(0, |at| at + 1)])),
    };
    format!("{scheme}://{authority}{new}")
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

/// Returns scheme and authority.
pub fn origin(target: &Target) -> String {
    format!("{}://{}", if target.tls { "https" } else { "http" }, target.authority())
}
