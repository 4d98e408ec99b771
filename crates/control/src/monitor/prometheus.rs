//! Whatever exposes metrics for Prometheus, or a Prometheus server that evaluates an expression.

use super::counters::Counters;
use super::http::{Getter, encoded};
use super::probe::{Found, Moment, MonitorError, Probe};
use super::text_format::{parse, part};
use super::trust::Trust;
use crate::reach::Deadline;
use plimsoll_plan::value::Secret;
use plimsoll_plan::watch::Unit;
use plimsoll_record::event::Reading;
use regex::Regex;
use serde_json::Value;
use std::collections::HashSet;

/// Most series that one monitor brings: each is a curve of the run, and a page of metrics easily has thousands.
pub const MOST_CHANNELS: usize = 200;

/// Most of a server's own words that go into a sentence, characters.
const MOST_WORDS: usize = 200;

/// A page of metrics, read whole at each look.
pub struct Scrape {
    getter: Result<Getter, MonitorError>,
    wanted: Result<Vec<Regex>, MonitorError>,
    counters: Counters,
    channels: Channels,
}

/// An expression, evaluated by a server at each look.
pub struct Query {
    getter: Result<Getter, MonitorError>,
    channels: Channels,
}

/// The series that are told. Those that came first stay: a curve that comes and goes with the order of a page is none.
#[derive(Default)]
struct Channels {
    admitted: HashSet<(String, String)>,
    seen_in_this_look: HashSet<(String, String)>,
    left_out: usize,
    most_left_out: usize,
}

impl Scrape {
    /// `metrics` are regular expressions for whole names; none: all.
    pub fn new(url: &Secret, metrics: &[String], trust: &Trust) -> Scrape {
        let compile = |text: &String| {
            // The reason spans several lines in the library's words; the expression says enough.
            Regex::new(&format!("^(?:{text})$"))
                .map_err(|_| MonitorError(format!("`{text}` is not a regular expression")))
        };
        Scrape {
            getter: Getter::new(url.reveal(), trust),
            wanted: metrics.iter().map(compile).collect(),
            counters: Counters::default(),
            channels: Channels::default(),
        }
    }
}

impl Probe for Scrape {
    fn asks(&self) -> Vec<(String, u16)> {
        self.getter.iter().map(Getter::asks).collect()
    }

    fn look(&mut self, at: Moment) -> Result<Found, MonitorError> {
        let getter = self.getter.as_mut().map_err(|trouble| trouble.clone())?;
        let wanted = self.wanted.as_ref().map_err(Clone::clone)?;
        let page = getter.get_text(Deadline::of_a_look())?;
        let samples = parse(&page).map_err(|why| getter.trouble(&why))?;
        let mut found = Found::default();
        self.channels.begin();
        let mut matched = false;
        for sample in samples {
            if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted.is_match(&sample.name)) {
                continue;
            }
            matched = true;
            let part = sample.part();
            if !self.channels.admits(&part, &sample.name) {
                continue;
            }
            let value = if sample.rises {
                self.counters.rate(&format!("{}{part}", sample.name), at, sample.value)
            } else {
                Some(sample.value)
            };
            // NaN is what a quantile of nothing is: there is no such number just now.
            if let Some(value) = value.filter(|value| value.is_finite()) {
                let unit = unit_of(&sample.name, sample.rises);
                found.readings.push(Reading { part, metric: sample.name, unit, limit: None, value });
            }
        }
        if !matched {
            return Err(getter.trouble("none of the metrics that are asked for is there"));
        }
        self.channels.tell(&mut found);
        Ok(found)
    }
}

impl Query {
    pub fn new(server: &Secret, query: &str, trust: &Trust) -> Query {
        let server = server.reveal().trim_end_matches('/');
        let getter = if server.contains(['?', '#']) {
            Err(MonitorError("a Prometheus server's address ends with its host, port and path".into()))
        } else {
            Getter::new(&format!("{server}/api/v1/query?query={}", encoded(query)), trust)
        };
        Query { getter, channels: Channels::default() }
    }
}

impl Probe for Query {
    fn asks(&self) -> Vec<(String, u16)> {
        self.getter.iter().map(Getter::asks).collect()
    }

