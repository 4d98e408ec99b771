//! One request: its line, headers, body, and what is asked of its answer.

use super::headers::{self, Auth, Headers};
use super::path::{self, Way};
use super::{body, check, extract, known, pause, stream};
use crate::default_name;
use crate::own::key::{METHODS, Row, Section, find};
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Pos, Scalar, Value};
use plimsoll_plan::request::base64;
use plimsoll_plan::script::{self, Ask, AskId};
use plimsoll_plan::unit;
use plimsoll_plan::value::Text;

/// The first line of a request as written: method, path, and where they stand.
struct Line<'n> {
    key: &'static str,
    method: String,
    path: &'n Node,
    row: &'static Row,
}

/// One request and the pause behind it; nothing when its mistakes are reported.
pub fn read(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<script::Node>> {
    let before = w.r.wrong.len();
    let all = known(Section::Request, entries, w);
    let mut line: Option<Line<'_>> = None;
    let mut given_body: Option<(&'static Row, &Entry)> = None;
    for (row, entry) in &all {
        if matches!(row.name, "json" | "body" | "body_file" | "form" | "multipart") {
            if let Some((first, _)) = given_body {
                let message = format!("`{}` and `{}` both give the body", first.name, row.name);
                w.r.complain("F017", entry.pos, message, "keep one");
            }
            given_body.get_or_insert((row, entry));
        } else if METHODS.contains(&row.name) || row.name == "request" {
            if let Some(first) = &line {
                let message = format!("`{}` and `{}` in one request", first.key, row.name);
                w.r.complain("F017", entry.pos, message, "begin a new request with a `-` in front");
                continue;
            }
            line = first_line(row, &entry.value, w);
        }
    }
    let Some(line) = line else {
        // A misspelt method is reported already.
        if w.r.wrong.len() == before {
            w.r.complain(
                "F016",
                item.pos,
                "this request has no method and path",
                "add them, such as `get: /pick`",
            );
        }
        return None;
    };
    let of = |name: &str| all.iter().find(|(row, _)| row.name == name).copied();
    let encode = of("encode").is_none_or(|(row, entry)| w.r.truth(&entry.value, row) != Some(false));
    let way = path::read(line.path, line.row, encode, w).map(|mut way| {
        if let Some((row, entry)) = of("query") {
            path::query(&entry.value, row, encode, &mut way, w);
        }
        way
    });
    let body = given_body.and_then(|(row, entry)| body::read(&entry.value, row, w));
    let mut ask = Ask {
        name: String::new(),
        scenario: w.scope.scenario,
        group: w.scope.group,
        tags: Vec::new(),
        method: line.method,
        path: Text::default(),
        headers: Vec::new(),
        body: None,
        timeout_ns: None,
        redirects: w.common.redirects,
        expect: None,
        checks: Vec::new(),
        extracts: Vec::new(),
        go_on_after_failure: false,
        stream: None,
    };
    let mut own = Headers::new();
    let (mut name, mut auth, mut think) = (None, None, None);
    for (row, entry) in &all {
        let node = &entry.value;
        match row.name {
            "name" => name = w.r.text(node, row).map(str::to_owned),
            "headers" => {
                own = w.r.map(node, row).map(|entries| headers::read(entries, w)).unwrap_or_default()
            }
            "auth" => auth = headers::auth(node, row, w),
            "timeout" => ask.timeout_ns = timeout(node, row, w),
            "redirects" => ask.redirects = redirects(node, row, w).unwrap_or_default(),
            "tags" => {
                for tag in w.r.map(node, row).unwrap_or_default() {
                    let value = w.r.written(&tag.value, row).map(str::to_owned);
                    ask.tags.extend(value.map(|value| (tag.key.clone(), value)));
                }
            }
            "on_failure" => {
                w.scripted = true;
                let words = [("stop", false), ("continue", true)];
                ask.go_on_after_failure = w.r.choice(node, row, &words).unwrap_or_default();
            }
            "check" => check::read(node, row, &mut ask, w),
            "think" => think = pause::delay(node, row, w),
            _ => {}
        }
    }
    let mut media_type = None;
    if let Some(body) = body {
        media_type = body.media_type;
        ask.body = Some(body.text);
    }
    ask.headers = all_headers(own, media_type, auth, way.as_ref(), item, w);
    check_length(&ask, item.pos, w);
    // Behind everything that is sent: only the steps to come see what this answer gives.
    if let Some((row, entry)) = of("extract") {
        extract::read(&entry.value, row, &mut ask, w);
    }
    if let Some((row, entry)) = of("stream") {
        ask.stream = stream::read(&entry.value, row, &ask, entry.pos, w);
    }
    let way = way?;
    ask.path = way.text;
    if w.r.wrong.len() > before {
        return None;
    }
    ask.name = name.clone().unwrap_or_else(|| default_name(&ask.method, &way.shown));
    let written = entries.iter().find(|entry| entry.key == "name").map(|entry| entry.value.pos);
    name_apart(&mut ask, written, w);
    let id = w.script.asks.len() as AskId;
    w.script.asks.push(ask);
    let mut nodes = vec![script::Node::Ask(id)];
    nodes.extend(think.map(script::Node::Think));
    Some(nodes)
}

fn first_line<'n>(row: &'static Row, node: &'n Node, w: &mut Work<'_>) -> Option<Line<'n>> {
    if row.name != "request" {
        return Some(Line { key: row.name, method: row.name.to_ascii_uppercase(), path: node, row });
    }
    let before = w.r.wrong.len();
    let (mut method, mut path) = (None, None);
    for entry in w.r.map(node, row)? {
        match w.r.row(Section::Line, entry)? {
            row if row.name == "method" => {
                method = w.r.text(&entry.value, row).map(|text| (text, entry.value.pos))
            }
            row => path = Some((row, &entry.value)),
        }
    }
    let (Some((method, pos)), Some((line_row, path))) = (method, path) else {
        if w.r.wrong.len() == before {
            w.r.expected(node, row, "give both `method` and `path`");
        }
        return None;
    };
    let is_token =
        !method.is_empty() && method.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if !is_token || method.eq_ignore_ascii_case("CONNECT") {
        let message = format!("`{method}` is no method that can be loaded");
        w.r.complain("F015", pos, message, "expected a word such as `GET` or `PROPFIND`");
        return None;
    }
    Some(Line { key: "request", method: method.to_owned(), path, row: line_row })
}

