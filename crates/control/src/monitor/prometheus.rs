//! Monitor of any program that exposes Prometheus metrics, and of expressions that a Prometheus server evaluates.

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

/// Maximum number of series per monitor, because each is a curve of the run and a page can have thousands.
pub const MOST_CHANNELS: usize = 200;

/// Maximum length of a server's message in a sentence, characters.
const MOST_WORDS: usize = 200;

/// A page of metrics, read completely for each sample.
pub struct Scrape {
    getter: Result<Getter, MonitorError>,
    wanted: Result<Vec<Regex>, MonitorError>,
    counters: Counters,
    channels: Channels,
}

/// An expression that a server evaluates for each sample.
pub struct Query {
    getter: Result<Getter, MonitorError>,
    channels: Channels,
}

/// Reported series. The first ones stay, so that curves do not come and go with the order of a page.
#[derive(Default)]
struct Channels {
    admitted: HashSet<(String, String)>,
    seen_in_this_look: HashSet<(String, String)>,
    left_out: usize,
    most_left_out: usize,
}

impl Scrape {
    /// Creates a probe. `metrics` are regular expressions for whole names; none means all.
    pub fn new(url: &Secret, metrics: &[String], trust: &Trust) -> Scrape {
        let compile = |text: &String| {
            // The library's reason spans several lines; the expression is enough.
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
            // NaN is the quantile of no observations, so there is no value now.
            if let Some(value) = value.filter(|value| value.is_finite()) {
                let unit = unit_of(&sample.name, sample.rises);
                found.readings.push(Reading { part, metric: sample.name, unit, limit: None, value });
            }
        }
        if !matched {
            return Err(getter.trouble("the page has none of the requested metrics"));
        }
        self.channels.tell(&mut found);
        Ok(found)
    }
}

impl Query {
    pub fn new(server: &Secret, query: &str, trust: &Trust) -> Query {
        let server = server.reveal().trim_end_matches('/');
        let getter = if server.contains(['?', '#']) {
            Err(MonitorError("a Prometheus server's address must end with its host, port, or path".into()))
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
        // An error is JSON, too, with status 400 or 422.
        let answer: Value = match serde_json::from_slice(&page.body) {
            Ok(answer) => answer,
            Err(_) if page.status != 200 => return Err(getter.trouble(&format!("status {}", page.status))),
            Err(_) => return Err(getter.trouble("not a Prometheus response")),
        };
        if answer["status"] == "error" {
            let words = answer["error"].as_str().unwrap_or("an error without a message");
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
                    // `serde_json` sorts its maps.
                    let labels =
                        labels.into_iter().flatten().filter_map(|(k, v)| Some((k.as_str(), v.as_str()?)));
                    let name = series["metric"]["__name__"].as_str().unwrap_or("value");
                    let part = part(labels.filter(|(key, _)| *key != "__name__"));
                    self.channels.push(&mut found, part, name, value_of(&series["value"]));
                }
            }
            Some(other) => {
                let why = format!("the query returns a {other}; use one that returns a vector or a scalar");
                return Err(getter.trouble(&why));
            }
            None => return Err(getter.trouble("not a Prometheus response")),
        }
        self.channels.tell(&mut found);
        Ok(found)
    }
}

/// Returns the second element of `[time, "value"]`.
fn value_of(pair: &Value) -> Option<f64> {
    pair[1].as_str()?.parse().ok()
}

impl Channels {
    fn begin(&mut self) {
        self.seen_in_this_look.clear();
        self.left_out = 0;
    }

    /// Returns whether a series is reported. A series that occurs twice in a response is reported once.
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

    /// Reports the highest count so far, so that a varying number does not fill the list of facts.
    fn tell(&mut self, found: &mut Found) {
        self.most_left_out = self.most_left_out.max(self.left_out);
        if self.most_left_out > 0 {
            let text = format!("{} beyond the first {MOST_CHANNELS}", self.most_left_out);
            found.facts.push(("omitted series".into(), text));
        }
    }
}

/// Derives the unit from the end of the name by Prometheus conventions. The rate of a counter in seconds is a
/// concurrency (Little's law), or, for CPU time, cores.
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
