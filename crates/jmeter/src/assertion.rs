//! Assertions: whether a sample passes, and JMeter's message if it does not.

use crate::plan::{Assertion, AssertionKind, Subject};
use crate::sample::{CheckResult, Sample};
use crate::scope::Scope;
use crate::script::Context;
use plimsoll_body::Values;
use plimsoll_jmx::plan::{Comparison, Pattern, ResponseField, SizeField};
use plimsoll_plan::head::Head;
use serde_json::Value;
use std::borrow::Cow;

/// What JMeter says of an empty text.
const NULL: &str = "Response was null";

/// Checks a sample and, if the assertion says so, its sub-samples. Returns whether it passed.
pub fn check(assertion: &Assertion, sample: &mut Sample, scope: &mut Scope<'_>) -> bool {
    let subject = match &assertion.kind {
        AssertionKind::Response { subject, .. }
        | AssertionKind::Size { subject, .. }
        | AssertionKind::Duration { subject, .. }
        | AssertionKind::Json { subject, .. }
        | AssertionKind::XPath { subject, .. } => subject,
        AssertionKind::Md5 { .. } | AssertionKind::Xml => &Subject::Main,
        AssertionKind::Script(_) => return script(assertion, sample, scope),
    };
    if let AssertionKind::Response { ignores_status: true, .. } = assertion.kind {
        sample.is_success = true;
    }
    let mut passed = true;
    if matches!(subject, Subject::Main | Subject::All | Subject::Variable(_)) {
        passed &= of_sample(assertion, sample, scope);
    }
    if matches!(subject, Subject::Children | Subject::All) {
        passed &= of_children(assertion, sample, scope, DEPTH_MAX);
    }
    passed
}

/// Levels of sub-samples that JMeter checks.
const DEPTH_MAX: u32 = 4;

fn of_sample(assertion: &Assertion, sample: &mut Sample, scope: &mut Scope<'_>) -> bool {
    let result = one_sample(&assertion.kind, sample, scope);
    settle(assertion, sample, result, scope)
}

/// Fails the sample if its assertion failed, and keeps the result.
fn settle(
    assertion: &Assertion,
    sample: &mut Sample,
    result: Result<(), CheckError>,
    scope: &mut Scope<'_>,
) -> bool {
    if let Some(checks) = &mut sample.checks {
        checks.push(CheckResult {
            name: assertion.name.value(scope),
            is_failure: result.as_ref().is_err_and(|wrong| wrong.is_failure),
            is_error: result.as_ref().is_err_and(|wrong| wrong.is_error),
            message: result.as_ref().err().map(|wrong| wrong.message.clone()),
        });
    }
    result.map_err(|wrong| sample.fail(wrong.message)).is_ok()
}

/// Why a sample does not pass.
struct CheckError {
    message: String,
    is_failure: bool,
    /// The assertion could not be tried.
    is_error: bool,
}

impl CheckError {
    fn error(message: String) -> CheckError {
        CheckError { message, is_failure: false, is_error: true }
    }
}

impl From<String> for CheckError {
    fn from(message: String) -> CheckError {
        CheckError { message, is_failure: true, is_error: false }
    }
}

/// Checks sub-samples, each with its own result. If one fails, so does its parent.
fn of_children(assertion: &Assertion, sample: &mut Sample, scope: &mut Scope<'_>, depth: u32) -> bool {
    let mut passed = true;
    let mut has_failed = false;
    if depth > 0 {
        for child in &mut sample.children {
            passed &= of_sample(assertion, child, scope);
            passed &= of_children(assertion, child, scope, depth - 1);
            has_failed |= !child.is_success;
        }
    }
    if has_failed && sample.is_success {
        let wrong = CheckError::from("One or more sub-samples failed".to_owned());
        passed = settle(assertion, sample, Err(wrong), scope);
    }
    passed
}

