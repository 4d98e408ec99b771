//! `monitors:` and `environment:`: what to monitor on the system under test, and its description by the user.
//!
//! The kinds and the forms of their addresses are in `plimsoll_plan::watch`: a text means the same here as after
//! `--monitor`.

use plimsoll_build::expression::{Expression, Piece};

use super::key::{Key, Row, Section, of};
use super::reader::Reader;
use super::steps::regex;
use super::yaml::one_or_more;
use super::yaml::{Entry, Node, Scalar, Value};
use plimsoll_build::sentence::alternatives;
use plimsoll_build::source::Pos;
use plimsoll_plan::Problem;
use plimsoll_plan::watch::read::{self, MaskedText};
use plimsoll_plan::watch::{AgentSelector, Group, Nginx, Prometheus, Source, Watch, Who};

/// Reads `monitors:`.
pub fn read(node: &Node, row: &Row, r: &mut Reader<'_>) -> Vec<Watch> {
    let mut watches: Vec<Watch> = Vec::new();
    for item in r.list(node, row).unwrap_or_default() {
        let Some((watch, pos)) = one(item, row, r) else { continue };
        if watches.iter().any(|other| other.name == watch.name) {
            let message = format!("duplicate monitor name `{}`", watch.name);
            r.complain("F013", pos, message, "give each monitor its own name, such as `name: api`");
            continue;
        }
        watches.push(watch);
    }
    watches
}

/// Reads one monitor, and the place of its name.
fn one(item: &Node, row: &Row, r: &mut Reader<'_>) -> Option<(Watch, Pos)> {
    let Value::Map(entries) = &item.value else {
        r.expected(item, row, "write each monitor as a mapping, such as `- host: true`");
        return None;
    };
    let before = r.wrong.len();
    let mut name: Option<(String, Pos)> = None;
    let mut on = None;
    let mut sources: Vec<(&Entry, Option<Source>)> = Vec::new();
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::Monitor::Name => name = r.parsed(node, row, read::name).map(|name| (name, node.pos)),
            of::Monitor::On => on = r.parsed(node, row, AgentSelector::parse),
            of::Monitor::Host
            | of::Monitor::Process
            | of::Monitor::Cgroup
            | of::Monitor::Postgres
            | of::Monitor::Redis
            | of::Monitor::Nginx
            | of::Monitor::Node
            | of::Monitor::Go
            | of::Monitor::Prometheus
            | of::Monitor::Command => sources.push((entry, source(node, row, key, r))),
        }
    }
    if let [(first, _), (second, _), ..] = sources.as_slice() {
        let message = format!("`{}` and `{}` in one monitor", first.key, second.key);
        r.complain("F017", second.pos, message, "begin another monitor with `- `");
    } else if sources.is_empty() && r.wrong.len() == before {
        let message = "missing source: a monitor requires one";
        r.complain(
            "F016",
            item.pos,
            message,
            format!("add one of {}", alternatives(Source::KINDS.iter().copied())),
        );
    }
    if r.wrong.len() > before {
        return None;
    }
    let source = sources.pop()?.1?;
    let (name, pos) = name.unwrap_or_else(|| (source.default_name(), item.pos));
    Some((Watch { name, source, on }, pos))
}

fn source(node: &Node, row: &Row, key: of::Monitor, r: &mut Reader<'_>) -> Option<Source> {
    let fields = match &node.value {
        Value::Map(fields) => Some(fields.as_slice()),
        _ => None,
    };
    match (key, fields) {
        (of::Monitor::Host, _) => {
            if r.truth(node, row)? {
                return Some(Source::Host);
            }
            let hint = "write `host: true`, or remove this monitor";
            r.complain("F015", node.pos, "`host: false` monitors nothing", hint);
            None
        }
        (of::Monitor::Process, Some(fields)) => {
            who(fields, mark_of_process, node, row, r).map(Source::Process)
        }
        (of::Monitor::Cgroup, Some(fields)) => cgroup(fields, node, row, r),
        (of::Monitor::Nginx, Some(fields)) => nginx(fields, node, row, r),
        (of::Monitor::Prometheus, Some(fields)) => prometheus(fields, node, row, r),
        (of::Monitor::Command, None) if r.keep_to.is_none() && matches!(node.value, Value::List(_)) => {
            command(node, row, r)
        }
        (of::Monitor::Command, _) if !r.may_run(row.name, node.pos) => None,
        // What is run or shown must not contain secrets; addresses may.
        (of::Monitor::Process | of::Monitor::Cgroup | of::Monitor::Command, _) => {
            r.parsed(node, row, |text| parse_text(row.name, MaskedText::open(text)))
        }
        (of::Monitor::Nginx, None) => {
            let source = address(node, row, r, |told| parse_text("nginx", told))?;
            Some(match source {
                Source::Nginx(Nginx { status, access_log }) => {
                    let access_log = match access_log {
                        Some(log) => Some(r.path(&log.to_string_lossy(), node.pos)?),
                        None => None,
                    };
                    Source::Nginx(Nginx { status, access_log })
                }
                other => other,
            })
        }
        (
            of::Monitor::Postgres
            | of::Monitor::Redis
            | of::Monitor::Node
            | of::Monitor::Go
            | of::Monitor::Prometheus,
            _,
        ) => address(node, row, r, |told| parse_text(row.name, told)),
        // The caller handles these.
        (of::Monitor::Name | of::Monitor::On, _) => None,
    }
}

