//! The record of a case, without what differs from run to run, and the differences of two of them.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    method: String,
    target: String,
    version: String,
    /// In the order of their names; those of one name in the order in which they were sent.
    headers: Vec<(String, String)>,
    body: String,
    /// The client's address without its port.
    peer: String,
}

/// The record of a case by one tool.
#[derive(Debug, Clone, Default)]
pub struct Record {
    pub requests: Vec<Arrived>,
    /// The statuses of all final responses, in ascending order.
    pub statuses: Vec<u16>,
    /// Whether the last response had the expected body.
    pub has_body: Option<bool>,
}

/// The header that tags requests.
pub const TAG: &str = "X-Case";

impl Arrived {
    /// From a row of `/_test-server/requests`.
    pub fn of(row: &Value) -> Self {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let pair = |at: &Value, i: usize| at[i].as_str().unwrap_or_default().to_owned();
        let all = row["headers"].as_array().expect("a list of headers").iter();
        let all = all.map(|header| (pair(header, 0).to_lowercase(), pair(header, 1)));
        let mut headers: Vec<(String, String)> =
            all.filter(|(name, _)| !name.eq_ignore_ascii_case(TAG)).collect();
        headers.sort_by(|a, b| a.0.cmp(&b.0));
        let (method, target) = (text("method"), escapes(&text("target")));
        let mut body = match row["body"].as_str() {
            Some(body) => body.to_owned(),
            None => bytes(&text("body_base64")),
        };
        for (name, value) in &mut headers {
            if name == "content-type"
                && let Some((kind, boundary)) = value.split_once("; boundary=")
            {
                body = body.replace(boundary, "BOUNDARY");
                *value = format!("{kind}; boundary=BOUNDARY");
            }
            if name == "authorization" && value.starts_with("Digest ") {
                *value = digest(&method, value);
            }
        }
        // The lengths of boundaries differ.
        if body.contains("BOUNDARY") {
            headers.retain(|(name, _)| name != "content-length");
        }
        let peer = text("peer");
        let peer = peer.rsplit_once(':').map_or(peer.clone(), |(address, _)| address.to_owned());
        Self { method, target, version: text("http_version"), headers, body, peer }
    }

    fn values(&self, name: &str) -> String {
        let same: Vec<&str> =
            self.headers.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str()).collect();
        if same.is_empty() { "none".to_owned() } else { format!("`{}`", same.join("`, `")) }
    }
}

/// Escapes with digits in one case, in which they mean the same (RFC 3986 section 6.2.2.1).
fn escapes(target: &str) -> String {
    let mut parts = target.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let end = part.char_indices().nth(2).map_or(part.len(), |(at, _)| at);
        format!("{all}%{}{}", part[..end].to_uppercase(), &part[end..])
    })
}

/// The bytes of base64 as the characters of Latin-1, in which a boundary is a text.
fn bytes(base64: &str) -> String {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> =
        base64.chars().filter_map(|digit| DIGITS.find(digit).map(|value| value as u32)).collect();
    let three = |four: &[u32]| {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        (0..four.len() - 1).map(move |at| char::from((bits >> (16 - 8 * at)) as u8))
    };
    digits.chunks(4).flat_map(|four| three(four).collect::<Vec<_>>()).collect()
}

/// The parameters of a digest in the order of their names, with the verdict on its hash instead of what is random.
/// The hash is computed by another program.
fn digest(method: &str, value: &str) -> String {
    let mut all: Vec<(String, String)> = Vec::new();
    for part in value.trim_start_matches("Digest ").split(", ").flat_map(|part| part.split(",")) {
        if let Some((name, value)) = part.split_once('=') {
            all.push((name.trim().to_lowercase(), value.trim_matches('"').to_owned()));
        }
    }
    let get = |name: &str| all.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value);
    let program = if get("algorithm").starts_with("SHA-256") { "sha256sum" } else { "md5sum" };
    let password = if get("algorithm") == "SHA-256" { "p:ss" } else { "pass" };
    let mut secret = hash(program, &format!("{}:{}:{password}", get("username"), get("realm")));
    if get("algorithm").ends_with("-sess") {
        secret = hash(program, &format!("{secret}:{}:{}", get("nonce"), get("cnonce")));
    }
    let action = hash(program, &format!("{method}:{}", get("uri")));
    let middle = match get("qop") {
        "" => get("nonce").to_owned(),
        qop => format!("{}:{}:{}:{qop}", get("nonce"), get("nc"), get("cnonce")),
    };
    let is_valid = hash(program, &format!("{secret}:{middle}:{action}")) == get("response");
    all.retain(|(name, _)| name != "cnonce" && name != "response");
    all.sort();
    let all: Vec<String> = all.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("Digest {}, {}", all.join(", "), if is_valid { "valid" } else { "invalid" })
}

fn hash(program: &str, text: &str) -> String {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the GNU core utilities are installed");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
    let said = child.wait_with_output().expect("it ends").stdout;
    String::from_utf8(said).expect("digits").split(' ').next().expect("a hash").to_owned()
}

/// A difference: its aspect, such as `target` or `header accept`, and the two values.
#[derive(Debug, Clone)]
pub struct Difference {
    pub aspect: String,
    pub curl: String,
    pub plimsoll: String,
}

/// Returns the differences between curl's record and plimsoll's.
pub fn differences(curl: &Record, plimsoll: &Record) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut compare = |aspect: &str, curl: String, plimsoll: String| {
        if curl != plimsoll {
            all.push(Difference { aspect: aspect.to_owned(), curl, plimsoll });
        }
    };
    let count = |record: &Record| {
        let all: Vec<String> =
            record.requests.iter().map(|one| format!("{} {}", one.method, one.target)).collect();
        format!("{}: {}", all.len(), all.join(", "))
    };
    if curl.requests.len() != plimsoll.requests.len() {
        compare("requests", count(curl), count(plimsoll));
    }
    for (a, b) in curl.requests.iter().zip(&plimsoll.requests) {
        compare("method", a.method.clone(), b.method.clone());
        compare("target", a.target.clone(), b.target.clone());
        compare("version", a.version.clone(), b.version.clone());
        let names: BTreeSet<&str> =
            [a, b].iter().flat_map(|one| one.headers.iter()).map(|(name, _)| name.as_str()).collect();
        for name in names {
            compare(&format!("header {name}"), a.values(name), b.values(name));
        }
        compare("body", a.body.clone(), b.body.clone());
        compare("address", a.peer.clone(), b.peer.clone());
    }
    compare("statuses", format!("{:?}", curl.statuses), format!("{:?}", plimsoll.statuses));
    if plimsoll.has_body == Some(false) {
        compare("response", "as expected".to_owned(), "another body".to_owned());
    }
    all
}
