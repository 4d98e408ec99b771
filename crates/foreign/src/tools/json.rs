//! JSON with places: a finding quotes the line, so each value must know where it stood, and a number how it was
//! written. `serde_json` parses; its raw values are slices of the source, so that offsets come for free.

use super::number::{self, Comma};
use super::text::{Text, unread};
use super::{artillery, autocannon, bombardier, fortio, gatling, ghz, jmeter, k6, locust, oha, vegeta};
use crate::model::{Document, Figure};
use crate::table::records;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// An object of the source by its keys.
pub struct Object<'t, 'a> {
    text: &'t Text<'a>,
    fields: BTreeMap<String, &'a RawValue>,
    pub line: u32,
}

impl<'t, 'a> Object<'t, 'a> {
    fn new(text: &'t Text<'a>, raw: &'a RawValue) -> Option<Self> {
        let fields = serde_json::from_str(raw.get()).ok()?;
        Some(Self { text, fields, line: line_of(text, raw) })
    }

    pub fn object(&self, key: &str) -> Option<Self> {
        Self::new(self.text, self.fields.get(key)?)
    }

    /// Its fields that are objects themselves.
    pub fn objects(&self) -> impl Iterator<Item = (&str, Self)> {
        self.fields.iter().filter_map(|(key, raw)| Some((key.as_str(), Self::new(self.text, raw)?)))
    }

    pub fn has(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    pub fn string(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.fields.get(key)?.get()).ok()
    }

    /// The elements of an array that are strings.
    pub fn strings(&self, key: &str) -> Vec<String> {
        self.fields.get(key).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// The objects in a field that is a list or an object of them.
    pub fn members(&self, key: &str) -> Vec<Self> {
        let Some(raw) = self.fields.get(key) else { return Vec::new() };
        let list: Vec<&'a RawValue> = match serde_json::from_str(raw.get()) {
            Ok(list) => list,
            Err(_) => match serde_json::from_str::<BTreeMap<String, &'a RawValue>>(raw.get()) {
                Ok(fields) => fields.into_values().collect(),
                Err(_) => Vec::new(),
            },
        };
        list.into_iter().filter_map(|raw| Self::new(self.text, raw)).collect()
    }

    /// Where this field stands.
    pub fn line_of(&self, key: &str) -> u32 {
        self.fields.get(key).map_or(self.line, |raw| line_of(self.text, raw))
    }

    /// A number, of which one is `unit` in the canonical unit. Programs write as many digits as a number has: few
    /// digits mean a round number here and not a rounded one.
    pub fn number(&self, key: &str, unit: f64, name: &str) -> Option<Figure> {
        let raw = self.fields.get(key)?;
        let (number, "") = number::leading(raw.get(), Comma::Groups)? else { return None };
        let mut figure = number.figure(unit, name, raw.get(), line_of(self.text, raw));
        let slack = figure.value.abs() * 1e-12;
        (figure.low, figure.high) = (figure.value - slack, figure.value + slack);
        Some(figure)
    }

    pub fn count(&self, key: &str) -> Option<Figure> {
        let raw = self.fields.get(key)?;
        number::count(raw.get(), line_of(self.text, raw))
    }
}

fn line_of(text: &Text, raw: &RawValue) -> u32 {
    // Both addresses lie in the same text: the raw value borrows from it.
    let offset = (raw.get().as_ptr() as usize).saturating_sub(text.source.as_ptr() as usize);
    text.number(text.index_of(offset))
}