/// Parses a source as `--monitor` does.
fn parse_text(kind: &str, told: MaskedText<'_>) -> Result<Source, Problem> {
    Source::parse(kind, told)
}

/// How a monitor identifies its process.
enum Mark {
    Pid,
    Name,
    Port,
}

fn mark_of_process(key: of::MonitorProcess) -> Option<Mark> {
    Some(match key {
        of::MonitorProcess::Pid => Mark::Pid,
        of::MonitorProcess::Name => Mark::Name,
        of::MonitorProcess::Port => Mark::Port,
    })
}

fn mark_of_cgroup(key: of::MonitorCgroup) -> Option<Mark> {
    match key {
        of::MonitorCgroup::Pid => Some(Mark::Pid),
        of::MonitorCgroup::Name => Some(Mark::Name),
        of::MonitorCgroup::Port => Some(Mark::Port),
        // Does not name a process.
        of::MonitorCgroup::Path => None,
    }
}

/// Reads the process, identified by one of `pid`, `name`, and `port`.
fn who<K: Key>(
    fields: &[Entry],
    mark: impl Fn(K) -> Option<Mark>,
    node: &Node,
    row: &Row,
    r: &mut Reader<'_>,
) -> Option<Who> {
    let before = r.wrong.len();
    let mut found: Vec<(&Entry, Option<Who>)> = Vec::new();
    for entry in fields {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        let who = match mark(key) {
            Some(Mark::Pid) => r.parsed(node, row, read::pid).map(Who::Pid),
            Some(Mark::Port) => r.parsed(node, row, read::port).map(Who::Port),
            Some(Mark::Name) => r.parsed(node, row, read::program).map(Who::Name),
            None => continue,
        };
        found.push((entry, who));
    }
    match found.as_slice() {
        [_, (second, _), ..] => {
            let message = format!("`{}` names its process twice", row.name);
            r.complain("F017", second.pos, message, "keep one of `pid`, `name`, and `port`");
        }
        [] if r.wrong.len() == before => {
            r.expected(node, row, "add one of `pid`, `name`, and `port`");
        }
        _ => {}
    }
    if r.wrong.len() > before { None } else { found.pop()?.1 }
}

