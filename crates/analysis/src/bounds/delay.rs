//! What the load generator's own delays may have added to the times: late sends and stalls, second by second.
//!
//! A request that is sent late takes longer by that from its intended start, and it may make others wait: those that
//! were late together arrive together. In a queue that serves in order, work that arrives later by at most d ends later
//! by at most d (Lindley's recursion does not stretch differences), so within a busy period no time is longer by more
//! than the longest schedule lag in it. The lag is recorded when a request is sent, its times when its response comes:
//! so they are compared over stretches of some seconds, each with the seconds before it in which its requests can have
//! been sent.

use crate::cells::Cells;
use crate::timeline::Sum;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist};
use plimsoll_plan::outline::TICK_NS;
use plimsoll_plan::threshold::Statistic;
use plimsoll_plan::{Fault, Outline};
use plimsoll_stats::Hist;
use std::collections::VecDeque;

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
    /// The least sum, ns, which bounds the mean.
    sum_ns: u128,
}

/// Lowest value, highest value, count.
type Bucket = (u64, u64, u64);

/// How late the sends of a stretch of time were, and the service times that ended in it.
#[derive(Debug)]
pub(super) struct Sends {
    most_ns: u64,
    lags: Vec<Bucket>,
    /// From the intended start, with all waiting and connecting.
    longest_ns: u64,
    service: Vec<Bucket>,
}

impl Sends {
    pub fn new(lags: &Hist, response: &Hist, service: &Hist) -> Self {
        Self {
            most_ns: lags.max().unwrap_or(0),
            lags: lags.buckets().collect(),
            longest_ns: response.max().max(service.max()).unwrap_or(0),
            service: service.buckets().collect(),
        }
    }

    /// Sends that were late by more, or by as much as the resolution of the buckets cannot tell from more.
    fn later_than(&self, ns: u64) -> u64 {
        let later = self.lags.iter().filter(|(_, high, _)| (*high).min(self.most_ns) > ns);
        later.fold(0, |sum, (_, _, count)| sum.saturating_add(*count))
    }
}

/// One kind of time with the delays taken away, one relief for each of [`CUTS`].
#[derive(Debug, Default)]
struct Eased {
    late: Vec<Relief>,
    /// Stalls taken away as well.
    stalled: Vec<Relief>,
    /// The samples of the stretch that is not over, as they are and without stalls.
    open: Option<[Hist; 2]>,
}

/// The measured seconds of a run, taken one by one: together their histograms would fill the memory.
#[derive(Debug, Default)]
pub(crate) struct Course {
    response: Eased,
    service: Eased,
    /// The last seconds, in order. The seconds within this length belong to the current period.
    seconds: VecDeque<Sends>,
    open_seconds: usize,
    open_ns: u64,
    /// Stalls whose answers may still come: up to which second, and how long.
    stalls: Vec<(u32, u64)>,
    /// Samples and timeouts in seconds with a stall, and the longest of these stalls.
    pub stalled_samples: u64,
    pub stalled_timeouts: u64,
    pub longest_stall_ns: u64,
    /// Most time that the workers waited for a CPU in one second and the one before.
    pub most_queued_ns: u64,
    queued_before_ns: u64,
}

/// From when a time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeSpan {
    /// From the intended instant.
    Response,
    /// From the send.
    Service,
}

