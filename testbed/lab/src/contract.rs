//! `testbed/NAME/contract.json`: requests and the responses that they must get; curl sends them. A load test of a
//! system with wrong responses measures nothing.

use super::file::System;
use super::places;
use super::state::State;
use regex_lite::Regex;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Timeout of one request.
const WITHIN_S: u32 = 10;
/// curl's exit code for a timeout.
const TIME_OVER: i32 = 28;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Shown if the response is not as expected.
    pub name: String,
    /// Offset of the port.
    pub port: u16,
    #[serde(default)]
    /// HTTPS, verified with the lab's certificate authority.
    tls: bool,
    #[serde(default = "get")]
    method: String,
    /// With its query, sent byte for byte.
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Excludes `body_file`; without either, the request has no body.
    body: Option<String>,
    /// Below `testbed/NAME`.
    body_file: Option<String>,
    /// `1.0` or `1.1`: a reverse proxy may treat the two differently, and some contracts test that.
    http: Option<String>,
    /// Ends an endless response (a stream) after this many seconds, and checks the part received by then.
    cut_after_s: Option<u32>,
    expect: Expect,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    status: Option<u16>,
    /// The reason phrase: some servers send an unusual one, which a client may not accept.
    reason: Option<String>,
    /// `null`: the header must be absent.
    #[serde(default)]
    headers: BTreeMap<String, Option<Text>>,
    body: Option<String>,
    /// After decoding of chunks, before decompression: the bytes that an experiment transfers.
    body_bytes: Option<Size>,
    body_matches: Option<String>,
    #[serde(default)]
    /// Pointer (RFC 6901) to rule.
    json: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Text {
    Exact(String),
    Matches(Matches),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Matches {
    matches: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Size {
    Exact(u64),
    Between([u64; 2]),
}

/// A response, with lower-case header names.
#[derive(Debug, Default)]
pub struct Answer {
    status: u16,
    reason: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

fn get() -> String {
    "GET".into()
}

/// Parses a contract. Unknown names are errors, because a rule with a misspelled name would never be checked.
pub fn parse(text: &str) -> Result<Vec<Entry>, String> {
    serde_json::from_str(text).map_err(|e| format!("contract.json: {e}"))
}

/// Sends all requests to a running system. Returns their number, and a paragraph for each unexpected response.
pub fn check(name: &str, state: &State) -> Result<(usize, Vec<String>), String> {
    let file = places::testbed(name).join("contract.json");
    let text = std::fs::read_to_string(&file)
        .map_err(|e| format!("cannot read `{}`: {e}", super::describe(&file)))?;
    let entries = parse(&text).map_err(|e| format!("testbed/{name}/{e}"))?;
    if entries.is_empty() {
        return Err(format!("testbed/{name}/contract.json has no requests"));
    }
    let (system, fill) = places::system(name, Some(state.base))?;
    let (mut asked, mut broken) = (0, Vec::new());
    for entry in &entries {
        chore::interrupt::check()?;
        let port = fill.port(entry.port);
        let Some(host) = host(&system, state, entry.port, port) else {
            println!(
                "{name}: contract `{}` is skipped: the process on port {port} requires root",
                entry.name
            );
            continue;
        };
        asked += 1;
        let problems = match ask(entry, &host, port, &system.here, &state.folder) {
            Ok(answer) => entry.expect.problems(&answer)?,
            Err(sentence) => vec![sentence],
        };
        if !problems.is_empty() {
            let line = format!("{} {} (port {port})", entry.method, entry.path);
            broken.push(format!("contract `{}`: {line}\n    {}", entry.name, problems.join("\n    ")));
        }
    }
    Ok((asked, broken))
}

/// Returns the address of a port: the loopback, or the far end of the process's link. None if the process was skipped
/// because of its link. For a port without a process it is the loopback, and the request fails.
fn host(system: &System, state: &State, offset: u16, port: u16) -> Option<String> {
    if let Some(running) = state.processes.iter().find(|p| p.ports.contains(&port)) {
        return Some(running.host.clone());
    }
    let owner = system.process.iter().find(|p| p.offsets().any(|o| o == offset));
    let left_out =
        owner.is_some_and(|p| p.link.is_some() && !state.processes.iter().any(|r| r.name == p.name));
    (!left_out).then(|| "127.0.0.1".to_string())
}

fn ask(entry: &Entry, host: &str, port: u16, here: &Path, scratch: &Path) -> Result<Answer, String> {
    let (head, body) = (scratch.join("answer.head"), scratch.join("answer.body"));
    super::remove_file(&head)?;
    super::remove_file(&body)?;
    let scheme = if entry.tls { "https" } else { "http" };
    let url = format!("{scheme}://{host}:{port}{}", entry.path);
    let time = entry.cut_after_s.unwrap_or(WITHIN_S).to_string();
    let mut curl = Command::new("curl");
    // --globoff and --path-as-is send the path exactly as written.
    curl.args(["-sS", "--noproxy", "*", "--globoff", "--path-as-is", "--no-buffer", "--max-time", &time]);
    curl.arg("-D").arg(&head).arg("-o").arg(&body).arg("--cacert").arg(places::ca().join("ca.pem"));
    match entry.http.as_deref() {
        Some("1.0") => curl.arg("--http1.0"),
        None | Some("1.1") => curl.arg("--http1.1"),
        Some("2") => curl.arg("--http2-prior-knowledge"),
        Some(other) => return Err(format!("invalid `http: {other}`: expected 1.0, 1.1, or 2")),
    };
    // With `-X HEAD`, curl waits for a body; with `-I`, it does not.
    if entry.method == "HEAD" {
        curl.arg("-I")
    } else {
        curl.args(["-X", &entry.method])
    };
    for (name, value) in &entry.headers {
        // curl omits a header with an empty value; with `;`, it sends the header empty.
        let line = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        curl.args(["-H", &line]);
    }
    match (&entry.body, &entry.body_file) {
        (Some(_), Some(_)) => return Err("`body` and `body_file` exclude each other".into()),
        (Some(text), None) => curl.args(["--data-raw", text]),
        (None, Some(file)) => curl.arg("--data-binary").arg(format!("@{}", here.join(file).display())),
        (None, None) => &mut curl,
    };
    let has_type = entry.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
    if (entry.body.is_some() || entry.body_file.is_some()) && !has_type {
        // Without this, curl sends the type of a form.
        curl.args(["-H", "Content-Type:"]);
    }
    let out = curl.arg(&url).stdin(Stdio::null()).output().map_err(|e| format!("cannot start curl: {e}"))?;
    let cut = entry.cut_after_s.is_some() && out.status.code() == Some(TIME_OVER);
    if !out.status.success() && !cut {
        return Err(format!("no response: {}", String::from_utf8_lossy(&out.stderr).trim()));
    }
    let head = std::fs::read(&head).map_err(|e| format!("no response: {e}"))?;
    // With `-I`, curl writes the head into the file for bodies.
    let body = if entry.method == "HEAD" { Vec::new() } else { std::fs::read(&body).unwrap_or_default() };
    parse_head(&String::from_utf8_lossy(&head)).map(|answer| Answer { body, ..answer })
}

/// Parses the last head, and the trailers after it; earlier heads are `100 Continue`.
fn parse_head(text: &str) -> Result<Answer, String> {
    let text = text.replace("\r\n", "\n");
    let begin = text.rfind("\n\nHTTP/").map_or(0, |at| at + 2);
    let mut lines = text[begin..].lines().filter(|line| !line.is_empty());
    // A reason phrase may contain spaces, or may be missing together with the space before it.
    let first = lines.next().unwrap_or_default();
    let mut words = first.splitn(3, ' ').skip(1);
    let status = words.next().and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| format!("no status in `{first}`"))?;
    let reason = words.next().unwrap_or_default().to_string();
    let header = |line: &str| {
        line.split_once(':').map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_string()))
    };
    Ok(Answer { status, reason, headers: lines.filter_map(header).collect(), body: Vec::new() })
}