fn cgroup(fields: &[Entry], node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Source> {
    let Some(path) = fields.iter().find(|entry| entry.key == "path") else {
        let who = who(fields, mark_of_cgroup, node, row, r)?;
        return Some(Source::Cgroup(Group::Of(who)));
    };
    if let Some(other) = fields.iter().find(|entry| entry.key != "path") {
        let message = "`cgroup` names its group twice";
        r.complain(
            "F017",
            path.pos.max(other.pos),
            message,
            "keep either `path` or the process in the group",
        );
        return None;
    }
    let row = r.row(Section::MonitorCgroup, path)?;
    let path = r.parsed(&path.value, row, |text| match text.starts_with('/') {
        true => Ok(text.to_owned()),
        false => Err(Problem::new(
            format!("invalid cgroup path `{text}`: it must begin with `/`"),
            "write a path such as `/sys/fs/cgroup/x`",
        )),
    });
    path.map(|path| Source::Cgroup(Group::Path(path.into())))
}

fn nginx(fields: &[Entry], node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Source> {
    let before = r.wrong.len();
    let mut nginx = Nginx::default();
    for entry in fields {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::MonitorNginx::Status => nginx.status = address(node, row, r, read::web),
            // The server may create the file at its first request, so only the run shows whether it exists.
            of::MonitorNginx::AccessLog => {
                nginx.access_log = r.text(node, row).and_then(|text| r.path(text, node.pos))
            }
        }
    }
    if r.wrong.len() > before {
        return None;
    }
    if nginx.status.is_none() && nginx.access_log.is_none() {
        r.expected(node, row, "add `status`, `access_log`, or both");
        return None;
    }
    Some(Source::Nginx(nginx))
}

fn prometheus(fields: &[Entry], node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Source> {
    let before = r.wrong.len();
    let (mut scrape, mut server, mut query, mut metrics) = (None, None, None, None);
    for entry in fields {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::MonitorPrometheus::Scrape => {
                scrape = address(node, row, r, read::web).map(|url| (url, entry.pos))
            }
            of::MonitorPrometheus::Server => {
                server = address(node, row, r, read::web).map(|url| (url, entry.pos))
            }
            of::MonitorPrometheus::Query => {
                query = r.parsed(node, row, query_of).map(|query| (query, entry.pos))
            }
            of::MonitorPrometheus::Metrics => {
                let names = one_or_more(node).iter();
                let names: Vec<String> = names.filter_map(|node| pattern(node, row, r)).collect();
                metrics = Some((names, entry.pos));
            }
        }
    }
    if r.wrong.len() > before {
        return None;
    }
    let apart = "`scrape` contradicts `server` and `query`: a monitor reads either a page or a query";
    match (scrape, server, query, metrics) {
        (Some((url, _)), None, None, metrics) => {
            let metrics = metrics.map_or_else(Vec::new, |(names, _)| names);
            Some(Source::Prometheus(Prometheus::Scrape { url, metrics }))
        }
        (None, Some((server, _)), Some((query, _)), None) => {
            Some(Source::Prometheus(Prometheus::Query { server, query }))
        }
        (None, None, None, _) => {
            r.expected(node, row, "add `scrape`, or `server` with its `query`");
            None
        }
        (None, Some((_, pos)), None, _) => {
            let message = "missing `query`: `server` requires it";
            r.complain("F016", pos, message, "add a query, such as `query: up`");
            None
        }
        (None, None, Some((_, pos)), _) => {
            let hint = "add a server, such as `server: \"http://127.0.0.1:9090\"`";
            r.complain("F016", pos, "missing `server`: `query` requires it", hint);
            None
        }
        (_, Some((_, pos)), _, _) | (_, _, Some((_, pos)), _) => {
            r.complain("F017", pos, apart, "keep one of them, or write two monitors");
            None
        }
    }
}

fn query_of(text: &str) -> Result<String, Problem> {
    match text.trim().is_empty() {
        true => Err(Problem::new("`query` is empty", "write a query such as `sum(rate(x[5s]))`")),
        false => Ok(text.to_owned()),
    }
}

/// Reads a pattern for a whole metric name.
fn pattern(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<String> {
    let text = r.written(node, row)?;
    regex(text, node.pos, r)?;
    Some(text.to_owned())
}

/// Reads a program with its arguments. Arguments may be secrets, so only the program is ever shown.
fn command(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Source> {
    let before = r.wrong.len();
    let items = r.list(node, row)?;
    let mut words = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let word = match number {
            0 => r.written(item, row).map(str::to_owned),
            _ => revealed(item, row, r).map(|(text, _)| text),
        };
        words.extend(word);
    }
    if words.is_empty() && r.wrong.len() == before {
        r.expected(node, row, "name a program");
    }
    (r.wrong.len() == before).then_some(Source::Command(words))
}

/// Reads an address, which may contain secrets.
fn address<T>(
    node: &Node,
    row: &Row,
    r: &mut Reader<'_>,
    parse: impl FnOnce(MaskedText<'_>) -> Result<T, Problem>,
) -> Option<T> {
    let (text, shown) = revealed(node, row, r)?;
    match parse(MaskedText { text: &text, shown: &shown }) {
        Ok(value) => Some(value),
        Err(problem) => {
            r.complain_of(node.pos, problem);
            None
        }
    }
}

/// Returns a text with its secrets filled in, and the same text as it may be shown. Values that change with every
/// request are rejected.
pub(super) fn revealed(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<(String, String)> {
    let is_secret = |piece: &Piece| match piece {
        Piece::Expression { means: Expression::Field(front, _), .. } => front == "secret",
        _ => false,
    };
    let secrets: Option<&Scalar> = match &node.value {
        Value::Scalar(scalar) if scalar.pieces.iter().any(is_secret) => Some(scalar),
        _ => None,
    };
    let Some(scalar) = secrets.filter(|scalar| !scalar.spoiled) else {
        return r.written(node, row).map(|text| (text.to_owned(), text.to_owned()));
    };
    let mut text = String::new();
    for piece in &scalar.pieces {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Expression { means: Expression::Field(front, name), .. } if front == "secret" => {
                text.push_str(r.secrets.get(name)?);
            }
            // The reader reports why the value is not fixed.
            Piece::Expression { written, means } => {
                let rest = Scalar {
                    text: written.clone(),
                    pieces: vec![Piece::Expression { written: written.clone(), means: means.clone() }],
                    ..Scalar::default()
                };
                let rest = Node { pos: node.pos, value: Value::Scalar(rest) };
                r.written(&rest, row)?;
                return None;
            }
        }
    }
    Some((text, scalar.text.clone()))
}

/// Reads `environment:`: names and values in their order. Names in an inner mapping get its name and a dot as prefix.
pub fn environment(node: &Node, row: &Row, r: &mut Reader<'_>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in r.map(node, row).unwrap_or_default() {
        let Value::Map(fields) = &entry.value.value else {
            all.extend(fact(&entry.key, entry, row, r));
            continue;
        };
        for field in fields {
            if matches!(field.value.value, Value::Map(_)) {
                let message = format!("`{}` is nested too deeply in `environment`", field.key);
                r.complain(
                    "F014",
                    field.value.pos,
                    message,
                    "write texts and numbers, in one level of mappings at most",
                );
                continue;
            }
            all.extend(fact(&format!("{}.{}", entry.key, field.key), field, row, r));
        }
    }
    all
}

fn fact(name: &str, entry: &Entry, row: &Row, r: &mut Reader<'_>) -> Option<(String, String)> {
    let text = r.written(&entry.value, row)?;
    Some((name.to_owned(), text.to_owned()))
}
