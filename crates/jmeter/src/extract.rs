//! Extractors: values of a sample become variables, with JMeter's numbers of matches.

use crate::plan::{Extractor, Match, Subject};
use crate::sample::Sample;
use crate::scope::Scope;
use plimsoll_body::Values;
use plimsoll_jmx::plan::Field;
use plimsoll_plan::head::Head;
use regex::Captures;

/// What a kind of place is in the cache of compiled ones.
mod kind {
    pub const JSON: u8 = 0;
    pub const JMES: u8 = 1;
    pub const XPATH: u8 = 2;
    pub const CSS: u8 = 3;
}

/// Runs an extractor on a sample.
pub fn extract(extractor: &Extractor, sample: &Sample, scope: &mut Scope<'_>) {
    match &extractor.matcher {
        Match::Regex { field, pattern, template } => {
            let (pattern, template) = (pattern.value(scope), template.value(scope));
            regex(extractor, sample, *field, &pattern, &template, scope);
        }
        Match::Boundary { field, left, right } => {
            let (left, right) = (left.value(scope), right.value(scope));
            let texts = texts(&extractor.subject, sample, *field, scope);
            let found = texts.iter().flat_map(|text| between(text, &left, &right)).collect();
            numbered(extractor, found, scope);
        }
        Match::JsonPath { paths, joins } => {
            let paths = paths.value(scope);
            json(extractor, sample, &paths, *joins, scope);
        }
        Match::JsonArray { path } => {
            let path = path.value(scope);
            let found = values(extractor, sample, kind::JSON, path.trim(), scope, Values::json);
            array_values(extractor, &path, found, scope);
        }
        Match::JmesPath { path } => {
            let path = path.value(scope);
            let found = values(extractor, sample, kind::JMES, path.trim(), scope, Values::jmes);
            json_values(extractor, found, scope);
        }
        Match::XPath { query } => {
            let query = query.value(scope);
            let found = values(extractor, sample, kind::XPATH, &query, scope, Values::xpath);
            xpath_values(extractor, found, scope);
        }
        Match::Css { selector, attribute } => {
            let (selector, attribute) = (selector.value(scope), attribute.value(scope));
            let key = format!("{selector}\n{attribute}");
            let named = (!attribute.is_empty()).then_some(attribute.as_str());
            let found = values(extractor, sample, kind::CSS, &key, scope, |_| Values::css(&selector, named));
            numbered(extractor, found, scope);
        }
    }
}

/// Returns the samples that an element reads.
pub fn samples<'s>(subject: &Subject, sample: &'s Sample) -> Vec<&'s Sample> {
    match subject {
        Subject::Main | Subject::Variable(_) => vec![sample],
        Subject::Children => sample.children.iter().collect(),
        Subject::All => std::iter::once(sample).chain(&sample.children).collect(),
    }
}

fn texts(subject: &Subject, sample: &Sample, field: Field, scope: &mut Scope<'_>) -> Vec<String> {
    if let Subject::Variable(name) = subject {
        let name = name.value(scope);
        return scope.vars.get(&name).map(str::to_owned).into_iter().collect();
    }
    samples(subject, sample).into_iter().map(|sample| text_of(sample, field)).collect()
}

fn text_of(sample: &Sample, field: Field) -> String {
    match field {
        Field::Body | Field::Document => sample.text().into_owned(),
        Field::UnescapedBody => crate::function::unescaped_html(&sample.text()),
        Field::ResponseHeaders => sample.response_headers(),
        Field::RequestHeaders => sample.request_headers(),
        Field::Url => sample.url.to_string(),
        Field::Code => sample.code.to_string(),
        Field::Message => sample.message.to_string(),
    }
}

fn values(
    extractor: &Extractor,
    sample: &Sample,
    kind: u8,
    text: &str,
    scope: &mut Scope<'_>,
    compile: impl FnOnce(&str) -> Result<Values, String>,
) -> Vec<String> {
    values_or(extractor, sample, (kind, text, "null"), scope, compile)
}