impl Expect {
    /// Returns each difference as expected and seen.
    ///
    /// # Errors
    /// Returns an error if the contract itself is invalid.
    fn problems(&self, answer: &Answer) -> Result<Vec<String>, String> {
        let mut problems = Vec::new();
        let mut differ = |what: &str, expected: &dyn std::fmt::Display, seen: &str| {
            problems.push(format!("{what}: expected {expected}, seen {}", short(seen)));
        };
        let body = String::from_utf8_lossy(&answer.body);
        if let Some(status) = self.status.filter(|status| *status != answer.status) {
            differ("status", &status, &format!("{} with `{}`", answer.status, short(&body)));
        }
        if let Some(reason) = self.reason.as_ref().filter(|reason| **reason != answer.reason) {
            differ("reason", &format!("`{reason}`"), &format!("`{}`", answer.reason));
        }
        for (name, expected) in &self.headers {
            let seen: Vec<&str> = answer
                .headers
                .iter()
                .filter(|(n, _)| n.eq_ignore_ascii_case(name))
                .map(|(_, v)| v.as_str())
                .collect();
            let shown = if seen.is_empty() { "none".to_string() } else { format!("`{}`", seen.join("`, `")) };
            let what = format!("header `{name}`");
            // If a name occurs several times, an exact text requires exactly one, and a pattern must match each of
            // them.
            match expected {
                None if !seen.is_empty() => differ(&what, &"none", &shown),
                Some(Text::Exact(text)) if seen != [text.as_str()] => {
                    differ(&what, &format!("`{text}`"), &shown);
                }
                Some(Text::Matches(rule)) => {
                    let regex = regex(&rule.matches)?;
                    if seen.is_empty() || !seen.iter().all(|value| regex.is_match(value)) {
                        differ(&what, &format!("a match of `{}`", rule.matches), &shown);
                    }
                }
                _ => {}
            }
        }
        if let Some(text) = self.body.as_ref().filter(|text| text.as_bytes() != answer.body) {
            differ("body", &format!("`{}`", short(text)), &format!("`{body}`"));
        }
        let bytes = answer.body.len() as u64;
        match self.body_bytes {
            Some(Size::Exact(n)) if n != bytes => differ("size of the body", &n, &bytes.to_string()),
            Some(Size::Between([low, high])) if !(low..=high).contains(&bytes) => {
                differ("size of the body", &format!("{low} to {high}"), &bytes.to_string());
            }
            _ => {}
        }
        if let Some(pattern) = &self.body_matches
            && !regex(pattern)?.is_match(&body)
        {
            differ("body", &format!("a match of `{pattern}`"), &format!("`{body}`"));
        }
        if !self.json.is_empty() {
            match serde_json::from_slice::<Value>(&answer.body) {
                Err(e) => differ("body", &"JSON", &format!("`{body}` ({e})")),
                Ok(json) => {
                    for (pointer, rule) in &self.json {
                        problems.extend(pointed(&json, pointer, rule)?);
                    }
                }
            }
        }
        Ok(problems)
    }
}

