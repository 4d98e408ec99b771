//! Assertions: whether a sample passes, and JMeter's message if it does not.

use crate::extract::samples;
use crate::plan::{Assertion, AssertionKind, Subject};
use crate::sample::Sample;
use crate::scope::Scope;
use crate::script::Context;
use plimsoll_jmx::plan::{Comparison, Pattern, ResponseField, SizeField};
use plimsoll_plan::head::Head;
use plimsoll_script::answer::Values;
use serde_json::Value;

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
    let of: Vec<Result<(), String>> =
        samples(subject, sample).into_iter().map(|one| one_sample(&assertion.kind, one, scope)).collect();
    let mut passed = true;
    for message in of.into_iter().filter_map(Result::err) {
        passed = false;
        sample.fail(message);
    }
    passed
}

fn one_sample(kind: &AssertionKind, sample: &Sample, scope: &mut Scope<'_>) -> Result<(), String> {
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
            size_of(found, size.integer(scope), *comparison)
        }
        AssertionKind::Duration { limit_ms, .. } => {
            let limit_ms = limit_ms.integer(scope);
            if limit_ms > 0 && sample.elapsed_ms as i64 > limit_ms {
                return Err(format!(
                    "The operation lasted too long: It took {} milliseconds, but should not have lasted longer \
                     than {limit_ms} milliseconds.",
                    sample.elapsed_ms
                ));
            }
            Ok(())
        }
        AssertionKind::Json { .. } => json(kind, sample, scope),
        AssertionKind::XPath { subject, query, is_negated } => {
            let query = query.value(scope);
            let text = text_of(subject, sample, scope);
            if text.is_empty() {
                return Err(NULL.to_owned());
            }
            let compiled = scope.caches.place(4, &query, || Values::xpath(&query));
            let place = match &*compiled {
                Ok(place) => place,
                Err(why) => return Err(why.clone()),
            };
            let found = place.all(Head::new(&sample.head), text.as_bytes());
            let found = found.map_err(|why| format!("SAXException: {}", why.0))?;
            // A truth value is its own result; nodes only have to exist.
            let holds = match found.as_slice() {
                [one] if one == "false" => false,
                all => !all.is_empty(),
            };
            match holds != *is_negated {
                true => Ok(()),
                false if *is_negated => Err(format!("Nodes Matched for {query}")),
                false => Err(format!("No Nodes Matched {query}")),
            }
        }
        AssertionKind::Md5 { digest } => {
            if sample.body.is_empty() {
                return Err(NULL.to_owned());
            }
            let expected = digest.value(scope);
            if expected.is_empty() {
                return Err("MD5Hex to test against is empty".to_owned());
            }
            let found = crate::function::digest("md5", &sample.body).unwrap_or_default();
            match found.eq_ignore_ascii_case(expected.trim()) {
                true => Ok(()),
                false => {
                    Err(format!("Error asserting MD5 sum : got {found} but should have been {expected}"))
                }
            }
        }
        AssertionKind::Xml => {
            if sample.body.is_empty() {
                return Err(NULL.to_owned());
            }
            let text = sample.text();
            roxmltree::Document::parse(&text).map(|_| ()).map_err(|error| error.to_string())
        }
        AssertionKind::Script(_) => Ok(()),
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

fn response(kind: &AssertionKind, sample: &Sample, scope: &mut Scope<'_>) -> Result<(), String> {
    let AssertionKind::Response { subject, field, pattern, is_negated, is_any, patterns, message, .. } = kind
    else {
        return Ok(());
    };
    let text = match subject {
        Subject::Variable(_) => text_of(subject, sample, scope),
        _ => match field {
            ResponseField::Body | ResponseField::Document => sample.text().into_owned(),
            ResponseField::Code => sample.code.to_string(),
            ResponseField::Message => sample.message.to_string(),
            ResponseField::ResponseHeaders => sample.response_headers(),
            ResponseField::RequestHeaders => sample.request_headers(),
            ResponseField::RequestData => sample.sampler_data(),
            ResponseField::Url => sample.url.clone(),
        },
    };
    if text.is_empty() {
        return if *is_negated { Ok(()) } else { Err(NULL.to_owned()) };
    }
    let mut failures = Vec::new();
    let mut passed_any = false;
    for expected in patterns {
        let expected = expected.value(scope);
        let found = match pattern {
            Pattern::Equals => text == expected,
            Pattern::Substring => text.contains(&expected),
            Pattern::Contains | Pattern::Matches => {
                let whole;
                let source = match pattern {
                    Pattern::Contains => &expected,
                    _ => {
                        whole = format!("\\A(?:{expected})\\z");
                        &whole
                    }
                };
                match &*scope.caches.pattern(source) {
                    Ok(compiled) => compiled.is_match(&text),
                    Err(why) => return Err(format!("Bad test configuration {why}")),
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
    Err(match (own.is_empty(), *is_any) {
        (false, _) => own,
        (true, true) => failures.join("\t") + "\t",
        (true, false) => failures.concat(),
    })
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

/// Longest equal text around a difference that JMeter shows.
const SHOWN: usize = 30;

/// Returns both texts, with the place where they begin to differ and where they end to.
fn compared(found: &str, expected: &str) -> String {
    let (found, expected): (Vec<char>, Vec<char>) = (found.chars().collect(), expected.chars().collect());
    let begin = found.iter().zip(&expected).take_while(|(one, other)| one == other).count();
    let most = found.len().min(expected.len()) - begin;
    let end = found
        .iter()
        .rev()
        .zip(expected.iter().rev())
        .take(most)
        .take_while(|(one, other)| one == other)
        .count();
    let shown = |all: &[char], name: &str| {
        let difference = &all[begin..all.len() - end];
        let from = begin.saturating_sub(SHOWN);
        let to = (all.len() - end + SHOWN).min(all.len());
        let text = |part: &[char]| part.iter().collect::<String>();
        format!(
            "\n\n****** {name}: {}{}[[[{}]]]{}{}",
            if from > 0 { "..." } else { "" },
            text(&all[from..begin]),
            text(difference),
            text(&all[all.len() - end..to]),
            if to < all.len() { "..." } else { "" },
        )
    };
    format!("{}{}\n\n", shown(&found, "received  "), shown(&expected, "comparison"))
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
    let found =
        found.map_err(|why| format!("Expected to find an object with property in path {path}: {}", why.0))?;
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
    match outcome {
        Err(why) => {
            sample.fail(why);
            false
        }
        Ok(_) if is_failure => {
            sample.fail(message);
            false
        }
        Ok(_) => true,
    }
}
