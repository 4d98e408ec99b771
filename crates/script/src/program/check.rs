//! Validates all indexes and combinations of a script before the load, so that the interpreter can rely on them.

use crate::value::check_signer;
use plimsoll_plan::answer::{Check, Extract, Rule, Source, Subject};
use plimsoll_plan::auth::JwtKey;
use plimsoll_plan::grpc::Piece;
use plimsoll_plan::outline::Outline;
use plimsoll_plan::phrase::counted;
use plimsoll_plan::script::{Ask, Condition, Entry, Node, Script, Slot};
use plimsoll_plan::value::{Part, Placeholder, Text, Transform};
use plimsoll_plan::websocket::WebSocket;

/// Validates a script.
///
/// # Errors
/// Returns an error for the first mistake.
pub fn check(script: &Script, outline: &Outline, entries: &[Entry]) -> Result<(), String> {
    let checks = script.asks.iter().map(Ask::check_count).sum::<usize>();
    let told = (outline.requests.len(), outline.checks.len(), outline.groups.len());
    if told != (script.asks.len(), checks, script.groups.len()) {
        return Err(format!(
            "the outline has {} requests, {} checks, and {} groups, but the script has {}, {checks}, and {}",
            told.0,
            told.1,
            told.2,
            script.asks.len(),
            script.groups.len()
        ));
    }
    let seen = |scenario: u16| index(usize::from(scenario), script.scenarios.len(), "scenario", "the load");
    for entry in entries {
        match entry {
            Entry::Scenario(scenario) => seen(*scenario)?,
            Entry::Mix { ways, .. } => ways.iter().try_for_each(|(scenario, _)| seen(*scenario))?,
        }
    }
    for timing in &script.timings {
        index(timing.ask as usize, script.asks.len(), "request", "a timing")?;
    }
    nodes(&Place { script, name: "setup", setup: true }, &script.setup)?;
    nodes(&Place { script, name: "teardown", setup: false }, &script.teardown)?;
    script.scenarios.iter().try_for_each(|s| nodes(&Place { script, name: &s.name, setup: false }, &s.nodes))
}

/// The place of a node.
struct Place<'a> {
    script: &'a Script,
    name: &'a str,
    setup: bool,
}

fn index(at: usize, count: usize, what: &str, place: &str) -> Result<(), String> {
    if at < count { Ok(()) } else { Err(format!("{place} refers to unknown {what} {at} of {count}")) }
}

fn nodes(place: &Place<'_>, all: &[Node]) -> Result<(), String> {
    all.iter().try_for_each(|one| node(place, one))
}

fn node(place: &Place<'_>, node: &Node) -> Result<(), String> {
    let Place { script, name, .. } = *place;
    match node {
        Node::Ask(at) => {
            index(*at as usize, script.asks.len(), "request", name)?;
            ask(place, &script.asks[*at as usize])
        }
        Node::Think(_) => Ok(()),
        Node::Group { group, nodes: inner } => {
            index(usize::from(*group), script.groups.len(), "group", name)?;
            nodes(place, inner)
        }
        Node::Repeat { times, nodes: inner } => {
            text(place, times)?;
            if let Some(fixed) = times.fixed()
                && whole(&fixed).is_none()
            {
                return Err(format!(
                    "invalid number of iterations `{}` in {name}: expected a whole number",
                    String::from_utf8_lossy(&fixed)
                ));
            }
            nodes(place, inner)
        }
        Node::While { condition: asked, nodes: inner, .. } => {
            condition(place, asked)?;
            nodes(place, inner)
        }
        Node::If { condition: asked, then, otherwise } => {
            condition(place, asked)?;
            nodes(place, then)?;
            nodes(place, otherwise)
        }
        Node::Once(inner) => nodes(place, inner),
        Node::Choose { ways, .. } => ways.iter().try_for_each(|(_, inner)| nodes(place, inner)),
        Node::Set(values) => values.iter().try_for_each(|(to, value)| {
            slot(place, *to)?;
            text(place, value)
        }),
        Node::Append { file, columns } => {
            index(usize::from(*file), script.files.len(), "file", name)?;
            let file = &script.files[usize::from(*file)];
            if columns.len() != file.columns.len() || columns.is_empty() {
                return Err(format!(
                    "{name} appends {} to `{}`, which has {}",
                    counted(columns.len() as u64, "value"),
                    file.path.display(),
                    counted(file.columns.len() as u64, "column")
                ));
            }
            columns.iter().try_for_each(|column| text(place, column))
        }
        Node::Parallel(branches) => branches.iter().try_for_each(|inner| nodes(place, inner)),
        Node::Send { socket, text: message, .. } => {
            websocket(place, *socket)?;
            text(place, message)
        }
        Node::Expect { socket, expectation } => {
            let expectations = websocket(place, *socket)?.expectations.len();
            index(usize::from(*expectation), expectations, "expected message", name)
        }
        Node::Ping { socket, text: payload, expectation } => {
            let expectations = websocket(place, *socket)?.expectations.len();
            index(usize::from(*expectation), expectations, "expected pong", name)?;
            text(place, payload)
        }
        Node::Close { socket, reason, .. } => {
            websocket(place, *socket)?;
            text(place, reason)
        }
        Node::SendMessage { call, message } => {
            websocket(place, *call)?;
            let later = script.asks[*call as usize].grpc.as_ref().map_or(0, |call| call.later.len());
            index(*message as usize, later, "message", name)
        }
        Node::Complete { call } => websocket(place, *call).map(drop),
    }
}

