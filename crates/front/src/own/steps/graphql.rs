//! Requests of GraphQL: a query with its variables, by its text or by its hash, and subscriptions over a WebSocket.

use super::auth::object;
use crate::own::json;
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::Node;
use plimsoll_build::draft::{BodyDraft, CheckDraft, GraphqlDraft, On, SubjectDraft, TextDraft};
use plimsoll_build::sentence::{alternatives, short};
use plimsoll_plan::answer::Subject;
use sha2::{Digest, Sha256};

/// What a request of GraphQL sends, and what is special about it.
pub struct Graphql {
    pub body: BodyDraft,
    pub draft: GraphqlDraft,
    /// The check that the response has no errors.
    pub check: Option<CheckDraft>,
    pub is_subscription: bool,
}

/// The protocol of a WebSocket with an operation of GraphQL.
pub const PROTOCOL: &str = "graphql-transport-ws";

/// How an operation is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// As the body of a request.
    Http,
    /// In messages of a WebSocket.
    WebSocket,
}

/// Reads `graphql:`.
pub fn read(node: &Node, row: &Row, over: Over, r: &mut Reader<'_>) -> Option<Graphql> {
    let before = r.wrong.len();
    let (mut query, mut variables, mut operation, mut init) = (None, None, None, None);
    let (mut persisted, mut fails) = (false, true);
    for entry in r.map(node, row)? {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::GraphQl::Query => query = r.text(node, row).map(|text| (text.to_owned(), node.pos)),
            of::GraphQl::QueryFile => {
                let Some(name) = r.text(node, row).map(str::to_owned) else { continue };
                let bytes = r.content(&name, node.pos)?;
                query = Some((String::from_utf8_lossy(&bytes).into_owned(), node.pos));
            }
            of::GraphQl::Variables => variables = object(node, row, r),
            of::GraphQl::Operation => operation = r.text(node, row).map(|name| (name.to_owned(), node.pos)),
            of::GraphQl::Persisted if over == Over::WebSocket => {
                let message = "`persisted` does not apply to an operation over a WebSocket";
                r.complain("F017", entry.pos, message, "remove it");
            }
            of::GraphQl::Persisted => persisted = r.truth(node, row).unwrap_or_default(),
            of::GraphQl::Init if over == Over::Http => {
                let message = "`init` applies only to an operation over a WebSocket";
                r.complain("F017", entry.pos, message, "remove it, or write `connect: /graphql`");
            }
            of::GraphQl::Init => init = object(node, row, r),
            of::GraphQl::Errors => {
                fails = r.choice(node, row, &[("fail", true), ("allow", false)]).unwrap_or(true)
            }
            of::GraphQl::Transport => {
                let wanted = r.choice(node, row, &[("sse", Over::Http), ("websocket", Over::WebSocket)]);
                let (message, hint) = match wanted {
                    Some(Over::Http) if over == Over::WebSocket => (
                        "`transport: sse` does not apply to `connect`",
                        "write `post: /graphql` with `stream: true`",
                    ),
                    Some(Over::WebSocket) if over == Over::Http => (
                        "`transport: websocket` requires a `connect` step",
                        "write `connect: /graphql` instead of the request, without `stream`",
                    ),
                    _ => continue,
                };
                r.complain("F017", node.pos, message, hint);
            }
        }
    }
    let Some((query, pos)) = query else {
        if r.wrong.len() == before {
            r.expected(node, row, "add `query` or `query_file`");
        }
        return None;
    };
    let operations = match operations(&query) {
        Ok(operations) => operations,
        Err(why) => {
            r.complain("F028", pos, format!("invalid GraphQL document: {why}"), "correct the document");
            return None;
        }
    };
    let names = || operations.iter().filter_map(|(_, name)| name.as_deref());
    let chosen = match &operation {
        None if operations.len() > 1 => {
            let hint = format!("choose one with `operation`: {}", alternatives(names()));
            r.complain("F016", pos, "the document has several operations", hint);
            return None;
        }
        None => operations.first(),
        Some((name, pos)) => {
            let found = operations.iter().find(|(_, known)| known.as_deref() == Some(name));
            if found.is_none() {
                let hint = match names().next() {
                    Some(_) => format!("use {}", alternatives(names())),
                    None => "remove `operation`, because the only operation has no name".to_owned(),
                };
                r.complain("F021", *pos, format!("unknown operation `{}`", short(name)), hint);
                return None;
            }
            found
        }
    };
    let is_subscription = chosen.is_some_and(|(kind, _)| *kind == "subscription");
    let rest = |text: &mut TextDraft| {
        if let Some((name, _)) = &operation {
            text.literal(format!(",\"operationName\":{}", json::string(name)));
        }
        if let Some(variables) = &variables {
            text.literal(",\"variables\":");
            text.text(variables.clone());
        }
    };
    let mut whole = TextDraft::of(format!("{{\"query\":{}", json::string(&query)));
    rest(&mut whole);
    let mut text = whole.clone();
    let with_query = persisted.then(|| {
        let hash: String =
            Sha256::digest(query.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let extensions =
            format!("\"extensions\":{{\"persistedQuery\":{{\"version\":1,\"sha256Hash\":\"{hash}\"}}}}");
        text = TextDraft::of(format!("{{{extensions}"));
        rest(&mut text);
        whole.literal(format!(",{extensions}}}"));
        whole.clone()
    });
    text.literal("}");
    let subscription = (over == Over::WebSocket).then(|| {
        let mut first = TextDraft::of("{\"type\":\"connection_init\"");
        if let Some(payload) = init {
            first.literal(",\"payload\":");
            first.text(payload);
        }
        first.literal("}");
        let mut subscribe = TextDraft::of("{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":");
        subscribe.text(text.clone());
        subscribe.literal("}");
        (first, subscribe)
    });
    let subject = SubjectDraft { words: "no GraphQL errors".into(), on: On::Fixed(Subject::NoGraphqlErrors) };
    // The events of a subscription are checked one by one.
    let check = (fails && !is_subscription).then(|| CheckDraft { name: None, subjects: vec![subject] });
    let fails_on_errors = fails && (is_subscription || over == Over::WebSocket);
    let draft = GraphqlDraft { with_query, fails_on_errors, subscription };
    let body = BodyDraft { text, media_type: Some("application/json".into()) };
    (r.wrong.len() == before).then_some(Graphql { body, draft, check, is_subscription })
}

/// An operation: its kind, and its name if it has one.
type Operation = (&'static str, Option<String>);

/// Returns the operations of a document (GraphQL of October 2021, section 2.2).
///
/// # Errors
/// Returns an error for brackets that do not match, an open string, or text that begins no definition.
fn operations(text: &str) -> Result<Vec<Operation>, String> {
    let mut all = Vec::new();
    let mut open: Vec<char> = Vec::new();
    let mut rest = text;
    // Whether the next word begins a definition.
    let mut is_begin = true;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', ',', '\u{feff}']);
        let Some(sign) = rest.chars().next() else { break };
        match sign {
            '#' => rest = rest.find('\n').map_or("", |at| &rest[at..]),
            '"' => rest = behind_string(rest)?,
            '{' | '(' | '[' => {
                if is_begin && sign == '{' {
                    all.push(("query", None));
                }
                is_begin = false;
                open.push(sign);
                rest = &rest[1..];
            }
            '}' | ')' | ']' => {
                let wanted = match sign {
                    '}' => '{',
                    ')' => '(',
                    _ => '[',
                };
                match open.pop() {
                    Some(found) if found == wanted => {}
                    Some(found) => return Err(format!("`{sign}` closes `{found}`")),
                    None => return Err(format!("unexpected `{sign}`")),
                }
                is_begin = open.is_empty() && sign == '}';
                rest = &rest[1..];
            }
            _ if is_begin => {
                let (word, behind) = word(rest);
                let kind = ["query", "mutation", "subscription"].into_iter().find(|kind| *kind == word);
                rest = behind;
                match (kind, word) {
                    (Some(kind), _) => {
                        let (name, behind) = self::word(rest.trim_start());
                        rest = if name.is_empty() { rest } else { behind };
                        all.push((kind, Some(name.to_owned()).filter(|name| !name.is_empty())));
                    }
                    (None, "fragment") => {}
                    (None, "") => return Err(format!("unexpected `{sign}`")),
                    (None, other) => {
                        return Err(format!(
                            "unexpected `{}`, expected `query`, `mutation`, or `subscription`",
                            short(other)
                        ));
                    }
                }
                is_begin = false;
            }
            _ => rest = &rest[sign.len_utf8()..],
        }
    }
    if let Some(sign) = open.pop() {
        return Err(format!("unclosed `{sign}`"));
    }
    if all.is_empty() { Err("it has no operation".into()) } else { Ok(all) }
}

fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    text.split_at(end)
}

fn behind_string(text: &str) -> Result<&str, String> {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        let end = block.replace("\\\"\"\"", "....").find("\"\"\"").ok_or("unclosed `\"\"\"`")?;
        return Ok(&block[end + 3..]);
    }
    let mut is_escaped = false;
    for (at, sign) in text.char_indices().skip(1) {
        match sign {
            '\n' => break,
            '\\' if !is_escaped => is_escaped = true,
            '"' if !is_escaped => return Ok(&text[at + 1..]),
            _ => is_escaped = false,
        }
    }
    Err("unclosed string".into())
}
