//! `thresholds:`: conditions as text or as mappings, and the equivalents of other tools.

use super::key::{self, Row, Section, of};
use super::reader::Reader;
use super::yaml::one_or_more;
use super::yaml::{Entry, Node, Value};
use plimsoll_build::nearest::nearest;
use plimsoll_build::sentence::short;
use plimsoll_plan::Problem;
use plimsoll_plan::threshold::{Subject, Threshold, parse};
use plimsoll_plan::{Draft, unit};

/// Metrics of k6 and common names, and the plimsoll metrics that they correspond to.
const METRICS: [(&str, &str); 9] = [
    ("http_req_duration", "response_time"),
    ("http_req_waiting", "time_to_first_byte"),
    ("http_req_connecting", "connect"),
    ("http_req_tls_handshaking", "tls_handshake"),
    ("http_req_failed", "error_rate"),
    ("http_reqs", "requests"),
    ("group_duration", "group_time"),
    ("latency", "response_time"),
    ("duration", "response_time"),
];

/// Reads conditions as text, or as mappings with the same parts.
pub fn read(node: &Node, row: &Row, draft: &mut Draft, r: &mut Reader<'_>) {
    for item in one_or_more(node) {
        let Value::Map(entries) = &item.value else {
            if let Some(text) = r.written(item, row) {
                match parse(text) {
                    Ok(threshold) => draft.thresholds.push(threshold),
                    Err(problem) => refuse(text, item, problem, r),
                }
            }
            continue;
        };
        if !refuse_torn(entries, r) {
            draft.thresholds.extend(in_pieces(item, entries, row, r));
        }
    }
}

/// Reads a mapping such as `{ threshold: "error_rate < 1%", over: 10s }`.
fn in_pieces(item: &Node, entries: &[Entry], row: &Row, r: &mut Reader<'_>) -> Option<Threshold> {
    let before = r.wrong.len();
    let (mut text, mut over, mut abort) = (None, String::new(), String::new());
    if let Some(first) = entries.first()
        && !entries.iter().any(|entry| is_like_a_part(&entry.key))
    {
        let rule = as_rule(first).unwrap_or_else(|| "response_time p95 < 300ms".to_owned());
        let message = format!("unknown key `{}` in a threshold", first.key);
        r.complain("F011", first.pos, message, format!("write the rule as text, such as `\"{rule}\"`"));
        return None;
    }
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        let time = |text: &str| unit::duration_ns(text).map(|_| text.trim().to_owned());
        match key {
            of::Threshold::Threshold => text = r.text(node, row).map(|text| (text.to_owned(), node)),
            of::Threshold::Over => {
                over = r.parsed(node, row, time).map_or(String::new(), |t| format!(" over {t}"))
            }
            of::Threshold::AbortAfter => {
                abort = r.parsed(node, row, time).map_or(String::new(), |t| format!(" abort after {t}"))
            }
        }
    }
    let Some((text, node)) = text else {
        if r.wrong.len() == before {
            r.expected(item, row, "add `threshold: \"error_rate < 1%\"`");
        }
        return None;
    };
    parse(&format!("{text}{over}{abort}")).map_err(|problem| refuse(&text, node, problem, r)).ok()
}

/// Returns whether a key is a part of a threshold, or probably a misspelled one.
fn is_like_a_part(name: &str) -> bool {
    nearest(name, key::names(Section::Threshold)).is_some()
}

/// Rewrites `p95: 300ms`, `error_rate: 1%`, or `response_time: { p95: 300ms }` as a rule.
fn as_rule(entry: &Entry) -> Option<String> {
    let (statistic, limit) = match &entry.value.value {
        Value::Map(inner) => {
            let first = inner.first()?;
            let Value::Scalar(limit) = &first.value.value else { return None };
            (format!("{} {}", entry.key, first.key), &limit.text)
        }
        Value::Scalar(limit) => (entry.key.clone(), &limit.text),
        Value::List(_) => return None,
    };
    let forms = [format!("{statistic} {limit}"), format!("{statistic} < {limit}")];
    let rule = forms.iter().find_map(|text| parse(text).ok())?;
    // A percentile alone means the response time.
    let is_short = !Subject::ALL.iter().any(|subject| rule.text.starts_with(subject.name()));
    Some(spaced(&if is_short { format!("response_time {}", rule.text) } else { rule.text }))
}