fn one_sample(kind: &AssertionKind, sample: &Sample, scope: &mut Scope<'_>) -> Result<(), CheckError> {
    match kind {
        AssertionKind::Response { .. } => response(kind, sample, scope),
        AssertionKind::Size { subject, field, size, comparison } => {
            let found = match subject {
                Subject::Variable(name) => {
                    let name = name.value(scope);
                    let value = scope.vars.get(&name).unwrap_or("null").to_owned();
                    value
                        .trim()
                        .parse()
                        .map_err(|_| format!("Error parsing variable name: {name} value: {value}"))?
                }
                _ => match field {
                    SizeField::Response => sample.bytes as i64,
                    SizeField::Headers => sample.head_bytes as i64,
                    SizeField::Body => sample.bytes.saturating_sub(sample.head_bytes) as i64,
                    SizeField::Code => sample.code.chars().count() as i64,
                    SizeField::Message => sample.message.chars().count() as i64,
                },
            };
            Ok(size_of(found, size.integer(scope), *comparison)?)
        }
        AssertionKind::Duration { limit_ms, .. } => {
            let limit_ms = limit_ms.integer(scope);
            if limit_ms > 0 && sample.elapsed_ms as i64 > limit_ms {
                return Err(format!(
                    "The operation lasted too long: It took {} milliseconds, but should not have lasted longer \
                     than {limit_ms} milliseconds.",
                    sample.elapsed_ms
                )
                .into());
            }
            Ok(())
        }
        AssertionKind::Json { .. } => Ok(json(kind, sample, scope)?),
        AssertionKind::XPath { subject, query, is_negated, is_second } => {
            let query = query.value(scope);
            let text = text_of(subject, sample, scope);
            if text.is_empty() {
                return Err(NULL.to_owned().into());
            }
            let compiled = scope.caches.place(4, &query, || Values::xpath(&query));
            let place = match &*compiled {
                Ok(place) => place,
                Err(why) => return Err(why.clone().into()),
            };
            let found = place.all(Head::new(&sample.head), text.as_bytes());
            let found = found.map_err(|why| CheckError::error(format!("SAXException: {}", why.0)))?;
            // A truth value is its own result; nodes only have to exist.
            let holds = match found.as_slice() {
                [one] if one == "false" => false,
                all => !all.is_empty(),
            };
            match holds != *is_negated {
                true => Ok(()),
                false if *is_negated => Err(format!("Nodes Matched for {query}").into()),
                false if *is_second => Err(format!("No Nodes Matched for {query}").into()),
                false => Err(format!("No Nodes Matched {query}").into()),
            }
        }
        AssertionKind::Md5 { digest } => {
            if sample.body.is_empty() {
                return Err(NULL.to_owned().into());
            }
            let expected = digest.value(scope);
            if expected.is_empty() {
                return Err("MD5Hex to test against is empty".to_owned().into());
            }
            let found = crate::function::digest("md5", &sample.body).unwrap_or_default();
            match found.eq_ignore_ascii_case(expected.trim()) {
                true => Ok(()),
                false => {
                    Err(format!("Error asserting MD5 sum : got {found} but should have been {expected}")
                        .into())
                }
            }
        }
        AssertionKind::Xml => {
            if sample.body.is_empty() {
                return Err(NULL.to_owned().into());
            }
            let text = sample.text();
            let parsed = roxmltree::Document::parse(&text);
            parsed.map(|_| ()).map_err(|error| CheckError { is_error: true, ..xml(&text, &error).into() })
        }
        AssertionKind::Script(_) => Ok(()),
    }
}

/// Returns the message of Java's parser for the most common mistakes.
fn xml(text: &str, error: &roxmltree::Error) -> String {
    match error {
        _ if !text.trim_start().starts_with('<') => "Content is not allowed in prolog.".to_owned(),
        roxmltree::Error::UnexpectedCloseTag(expected, ..) => {
            format!(
                "The element type \"{expected}\" must be terminated by the matching end-tag \"</{expected}>\"."
            )
        }
        roxmltree::Error::UnclosedRootNode | roxmltree::Error::UnexpectedEndOfStream => {
            "XML document structures must start and end within the same entity.".to_owned()
        }
        other => other.to_string(),
    }
}

