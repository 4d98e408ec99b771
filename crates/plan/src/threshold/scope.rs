//! Scopes: the requests that a threshold applies to, as in `{request: login}`, `{scenario: buyer}`,
//! `{group: checkout}`, `{tag: kind=read}`, or `{agent: eu-1}`; and the statuses of gRPC calls, as in
//! `{status: NOT_FOUND}`.

use super::{Subject, Threshold};
use crate::Diagnostic;
use crate::Problem;
use crate::draft::key;
use crate::grpc::Codes;
use crate::outline::{Outline, RequestOutline};
use crate::series::{Family, SeriesKey, group_path, label};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The requests that a threshold applies to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All requests of this name.
    Request(String),
    Scenario(String),
    /// A group and its nested groups.
    Group(String),
    Tag(String, String),
    /// All requests of an agent, or of agents with a label: its name, or `LABEL=VALUE`.
    Agent(String),
    /// Statuses of gRPC calls, separated by commas.
    Status(String),
    /// A user-defined metric.
    Metric(String),
    /// All of several scopes at once.
    All(Vec<Scope>),
}

impl Scope {
    /// Returns whether it covers a request. Requests before and after the load are in no scope.
    pub fn covers(&self, request: &RequestOutline) -> bool {
        // Any call may end with any status.
        if let Scope::Status(_) = self {
            return request.is_grpc && !request.is_outside_load;
        }
        let has = |name: &str, value: &dyn Fn(&str) -> bool| match name {
            label::REQUEST => value(&request.name),
            label::SCENARIO => request.scenario.as_deref().is_some_and(value),
            label::GROUP => request.group.as_deref().is_some_and(value),
            label::METHOD => value(&request.method),
            tag => request.tags.iter().any(|(known, text)| known == tag && value(text)),
        };
        self.selects(&has) && !request.is_outside_load
    }

    /// Returns whether it covers a series that was opened during the run.
    pub fn covers_series(&self, key: &SeriesKey) -> bool {
        let has = |name: &str, value: &dyn Fn(&str) -> bool| match name {
            label::METRIC => key.family.is_custom() && value(&key.name),
            label::REQUEST if key.family.is_requests() => value(&key.name),
            label::GROUP => key.group().is_some_and(|group| value(&group)),
            name => key.label(name).is_some_and(value),
        };
        self.selects(&has)
    }

    /// Returns whether it covers the passes through a group: those of nested groups are separate.
    pub fn covers_passes(&self, key: &SeriesKey) -> bool {
        match self {
            Scope::Group(name) => key.family == Family::Group && group_path(&key.name) == *name,
            Scope::All(parts) => parts.iter().all(|part| part.covers_passes(key)),
            other => other.covers_series(key),
        }
    }

    /// Returns whether an item has the labels of the scope. `has` tests the value of a label by name.
    fn selects(&self, has: &impl Fn(&str, &dyn Fn(&str) -> bool) -> bool) -> bool {
        match self {
            Scope::Request(name) => has(label::REQUEST, &|value| value == name),
            Scope::Scenario(name) => has(label::SCENARIO, &|value| value == name),
            Scope::Group(name) => has(label::GROUP, &|group| is_within(group, name)),
            // As in k6, an empty value is that of requests without the tag.
            Scope::Tag(key, text) if text.is_empty() => !has(key, &|value| !value.is_empty()),
            Scope::Tag(key, text) => has(key, &|value| value == text),
            Scope::Status(names) => {
                has(label::STATUS, &|value| names.split(',').any(|name| name.trim() == value))
            }
            Scope::Metric(name) => has(label::METRIC, &|value| value == name),
            // Every agent may send every request.
            Scope::Agent(_) => true,
            Scope::All(parts) => parts.iter().all(|part| part.selects(has)),
        }
    }

    /// Returns the agents that it is limited to, as in `{agent: NAME}`.
    pub fn agents(&self) -> Option<&str> {
        match self {
            Scope::Agent(agents) => Some(agents),
            Scope::All(parts) => parts.iter().find_map(Scope::agents),
            Scope::Request(_) | Scope::Scenario(_) | Scope::Group(_) => None,
            Scope::Tag(..) | Scope::Status(_) | Scope::Metric(_) => None,
        }
    }

