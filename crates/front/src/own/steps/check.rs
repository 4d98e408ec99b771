//! Checks: what a response must be.

use super::auth::KeyParts;
use super::rule::{self, Bare};
use super::{extract, schema, source};
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::one_or_more;
use crate::own::yaml::{Node, Value};
use plimsoll_build::draft::{CheckDraft, NameDraft, On, SubjectDraft};
use plimsoll_build::sentence::short;
use plimsoll_build::source::Pos;
use plimsoll_plan::Problem;
use plimsoll_plan::answer::{Hash, Source, Statuses, Subject};
use plimsoll_plan::unit;

/// Reads `check:`. Also returns the status that it expects, if any.
pub fn read(node: &Node, row: &Row, r: &mut Reader<'_>) -> (Vec<CheckDraft>, Option<Statuses>) {
    let mut expect = None;
    let mut all = Vec::new();
    for item in one_or_more(node) {
        all.extend(one(item, row, &mut expect, r));
    }
    if matches!(&node.value, Value::Map(entries) if entries.is_empty()) {
        r.expected(node, row, "write what the response must be, such as `status: 200`");
    }
    (all, expect)
}

fn one(node: &Node, row: &Row, expect: &mut Option<Statuses>, r: &mut Reader<'_>) -> Option<CheckDraft> {
    let entries = r.map(node, row)?;
    let mut found: Vec<SubjectDraft> = Vec::new();
    let mut name = None;
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::Check::Name => {
                name = r.text(node, row).map(|text| NameDraft { name: text.to_owned(), pos: node.pos })
            }
            of::Check::Status => {
                let Some(statuses) = r.parsed(node, row, Statuses::parse) else { continue };
                if expect.is_some() {
                    let message = "`status` is checked twice";
                    r.complain("F017", entry.pos, message, "keep one of them");
                    continue;
                }
                let words = r.written(node, row).unwrap_or_default().to_owned();
                *expect = Some(statuses.clone());
                found.push(fixed(Subject::Status(statuses), format!("status is {words}")));
            }
            of::Check::Header => {
                for header in r.map(node, row).unwrap_or_default() {
                    for rule in rule::read(&header.value, row, Bare::Equals, r) {
                        let words = format!("header {}", header.key);
                        found.push(SubjectDraft { words, on: On::Header { name: header.key.clone(), rule } });
                    }
                }
            }
            of::Check::Body => {
                for item in one_or_more(node) {
                    for rule in rule::read(item, row, Bare::Contains, r) {
                        found.push(SubjectDraft { words: "body".into(), on: On::Body(rule) });
                    }
                }
            }
            of::Check::Json => {
                json(node, row, &mut found, r);
            }
            of::Check::XPath => values(node, row, &mut found, r, &|text, pos, r| source::xpath(text, pos, r)),
            of::Check::Css => {
                values(node, row, &mut found, r, &|text, pos, r| source::css(text, None, pos, r))
            }
            of::Check::JmesPath => {
                values(node, row, &mut found, r, &|text, pos, r| source::jmespath(text, pos, r))
            }
            of::Check::Boundary => boundary(node, row, &mut found, r),
            of::Check::Jwt => found.extend(jwt(node, row, r)),
            of::Check::Schema => found.extend(schema::schema(node, row, r)),
            of::Check::OpenApi => found.extend(schema::openapi(node, row, r)),
            of::Check::HeaderSnapshot => found.extend(schema::header_snapshot(node, row, r)),
            of::Check::Length => {
                if let Some((least_bytes, most_bytes)) = r.parsed(node, row, lengths) {
                    let words = match least_bytes == most_bytes {
                        true => format!("length is {least_bytes}"),
                        false => format!("length is {least_bytes}..{most_bytes}"),
                    };
                    found.push(fixed(Subject::Length { least_bytes, most_bytes }, words));
                }
            }
            of::Check::Hash => hashes(node, row, &mut found, r),
            of::Check::MaxDuration => {
                if let Some(below_ns) = r.parsed(node, row, unit::duration_ns) {
                    let words = format!("below {}", r.written(node, row).unwrap_or_default());
                    found.push(fixed(Subject::Duration { below_ns }, words));
                }
            }
        }
    }
    Some(CheckDraft { name, subjects: found })
}

/// Reads JSONPaths with their values or rules.
pub fn json(node: &Node, row: &Row, found: &mut Vec<SubjectDraft>, r: &mut Reader<'_>) {
    for path in r.map(node, row).unwrap_or_default() {
        if rule::json_path(&path.key, path.pos, r).is_none() {
            continue;
        }
        for rule in rule::read(&path.value, row, Bare::Equals, r) {
            let words = short(&path.key);
            found.push(SubjectDraft { words, on: On::Json { path: path.key.clone(), rule } });
        }
    }
}