impl Course {
    /// Adds the next second, including those of the warm-up: requests that start in the warm-up may end after it.
    pub fn take(&mut self, plan: &Outline, sum: &Sum) {
        let response = merged(&sum.all, SeriesHist::Response, SeriesHist::ResponseCensored);
        let service = merged(&sum.all, SeriesHist::Service, SeriesHist::ServiceCensored);
        self.seconds.push_back(Sends::new(sum.run.spread(RunHist::ScheduleLag), &response, &service));
        while self.seconds.len() > MOST_KEPT {
            self.seconds.pop_front();
        }
        let own_ns = sum.run.of(RunSum::StalledNs);
        if own_ns > 0 {
            // It is counted when it ends, which may close several seconds at once; the answers are read in the next.
            let seconds = u32::try_from(own_ns / TICK_NS).unwrap_or(u32::MAX);
            self.stalls.push((sum.first.saturating_add(1).saturating_add(seconds), own_ns));
        }
        let queued_ns = sum.run.of(RunSum::CpuWaitNs);
        let queued_before_ns = std::mem::replace(&mut self.queued_before_ns, queued_ns);
        self.stalls.retain(|(last, _)| *last >= sum.first);
        if plan.is_warmup(sum.first) {
            return;
        }
        self.most_queued_ns = self.most_queued_ns.max(queued_ns.saturating_add(queued_before_ns));
        let stall_ns = self.stalls.iter().fold(0u64, |sum, (_, ns)| sum.saturating_add(*ns));
        if stall_ns > 0 {
            self.stalled_samples = self.stalled_samples.saturating_add(response.count());
            self.stalled_timeouts = self.stalled_timeouts.saturating_add(sum.all.fault(Fault::Timeout));
            self.longest_stall_ns = self.longest_stall_ns.max(stall_ns);
        }
        self.response.take(&response, stall_ns);
        self.service.take(&service, stall_ns);
        self.open_seconds += 1;
        self.open_ns = self.open_ns.saturating_add(sum.length_ns);
        if self.open_ns >= STRETCH_NS {
            self.close();
        }
    }

    /// Ends the last stretch.
    pub(super) fn close(&mut self) {
        let (seconds, length_ns) =
            (std::mem::take(&mut self.open_seconds), std::mem::take(&mut self.open_ns));
        if seconds == 0 {
            return;
        }
        let longest_ns = self.seconds.iter().rev().take(seconds).map(|second| second.longest_ns).max();
        let second_ns = (length_ns / seconds as u64).max(1);
        let back =
            usize::try_from(longest_ns.unwrap_or(0) / second_ns).unwrap_or(MOST_KEPT).saturating_add(1);
        let sends: Vec<&Sends> = self.seconds.iter().rev().take(seconds.saturating_add(back)).collect();
        let delays = delays(&sends, self.service.open_samples(), length_ns);
        self.response.close(&delays);
        self.service.close(&delays);
    }

    /// Late sends taken away from a time, then stalls as well; `None`: these are not the samples of the whole run.
    pub(super) fn eased(&self, span: TimeSpan, samples: u64) -> Option<(&[Relief], &[Relief])> {
        let eased = match span {
            TimeSpan::Response => &self.response,
            TimeSpan::Service => &self.service,
        };
        let whole = eased.late.first().is_some_and(|relief| relief.ranks.count() == samples);
        whole.then_some((&eased.late[..], &eased.stalled[..]))
    }
}

impl Eased {
    fn take(&mut self, times: &Hist, stall_ns: u64) {
        let [plain, stalled] = self.open.get_or_insert_with(|| [Hist::on_demand(), Hist::on_demand()]);
        plain.merge(times);
        if stall_ns == 0 {
            return stalled.merge(times);
        }
        times.buckets().for_each(|(low, _, n)| stalled.record_n(low.saturating_sub(stall_ns), n));
    }

    fn open_samples(&self) -> u64 {
        self.open.as_ref().map_or(0, |[plain, _]| plain.count())
    }

    fn close(&mut self, delays: &[Delay]) {
        let Some([plain, stalled]) = self.open.take() else { return };
        self.late.resize_with(CUTS.len(), Relief::new);
        self.stalled.resize_with(CUTS.len(), Relief::new);
        for ((late, eased), delay) in self.late.iter_mut().zip(&mut self.stalled).zip(delays) {
            late.add(&plain, *delay);
            eased.add(&stalled, *delay);
        }
    }
}

/// The shortest stretch, ns: its overlap with the second before it, of which the schedule lag counts twice, is a tenth.
const STRETCH_NS: u64 = 10_000_000_000;
/// Most seconds that are kept: those of a stretch, and a minute of service time before it.
const MOST_KEPT: usize = 71;