    /// Returns whether it covers the load of an agent with this name and these labels.
    pub fn covers_agent(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        let is_label = |agents: &str| {
            agents.split_once('=').is_some_and(|(label, value)| labels.get(label).is_some_and(|v| v == value))
        };
        match self {
            Scope::Agent(agents) => agents == name || is_label(agents),
            Scope::All(parts) => parts.iter().all(|part| part.covers_agent(name, labels)),
            Scope::Request(_) | Scope::Scenario(_) | Scope::Group(_) => true,
            Scope::Tag(..) | Scope::Status(_) | Scope::Metric(_) => true,
        }
    }

    /// Returns whether it names a user-defined metric.
    pub fn names_metric(&self) -> bool {
        match self {
            Scope::Metric(_) => true,
            Scope::All(parts) => parts.iter().any(Scope::names_metric),
            Scope::Request(_) | Scope::Scenario(_) | Scope::Group(_) => false,
            Scope::Tag(..) | Scope::Agent(_) | Scope::Status(_) => false,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Scope::Metric(_) | Scope::All(_) => "metric",
            Scope::Request(_) => "request",
            Scope::Scenario(_) => "scenario",
            Scope::Group(_) => "group",
            Scope::Tag(..) => "tag",
            Scope::Agent(_) => "agent",
            Scope::Status(_) => "status",
        }
    }

    /// Returns the text between the braces, with quotes if the name contains one of these characters.
    fn inside(&self, special: &[char]) -> String {
        let name = self.name();
        let bare = !name.is_empty() && name.trim() == name && !name.contains(special);
        let quote = match (bare, name.contains('"')) {
            (true, _) => "",
            (false, true) => "'",
            (false, false) => "\"",
        };
        format!("{}: {quote}{name}{quote}", self.kind())
    }

    fn name(&self) -> String {
        match self {
            Scope::Request(name) | Scope::Scenario(name) | Scope::Group(name) => name.clone(),
            Scope::Agent(name) | Scope::Status(name) | Scope::Metric(name) => name.clone(),
            Scope::Tag(key, value) => format!("{key}={value}"),
            Scope::All(parts) => parts.iter().map(Scope::name).collect::<Vec<_>>().join(", "),
        }
    }
}

/// Returns whether a group, named by its path, is `outer` or inside it.
fn is_within(group: &str, outer: &str) -> bool {
    group.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(" / "))
}

impl fmt::Display for Scope {
    /// Shows the scope with braces, in a form that can be parsed again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::All(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|part| part.inside(&['}', '"', '\'', ','])).collect();
                write!(f, "{{{}}}", parts.join(", "))
            }
            one => write!(f, "{{{}}}", one.inside(&['}', '"', '\''])),
        }
    }
}

/// Parses the text from an opening brace to the closing one. Also returns the rest of the text.
pub(super) fn scope(inner: &str) -> Result<(Scope, &str), Problem> {
    read(inner, '}', KINDS).map(|(scope, _, behind)| (scope, behind))
}

const KINDS: &str =
    "write `{request: NAME}`, `{scenario: NAME}`, `{group: NAME}`, `{tag: KEY=VALUE}`, or `{agent: NAME}`";

const STATUSES: &str = "write `{status: NAME}`, such as `{status: UNAVAILABLE}`";

/// Parses the scope of a user-defined metric, which may have labels: `{metric: NAME, tag: KEY=VALUE}`. A name with a
/// comma requires quotes.
pub(super) fn all_scopes(inner: &str) -> Result<(Scope, &str), Problem> {
    const KINDS: &str = "write `{metric: NAME}`, or `{metric: NAME, tag: KEY=VALUE}`";
    let (mut parts, mut rest) = (Vec::new(), inner);
    loop {
        let (part, end, behind) = read(rest, ',', KINDS)?;
        parts.push(part);
        rest = behind;
        if end == '}' {
            let scope = if parts.len() == 1 { parts.swap_remove(0) } else { Scope::All(parts) };
            return Ok((scope, rest));
        }
    }
}

