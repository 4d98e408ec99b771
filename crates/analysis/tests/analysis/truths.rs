//! Simulated runs with a known truth: a service, a load generator without enough CPU, and the same load sent by one
//! with enough. The bounds of the first always contain the values of the second.

use crate::analysis::fixture::*;
use plimsoll_analysis::summary::{Standing, ThresholdResult};
use plimsoll_plan::metric::{RunHist, RunPeak, RunSum, SeriesHist, SeriesSum, status_id};
use plimsoll_stats::{Hist, Interval, random::SplitMix64};

const SECONDS: u64 = 6;
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// The times in which the worker has no CPU, as ends of periods, in order.
struct Blocks(Vec<(u64, u64)>);

impl Blocks {
    /// Periods with a mean of `mean_ns` that make up `share` of the time.
    fn new(share: f64, mean_ns: f64, random: &mut SplitMix64) -> Self {
        let (mut all, mut at) = (Vec::new(), 0.0);
        // Without a share, the first gap never ends, so there is no period.
        loop {
            at += random.exponential() * mean_ns * (1.0 - share) / share;
            let length = random.exponential() * mean_ns;
            if at + length >= (SECONDS * S) as f64 {
                break;
            }
            all.push((at as u64, (at + length) as u64));
            at += length;
        }
        Self(all)
    }

    /// The time when the worker handles an event at this time.
    fn then(&self, at: u64) -> u64 {
        let next = self.0.partition_point(|(_, to)| *to <= at);
        self.0.get(next).filter(|(from, _)| *from <= at).map_or(at, |(_, to)| *to)
    }
}

/// A request: its intended start, send, response, and the time when the response was seen.
#[derive(Clone, Copy)]
struct Request {
    meant: u64,
    sent: u64,
    came: u64,
    seen: u64,
}

fn service_ns(median_ns: f64, sigma: f64, random: &mut SplitMix64) -> u64 {
    let unit = |random: &mut SplitMix64| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let normal = (0..12).map(|_| unit(random)).sum::<f64>() - 6.0;
    (median_ns * (sigma * normal).exp()) as u64
}

/// Arrivals at an even rate at a service that handles one at a time, or all at once.
fn open(rate: u64, times: &[u64], in_order: bool, blocks: &Blocks) -> Vec<Request> {
    let mut free = 0;
    let one = |(i, time): (usize, &u64)| {
        let meant = (i as u64 + 1) * S / rate;
        let sent = blocks.then(meant);
        let begins = if in_order { sent.max(free) } else { sent };
        let came = begins + time;
        free = came;
        Request { meant, sent, came, seen: blocks.then(came) }
    };
    times.iter().enumerate().map(one).collect()
}

/// Users who wait for their responses, each with a separate server.
fn closed(users: u64, draw: &mut impl FnMut() -> u64, blocks: &Blocks) -> Vec<Request> {
    let mut all = Vec::new();
    for _ in 0..users {
        let mut at = blocks.then(0);
        while at < SECONDS * S {
            let came = at + draw();
            all.push(Request { meant: at, sent: at, came, seen: blocks.then(came) });
            at = blocks.then(came);
        }
    }
    all
}