/// The end of the hint for a time without a unit.
const FOR_SECONDS: &str = " for seconds";

/// Reports an invalid threshold, with the equivalent plimsoll threshold if there is one.
fn refuse(text: &str, node: &Node, problem: Problem, r: &mut Reader<'_>) {
    let Some(hint) = equivalent(text) else { return r.complain_of(node.pos, problem) };
    let what = if hint.ends_with(FOR_SECONDS) { "missing unit in threshold" } else { "invalid threshold" };
    let message = format!("{what} `{}`", short(text));
    r.complain("F015", node.pos, message, hint);
}

fn equivalent(text: &str) -> Option<String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let metric = METRICS.iter().find(|(theirs, _)| *theirs == name).map(|(_, own)| *own);
    let subject = match metric.or_else(|| Subject::ALL.iter().map(|s| s.name()).find(|own| *own == name)) {
        Some(subject) => format!("{subject} {}", rest.trim_start()),
        // A percentile or a mean alone: other tools name the metric one level up.
        None if matches!(name, "p" | "avg" | "med" | "mean" | "min" | "max") || is_percentile(name) => {
            format!("response_time {text}")
        }
        None => return None,
    };
    let plain = subject.replace("p(", "p").replace(") ", " ").replace(')', " ").replace(" avg", " mean");
    let plain = spaced(&plain);
    if let Ok(threshold) = parse(&plain) {
        return Some(format!("write `{}`", threshold.text));
    }
    if let (Ok(ms), Ok(s)) = (parse(&format!("{plain}ms")), parse(&format!("{plain}s"))) {
        // k6 writes times in milliseconds, without the unit.
        let is_k6 = metric.is_some() && name != "latency" || text.contains("p(");
        return Some(match is_k6 {
            true => format!("write `{}`", ms.text),
            false => format!("write `{}` for milliseconds, or `{}`{FOR_SECONDS}", ms.text, s.text),
        });
    }
    let example = match metric? {
        "error_rate" => "error_rate < 1%",
        "requests" => "throughput > 500/s",
        metric => return Some(format!("use `{metric}` instead, such as `{metric} p95 < 250ms`")),
    };
    let metric = example.split(' ').next().unwrap_or_default();
    Some(format!("use `{metric}` instead, such as `{example}`"))
}

/// Adds spaces around the comparison of a text such as `p95<200`.
fn spaced(text: &str) -> String {
    let is_sign = |c: char| "<>=!".contains(c);
    let Some(at) = text.find(is_sign) else { return text.to_owned() };
    let (left, rest) = text.split_at(at);
    let right = rest.trim_start_matches(is_sign);
    format!("{} {} {}", left.trim(), &rest[..rest.len() - right.len()], right.trim())
}

fn is_percentile(name: &str) -> bool {
    name.strip_prefix('p')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Reports a text that YAML read as a mapping, because `{request: list}` contains a colon and a space, and k6's mapping
/// from metrics to conditions.
fn refuse_torn(entries: &[Entry], r: &mut Reader<'_>) -> bool {
    let mut is_torn = false;
    for entry in entries {
        let condition = match &entry.value.value {
            Value::List(list) => list.first().map(|node| &node.value),
            value => Some(value),
        };
        let Some(Value::Scalar(condition)) = condition else { continue };
        let name = entry.key.split(['{', ' ']).next().unwrap_or_default();
        let is_subject = Subject::ALL.iter().any(|subject| subject.name() == name);
        if entry.key.contains('{') {
            let text = format!("{}: {}", entry.key, condition.text);
            let message = "the colon makes this unquoted threshold a mapping";
            r.complain(
                "F014",
                entry.pos,
                message,
                format!("put the threshold in quotes: `\"{}\"`", short(&text)),
            );
        } else if is_subject || METRICS.iter().any(|(theirs, _)| *theirs == name) {
            let ours = equivalent(&format!("{} {}", entry.key, condition.text))
                .or_else(|| as_rule(entry).map(|rule| format!("write `{rule}`")));
            let hint = ours.unwrap_or_else(|| "write `response_time p95 < 250ms`".to_owned());
            let message = format!("invalid threshold: `{}` is a key, expected one text", entry.key);
            r.complain("F014", entry.pos, message, format!("{hint}, as a list item"));
        } else {
            continue;
        }
        is_torn = true;
    }
    is_torn
}