/// Parses the scope of `grpc_status`: names of statuses in any case, or their numbers. It is kept with names as servers
/// write them.
pub(super) fn statuses(inner: &str) -> Result<(Scope, &str), Problem> {
    match read(inner, '}', STATUSES)? {
        (Scope::Status(names), _, behind) => {
            let names = Codes::parse(&names)?.to_string();
            Ok((Scope::Status(names), behind))
        }
        (other, ..) => {
            let message = format!("a gRPC status has no {}: calls are counted by status", other.kind());
            Err(Problem::new(message, STATUSES))
        }
    }
}

/// Parses one scope up to a `}` or `other`. Also returns which of them ends it, and the rest of the text.
fn read<'a>(inner: &'a str, other: char, kinds: &'static str) -> Result<(Scope, char, &'a str), Problem> {
    let (kind, rest) = inner
        .split_once(':')
        .ok_or(Problem::new(format!("invalid scope `{{{}`", inner.trim_end()), kinds))?;
    let rest = rest.trim_start();
    let (name, end, behind) = match rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        Some(quote) => {
            let (name, behind) = rest[1..].split_once(quote).ok_or_else(|| {
                Problem::new(format!("unclosed quote in `{rest}`"), format!("add a `{quote}` after the name"))
            })?;
            let end = behind.trim_start().chars().next().filter(|end| [other, '}'].contains(end));
            let end = end.ok_or_else(|| Problem::new(format!("missing `}}` after `{name}`"), kinds))?;
            (name, end, &behind.trim_start()[1..])
        }
        None => {
            let at = rest
                .find(['}', other])
                .ok_or_else(|| Problem::new(format!("missing `}}` after `{}`", rest.trim_end()), kinds))?;
            let end = if rest[at..].starts_with('}') { '}' } else { other };
            (rest[..at].trim(), end, &rest[at + 1..])
        }
    };
    if name.is_empty() {
        return Err(Problem::new("empty name in a scope", kinds));
    }
    let scope = match kind.trim() {
        "request" => Scope::Request(name.into()),
        "scenario" => Scope::Scenario(name.into()),
        "group" => Scope::Group(name.into()),
        "tag" => {
            let (key, value) = name
                .split_once('=')
                .ok_or(Problem::new(format!("invalid tag `{name}`"), "write `{tag: KEY=VALUE}`"))?;
            Scope::Tag(key.trim().into(), value.trim().into())
        }
        "agent" => Scope::Agent(name.into()),
        "status" if kinds == STATUSES => Scope::Status(name.into()),
        "metric" if other == ',' => Scope::Metric(name.into()),
        other => return Err(Problem::new(format!("unknown kind of scope `{other}`"), kinds)),
    };
    Ok((scope, end, behind))
}

/// Reports thresholds that the plan can neither meet nor miss: with a scope that covers nothing, or on a metric that is
/// never measured. At the end of the run, they could only be missed for lack of samples.
pub fn check_scopes(thresholds: &[Threshold], outline: &Outline) -> Vec<Diagnostic> {
    thresholds.iter().filter_map(|threshold| check(threshold, outline)).collect()
}