fn timeout(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<u64> {
    let ns = w.r.parsed(node, row, unit::duration_ns)?;
    if ns == 0 {
        w.r.complain(
            "F015",
            node.pos,
            "a time-out of 0 lets no answer through",
            "leave it out, or give it a length",
        );
        return None;
    }
    Some(ns)
}

/// How many redirects are followed.
pub fn redirects(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<u8> {
    /// What `true` means; browsers follow twenty.
    const USUAL: u8 = 10;
    if let Value::Scalar(Scalar { text, .. }) = &node.value
        && matches!(text.as_str(), "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
    {
        return w.r.truth(node, row).map(|follow| if follow { USUAL } else { 0 });
    }
    let number = w.r.whole(node, row)?;
    let fits = u8::try_from(number).ok().filter(|number| *number <= 100);
    if fits.is_none() {
        w.r.complain("F015", node.pos, format!("`{number}` redirects are no plan"), "expected at most 100");
    }
    fits
}

/// The request's own headers, behind those of the file that it does not replace, in front of those that its other keys
/// imply.
fn all_headers(
    own: Headers,
    media_type: Option<String>,
    auth: Option<Auth>,
    way: Option<&Way>,
    item: &Node,
    w: &mut Work<'_>,
) -> Headers {
    let common = w.common.headers.clone();
    let mut all: Headers =
        headers::read(&common, w).into_iter().filter(|(n, _)| !headers::has(&own, n)).collect();
    all.extend(own);
    if let Some(media_type) = media_type
        && !headers::has(&all, "Content-Type")
    {
        all.push(("Content-Type".into(), Text::literal(media_type)));
    }
    let credentials = way.and_then(|way| way.credentials.as_deref());
    let is_own = auth.is_some();
    let auth = match auth {
        Some(auth) => Some(auth),
        None => w.common.auth.clone().and_then(|node| {
            let row = find(Section::Top, "auth")?;
            headers::auth(&node, row, w)
        }),
    };
    let header = match (auth, credentials) {
        (Some(Auth::None), _) => None,
        (Some(Auth::Header(text)), _) => Some(text),
        (None, Some(credentials)) => Some(Text::literal(format!("Basic {}", base64(credentials.as_bytes())))),
        (None, None) => None,
    };
    if let Some(text) = header {
        if !headers::has(&all, "Authorization") {
            all.push(("Authorization".into(), text));
        } else if is_own {
            let message = "`auth` and the header `Authorization` both say who asks";
            w.r.complain("F017", item.pos, message, "keep one");
        }
    }
    all
}

/// A length that is not the body's makes the server wait for the rest, or take it for the next request.
fn check_length(ask: &Ask, pos: Pos, w: &mut Work<'_>) {
    let Some((name, value)) =
        ask.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("Content-Length"))
    else {
        return;
    };
    let bytes = ask.body.as_ref().map_or(Some(Vec::new()), Text::fixed).map(|body| body.len());
    match (value.fixed(), bytes) {
        (Some(value), Some(bytes)) if value == bytes.to_string().into_bytes() => {}
        (Some(value), Some(bytes)) => {
            let value = String::from_utf8_lossy(&value);
            let sentence = format!(
                "`{name}: {value}` contradicts a body of {bytes} bytes; \
                 leave the header out: it is added with the right number"
            );
            w.r.complain_sentence(pos, &sentence);
        }
        _ => {
            let message =
                format!("`{name}` is given by hand for a body that changes from request to request");
            w.r.complain("F015", pos, message, "leave the header out: it is added with the right number");
        }
    }
}

/// Every series of a report needs a name of its own: equal default names are counted, equal chosen ones are refused.
fn name_apart(ask: &mut Ask, chosen: Option<Pos>, w: &mut Work<'_>) {
    let plain = ask.name.clone();
    while let Some(times) = w.taken.get_mut(&ask.name) {
        if let Some(pos) = chosen {
            w.r.complain(
                "F013",
                pos,
                format!("two requests are called `{plain}`"),
                "give each a name of its own: reports tell them apart by it",
            );
            return;
        }
        *times += 1;
        ask.name = format!("{plain} ({times})");
    }
    w.taken.insert(ask.name.clone(), 1);
}