/// For each of [`CUTS`], the possible effect of schedule lag on this many samples of a period, given all sends that
/// may have affected them.
pub(super) fn delays(sends: &[&Sends], samples: u64, length_ns: u64) -> Vec<Delay> {
    let most_ns = sends.iter().map(|sends| sends.most_ns).max().unwrap_or(0);
    let mut service: Vec<Bucket> = sends.iter().flat_map(|sends| &sends.service).copied().collect();
    service.sort_unstable_by(|a, b| b.cmp(a));
    let one = |cut: &u64| {
        let rest_ns = (*cut).min(most_ns);
        let late = sends.iter().fold(0u64, |sum, sends| sum.saturating_add(sends.later_than(rest_ns)));
        // One in time is held up only while a late one is served: a share of the time of at most theirs.
        let busy = (longest(&service, late) as f64 / length_ns.max(1) as f64).min(1.0);
        let met = (samples as f64 * busy).ceil() as u64;
        Delay { touched: late.saturating_add(met), most_ns, rest_ns }
    };
    CUTS.iter().map(one).collect()
}

/// The sum of the `n` longest, of buckets from the longest on.
fn longest(buckets: &[Bucket], n: u64) -> u128 {
    let (mut left, mut sum) = (n, 0u128);
    for (_, high, count) in buckets {
        let taken = (*count).min(left);
        sum += u128::from(*high) * u128::from(taken);
        left -= taken;
    }
    sum
}

impl Relief {
    fn new() -> Self {
        Self { ranks: Hist::on_demand(), sum_ns: 0 }
    }

    /// That of samples at once.
    pub fn of(times: &Hist, delay: Delay) -> Self {
        let mut relief = Self::new();
        relief.add(times, delay);
        relief
    }

    /// Samples that bound this statistic from below.
    pub fn bounding(&self, statistic: Statistic) -> Hist {
        let n = self.ranks.count();
        if statistic != Statistic::Mean || n == 0 {
            return self.ranks.clone();
        }
        let mut means = Hist::on_demand();
        means.record_n(u64::try_from(self.sum_ns / u128::from(n)).unwrap_or(u64::MAX), n);
        means
    }

    /// Adds samples without what may be delay.
    fn add(&mut self, times: &Hist, delay: Delay) {
        if delay.rest_ns == 0 && (delay.touched == 0 || delay.most_ns == 0) {
            self.ranks.merge(times);
            self.sum_ns = self.sum_ns.saturating_add(times.sum());
            return;
        }
        let buckets: Vec<Bucket> = times.buckets().collect();
        lower_ranks(&mut self.ranks, &buckets, delay);
        // The longest ones have the most to lose.
        let mut left = delay.touched;
        for (low, _, count) in buckets.into_iter().rev() {
            let touched = count.min(left);
            left -= touched;
            for (n, ns) in [(touched, delay.most_ns), (count - touched, delay.rest_ns)] {
                let sum_ns = u128::from(low.saturating_sub(ns)) * u128::from(n);
                self.sum_ns = self.sum_ns.saturating_add(sum_ns);
            }
        }
    }
}

/// Adds the least that each rank can be when any `touched` samples may lose `most_ns` and the others `rest_ns`. With
/// v(k) the k-th shortest that is max(v(k) - most, v(k - touched) - rest): no sample loses more than the most, and of
/// the k shortest at least k - touched lose no more than the rest. Such bounds may be added up, second by second: the
/// number of samples up to a time is at most the sum of theirs.
fn lower_ranks(into: &mut Hist, buckets: &[Bucket], delay: Delay) {
    let values = || buckets.iter().map(|(low, _, count)| (*low, *count));
    let mut behind = std::iter::once((0, delay.touched)).chain(values());
    let (mut value_behind, mut left_behind) = (0, 0);
    for (value, mut left) in values() {
        while left > 0 {
            while left_behind == 0 {
                // There are more of these by `touched`.
                (value_behind, left_behind) = behind.next().unwrap_or((value, left));
            }
            let n = left.min(left_behind);
            let least_ns =
                value.saturating_sub(delay.most_ns).max(value_behind.saturating_sub(delay.rest_ns));
            into.record_n(least_ns, n);
            (left, left_behind) = (left - n, left_behind - n);
        }
    }
}

/// [`delays`] with this many more affected samples, all by the longer of both delays.
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