/// Validates the expression of a value at its place.
type Place = dyn Fn(&str, Pos, &mut Reader<'_>) -> Option<Source>;

/// Reads a mapping of expressions to rules.
fn values(node: &Node, row: &Row, found: &mut Vec<SubjectDraft>, r: &mut Reader<'_>, place: &Place) {
    for entry in r.map(node, row).unwrap_or_default() {
        let Some(from) = place(&entry.key, entry.pos, r) else { continue };
        for rule in rule::read(&entry.value, row, Bare::Equals, r) {
            let words = short(&entry.key);
            found.push(SubjectDraft { words, on: On::Value { from: from.clone(), rule } });
        }
    }
}

fn jwt(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<SubjectDraft> {
    let before = r.wrong.len();
    let mut parts = KeyParts::default();
    let (mut from, mut claims) = (None, Vec::new());
    for entry in r.map(node, row)? {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::JwtCheck::Token => from = extract::place(node, row, r).map(|(from, ..)| from),
            of::JwtCheck::Algorithm => parts.algorithm = KeyParts::read(node, row, r),
            of::JwtCheck::Key => parts.key = r.template(node, row, plimsoll_plan::value::Escape::None),
            of::JwtCheck::KeyFile => parts.file = r.text(node, row).map(|name| (name, node.pos)),
            of::JwtCheck::Claims => {
                for claim in r.map(node, row).unwrap_or_default() {
                    if claim.key.starts_with('$') && rule::json_path(&claim.key, claim.pos, r).is_none() {
                        continue;
                    }
                    let rules = rule::read(&claim.value, row, Bare::Equals, r);
                    claims.extend(rules.into_iter().map(|rule| (claim.key.clone(), rule)));
                }
            }
        }
    }
    let key = parts.finish(node, row, before, r)?;
    let Some(from) = from else {
        if r.wrong.len() == before {
            r.expected(node, row, "add `token`, such as `token: $.token`");
        }
        return None;
    };
    Some(SubjectDraft { words: "valid JWT".into(), on: On::Jwt { from, key, claims } })
}

fn boundary(node: &Node, row: &Row, found: &mut Vec<SubjectDraft>, r: &mut Reader<'_>) {
    let before = r.wrong.len();
    let (mut left, mut right, mut rules) = (None, None, None);
    for entry in r.map(node, row).unwrap_or_default() {
        match r.key(entry) {
            Some((row, of::BoundaryCheck::Left)) => left = source::text(&entry.value, row, r),
            Some((row, of::BoundaryCheck::Right)) => right = source::text(&entry.value, row, r),
            Some((row, of::BoundaryCheck::Value)) => {
                rules = Some(rule::read(&entry.value, row, Bare::Equals, r))
            }
            None => {}
        }
    }
    let Some(rules) = rules else {
        if r.wrong.len() == before {
            r.expected(node, row, "add `value`, such as `value: { exists: true }`");
        }
        return;
    };
    let words = format!(
        "text between {} and {}",
        short(left.as_deref().unwrap_or_default()),
        short(right.as_deref().unwrap_or_default())
    );
    let Some(from) = source::between(left, right, node, row, before, r) else { return };
    for rule in rules {
        found.push(SubjectDraft { words: words.clone(), on: On::Value { from: from.clone(), rule } });
    }
}

fn fixed(on: Subject, words: String) -> SubjectDraft {
    SubjectDraft { words, on: On::Fixed(on) }
}

/// Parses a length such as `683481` or `64k`, or a range such as `10..200`, including both ends.
pub fn lengths(text: &str) -> Result<(u64, u64), Problem> {
    let Some((least, most)) = text.split_once("..") else {
        return unit::size_bytes(text).map(|bytes| (bytes, bytes));
    };
    let least_bytes = if least.trim().is_empty() { 0 } else { unit::size_bytes(least)? };
    let most_bytes = if most.trim().is_empty() { u64::MAX } else { unit::size_bytes(most)? };
    if least_bytes > most_bytes {
        let message = format!("invalid range `{text}`: its first number is above its last");
        return Err(Problem::new(message, "write the smaller number first"));
    }
    Ok((least_bytes, most_bytes))
}

fn hashes(node: &Node, row: &Row, found: &mut Vec<SubjectDraft>, r: &mut Reader<'_>) {
    for entry in r.map(node, row).unwrap_or_default() {
        let Some((row, key)) = r.key(entry) else { continue };
        let (algorithm, digits) = match key {
            of::Hash::Md5 => (Hash::Md5, 32),
            of::Hash::Sha1 => (Hash::Sha1, 40),
            of::Hash::Sha256 => (Hash::Sha256, 64),
        };
        let Some(hex) = r.written(&entry.value, row).map(str::to_ascii_lowercase) else { continue };
        if hex.len() != digits || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            let message = format!("invalid {} hash `{}`: expected {}", row.name, short(&hex), row.expects);
            let hint = format!("write the output of `{}sum FILE`", row.name);
            r.complain("F015", entry.value.pos, message, hint);
            continue;
        }
        found.push(fixed(Subject::Hash { algorithm, hex }, format!("{} of the body", row.name)));
    }
}
