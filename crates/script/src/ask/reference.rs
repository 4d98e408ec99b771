//! Resolves a `Location` relative to its request (RFC 3986 section 5.2).

use plimsoll_plan::origin::OriginId;

/// The destination of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// An origin of the plan; path and query were appended.
    At(OriginId),
    /// Another host, port, or scheme.
    Elsewhere,
    /// Not a reference, because it contains control bytes.
    Nowhere,
}

/// Appends path and query of `reference` for a request line, without the fragment. `base` is the target of the request
/// to the origin `from`, and `find` looks up an origin by its authority and whether it uses TLS. Bytes that a request
/// line must not contain (spaces, non-ASCII) are percent-encoded, as user agents do.
pub(super) fn resolve(
    base: &[u8],
    reference: &[u8],
    (from, mut tls): (OriginId, bool),
    find: impl Fn(&[u8], bool) -> Option<OriginId>,
    out: &mut Vec<u8>,
) -> Place {
    if reference.iter().any(u8::is_ascii_control) {
        return Place::Nowhere;
    }
    let mut to = from;
    let (mut rest, _) = split_at_any(reference, b"#");
    if let Some((scheme, behind)) = scheme(rest) {
        // `http:x` without `//` is a relative reference for old parsers and an error for others: it is not followed.
        let is_tls = scheme.eq_ignore_ascii_case(b"https");
        if !(is_tls || scheme.eq_ignore_ascii_case(b"http")) || !behind.starts_with(b"//") {
            return Place::Elsewhere;
        }
        tls = is_tls;
        rest = behind;
    }
    // `*` and whole URLs have no directory, so references are relative to the root.
    let base = if base.starts_with(b"/") { base } else { b"/" };
    let (base_path, base_query) = split_at_any(base, b"?");
    if let Some(behind) = rest.strip_prefix(b"//") {
        let (authority, behind) = split_at_any(behind, b"/?");
        let Some(origin) = find(authority, tls) else { return Place::Elsewhere };
        to = origin;
        rest = behind;
        if !rest.starts_with(b"/") {
            out.push(b'/');
            encoded(rest, out);
            return Place::At(to);
        }
    }
    let (path, query) = split_at_any(rest, b"?");
    if let Some(absolute) = path.strip_prefix(b"/") {
        join(&[], absolute, out);
    } else if path.is_empty() {
        out.extend_from_slice(base_path);
    } else {
        // The directory of the base, without slashes at both ends; empty for the root.
        let last = base_path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        join(base_path.get(1..last).unwrap_or_default(), path, out);
    }
    encoded(if rest.is_empty() { base_query } else { query }, out);
    Place::At(to)
}

/// Appends `/directory/path` without dot segments (RFC 3986 section 5.2.4).
fn join(directory: &[u8], path: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    let before = (!directory.is_empty()).then(|| directory.split(|byte| *byte == b'/'));
    let mut segments = before.into_iter().flatten().chain(path.split(|byte| *byte == b'/')).peekable();
    while let Some(segment) = segments.next() {
        if segment == b".." {
            let slash = out[begin..].iter().rposition(|byte| *byte == b'/');
            out.truncate(begin + slash.unwrap_or(0));
        }
        let dots = segment == b"." || segment == b"..";
        // A path that ends with a dot segment ends with a directory.
        if !dots || segments.peek().is_none() {
            out.push(b'/');
        }
        if !dots {
            encoded(segment, out);
        }
    }
}

fn encoded(bytes: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        if byte.is_ascii_graphic() {
            out.push(*byte);
        } else {
            out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
}

/// Splits the scheme from the rest after the colon (RFC 3986 section 3.1).
fn scheme(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (scheme, behind) = split_at_any(text, b":/?");
    let behind = behind.strip_prefix(b":")?;
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
    is_scheme.then_some((scheme, behind))
}

/// Returns whether two authorities have the same host and port, ignoring credentials.
pub(super) fn same_place(authority: &[u8], host: &[u8], tls: bool) -> bool {
    let behind_user = authority.iter().rposition(|byte| *byte == b'@').map_or(0, |at| at + 1);
    let (name, port) = host_and_port(&authority[behind_user..]);
    let (own_name, own_port) = host_and_port(host);
    let number = |port: &[u8]| match port {
        b"" => Some(if tls { 443 } else { 80 }),
        // `parse` alone would accept `+80`.
        _ if !port.iter().all(u8::is_ascii_digit) => None,
        _ => str::from_utf8(port).ok()?.parse::<u16>().ok(),
    };
    let (port, own_port) = (number(port), number(own_port));
    name.eq_ignore_ascii_case(own_name) && port.is_some() && port == own_port
}

/// Splits host (IPv6 in brackets) and port, which may be empty.
pub(super) fn host_and_port(authority: &[u8]) -> (&[u8], &[u8]) {
    let bracket = authority.iter().position(|byte| *byte == b']').map_or(0, |at| at + 1);
    match authority[bracket..].iter().position(|byte| *byte == b':') {
        Some(colon) => (&authority[..bracket + colon], &authority[bracket + colon + 1..]),
        None => (authority, b""),
    }
}

/// Splits a text before the first of `signs`.
fn split_at_any<'a>(text: &'a [u8], signs: &[u8]) -> (&'a [u8], &'a [u8]) {
    text.split_at(text.iter().position(|byte| signs.contains(byte)).unwrap_or(text.len()))
}
