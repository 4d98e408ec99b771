//! What is compared, each aspect of a run as text: two runs agree if their texts are equal.

use crate::plan::Plan;
use crate::results::{self, Row};
use crate::server::Seen;
use crate::tool::Run;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aspect {
    /// For each thread, the requests in their order: method, path, headers, body.
    Requests,
    /// For each thread, the rows of the file of results in their order, without times.
    Results,
    /// Samples and errors by label.
    Counts,
    /// Files that the plan writes.
    Files,
}

pub const ASPECTS: [(Aspect, &str); 4] = [
    (Aspect::Requests, "requests"),
    (Aspect::Results, "results"),
    (Aspect::Counts, "counts"),
    (Aspect::Files, "files"),
];

impl Aspect {
    pub fn of(name: &str) -> Option<Aspect> {
        ASPECTS.iter().find(|(_, known)| *known == name).map(|(aspect, _)| *aspect)
    }
}

/// Returns an aspect of a run as text.
pub fn text(aspect: Aspect, plan: &Plan, run: &Run) -> String {
    let text = match aspect {
        Aspect::Requests => requests(run),
        Aspect::Results => rows(plan, &results::read(&run.results)),
        Aspect::Counts => counts(&results::read(&run.results)),
        Aspect::Files => files(plan, run),
    };
    text.replace(&run.port, "PORT")
}

/// The requests of each thread, which `t` in their query names; all others are in the order of their arrival.
fn requests(run: &Run) -> String {
    let mut threads: BTreeMap<String, String> = BTreeMap::new();
    for seen in &run.seen {
        *threads.entry(seen.value("t").unwrap_or_default()).or_default() += &request(seen);
    }
    threads.iter().map(|(thread, text)| format!("thread {thread}\n{text}")).collect()
}

fn request(seen: &Seen) -> String {
    let kind = seen.header("content-type").unwrap_or_default();
    let boundary = kind.split_once("boundary=").map(|(_, text)| text.split(';').next().unwrap_or_default());
    let boundary = boundary.map(|text| text.trim_matches('"').to_owned()).filter(|text| !text.is_empty());
    let plain = |text: &str| match &boundary {
        Some(boundary) => text.replace(boundary.as_str(), "BOUNDARY"),
        None => text.to_owned(),
    };
    let header = |(name, value): &(String, String)| {
        let value = match name.to_ascii_lowercase().as_str() {
            "authorization" => digest(value),
            "user-agent" if is_of_tool(value) => "(tool)".to_owned(),
            "content-length" if boundary.is_some() => "(length)".to_owned(),
            _ => plain(value),
        };
        format!("    {name}: {value}\n")
    };
    let mut headers: Vec<String> = seen.headers.iter().map(header).collect();
    headers.sort();
    let mut out = format!("  {} {}\n{}", seen.method, seen.target, headers.concat());
    if !seen.body.is_empty() {
        // Each byte as a character, so that no byte is lost.
        let text: String = match std::str::from_utf8(&seen.body) {
            Ok(text) => text.to_owned(),
            Err(_) => seen.body.iter().map(|byte| char::from(*byte)).collect(),
        };
        let _ = writeln!(out, "    body {:?}", plain(&text));
    }
    out
}

fn is_of_tool(agent: &str) -> bool {
    agent.starts_with("Apache-HttpClient/") || agent.starts_with("plimsoll/")
}

/// Returns the values of `User-Agent`: if they differ, so do the numbers of sent bytes.
pub fn agents(run: &Run) -> Vec<&str> {
    run.seen.iter().filter_map(|seen| seen.header("user-agent")).collect()
}

/// Returns rows without the numbers of sent bytes.
pub fn without_sent(rows: &str) -> String {
    let line = |line: &str| match line.rsplit_once(" sent=") {
        Some((before, _)) => format!("{before}\n"),
        None => format!("{line}\n"),
    };
    rows.lines().map(line).collect()
}