fn check(threshold: &Threshold, outline: &Outline) -> Option<Diagnostic> {
    let covered = |request: &&RequestOutline| match &threshold.scope {
        Some(scope) => scope.covers(request),
        None => !request.is_outside_load,
    };
    // Metrics of a program are unknown before it runs.
    if threshold.subject.family().is_some() {
        return None;
    }
    let text = &threshold.text;
    let wrong =
        |code, message: String, hint: String| Some(Diagnostic::field(code, key::THRESHOLDS, message, hint));
    // Plans with users as code are not checked here.
    if threshold.subject == Subject::IterationsFailed {
        let message = format!("threshold `{text}` requires users as code: only code throws exceptions");
        return wrong("P031", message, "remove the threshold".into());
    }
    if threshold.subject == Subject::GrpcStatus && !outline.requests.iter().any(|request| covered(&request)) {
        let message = format!("threshold `{text}` requires a gRPC call: only calls have a status");
        return wrong("P031", message, "add a `grpc` step, or remove the threshold".into());
    }
    if let Some(scope) = &threshold.scope
        && !outline.requests.iter().any(|request| scope.covers(request))
    {
        let message = format!("unknown {} `{}` in threshold `{text}`", scope.kind(), scope.name());
        return wrong("P030", message, hint(scope, &names(scope, outline)));
    }
    // A request is covered by all groups around it, but a pass belongs only to its own group.
    if let (Subject::GroupTime, Some(scope)) = (threshold.subject, &threshold.scope)
        && !outline.groups.contains(&scope.name())
    {
        let message = format!("unknown group `{}` in threshold `{text}`", scope.name());
        return wrong("P030", message, hint(scope, &outline.groups));
    }
    let within = match &threshold.scope {
        Some(scope) => format!(" in `{scope}`"),
        None => " in the plan".to_owned(),
    };
    let has_any = || outline.requests.iter().filter(covered).any(|request| threshold.subject.is_of(request));
    if threshold.subject.is_of_websockets() && !has_any() {
        let name = threshold.subject.name();
        let message =
            format!("threshold `{text}` requires a WebSocket{within}: only WebSockets have `{name}`");
        return wrong("P031", message, "add a `connect` step, or remove the threshold".into());
    }
    if threshold.subject.is_of_streams() && !has_any() {
        let name = threshold.subject.name();
        let message = format!("threshold `{text}` requires a stream{within}: only streams have `{name}`");
        return wrong("P031", message, "add `stream:` to a request, or remove the threshold".into());
    }
    let has_check = || {
        let mut requests =
            outline.checks.iter().filter_map(|check| outline.requests.get(check.request as usize));
        requests.any(|request| covered(&request))
    };
    if threshold.subject == Subject::Checks && !has_check() {
        let message = format!("threshold `{text}` requires a check{within}");
        return wrong("P031", message, "add `check:` to a request, or remove the threshold".into());
    }
    if threshold.subject == Subject::TlsHandshake && outline.tls().is_none() {
        let message = format!("threshold `{text}` requires an `https` target");
        return wrong("P031", message, "use an `https` target, or remove the threshold".into());
    }
    None
}

/// Returns all names of this kind in the plan, once each.
fn names(scope: &Scope, outline: &Outline) -> Vec<String> {
    let mut names: Vec<String> = outline
        .requests
        .iter()
        .filter(|request| !request.is_outside_load)
        .flat_map(|request| match scope {
            Scope::Request(_) => vec![request.name.clone()],
            Scope::Scenario(_) => request.scenario.iter().cloned().collect(),
            Scope::Group(_) => request.group.iter().cloned().collect(),
            Scope::Tag(..) => request.tags.iter().map(|(key, value)| format!("{key}={value}")).collect(),
            Scope::Agent(_) | Scope::Status(_) | Scope::Metric(_) | Scope::All(_) => Vec::new(),
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Suggests the closest name, or lists the first few.
fn hint(scope: &Scope, names: &[String]) -> String {
    const TOLD: usize = 5;
    let wanted = scope.name();
    let near = names.iter().map(|name| (distance(&wanted, name), name)).min_by_key(|(far, _)| *far);
    match near {
        None => format!("remove the scope (no request has a {})", scope.kind()),
        Some((far, name)) if far <= (wanted.chars().count() / 3).max(1) => format!("did you mean `{name}`?"),
        Some(_) => {
            let told: Vec<String> = names.iter().take(TOLD).map(|name| format!("`{name}`")).collect();
            let more = if names.len() > TOLD { ", or another" } else { "" };
            format!("use one of {}{more}", told.join(", "))
        }
    }
}

/// Counts the insertions, deletions, and replacements that turn one name into the other, ignoring case (Levenshtein
/// 1966).
pub(super) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
