//! The course of each request in coarse steps, from those rows of a run file that are kept for it. Rows are added up as
//! they are read: all histograms of hundreds of requests over hours would fill the memory.

use crate::cells::Cells;
use crate::facts::Facts;
use crate::picture::Spark;
use crate::rows::was_sent;
use crate::times::{Belief, percentile};
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_record::record::{GeneratorRecord, RunRecord};
use plimsoll_record::run_file::{Error, Span, each_span};
use plimsoll_stats::Hist;
use std::collections::BTreeMap;
use std::path::Path;

/// Most steps of a course.
const STEPS_MAX: u32 = 60;

/// What [`spans_of`] finds. The default is nothing: no course of any request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpansOf {
    /// First and last tick of each step.
    steps: Vec<(u32, u32)>,
    /// By series, then by step; a request of which nothing was heard has no steps.
    requests: BTreeMap<u32, Vec<Step>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Step {
    finished: u64,
    failed: u64,
    p99_ns: Option<u64>,
}

/// Reads the courses of a run's requests from its file. Merged files have none.
///
/// # Errors
/// As [`plimsoll_record::run_file::read`].
pub fn spans_of(path: &Path, record: &RunRecord) -> Result<SpansOf, Error> {
    // A file of several machines is a merged one.
    let mut origins = record.generators.iter();
    let (Some((name, origin)), None) = (origins.next(), origins.next()) else {
        return Ok(SpansOf::default());
    };
    let mut maker = SpanBuilder::new(origin);
    each_span(path, name, |series, span| maker.take(series, &span))?;
    Ok(maker.made())
}

/// Adds up spans that come series by series, that of the run as a whole first.
struct SpanBuilder {
    requests: u32,
    width: u32,
    /// By number of the step: first and last tick.
    steps: BTreeMap<u32, (u32, u32)>,
    made: BTreeMap<u32, BTreeMap<u32, Step>>,
    /// The step that grows: series, number, times.
    open: Option<(u32, u32, Hist, Hist)>,
}

impl SpanBuilder {
    fn new(origin: &GeneratorRecord) -> SpanBuilder {
        let ticks = origin.ticks.keys().next_back().map_or(1, |last| last.saturating_add(1));
        let requests = origin.opening.outline.requests.len() as u32;
        SpanBuilder {
            requests,
            width: ticks.div_ceil(STEPS_MAX).max(1),
            steps: BTreeMap::new(),
            made: BTreeMap::new(),
            open: None,
        }
    }

    fn take(&mut self, series: Option<u32>, span: &Span) {
        let Some(series) = series else {
            // A span belongs to the step in which it begins; where spans are longer than steps, each is one.
            let step =
                self.steps.entry(span.first_tick / self.width).or_insert((span.first_tick, span.last_tick));
            *step = (step.0.min(span.first_tick), step.1.max(span.last_tick));
            return;
        };
        if series >= self.requests {
            return;
        }
        let number = span.first_tick / self.width;
        if self.open.as_ref().is_none_or(|(s, n, ..)| (*s, *n) != (series, number)) {
            self.close();
            self.open = Some((series, number, Hist::on_demand(), Hist::on_demand()));
        }
        let step = self.made.entry(series).or_default().entry(number).or_default();
        step.finished = step.finished.saturating_add(span.cells.sum(SeriesSum::Finished));
        step.failed = step.failed.saturating_add(span.cells.sum(SeriesSum::Failed));
        if let Some((_, _, exact, bounds)) = &mut self.open {
            exact.merge(span.cells.hist(SeriesHist::Response));
            bounds.merge(span.cells.hist(SeriesHist::ResponseCensored));
        }
    }

    fn close(&mut self) {
        let Some((series, number, exact, bounds)) = self.open.take() else { return };
        let step = self.made.entry(series).or_default().entry(number).or_default();
        step.p99_ns = percentile(&exact, &bounds, 0.99, Belief::LikeTheOthers).map(|found| found.value);
    }

    fn made(mut self) -> SpansOf {
        self.close();
        let numbers: Vec<u32> = self.steps.keys().copied().collect();
        let all = |mut made: BTreeMap<u32, Step>| {
            numbers.iter().map(|number| made.remove(number).unwrap_or_default()).collect::<Vec<Step>>()
        };
        SpansOf {
            steps: self.steps.values().copied().collect(),
            requests: self.made.into_iter().map(|(series, made)| (series, all(made))).collect(),
        }
    }
}

impl SpansOf {
    /// One for each row of the summary's `requests` that is known.
    pub(super) fn sparks(&self, facts: &Facts) -> Vec<Spark> {
        let ([machine], Some((_, last))) = (&facts.machines[..], self.steps.last()) else {
            return Vec::new();
        };
        let plan = machine.plan();
        let edge_s = |ns: u64| ns.min(machine.elapsed_ns) as f64 / 1e9;
        let from_s = |tick: u32| edge_s(plan.tick_bounds_ns(tick).0);
        let to_s = |tick: u32| edge_s(plan.tick_bounds_ns(tick).1);
        // Requests outside of the load are not series of the facts, and requests that were never sent are not rows of
        // the table.
        let series =
            (0u32..).zip(&plan.requests).filter(|(_, request)| !request.is_outside_load).map(|(at, _)| at);
        let shown = series.zip(&facts.series).filter(|(_, one)| was_sent(&one.tally));
        let spark = |(request, (series, _))| {
            let steps = self.requests.get(&series)?;
            let rate = |((first, last), step): (&(u32, u32), &Step)| {
                let length_s = to_s(*last) - from_s(*first);
                if length_s > 0.0 { step.finished as f64 / length_s } else { 0.0 }
            };
            Some(Spark {
                request,
                from_s: self.steps.iter().map(|(first, _)| from_s(*first)).collect(),
                to_s: to_s(last.to_owned()),
                rate_per_s: self.steps.iter().zip(steps).map(rate).collect(),
                p99_ns: steps.iter().map(|step| step.p99_ns).collect(),
                errors: steps.iter().map(|step| step.failed).collect(),
            })
        };
        shown.enumerate().filter_map(spark).collect()
    }
}
