//! What a probe writes its readings into: gauges as they are, counters as rates since the look before.

use super::probe::Moment;
use plimsoll_plan::watch::Unit;
use plimsoll_record::event::Reading;
use std::collections::HashMap;

/// Keeps the counters of one look for the next.
#[derive(Default)]
pub struct PreviousCounters {
    then: Option<Moment>,
    counters: Counters,
}

/// By part and metric: what is divided and what it is divided by. Without a divisor it is the time.
type Counters = HashMap<(String, String), (f64, Option<f64>)>;

/// One look's page of [`PreviousCounters`]. A page that is not handed back leaves them as they were, so that the next
/// rate spans the time without a sample.
pub struct Page {
    at: Moment,
    readings: Vec<Reading>,
    counters: Counters,
}

impl PreviousCounters {
    pub fn page(at: Moment) -> Page {
        Page { at, readings: Vec::new(), counters: HashMap::new() }
    }

    /// Turns the counters of the page into rates and keeps them. A counter that fell has started anew (a restart,
    /// a device that came back): its rate is not known, and no reading says so better than a wrong one.
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
                // Nothing out of nothing: whatever is counted has not happened.
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
    /// A value as it is now.
    pub fn gauge(&mut self, part: &str, metric: &str, unit: Unit, limit: Option<f64>, value: f64) {
        let limit = limit.filter(|limit| limit.is_finite() && *limit > 0.0);
        let (part, metric) = (part.to_owned(), metric.to_owned());
        self.readings.push(Reading { part, metric, unit, limit, value });
    }

    /// A total that only rises; what is told is its rise per second.
    pub fn counter(&mut self, part: &str, metric: &str, unit: Unit, limit: Option<f64>, total: f64) {
        self.gauge(part, metric, unit, limit, total);
        self.counters.insert((part.to_owned(), metric.to_owned()), (total, None));
    }

    /// Two totals that only rise; what is told is the rise of the first for each of the second.
    pub fn ratio(&mut self, part: &str, metric: &str, unit: Unit, limit: Option<f64>, total: f64, over: f64) {
        self.gauge(part, metric, unit, limit, total);
        self.counters.insert((part.to_owned(), metric.to_owned()), (total, Some(over)));
    }
}

/// A number as a fact shows it: whole, or with two digits behind the point.
pub fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
