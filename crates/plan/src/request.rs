//! What is sent, and where: URL, headers, body; with secrets that never print.

use crate::Problem;
use crate::origin::OriginId;
use std::fmt;

/// `http://host:port`, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Host name or address, without brackets.
    pub host: String,
    pub port: u16,
    /// `https`.
    pub tls: bool,
}

impl Target {
    /// The value of the `Host` header: the port only when it is not the scheme's own, IPv6 in brackets.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == usual_port(self.tls) { host } else { format!("{host}:{}", self.port) }
    }
}

fn usual_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// A URL taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub target: Target,
    /// Path and query as sent in the request line, at least `/`.
    pub path: String,
    /// `user:password` in front of the host, if any, percent-decoded; becomes an `Authorization` header.
    pub credentials: Option<String>,
}

/// Takes a URL apart. A missing scheme is read as `http://`.
///
/// # Errors
/// A sentence with the mend: unknown scheme, missing host, bad port, characters that no URL may hold.
pub fn url(text: &str) -> Result<Url, Problem> {
    let text = text.trim();
    // What is wrong is quoted, a password in it is not.
    let shown = redacted_url(text);
    // `h/go?to=http://x` has no scheme of its own: what stands in front of `://` must look like one.
    let is_scheme =
        |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let (tls, rest) = match text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
        None => (false, text),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("ws") || scheme.eq_ignore_ascii_case("wss") => {
            return Err(Problem::new(
                format!("WebSocket (`{scheme}` in `{shown}`) is not supported yet"),
                "use `http://` or `https://`",
            ));
        }
        Some((scheme, _)) => {
            return Err(Problem::new(
                format!("`{scheme}` in `{shown}` is no scheme that can be loaded"),
                "expected `http://` or `https://`",
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
    let target =
        host_and_port(host_port, tls).map_err(|problem| problem.within(format_args!("`{shown}`: ")))?;
    let mut path = path.to_owned();
    if !path.starts_with('/') {
        path.insert(0, '/');
    }
    if let Some(bad) = path.chars().find(|c| c.is_ascii_control() || *c == ' ' || !c.is_ascii()) {
        return Err(Problem::new(
            format!("`{shown}` holds {bad:?}, which no request line may"),
            "write it percent-encoded, such as `%20` for a space",
        ));
    }
    Ok(Url { target, path, credentials })
}

fn host_and_port(text: &str, tls: bool) -> Result<Target, Problem> {
    let (host, port) = if let Some(inner) = text.strip_prefix('[') {
        let (host, after) = inner
            .split_once(']')
            .ok_or_else(|| Problem::plain("the bracket of an IPv6 address is not closed"))?;
        if host.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(Problem::plain(format!("`{host}` is no IPv6 address")));
        }
        match after {
            "" => (host, None),
            _ => (
                host,
                Some(
                    after
                        .strip_prefix(':')
                        .ok_or_else(|| Problem::plain(format!("`{after}` behind the bracket is no port")))?,
                ),
            ),
        }
    } else {
        match text.split_once(':') {
            Some((host, port)) if port.contains(':') => {
                return Err(Problem::plain(format!("an IPv6 address stands in brackets: `[{host}:{port}]`")));
            }
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        }
    };
    if host.is_empty() {
        return Err(Problem::new("there is no host", "expected something like `http://127.0.0.1:8080/path`"));
    }
    if let Some(bad) = host.chars().find(|c| !(c.is_ascii_alphanumeric() || "-._:%".contains(*c))) {
        return Err(Problem::new(
            format!("{bad:?} cannot stand in a host name"),
            "write international names in their `xn--` form",
        ));
    }
    let port = match port {
        None => usual_port(tls),
        Some(p) => match p.parse::<u16>() {
            Ok(n) if n > 0 => n,
            _ => return Err(Problem::new(format!("`{p}` is no port"), "expected 1 to 65535")),
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

/// One request, ready to be rendered once and sent many times.
#[derive(Clone)]
pub struct Request {
    /// What the series is called in every report.
    pub name: String,
    /// Where it goes.
    pub origin: OriginId,
    pub method: String,
    /// Path and query as sent.
    pub path: String,
    /// In the order given. Values may be secret: never print them, use [`redacted_header`].
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

/// What stands in an artefact instead of a secret.
pub const REDACTED: &str = "***";

/// A header's value as any artefact may show it.
pub fn redacted_header<'a>(name: &str, value: &'a str) -> &'a str {
    if is_secret_key(name) { REDACTED } else { value }
}

/// Path and query as any artefact may show them: values of keys that look like secrets are cut out, also those of a
/// path's own parameters (`/a;jsessionid=x`).
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

/// `key=value`, or several with `;` between. Behind the first secret nothing is shown: the `;` may be a part of it.
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

/// A URL, or what was meant as one, as any artefact may show it: without its credentials and the secrets of its query.
pub fn redacted_url(text: &str) -> String {
    // Behind the first of these a `://` belongs to something else.
    let begin =
        text.find("://").filter(|at| !text[..*at].contains(['/', '?', '#', '@'])).map_or(0, |at| at + 3);
    let end = text[begin..].find(['/', '?', '#']).map_or(text.len(), |at| begin + at);
    let path = redacted_path(&text[end..]);
    match text[begin..end].rfind('@') {
        Some(at) => format!("{}{REDACTED}{}{path}", &text[..begin], &text[begin + at..end]),
        None => format!("{}{path}", &text[..end]),
    }
}

/// Keys of headers and query parameters that name secrets by custom: `token`, `accessKey`, `X-Amz-Credential`. A part
/// of a word is enough: a `keyword` that is hidden costs less than a key that is shown.
fn is_secret_key(key: &str) -> bool {
    const PARTS: [&str; 12] =
        ["token", "secret", "key", "sig", "pass", "pwd", "cred", "auth", "sess", "sid", "jwt", "cookie"];
    let lower = key.to_ascii_lowercase();
    // The one word by custom that is a part of too many harmless ones (`barcode`): what a sign-in hands back.
    lower == "code" || PARTS.iter().any(|part| lower.contains(part))
}

/// Refuses a header that would break the message (RFC 9110 section 5).
///
/// # Errors
/// A sentence saying which character may not stand where.
pub fn check_header(name: &str, value: &str) -> Result<(), Problem> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() {
        return Err(Problem::plain("a header needs a name in front of the colon"));
    }
    if let Some(bad) = name.chars().find(|c| !is_token(*c)) {
        return Err(Problem::plain(format!("{bad:?} cannot stand in the header name `{name}`")));
    }
    if let Some(bad) = value.chars().find(|c| c.is_ascii_control() && *c != '\t') {
        return Err(Problem::plain(format!("{bad:?} cannot stand in the value of the header `{name}`")));
    }
    Ok(())
}
