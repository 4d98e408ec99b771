//! Requests: URL, headers, and body, with secrets that are never printed.

use crate::Problem;
use crate::origin::OriginId;
use std::fmt;

/// The parts of `http://host:port`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// Host name or address, without brackets.
    pub host: String,
    pub port: u16,
    /// Whether the scheme is `https`.
    pub tls: bool,
}

impl Target {
    /// Returns the value of the `Host` header: IPv6 in brackets, and without the default port of the scheme.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == usual_port(self.tls) { host } else { format!("{host}:{}", self.port) }
    }
}

fn usual_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// The parts of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub target: Target,
    /// Path and query as sent in the request line, at least `/`.
    pub path: String,
    /// `user:password` before the host, if any, percent-decoded; becomes an `Authorization` header.
    pub credentials: Option<String>,
}

/// Parses a URL. Without a scheme, `http://` is assumed.
///
/// # Errors
/// Returns an error for an unknown scheme, a missing host, an invalid port, or invalid characters.
pub fn url(text: &str) -> Result<Url, Problem> {
    let text = text.trim();
    // Errors quote the URL without its password.
    let shown = redacted_url(text);
    // `h/go?to=http://x` has no scheme: the text before `://` must look like one.
    let is_scheme =
        |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let (tls, rest) = match text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
        None => (false, text),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("ws") || scheme.eq_ignore_ascii_case("wss") => {
            return Err(Problem::new(
                format!("WebSocket (`{scheme}` in `{shown}`) requires an experiment file"),
                "write the URL in a `connect` step, or as the `target` of a file",
            ));
        }
        Some((scheme, _)) => {
            return Err(Problem::new(
                format!("unsupported scheme `{scheme}` in `{shown}`"),
                "use `http://` or `https://`",
            ));
        }
    };
    let rest = rest.split('#').next().unwrap_or("");
    let split = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(split);
    let (credentials, host_port) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(percent_decode(user)), host),
        None => (None, authority),
    };
    let target = host_and_port(host_port, tls)
        .map_err(|problem| problem.within(format_args!("invalid URL `{shown}`: ")))?;
    let mut path = path.to_owned();
    if !path.starts_with('/') {
        path.insert(0, '/');
    }
    if let Some(bad) = path.chars().find(|c| c.is_ascii_control() || *c == ' ' || !c.is_ascii()) {
        return Err(Problem::new(
            format!("invalid character {bad:?} in `{shown}`"),
            "percent-encode it, such as `%20` for a space",
        ));
    }
    Ok(Url { target, path, credentials })
}

fn host_and_port(text: &str, tls: bool) -> Result<Target, Problem> {
    let (host, port) = if let Some(inner) = text.strip_prefix('[') {
        let (host, after) = inner
            .split_once(']')
            .ok_or_else(|| Problem::new("missing `]` after an IPv6 address", "write it as `[::1]`"))?;
        if host.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(Problem::new(format!("`{host}` is not an IPv6 address"), "write it as `[::1]`"));
        }
        match after {
            "" => (host, None),
            _ => (
                host,
                Some(after.strip_prefix(':').ok_or_else(|| {
                    Problem::new(
                        format!("unexpected `{after}` after the bracket"),
                        "write a port as `[::1]:8080`",
                    )
                })?),
            ),
        }
    } else {
        match text.split_once(':') {
            Some((host, port)) if port.contains(':') => {
                return Err(Problem::new(
                    "an IPv6 address requires brackets",
                    format!("write `[{host}:{port}]`"),
                ));
            }
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        }
    };
    if host.is_empty() {
        return Err(Problem::new("missing host", "write a URL such as `http://127.0.0.1:8080/path`"));
    }
    if let Some(bad) = host.chars().find(|c| !(c.is_ascii_alphanumeric() || "-._:%".contains(*c))) {
        return Err(Problem::new(
            format!("invalid character {bad:?} in the host name"),
            "write international names in their `xn--` form",
        ));
    }
    let port = match port {
        None => usual_port(tls),
        Some(p) => match p.parse::<u16>() {
            Ok(n) if n > 0 => n,
            _ => {
                let message = format!("invalid port `{p}`, expected 1–65535");
                return Err(Problem::new(message, "write a port such as `8080`"));
            }
        },
    };
    Ok(Target { host: host.to_owned(), port, tls })
}

fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|two| std::str::from_utf8(two).ok())
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        out.push(hex.unwrap_or(bytes[at]));
        at += if hex.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// One request, which is rendered once and sent many times.
#[derive(Clone)]
pub struct Request {
    /// The name of the series in all reports.
    pub name: String,
    /// The origin that it is sent to.
    pub origin: OriginId,
    pub method: String,
    /// Path and query as sent.
    pub path: String,
    /// Headers in their order. Values may be secret: show them only with [`redacted_header`].
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.iter().map(|(n, v)| (n, redacted_header(n, v))).collect();
        f.debug_struct("Request")
            .field("name", &self.name)
            .field("origin", &self.origin)
            .field("method", &self.method)
            .field("path", &redacted_path(&self.path))
            .field("headers", &headers)
            .field("body_bytes", &self.body.as_ref().map(Vec::len))
            .finish()
    }
}

/// The replacement for a secret in all output.
pub const REDACTED: &str = "***";

/// Returns the value of a header for output.
pub fn redacted_header<'a>(name: &str, value: &'a str) -> &'a str {
    if is_secret_key(name) { REDACTED } else { value }
}

/// Returns path and query for output: without the values of keys that look like secrets, including those of path
/// parameters (`/a;jsessionid=x`).
pub fn redacted_path(path: &str) -> String {
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path, None),
    };
    let joined =
        |text: &str, by: char| text.split(by).map(redacted_pairs).collect::<Vec<_>>().join(&by.to_string());
    match query {
        Some(query) => format!("{}?{}", joined(path, '/'), joined(query, '&')),
        None => joined(path, '/'),
    }
}

/// Redacts `key=value`, or several of them separated by `;`. Everything after the first secret is hidden, because the
/// `;` may be part of it.
fn redacted_pairs(text: &str) -> String {
    let mut begin = 0;
    for pair in text.split(';') {
        if let Some((key, _)) = pair.split_once('=')
            && is_secret_key(&percent_decode(key))
        {
            return format!("{}={REDACTED}", &text[..begin + key.len()]);
        }
        begin += pair.len() + 1;
    }
    text.to_owned()
}

/// Returns a URL, even an invalid one, for output: without credentials and without secrets in the query.
pub fn redacted_url(text: &str) -> String {
    // After the first of these characters, a `://` belongs to something else.
    let begin =
        text.find("://").filter(|at| !text[..*at].contains(['/', '?', '#', '@'])).map_or(0, |at| at + 3);
    let end = text[begin..].find(['/', '?', '#']).map_or(text.len(), |at| begin + at);
    let path = redacted_path(&text[end..]);
    match text[begin..end].rfind('@') {
        Some(at) => format!("{}{REDACTED}{}{path}", &text[..begin], &text[begin + at..end]),
        None => format!("{}{path}", &text[..end]),
    }
}

/// Returns whether a header or query parameter usually contains a secret: `token`, `accessKey`, `X-Amz-Credential`.
/// Part of a word is enough, because hiding a `keyword` costs less than showing a key.
fn is_secret_key(key: &str) -> bool {
    const PARTS: [&str; 12] =
        ["token", "secret", "key", "sig", "pass", "pwd", "cred", "auth", "sess", "sid", "jwt", "cookie"];
    let lower = key.to_ascii_lowercase();
    // `code`, which a sign-in returns, must match completely, because it is part of many harmless words (`barcode`).
    lower == "code" || PARTS.iter().any(|part| lower.contains(part))
}

/// Rejects a header that would break the message (RFC 9110 section 5).
///
/// # Errors
/// Returns an error that names the invalid character.
pub fn check_header(name: &str, value: &str) -> Result<(), Problem> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() {
        return Err(Problem::new("missing header name", "write `Name: value`"));
    }
    if let Some(bad) = name.chars().find(|c| !is_token(*c)) {
        let hint = "write only letters, digits, and `-` in header names";
        return Err(Problem::new(format!("invalid character {bad:?} in the header name `{name}`"), hint));
    }
    if let Some(bad) = value.chars().find(|c| c.is_ascii_control() && *c != '\t') {
        let message = format!("invalid character {bad:?} in the value of header `{name}`");
        return Err(Problem::new(message, "remove the character"));
    }
    Ok(())
}
