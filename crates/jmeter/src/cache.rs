//! The responses that a thread has in the cache of its HTTP Cache Manager: no bodies, but what a browser would send to
//! find out whether they are still valid.

use plimsoll_plan::head::Head;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// The cache of one manager.
#[derive(Default)]
pub struct Cache {
    entries: HashMap<Rc<str>, Entry>,
    /// In the order of their first use.
    order: VecDeque<Rc<str>>,
}

#[derive(Debug, Clone, Default)]
struct Entry {
    last_modified: Option<String>,
    etag: Option<String>,
    /// Until when the response is used without a request, ms since 1970.
    fresh_until_ms: Option<i64>,
    /// The headers of the request that select one of several responses.
    vary: Option<String>,
}

/// What a cache says about a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing: the request is sent as it is.
    Nothing,
    /// The response is fresh: no request is sent.
    Fresh,
    /// The request is sent with these headers.
    Stale(Vec<(&'static str, String)>),
}

/// How long a response without any date is fresh, as in JMeter.
const YEAR_MS: i64 = 365 * 24 * 3_600 * 1_000;

/// Headers of a request, by name.
type Headers = [(String, String)];

impl Cache {
    pub fn clear(&mut self) {
        self.entries.clear();
        self.order.clear();
    }

    /// Looks up a request. Only GET requests are left out while the response is fresh.
    pub fn find(&self, url: &str, headers: &Headers, is_get: bool, now_ms: i64) -> Found {
        let mut found = self.entries.get(url);
        if let Some(vary) = found.and_then(|entry| entry.vary.as_ref()) {
            found = self.entries.get(varied(url, vary, headers).as_str());
        }
        let Some(entry) = found else { return Found::Nothing };
        if is_get && entry.fresh_until_ms.is_some_and(|until_ms| until_ms > now_ms) {
            return Found::Fresh;
        }
        let conditions =
            [("If-Modified-Since", &entry.last_modified), ("If-None-Match", &entry.etag)].into_iter();
        Found::Stale(conditions.filter_map(|(name, value)| Some((name, value.clone()?))).collect())
    }

    /// Keeps what a response to a GET request says, unless it is known.
    pub fn keep(
        &mut self,
        url: &Rc<str>,
        headers: &Headers,
        (status, head): (u16, Head<'_>),
        (uses_expires, max): (bool, usize),
        now_ms: i64,
    ) {
        let field = |name: &str| head.field(name).map(|value| String::from_utf8_lossy(value).into_owned());
        let vary = field("vary");
        if !matches!(status, 200..=299 | 304) || vary.as_deref() == Some("*") {
            return;
        }
        let (last_modified, etag) = (field("last-modified"), field("etag"));
        let (expires, control) = (field("expires"), field("cache-control"));
        let is_blank = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        if [&last_modified, &etag, &expires, &control].into_iter().all(is_blank) {
            return;
        }
        let mut fresh_until_ms = None;
        if uses_expires {
            let control = control.as_deref().unwrap_or_default();
            if control.contains("no-store") {
                return;
            }
            // An invalid date has passed.
            fresh_until_ms = expires.as_deref().map(|text| date_ms(text).unwrap_or(0));
            if !control.contains("no-cache") {
                fresh_until_ms = match (max_age_s(control), fresh_until_ms) {
                    (Some(seconds), _) => Some(now_ms.saturating_add(seconds.saturating_mul(1_000))),
                    (None, Some(known)) => Some(known),
                    (None, None) => {
                        Some(now_ms + guessed_ms(last_modified.as_deref(), field("date").as_deref()))
                    }
                };
            }
        }
        let entry = Entry { last_modified, etag, fresh_until_ms, vary: None };
        match vary {
            Some(vary) => {
                let place: Rc<str> = varied(url, &vary, headers).into();
                self.insert(Rc::clone(url), Entry { vary: Some(vary), ..entry.clone() }, max);
                self.insert(place, entry, max);
            }
            None if self.entries.contains_key(url) => {}
            None => self.insert(Rc::clone(url), entry, max),
        }
    }

    fn insert(&mut self, url: Rc<str>, entry: Entry, max: usize) {
        if self.entries.insert(Rc::clone(&url), entry).is_none() {
            self.order.push_back(url);
        }
        while self.order.len() > max.max(1) {
            if let Some(oldest) = self.order.pop_front() {
                self.entries.remove(&oldest);
            }
        }
    }
}

/// Returns the place of a response that depends on headers of its request.
fn varied(url: &str, vary: &str, headers: &Headers) -> String {
    let mut place = format!("{url}\n");
    for name in vary.split(',').map(str::trim) {
        let values = headers.iter().filter(|(known, _)| known == name);
        values.for_each(|(_, value)| place.push_str(&format!("{name}={value}\n")));
    }
    place
}

fn max_age_s(control: &str) -> Option<i64> {
    let (_, rest) = control.split_once("max-age=")?;
    rest.split([',', ' ']).next()?.parse().ok()
}

/// A tenth of the age of a response, as RFC 9111 section 4.2.2 suggests.
fn guessed_ms(last_modified: Option<&str>, date: Option<&str>) -> i64 {
    match (last_modified.and_then(date_ms), date.and_then(date_ms)) {
        (Some(modified_ms), Some(date_ms)) => (date_ms - modified_ms) / 10,
        _ => YEAR_MS,
    }
}

/// Returns a date of HTTP in ms since 1970.
fn date_ms(text: &str) -> Option<i64> {
    let date = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some(date.timestamp().as_millisecond())
}