/// A kind of JSON result: whether an object is one, and how it is read.
type Kind = (&'static str, fn(&Object) -> bool, fn(&Object, &Text, usize, &mut Document));

const KINDS: [Kind; 13] = [
    ("a result of autocannon", autocannon::json::is_one, autocannon::json::read),
    ("statistics of Gatling", gatling::json::is_one, gatling::json::read),
    ("`metrics` of k6", k6::json::is_summary, k6::json::read),
    ("`statistics.json` of JMeter", jmeter::statistics::is_one, jmeter::statistics::read),
    ("a report of vegeta", vegeta::json::is_report, vegeta::json::read),
    ("a result of oha", oha::json::is_result, oha::json::read),
    ("a result of fortio", fortio::json::is_one, fortio::json::read),
    ("a result of bombardier", bombardier::json::is_one, bombardier::json::read),
    ("a result of ghz", ghz::json::is_one, ghz::json::read),
    ("a report of Artillery", artillery::json::is_one, artillery::json::read),
    ("statistics of Locust's page", locust::json::is_page, locust::json::read_page),
    ("statistics of Locust by name", locust::json::is_named, locust::json::read_named),
    ("an entry of Locust's `--json`", locust::json::is_entry, locust::json::read_entry),
];

/// Reads the JSON result that begins at this line, and gives the line after it.
pub fn read(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    result(text, at, document, &|object, document| {
        let kind = KINDS.iter().find(|(_, is_one, _)| is_one(object));
        kind.is_some_and(|(_, _, reader)| {
            let first = document.rows.len();
            reader(object, text, at, document);
            document.rows.iter_mut().skip(first).for_each(|row| row.is_whole = true);
            true
        })
    })
}

/// The same for JSON of unknown programs, by the names of its fields.
pub fn read_unknown(text: &Text, at: usize, document: &mut Document) -> Option<usize> {
    result(text, at, document, &|object, document| {
        let before = document.rows.len();
        // That of loadtest has a reader that begins one line below.
        if !object.has("totalRequests") {
            records::read(object, document);
        }
        document.rows.len() > before
    })
}

/// `take` reads one object, and says whether it is one of its kind.
fn result(
    text: &Text,
    at: usize,
    document: &mut Document,
    take: &dyn Fn(&Object, &mut Document) -> bool,
) -> Option<usize> {
    let line = text.at(at);
    let begins = line.starts_with('{') || line.starts_with("[{") || line == "[";
    // A program's own text, as in its tests: const result = `{.
    let is_quoted = ["`{", "\"{", "'{"].iter().any(|open| line.ends_with(open));
    if !begins && !is_quoted || at > 0 && text.end(at - 1) != at && is_inside(text.at(at - 1)) {
        return None;
    }
    let rest = text.source.get(text.start(at)..text.start(text.end(at)))?;
    let skipped = if begins { 0 } else { rest.lines().next()?.rfind('{')? };
    let rest = rest.get(skipped..)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
    match values.next()? {
        Ok(raw) => {
            let last = text.index_of(text.start(at) + skipped + values.byte_offset().saturating_sub(1));
            let taken = objects(text, raw).iter().filter(|object| take(object, document)).count();
            (taken > 0).then(|| {
                document.taken.extend((at..=last).map(|i| text.number(i)));
                last + 1
            })
        }
        Err(error) => {
            const MARKS: [&str; 5] = [
                "\"http_req",
                "\"pct1ResTime\"",
                "\"latencies\"",
                "\"latencyPercentiles\"",
                "\"testRunDurationMs\"",
            ];
            MARKS.iter().any(|mark| rest.contains(mark)).then(|| {
                let line = text.number(at) + u32::try_from(error.line().saturating_sub(1)).unwrap_or(0);
                unread(document, line, text.at(at), format!("JSON that cannot be parsed: {error}"));
                text.end(at)
            })
        }
    }
}

/// The value itself, or the objects of a list.
fn objects<'t, 'a>(text: &'t Text<'a>, raw: &'a RawValue) -> Vec<Object<'t, 'a>> {
    let list: Vec<&'a RawValue> = serde_json::from_str(raw.get()).unwrap_or_else(|_| vec![raw]);
    list.into_iter().filter_map(|raw| Object::new(text, raw)).collect()
}

/// After such a line, an object is a part of another one or of a list.
fn is_inside(before: &str) -> bool {
    before.ends_with([',', '[', '{', '(']) || before.starts_with('"') && before.ends_with(':')
}
