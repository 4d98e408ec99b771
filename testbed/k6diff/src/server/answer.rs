//! The answers of the server, by path. Equal requests get equal answers, except for `/count`.

use super::{Record, Seen};
use serde_json::{Map, Value, json};
use std::io::Write;

/// A response as bytes.
pub struct Answer {
    pub bytes: Vec<u8>,
    pub delay_ms: u64,
    /// Whether the connection is closed afterwards.
    pub closes: bool,
}

/// A response in parts.
struct Parts {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Parts {
    fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Parts {
        Parts { status, headers: vec![("Content-Type".into(), kind.into())], body: body.into() }
    }

    fn json(value: &Value) -> Parts {
        Parts::new(200, "application/json", value.to_string())
    }

    fn with(mut self, name: &str, value: impl Into<String>) -> Parts {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn bytes(&self, is_head: bool) -> Vec<u8> {
        let mut out = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status)).into_bytes();
        for (name, value) in &self.headers {
            out.extend(format!("{name}: {value}\r\n").into_bytes());
        }
        let has_body = !matches!(self.status, 100..=199 | 204 | 304);
        if has_body {
            out.extend(format!("Content-Length: {}\r\n", self.body.len()).into_bytes());
        }
        out.extend(b"\r\n");
        if has_body && !is_head {
            out.extend(&self.body);
        }
        out
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        302 => "Found",
        307 => "Temporary Redirect",
        401 => "Unauthorized",
        404 => "Not Found",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Other",
    }
}

/// Returns the answer to a request.
pub fn to(seen: &Seen, record: &Record) -> Answer {
    let words: Vec<&str> = seen.path().split('/').filter(|word| !word.is_empty()).collect();
    let number = || words.get(1).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    let raw = |text: &str| Answer { bytes: text.as_bytes().to_vec(), delay_ms: 0, closes: true };
    let mut delay_ms = 0;
    let parts = match words.first().copied().unwrap_or_default() {
        "status" => Parts::new(number() as u16, "text/plain", format!("status {}", number())),
        "json" => Parts::json(&document()),
        "html" => Parts::new(200, "text/html; charset=utf-8", HTML),
        "cookies" => cookies(seen, words.get(1).copied()),
        "redirect" => redirect(number()),
        "redirect-to" => redirect_to(seen),
        "basic" => basic(seen, &words),
        "digest" => digest(seen),
        "encoded" => encoded(words.get(1).copied().unwrap_or_default()),
        "bytes" => Parts::new(200, "application/octet-stream", pattern(number() as usize)),
        "delay" => {
            delay_ms = number();
            Parts::new(200, "text/plain", "late")
        }
        "headers" => {
            let all = seen.query().into_iter();
            all.fold(Parts::new(200, "text/plain", "headers"), |parts, (name, value)| {
                parts.with(&name, value)
            })
        }
        "count" => Parts::json(&json!({ "count": record.count(seen.path()) })),
        "close" => return raw(""),
        "partial" => return raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"),
        "garbage" => return raw("this is not HTTP\r\n\r\n"),
        "chunked" => return chunked(),
        "text" => Parts::new(200, "text/plain; charset=utf-8", "plain text: grüße, 世界"),
        _ => Parts::json(&echo(seen)),
    };
    Answer { bytes: parts.bytes(seen.method == "HEAD"), delay_ms, closes: false }
}

/// What the server has read, without headers that differ between clients.
fn echo(seen: &Seen) -> Value {
    let headers: Map<String, Value> =
        seen.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.as_str().into())).collect();
    let query: Map<String, Value> =
        seen.query().into_iter().map(|(name, value)| (name, value.into())).collect();
    json!({
        "method": seen.method,
        "path": seen.path(),
        "query": query,
        "headers": headers,
        "body": String::from_utf8_lossy(&seen.body),
    })
}

fn document() -> Value {
    json!({
        "id": 7,
        "name": "line",
        "is_open": true,
        "ratio": 0.25,
        "nothing": null,
        "tags": ["a", "b", "c"],
        "items": [
            { "id": 1, "name": "first", "price": 9.5 },
            { "id": 2, "name": "second", "price": 12 },
            { "id": 3, "name": "third", "price": 0.5, "parts": [{ "size": 10 }, { "size": 20 }] },
        ],
        "deep": { "a": { "b": { "c": "found" } }, "dotted.key": "dot" },
    })
}

