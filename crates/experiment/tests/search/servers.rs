//! Servers whose capacity is known from queueing theory, and simulated runs that cost microseconds per second.

use plimsoll_analysis::digest::{Block, Digest, Level};
use plimsoll_analysis::summary::{Outcome, Standing, ThresholdResult, Times};
use plimsoll_experiment::search::{Answer, CapacitySearch, Move, Probe, Trial, next};
use plimsoll_plan::threshold::{FigureUnit, Subject};
use plimsoll_stats::Hist;
use plimsoll_stats::random::SplitMix64;
use std::collections::VecDeque;

/// Distribution of the service times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Service {
    Exponential,
    Constant,
    /// With this standard deviation of the logarithm.
    Lognormal(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Server {
    pub service: Service,
    pub mean_s: f64,
    pub servers: usize,
    /// Requests in the system; further ones are rejected with an error.
    pub room: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    pub p99_s: Option<f64>,
    pub errors: Option<f64>,
}

impl Server {
    pub fn draw(&self, random: &mut SplitMix64) -> f64 {
        self.mean_s
            * match self.service {
                Service::Exponential => random.exponential(),
                Service::Constant => 1.0,
                Service::Lognormal(sigma) => (sigma * normal(random) - sigma * sigma / 2.0).exp(),
            }
    }

    /// A step from an empty queue: Poisson arrivals, first come first served (Lindley 1952; Kiefer & Wolfowitz 1955).
    pub fn run(&self, probe: Probe, limits: Limits, random: &mut SplitMix64) -> Trial {
        if probe.purpose == plimsoll_plan::experiment::Purpose::Baseline {
            return self.alone(probe, limits, random);
        }
        let (begin, length) = (probe.warmup_ns as f64 / 1e9, probe.length_ns as f64 / 1e9);
        let end = begin + length;
        let count = (length.ceil() as usize).clamp(1, 12);
        let each = length / count as f64;
        let mut blocks: Vec<Block> = (0..count).map(|_| Block::default()).collect();
        let place =
            |at: f64| (at >= begin && at < end).then(|| (((at - begin) / each) as usize).min(count - 1));
        let mut free = vec![0.0f64; self.servers];
        let mut inside: VecDeque<f64> = VecDeque::new();
        let (mut now, mut errors) = (0.0, 0u64);
        loop {
            now += random.exponential() / probe.level;
            if now >= end {
                break;
            }
            let arrival = place(now);
            if let Some(at) = arrival {
                blocks[at].offered += 1;
            }
            if let Some(room) = self.room {
                while inside.front().is_some_and(|gone| *gone <= now) {
                    inside.pop_front();
                }
                if inside.len() >= room {
                    if let Some(at) = arrival {
                        (blocks[at].errors, blocks[at].requests) =
                            (blocks[at].errors + 1, blocks[at].requests + 1);
                        errors += 1;
                    }
                    continue;
                }
            }
            let mut first = 0;
            for at in 1..free.len() {
                if free[at] < free[first] {
                    first = at;
                }
            }
            let done = free[first].max(now) + self.draw(random);
            free[first] = done;
            if self.room.is_some() {
                inside.push_back(done);
            }
            if let Some(at) = place(done) {
                blocks[at].requests += 1;
                blocks[at].response.record(((done - now) * 1e9) as u64);
                // Its share of the number in flight, by Little's law, in the second of its end.
                blocks[at].in_flight += (done - now) / each;
            }
        }
        blocks.iter_mut().for_each(|block| block.length_ns = (each * 1e9) as u64);
        trial(probe, blocks, limits, errors)
    }

    /// One user: no waiting.
    fn alone(&self, probe: Probe, limits: Limits, random: &mut SplitMix64) -> Trial {
        let (length, mut now) = (probe.length_ns as f64 / 1e9, 0.0);
        let mut block = Block { length_ns: probe.length_ns, ..Block::default() };
        while now < length {
            let time = self.draw(random);
            now += time;
            block.requests += 1;
            block.response.record((time * 1e9) as u64);
        }
        trial(probe, vec![block], limits, 0)
    }
}

fn normal(random: &mut SplitMix64) -> f64 {
    // Box & Muller 1958: the radius squared is exponential with mean 2.
    let angle = random.next_u64() as f64 / u64::MAX as f64 * std::f64::consts::TAU;
    (2.0 * random.exponential()).sqrt() * angle.cos()
}

/// A trial through the public interface, from a digest.
pub fn trial(probe: Probe, blocks: Vec<Block>, limits: Limits, errors: u64) -> Trial {
    let mut digest = digest(probe.level, blocks, errors);
    digest.thresholds = judge(&digest, limits);
    Trial::of(probe, &digest)
}

pub fn digest(level: f64, blocks: Vec<Block>, errors: u64) -> Digest {
    let measured_s = blocks.iter().map(|b| b.length_ns as f64 / 1e9).sum::<f64>();
    let sum = |of: fn(&Block) -> u64| blocks.iter().map(of).sum::<u64>();
    let (requests, offered) = (sum(|b| b.requests), sum(|b| b.offered));
    let mut all = Hist::on_demand();
    blocks.iter().for_each(|b| all.merge(&b.response));
    Digest {
        name: "simulated".into(),
        target: "none".into(),
        cell: None,
        level: Level::Rate(level),
        outcome: Outcome::Pass,
        thresholds: Vec::new(),
        cautions: Vec::new(),
        complete: true,
        measured_s,
        requests,
        errors,
        error_ratio: errors as f64 / requests.max(1) as f64,
        socket_errors: 0,
        client_faults: 0,
        offered_rate_per_s: (offered > 0).then_some(offered as f64 / measured_s),
        rate_per_s: requests as f64 / measured_s,
        iterations_per_s: requests as f64 / measured_s,
        response_time: times(&all),
        service_time: times(&Hist::on_demand()),
        in_flight_mean: 0.0,
        bytes_in_per_s: 0.0,
        rtt_min_ns: None,
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
    Times {
        count: hist.count(),
        censored: 0,
        min_ns: hist.min(),
        mean_ns: hist.mean(),
        mean_is_lower_bound: false,
        std_dev_ns: None,
        p50_ns: hist.quantile(0.5),
        p75_ns: None,
        p90_ns: None,
        p95_ns: None,
        p99_ns: hist.quantile(0.99),
        p999_ns: None,
        max_ns: hist.max(),
        max_is_lower_bound: false,
        percentiles: Vec::new(),
    }
}

fn judge(digest: &Digest, limits: Limits) -> Vec<ThresholdResult> {
    let one =
        |text: String, observed: Option<f64>, limit: f64, unit: FigureUnit, samples: u64| ThresholdResult {
            subject: text.clone(),
            text,
            is_default: false,
            observed,
            is_lower_bound: false,
            limit,
            unit,
            is_met: observed.is_some_and(|o| o < limit),
            standing: Standing::of(observed.is_some_and(|o| o < limit)),
            best: observed,
            worst: observed,
            doubts: Vec::new(),
            margin: observed.map(|o| (limit - o) / limit),
            samples,
            has_too_few_samples: false,
            window: None,
        };
    let times = &digest.response_time;
    let p99 = limits.p99_s.map(|limit_s| {
        let (text, observed) =
            (format!("response_time p99 < {limit_s:.6}s"), times.p99_ns.map(|ns| ns as f64));
        one(text, observed, limit_s * 1e9, FigureUnit::Nanoseconds, times.count)
    });
    let errors = limits.errors.map(|limit| {
        let text = format!("error_rate < {}%", limit * 100.0);
        one(text, Some(digest.error_ratio), limit, FigureUnit::Ratio, digest.requests)
    });
    // Every run needs this field, and these servers never pause.
    let outage = ThresholdResult {
        subject: Subject::LongestOutage.name().to_owned(),
        is_default: true,
        ..one("longest_outage < 1s".into(), Some(0.0), 1e9, FigureUnit::Nanoseconds, digest.requests)
    };
    p99.into_iter().chain(errors).chain([outage]).collect()
}

/// Searches as a driver would.
pub fn search(server: &Server, quest: &CapacitySearch, limits: Limits, seed: u64) -> (Answer, Vec<Trial>) {
    let mut random = SplitMix64::new(seed);
    drive(quest, |probe| server.run(probe, limits, &mut random))
}

pub fn drive(quest: &CapacitySearch, mut run: impl FnMut(Probe) -> Trial) -> (Answer, Vec<Trial>) {
    let mut history = Vec::new();
    loop {
        match next(quest, &history) {
            Move::Try(probe) => history.push(run(probe)),
            Move::Done(answer) => return (*answer, history),
        }
        assert!(history.len() <= 2_000, "a search that does not end");
    }
}