fn websocket<'a>(place: &Place<'a>, ask: u32) -> Result<&'a WebSocket, String> {
    let opener = place.script.asks.get(ask as usize);
    opener
        .and_then(|ask| ask.websocket.as_deref())
        .ok_or_else(|| format!("{} refers to request {ask}, which opens no WebSocket", place.name))
}

/// Parses a number of iterations.
pub fn whole(bytes: &[u8]) -> Option<u64> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok()
}

fn slot(place: &Place<'_>, slot: Slot) -> Result<(), String> {
    let script = place.script;
    match slot {
        Slot::Var(id) => index(usize::from(id), script.vars.len(), "variable", place.name),
        Slot::Global(id) if place.setup => {
            index(usize::from(id), script.globals.len(), "value of setup", place.name)
        }
        Slot::Global(id) => Err(format!(
            "{} sets `{}`, which only setup may set because it is the same for all users",
            place.name,
            script.globals.get(usize::from(id)).map_or("", |name| name)
        )),
    }
}

fn text(place: &Place<'_>, text: &Text) -> Result<(), String> {
    let (script, name) = (place.script, place.name);
    text.parts.iter().try_for_each(|part| match part {
        Part::Literal(_) | Part::Secret(_) | Part::Placeholder(Placeholder::Call(_), _) => Ok(()),
        Part::Placeholder(Placeholder::Var(id), _) => {
            index(usize::from(*id), script.vars.len(), "variable", name)
        }
        Part::Placeholder(Placeholder::Base64(inner), _) => self::text(place, inner),
        Part::Placeholder(Placeholder::Derived(derived), _) => {
            self::text(place, &derived.text)?;
            match &derived.how {
                Transform::Hmac { key, .. } => self::text(place, key),
                Transform::Jwt { key: JwtKey::Hs256(key), .. } => self::text(place, key),
                Transform::Jwt { key, .. } => check_signer(key).map_err(|e| format!("{name}: {e}")),
                _ => Ok(()),
            }
        }
        Part::Placeholder(Placeholder::Timing(id), _) => {
            index(usize::from(*id), script.timings.len(), "timing", name)
        }
        Part::Placeholder(Placeholder::Request(_), _) => Ok(()),
        Part::Placeholder(Placeholder::Global(id), _) => {
            index(usize::from(*id), script.globals.len(), "value of setup", name)
        }
        Part::Placeholder(Placeholder::Column { feeder, column }, _) => {
            index(usize::from(*feeder), script.feeders.len(), "feeder", name)?;
            let feeder = &script.feeders[usize::from(*feeder)];
            index(usize::from(*column), feeder.columns.len(), "column", &feeder.name)
        }
    })
}

fn condition(place: &Place<'_>, condition: &Condition) -> Result<(), String> {
    text(place, &condition.left)?;
    rule(place, &condition.rule)
}

