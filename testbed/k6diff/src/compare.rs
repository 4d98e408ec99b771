//! What is compared, each aspect of a run as text: two runs agree if their texts are equal.

use crate::mask;
use crate::script::{Aspect, Script};
use crate::server::Seen;
use crate::tool::Outcome;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Returns an aspect of a run as text.
pub fn text(aspect: Aspect, script: &Script, outcome: &Outcome) -> String {
    match aspect {
        Aspect::Requests => requests(script, outcome),
        Aspect::Connections => connections(outcome),
        Aspect::Checks => checks(outcome),
        Aspect::Metrics => metrics(outcome),
        Aspect::Keys => keys(outcome),
        Aspect::Thresholds => thresholds(outcome),
        Aspect::Exit => format!("{}\n", outcome.exit),
        Aspect::Console => console(outcome),
        Aspect::Errors => errors(outcome),
        Aspect::Output => output(outcome),
    }
}

fn by_user(outcome: &Outcome) -> BTreeMap<&str, Vec<&Seen>> {
    let mut users: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    for seen in &outcome.seen {
        users.entry(&seen.vu).or_default().push(seen);
    }
    users
}

fn requests(script: &Script, outcome: &Outcome) -> String {
    let mut out = String::new();
    for (user, all) in by_user(outcome) {
        let mut blocks: Vec<String> = all.into_iter().map(request).collect();
        if script.is_unordered {
            blocks.sort();
        }
        let _ = write!(out, "user {user}\n{}", blocks.concat());
    }
    out
}

