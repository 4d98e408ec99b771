//! Describes data files, checks, and extractions.

use super::words::{short, time};
use plimsoll_plan::answer::{Check, Extract, Hash, Pick, Rule, Source, Subject};
use plimsoll_plan::data::{AtEnd, Feeder, Format, RowOrder, Sharing};
use plimsoll_plan::script::Script;
use plimsoll_plan::seal::names::describe;

pub fn feeder(feeder: &Feeder) -> String {
    let format = match &feeder.format {
        Format::Csv { delimiter: b',', .. } => "CSV".to_owned(),
        Format::Csv { delimiter: b'\t', .. } => "CSV, tab-delimited".to_owned(),
        Format::Csv { delimiter, .. } => format!("CSV, delimiter `{}`", char::from(*delimiter)),
        Format::JsonLines => "JSON Lines".to_owned(),
    };
    let share = match feeder.share {
        Sharing::All => "each user reads all rows",
        Sharing::Partition => "rows are partitioned among the users",
        Sharing::Unique => "each row is used once",
    };
    let order = match feeder.order {
        RowOrder::Sequential => "in order",
        RowOrder::Random => "in random order",
    };
    let end = match feeder.at_end {
        AtEnd::Recycle => "then starting over",
        AtEnd::Stop => "then the user stops",
    };
    let made = if feeder.made_by_setup { ", written by setup" } else { "" };
    format!(
        "`{}` is `{}` ({format}{made}): {}; {share}, {order}, {end}",
        feeder.name,
        feeder.path.display(),
        feeder.columns.join(", "),
    )
}

pub fn check(check: &Check, script: &Script) -> String {
    let what = match &check.on {
        Subject::Status(statuses) => {
            let ranges: Vec<String> = statuses
                .0
                .iter()
                .map(|(low, high)| if low == high { low.to_string() } else { format!("{low}-{high}") })
                .collect();
            format!("status is {}", ranges.join(" or "))
        }
        Subject::Header { name, rule } => format!("header {name} {}", rule_words(rule, script)),
        Subject::Body(rule) => format!("body {}", rule_words(rule, script)),
        Subject::Json { path, rule } => format!("{path} {}", rule_words(rule, script)),
        Subject::Value { from, rule } => format!("{} {}", source(from), rule_words(rule, script)),
        Subject::Jwt(check) => {
            let claims: Vec<String> = check
                .claims
                .iter()
                .map(|(name, rule)| format!("{name} {}", rule_words(rule, script)))
                .collect();
            let claims = if claims.is_empty() { String::new() } else { format!(", {}", claims.join(", ")) };
            format!("{} is a JWT with {}{claims}", source(&check.from), check.key.algorithm())
        }
        Subject::NoGraphqlErrors => "the response has no GraphQL errors".into(),
        Subject::Schema(_) => "body fits the JSON Schema".into(),
        Subject::OpenApi(described) => {
            format!("body fits the OpenAPI description of {}", described.operation)
        }
        Subject::HeaderSnapshot(headers) => {
            let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
            format!("headers {} are as stored", names.join(", "))
        }
        Subject::Length { least_bytes, most_bytes } if least_bytes == most_bytes => {
            format!("body has {least_bytes} bytes")
        }
        Subject::Length { least_bytes, most_bytes: u64::MAX } => {
            format!("body has at least {least_bytes} bytes")
        }
        Subject::Length { least_bytes, most_bytes } => {
            format!("body has {least_bytes} to {most_bytes} bytes")
        }
        Subject::Hash { algorithm, hex } => {
            let name = match algorithm {
                Hash::Md5 => "md5",
                Hash::Sha1 => "sha1",
                Hash::Sha256 => "sha256",
            };
            format!("{name} of the body is {hex}")
        }
        Subject::Duration { below_ns } => format!("takes less than {}", time(*below_ns)),
        Subject::GrpcStatus(codes) => format!("gRPC status is {codes}"),
        Subject::GrpcMessage(rule) => format!("status message {}", rule_words(rule, script)),
    };
    format!("check `{}`: {}", check.name, short(&what))
}

pub fn rule_words(rule: &Rule, script: &Script) -> String {
    let text = |text| format!("`{}`", describe(text, script));
    match rule {
        Rule::Exists => "exists".into(),
        Rule::Absent => "is absent".into(),
        Rule::Equals(value) => format!("is {}", text(value)),
        Rule::Differs(value) => format!("is not {}", text(value)),
        Rule::Contains(value) => format!("contains {}", text(value)),
        Rule::Lacks(value) => format!("does not contain {}", text(value)),
        Rule::Matches(pattern) => format!("matches /{pattern}/"),
        Rule::Below(number) => format!("< {number}"),
        Rule::AtMost(number) => format!("<= {number}"),
        Rule::Above(number) => format!("> {number}"),
        Rule::AtLeast(number) => format!(">= {number}"),
        Rule::OneOf(values) => {
            format!("is one of {}", values.iter().map(text).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Describes the place of a value.
fn source(from: &Source) -> String {
    match from {
        Source::Json(path) => path.clone(),
        Source::Regex { pattern, group: 0 } => format!("/{pattern}/"),
        Source::Regex { pattern, group } => format!("group {group} of /{pattern}/"),
        Source::Header(name) => format!("header {name}"),
        Source::Cookie(name) => format!("cookie {name}"),
        Source::Status => "the status".into(),
        Source::Body => "the body".into(),
        Source::XPath(path) => format!("XPath {path}"),
        Source::Css { selector, attribute: None } => format!("CSS {selector}"),
        Source::Css { selector, attribute: Some(name) } => format!("attribute {name} of CSS {selector}"),
        Source::JmesPath(path) => format!("JMESPath {path}"),
        Source::Boundary { left, right } => format!("the text between `{left}` and `{right}`"),
    }
}

pub fn extract(extract: &Extract, script: &Script) -> String {
    let from = source(&extract.from);
    let pick = match extract.pick {
        Pick::First => "",
        Pick::Last => ", last match",
        Pick::Random => ", random match",
        Pick::Count => ", number of matches",
    };
    let default = match &extract.default {
        None => String::new(),
        Some(text) => format!(", default `{}`", describe(text, script)),
    };
    format!("extract `{}` from {}{pick}{default}", extract.name, short(&from))
}