    fn look(&mut self, _: Moment) -> Result<Found, MonitorError> {
        let getter = self.getter.as_mut().map_err(|trouble| trouble.clone())?;
        let page = getter.get(Deadline::of_a_look())?;
        // An error comes as JSON too, with a status of 400 or 422.
        let answer: Value = match serde_json::from_slice(&page.body) {
            Ok(answer) => answer,
            Err(_) if page.status != 200 => return Err(getter.trouble(&format!("status {}", page.status))),
            Err(_) => return Err(getter.trouble("not an answer of Prometheus")),
        };
        if answer["status"] == "error" {
            let words = answer["error"].as_str().unwrap_or("an error without words");
            let words: String = words.replace('\n', " ").chars().take(MOST_WORDS).collect();
            return Err(getter.trouble(&words));
        }
        let result = &answer["data"]["result"];
        let mut found = Found::default();
        self.channels.begin();
        match answer["data"]["resultType"].as_str() {
            Some("scalar") => self.channels.push(&mut found, String::new(), "value", value_of(result)),
            Some("vector") => {
                for series in result.as_array().into_iter().flatten() {
                    let labels = series["metric"].as_object();
                    // A map of `serde_json` is in order.
                    let labels =
                        labels.into_iter().flatten().filter_map(|(k, v)| Some((k.as_str(), v.as_str()?)));
                    let name = series["metric"]["__name__"].as_str().unwrap_or("value");
                    let part = part(labels.filter(|(key, _)| *key != "__name__"));
                    self.channels.push(&mut found, part, name, value_of(&series["value"]));
                }
            }
            Some(other) => {
                let why = format!("the query gives a {other}, and only a vector or a scalar can be drawn");
                return Err(getter.trouble(&why));
            }
            None => return Err(getter.trouble("not an answer of Prometheus")),
        }
        self.channels.tell(&mut found);
        Ok(found)
    }
}

/// The second of `[time, "value"]`.
fn value_of(pair: &Value) -> Option<f64> {
    pair[1].as_str()?.parse().ok()
}

impl Channels {
    fn begin(&mut self) {
        self.seen_in_this_look.clear();
        self.left_out = 0;
    }

    /// Whether a series is told. One that stands twice in an answer is told once.
    fn admits(&mut self, part: &str, metric: &str) -> bool {
        let key = (part.to_owned(), metric.to_owned());
        let fresh = self.seen_in_this_look.insert(key.clone());
        if !self.admitted.contains(&key) {
            if self.admitted.len() >= MOST_CHANNELS {
                self.left_out += usize::from(fresh);
                return false;
            }
            self.admitted.insert(key);
        }
        fresh
    }

    fn push(&mut self, found: &mut Found, part: String, metric: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite())
            && self.admits(&part, metric)
        {
            let unit = unit_of(metric, false);
            found.readings.push(Reading { part, metric: metric.to_owned(), unit, limit: None, value });
        }
    }

    /// The most there ever were, so that a number that goes up and down does not fill the list of facts.
    fn tell(&mut self, found: &mut Found) {
        self.most_left_out = self.most_left_out.max(self.left_out);
        if self.most_left_out > 0 {
            let text = format!("{} beyond the first {MOST_CHANNELS}", self.most_left_out);
            found.facts.push(("series left out".into(), text));
        }
    }
}

/// What the end of a name says by Prometheus' conventions. Seconds that are counted up, per second: how many go on at
/// a time (Little's law); of a CPU: cores.
pub fn unit_of(name: &str, rises: bool) -> Unit {
    let base = name.strip_suffix("_total").unwrap_or(name);
    let base = if rises { base.strip_suffix("_sum").unwrap_or(base) } else { base };
    match (base.rsplit('_').next().unwrap_or_default(), rises) {
        ("bytes", false) => Unit::Bytes,
        ("bytes", true) => Unit::BytesPerS,
        ("seconds", false) => Unit::Seconds,
        ("seconds", true) if base.contains("cpu") => Unit::Cores,
        ("seconds", true) => Unit::Count,
        ("ratio", false) => Unit::Share,
        (_, false) => Unit::Count,
        (_, true) => Unit::PerS,
    }
}