fn request(seen: &Seen) -> String {
    let kind = seen.header("content-type").unwrap_or_default();
    let boundary = kind.split_once("boundary=").map(|(_, text)| text.trim_matches('"').to_owned());
    let plain = |text: &str| match &boundary {
        Some(boundary) if !boundary.is_empty() => text.replace(boundary, "BOUNDARY"),
        _ => text.to_owned(),
    };
    let header = |(name, value): &(String, String)| {
        let name = name.to_ascii_lowercase();
        let value = match name.as_str() {
            "sec-websocket-key" => "(random)".to_owned(),
            "authorization" => mask::digest(value),
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

/// The connections of each user, numbered by their first use.
fn connections(outcome: &Outcome) -> String {
    let mut out = String::new();
    for (user, all) in by_user(outcome) {
        let mut numbers: Vec<usize> = Vec::new();
        for seen in all {
            let number = numbers.iter().position(|known| *known == seen.connection).unwrap_or_else(|| {
                numbers.push(seen.connection);
                numbers.len() - 1
            });
            let _ = writeln!(out, "user {user}: connection {number}: {} {}", seen.method, seen.target);
        }
    }
    out
}

fn checks(outcome: &Outcome) -> String {
    let root = outcome.data.as_ref().or(outcome.export.as_ref()).map(|all| &all["root_group"]);
    let mut out = String::new();
    group(root.unwrap_or(&Value::Null), 0, &mut out);
    out
}

/// Groups and checks are lists in the data, and objects in the exported file.
fn group(of: &Value, depth: usize, out: &mut String) {
    let space = "  ".repeat(depth);
    let _ = writeln!(out, "{space}group {} {} {}", of["name"], of["path"], of["id"]);
    for check in elements(&of["checks"]) {
        let (name, path, id) = (&check["name"], &check["path"], &check["id"]);
        let _ = writeln!(out, "{space}  check {name} {path} {id}: {} {}", check["passes"], check["fails"]);
    }
    for nested in elements(&of["groups"]) {
        group(nested, depth + 1, out);
    }
}

fn elements(of: &Value) -> Vec<&Value> {
    match of {
        Value::Array(all) => all.iter().collect(),
        Value::Object(all) => all.values().collect(),
        _ => Vec::new(),
    }
}

fn metrics_of(outcome: &Outcome) -> Map<String, Value> {
    let export = outcome.export.as_ref().and_then(|export| export["metrics"].as_object());
    export.cloned().unwrap_or_default()
}

/// Users are sampled each second, so short tests have none in k6.
const SAMPLED: [&str; 2] = ["vus", "vus_max"];

/// Names of metrics, and the values that do not depend on time.
fn metrics(outcome: &Outcome) -> String {
    let mut out = String::new();
    for (name, values) in metrics_of(outcome).iter().filter(|(name, _)| !SAMPLED.contains(&name.as_str())) {
        let contains = outcome.data.as_ref().map(|data| &data["metrics"][name]["contains"]);
        let is_plain = contains.is_some_and(|contains| contains == "default");
        let is_timed = name.starts_with("data_");
        let shown = |key: &str, value: &Value| match key {
            "count" | "passes" | "fails" if !is_timed => Some(value.to_string()),
            "avg" | "min" | "max" | "med" if is_plain => value.as_f64().map(mask::rounded),
            "value" if !is_timed => value.as_f64().map(mask::rounded),
            _ => None,
        };
        let values = values.as_object().cloned().unwrap_or_default();
        let values = values.iter().filter_map(|(key, value)| Some(format!(" {key}={}", shown(key, value)?)));
        let _ = writeln!(out, "{name}{}", values.collect::<String>());
    }
    out
}

fn keys(outcome: &Outcome) -> String {
    let mut out = String::new();
    for (title, value) in [("data", &outcome.data), ("export", &outcome.export)] {
        match value {
            Some(value) => shape(title, value, &mut out),
            None => out.push_str(&format!("no {title}\n")),
        }
    }
    out
}

/// Paths of all values, with their types.
fn shape(path: &str, value: &Value, out: &mut String) {
    match value {
        Value::Object(all) if path.ends_with("root_group") => {
            let _ = writeln!(out, "{path}: {:?}", all.keys().collect::<Vec<_>>());
        }
        Value::Object(all) => {
            let is_sampled = |key: &str| path.ends_with(".metrics") && SAMPLED.contains(&key);
            let mut pairs: Vec<_> = all.iter().filter(|(key, _)| !is_sampled(key)).collect();
            pairs.sort_by_key(|(key, _)| key.as_str());
            pairs.into_iter().for_each(|(key, value)| shape(&format!("{path}.{key}"), value, out));
        }
        Value::Array(all) => {
            let _ = writeln!(out, "{path}: {}", Value::Array(all.clone()));
        }
        Value::Number(_) => {
            let _ = writeln!(out, "{path}: number");
        }
        Value::Bool(_) if path.contains("isStd") || path.ends_with("noColor") => {
            let _ = writeln!(out, "{path}: bool");
        }
        other => {
            let _ = writeln!(out, "{path}: {other}");
        }
    }
}

fn thresholds(outcome: &Outcome) -> String {
    let mut out = String::new();
    for (name, values) in metrics_of(outcome) {
        for (source, is_missed) in values["thresholds"].as_object().into_iter().flatten() {
            let _ = writeln!(out, "{name} {source}: missed {is_missed}");
        }
    }
    out
}

/// The lines of the log, which both tools write as JSON.
fn log(outcome: &Outcome) -> Vec<Value> {
    outcome.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn console(outcome: &Outcome) -> String {
    let lines = log(outcome).into_iter().filter(|line| line["source"] == "console");
    let mut lines: Vec<String> =
        lines.map(|line| format!("{} {}\n", line["level"].as_str().unwrap_or("?"), line["msg"])).collect();
    if by_user(outcome).len() > 1 {
        lines.sort();
    }
    lines.concat()
}

/// Exceptions of iterations, `setup()`, and `teardown()`: the text of those that the script made, the class of others,
/// and the line that threw. Columns and the sentences of the language differ between engines.
fn errors(outcome: &Outcome) -> String {
    let mut out: Vec<String> = Vec::new();
    for line in log(outcome).into_iter().filter(|line| {
        let is_of_promise = line["msg"].as_str().is_some_and(|text| text.starts_with("Uncaught"));
        line["source"] == "stacktrace" || is_of_promise
    }) {
        let text = line["msg"].as_str().unwrap_or_default();
        let mut lines = text.lines();
        let what = lines.next().unwrap_or_default();
        // Functions of k6 itself have no place in a script.
        let frames = lines.filter_map(|line| line.trim_start().strip_prefix("at "));
        let place =
            frames.map(mask::place).find(|place| [".js:", ".ts:"].iter().any(|end| place.contains(end)));
        // Errors of functions in Go have their own name.
        let what = what.trim_start_matches("Uncaught (in promise) ").replace("GoError", "Error");
        let (class, _) = what.split_once(": ").unwrap_or((&what, ""));
        let is_of_language = class.ends_with("Error") && class != "Error" && class != "OwnError";
        let what = if is_of_language { class } else { &what };
        let place = place.unwrap_or_default();
        let line = place.rsplit_once(':').map_or("", |(line, _)| line);
        out.push(format!("{what} [{}]\n", line.rsplit(' ').next().unwrap_or_default()));
    }
    if by_user(outcome).len() > 1 {
        out.sort();
    }
    out.concat()
}

fn output(outcome: &Outcome) -> String {
    let files = outcome.files.iter().map(|(name, text)| format!("file {name}\n{}", mask::numbers(text)));
    format!("{}\n{}", mask::numbers(&outcome.stdout), files.collect::<String>())
}