/// Records as the engine does.
fn recorded(mut run: Run, requests: &[Request], blocks: &Blocks) -> Run {
    let is_open = run.outline.load.is_open();
    run.ticks.clear();
    run.fill(|_| {});
    let last = run.ticks.len() as u64 - 1;
    for request in requests {
        let at = |ns: u64| (ns / S).min(last) as usize;
        if request.seen >= SECONDS * S {
            continue;
        }
        let sent: &mut Interval = &mut run.ticks[at(request.sent)];
        if is_open {
            sent.run.add(RunSum::Arrivals.id(), 1);
            sent.run.record(RunHist::ScheduleLag.id(), request.sent - request.meant);
        }
        sent.series[0].add(SeriesSum::Sent.id(), 1);
        let seen: &mut Interval = &mut run.ticks[at(request.seen)];
        seen.run.add(RunSum::Iterations.id(), 1);
        let cells = &mut seen.series[0];
        cells.add(SeriesSum::Finished.id(), 1);
        cells.add(status_id(200), 1);
        cells.record(SeriesHist::Response.id(), request.seen - request.meant);
        cells.record(SeriesHist::Service.id(), request.seen - request.sent);
    }
    // The kernel counts a wait starting with the first runnable task.
    let mut work: Vec<u64> = requests.iter().flat_map(|r| [r.meant, r.came]).collect();
    work.sort_unstable();
    let mut waited = 0;
    for (from, to) in &blocks.0 {
        let first = work.get(work.partition_point(|at| at < from)).filter(|at| *at < to);
        let wait = first.map_or(0, |first| to - first);
        waited += wait;
        let tick = &mut run.ticks[((to / S).min(last)) as usize];
        tick.run.add(RunSum::CpuWaitNs.id(), wait);
        if wait > 100 * MS {
            tick.run.add(RunSum::Stalls.id(), 1);
            tick.run.add(RunSum::StalledNs.id(), wait);
        }
    }
    run.pulse.cpu_wait_ns = waited / SECONDS;
    let mut edges: Vec<(u64, i64)> = requests.iter().flat_map(|r| [(r.sent, 1), (r.seen, -1)]).collect();
    edges.sort_unstable();
    let mut now = 0i64;
    let peak = edges.iter().map(|(_, step)| {
        now += step;
        now
    });
    let peak = peak.max().unwrap_or(0).max(1) as u64;
    run.all_ticks(|tick| tick.run.peak(RunPeak::InFlight.id(), peak))
}

fn quantile(requests: &[Request], of: impl Fn(&Request) -> u64, q: f64) -> f64 {
    let mut hist = Hist::on_demand();
    requests.iter().filter(|r| r.seen < SECONDS * S).for_each(|r| hist.record(of(r)));
    hist.quantile(q).unwrap() as f64
}

/// The bounds contain the truth to within the width of a bucket, and no verdict contradicts it.
fn holds(judged: &ThresholdResult, truth: f64, what: &str) -> Result<(), String> {
    let best = judged.best.unwrap_or(0.0);
    let worst = judged.worst.unwrap_or(f64::INFINITY);
    let inside = best <= truth * 1.01 && truth <= worst * 1.01;
    let clear = (truth - judged.limit).abs() > truth * 0.01;
    let wrong = clear
        && match judged.standing {
            Standing::Met => truth >= judged.limit,
            Standing::Missed => truth < judged.limit,
            Standing::Undecided => false,
        };
    match inside && !wrong {
        true => Ok(()),
        false => Err(format!("{what}: truth {truth}, {judged:?}")),
    }
}

#[test]
fn bounds_of_the_open_model_contain_the_values_of_an_idle_generator() {
    let (mut decided, mut all) = (0, 0);
    for seed in 0..60u64 {
        let mut random = SplitMix64::new(seed);
        let rate = [100, 400, 1_000][seed as usize % 3];
        let in_order = seed % 2 == 0;
        let share = [0.0, 0.02, 0.1, 0.4][seed as usize / 3 % 4];
        let wait_ns = [1e6, 4e6, 20e6, 150e6][seed as usize / 7 % 4];
        // A service that handles one at a time has a load of about a third.
        let median_ns = if in_order { 3e8 / rate as f64 } else { 1e6 * (1 + seed % 9) as f64 };
        let times: Vec<u64> =
            (0..rate * SECONDS - 1).map(|_| service_ns(median_ns, 0.4, &mut random)).collect();
        let blocks = Blocks::new(share, wait_ns, &mut random);
        let seen = open(rate, &times, in_order, &blocks);
        let truth = open(rate, &times, in_order, &Blocks(Vec::new()));
        let run = Run::planned(|d| {
            d.load.rate_per_s = Some(rate as f64);
            d.load.duration_ns = Some(SECONDS * S);
        });
        let run = recorded(run, &seen, &blocks);
        for q in QUANTILES {
            let twin = quantile(&truth, |r| r.seen - r.meant, q);
            let limit_ns = (twin * (0.3 + random.exponential())) as u64;
            let text = format!("response_time p{} < {limit_ns}ns", q * 100.0);
            let judged = run.clone().thresholds(&[&text]).summary().thresholds.remove(0);
            holds(&judged, twin, &format!("seed {seed}, {rate}/s, {share} of {wait_ns} ns")).unwrap();
            all += 1;
            decided += u32::from(judged.standing != Standing::Undecided);
        }
    }
    // Infinite bounds would contain everything.
    assert!(decided * 2 > all, "{decided} of {all} were decided");
}