/// Returns the values at a place, with a text for each `null` of JSON.
fn values_or(
    extractor: &Extractor,
    sample: &Sample,
    (kind, text, null): (u8, &str, &str),
    scope: &mut Scope<'_>,
    compile: impl FnOnce(&str) -> Result<Values, String>,
) -> Vec<String> {
    let compiled = scope.caches.place(kind, text, || compile(text));
    let place = match &*compiled {
        Ok(place) => place,
        Err(why) => {
            scope.run.warn_once(why);
            return Vec::new();
        }
    };
    if let Subject::Variable(name) = &extractor.subject {
        let name = name.value(scope);
        let text = scope.vars.get(&name).unwrap_or_default();
        return place.all_or(Head::default(), text.as_bytes(), null).unwrap_or_default();
    }
    let all = samples(&extractor.subject, sample).into_iter();
    all.flat_map(|sample| place.all_or(Head::new(&sample.head), &sample.body, null).unwrap_or_default())
        .collect()
}

/// Fills a template such as `$1$-$2$` with the groups of a match.
pub fn filled(template: &str, found: &Captures<'_>) -> String {
    let group = |number: usize| found.get(number).map_or("", |group| group.as_str());
    if template.is_empty() {
        return group(1).to_owned();
    }
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && after[digits..].starts_with('$') {
            out.push_str(group(after[..digits].parse().unwrap_or(usize::MAX)));
            rest = &after[digits + 1..];
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

fn regex(
    extractor: &Extractor,
    sample: &Sample,
    field: Field,
    pattern: &str,
    template: &str,
    scope: &mut Scope<'_>,
) {
    let name = extractor.variable.value(scope);
    let number = number(extractor, scope);
    set_default(extractor, &name, scope);
    let compiled = scope.caches.pattern(pattern);
    let compiled = match &*compiled {
        Ok(compiled) => compiled,
        Err(why) => return scope.run.warn_once(why),
    };
    let texts = texts(&extractor.subject, sample, field, scope);
    let mut matches = texts.iter().flat_map(|text| compiled.captures_iter(text));
    let former = take_former(&name, scope);
    let mut kept = 0;
    if number >= 0 {
        let found = match number {
            0 => {
                let all: Vec<Captures<'_>> = matches.collect();
                let at = scope.between(0, all.len() as i64 - 1);
                all.into_iter().nth(at.max(0) as usize)
            }
            number => matches.nth(number as usize - 1),
        };
        match found {
            Some(found) => {
                scope.vars.set(&name, &filled(template, &found));
                set_groups(&name, &found, scope);
            }
            None => remove_groups(&name, scope),
        }
    } else {
        remove_groups(&name, scope);
        let all: Vec<Captures<'_>> = matches.collect();
        kept = all.len();
        scope.vars.set(&format!("{name}_matchNr"), &kept.to_string());
        for (at, found) in all.iter().enumerate() {
            let numbered = format!("{name}_{}", at + 1);
            scope.vars.set(&numbered, &filled(template, found));
            set_groups(&numbered, found, scope);
        }
    }
    for at in kept + 1..=former {
        let numbered = format!("{name}_{at}");
        scope.vars.remove(&numbered);
        remove_groups(&numbered, scope);
    }
}

fn set_groups(name: &str, found: &Captures<'_>, scope: &mut Scope<'_>) {
    let former: usize = scope.vars.get(&format!("{name}_g")).and_then(|text| text.parse().ok()).unwrap_or(0);
    for at in 0..found.len() {
        let numbered = format!("{name}_g{at}");
        match found.get(at) {
            Some(group) => scope.vars.set(&numbered, group.as_str()),
            None => scope.vars.remove(&numbered),
        }
    }
    scope.vars.set(&format!("{name}_g"), &(found.len() - 1).to_string());
    for at in found.len()..=former {
        scope.vars.remove(&format!("{name}_g{at}"));
    }
}

fn remove_groups(name: &str, scope: &mut Scope<'_>) {
    let count = scope.vars.get(&format!("{name}_g")).and_then(|text| text.parse::<usize>().ok());
    scope.vars.remove(&format!("{name}_g"));
    if let Some(count) = count {
        for at in 0..=count {
            scope.vars.remove(&format!("{name}_g{at}"));
        }
    }
}

fn number(extractor: &Extractor, scope: &mut Scope<'_>) -> i64 {
    extractor.number.integer(scope)
}

fn set_default(extractor: &Extractor, name: &str, scope: &mut Scope<'_>) {
    let default = extractor.default.value(scope);
    if !default.is_empty() || extractor.sets_empty_default {
        scope.vars.set(name, &default);
    }
}

/// Returns the number of former matches, and forgets it.
fn take_former(name: &str, scope: &mut Scope<'_>) -> usize {
    let key = format!("{name}_matchNr");
    let former = scope.vars.get(&key).and_then(|text| text.parse().ok()).unwrap_or(0);
    scope.vars.remove(&key);
    former
}

/// Sets the values of a boundary or CSS extractor.
fn numbered(extractor: &Extractor, found: Vec<String>, scope: &mut Scope<'_>) {
    let name = extractor.variable.value(scope);
    let number = number(extractor, scope);
    set_default(extractor, &name, scope);
    let former = take_former(&name, scope);
    let mut kept = 0;
    match number {
        0 if found.is_empty() => {}
        0 => {
            let at = scope.between(0, found.len() as i64 - 1) as usize;
            scope.vars.set(&name, &found[at]);
        }
        1.. => {
            if let Some(value) = found.get(number as usize - 1) {
                scope.vars.set(&name, value);
            }
        }
        _ => {
            kept = found.len();
            scope.vars.set(&format!("{name}_matchNr"), &kept.to_string());
            for (at, value) in found.iter().enumerate() {
                scope.vars.set(&format!("{name}_{}", at + 1), value);
            }
        }
    }
    for at in kept + 1..=former {
        scope.vars.remove(&format!("{name}_{at}"));
    }
}

/// Returns the texts between two others.
fn between(text: &str, left: &str, right: &str) -> Vec<String> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    match (left.is_empty(), right.is_empty()) {
        (true, true) => return vec![text.to_owned()],
        (true, false) => {
            return text.split_once(right).map(|(before, _)| before.to_owned()).into_iter().collect();
        }
        (false, true) => {
            return text.split_once(left).map(|(_, after)| after.to_owned()).into_iter().collect();
        }
        (false, false) => {}
    }
    let mut found = Vec::new();
    let mut begin = 0;
    while let Some(at) = text[begin..].find(left) {
        let inside = begin + at + left.len();
        let Some(end) = text[inside..].find(right) else { break };
        found.push(text[inside..inside + end].to_owned());
        begin = inside;
    }
    found
}

/// Sets the values of several JSONPaths.
fn json(extractor: &Extractor, sample: &Sample, paths: &str, joins: bool, scope: &mut Scope<'_>) {
    let (names, numbers, defaults) =
        (extractor.variable.value(scope), extractor.number.value(scope), extractor.default.value(scope));
    let names: Vec<&str> = names.split(';').collect();
    let numbers: Vec<&str> = numbers.split(';').collect();
    let defaults: Vec<&str> = defaults.split(';').collect();
    for (at, path) in paths.split(';').enumerate() {
        let Some(name) = names.get(at).map(|name| name.trim()) else { break };
        let default = defaults.get(at).copied().unwrap_or_default();
        // An empty number is a random one.
        let number = numbers.get(at).map_or(0, |text| text.trim().parse().unwrap_or(0));
        clear_numbered(name, scope);
        scope.vars.remove(&format!("{name}_ALL"));
        let place_of = (kind::JSON, path.trim(), default);
        let found = values_or(extractor, sample, place_of, scope, Values::json);
        if found.is_empty() {
            scope.vars.set(name, default);
            scope.vars.set(&format!("{name}_matchNr"), "0");
            continue;
        }
        if joins {
            scope.vars.set(&format!("{name}_ALL"), &found.join(","));
        }
        place(name, default, number, &found, scope);
        scope.vars.set(&format!("{name}_matchNr"), &found.len().to_string());
    }
}

fn clear_numbered(name: &str, scope: &mut Scope<'_>) {
    scope.vars.remove(&format!("{name}_matchNr"));
    let mut at = 1;
    while scope.vars.get(&format!("{name}_{at}")).is_some() {
        scope.vars.remove(&format!("{name}_{at}"));
        at += 1;
    }
}

fn place(name: &str, default: &str, number: i64, found: &[String], scope: &mut Scope<'_>) {
    if number < 0 {
        for (at, value) in found.iter().enumerate() {
            scope.vars.set(&format!("{name}_{}", at + 1), value);
        }
        return;
    }
    let at = match number {
        0 => scope.between(0, found.len() as i64 - 1) as usize,
        number => number as usize - 1,
    };
    let value = found.get(at).map_or(default, |value| value);
    scope.vars.set(name, value);
}

/// Sets the values of a JMESPath.
fn json_values(extractor: &Extractor, found: Vec<String>, scope: &mut Scope<'_>) {
    let name = extractor.variable.value(scope);
    let (number, default) = (number(extractor, scope), extractor.default.value(scope));
    clear_numbered(&name, scope);
    match found.len() {
        0 => scope.vars.set(&name, &default),
        // A single value is the value of any number.
        1 if number >= 0 => scope.vars.set(&name, &found[0]),
        _ => place(&name, &default, number, &found, scope),
    }
    scope.vars.set(&format!("{name}_matchNr"), &found.len().to_string());
}

/// Sets the value of a JSONPath and, if it is an array, its items as numbered values. A path that can match several
/// places has an array of them.
fn array_values(extractor: &Extractor, path: &str, found: Vec<String>, scope: &mut Scope<'_>) {
    let name = extractor.variable.value(scope);
    let has_several = ["*", "..", "?", ":", ","].iter().any(|sign| path.contains(sign));
    let (whole, items) = match found.as_slice() {
        [] => (None, None),
        [one] if !has_several => {
            let items: Option<Vec<serde_json::Value>> = serde_json::from_str(one).ok();
            let texts = items.map(|items| items.iter().map(json_text).collect::<Vec<_>>());
            (Some(one.clone()), texts)
        }
        all => {
            let items =
                all.iter().map(|one| serde_json::from_str(one).unwrap_or_else(|_| one.as_str().into()));
            (Some(serde_json::Value::Array(items.collect()).to_string()), Some(all.to_vec()))
        }
    };
    if items.is_some() || whole.is_none() {
        clear_numbered(&name, scope);
    }
    match (whole, items) {
        (Some(_), Some(items)) if items.is_empty() => nothing(extractor, &name, scope),
        (Some(whole), items) => {
            scope.vars.set(&name, &whole);
            if let Some(items) = items {
                scope.vars.set(&format!("{name}_matchNr"), &items.len().to_string());
                for (at, item) in items.iter().enumerate() {
                    scope.vars.set(&format!("{name}_{}", at + 1), item);
                }
            }
        }
        (None, _) => nothing(extractor, &name, scope),
    }
}

fn nothing(extractor: &Extractor, name: &str, scope: &mut Scope<'_>) {
    let default = extractor.default.value(scope);
    scope.vars.set(name, &default);
    scope.vars.set(&format!("{name}_matchNr"), "0");
}

fn json_text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Sets the values of an XPath: the first one has two names.
fn xpath_values(extractor: &Extractor, found: Vec<String>, scope: &mut Scope<'_>) {
    let name = extractor.variable.value(scope);
    let (number, default) = (extractor.number.value(scope), extractor.default.value(scope));
    // Here, an empty number means all values.
    let number = number.trim().parse().unwrap_or(-1i64);
    clear_numbered(&name, scope);
    scope.vars.set(&name, &default);
    match number {
        0 if found.is_empty() => {}
        0 => {
            let at = scope.between(0, found.len() as i64 - 1) as usize;
            scope.vars.set(&name, &found[at]);
        }
        1.. => {
            if let Some(value) = found.get(number as usize - 1) {
                scope.vars.set(&name, value);
            }
        }
        _ => {
            if let Some(value) = found.first() {
                scope.vars.set(&name, value);
            }
            for (at, value) in found.iter().enumerate() {
                scope.vars.set(&format!("{name}_{}", at + 1), value);
            }
        }
    }
    scope.vars.set(&format!("{name}_matchNr"), &found.len().to_string());
}
