//! Turns a probe's values into readings: gauges unchanged, counters as rates since the previous sample.

use super::probe::Moment;
use plimsoll_plan::watch::Unit;
use plimsoll_record::event::Reading;
use std::collections::HashMap;

/// Counters of one sample, kept for the next.
#[derive(Default)]
pub struct PreviousCounters {
    then: Option<Moment>,
    counters: Counters,
}

/// Dividend and divisor by part and metric; without a divisor, the divisor is time.
type Counters = HashMap<(String, String), (f64, Option<f64>)>;

/// Page of one sample for [`PreviousCounters`]. If a page is not returned, the counters stay, so that the next rate
/// spans the missed sample.
pub struct Page {
    at: Moment,
    readings: Vec<Reading>,
    counters: Counters,
}

impl PreviousCounters {
    pub fn page(at: Moment) -> Page {
        Page { at, readings: Vec::new(), counters: HashMap::new() }
    }

    /// Turns the page's counters into rates and stores them. A counter that decreased was reset (a restart, a
    /// reconnected device), so its rate is unknown and gets no reading.
    pub fn take(&mut self, page: Page) -> Vec<Reading> {
        let Page { at, mut readings, counters } = page;
        let span_s = self.then.map(|then| at.since_s(then));
        readings.retain_mut(|reading| {
            if !reading.value.is_finite() {
                return false;
            }
            let key = (reading.part.clone(), reading.metric.clone());
            let Some(now) = counters.get(&key) else { return true };
            let Some((span_s, before)) = span_s.zip(self.counters.get(&key)) else { return false };
            let rise = now.0 - before.0;
            reading.value = match now.1.zip(before.1) {
                // The divisor did not increase, so nothing happened.
                Some((over, over_before)) if over <= over_before => 0.0,
                Some((over, over_before)) => rise / (over - over_before),
                None => rise / span_s,
            };
            rise >= 0.0
        });
        self.then = Some(at);
        self.counters = counters;
        readings
    }
}

impl Page {
    /// Adds a current value.
    pub fn gauge(&mut self, part: &str, metric: &str, unit: Unit, limit: Option<f64>, value: f64) {
        let limit = limit.filter(|limit| limit.is_finite() && *limit > 0.0);
        let (part, metric) = (part.to_owned(), metric.to_owned());
        self.readings.push(Reading { part, metric, unit, limit, value });
    }

    /// Adds an increasing total, reported as its increase per second.
    pub fn counter(&mut self, part: &str, metric: &str, unit: Unit, limit: Option<f64>, total: f64) {
        self.gauge(part, metric, unit, limit, total);
        self.counters.insert((part.to_owned(), metric.to_owned()), (total, None));
    }

    /// Adds two increasing totals, reported as the increase of the first per increase of the second.
    pub fn ratio(&mut self, part: &str, metric: &str, unit: Unit, limit: Option<f64>, total: f64, over: f64) {
        self.gauge(part, metric, unit, limit, total);
        self.counters.insert((part.to_owned(), metric.to_owned()), (total, Some(over)));
    }
}

/// Formats a number for a fact: whole, or with two decimals.
pub fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
