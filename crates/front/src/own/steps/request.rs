//! One request: its request line, headers, body, and the checks and extractions of its response.

use super::body::{self, Shape};
use super::graphql::{self, Over};
use super::{auth, check, delivery, extract, headers, known, path, pause, stream};
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Scalar, Value};
use plimsoll_build::draft::{NameDraft, RequestDraft, StepDraft};
use plimsoll_plan::unit;

/// The request line as written: method, path, and their places.
struct Line<'n> {
    key: &'static str,
    method: String,
    path: &'n Node,
    row: &'static Row,
}

/// Reads one request and the pause after it. Returns `None` if the request line is missing or invalid.
pub fn read(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<StepDraft>> {
    let before = w.r.wrong.len();
    let all = known::<of::Request>(entries, &mut w.r);
    let mut line: Option<Line<'_>> = None;
    let mut given_body: Option<(&'static Row, Shape, &Entry)> = None;
    for (row, key, entry) in &all {
        match role(*key) {
            Role::Body(shape) => {
                if let Some((first, ..)) = given_body {
                    let message = format!("`{}` and `{}` both set the body", first.name, row.name);
                    w.r.complain("F017", entry.pos, message, "keep one of them");
                }
                given_body.get_or_insert((row, shape, entry));
            }
            Role::Line => match &line {
                Some(first) => {
                    let message = format!("`{}` and `{}` in one request", first.key, row.name);
                    w.r.complain("F017", entry.pos, message, "begin a new request with `- `");
                }
                None => line = first_line(row, &entry.value, &mut w.r),
            },
            Role::Other => {}
        }
    }
    let Some(line) = line else {
        // A misspelled method is already reported.
        if w.r.wrong.len() == before && !refuse_stray(item, &all, w) {
            w.r.complain(
                "F016",
                item.pos,
                "missing method and path",
                "add a method and a path, such as `get: /pick`",
            );
        }
        return None;
    };
    let given = |wanted: of::Request| {
        all.iter().find(|(_, key, _)| *key == wanted).map(|(row, _, entry)| (*row, *entry))
    };
    let encode =
        given(of::Request::Encode).is_none_or(|(row, entry)| w.r.truth(&entry.value, row) != Some(false));
    let path = path::read(line.path, line.row, encode, w);
    let query = given(of::Request::Query)
        .map(|(row, entry)| path::query(&entry.value, row, encode, w))
        .unwrap_or_default();
    let mut graphql = match given_body {
        Some((row, Shape::Graphql, entry)) => graphql::read(&entry.value, row, Over::Http, &mut w.r),
        _ => None,
    };
    let body = match &mut graphql {
        Some(graphql) => Some(std::mem::take(&mut graphql.body)),
        None => given_body.and_then(|(row, shape, entry)| body::read(&entry.value, row, shape, w)),
    };
    if let (Some((_, Shape::Graphql, entry)), false) = (given_body, line.method == "POST") {
        let message = format!("`graphql` requires `post`, not `{}`", line.key);
        w.r.complain("F017", entry.pos, message, "write `post: /graphql`");
    }
    let mut draft = RequestDraft {
        query,
        body,
        redirects: w.redirects,
        ..RequestDraft::new(item.pos, &line.method, path)
    };
    let mut think = None;
    for (row, key, entry) in &all {
        let node = &entry.value;
        let r = &mut w.r;
        match key {
            of::Request::Name => {
                let name = r.text(node, row).map(str::to_owned);
                draft.name = name.map(|name| NameDraft { name, pos: node.pos });
            }
            of::Request::Headers => {
                draft.headers = r.map(node, row).map(|entries| headers::read(entries, r)).unwrap_or_default()
            }
            of::Request::Origin => {
                let name = r.text(node, row).map(str::to_owned);
                draft.origin = name.map(|name| NameDraft { name, pos: node.pos });
            }
            of::Request::Auth => draft.auth = auth::auth(node, row, r),
            of::Request::Timeout => draft.timeout_ns = timeout(node, row, r),
            of::Request::ExpectContinue => delivery::expect_continue(node, row, &mut draft.delivery, r),
            of::Request::Chunked => delivery::chunked(node, row, &mut draft.delivery, r),
            of::Request::Throttle => delivery::throttle(node, row, &mut draft.delivery, r),
            of::Request::Redirects => draft.redirects = redirects(node, row, r).unwrap_or_default(),
            of::Request::Tags => {
                for tag in r.map(node, row).unwrap_or_default() {
                    let value = r.written(&tag.value, row).map(str::to_owned);
                    draft.tags.extend(value.map(|value| (tag.key.clone(), value)));
                }
            }
            of::Request::OnFailure => {
                w.is_scripted = true;
                let words = [("stop", false), ("continue", true)];
                draft.go_on_after_failure = r.choice(node, row, &words).unwrap_or_default();
            }
            of::Request::Check => (draft.checks, draft.expect) = check::read(node, row, r),
            of::Request::Think => think = pause::delay(node, row, r),
            // Read before and after this loop.
            of::Request::Get
            | of::Request::Post
            | of::Request::Put
            | of::Request::Patch
            | of::Request::Delete
            | of::Request::Head
            | of::Request::Options
            | of::Request::Request
            | of::Request::Query
            | of::Request::Encode
            | of::Request::Json
            | of::Request::GraphQl
            | of::Request::Body
            | of::Request::BodyFile
            | of::Request::Form
            | of::Request::Multipart
            | of::Request::Extract
            | of::Request::Stream => {}
        }
    }
    if let Some((row, entry)) = given(of::Request::Extract) {
        draft.extracts = extract::read(&entry.value, row, &mut w.r);
    }
    if let Some((row, entry)) = given(of::Request::Stream) {
        draft.stream = stream::read(&entry.value, row, entry.pos, w);
        if let Some((_, pos)) = draft.stream.as_ref().and_then(|stream| stream.correlation.as_ref()) {
            let message = "`correlation` does not apply to a stream of events, which responds to no messages";
            w.r.complain("F017", *pos, message, "remove `correlation`");
        }
    }
    if let Some(graphql) = graphql {
        draft.checks.extend(graphql.check.filter(|_| draft.stream.is_none()));
        if let (true, None, Some((_, _, entry))) = (graphql.is_subscription, &draft.stream, given_body) {
            let hint = "add `stream: true`, or a mapping such as `stream: { events: 10 }`";
            w.r.complain("F016", entry.pos, "a subscription requires `stream`", hint);
        }
        draft.graphql = Some(graphql.draft);
    }
    if let (Some((_, entry)), Some(_)) = (given(of::Request::Stream), draft.delivery.read_bytes_per_s) {
        let message = "`response` of `throttle` does not apply to a stream, whose server sets its pace";
        w.r.complain("F017", entry.pos, message, "remove one of them");
    }
    if draft.delivery.requires_body() && given_body.is_none() {
        let of_body = [of::Request::ExpectContinue, of::Request::Chunked, of::Request::Throttle];
        let given = all.iter().find(|(_, key, _)| of_body.contains(key));
        if let Some((row, _, entry)) = given {
            let message = format!("`{}` requires a body", row.name);
            w.r.complain("F017", entry.pos, message, "add a body, such as `body_file: upload.bin`");
        }
    }
    draft.spoiled = w.r.wrong.len() > before;
    let mut steps = vec![StepDraft::Request(Box::new(draft))];
    steps.extend(think.map(StepDraft::Think));
    Some(steps)
}

/// Reports an item that has only parts of a request, such as `- check: ...` below a request. Returns false if it is no
/// such item.
fn refuse_stray(item: &Node, all: &[(&'static Row, of::Request, &Entry)], w: &mut Work<'_>) -> bool {
    // `think` is also a step.
    let Some((row, ..)) = all.iter().find(|(_, key, _)| *key != of::Request::Think) else { return false };
    let is_part = |key: &of::Request| !matches!(key, of::Request::Name | of::Request::Origin);
    let is_result = |key: &of::Request| matches!(key, of::Request::Check | of::Request::Extract);
    let is_stray = match w.method_above {
        Some(_) => all.iter().all(|(_, key, _)| is_part(key)),
        None => all.iter().all(|(_, key, _)| is_result(key)),
    };
    if !is_stray {
        return false;
    }
    let line = w.r.source.line(item.pos.line);
    let before: String = line.chars().take(item.pos.column.saturating_sub(1) as usize).collect();
    let hint = match (w.method_above, before.trim_end().ends_with('-')) {
        (Some(method), true) => format!("remove the `- ` and indent it like `{method}`"),
        (Some(method), false) => format!("move it into the braces of `{method}`"),
        (None, _) => "write it below the method and path of a request, such as `get: /pick`".to_owned(),
    };
    w.r.complain("F016", item.pos, format!("`{}` belongs to a request", row.name), hint);
    true
}

/// The role of a key in a request.
enum Role {
    /// The method and the path.
    Line,
    Body(Shape),
    Other,
}

fn role(key: of::Request) -> Role {
    match key {
        of::Request::Get
        | of::Request::Post
        | of::Request::Put
        | of::Request::Patch
        | of::Request::Delete
        | of::Request::Head
        | of::Request::Options
        | of::Request::Request => Role::Line,
        of::Request::Json => Role::Body(Shape::Json),
        of::Request::GraphQl => Role::Body(Shape::Graphql),
        of::Request::Body => Role::Body(Shape::Text),
        of::Request::BodyFile => Role::Body(Shape::File),
        of::Request::Form => Role::Body(Shape::Form),
        of::Request::Multipart => Role::Body(Shape::Multipart),
        of::Request::Name
        | of::Request::Query
        | of::Request::Encode
        | of::Request::Origin
        | of::Request::Headers
        | of::Request::Auth
        | of::Request::ExpectContinue
        | of::Request::Chunked
        | of::Request::Throttle
        | of::Request::Timeout
        | of::Request::Redirects
        | of::Request::Tags
        | of::Request::OnFailure
        | of::Request::Check
        | of::Request::Extract
        | of::Request::Stream
        | of::Request::Think => Role::Other,
    }
}

fn first_line<'n>(row: &'static Row, node: &'n Node, r: &mut Reader<'_>) -> Option<Line<'n>> {
    if row.name != "request" {
        return Some(Line { key: row.name, method: row.name.to_ascii_uppercase(), path: node, row });
    }
    let before = r.wrong.len();
    let (mut method, mut path) = (None, None);
    for entry in r.map(node, row)? {
        match r.key(entry)? {
            (row, of::Line::Method) => method = r.text(&entry.value, row).map(|text| (text, entry.value.pos)),
            (row, of::Line::Path) => path = Some((row, &entry.value)),
        }
    }
    let (Some((method, pos)), Some((line_row, path))) = (method, path) else {
        if r.wrong.len() == before {
            r.expected(node, row, "write both `method` and `path`");
        }
        return None;
    };
    let is_token =
        !method.is_empty() && method.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if !is_token || method.eq_ignore_ascii_case("CONNECT") {
        let message = format!("unsupported method `{method}`");
        r.complain("F015", pos, message, "write a method such as `GET` or `PROPFIND`");
        return None;
    }
    Some(Line { key: "request", method: method.to_owned(), path, row: line_row })
}

fn timeout(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<u64> {
    let ns = r.parsed(node, row, unit::duration_ns)?;
    if ns == 0 {
        r.complain(
            "F015",
            node.pos,
            "`timeout` must be longer than 0",
            "write a duration such as `10s`, or remove `timeout`",
        );
        return None;
    }
    Some(ns)
}

/// Reads how many redirects to follow.
pub fn redirects(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<u8> {
    /// The meaning of `true`; browsers follow 20.
    const USUAL: u8 = 10;
    if let Value::Scalar(Scalar { text, .. }) = &node.value
        && matches!(text.as_str(), "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
    {
        return r.truth(node, row).map(|follow| if follow { USUAL } else { 0 });
    }
    let number = r.whole(node, row)?;
    let fits = u8::try_from(number).ok().filter(|number| *number <= 100);
    if fits.is_none() {
        let message = format!("invalid `redirects`: expected at most 100, found `{number}`");
        r.complain("F015", node.pos, message, "write a number such as `10`");
    }
    fits
}