fn size_of(found: i64, size: i64, comparison: Comparison) -> Result<(), String> {
    let (holds, name) = match comparison {
        Comparison::Equal => (found == size, "been equal to"),
        Comparison::NotEqual => (found != size, "not been equal to"),
        Comparison::Greater => (found > size, "been greater than"),
        Comparison::Less => (found < size, "been less than"),
        Comparison::GreaterOrEqual => (found >= size, "been greater or equal to"),
        Comparison::LessOrEqual => (found <= size, "been less than or equal to"),
    };
    match holds {
        true => Ok(()),
        false => Err(format!(
            "The result was the wrong size: It was {found} bytes, but should have {name} {size} bytes."
        )),
    }
}

fn text_of(subject: &Subject, sample: &Sample, scope: &mut Scope<'_>) -> String {
    match subject {
        Subject::Variable(name) => {
            let name = name.value(scope);
            scope.vars.get(&name).unwrap_or_default().to_owned()
        }
        _ => sample.text().into_owned(),
    }
}

fn response(kind: &AssertionKind, sample: &Sample, scope: &mut Scope<'_>) -> Result<(), CheckError> {
    let AssertionKind::Response { subject, field, pattern, is_negated, is_any, patterns, message, .. } = kind
    else {
        return Ok(());
    };
    let text = match subject {
        Subject::Variable(_) => Cow::Owned(text_of(subject, sample, scope)),
        _ => match field {
            ResponseField::Body | ResponseField::Document => sample.text(),
            ResponseField::Code => Cow::Borrowed(&*sample.code),
            ResponseField::Message => Cow::Borrowed(&*sample.message),
            ResponseField::ResponseHeaders => Cow::Owned(sample.response_headers()),
            ResponseField::RequestHeaders => Cow::Owned(sample.request_headers()),
            ResponseField::RequestData => Cow::Owned(sample.sampler_data()),
            ResponseField::Url => Cow::Borrowed(&*sample.url),
        },
    };
    if text.is_empty() {
        return if *is_negated { Ok(()) } else { Err(NULL.to_owned().into()) };
    }
    let mut failures = Vec::new();
    let mut passed_any = false;
    for expected in patterns {
        let expected = expected.text(scope);
        let found = match pattern {
            Pattern::Equals => text == expected,
            Pattern::Substring => text.contains(&*expected),
            Pattern::Contains | Pattern::Matches => {
                let whole;
                let source = match pattern {
                    Pattern::Contains => &*expected,
                    _ => {
                        whole = format!("\\A(?:{expected})\\z");
                        whole.as_str()
                    }
                };
                match &*scope.caches.pattern(source) {
                    Ok(compiled) => compiled.is_match(&text),
                    Err(why) => return Err(CheckError::error(format!("Bad test configuration {why}"))),
                }
            }
        };
        if found != *is_negated {
            passed_any = true;
            if *is_any {
                return Ok(());
            }
            continue;
        }
        failures.push(failure(subject, *field, *pattern, *is_negated, *is_any, &expected, &text));
        if !*is_any {
            break;
        }
    }
    if failures.is_empty() && (passed_any || !*is_any) {
        return Ok(());
    }
    let own = message.value(scope);
    let message = match (own.is_empty(), *is_any) {
        (false, _) => own,
        (true, true) => failures.join("\t") + "\t",
        (true, false) => failures.concat(),
    };
    Err(message.into())
}

