//! The proof: searches against servers whose capacity is known by formula or by a long simulation.

use crate::search::servers::{Limits, Server, Service, search};
use plimsoll_experiment::search::CapacitySearch;
use plimsoll_stats::median;
use plimsoll_stats::random::SplitMix64;

/// A kind of server with its hidden capacity.
pub struct Case {
    pub server: Server,
    pub limits: Limits,
    pub truth: f64,
}

#[derive(Debug, Default)]
pub struct Score {
    pub searches: usize,
    pub near: usize,
    pub covered: usize,
    pub steps: Vec<usize>,
    pub elapsed_s: Vec<f64>,
    pub errors: Vec<f64>,
    pub halves: Vec<f64>,
}

pub fn uniform(random: &mut SplitMix64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn between(random: &mut SplitMix64, low: f64, high: f64) -> f64 {
    low * (high / low).powf(uniform(random))
}

fn bisect(mut low: f64, mut high: f64, is_met: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if is_met(middle) { low = middle } else { high = middle }
    }
    low
}

/// M/M/1: the response time is exponential with rate mu - lambda.
pub fn one_server(random: &mut SplitMix64, rates: (f64, f64)) -> Case {
    let (mu, x) = (between(random, rates.0, rates.1), between(random, 10.0, 50.0));
    let server = Server { service: Service::Exponential, mean_s: 1.0 / mu, servers: 1, room: None };
    let limits = Limits { p99_s: Some(x / mu), errors: None };
    Case { server, limits, truth: mu - 100f64.ln() * mu / x }
}

/// M/M/c: waiting (Erlang C, exponential) plus service.
pub fn many_servers(random: &mut SplitMix64, rates: (f64, f64)) -> Case {
    let c = 2 + (random.next_u64() % 7) as usize;
    let total = between(random, rates.0, rates.1);
    let (mu, x) = (total / c as f64, between(random, 8.0, 30.0));
    let limit = x / mu;
    let tail = |lambda: f64| {
        let a = lambda / mu;
        // Erlang B by its recursion, then Erlang C (Kleinrock, Queueing Systems I, section 3.5).
        let b = (1..=c).fold(1.0, |b, n| a * b / (n as f64 + a * b));
        let wait = b / (1.0 - lambda / total * (1.0 - b));
        let gap = total - lambda;
        let both = (gap * (-mu * limit).exp() - mu * (-gap * limit).exp()) / (gap - mu);
        (1.0 - wait) * (-mu * limit).exp() + wait * both
    };
    let truth = bisect(0.0, total * 0.999_999, |lambda| tail(lambda) < 0.01);
    let server = Server { service: Service::Exponential, mean_s: 1.0 / mu, servers: c, room: None };
    Case { server, limits: Limits { p99_s: Some(limit), errors: None }, truth }
}

/// M/M/1/K: a full queue turns away (1 - rho) rho^K / (1 - rho^(K + 1)) of the arrivals.
pub fn bounded(random: &mut SplitMix64, rates: (f64, f64)) -> Case {
    let (mu, room) = (between(random, rates.0, rates.1), 10 + (random.next_u64() % 30) as i32);
    let loss = |rho: f64| (1.0 - rho) * rho.powi(room) / (1.0 - rho.powi(room + 1));
    let truth = mu * bisect(0.01, 0.999_999, |rho| loss(rho) < 0.001);
    let server =
        Server { service: Service::Exponential, mean_s: 1.0 / mu, servers: 1, room: Some(room as usize) };
    // The time is never the limit: the queue is too short.
    Case { server, limits: Limits { p99_s: Some(4.0 * f64::from(room) / mu), errors: Some(0.001) }, truth }
}