/// Checks one rule about one place of the JSON. A rule is an object with exactly one of four names; anything else is
/// the value itself.
fn pointed(json: &Value, pointer: &str, rule: &Value) -> Result<Option<String>, String> {
    let seen = json.pointer(pointer);
    let shown = seen.map_or("nothing".to_string(), |value| short(&value.to_string()));
    let named = rule.as_object().filter(|o| o.len() == 1).and_then(|o| o.iter().next());
    let wrong = || format!("contract.json: `{pointer}`: invalid rule `{rule}`");
    let holds = match named.map(|(name, given)| (name.as_str(), given)) {
        Some(("matches", given)) => {
            let regex = regex(given.as_str().ok_or_else(wrong)?)?;
            seen.is_some_and(|v| regex.is_match(&v.as_str().map_or(v.to_string(), String::from)))
        }
        Some(("type", given)) => {
            let expected = given.as_str().ok_or_else(wrong)?;
            if !["string", "number", "array", "object", "boolean", "null"].contains(&expected) {
                return Err(wrong());
            }
            seen.is_some_and(|v| kind(v) == expected)
        }
        Some(("length", given)) => {
            let (low, high) = bounds(given).ok_or_else(wrong)?;
            seen.and_then(length).is_some_and(|n| (low..=high).contains(&(n as f64)))
        }
        Some(("between", given)) => {
            let (low, high) = bounds(given).filter(|_| given.is_array()).ok_or_else(wrong)?;
            seen.and_then(Value::as_f64).is_some_and(|n| (low..=high).contains(&n))
        }
        _ => seen == Some(rule),
    };
    Ok((!holds).then(|| format!("JSON at `{pointer}`: expected {rule}, seen {shown}")))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Bool(_) => "boolean",
        Value::Null => "null",
    }
}

/// Returns the number of elements of a list, members of an object, or letters of a text.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Array(list) => Some(list.len()),
        Value::Object(members) => Some(members.len()),
        Value::String(text) => Some(text.chars().count()),
        _ => None,
    }
}

fn bounds(given: &Value) -> Option<(f64, f64)> {
    match given {
        Value::Number(n) => Some((n.as_f64()?, n.as_f64()?)),
        Value::Array(pair) if pair.len() == 2 => Some((pair[0].as_f64()?, pair[1].as_f64()?)),
        _ => None,
    }
}

fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|e| format!("contract.json: invalid pattern `{pattern}`: {e}"))
}

/// Shortens a text to at most 200 letters on one line.
fn short(text: &str) -> String {
    let flat = text.replace('\n', "\\n");
    if flat.chars().count() <= 200 {
        flat
    } else {
        format!("{}...", flat.chars().take(200).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(expect: &str, head: &str, body: &str) -> Vec<String> {
        let expect: Expect = serde_json::from_str(expect).expect("a good rule");
        let answer = Answer { body: body.into(), ..parse_head(head).expect("a good head") };
        expect.problems(&answer).expect("a good rule")
    }

    const HEAD: &str = "HTTP/1.1 200 Content-Type: text\r\nServer: x\r\nX-Id: 12\r\n\r\n";

    #[test]
    fn differences_in_status_reason_and_headers_are_reported_with_the_seen_value() {
        let good = r#"{"status": 200, "reason": "Content-Type: text",
                       "headers": {"server": "x", "content-type": null, "X-Id": {"matches": "^[0-9]+$"}}}"#;
        assert!(problems(good, HEAD, "").is_empty());
        let bad = r#"{"status": 201, "reason": "OK",
                      "headers": {"server": null, "via": "y", "x-id": {"matches": "^a"}}}"#;
        let said = problems(bad, HEAD, "no");
        let expected = [
            "status: expected 201, seen 200 with `no`",
            "reason: expected `OK`, seen `Content-Type: text`",
            "header `server`: expected none, seen `x`",
            "header `via`: expected `y`, seen none",
            "header `x-id`: expected a match of `^a`, seen `12`",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_body_is_checked_for_text_size_pattern_and_json_values() {
        let body = r#"{"count":3,"rows":["a","b","c"],"name":"pin"}"#;
        let good =
            r#"{"body_bytes": [40, 50], "body_matches": "rows", "json": {"/count": 3, "/rows": {"length": 3},
                       "/name": {"type": "string"}, "/rows/1": {"matches": "^b$"}, "/count ": null}}"#
                .replace(r#", "/count ": null"#, "");
        assert!(problems(&good, HEAD, body).is_empty());
        let bad = r#"{"body": "x", "body_bytes": 7, "body_matches": "cols", "json": {"/count": {"between": [4, 9]},
                      "/rows": {"length": [4, 5]}, "/name": {"type": "number"}, "/none": 1}}"#;
        let said = problems(bad, HEAD, body);
        assert_eq!(said.len(), 7, "{said:?}");
        assert_eq!(said[1], "size of the body: expected 7, seen 45");
        assert!(said.contains(&r#"JSON at `/none`: expected 1, seen nothing"#.to_string()), "{said:?}");
        assert_eq!(problems(r#"{"json": {"/a": 1}}"#, HEAD, "<html>").len(), 1);
    }

    #[test]
    fn an_invalid_contract_is_an_error() {
        assert!(parse(r#"[{"name": "a", "port": 1, "path": "/", "expect": {"stauts": 200}}]"#).is_err());
        assert!(
            parse(r#"[{"name": "a", "port": 1, "path": "/", "expect": {"headers": {"x": {"match": "y"}}}}]"#)
                .is_err()
        );
        let expect: Expect =
            serde_json::from_str(r#"{"json": {"/a": {"type": "text"}}}"#).expect("it parses");
        let answer = Answer { body: r#"{"a": 1}"#.into(), ..Answer::default() };
        assert!(expect.problems(&answer).unwrap_err().contains("invalid rule"));
    }

    #[test]
    fn the_head_after_a_100_continue_is_parsed() {
        let head =
            parse_head("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nA: b\r\n\r\n").expect("good");
        assert_eq!((head.status, head.reason.as_str()), (201, "Created"));
    }

    #[test]
    fn trailers_count_as_headers() {
        let text = "HTTP/2 200 \r\ncontent-type: application/grpc\r\n\r\ngrpc-status: 5\r\n\r\n";
        let expect: Expect = serde_json::from_str(
            r#"{"status": 200, "headers": {"content-type": "application/grpc", "grpc-status": "5"}}"#,
        )
        .expect("it parses");
        let head = parse_head(text).expect("good");
        assert_eq!(expect.problems(&head), Ok(Vec::new()));
    }
}