/// Returns JMeter's message of a pattern.
fn failure(
    subject: &Subject,
    field: ResponseField,
    pattern: Pattern,
    is_negated: bool,
    is_any: bool,
    expected: &str,
    found: &str,
) -> String {
    let what = match (subject, field) {
        (Subject::Variable(name), _) => format!("variable({})", name.fixed().unwrap_or_default()),
        (_, ResponseField::Body) => "text".to_owned(),
        (_, ResponseField::Code) => "code".to_owned(),
        (_, ResponseField::Message) => "message".to_owned(),
        (_, ResponseField::RequestHeaders) => "request headers".to_owned(),
        (_, ResponseField::RequestData) => "request data".to_owned(),
        (_, ResponseField::ResponseHeaders) => "headers".to_owned(),
        (_, ResponseField::Document) => "document".to_owned(),
        (_, ResponseField::Url) => "URL".to_owned(),
    };
    let not = if is_negated { "not " } else { "" };
    let how = match pattern {
        // JMeter does not tell the ways of comparison if one pattern is enough.
        _ if is_any => " expected something using ".to_owned(),
        Pattern::Contains | Pattern::Substring => format!(" expected {not}to contain "),
        Pattern::Matches => format!(" expected {not}to match "),
        Pattern::Equals => format!(" expected {not}to equal "),
    };
    let expected = match pattern {
        Pattern::Equals => compared(found, expected),
        _ => expected.to_owned(),
    };
    format!("Test failed: {what}{how}/{expected}/")
}

/// Longest part of a text that JMeter shows (`assertion.equals_section_diff_len`).
const SHOWN: usize = 100;

/// Returns both texts, with the place where they begin to differ and where they end to.
fn compared(found: &str, expected: &str) -> String {
    let (found, expected): (Vec<char>, Vec<char>) = (found.chars().collect(), expected.chars().collect());
    let begin = found.iter().zip(&expected).take_while(|(one, other)| one == other).count();
    // The first sign of a difference is never a part of the equal end.
    let most = found.len().min(expected.len()).saturating_sub(begin + 1);
    let pairs = found.iter().rev().zip(expected.iter().rev());
    let end = pairs.take(most).take_while(|(one, other)| one == other).count();
    let text = |part: &[char]| part.iter().collect::<String>();
    let cut = |part: &[char]| match part.len() > SHOWN {
        true => format!("{}...", text(&part[..SHOWN])),
        false => text(part),
    };
    let before = match begin > SHOWN {
        true => format!("...{}", text(&found[begin - SHOWN..begin])),
        false => text(&found[..begin]),
    };
    let after = cut(&found[found.len() - end..]);
    let (one, other) = (cut(&found[begin..found.len() - end]), cut(&expected[begin..expected.len() - end]));
    let width = one.chars().count().max(other.chars().count());
    format!(
        "\n\n****** received  : {before}[[[{one:width$}]]]{after}\n\n****** comparison: \
         {before}[[[{other:width$}]]]{after}\n\n"
    )
}

fn json(kind: &AssertionKind, sample: &Sample, scope: &mut Scope<'_>) -> Result<(), String> {
    let AssertionKind::Json { subject, path, value, is_regex, expects_null, is_inverted, is_jmespath } = kind
    else {
        return Ok(());
    };
    let text = text_of(subject, sample, scope);
    if text.is_empty() {
        return Err(NULL.to_owned());
    }
    let path = path.value(scope);
    let expected = value.as_ref().map(|value| value.value(scope));
    let held = holds(&path, expected.as_deref(), (*is_regex, *expects_null, *is_jmespath), &text, scope);
    match (held, *is_inverted) {
        (Ok(()), false) | (Err(_), true) => Ok(()),
        (Err(why), false) => Err(why),
        (Ok(()), true) => Err(match &expected {
            _ if *expects_null => format!("Failed that JSONPath {path} not matches null"),
            Some(expected) => format!("Failed that JSONPath {path} not matches {expected}"),
            None => format!("Failed that JSONPath not exists: {path}"),
        }),
    }
}