/// Replaces the values of a digest that depend on chance.
fn digest(value: &str) -> String {
    let Some(fields) = value.strip_prefix("Digest ") else { return value.to_owned() };
    let field = |text: &str| match text.trim().split_once('=') {
        Some((name @ ("cnonce" | "response"), _)) => format!("{name}=(random)"),
        Some((name, value)) => format!("{name}={}", value.trim_matches('"')),
        None => text.trim().to_owned(),
    };
    let mut fields: Vec<String> = fields.split(',').map(field).collect();
    fields.sort();
    format!("Digest {}", fields.join(", "))
}

fn rows(plan: &Plan, rows: &[Row]) -> String {
    let mut threads: BTreeMap<&str, String> = BTreeMap::new();
    let names: Vec<&str> = rows.iter().map(|row| row.get("threadName")).collect();
    // With several threads, how many are active depends on time.
    let is_single = names.iter().all(|name| *name == names[0]);
    for row in rows {
        let mut line = String::from(" ");
        for column in [
            "label",
            "responseCode",
            "responseMessage",
            "dataType",
            "success",
            "failureMessage",
            "bytes",
            "URL",
        ] {
            // Without a response, JMeter counts the bytes of a stack trace.
            let is_trace = column == "bytes" && row.get("responseCode").starts_with("Non HTTP");
            let value = if is_trace { "(trace)" } else { row.get(column) };
            let _ = write!(line, " {column}={value:?}");
        }
        if is_single {
            let _ = write!(line, " threads={}/{}", row.get("grpThreads"), row.get("allThreads"));
        }
        let _ = write!(line, " sent={}", row.get("sentBytes"));
        let text = threads.entry(row.get("threadName")).or_default();
        *text += &line.replace(&plan.name, "PLAN");
        text.push('\n');
    }
    threads.iter().map(|(thread, text)| format!("thread {thread}\n{text}")).collect()
}

fn counts(rows: &[Row]) -> String {
    let mut labels: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for row in rows {
        let counts = labels.entry(row.get("label")).or_default();
        counts.0 += 1;
        counts.1 += u64::from(row.get("success") != "true");
    }
    let line = |(label, (samples, errors)): (&&str, &(u64, u64))| {
        format!("  {label}: {samples} samples, {errors} errors\n")
    };
    labels.iter().map(line).collect()
}

/// Files by name; in those with a head of columns, times are left out.
fn files(plan: &Plan, run: &Run) -> String {
    let mut out = String::new();
    for (name, text) in &run.files {
        let _ = writeln!(out, "file {name}");
        let head = text.lines().next().unwrap_or_default();
        if head.starts_with("<?xml") {
            out += &elements(text);
            continue;
        }
        match head.contains("label") && head.contains("responseCode") {
            true => {
                let _ = writeln!(out, "  {head}");
                out += &rows(plan, &results::read(text));
            }
            false => text.lines().for_each(|line| out += &format!("  {}\n", masked(line))),
        }
    }
    without_sent(&out)
}

/// XML by tags: without its indentation, and without times.
fn elements(text: &str) -> String {
    let mut out = String::new();
    for tag in text.split('<').map(str::trim_end).filter(|tag| !tag.is_empty()) {
        let mut tag = masked(tag);
        for name in [" t", " it", " lt", " ct"] {
            let Some((before, rest)) = tag.split_once(&format!("{name}=\"")) else { continue };
            let rest = rest.split_once('"').map_or(rest, |(_, rest)| rest);
            tag = format!("{before}{name}=\"(time)\"{rest}");
        }
        let _ = writeln!(out, "  <{tag}");
    }
    out
}

/// Replaces long numbers, such as times since 1970.
fn masked(line: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for sign in line.chars().chain([' ']) {
        if sign.is_ascii_digit() {
            digits.push(sign);
            continue;
        }
        out += if digits.len() > 5 { "(number)" } else { &digits };
        digits.clear();
        out.push(sign);
    }
    out.trim_end().to_owned()
}