const HTML: &str = r#"<!DOCTYPE html>
<html lang="en">
<head><title>A page</title><meta name="csrf" content="t0k3n"></head>
<body>
<h1 id="top" class="big bold">Heading</h1>
<p class="lead">First <b>bold</b> paragraph.</p>
<p>Second paragraph with <a href="/echo?from=link" data-index="4" data-info='{"a":1}'>a link</a>.</p>
<ul><li>one</li><li class="mid">two</li><li>three</li></ul>
<table><tr><td>r1c1</td><td>r1c2</td></tr><tr><td>r2c1</td><td>r2c2</td></tr></table>
<form id="login" action="/echo?form=1" method="post">
<input type="hidden" name="token" value="secret">
<input type="text" name="user" value="">
<input type="checkbox" name="keep" value="yes" checked>
<input type="checkbox" name="other" value="no">
<select name="color"><option value="r">Red</option><option value="g" selected>Green</option></select>
<textarea name="note">hello</textarea>
<input type="submit" name="send" value="Send">
</form>
<form id="search" action="/echo" method="get"><input type="text" name="q" value="default"></form>
</body>
</html>
"#;

/// `/cookies` shows them; `/cookies/set?name=value` sets each of the query; `/cookies/full` sets some with attributes.
fn cookies(seen: &Seen, action: Option<&str>) -> Parts {
    let sent = seen.header("cookie").unwrap_or_default();
    let pairs: Map<String, Value> = sent
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='))
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    let parts = Parts::json(&json!({ "cookies": pairs }));
    match action {
        Some("set") => seen
            .query()
            .into_iter()
            .fold(parts, |parts, (name, value)| parts.with("Set-Cookie", format!("{name}={value}; Path=/"))),
        Some("delete") => seen.query().into_iter().fold(parts, |parts, (name, _)| {
            parts.with("Set-Cookie", format!("{name}=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"))
        }),
        Some("full") => parts
            .with("Set-Cookie", "long=1; Path=/; Max-Age=3600; HttpOnly")
            .with("Set-Cookie", "scoped=2; Path=/cookies/inner; SameSite=Strict")
            .with("Set-Cookie", "safe=3; Path=/; Secure")
            .with("Set-Cookie", "quoted=\"four\"; Path=/"),
        _ => parts,
    }
}

/// As many redirects as the path says.
fn redirect(left: u64) -> Parts {
    match left {
        0 => Parts::new(200, "text/plain", "arrived"),
        _ => Parts::new(302, "text/plain", "on the way").with("Location", format!("/redirect/{}", left - 1)),
    }
}

fn redirect_to(seen: &Seen) -> Parts {
    let status = seen.value("status").and_then(|text| text.parse().ok()).unwrap_or(302);
    let parts = Parts::new(status, "text/plain", "on the way");
    let parts = match seen.value("cookie") {
        Some(cookie) => parts.with("Set-Cookie", format!("{cookie}; Path=/")),
        None => parts,
    };
    parts.with("Location", seen.value("url").unwrap_or_default())
}

fn basic(seen: &Seen, words: &[&str]) -> Parts {
    use base64::Engine as _;
    let pair = format!("{}:{}", words.get(1).unwrap_or(&""), words.get(2).unwrap_or(&""));
    let wanted = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair));
    match seen.header("authorization") == Some(wanted.as_str()) {
        true => Parts::json(&json!({ "authenticated": true })),
        false => {
            Parts::new(401, "text/plain", "who are you?").with("WWW-Authenticate", "Basic realm=\"here\"")
        }
    }
}

/// A challenge, then any answer to it: the comparison shows whether the answers have the same fields.
fn digest(seen: &Seen) -> Parts {
    match seen.header("authorization").is_some_and(|value| value.starts_with("Digest ")) {
        true => Parts::json(&json!({ "authenticated": true })),
        false => Parts::new(401, "text/plain", "who are you?").with(
            "WWW-Authenticate",
            "Digest realm=\"here\", nonce=\"abcdef0123456789\", qop=\"auth\", algorithm=MD5, opaque=\"fedcba\"",
        ),
    }
}

fn encoded(coding: &str) -> Parts {
    let text = b"compressed text, compressed text, compressed text";
    let bytes = match coding {
        "gzip" => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            out.write_all(text).and_then(|()| out.finish())
        }
        "deflate" => {
            let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            out.write_all(text).and_then(|()| out.finish())
        }
        "br" => {
            let mut out = Vec::new();
            let written = brotli::CompressorWriter::new(&mut out, 4096, 5, 20).write_all(text);
            written.map(|()| out)
        }
        "zstd" => zstd::encode_all(&text[..], 3),
        _ => Ok(b"not compressed".to_vec()),
    };
    match bytes {
        Ok(bytes) => Parts::new(200, "text/plain", bytes).with("Content-Encoding", coding),
        Err(e) => Parts::new(500, "text/plain", e.to_string()),
    }
}

/// Bytes that are not text.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 37 % 256) as u8).collect()
}

fn chunked() -> Answer {
    let text = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n\
                6\r\nfirst \r\n6\r\nsecond\r\n0\r\n\r\n";
    Answer { bytes: text.as_bytes().to_vec(), delay_ms: 0, closes: false }
}