/// M/G/1 by a long simulation in units of the service time: the rate does not matter. A short one tells where to look.
pub fn general(service: Service, x: f64, count: u64) -> f64 {
    let server = Server { service, mean_s: 1.0, servers: 1, room: None };
    let is_met = |rho: f64, count: u64| {
        let mut random = SplitMix64::new(7);
        let (mut wait, mut late) = (0.0f64, 0u64);
        for _ in 0..count {
            let service = server.draw(&mut random);
            late += u64::from(wait + service > x);
            wait = (wait + service - random.exponential() / rho).max(0.0);
        }
        (late as f64) < 0.01 * count as f64
    };
    let coarse = bisect_until(0.1, 0.995, 0.01, |rho| is_met(rho, count / 20));
    bisect_until(0.9 * coarse, (1.1 * coarse).min(0.999), 0.001, |rho| is_met(rho, count))
}

/// One server with service times of this kind, and one of the limits whose truth is known in units of the service time.
pub fn single(random: &mut SplitMix64, rates: (f64, f64), service: Service, known: &[(f64, f64)]) -> Case {
    let mu = between(random, rates.0, rates.1);
    let (x, rho) = known[(random.next_u64() % known.len() as u64) as usize];
    let server = Server { service, mean_s: 1.0 / mu, servers: 1, room: None };
    Case { server, limits: Limits { p99_s: Some(x / mu), errors: None }, truth: rho * mu }
}

fn bisect_until(mut low: f64, mut high: f64, width: f64, is_met: impl Fn(f64) -> bool) -> f64 {
    while high - low > width {
        let middle = f64::midpoint(low, high);
        if is_met(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

pub fn scored(cases: impl Iterator<Item = Case>, seed: u64) -> Score {
    let mut score = Score::default();
    for (number, case) in cases.enumerate() {
        let limit = case.limits.p99_s.map(|s| (s * 1e9) as u64);
        let quest =
            CapacitySearch { longest_limit_ns: limit, seed: number as u64, ..CapacitySearch::default() };
        let (answer, history) = search(&case.server, &quest, case.limits, seed + number as u64 * 7919);
        score.searches += 1;
        score.steps.push(history.len());
        score.elapsed_s.push(answer.elapsed_s);
        let Some(capacity) = answer.capacity else {
            continue;
        };
        let error = capacity.level() / case.truth - 1.0;
        let covers = capacity.interval[0] <= case.truth && case.truth <= capacity.interval[1];
        score.near += usize::from(error.abs() <= 0.03);
        score.covered += usize::from(covers);
        score.errors.push(error);
        score.halves.push((capacity.interval[1] - capacity.interval[0]) / 2.0 / case.truth);
    }
    score
}

fn middle(values: &[f64]) -> f64 {
    median(&mut values.to_vec()).unwrap_or(f64::NAN)
}

impl Score {
    pub fn describe(&self, name: &str) -> String {
        let steps: Vec<f64> = self.steps.iter().map(|n| *n as f64).collect();
        let n = self.searches;
        let bias = self.errors.iter().sum::<f64>() / n as f64;
        let square = self.errors.iter().map(|e| e * e).sum::<f64>() / n as f64;
        format!(
            "{name}: {}/{n} within 3%, {}/{n} covered, bias {bias:+.4}, rms {:.4}, half width {:.4}, \
             {} steps, {:.0} s (longest {:.0}); medians",
            self.near,
            self.covered,
            square.sqrt(),
            middle(&self.halves),
            middle(&steps),
            middle(&self.elapsed_s),
            self.elapsed_s.iter().copied().fold(0.0, f64::max)
        )
    }

    /// At least 19 of 20 near the truth, and 18 of 20 intervals that hold it.
    pub fn holds(&self) -> bool {
        self.near * 20 >= self.searches * 19 && self.covered * 20 >= self.searches * 18
    }
}

pub fn many(make: impl Fn(&mut SplitMix64) -> Case, searches: usize, seed: u64) -> Score {
    let mut random = SplitMix64::new(seed);
    scored((0..searches).map(move |_| make(&mut random)), seed ^ 0xabcd)
}