fn holds(
    path: &str,
    expected: Option<&str>,
    (is_regex, expects_null, is_jmespath): (bool, bool, bool),
    text: &str,
    scope: &mut Scope<'_>,
) -> Result<(), String> {
    let compiled = match is_jmespath {
        true => scope.caches.place(1, path, || Values::jmes(path)),
        false => scope.caches.place(0, path, || Values::json(path)),
    };
    let place = compiled.as_ref().as_ref().map_err(Clone::clone)?;
    let found = place.all(Head::default(), text.as_bytes());
    let found = found.map_err(|why| not_json(path, why.0))?;
    if found.is_empty() && !(expects_null && is_jmespath) {
        return Err(format!("No results for path: {}", bracketed(path)));
    }
    let Some(expected) = expected.filter(|_| !expects_null).or(expects_null.then_some("null")) else {
        return Ok(());
    };
    let pattern = match is_regex && !expects_null {
        true => Some(crate::pattern::compile_whole(expected)?),
        false => None,
    };
    let wanted: Option<Value> = serde_json::from_str(expected).ok();
    if is_jmespath && pattern.is_none() && wanted.is_none() && expected.chars().all(char::is_alphanumeric) {
        return Err(format!(
            "Unrecognized token '{expected}': was expecting (JSON String, Number, Array, Object or token 'null', \
             'true' or 'false')\n at [Source: (String)\"{expected}\"; line: 1, column: {}]",
            expected.chars().count() + 1
        ));
    }
    let equals = |one: &str| match &pattern {
        Some(pattern) => pattern.is_match(one),
        None if one == expected => true,
        None => match (&wanted, serde_json::from_str::<Value>(one).ok()) {
            (Some(Value::String(wanted)), _) => wanted == one,
            (Some(wanted), Some(found)) => *wanted == found,
            _ => false,
        },
    };
    let elements = |one: &String| match serde_json::from_str::<Value>(one) {
        Ok(Value::Array(all)) => all.iter().any(|element| match element {
            Value::String(text) => equals(text),
            other => equals(&other.to_string()),
        }),
        _ => false,
    };
    if found.iter().any(|one| equals(one) || elements(one)) || (found.is_empty() && expects_null) {
        return Ok(());
    }
    let shown = match found.as_slice() {
        [one] => one.clone(),
        all => format!("[{}]", all.join(",")),
    };
    Err(match (expects_null, is_regex) {
        (true, _) => format!("Value in json path '{path}' expected to be null, but found '{shown}'"),
        (false, true) => format!(
            "Value in json path '{path}' expected to match regexp '{expected}', but it did not match: '{shown}'"
        ),
        (false, false) => {
            format!("Value in json path '{path}' expected to be '{expected}', but found '{shown}'")
        }
    })
}

/// Returns the message about a text that is not JSON: JMeter's library takes it as a string.
fn not_json(path: &str, why: &str) -> String {
    let name = path.strip_prefix("$.").and_then(|rest| rest.split(['.', '[']).next()).unwrap_or_default();
    match name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        true => format!("Expected to find an object with property in path {path}: {why}"),
        false => format!(
            "Expected to find an object with property ['{name}'] in path $ but found 'java.lang.String'. This is not \
             a json object according to the JsonProvider: \
             'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'."
        ),
    }
}

/// Returns a JSONPath of names and indexes as JMeter shows it: `$['a'][0]`.
fn bracketed(path: &str) -> String {
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let Some(rest) = path.strip_prefix("$.") else { return path.to_owned() };
    let mut out = "$".to_owned();
    for segment in rest.split('.') {
        let (name, index) = segment.split_at(segment.find('[').unwrap_or(segment.len()));
        if !is_word(name) {
            return path.to_owned();
        }
        out.push_str(&format!("['{name}']{index}"));
    }
    out
}

fn script(assertion: &Assertion, sample: &mut Sample, scope: &mut Scope<'_>) -> bool {
    let AssertionKind::Script(code) = &assertion.kind else { return true };
    let text = code.text.value(scope);
    let compiled = scope.caches.script(&text, code.language);
    let Ok(script) = &*compiled else { return true };
    let parameters = code.parameters.value(scope);
    let label = code.name.clone();
    let mut context =
        Context { scope, sample: Some(&mut *sample), parameters, label, failure: (false, String::new()) };
    let outcome = script.run(&mut context);
    let (is_failure, message) = context.failure;
    let result = match outcome {
        Err(why) => Err(CheckError::error(why)),
        Ok(_) if is_failure => Err(message.into()),
        Ok(_) => Ok(()),
    };
    settle(assertion, sample, result, scope)
}
