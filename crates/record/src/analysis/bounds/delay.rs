//! What the load generator's own delays may have added to the times: late sends and stalls, second by second.
//!
//! A request that is sent late takes longer by that from its intended start, and it may make others wait: those that
//! were late together arrive together. In a queue that serves in order, work that arrives later by at most d ends later
//! by at most d (Lindley's recursion does not stretch differences), so within a busy period no time is longer by more
//! than the longest lateness in it. A second stands for a busy period here, together with the one before.

use crate::analysis::cells::Cells;
use crate::analysis::timeline::Sum;
use plimsoll_plan::Fault;
use plimsoll_plan::Outline;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist};
use plimsoll_plan::outline::TICK_NS;
use plimsoll_stats::Hist;

/// Below each of these quantiles of its lateness a request counts as sent in time but for that much; each gives a bound
/// that holds, and the closest of them is used. 1: all may have been delayed by the longest.
const CUTS: [f64; 4] = [1.0, 0.98, 0.9, 0.5];

/// How much of a sample may be delay.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Delay {
    /// So many samples, the longest ones to be on the safe side, by at most `most_ns`; the others by `rest_ns`.
    touched: u64,
    most_ns: u64,
    rest_ns: u64,
}

/// One kind of time with the delays taken away, one histogram for each of [`CUTS`].
#[derive(Debug, Default)]
struct Eased {
    late: Vec<Hist>,
    /// Stalls taken away as well.
    stalled: Vec<Hist>,
}

/// The measured seconds of a run, taken one by one: together their histograms would fill the memory.
#[derive(Debug, Default)]
pub(in crate::analysis) struct Course {
    response: Eased,
    service: Eased,
    /// Longest lateness of the second before.
    late_before_ns: u64,
    /// Stalls whose answers may still come: up to which second, and how long.
    stalls: Vec<(u32, u64)>,
    /// Samples and time-outs of the seconds that a stall touched, and the longest of these stalls.
    pub stalled_samples: u64,
    pub stalled_timeouts: u64,
    pub longest_stall_ns: u64,
}

impl Course {
    /// Takes the next second, those of the warm-up too: what began in them may end behind them.
    pub fn take(&mut self, plan: &Outline, sum: &Sum) {
        let lateness = sum.run.spread(RunHist::Lateness);
        let late_ns = lateness.max().unwrap_or(0);
        let before_ns = std::mem::replace(&mut self.late_before_ns, late_ns);
        let own_ns = sum.run.of(RunSum::StalledNs);
        if own_ns > 0 {
            // It is counted when it ends, which may close several seconds at once; the answers are read in the next.
            let seconds = u32::try_from(own_ns / TICK_NS).unwrap_or(u32::MAX);
            self.stalls.push((sum.first.saturating_add(1).saturating_add(seconds), own_ns));
        }
        self.stalls.retain(|(last, _)| *last >= sum.first);
        if plan.is_warmup(sum.first) {
            return;
        }
        let stall_ns = self.stalls.iter().fold(0u64, |sum, (_, ns)| sum.saturating_add(*ns));
        let response = merged(&sum.all, SeriesHist::Response, SeriesHist::ResponseCensored);
        let service = merged(&sum.all, SeriesHist::Service, SeriesHist::ServiceCensored);
        if stall_ns > 0 {
            self.stalled_samples = self.stalled_samples.saturating_add(response.count());
            self.stalled_timeouts = self.stalled_timeouts.saturating_add(sum.all.fault(Fault::Timeout));
            self.longest_stall_ns = self.longest_stall_ns.max(stall_ns);
        }
        let delays = delays(lateness, before_ns, &service, sum.length_ns);
        self.response.take(&response, &delays, stall_ns);
        self.service.take(&service, &delays, stall_ns);
    }

    /// Late sends taken away from a time, then stalls as well; `None`: these are not the samples of the whole run.
    pub fn eased(&self, id: SeriesHist, samples: u64) -> Option<(Vec<Hist>, Vec<Hist>)> {
        let eased = match id {
            SeriesHist::Response => &self.response,
            _ => &self.service,
        };
        let whole = eased.late.first().is_some_and(|hist| hist.count() == samples);
        whole.then(|| (eased.late.clone(), eased.stalled.clone()))
    }
}

impl Eased {
    fn take(&mut self, times: &Hist, delays: &[Delay], stall_ns: u64) {
        self.late.resize_with(CUTS.len(), Hist::on_demand);
        self.stalled.resize_with(CUTS.len(), Hist::on_demand);
        for ((late, stalled), delay) in self.late.iter_mut().zip(&mut self.stalled).zip(delays) {
            ease(late, times, *delay, 0);
            ease(stalled, times, *delay, stall_ns);
        }
    }
}

/// For each of [`CUTS`] what lateness may have done to the requests of a stretch of time with these service times.
pub(super) fn delays(lateness: &Hist, before_ns: u64, service: &Hist, length_ns: u64) -> Vec<Delay> {
    let most_ns = lateness.max().unwrap_or(0).max(before_ns);
    let one = |cut: &f64| {
        let rest_ns = match *cut < 1.0 {
            true => lateness.quantile(*cut).unwrap_or(0).min(most_ns),
            false => most_ns,
        };
        let late = lateness.count_above(rest_ns);
        // One in time is held up only while a late one is served: a share of the time of at most theirs.
        let busy = (longest(service, late) as f64 / length_ns.max(1) as f64).min(1.0);
        let met = (service.count() as f64 * busy).ceil() as u64;
        Delay { touched: late.saturating_add(met), most_ns, rest_ns }
    };
    CUTS.iter().map(one).collect()
}

/// The sum of the `n` longest.
fn longest(hist: &Hist, n: u64) -> u128 {
    let buckets: Vec<(u64, u64, u64)> = hist.buckets().collect();
    let (mut left, mut sum) = (n, 0u128);
    for (_, high, count) in buckets.into_iter().rev() {
        let taken = count.min(left);
        sum += u128::from(high) * u128::from(taken);
        left -= taken;
    }
    sum
}

/// Adds the samples without what may be delay, and without `all_ns` more.
pub(super) fn ease(into: &mut Hist, times: &Hist, delay: Delay, all_ns: u64) {
    if all_ns == 0 && delay.rest_ns == 0 && (delay.touched == 0 || delay.most_ns == 0) {
        return into.merge(times);
    }
    let buckets: Vec<(u64, u64, u64)> = times.buckets().collect();
    let mut left = delay.touched;
    for (low, _, count) in buckets.into_iter().rev() {
        let touched = count.min(left);
        left -= touched;
        for (n, ns) in [(touched, delay.most_ns), (count - touched, delay.rest_ns)] {
            into.record_n(low.saturating_sub(ns).saturating_sub(all_ns), n);
        }
    }
}

/// [`delays`] with so many more samples touched, all by the longest of both.
pub(super) fn with_stalls(delay: Delay, touched: u64, stall_ns: u64) -> Delay {
    Delay {
        touched: delay.touched.saturating_add(touched),
        most_ns: delay.most_ns.saturating_add(stall_ns),
        ..delay
    }
}

fn merged(all: &plimsoll_stats::Tally, exact: SeriesHist, bounds: SeriesHist) -> Hist {
    let mut both = all.hist(exact).clone();
    both.merge(all.hist(bounds));
    both
}
