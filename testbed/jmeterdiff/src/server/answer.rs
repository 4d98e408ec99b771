//! The answers of the server. The path selects the body: `/echo` is the body of the request, and the names of
//! [`documents`] are documents; all others are `ok`. The query changes the answer:
//!
//! | key | meaning |
//! |---|---|
//! | `status=404` | the status; with commas, one for each request of this path, the last one for all others |
//! | `body=TEXT` | the body; with `;` between, one for each request, as above |
//! | `type=TYPE` | the media type |
//! | `header=NAME:VALUE` | a header |
//! | `delay=MS` | a delay |
//! | `gzip=1`, `chunked=1` | the form of the body |
//! | `raw=close`, `raw=garbage`, `raw=part` | no valid response |
//! | `digest=1`, `basic=1` | a challenge, unless the request has credentials |

use super::{Seen, documents};
use std::io::Write;

/// A response as bytes.
pub struct Answer {
    pub bytes: Vec<u8>,
    pub delay_ms: u64,
    /// Whether the connection is closed afterwards.
    pub closes: bool,
}

/// Returns the answer to a request of a path that was requested `count` times before.
pub fn to(seen: &Seen, count: usize) -> Answer {
    match seen.value("raw").as_deref() {
        Some("close") => return raw(""),
        Some("garbage") => return raw("this is not HTTP\r\n\r\n"),
        Some("part") => return raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"),
        _ => {}
    }
    let nth = |key: &str, mark: char| {
        let text = seen.value(key)?;
        let all: Vec<&str> = text.split(mark).collect();
        all.get(count).or(all.last()).map(|part| (*part).to_owned())
    };
    let mut status: u16 = nth("status", ',').and_then(|text| text.parse().ok()).unwrap_or(200);
    let document = documents::named(seen.path());
    let (kind, body) = match nth("body", ';') {
        Some(body) => ("text/plain", body.into_bytes()),
        None if seen.path() == "/echo" => ("text/plain", seen.body.clone()),
        None => document.map_or(("text/plain", b"ok".to_vec()), |(kind, text)| (kind, text.into())),
    };
    let kind = seen.value("type").unwrap_or_else(|| kind.to_owned());
    let mut headers = String::new();
    for (_, header) in seen.query().iter().filter(|(key, _)| key == "header") {
        let (name, value) = header.split_once(':').unwrap_or((header, ""));
        headers += &format!("{name}: {value}\r\n");
    }
    for (key, challenge) in [("basic", "Basic realm=\"here\""), ("digest", DIGEST)] {
        if seen.value(key).is_some() && seen.header("authorization").is_none() {
            status = 401;
            headers += &format!("WWW-Authenticate: {challenge}\r\n");
        }
    }
    let mut body = body;
    if seen.value("gzip").is_some() {
        headers += "Content-Encoding: gzip\r\n";
        body = zipped(&body);
    }
    let has_body = !matches!(status, 100..=199 | 204 | 304);
    let mut bytes = format!("HTTP/1.1 {status} {}\r\n{headers}", reason(status)).into_bytes();
    if has_body && !kind.is_empty() {
        bytes.extend(format!("Content-Type: {kind}\r\n").into_bytes());
    }
    if has_body && seen.value("chunked").is_some() {
        bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
        for part in body.chunks(5) {
            bytes.extend(format!("{:x}\r\n", part.len()).into_bytes());
            bytes.extend(part);
            bytes.extend(b"\r\n");
        }
        bytes.extend(b"0\r\n\r\n");
    } else {
        if has_body {
            bytes.extend(format!("Content-Length: {}\r\n", body.len()).into_bytes());
        }
        bytes.extend(b"\r\n");
        if has_body && seen.method != "HEAD" {
            bytes.extend(body);
        }
    }
    let delay_ms = seen.value("delay").and_then(|text| text.parse().ok()).unwrap_or(0);
    Answer { bytes, delay_ms, closes: false }
}

const DIGEST: &str =
    "Digest realm=\"here\", nonce=\"abcdef0123456789\", qop=\"auth\", algorithm=MD5, opaque=\"fedcba\"";

fn raw(text: &str) -> Answer {
    Answer { bytes: text.as_bytes().to_vec(), delay_ms: 0, closes: true }
}

fn zipped(body: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory cannot fail.
    let _ = out.write_all(body);
    out.finish().unwrap_or_default()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        401 => "Unauthorized",
        404 => "Not Found",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        // A status line may have none.
        _ => "",
    }
}