fn rule(place: &Place<'_>, rule: &Rule) -> Result<(), String> {
    match rule {
        Rule::Equals(other) | Rule::Differs(other) | Rule::Contains(other) | Rule::Lacks(other) => {
            text(place, other)
        }
        Rule::OneOf(others) => others.iter().try_for_each(|other| text(place, other)),
        Rule::Exists
        | Rule::Absent
        | Rule::Matches(_)
        | Rule::Below(_)
        | Rule::AtMost(_)
        | Rule::Above(_)
        | Rule::AtLeast(_) => Ok(()),
    }
}

fn message(place: &Place<'_>, pieces: &[Piece]) -> Result<(), String> {
    pieces.iter().try_for_each(|piece| match piece {
        Piece::Field { text: value, .. } => text(place, value),
        Piece::Message { pieces, .. } => message(place, pieces),
    })
}

fn ask(place: &Place<'_>, ask: &Ask) -> Result<(), String> {
    text(place, &ask.path)?;
    ask.headers.iter().try_for_each(|(_, value)| text(place, value))?;
    ask.body.iter().try_for_each(|body| text(place, body))?;
    ask.grpc
        .iter()
        .flat_map(|call| call.messages.iter().chain(&call.later))
        .try_for_each(|one| message(place, one))?;
    checks(place, &ask.checks)?;
    extracts(place, &ask.extracts)?;
    let stream = match (&ask.stream, &ask.websocket) {
        (_, Some(socket)) => {
            for wanted in &socket.expectations {
                checks(place, &wanted.checks)?;
                extracts(place, &wanted.extracts)?;
            }
            &socket.stream
        }
        (Some(stream), None) => &**stream,
        (None, None) => return Ok(()),
    };
    if ask.websocket.is_some() && ask.grpc.as_ref().is_some_and(|call| call.has_one_response) {
        return nodes(place, &stream.beside);
    }
    // Only the head of a stream can be checked. Its events are accounted for separately.
    let odd_check = ask.checks.iter().find(|check| needs_body(&check.on));
    let odd_extract = ask
        .extracts
        .iter()
        .find(|extract| !matches!(extract.from, Source::Header(_) | Source::Cookie(_) | Source::Status));
    if let Some(odd) = odd_check.map(|check| &check.name).or(odd_extract.map(|extract| &extract.name)) {
        return Err(format!(
            "`{odd}` of stream `{}` needs a body, but only the status and the headers of a stream can be checked",
            ask.name
        ));
    }
    if stream.events == Some(0) {
        return Err(format!("the number of events of stream `{}` must be above 0", ask.name));
    }
    nodes(place, &stream.beside)
}

fn checks(place: &Place<'_>, all: &[Check]) -> Result<(), String> {
    for check in all {
        match &check.on {
            Subject::Header { rule: asked, .. }
            | Subject::Body(asked)
            | Subject::GrpcMessage(asked)
            | Subject::Value { rule: asked, .. }
            | Subject::Json { rule: asked, .. } => {
                rule(place, asked)?;
            }
            Subject::Jwt(check) => check.claims.iter().try_for_each(|(_, asked)| rule(place, asked))?,
            Subject::Schema(_)
            | Subject::OpenApi(_)
            | Subject::NoGraphqlErrors
            | Subject::HeaderSnapshot(_) => {}
            Subject::Status(_)
            | Subject::Length { .. }
            | Subject::Hash { .. }
            | Subject::Duration { .. }
            | Subject::GrpcStatus(_) => {}
        }
    }
    Ok(())
}

fn extracts(place: &Place<'_>, all: &[Extract]) -> Result<(), String> {
    for extract in all {
        slot(place, extract.into)?;
        extract.default.iter().try_for_each(|default| text(place, default))?;
    }
    Ok(())
}

/// Returns whether a check needs more than the head, the trailers, and the status.
fn needs_body(on: &Subject) -> bool {
    match on {
        Subject::Status(_)
        | Subject::Header { .. }
        | Subject::HeaderSnapshot(_)
        | Subject::GrpcStatus(_)
        | Subject::GrpcMessage(_) => false,
        Subject::Body(_)
        | Subject::Json { .. }
        | Subject::Value { .. }
        | Subject::Schema(_)
        | Subject::OpenApi(_)
        | Subject::NoGraphqlErrors
        | Subject::Jwt(_)
        | Subject::Length { .. }
        | Subject::Hash { .. }
        | Subject::Duration { .. } => true,
    }
}
