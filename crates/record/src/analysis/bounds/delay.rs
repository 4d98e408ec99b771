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
use plimsoll_plan::threshold::Statistic;
use plimsoll_stats::Hist;

/// Up to each of these a request counts as sent in time but for that much, ns; each gives a bound that holds, and the
/// closest of them is used. The first: all may have been delayed by the longest.
const CUTS: [u64; 5] = [u64::MAX, 10_000_000, 1_000_000, 100_000, 10_000];

/// How much of a sample may be delay.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Delay {
    /// Any samples of this number by at most `most_ns`; the others by `rest_ns`.
    touched: u64,
    most_ns: u64,
    rest_ns: u64,
}

/// The least that samples can have been without their delays.
#[derive(Debug, Clone)]
pub(super) struct Relief {
    /// The least that each rank can be, which bounds quantiles, the minimum, and the maximum.
    ranks: Hist,
    /// The least sum, which bounds the mean.
    sum: Hist,
}

/// One kind of time with the delays taken away, one relief for each of [`CUTS`].
#[derive(Debug, Default)]
struct Eased {
    late: Vec<Relief>,
    /// Stalls taken away as well.
    stalled: Vec<Relief>,
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
    /// Most time that the workers waited for a CPU in one second and the one before.
    pub most_queued_ns: u64,
    queued_before_ns: u64,
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
        let queued_ns = sum.run.of(RunSum::RunQueueNs);
        let queued_before_ns = std::mem::replace(&mut self.queued_before_ns, queued_ns);
        self.stalls.retain(|(last, _)| *last >= sum.first);
        if plan.is_warmup(sum.first) {
            return;
        }
        self.most_queued_ns = self.most_queued_ns.max(queued_ns.saturating_add(queued_before_ns));
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
    pub(super) fn eased(&self, id: SeriesHist, samples: u64) -> Option<(&[Relief], &[Relief])> {
        let eased = match id {
            SeriesHist::Response => &self.response,
            _ => &self.service,
        };
        let whole = eased.late.first().is_some_and(|relief| relief.ranks.count() == samples);
        whole.then_some((&eased.late[..], &eased.stalled[..]))
    }
}

impl Eased {
    fn take(&mut self, times: &Hist, delays: &[Delay], stall_ns: u64) {
        self.late.resize_with(CUTS.len(), Relief::new);
        self.stalled.resize_with(CUTS.len(), Relief::new);
        for ((late, stalled), delay) in self.late.iter_mut().zip(&mut self.stalled).zip(delays) {
            late.add(times, *delay, 0);
            stalled.add(times, *delay, stall_ns);
        }
    }
}

/// For each of [`CUTS`] what lateness may have done to the requests of a stretch of time with these service times.
pub(super) fn delays(lateness: &Hist, before_ns: u64, service: &Hist, length_ns: u64) -> Vec<Delay> {
    let most_ns = lateness.max().unwrap_or(0).max(before_ns);
    let one = |cut: &u64| {
        let rest_ns = (*cut).min(most_ns);
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

impl Relief {
    fn new() -> Self {
        Self { ranks: Hist::on_demand(), sum: Hist::on_demand() }
    }

    /// That of samples at once.
    pub fn of(times: &Hist, delay: Delay) -> Self {
        let mut relief = Self::new();
        relief.add(times, delay, 0);
        relief
    }

    /// The samples that bound this statistic from below.
    pub fn bounding(&self, statistic: Statistic) -> &Hist {
        if statistic == Statistic::Mean { &self.sum } else { &self.ranks }
    }

    /// Adds samples without what may be delay, and without `all_ns` more.
    fn add(&mut self, times: &Hist, delay: Delay, all_ns: u64) {
        if all_ns == 0 && delay.rest_ns == 0 && (delay.touched == 0 || delay.most_ns == 0) {
            self.ranks.merge(times);
            self.sum.merge(times);
            return;
        }
        let buckets: Vec<(u64, u64, u64)> = times.buckets().collect();
        let (most_ns, rest_ns) = (delay.most_ns.saturating_add(all_ns), delay.rest_ns.saturating_add(all_ns));
        lower_ranks(&mut self.ranks, &buckets, delay.touched, (most_ns, rest_ns));
        // The longest ones have the most to lose.
        let mut left = delay.touched;
        for (low, _, count) in buckets.into_iter().rev() {
            let touched = count.min(left);
            left -= touched;
            for (n, ns) in [(touched, most_ns), (count - touched, rest_ns)] {
                self.sum.record_n(low.saturating_sub(ns), n);
            }
        }
    }
}

/// Adds the least that each rank can be when any `touched` samples may lose `most_ns` and the others `rest_ns`. With
/// v(k) the k-th shortest that is max(v(k) - most, v(k - touched) - rest): no sample loses more than the most, and of
/// the k shortest at least k - touched lose no more than the rest. Such bounds may be added up, second by second: the
/// number of samples up to a time is at most the sum of theirs.
fn lower_ranks(into: &mut Hist, buckets: &[(u64, u64, u64)], touched: u64, (most_ns, rest_ns): (u64, u64)) {
    let values = || buckets.iter().map(|(low, _, count)| (*low, *count));
    let mut behind = std::iter::once((0, touched)).chain(values());
    let (mut value_behind, mut left_behind) = (0, 0);
    for (value, mut left) in values() {
        while left > 0 {
            while left_behind == 0 {
                // There are more of these by `touched`.
                (value_behind, left_behind) = behind.next().unwrap_or((value, left));
            }
            let n = left.min(left_behind);
            into.record_n(value.saturating_sub(most_ns).max(value_behind.saturating_sub(rest_ns)), n);
            (left, left_behind) = (left - n, left_behind - n);
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
