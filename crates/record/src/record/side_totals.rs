//! Data of single requests in a tick: response sizes, and what thresholds with a window need. All histograms of all
//! requests per second would make the file many times larger.

use super::{Opened, Served};
use crate::gauge::Gauge;
use plimsoll_plan::Outline;
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_plan::threshold::Threshold;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally};

/// Number of requests, from the first, whose sizes and successes are kept; likewise for addresses.
const SIZED_MAX: usize = 64;
const SIZE_SUMS: usize = 3;
const GAUGE_SUMS: usize = 2;
const GAUGE_HISTS: usize = 3;

/// Responses of one request in one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    pub answers: u64,
    /// Total bytes of their bodies.
    pub bytes: u64,
    /// Responses whose shape differed from the previous one.
    pub changes: u64,
}

/// Data of single requests in a tick.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SideTotals {
    /// By number of the request, for the first ones.
    pub sizes: Vec<Sizes>,
    /// By threshold with a window; see [`windowed`].
    pub gauges: Vec<Gauge>,
    /// Successes and failures of the first requests, then those of each address if there are several. Empty with a
    /// single request and address, for which the run's own counts suffice.
    pub served: Vec<Served>,
}

/// Returns the thresholds of a plan that have a window, in order.
pub fn windowed(outline: &Outline) -> impl Iterator<Item = &Threshold> {
    outline.thresholds.iter().filter(|threshold| threshold.over_ns.is_some())
}

impl SideTotals {
    /// Returns the data of one tick.
    pub fn of(interval: &Interval, outline: &Outline, opened: &[Opened]) -> Self {
        let sizes = interval.series.iter().take(outline.requests.len().min(SIZED_MAX)).map(|tally| {
            let bodies = tally.hists.get(SeriesHist::BodySize.id());
            Sizes {
                answers: bodies.map_or(0, |hist| hist.count()),
                bytes: bodies.map_or(0, |hist| u64::try_from(hist.sum()).unwrap_or(u64::MAX)),
                changes: tally.sums.get(SeriesSum::ShapeChanges.id()).copied().unwrap_or(0),
            }
        });
        Self {
            sizes: sizes.collect(),
            gauges: windowed(outline)
                .map(|threshold| Gauge::of(threshold, outline, opened, interval))
                .collect(),
            served: served(interval, outline, opened),
        }
    }

    pub(super) fn tally(&self) -> Tally {
        let sums = self.sizes.len() * SIZE_SUMS + self.gauges.len() * GAUGE_SUMS;
        let sums = sums + self.served.len() * (Served::SUMS + Served::FLOWS);
        let (peaks, floors) = (self.served.len() * Served::PEAKS, self.served.len() * Served::FLOORS);
        let hists = self.gauges.len() * GAUGE_HISTS;
        let mut tally = Tally::on_demand(Layout { sums, peaks, floors, hists, lasts: 0 });
        let sizes = self.sizes.iter().flat_map(|size| [size.answers, size.bytes, size.changes]);
        let gauges = self.gauges.iter().flat_map(|gauge| [gauge.part, gauge.whole]);
        let served = self.served.iter().flat_map(Served::sums);
        let flows = self.served.iter().flat_map(Served::flows);
        for (cell, n) in tally.sums.iter_mut().zip(sizes.chain(gauges).chain(served).chain(flows)) {
            *cell = n;
        }
        for (cell, at_ns) in tally.peaks.iter_mut().zip(self.served.iter().flat_map(Served::peaks)) {
            *cell = at_ns;
        }
        for (cell, at_ns) in tally.floors.iter_mut().zip(self.served.iter().flat_map(Served::floors)) {
            *cell = at_ns;
        }
        let all = self.gauges.iter().flat_map(|gauge| [&gauge.exact, &gauge.bounds, &gauge.beside]);
        for (mine, hist) in tally.hists.iter_mut().zip(all) {
            mine.merge(hist);
        }
        tally
    }

    /// Decodes a tally; one of another plan or an early version yields what it contains.
    pub(super) fn from_tally(tally: &Tally, outline: &Outline) -> Self {
        let sized = outline.requests.len().min(SIZED_MAX) * SIZE_SUMS;
        let (sizes, gauges) = tally.sums.split_at(sized.min(tally.sums.len()));
        let sizes =
            sizes.chunks_exact(SIZE_SUMS).map(|c| Sizes { answers: c[0], bytes: c[1], changes: c[2] });
        let hists = tally.hists.chunks_exact(GAUGE_HISTS);
        let gauge_sums = windowed(outline).count() * GAUGE_SUMS;
        let (gauges, served) = gauges.split_at(gauge_sums.min(gauges.len()));
        let marks = tally.peaks.chunks_exact(Served::PEAKS).zip(tally.floors.chunks_exact(Served::FLOORS));
        let (served, flows) = served.split_at((marks.len() * Served::SUMS).min(served.len()));
        // Early versions have no flows.
        let flows = flows.chunks_exact(Served::FLOWS).chain(std::iter::repeat(&[][..]));
        let served = served
            .chunks_exact(Served::SUMS)
            .zip(flows)
            .zip(marks)
            .map(|((sums, flows), (peaks, floors))| Served::from_cells(sums, flows, peaks, floors));
        let gauges = gauges.chunks_exact(GAUGE_SUMS).zip(hists).map(|(sums, hists)| Gauge {
            part: sums[0],
            whole: sums[1],
            exact: hists[0].clone(),
            bounds: hists[1].clone(),
            beside: hists[2].clone(),
        });
        Self { sizes: sizes.collect(), gauges: gauges.collect(), served: served.collect() }
    }

    /// Returns the number of requests in `served`, which the addresses follow.
    pub fn served_requests(outline: &Outline) -> usize {
        outline.requests.len().min(SIZED_MAX)
    }
}

fn served(interval: &Interval, outline: &Outline, opened: &[Opened]) -> Vec<Served> {
    // Opened series follow the addresses.
    let fixed = opened.first().map_or(interval.series.len(), |one| one.series as usize);
    let addresses = interval.series.iter().take(fixed).skip(outline.series_count()).take(SIZED_MAX);
    if outline.requests.len() < 2 && addresses.len() == 0 {
        return Vec::new();
    }
    let requests = interval.series.iter().take(SideTotals::served_requests(outline));
    requests.chain(addresses).map(Served::of).collect()
}
