//! Checks: what an answer must be.

use super::rule::{self, Bare, in_words};
use crate::own::expression::short;
use crate::own::key::{Row, Section};
use crate::own::one_or_more;
use crate::own::work::Work;
use crate::own::yaml::{Node, Value};
use plimsoll_plan::answer::{Check, Hash, Statuses, Subject};
use plimsoll_plan::script::Ask;
use plimsoll_plan::unit;

/// Reads `check:` into the request.
pub fn read(node: &Node, row: &Row, ask: &mut Ask, w: &mut Work<'_>) {
    for item in one_or_more(node) {
        one(item, row, ask, w);
    }
    if ask.checks.is_empty() && matches!(&node.value, Value::Map(entries) if entries.is_empty()) {
        w.r.expected(node, row, "say what the answer must be");
    }
}

fn one(node: &Node, row: &Row, ask: &mut Ask, w: &mut Work<'_>) {
    let Some(entries) = w.r.map(node, row) else { return };
    let mut found: Vec<(Subject, String)> = Vec::new();
    let mut name = None;
    for entry in entries {
        let (node, Some(row)) = (&entry.value, w.r.row(Section::Check, entry)) else { continue };
        match row.name {
            "name" => name = w.r.text(node, row).map(|text| (text.to_owned(), node.pos)),
            "status" => {
                let Some(statuses) = w.r.parsed(node, row, Statuses::parse) else { continue };
                if ask.expect.is_some() {
                    w.r.complain("F017", entry.pos, "two checks say which status is right", "keep one");
                    continue;
                }
                let words = w.r.written(node, row).unwrap_or_default().to_owned();
                ask.expect = Some(statuses.clone());
                found.push((Subject::Status(statuses), format!("status is {words}")));
            }
            "header" => {
                for header in w.r.map(node, row).unwrap_or_default() {
                    for rule in rule::read(&header.value, row, Bare::Equals, w) {
                        let words = format!("header {} {}", header.key, in_words(&rule));
                        found.push((Subject::Header { name: header.key.clone(), rule }, words));
                    }
                }
            }
            "body" => {
                for item in one_or_more(node) {
                    for rule in rule::read(item, row, Bare::Contains, w) {
                        let words = format!("body {}", in_words(&rule));
                        found.push((Subject::Body(rule), words));
                    }
                }
            }
            "json" => {
                for path in w.r.map(node, row).unwrap_or_default() {
                    if rule::json_path(&path.key, path.pos, w).is_none() {
                        continue;
                    }
                    for rule in rule::read(&path.value, row, Bare::Equals, w) {
                        let words = format!("{} {}", short(&path.key), in_words(&rule));
                        found.push((Subject::Json { path: path.key.clone(), rule }, words));
                    }
                }
            }
            "length" => {
                if let Some((least_bytes, most_bytes)) = w.r.parsed(node, row, lengths) {
                    let words = match least_bytes == most_bytes {
                        true => format!("length is {least_bytes}"),
                        false => format!("length is {least_bytes}..{most_bytes}"),
                    };
                    found.push((Subject::Length { least_bytes, most_bytes }, words));
                }
            }
            "hash" => hashes(node, row, &mut found, w),
            _ => {
                if let Some(below_ns) = w.r.parsed(node, row, unit::duration_ns) {
                    let words = format!("below {}", w.r.written(node, row).unwrap_or_default());
                    found.push((Subject::Duration { below_ns }, words));
                }
            }
        }
    }
    if let (Some((_, pos)), true) = (&name, found.is_empty()) {
        w.r.complain(
            "F016",
            *pos,
            "this check asks for nothing",
            "add what the answer must be, such as `status: 200`",
        );
    }
    let several = found.len() > 1;
    for (on, words) in found {
        let name = match &name {
            Some((name, _)) if several => format!("{name}: {words}"),
            Some((name, _)) => name.clone(),
            None => words,
        };
        add(name, on, ask);
    }
    if let Some((name, pos)) = &name
        && ask.checks.iter().any(|check| check.name == format!("{name} (2)"))
    {
        let message = format!("two checks are called `{name}`");
        w.r.complain("F013", *pos, message, "give each a name of its own: reports tell them apart by it");
    }
}

fn add(name: String, on: Subject, ask: &mut Ask) {
    let taken = |name: &str| ask.checks.iter().any(|check| check.name == name);
    let mut apart = name.clone();
    let mut number = 1;
    while taken(&apart) {
        number += 1;
        apart = format!("{name} ({number})");
    }
    ask.checks.push(Check { name: apart, on });
}

/// `683481`, `64k`, `10..200`: both ends included.
fn lengths(text: &str) -> Result<(u64, u64), String> {
    let Some((least, most)) = text.split_once("..") else {
        return unit::size_bytes(text).map(|bytes| (bytes, bytes));
    };
    let least_bytes = if least.trim().is_empty() { 0 } else { unit::size_bytes(least)? };
    let most_bytes = if most.trim().is_empty() { u64::MAX } else { unit::size_bytes(most)? };
    if least_bytes > most_bytes {
        return Err(format!("`{text}` runs backwards; write the smaller number first"));
    }
    Ok((least_bytes, most_bytes))
}

fn hashes(node: &Node, row: &Row, found: &mut Vec<(Subject, String)>, w: &mut Work<'_>) {
    for entry in w.r.map(node, row).unwrap_or_default() {
        let Some(row) = w.r.row(Section::Hash, entry) else { continue };
        let (algorithm, digits) = match row.name {
            "md5" => (Hash::Md5, 32),
            "sha1" => (Hash::Sha1, 40),
            _ => (Hash::Sha256, 64),
        };
        let Some(hex) = w.r.written(&entry.value, row).map(str::to_ascii_lowercase) else { continue };
        if hex.len() != digits || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            let message = format!("`{}` is no {} sum", short(&hex), row.name);
            w.r.complain("F015", entry.value.pos, message, format!("expected {}", row.expects));
            continue;
        }
        found.push((Subject::Hash { algorithm, hex }, format!("{} of the body", row.name)));
    }
}

/// Whether a check needs the body of the answer.
pub fn needs_body(on: &Subject) -> bool {
    matches!(on, Subject::Body(_) | Subject::Json { .. } | Subject::Length { .. } | Subject::Hash { .. })
}
