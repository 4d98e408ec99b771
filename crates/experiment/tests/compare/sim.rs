//! A service of known speed: one queue by Lindley's recursion (Proceedings of the Cambridge Philosophical Society 48,
//! 1952), whose speed drifts from second to second and differs from run to run, as machines do.

use plimsoll_analysis::digest::{Block, Digest, Level};
use plimsoll_analysis::summary::{Outcome, Percentile, Times};
use plimsoll_experiment::compare::Side;
use plimsoll_plan::experiment::{CellOutline, Setting};
use plimsoll_stats::random::SplitMix64;
use plimsoll_stats::{Hist, inverse_normal};

pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    pub fn exponential(&mut self) -> f64 {
        self.0.exponential()
    }

    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        inverse_normal(self.uniform())
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    Exponential,
    /// Standard deviation of the logarithm.
    Lognormal(f64),
}

/// A simulated service and its load.
#[derive(Debug, Clone, Copy)]
pub struct Service {
    pub mean_ns: f64,
    pub spread: Spread,
    /// Arrivals per second, Poisson.
    pub rate: f64,
    pub seconds: usize,
    /// Standard deviation of the speed between runs, a ratio.
    pub between: f64,
    /// Standard deviation of the speed between seconds, a ratio, and the share of it that persists in the next second.
    pub drift: f64,
    pub keeps: f64,
}

/// 60% load with service times of 0.6 ms.
pub const USUAL: Service = Service {
    mean_ns: 6e5,
    spread: Spread::Exponential,
    rate: 1_000.0,
    seconds: 30,
    between: 0.01,
    drift: 0.02,
    keeps: 0.6,
};

/// Simulates one run. `weather` is a factor on the service times that runs at the same time share.
pub fn run(service: &Service, weather: f64, random: &mut Random) -> Digest {
    let mean = service.mean_ns * weather * (service.between * random.normal()).exp();
    let mut drift = service.drift * random.normal();
    let fresh = service.drift * (1.0 - service.keeps * service.keeps).sqrt();
    let (mut now, mut free, mut blocks) = (0.0, 0.0f64, Vec::with_capacity(service.seconds));
    now += random.exponential() * 1e9 / service.rate;
    for second in 0..service.seconds {
        let mut block = Block {
            from_ns: second as u64 * 1_000_000_000,
            length_ns: 1_000_000_000,
            response: Hist::on_demand(),
            service: Hist::on_demand(),
            ..Block::default()
        };
        let factor = mean * drift.exp();
        while now < (second + 1) as f64 * 1e9 {
            let length = factor
                * match service.spread {
                    Spread::Exponential => random.exponential(),
                    Spread::Lognormal(sigma) => (sigma * random.normal() - sigma * sigma / 2.0).exp(),
                };
            free = free.max(now) + length;
            let response = (free - now) as u64;
            block.response.record(response);
            block.service.record(response);
            block.requests += 1;
            block.offered += 1;
            block.bytes_in += 300;
            now += random.exponential() * 1e9 / service.rate;
        }
        blocks.push(block);
        drift = service.keeps * drift + fresh * random.normal();
    }
    digest(blocks, Level::Rate(service.rate))
}

/// Simulates `n` interleaved repeats of both.
pub fn sides(a: &Service, b: &Service, n: u32, random: &mut Random) -> (Side, Side) {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for repeat in 0..n {
        let mut first = run(a, 1.0, random);
        let mut second = run(b, 1.0, random);
        place(&mut first, "a", repeat, 2 * repeat);
        place(&mut second, "b", repeat, 2 * repeat + 1);
        of_a.push(first);
        of_b.push(second);
    }
    (side("a", of_a), side("b", of_b))
}

pub fn side(name: &str, runs: Vec<Digest>) -> Side {
    Side { name: name.into(), runs }
}

/// The place of a run in an experiment with the axis `variant`.
pub fn place(digest: &mut Digest, variant: &str, repeat: u32, turn: u32) {
    digest.started_unix_ns = (u64::from(turn) + 1) * 60_000_000_000;
    digest.cell = Some(CellOutline {
        experiment: "sim".into(),
        settings: vec![Setting { parameter: "variant".into(), value: variant.into() }],
        repeat,
        run_index: turn,
        seed: 1,
        purpose: None,
    });
}

/// The digest of blocks, with all values as those of a real run.
pub fn digest(blocks: Vec<Block>, level: Level) -> Digest {
    let (mut response, mut service) = (Hist::on_demand(), Hist::on_demand());
    let (mut requests, mut errors, mut bytes, mut length) = (0, 0, 0, 0);
    for block in &blocks {
        response.merge(&block.response);
        service.merge(&block.service);
        requests += block.requests;
        errors += block.errors;
        bytes += block.bytes_in;
        length += block.length_ns;
    }
    let measured_s = length as f64 / 1e9;
    let rate_per_s = if measured_s > 0.0 { requests as f64 / measured_s } else { 0.0 };
    Digest {
        name: "sim".into(),
        target: "http://127.0.0.1:8080/".into(),
        cell: None,
        level,
        outcome: Outcome::Pass,
        thresholds: Vec::new(),
        cautions: Vec::new(),
        complete: true,
        measured_s,
        requests,
        errors,
        error_ratio: if requests > 0 { errors as f64 / requests as f64 } else { 0.0 },
        socket_errors: 0,
        client_faults: 0,
        offered_rate_per_s: None,
        rate_per_s,
        iterations_per_s: rate_per_s,
        response_time: times(&response),
        service_time: times(&service),
        in_flight_mean: 1.0,
        bytes_in_per_s: if measured_s > 0.0 { bytes as f64 / measured_s } else { 0.0 },
        rtt_min_ns: Some(100_000),
        connect_p50_ns: None,
        first_byte_mean_ns: None,
        body_mean_ns: None,
        stopped_by: Some(plimsoll_record::event::StoppedBy::Duration),
        started_unix_ns: 0,
        blocks,
        by_request: Vec::new(),
        generator: Default::default(),
        watched: Default::default(),
    }
}

fn times(hist: &Hist) -> Times {
    let at = |q: f64| hist.quantile(q);
    let percentile = |q: f64| {
        at(q).map(|value_ns| Percentile {
            q,
            value_ns,
            is_lower_bound: false,
            low_ns: None,
            high_ns: None,
            has_enough_samples: true,
        })
    };
    Times {
        count: hist.count(),
        censored: 0,
        min_ns: hist.min(),
        mean_ns: hist.mean(),
        mean_is_lower_bound: false,
        std_dev_ns: hist.std_dev(),
        p50_ns: at(0.5),
        p75_ns: at(0.75),
        p90_ns: at(0.9),
        p95_ns: at(0.95),
        p99_ns: at(0.99),
        p999_ns: at(0.999),
        max_ns: hist.max(),
        max_is_lower_bound: false,
        percentiles: [0.5, 0.9, 0.99].into_iter().filter_map(percentile).collect(),
    }
}