#[test]
fn bounds_of_the_closed_model_contain_the_service_time() {
    let (mut decided, mut all, mut out) = (0, 0, Vec::new());
    for seed in 0..40u64 {
        let mut random = SplitMix64::new(1_000 + seed);
        let users = [1, 8, 50][seed as usize % 3];
        let share = [0.0, 0.05, 0.3, 0.8][seed as usize % 4];
        let wait_ns = [1e6, 4e6, 20e6][seed as usize / 5 % 3];
        let median_ns = 1e6 * (1 + seed % 30) as f64;
        let blocks = Blocks::new(share, wait_ns, &mut random);
        let mut times = SplitMix64::new(seed);
        let seen = closed(users, &mut || service_ns(median_ns, 0.4, &mut times), &blocks);
        // The service's own distribution, from many more samples.
        let mut own = Hist::on_demand();
        (0..100_000).for_each(|_| own.record(service_ns(median_ns, 0.4, &mut times)));
        let run = Run::planned(|d| {
            d.load.users = Some(users as u32);
            d.load.duration_ns = Some(SECONDS * S);
        });
        let run = recorded(run, &seen, &blocks);
        for q in QUANTILES {
            let truth = own.quantile(q).unwrap() as f64;
            let limit_ns = (truth * (0.3 + random.exponential())) as u64;
            let text = format!("service_time p{} < {limit_ns}ns", q * 100.0);
            let judged = run.clone().thresholds(&[&text]).summary().thresholds.remove(0);
            out.extend(holds(&judged, truth, &format!("seed {seed}, {users} users, {share}")).err());
            all += 1;
            decided += u32::from(judged.standing != Standing::Undecided);
        }
    }
    // An interval of samples misses one time in twenty: of 160, 18 misses have a probability of one in a thousand.
    assert!(out.len() < 18, "{} of {all}: {out:#?}", out.len());
    assert!(decided * 3 > all, "{decided} of {all} were decided");
}

#[test]
fn intervals_of_thinned_samples_contain_the_quantile_at_their_level() {
    let (mut all, mut out) = (0, 0);
    for seed in 0..300u64 {
        let mut random = SplitMix64::new(77 + seed);
        let n = [20, 120, 400, 2_000][seed as usize % 4];
        let mut run = Run::planned(|d| d.load.duration_ns = Some(10 * S));
        run.fill(|_| {});
        for tick in &mut run.ticks {
            (0..n / 10).for_each(|_| answer(tick, 0, (random.exponential() * 5e6) as u64 + 1_000, 200));
        }
        for q in QUANTILES {
            // The quantile of an exponential distribution is -ln(1 - q).
            let truth = -(1.0 - q).ln() * 5e6 + 1_000.0;
            let judged = run
                .clone()
                .thresholds(&[&format!("service_time p{} < 1s", q * 100.0)])
                .summary()
                .thresholds
                .remove(0);
            all += 1;
            out += u32::from(holds(&judged, truth, "").is_err());
        }
    }
    // 1,200 intervals of four quantiles of 300 samples each: 5% and three deviations of 300 independent ones.
    assert!(
        f64::from(out) < f64::from(all) * (0.05 + 3.0 * (0.05f64 * 0.95 / 300.0).sqrt()),
        "{out} of {all}"
    );
}
