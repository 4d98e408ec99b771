//! References relative to a URL, such as those of a `Location`.

/// How a reference that is only a query is joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryAlone {
    /// It replaces the query (RFC 3986 section 5.2.2).
    KeepsPath,
    /// It also replaces the last part of the path, as in `java.net.URL`.
    ReplacesLastPart,
}

/// Returns the URL of a reference (RFC 3986 section 5.2), without its fragment.
pub fn join(base: &str, reference: &str, query_alone: QueryAlone) -> String {
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
    let split = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(split);
    let target = target.split('#').next().unwrap_or_default();
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let path = if path.is_empty() { "/" } else { path };
    let new = match reference {
        "" => format!("{path}{query}"),
        _ if reference.starts_with('/') => without_dots(reference),
        _ if reference.starts_with('?') && query_alone == QueryAlone::KeepsPath => {
            format!("{path}{reference}")
        }
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
